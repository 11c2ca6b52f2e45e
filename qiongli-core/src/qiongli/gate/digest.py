"""The digest of a package's content: what an activation record vouches for."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import attrs

from qiongli.cache import read_cached, write_cached
from qiongli.folders import cache_folder

#: The file that a promotion writes; the digest of a package leaves it out, because it holds that digest.
RECORD_FILE: Final = "activation.json"

#: A package with more files than this has no digest, so that nothing of it can act.
MAXIMUM_FILES: Final = 20_000

_BYTECODE: Final = (".pyc", ".pyo")
_FORM: Final = 1
#: Nanoseconds by which a file must be older than the remembered digest: clocks of file systems are coarse.
_SETTLED: Final = 2_000_000_000


@attrs.frozen(repr=False, eq=False)  # making them costs every start more than they are worth
class _File:
    """A file of a package: its name in the package, and what tells that its bytes were changed."""

    name: str
    path: str
    stamp: tuple[int, int, int, int]


def content_digest(root: Path, *, remembered: bool = False) -> str:
    """SHA-256, in hexadecimal digits, over the sorted list of all package files but the record and bytecode.

    Each line of the list is the SHA-256 of a file, two blanks, the file's path in the package with forward slashes,
    and a newline. Links to files count with the bytes that they lead to; links to folders are not followed.
    With `remembered`, a digest in the user's cache is used when size, inode and times of all files are as they were;
    a time of change cannot be set back by a package. Raises `OSError` when a file cannot be read.
    """
    files = sorted(_files(root), key=lambda file: file.name)
    if not remembered or os.name != "posix":
        return _digest(files)
    stamps = [[file.name, *file.stamp] for file in files]
    cached = f"digest-{sha256(os.fsencode(root.resolve())).hexdigest()}.json"
    known = _remembered(cached, stamps, files)
    if known is not None:
        return known
    digest = _digest(files)
    write_cached(cached, json.dumps({"form": _FORM, "files": stamps, "digest": digest}))
    return digest


def file_digests(root: Path) -> dict[str, str]:
    """SHA-256 of every file that the content digest covers, by its path in the package; raises `OSError`."""
    return {file.name: _file_digest(file) for file in sorted(_files(root), key=lambda file: file.name)}


def _file_digest(file: _File) -> str:
    with open(file.path, "rb") as stream:  # noqa: PTH123  # paths are plain texts on this hot way
        return sha256(stream.read()).hexdigest()


def _digest(files: list[_File]) -> str:
    total = sha256()
    for file in files:
        own = _file_digest(file)
        total.update(f"{own}  ".encode() + os.fsencode(file.name) + b"\n")
    return total.hexdigest()


def _remembered(name: str, stamps: list[list[Any]], files: list[_File]) -> str | None:
    text = read_cached(name)
    if text is None:
        return None
    try:
        known = json.loads(text)
        if known["form"] != _FORM or known["files"] != stamps:
            return None
        # A file that was written about when its digest was taken may have been written again in the same instant.
        written = (cache_folder() / name).stat().st_mtime_ns
        if any(max(file.stamp[1:3]) > written - _SETTLED for file in files):
            return None
        digest = known["digest"]
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None
    return digest if isinstance(digest, str) and len(digest) == 64 else None


def _files(root: Path) -> Iterator[_File]:
    count = 0
    waiting = [(os.fspath(root), "")]
    while waiting:
        folder, prefix = waiting.pop()
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name != "__pycache__":
                        waiting.append((entry.path, f"{prefix}{entry.name}/"))
                    continue
                name = prefix + entry.name
                if name == RECORD_FILE or name.endswith(_BYTECODE):
                    continue
                status = entry.stat()
                if not stat.S_ISREG(status.st_mode):
                    continue
                count += 1
                if count > MAXIMUM_FILES:
                    raise OSError(f"more than {MAXIMUM_FILES} files")
                stamp = (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
                yield _File(name, entry.path, stamp)


@lru_cache(maxsize=1)
def core_digest() -> str:
    """The content digest of core itself: what a verdict depends on besides the subjects."""
    from qiongli import _version

    return content_digest(Path(str(_version.__file__)).parent, remembered=True)
