"""Paths that a contract may name: relative, portable, inside the package; and files found under them."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import Final

import attrs

from qiongli._value import Value

#: Names that Windows reserves for devices, whatever their extension.
_DEVICES: Final = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?\Z", re.IGNORECASE)
_FORBIDDEN: Final = re.compile(r'[<>:"|?*\x00-\x1f\x7f]')
MAXIMUM_PATH: Final = 200


def reason_against_path(text: str) -> str | None:
    """Why a text cannot be a path inside a package, or None: the same answer on every operating system."""
    if "\\" in text:
        return f"{text!r} has a backslash; paths are written with forward slashes"
    if text.startswith("/"):
        return f"{text!r} is absolute"
    if re.match(r"[A-Za-z]:", text):
        return f"{text!r} names a Windows drive"
    if text.startswith("~"):
        return f"{text!r} starts in a home folder"
    segments = text.split("/")
    if ".." in segments:
        return f"{text!r} leaves the package through '..'"
    forbidden = _FORBIDDEN.search(text)
    if forbidden:
        return f"{text!r} has the character {forbidden.group()!r}, which is not portable"
    if segments[-1] == "" and len(segments) > 1:
        segments = segments[:-1]
    for segment in segments:
        if segment in ("", "."):
            return f"{text!r} has an empty or '.' segment"
        if segment != segment.strip() or segment.endswith("."):
            return f"{text!r} has a segment that starts or ends in a blank, or ends in a full stop"
        if _DEVICES.match(segment):
            return f"{text!r} has the segment {segment!r}, which Windows reserves"
    return None


def reason_against_file_path(text: str) -> str | None:
    """Why a text cannot be the path of a file inside a package, or None."""
    return f"{text!r} names a folder" if text.endswith("/") else reason_against_path(text)


@attrs.frozen(repr=False)
class Located(Value):
    """Where a path of a contract leads: `path` is None when it leads nowhere that may be read, and `reason` says why.

    `escapes` tells a link that leaves the package from a file that is simply not there.
    """

    path: Path | None
    reason: str = ""
    escapes: bool = False


def locate(
    root: Path, relative: str, *, folder: bool = False, limit: int | None = None, base: str | None = None
) -> Located:
    """Find a file (or folder) of a package by its relative path; nothing outside the package is ever returned.

    `limit` is the largest size in bytes that is accepted for a file. `base` is the real path of `root`, from a caller
    that looks for many files and resolved it once.
    """
    reason = reason_against_path(relative)
    if reason is not None:
        return Located(None, reason, escapes=True)
    if base is None:
        base = os.path.realpath(root)
    target, status = _resolve(base, relative.rstrip("/").split("/"))
    if target != base and not target.startswith(base.rstrip(os.sep) + os.sep):
        return Located(None, f"{relative!r} is a link that leaves the package", escapes=True)
    if status is None:
        return Located(None, f"{relative!r} does not exist in the package")
    if folder:
        if not stat.S_ISDIR(status.st_mode):
            return Located(None, f"{relative!r} is no folder")
    elif not stat.S_ISREG(status.st_mode):
        return Located(None, f"{relative!r} is no regular file")
    elif limit is not None and status.st_size > limit:
        return Located(None, f"{relative!r} has {status.st_size} bytes, more than {limit}")
    return Located(Path(target))


def _resolve(base: str, segments: list[str]) -> tuple[str, os.stat_result | None]:
    """The real path below a real folder, and its status; the status is None when nothing is there.

    Every start asks this for dozens of files. Without links, which are rare in packages, a path is its own real path,
    and one look at each part below the folder tells so.
    """
    path = base
    status = None
    for segment in segments:
        path = f"{path.rstrip(os.sep)}{os.sep}{segment}"
        try:
            status = os.lstat(path)  # the hot path
        except OSError:
            break
        if os.name != "posix" or stat.S_ISLNK(status.st_mode):
            break
    else:
        return path, status
    target = os.path.realpath(os.path.join(base, *segments))  # noqa: PTH118  # the same
    try:
        return target, os.stat(target)  # noqa: PTH116  # the same
    except OSError:
        return target, None
