"""The user's cache folder; whatever is in it can be made anew, and nothing in it is trusted without its digest."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import Final

from qiongli.folders import cache_folder

#: Files of one kind (the part of the name before the first hyphen) that are kept; the oldest go first.
MAXIMUM_OF_A_KIND: Final = 64


def read_cached(name: str) -> str | None:
    """The text of a cached file, or None when it is not there or cannot be read."""
    try:
        return (cache_folder() / name).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None


def write_cached(name: str, text: str) -> None:
    """Write a cached file atomically; a cache that cannot be written is done without."""
    path = cache_folder() / name
    temporary = path.with_name(f".{name}.{os.getpid()}.{threading.get_ident()}")
    with suppress(OSError, ValueError):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
        _forget_oldest(path.parent, name.partition("-")[0])


def _forget_oldest(folder: Path, kind: str) -> None:
    files = [path for path in folder.glob(f"{kind}-*") if path.is_file()]
    for path in sorted(files, key=lambda path: path.stat().st_mtime_ns)[:-MAXIMUM_OF_A_KIND]:
        path.unlink(missing_ok=True)
