"""How a command line names a project's folder, and what is said when another project lies above it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from qiongli.cli._output import message
from qiongli.errors import InputError, QiongliError


def folder(text: str) -> Path:
    """The folder that an option names; an empty text, as of an unset variable, is not the folder of the caller."""
    if not text:
        raise InputError(
            "the name of the folder is empty", code="folder_not_found", place="--cwd", hint="Write --cwd DIR"
        )
    return Path(text)


Cwd = Annotated[
    Path, typer.Option("--cwd", parser=folder, metavar="<path>", help="Folder of the project; it must exist.")
]
#: For commands that work without a project, too.
OptionalCwd = Annotated[
    Path | None, typer.Option("--cwd", parser=folder, metavar="<path>", help="Project whose state takes part.")
]
FindProject = Annotated[
    bool, typer.Option("--find-project", help="Use the nearest project in the folder of --cwd or above it.")
]


def look_above(cwd: Path | None, find_project: bool) -> None:
    """Say on standard error when a folder has no state but lies in a project, whose decisions then do not count.

    Raises `InputError` when a project is to be found but no folder says where to begin.
    """
    if cwd is None:
        if find_project:
            raise InputError("--find-project needs a folder to begin with", code="usage", hint="Add: --cwd DIR")
        return
    if find_project:
        return
    from qiongli.project.paths import MANIFEST, MEMORY, STATE_FOLDER

    root = Path(os.path.realpath(cwd))
    if not root.is_dir() or os.path.lexists(root / STATE_FOLDER):
        return
    above = next((parent for parent in root.parents if (parent / STATE_FOLDER).is_dir()), None)
    if above is None or not any((above / STATE_FOLDER / name).is_file() for name in (MANIFEST, MEMORY)):
        return
    message(
        f"warning: {cwd} has no state of its own, and lies in the project {_shown(above, cwd)}{_decided(above)}; "
        "to use that project, add --find-project"
    )


def _shown(above: Path, cwd: Path) -> str:
    """A folder above another, relative where the other was named so."""
    return str(above) if cwd.is_absolute() else os.path.relpath(above)


def _decided(above: Path) -> str:
    from qiongli.project import read_manifest_state

    try:
        state, _ = read_manifest_state(above)
    except QiongliError:
        return ", whose manifest cannot be used"
    return "" if state.subject_mode == "auto" else f" ({state.active_subject}, {state.subject_mode})"


def cwd_option(cwd: Path, find_project: bool = False) -> str:
    """The options that name a project as they were given, quoted for the shell."""
    from qiongli.project.paths import cwd_option as quoted

    return quoted(str(cwd), find_project)
