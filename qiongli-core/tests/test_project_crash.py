"""A process that dies at any write, sync or rename of any action leaves the old state or the new one."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from project_cases import (
    Died,
    DiesAt,
    FailsAt,
    LosesPower,
    Watched,
    copy_project,
    make_store,
    power_returns,
    standard_subjects,
    state_files,
    suggestion,
)

from qiongli.errors import EnvironmentBrokenError
from qiongli.plugins import Catalogue
from qiongli.project import (
    _locking,
    apply_action,
    apply_guidance,
    apply_proposal,
    change_settings,
    init_project,
    record_refinement,
    store_session,
    undo_action,
)
from qiongli.project._operations import REAL
from qiongli.project.store import Store, digest

Act = Callable[[Store, Catalogue], object]
COMMENTED = b"# mine\r\nactive_subject: auto  # for now\r\nmine: {a: 1}\r\n"
NOTES = b"Notes of the user.\n"


def _prepare(root: Path, subjects: Catalogue) -> None:
    """A project with a hand-written manifest, guidance of the user's own, a suggestion, a dismissal and a proposal."""
    (root / ".qiongli/guidance.d").mkdir(parents=True)
    (root / ".qiongli/guidance_manifest.yaml").write_bytes(COMMENTED)
    (root / ".qiongli/guidance.d/subject-runtime.md").write_bytes(NOTES)
    store = make_store(root)
    record_refinement(root, suggestion("finance", "first"), store=store)
    apply_action("dismiss", root, "economics", catalogue=subjects, store=store)
    apply_action("lock", root, "economics", catalogue=subjects, store=store)
    apply_action("unlock", root, catalogue=subjects, store=store)


def _prepare_malformed(root: Path, subjects: Catalogue) -> None:
    """The same with a memory that is cut off, a manifest that is no YAML and a block that never ends."""
    _prepare(root, subjects)
    memory = root / ".qiongli/trace/subject_evidence.json"
    memory.write_bytes(memory.read_bytes()[:200])
    (root / ".qiongli/guidance_manifest.yaml").write_bytes(b"active_subject: [")
    (root / ".qiongli/guidance.d/subject-runtime.md").write_bytes(
        b"mine\n<!-- qiongli:managed:begin subject-runtime -->\n"
    )


def _prepare_nothing(root: Path, subjects: Catalogue) -> None:
    """A folder without any state."""


def _prepare_locked(root: Path, subjects: Catalogue) -> None:
    _prepare(root, subjects)
    apply_action("lock", root, "economics", catalogue=subjects, store=make_store(root))


def _prepare_first(root: Path, subjects: Catalogue) -> None:
    """One action ever: undoing it leaves no manifest and no guidance."""
    apply_action("lock", root, "economics", catalogue=subjects, store=make_store(root))


def _prepare_without_block(root: Path, subjects: Catalogue) -> None:
    _prepare(root, subjects)
    (root / ".qiongli/guidance.d/subject-runtime.md").write_bytes(NOTES)


def _prepare_session(root: Path, subjects: Catalogue) -> None:
    _prepare(root, subjects)
    (root / ".qiongli/trace/session.json").write_bytes(b"no sessions")


def _prepare_proposal(root: Path, subjects: Catalogue) -> None:
    _prepare(root, subjects)
    apply_action("lock", root, "finance", catalogue=subjects, store=make_store(root), propose=True)


def _action(action: str, subject: str | None = None) -> Act:
    return lambda store, subjects: apply_action(action, store.project.root, subject, catalogue=subjects, store=store)


def _apply_proposal(store: Store, subjects: Catalogue) -> object:
    name = next((store.project.path("proposals")).iterdir()).stem
    return apply_proposal(name, store.project.root, catalogue=subjects, store=store)


CASES: dict[str, tuple[Callable[[Path, Catalogue], None], Act]] = {
    "confirm": (_prepare, _action("confirm", "finance")),
    "confirm_first": (_prepare_nothing, _action("confirm", "finance")),
    "dismiss": (_prepare, _action("dismiss", "finance")),
    "lock": (_prepare, _action("lock", "economics")),
    "unlock": (_prepare_locked, _action("unlock")),
    "reset": (_prepare, _action("reset")),
    "reset_malformed": (_prepare_malformed, _action("reset")),
    "undo": (_prepare, lambda store, subjects: undo_action(store.project.root, catalogue=subjects, store=store)),
    "undo_first": (
        _prepare_first,
        lambda store, subjects: undo_action(store.project.root, catalogue=subjects, store=store),
    ),
    "init": (
        _prepare_nothing,
        lambda store, subjects: init_project(store.project.root, catalogue=subjects, store=store),
    ),
    "set": (
        _prepare,
        lambda store, subjects: change_settings(
            store.project.root, {"method_lenses": ("finance-lens",)}, catalogue=subjects, store=store
        ),
    ),
    "record": (
        _prepare,
        lambda store, subjects: record_refinement(store.project.root, suggestion("finance", "second"), store=store),
    ),
    "guidance": (
        _prepare_without_block,
        lambda store, subjects: apply_guidance(store.project.root, catalogue=subjects, store=store),
    ),
    "propose": (
        _prepare,
        lambda store, subjects: apply_action(
            "lock", store.project.root, "finance", catalogue=subjects, store=store, propose=True
        ),
    ),
    "apply": (_prepare_proposal, _apply_proposal),
    "session_malformed": (
        _prepare_session,
        lambda store, subjects: store_session(store.project.root, "s1", (), turn=3, store=store),
    ),
    "session": (
        _prepare,
        lambda store, subjects: store_session(store.project.root, "s1", (), turn=3, store=store),
    ),
}


class Case:
    """A project before an action and after it."""

    def __init__(self, name: str, folder: Path) -> None:
        self.subjects = standard_subjects(folder / "packages")
        prepare, self.act = CASES[name]
        # Copies take turns at one path: a proposal is bound to the path of its project.
        self.root = folder / "project"
        self.root.mkdir()
        prepare(self.root, self.subjects)
        self._start = copy_project(self.root, folder / "start")
        self.old = state_files(self.root)
        watched = Watched()
        _locking._proved.clear()
        self.act(make_store(self.root, watched), self.subjects)
        self.new = state_files(self.root)
        self.points = watched.names
        assert self.new != self.old

    def fresh(self) -> Path:
        """The project as it was before the action."""
        # Every process proves once that locks work here; each of ours is to be the first.
        _locking._proved.clear()
        shutil.rmtree(self.root)
        return copy_project(self._start, self.root)

    def check(self, root: Path, at: int) -> str:
        """Assert that the state is the old or the new one, for readers before recovery and for everybody after it."""
        where = f"died before operation {at} ({self.points[at] if at < len(self.points) else 'none'})"
        seen = make_store(root).read()
        with make_store(root).writing() as change:
            found = change.snapshot
        after = state_files(root)
        assert after in (self.old, self.new), where
        # A reader that looked before anybody recovered saw the very state that recovery then arrived at.
        assert seen.manifest.data == found.manifest.data, where
        assert seen.memory.data == found.memory.data, where
        assert seen.guidance == found.guidance, where
        assert not list((root / ".qiongli/.staging").iterdir()), where
        assert found.memory.content.get("manifest_digest", digest(found.manifest.data)) == digest(
            found.manifest.data
        ) or (after == self.old), where
        return "old" if after == self.old else "new"


@pytest.fixture(params=sorted(CASES))
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Case:
    return Case(request.param, tmp_path)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork to let a process die")
def test_killed_at_every_point_every_action_leaves_the_old_or_the_new_state(case: Case) -> None:
    outcomes = []
    for at in range(len(case.points)):
        root = case.fresh()
        child = os.fork()
        if child == 0:
            # Nothing of the parent may be flushed or cleaned up twice.
            try:
                case.act(make_store(root, DiesAt(at, lambda: os._exit(137))), case.subjects)
            finally:
                os._exit(1)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 137
        outcomes.append(case.check(root, at))
    # The change happens once, at one point, and stays.
    assert outcomes == sorted(outcomes, reverse=True)
    assert outcomes[0] == "old"


def test_when_the_power_goes_at_any_point_the_state_is_the_old_or_the_new_one(case: Case) -> None:
    """Also when it goes after the action has returned: then, what the action did is on the disk."""
    root = case.fresh()
    disk = LosesPower(root)
    case.act(make_store(root, disk), case.subjects)
    case.new = state_files(root)
    assert disk.names == case.points
    end = len(disk.names)
    disk.note(end)
    outcomes: dict[str, str] = {}
    for (reading, at), remains in disk.remains.items():
        key = repr(remains)
        if key not in outcomes:
            _locking._proved.clear()
            power_returns(root, remains)
            outcomes[key] = case.check(root, at)
        assert at < end or outcomes[key] == "new", f"lost after the action had returned ({reading})"
    # What happened before stays, wherever the power goes later.
    lost = [outcomes[repr(disk.remains["nothing", at])] for at in range(end + 1)]
    assert lost == sorted(lost, reverse=True)
    assert (lost[0], lost[-1]) == ("old", "new")


def test_power_that_goes_in_the_middle_of_recovery_loses_nothing_either(tmp_path: Path) -> None:
    """Finishing a change after a crash is as safe as making it."""
    case = Case("reset_malformed", tmp_path)
    announced = max(at for at, name in enumerate(case.points) if name == "rename")
    root = case.fresh()
    with pytest.raises(Died):
        case.act(make_store(root, DiesAt(announced)), case.subjects)
    assert (root / ".qiongli/.staging/intent.json").exists()
    disk = LosesPower(root)
    with make_store(root, disk).writing():
        pass
    disk.note(len(disk.names))
    for (_, at), remains in disk.remains.items():
        power_returns(root, remains)
        assert case.check(root, at) == "new"


def test_the_operations_of_the_real_file_system_reach_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk of the other tests is made up; this is all that stands between it and a real one."""
    synced: list[int] = []
    fsync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda descriptor: (synced.append(os.fstat(descriptor).st_ino), fsync(descriptor)))
    descriptor = REAL.create(tmp_path / "file")
    REAL.write(descriptor, b"content")
    REAL.sync(descriptor)
    REAL.close(descriptor)
    assert synced == [(tmp_path / "file").stat().st_ino]
    if os.name != "nt":
        REAL.sync_folder(tmp_path)
        assert synced[1:] == [tmp_path.stat().st_ino]


def test_every_file_that_an_action_leaves_was_synced_and_so_was_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Asked of the system's own call, from the first action in an empty folder on."""
    synced: set[int] = set()
    fsync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda descriptor: (synced.add(os.fstat(descriptor).st_ino), fsync(descriptor)))
    subjects = standard_subjects(tmp_path / "packages")
    root = tmp_path / "project"
    root.mkdir()
    record_refinement(root, suggestion("finance", "a"))
    apply_action("confirm", root, "finance", catalogue=subjects)
    files = [root / ".qiongli" / name for name in state_files(root)]
    assert len(files) > 5
    assert {path for path in files if path.stat().st_ino not in synced} == set()
    if os.name != "nt":
        folders = {folder for path in files for folder in path.parents if folder.is_relative_to(root)}
        assert {path for path in folders if path.stat().st_ino not in synced} == set()


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EACCES, errno.EROFS, errno.EIO])
def test_a_failing_disk_at_any_point_is_a_structured_error_and_the_old_or_new_state(tmp_path: Path, error: int) -> None:
    for name in ("confirm", "record", "reset_malformed"):
        folder = tmp_path / name
        folder.mkdir()
        case = Case(name, folder)
        for at in range(len(case.points)):
            root = case.fresh()
            with pytest.raises(EnvironmentBrokenError) as raised:
                case.act(make_store(root, FailsAt(error, at=at)), case.subjects)
            assert (
                raised.value.code
                in {
                    errno.ENOSPC: ("disk_full", "locks_unavailable"),
                    errno.EACCES: ("permission_denied", "locks_unavailable"),
                    errno.EROFS: ("read_only", "locks_unavailable"),
                    errno.EIO: ("write_failed", "locks_unavailable"),
                }[error]
            )
            case.check(root, at)
