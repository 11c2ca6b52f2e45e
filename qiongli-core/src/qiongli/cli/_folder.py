"""How an option names a folder."""

from __future__ import annotations

from pathlib import Path

from qiongli.errors import InputError


def folder(text: str) -> Path:
    """The folder that an option names; an empty text, as of an unset variable, is not the folder of the caller."""
    if not text:
        raise InputError(
            "the name of the folder is empty", code="folder_not_found", place="--cwd", hint="Write --cwd DIR"
        )
    return Path(text)
