"""Every change that Qiongli makes to a project's files goes through one small object, so that tests can break any."""

# Plain `os` calls throughout: a path object for each step costs more than the step, and loses the error's file name.
# ruff: noqa: PTH102, PTH105, PTH106, PTH108

from __future__ import annotations

import os
from pathlib import Path
from typing import Final


class FileOperations:
    """The operations on files that the store consists of; each method is one point at which a process may die.

    Tests replace it by one that kills the process before or in the middle of the n-th operation, or that fails as a
    full disk, a read-only folder or a file system without locks would.
    """

    def make_folder(self, path: Path) -> None:
        """Create a folder whose parent exists; an existing folder is fine."""
        try:
            os.mkdir(path)
        except FileExistsError:
            if not path.is_dir():
                raise

    def create(self, path: Path) -> int:
        """Create a file that must not exist, and open it for writing."""
        return os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0), 0o666)

    def write(self, descriptor: int, data: bytes) -> None:
        """Write all bytes."""
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]

    def set_mode(self, descriptor: int, mode: int) -> None:
        """Give an open file the permissions of the file that it will replace."""
        if hasattr(os, "fchmod"):
            os.fchmod(descriptor, mode)

    def sync(self, descriptor: int) -> None:
        """Wait until a file's bytes are on the disk."""
        os.fsync(descriptor)

    def close(self, descriptor: int) -> None:
        """Close a file."""
        os.close(descriptor)

    def rename(self, source: Path, target: Path) -> None:
        """Move a file or folder within the file system; a file that is there is replaced in one step."""
        os.replace(source, target)

    def sync_folder(self, path: Path) -> None:
        """Wait until a folder's names are on the disk."""
        if os.name == "nt":
            # Windows opens no folders; NTFS journals the names by itself.
            return
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def remove(self, path: Path) -> None:
        """Remove a file or a link; a missing one is fine."""
        try:
            os.unlink(path)
        except FileNotFoundError:
            return

    def remove_folder(self, path: Path) -> None:
        """Remove an empty folder; a missing one is fine."""
        try:
            os.rmdir(path)
        except FileNotFoundError:
            return

    def open_lock(self, path: Path) -> int:
        """Open the lock file, creating it if need be."""
        return os.open(path, os.O_CREAT | os.O_RDWR | getattr(os, "O_CLOEXEC", 0), 0o666)

    def lock(self, descriptor: int, *, wait: bool) -> None:
        """Lock an open file against every other opening; without `wait` raise `BlockingIOError` if it is taken."""
        if os.name == "nt":
            import msvcrt

            # One byte far beyond the end, so that who holds the lock can still be read; never waits by itself.
            os.lseek(descriptor, 1 << 30, os.SEEK_SET)
            try:
                msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
            except PermissionError as error:
                raise BlockingIOError(*error.args) from None
            return
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)

    def unlock(self, descriptor: int) -> None:
        """Release a lock at once, even if a child process has inherited the open file."""
        if os.name != "nt":
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_UN)


#: The operations of the real file system.
REAL: Final = FileOperations()
