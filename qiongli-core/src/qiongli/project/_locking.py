"""One writer at a time: an exclusive lock on `.qiongli/.lock` that the system drops when its holder dies.

The lock is taken from the operating system directly rather than through `filelock`, for two measured reasons. That
package costs 130 ms to import, more than a whole `subject status`. And it polls, so that under contention a waiter can
starve: its worst waits were 5 to 8 s where a blocking `flock` had 0.1 to 0.4 s. `flock` queues its waiters, so a
process that finds the lock taken waits in a thread for its turn. Windows has no blocking call with a time limit; there
we poll.
"""

# Plain `os` calls throughout: a path object for each step costs more than the step, and loses the error's file name.
# ruff: noqa: PTH116, PTH119, PTH123

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Final

from qiongli.errors import EnvironmentBrokenError, StateRefusedError
from qiongli.project._operations import FileOperations

_POLL: Final = 0.01
_ATTEMPTS: Final = 100

#: Devices on which this process has seen the lock exclude a second opening of the file.
_proved: set[int] = set()


class ProjectLock:
    """The lock of a project; a context manager. Not reentrant: a second one in the same process waits for the first."""

    def __init__(self, path: Path, operations: FileOperations, timeout: float = 30.0, *, signed: bool = True) -> None:
        self._path = path
        self._operations = operations
        self._timeout = timeout
        self._signed = signed
        self._descriptor = -1

    def __enter__(self) -> ProjectLock:
        """Take the lock; `StateRefusedError` (`project_busy`) or `EnvironmentBrokenError` (`locks_unavailable`)."""
        deadline = time.monotonic() + self._timeout
        for _ in range(_ATTEMPTS):
            descriptor = self._operations.open_lock(self._path)
            try:
                self._acquire(descriptor, deadline)
                if self._is_current(descriptor):
                    self._prove(descriptor)
                    self._descriptor = descriptor
                    if self._signed:
                        self.sign()
                    return self
            except BaseException:
                _close(descriptor)
                raise
            # Somebody removed or replaced the file while we waited: what we hold excludes nobody.
            _close(descriptor)
        raise self._unavailable("the lock file keeps being replaced")

    def __exit__(self, *exception: object) -> None:
        """Release the lock."""
        # The file stays: removing it would let two writers hold two different files.
        try:
            self._operations.unlock(self._descriptor)
        finally:
            _close(self._descriptor)
        self._descriptor = -1

    def _acquire(self, descriptor: int, deadline: float) -> None:
        try:
            self._operations.lock(descriptor, wait=False)
        except BlockingIOError:
            pass
        except OSError as error:
            raise self._unavailable(error.strerror or str(error)) from error
        else:
            return
        if self._timeout <= 0:
            acquired = False
        else:
            acquired = self._poll(descriptor, deadline) if os.name == "nt" else self._queue(descriptor, deadline)
        if not acquired:
            raise StateRefusedError(
                f"another process has been writing to the project for {self._timeout:g} s{self._holder()}",
                code="project_busy",
                place=".qiongli/.lock",
                hint="Wait for it, or end it: the lock goes with its process, removing the file does not help",
            )

    def _poll(self, descriptor: int, deadline: float) -> bool:
        while time.monotonic() < deadline:
            time.sleep(_POLL)
            try:
                self._operations.lock(descriptor, wait=False)
            except BlockingIOError:
                continue
            return True
        return False

    def _queue(self, descriptor: int, deadline: float) -> bool:
        """Wait for our turn in a thread, since the blocking call knows no time limit."""
        import threading

        # The thread has an opening of its own, so that giving up leaves nothing of ours locked.
        waiting = os.dup(descriptor)
        decision = threading.Lock()
        outcome: dict[str, BaseException | None] = {}
        done = threading.Event()
        given_up = False

        def wait() -> None:
            try:
                self._operations.lock(waiting, wait=True)
                failure: BaseException | None = None
            except OSError as error:
                failure = error
            with decision:
                outcome["failure"] = failure
                if given_up and failure is None:
                    # Nobody waits any more.
                    self._operations.unlock(waiting)
                os.close(waiting)
            done.set()

        threading.Thread(target=wait, name="qiongli-lock", daemon=True).start()
        done.wait(max(0.0, deadline - time.monotonic()))
        with decision:
            if "failure" not in outcome:
                given_up = True
                return False
        failure = outcome["failure"]
        if failure is not None:
            raise self._unavailable(str(failure)) from failure
        return True

    def _is_current(self, descriptor: int) -> bool:
        try:
            named = os.stat(self._path)
        except FileNotFoundError:
            return False
        held = os.fstat(descriptor)
        return (named.st_dev, named.st_ino) == (held.st_dev, held.st_ino)

    def _prove(self, descriptor: int) -> None:
        """Refuse a folder whose locks are granted but exclude nobody, as on some network file systems."""
        key = os.fstat(descriptor).st_dev
        if key in _proved:
            return
        second = self._operations.open_lock(self._path)
        try:
            self._operations.lock(second, wait=False)
        except BlockingIOError:
            _proved.add(key)
            return
        except OSError as error:
            raise self._unavailable(str(error)) from error
        finally:
            _close(second)
        raise self._unavailable("a second lock on the same file was granted")

    def sign(self) -> None:
        """Say who holds the lock, for the message of those who wait in vain; a failure to do so does not matter.

        Done at once unless the lock was made unsigned: who may turn out to write nothing does not touch the file.
        """
        command = os.path.basename(sys.argv[0]) if sys.argv and sys.argv[0] else "python"
        try:
            os.lseek(self._descriptor, 0, os.SEEK_SET)
            os.write(self._descriptor, f"{os.getpid():<10} {command[:40]:<40}\n".encode("utf-8", "replace"))
        except OSError:
            return

    def _holder(self) -> str:
        try:
            with open(self._path, encoding="utf-8", errors="replace") as file:
                parts = file.readline(200).split()
        except OSError:
            return ""
        return f": process {parts[0]} ({' '.join(parts[1:])})" if len(parts) > 1 else ""

    def _unavailable(self, reason: str) -> EnvironmentBrokenError:
        return EnvironmentBrokenError(
            f"files cannot be locked in this folder: {reason}",
            code="locks_unavailable",
            place=".qiongli/.lock",
            hint="Move the project to a local disk, or edit .qiongli/guidance_manifest.yaml by hand",
        )


def _close(descriptor: int) -> None:
    try:
        os.close(descriptor)
    except OSError:
        return
