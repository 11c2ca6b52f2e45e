"""The user's cache folder; whatever is in it can be made anew, and nothing in it is trusted without its digest."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def cache_folder() -> Path:
    """`QIONGLI_CACHE_DIR`, else the system's place for caches; it need not exist."""
    configured = os.environ.get("QIONGLI_CACHE_DIR")
    if configured:
        return Path(configured)
    from platformdirs import user_cache_path

    return user_cache_path("qiongli", appauthor=False)


def read_cached(name: str) -> str | None:
    """The text of a cached file, or None when it is not there or cannot be read."""
    try:
        return (cache_folder() / name).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None


def write_cached(name: str, text: str) -> None:
    """Write a cached file atomically; a cache that cannot be written is done without."""
    path = cache_folder() / name
    temporary = path.with_name(f".{name}.{os.getpid()}")
    with suppress(OSError, ValueError):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
