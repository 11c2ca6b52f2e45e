"""The one reader and the one writer of a project's state.

Reading takes no lock and writes nothing: it looks again until what it read is one state. Writing takes the lock,
finishes what a crash interrupted, reads, lets the caller prepare everything, and only then changes files.
"""

# Plain `os` calls throughout: a path object for each step costs more than the step, and loses the error's file name.
# ruff: noqa: PTH112, PTH113

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from qiongli.errors import QiongliError, StateCorruptError, StateRefusedError
from qiongli.project._operations import REAL, FileOperations
from qiongli.project.guidance import GUIDANCE_LIMIT
from qiongli.project.manifest import MANIFEST_LIMIT, ManifestDocument, parse_manifest
from qiongli.project.memory import MEMORY_LIMIT, MemoryDocument, parse_memory
from qiongli.project.paths import GUIDANCE, INTENT, INTENT_LIMIT, LOCK, MANIFEST, MEMORY, STAGING, STATE_FOLDER, Project

if TYPE_CHECKING:
    from qiongli.project._transaction import Transaction

_LIMITS: Final = {MANIFEST: MANIFEST_LIMIT, MEMORY: MEMORY_LIMIT, GUIDANCE: GUIDANCE_LIMIT}
#: Seconds that a writer waits for the others.
LOCK_TIMEOUT: Final = 30.0
_ATTEMPTS: Final = 200
_PAUSE: Final = 0.002

Clock = Callable[[], datetime]


def system_clock() -> datetime:
    """The machine's time in UTC. It is written down, and bounds proposals; nothing is ordered by it."""
    return datetime.now(UTC)


def digest(data: bytes | None) -> str:
    """SHA-256 of a file's bytes in hexadecimal digits; empty for a file that does not exist."""
    return "" if data is None else hashlib.sha256(data).hexdigest()


class Snapshot(NamedTuple):
    """The state of a project at one moment."""

    project: Project
    manifest: ManifestDocument
    memory: MemoryDocument
    guidance: bytes | None
    warnings: tuple[str, ...] = ()
    #: Files that lead out of the project or are no files, with the reason; they read as absent.
    refusals: tuple[tuple[str, QiongliError], ...] = ()

    @property
    def revision(self) -> int:
        """Number of the state; a manifest edited by hand since the last action makes it one more."""
        edited = self.memory.content.get("manifest_digest", "") != digest(self.manifest.data)
        return self.memory.revision + (1 if edited else 0)

    @property
    def state_digest(self) -> str:
        """Digest of everything read."""
        parts = (digest(self.manifest.data), self.memory.digest, digest(self.guidance))
        return digest(" ".join(parts).encode())

    def require_readable(self) -> None:
        """Raise the error of a manifest that cannot be used, or of a file that leads out of the project."""
        for _, error in self.refusals:
            raise error
        if self.manifest.error is not None:
            raise self.manifest.error


class Store(NamedTuple):
    """Reads and writes one project; `operations`, `clock` and `timeout` (seconds for the lock) are injectable."""

    project: Project
    operations: FileOperations = REAL
    clock: Clock = system_clock
    timeout: float = LOCK_TIMEOUT

    def now(self) -> str:
        """The time as files carry it: UTC, ISO 8601, whole seconds."""
        return self.clock().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def stamp(self) -> str:
        """The time as the names of files carry it."""
        return self.clock().astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")

    def read(self) -> Snapshot:
        """The state now, without a lock and without writing.

        A change always replaces the memory file, or is announced by an intent while it lasts. So when neither differs
        before and after reading, what was read is one state. Raises `EnvironmentBrokenError` for unreadable files.
        """
        for attempt in range(_ATTEMPTS):
            intent = self._intent()
            snapshot = self._read_files(intent)
            # No two intents are alike, so the same one before and after is one unfinished change.
            if self._intent() == intent and (intent is not None or self._is_same(snapshot.memory)):
                return snapshot
            time.sleep(_PAUSE * min(attempt, 10))
        # Writers without a pause; every file is whole in itself.
        return snapshot._replace(warnings=(*snapshot.warnings, "the project is being written to all the time"))

    def _is_same(self, memory: MemoryDocument) -> bool:
        """Whether the memory is still that one; only as much of it is read as tells."""
        if memory.data is None or memory.telling is None:
            return self._raw(MEMORY, _LIMITS[MEMORY]) == memory.data
        return self._raw(MEMORY, memory.telling) == memory.data[: memory.telling + 1]

    def _intent(self) -> bytes | None:
        """The intent's bytes; none at all of what is no file in the project, which cannot be finished either."""
        try:
            return self.project.read(INTENT, INTENT_LIMIT)
        except (StateRefusedError, StateCorruptError):
            return b""

    def _raw(self, name: str, limit: int) -> bytes | None:
        try:
            return self.project.read(name, limit)
        except (StateRefusedError, StateCorruptError):
            return None

    def _read_files(self, intent: bytes | None, seen: Snapshot | None = None) -> Snapshot:
        """Read and parse every file; what has the same bytes as in `seen` is taken from there."""
        staged: dict[str, str] = {}
        gone: set[str] = set()
        steps = None
        warnings: tuple[str, ...] = ()
        if intent is not None:
            from qiongli.project._intent import unfinished

            steps = unfinished(self.project, intent)
            if steps is None:
                place = self.project.shown(INTENT)
                warnings = (f"{place} is no change that Qiongli can finish; it is put aside at the next write",)
        for step in steps or ():
            if step.kind == "write":
                staged[step.target] = f"{STAGING}/{step.staged}"
            else:
                gone.add(step.target)
        refusals: list[tuple[str, QiongliError]] = []

        def read(name: str) -> bytes | None:
            if name in staged:
                data = self.project.read(staged[name], _LIMITS[name])
                if data is not None:
                    return data
            elif name in gone:
                return None
            try:
                return self.project.read(name, _LIMITS[name])
            except (StateRefusedError, StateCorruptError) as error:
                refusals.append((name, error))
                return None

        if seen is not None and seen.memory.data is not None and self._is_same(seen.memory):
            memory = seen.memory
        else:
            memory = parse_memory(read(MEMORY))
        manifest_data = read(MANIFEST)
        if seen is not None and seen.manifest.data == manifest_data:
            manifest = seen.manifest
        else:
            manifest = parse_manifest(manifest_data, self.project)
        return Snapshot(
            self.project,
            manifest,
            memory,
            read(GUIDANCE),
            warnings=(*warnings, *manifest.warnings, *memory.warnings),
            refusals=tuple(refusals),
        )

    @contextmanager
    def writing(
        self,
        *,
        if_revision: int | None = None,
        if_digest: str | None = None,
        seen: Snapshot | None = None,
        at_once: bool = False,
    ) -> Iterator[Change]:
        """Hold the lock, with the state as it is under it; what the caller commits is all or nothing.

        `seen` is what the caller read before, so that what did not change need not be parsed again. With `at_once`
        nobody is waited for, and a caller who commits nothing leaves no trace.

        Raises `StateRefusedError`: `changed_since` when the state is not the one that the caller demands,
        `project_busy` when others keep the lock; `EnvironmentBrokenError` when the system refuses to write.
        """
        from qiongli.project._locking import ProjectLock
        from qiongli.project._transaction import Transaction, make_folders, recover, refused

        try:
            make_folders(self.project, STAGING, self.operations)
            # One is swept and the other written to: what a link leads to, even inside the project, is not ours.
            for name in (STAGING, LOCK):
                self.project.require_no_link(name)
            path = self.project.contained(LOCK)
            with ProjectLock(path, self.operations, 0 if at_once else self.timeout, signed=not at_once) as lock:
                warnings = recover(self.project, self.operations, self.stamp())
                snapshot = self._read_files(None, seen)
                require(snapshot, if_revision, if_digest)
                snapshot = snapshot._replace(warnings=(*warnings, *snapshot.warnings))
                try:
                    yield Change(self, snapshot, Transaction(self.project, self.operations, lock.sign), warnings)
                except OSError:
                    self._tidy()
                    raise
        except OSError as error:
            raise refused(self.project, error) from error

    @property
    def is_set_up(self) -> bool:
        """Whether somebody wrote to the project before, so that taking its lock creates nothing."""
        return os.path.isfile(self.project.path(LOCK)) and os.path.isdir(self.project.path(STAGING))

    def _tidy(self) -> None:
        """After a failed change: give the space back at once, unless the change has begun and must be finished."""
        if not os.path.lexists(self.project.path(INTENT)):
            from qiongli.project._transaction import recover

            try:
                recover(self.project, self.operations, self.stamp())
            except OSError:
                return


class Change(NamedTuple):
    """What a writer works with while it holds the lock."""

    store: Store
    snapshot: Snapshot
    transaction: Transaction
    #: What recovery had to tell; the snapshot's warnings hold it, too.
    recovered: tuple[str, ...] = ()

    def looked_again(self) -> Change:
        """The same with the state as it is now, after something was moved out of the way."""
        snapshot = self.store._read_files(None, self.snapshot)
        return self._replace(snapshot=snapshot._replace(warnings=(*self.recovered, *snapshot.warnings)))


def require(snapshot: Snapshot, if_revision: int | None, if_digest: str | None) -> None:
    """Compare before swapping: raise `StateRefusedError` unless the state is the one that the caller has seen."""
    if if_revision is not None and if_revision != snapshot.revision:
        seen = f"revision {if_revision}, it is now {snapshot.revision}"
    elif if_digest is not None and if_digest != snapshot.state_digest:
        seen = "a state with another digest"
    else:
        return
    raise StateRefusedError(
        f"the project has changed since you looked: you saw {seen}",
        code="changed_since",
        place=STATE_FOLDER,
        hint=f"Look again: {snapshot.project.command('subject status')}",
    )
