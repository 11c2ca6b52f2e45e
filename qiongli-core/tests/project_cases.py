"""What the tests of a project's state share: made-up subjects, packets, a clock, and file operations that fail."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import attrs

from qiongli.contract.models import MethodLens, SubjectContract
from qiongli.plugins import Catalogue, CatalogueSubject
from qiongli.project._operations import FileOperations
from qiongli.project.paths import LOCK, STAGING, STATE_FOLDER, open_project
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


@attrs.define(eq=False)
class Node:
    """What the disk holds of a file or a folder if the power goes: what was last synced, and nothing of the rest."""

    content: bytes = b""
    entries: dict[str, Node] | None = None


#: Name to content, None for a folder: what is there when the power comes back.
Remains = dict[str, bytes | None]


class LosesPower(Watched):
    """A disk that remembers what was synced: contents after the file was, names after their folder was.

    Before every operation, and after the last, it notes what a power failure would leave, in three readings of what a
    file system promises: of what was not synced `nothing` is there; all `names` are there, with contents that were
    never written; of the names only the `last` that was moved is there, for no order is promised. A file is known by
    itself and not by its name, so that moving it makes nothing safe.
    """

    def __init__(self, root: Path) -> None:
        super().__init__()
        self._root = root
        self._nodes: dict[int, Node] = {}
        self._paths: dict[int, Path] = {}
        self._moved: tuple[Path, Node] | None = None
        #: The reading, and the operation before which the power goes, to what it leaves.
        self.remains: dict[tuple[str, int], Remains] = {}
        self._top = Node(entries={})
        if (root / STATE_FOLDER).exists():
            self._top.entries = {STATE_FOLDER: self._found(root / STATE_FOLDER)}

    def _found(self, path: Path) -> Node:
        """Everything that is there at the beginning is safe."""
        node = Node(path.read_bytes()) if path.is_file() else Node(entries={})
        if node.entries is not None:
            node.entries = {entry.name: self._found(entry) for entry in path.iterdir()}
        self._nodes[path.stat().st_ino] = node
        return node

    def before(self, number: int, name: str) -> None:
        self.note(number)

    def note(self, number: int) -> None:
        """Note what would be left now."""
        self.remains["nothing", number] = _remains(self._top)
        live = Node(entries={})
        if (self._root / STATE_FOLDER).exists():
            live.entries = {STATE_FOLDER: self._live(self._root / STATE_FOLDER)}
        self.remains["names", number] = _remains(live)
        if self._moved is not None:
            target, node = self._moved
            folder = self._nodes[target.parent.stat().st_ino]
            self.remains["last", number] = _remains(self._top, (folder, target.name, node))

    def _live(self, path: Path) -> Node:
        node = self._nodes[path.stat().st_ino]
        if node.entries is None:
            return node
        return Node(entries={entry.name: self._live(entry) for entry in path.iterdir()})

    def make_folder(self, path: Path) -> None:
        new = not path.exists()
        super().make_folder(path)
        if new:
            self._nodes[path.stat().st_ino] = Node(entries={})

    def open_lock(self, path: Path) -> int:
        new = not path.exists()
        descriptor = super().open_lock(path)
        if new:
            self._nodes[path.stat().st_ino] = Node()
        return descriptor

    def create(self, path: Path) -> int:
        descriptor = super().create(path)
        # The number may have been that of a file which was removed.
        self._nodes[path.stat().st_ino] = Node()
        self._paths[descriptor] = path
        return descriptor

    def sync(self, descriptor: int) -> None:
        super().sync(descriptor)
        self._nodes[os.fstat(descriptor).st_ino].content = self._paths[descriptor].read_bytes()

    def rename(self, source: Path, target: Path) -> None:
        super().rename(source, target)
        self._moved = (target, self._nodes[target.stat().st_ino])

    def sync_folder(self, path: Path) -> None:
        super().sync_folder(path)
        if self._moved is not None and self._moved[0].parent == path:
            self._moved = None
        if path == self._root:
            self._top.entries = {STATE_FOLDER: self._nodes[(path / STATE_FOLDER).stat().st_ino]}
        else:
            folder = self._nodes[path.stat().st_ino]
            folder.entries = {entry.name: self._nodes[entry.stat().st_ino] for entry in path.iterdir()}
            for node in folder.entries.values():
                # No file system lets a folder have two names.
                if node.entries is not None:
                    self._forget(node, folder)

    def _forget(self, moved: Node, keeper: Node) -> None:
        for other in self._nodes.values():
            if other.entries is not None and other is not keeper:
                other.entries = {name: node for name, node in other.entries.items() if node is not moved}


def _remains(folder: Node, moved: tuple[Node, str, Node] | None = None, above: str = "") -> Remains:
    """What is below a folder; of a node that was moved, `moved` says where it is, and it is nowhere else."""
    found: Remains = {}
    entries = {name: node for name, node in (folder.entries or {}).items() if moved is None or node is not moved[2]}
    if moved is not None and folder is moved[0]:
        entries[moved[1]] = moved[2]
    for name, node in entries.items():
        if node.entries is None:
            found[above + name] = node.content
        else:
            found |= {above + name: None, **_remains(node, moved, f"{above}{name}/")}
    return found


def power_returns(root: Path, remains: Remains) -> None:
    """Make a project what a power failure left of it."""
    shutil.rmtree(root / STATE_FOLDER, ignore_errors=True)
    for name, content in remains.items():
        if content is None:
            (root / name).mkdir()
        else:
            (root / name).write_bytes(content)
