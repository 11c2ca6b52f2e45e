"""The user's cache folder; whatever is in it can be made anew, and nothing in it is trusted without its digest.

Each file ends with a seal: a digest of its name and of everything before it. So what was damaged, cut off, written by
hand or copied from another name is as good as not there, and whoever keeps something here need not check for that.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

from qiongli.folders import cache_folder

#: Files of one kind (the part of the name before the first hyphen) that are kept; the oldest go first.
MAXIMUM_OF_A_KIND: Final = 64


def read_cached(name: str) -> str | None:
    """The text of a cached file, or None when it is not there, cannot be read, or is not as it was written."""
    try:
        data = (cache_folder() / name).read_bytes()
        content, _, seal = data.rpartition(b"\n")
        return content.decode("utf-8") if seal == _seal(name, content) else None
    except (OSError, ValueError):
        return None


def write_cached(name: str, text: str) -> None:
    """Write a cached file atomically; a cache that cannot be written is done without."""
    path = cache_folder() / name
    temporary = path.with_name(f".{name}.{os.getpid()}.{threading.get_ident()}")
    with suppress(OSError, ValueError):
        content = text.encode("utf-8")
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(content + b"\n" + _seal(name, content))
        temporary.replace(path)
        _forget_oldest(path.parent, name.partition("-")[0])


def _seal(name: str, content: bytes) -> bytes:
    digest = sha256(name.encode("utf-8") + b"\n")
    digest.update(content)
    return digest.hexdigest().encode("ascii")


def _forget_oldest(folder: Path, kind: str) -> None:
    files = [path for path in folder.glob(f"{kind}-*") if path.is_file()]
    for path in sorted(files, key=lambda path: path.stat().st_mtime_ns)[:-MAXIMUM_OF_A_KIND]:
        path.unlink(missing_ok=True)
