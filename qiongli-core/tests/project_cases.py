"""What the tests of a project's state share: made-up subjects, packets, a clock, and file operations that fail."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from qiongli.contract.models import MethodLens, SubjectContract
from qiongli.plugins import Catalogue, CatalogueSubject
from qiongli.project._operations import FileOperations
from qiongli.project.paths import LOCK, STAGING, open_project
from qiongli.project.store import Store
from qiongli.records._units import Ppm
from qiongli.records.packet import RefinementPacket
from qiongli.records.subjects import Reason, SubjectListing


def make_subjects(root: Path, **states: str) -> Catalogue:
    """Subjects in the given states, each with resources on the disk; broken and invalid ones cannot be read."""
    subjects, listings = [], []
    for slug, state in states.items():
        reasons = () if state == "active" else (Reason("no_record", f"{slug} has no record"),)
        listing = SubjectListing(
            slug,
            slug.title(),
            f"qiongli-subject-{slug}",
            "0.1.0",
            "",
            "runtime_enabled",
            state,
            reasons,  # type: ignore[arg-type]
        )
        listings.append(listing)
        if state in ("broken", "invalid"):
            continue
        package = root / slug
        paths = ("domain-profile.yaml", "overlays/o.yaml", "skills/s/SKILL.md", "method-packs/m.yaml", "venues/v.yaml")
        for path in paths:
            (package / path).parent.mkdir(parents=True, exist_ok=True)
            (package / path).write_text(f"{slug} {path}", encoding="utf-8")
        contract = SubjectContract(
            schema_version="1.0",
            subject=slug,
            display_name=slug.title(),
            activation_status="runtime_enabled",
            domain_profile=paths[0],
            overlay=paths[1],
            subject_skill=paths[2],
            venue_profiles={f"journal-of-{slug}": paths[4]},
            method_lenses=(MethodLens(f"{slug}-lens", paths[3]),),
        )
        lenses = frozenset({f"{slug}-lens"})
        subjects.append(CatalogueSubject(contract, listing, package, len(subjects), lenses))
    return Catalogue(tuple(subjects), tuple(listings))


def standard_subjects(root: Path) -> Catalogue:
    """Two active subjects, one that may only lend lenses, one that cannot be read."""
    return make_subjects(root, economics="active", finance="active", accounting="lens_only", geoeconomics="broken")


def suggestion(subject: str, fingerprint: str, confidence: int = 700_000) -> RefinementPacket:
    """A packet that suggests a subject for the task with that fingerprint."""
    return RefinementPacket(
        "suggest_subject", primary_subject=subject, confidence=Ppm(confidence), fingerprint=fingerprint
    )


class FixedClock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.time = datetime(2026, 7, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.time

    def move(self, **by: float) -> None:
        self.time += timedelta(**by)


def make_store(root: Path, operations: FileOperations | None = None, timeout: float = 30.0) -> Store:
    """A store of a folder with a clock that stands still."""
    return Store(open_project(root), operations or FileOperations(), FixedClock(), timeout)


def state_files(root: Path) -> dict[str, bytes]:
    """Every file of a project's state by name, but for the lock and what is staged."""
    state = root / ".qiongli"
    files = {}
    for path in sorted(state.rglob("*")):
        name = path.relative_to(state).as_posix()
        if path.is_file() and name != LOCK and not name.startswith(f"{STAGING}/"):
            files[name] = path.read_bytes()
    return files


def copy_project(source: Path, target: Path) -> Path:
    """A copy of a whole project."""
    shutil.copytree(source, target, symlinks=True)
    return target


class Died(BaseException):
    """Stands for the death of the process: nothing catches it."""


class Watched(FileOperations):
    """File operations that call `before` with the number and the name of each before it is done.

    Every operation that changes a file or waits for the disk is a point; closing and unlocking are not, for the system
    does both for a dead process.
    """

    def __init__(self) -> None:
        self.names: list[str] = []

    def before(self, number: int, name: str) -> None:
        """For subclasses."""

    def _point(self, name: str) -> None:
        self.names.append(name)
        self.before(len(self.names) - 1, name)

    def make_folder(self, path: Path) -> None:
        self._point("make_folder")
        super().make_folder(path)

    def create(self, path: Path) -> int:
        self._point("create")
        return super().create(path)

    def write(self, descriptor: int, data: bytes) -> None:
        # A write may stop anywhere: dying in its middle is a point of its own.
        self._point("write")
        half = len(data) // 2
        super().write(descriptor, data[:half])
        self._point("write_second_half")
        super().write(descriptor, data[half:])

    def set_mode(self, descriptor: int, mode: int) -> None:
        self._point("set_mode")
        super().set_mode(descriptor, mode)

    def sync(self, descriptor: int) -> None:
        self._point("sync")
        super().sync(descriptor)

    def rename(self, source: Path, target: Path) -> None:
        self._point("rename")
        super().rename(source, target)

    def sync_folder(self, path: Path) -> None:
        self._point("sync_folder")
        super().sync_folder(path)

    def remove(self, path: Path) -> None:
        self._point("remove")
        super().remove(path)

    def remove_folder(self, path: Path) -> None:
        self._point("remove_folder")
        super().remove_folder(path)

    def open_lock(self, path: Path) -> int:
        self._point("open_lock")
        return super().open_lock(path)

    def lock(self, descriptor: int, *, wait: bool) -> None:
        self._point("lock")
        super().lock(descriptor, wait=wait)


class DiesAt(Watched):
    """Dies before its n-th operation; with `die` the whole process does."""

    def __init__(self, at: int, die: Callable[[], None] | None = None) -> None:
        super().__init__()
        self._at = at
        self._die = die

    def before(self, number: int, name: str) -> None:
        if number == self._at:
            if self._die is not None:
                self._die()
            raise Died


class FailsAt(Watched):
    """Raises an error of the operating system at the n-th operation, or at all operations of some names."""

    def __init__(self, error: int, *, at: int | None = None, names: tuple[str, ...] = ()) -> None:
        super().__init__()
        self._error = error
        self._at = at
        self._named = names

    def before(self, number: int, name: str) -> None:
        if number == self._at or name in self._named:
            raise OSError(self._error, os.strerror(self._error))


class LosesPower(Watched):
    """A disk that forgets, when the power goes before the n-th operation, all that was not synced.

    Contents are safe after the file was synced, names after their folder was. What was not safe is undone in reverse:
    the strictest reading of what a file system promises.
    """

    def __init__(self, at: int) -> None:
        super().__init__()
        self._at = at
        self._unsafe_data: dict[int, Path] = {}
        #: Folder whose syncing makes it safe, and how to undo it.
        self._unsafe_names: list[tuple[Path, Callable[[], None]]] = []

    def before(self, number: int, name: str) -> None:
        if number == self._at:
            for path in self._unsafe_data.values():
                if path.exists():
                    path.write_bytes(b"")
            for _, undo in reversed(self._unsafe_names):
                undo()
            raise Died

    def create(self, path: Path) -> int:
        descriptor = super().create(path)
        self._unsafe_data[descriptor] = path
        self._unsafe_names.append((path.parent, lambda: path.unlink(missing_ok=True)))
        return descriptor

    def sync(self, descriptor: int) -> None:
        super().sync(descriptor)
        del self._unsafe_data[descriptor]

    def rename(self, source: Path, target: Path) -> None:
        replaced = target.read_bytes() if target.is_file() else None
        super().rename(source, target)

        def undo() -> None:
            target.rename(source)
            if replaced is not None:
                target.write_bytes(replaced)

        self._unsafe_names.append((target.parent, undo))

    def remove(self, path: Path) -> None:
        data = path.read_bytes() if path.is_file() else None
        super().remove(path)
        if data is not None:
            self._unsafe_names.append((path.parent, lambda: path.write_bytes(data) and None))

    def sync_folder(self, path: Path) -> None:
        super().sync_folder(path)
        self._unsafe_names = [(folder, undo) for folder, undo in self._unsafe_names if folder != path]
