"""The user's cache folder; whatever is in it can be made anew, and nothing in it is trusted without its digest."""

from __future__ import annotations

import os
import threading
from contextlib import suppress

from qiongli.folders import cache_folder


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
