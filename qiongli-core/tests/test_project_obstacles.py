"""What stands where something of the state belongs: every command says so, and `reset` puts it aside."""

from __future__ import annotations

import errno
import json
import os
import shutil
from contextlib import ExitStack
from pathlib import Path

import pytest
from project_cases import FailsAt, Watched, copy_project, make_store, standard_subjects, state_files, suggestion

from qiongli.errors import EnvironmentBrokenError, InputError, QiongliError, StateCorruptError, StateRefusedError
from qiongli.plugins import Catalogue
from qiongli.project import (
    apply_action,
    list_runs,
    open_project,
    prune_runs,
    read_project,
    record_refinement,
    store_session,
    subject_status,
    undo_action,
)
from qiongli.project._locking import ProjectLock
from qiongli.project._operations import REAL
from qiongli.project.paths import GUIDANCE, INTENT, LOCK, MANIFEST, MEMORY

FOLDERS = ("trace", "trace/runs", "guidance.d", "proposals", ".staging")


@pytest.fixture
def project(tmp_path: Path) -> tuple[Path, Catalogue]:
    """A folder with an empty state, beside subjects and a folder that is nobody's business."""
    subjects = standard_subjects(tmp_path / "packages")
    root = tmp_path / "project"
    (root / ".qiongli/trace").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/subject_evidence.json").write_text("private", encoding="utf-8")
    return root, subjects


def _obstruct(root: Path, name: str, kind: str) -> Path:
    path = root / ".qiongli" / name
    if path.is_dir():
        path.rmdir()
    if kind == "file":
        path.write_bytes(b"mine")
    elif kind == "link":
        path.symlink_to(root.parent / "outside", target_is_directory=True)
    else:
        path.mkdir(parents=True)
        (path / "mine").write_bytes(b"mine")
    return path


@pytest.mark.parametrize("kind", ["file", "link"])
@pytest.mark.parametrize("name", FOLDERS)
def test_reset_puts_aside_what_stands_where_a_folder_belongs(
    project: tuple[Path, Catalogue], name: str, kind: str
) -> None:
    root, subjects = project
    _obstruct(root, name, kind)
    previewed = apply_action("reset", root, catalogue=subjects, dry_run=True)
    assert previewed.changed
    assert state_files(root).get(name) == (b"mine" if kind == "file" else None)
    packet = apply_action("reset", root, catalogue=subjects, store=make_store(root))
    assert packet.changed
    assert [text for text in packet.warnings if f".qiongli/{name} could not be used" in text]
    assert [text for text in previewed.warnings if f".qiongli/{name} could not be used" in text]
    (kept,) = (root / ".qiongli" / name).parent.glob(f"{Path(name).name}.corrupt-*")
    assert os.path.lexists(kept)
    assert kept.is_symlink() if kind == "link" else kept.read_bytes() == b"mine"
    # Everything works again, and nothing outside was touched.
    apply_action("confirm", root, "finance", catalogue=subjects, store=make_store(root))
    record_refinement(root, suggestion("finance", "x"), store=make_store(root))
    assert apply_action("lock", root, "finance", catalogue=subjects, propose=True).proposal is not None
    assert subject_status(root, catalogue=subjects).subject_mode == "confirmed"
    assert [path.name for path in (root.parent / "outside").iterdir()] == ["subject_evidence.json"]
    assert (root.parent / "outside/subject_evidence.json").read_text(encoding="utf-8") == "private"


def test_reset_puts_aside_a_folder_or_a_link_where_the_lock_belongs(project: tuple[Path, Catalogue]) -> None:
    root, subjects = project
    for kind in ("folder", "link"):
        apply_action("lock", root, "finance", catalogue=subjects)
        path = root / ".qiongli" / LOCK
        path.unlink(missing_ok=True)
        _obstruct(root, LOCK, kind)
        with pytest.raises(QiongliError) as raised:
            apply_action("dismiss", root, "finance", catalogue=subjects, store=make_store(root))
        assert raised.value.hint
        packet = apply_action("reset", root, catalogue=subjects, store=make_store(root))
        assert packet.after.subject_mode == "auto"
        assert f".qiongli/{LOCK} could not be used" in packet.warnings[0]
        assert os.path.lexists(root / ".qiongli" / packet.warnings[0].rpartition(" ")[2])


@pytest.mark.parametrize("name", ["trace", "guidance.d", ".staging"])
def test_a_file_where_a_folder_belongs_is_an_error_that_says_what_to_do(
    project: tuple[Path, Catalogue], name: str
) -> None:
    root, subjects = project
    _obstruct(root, name, "file")
    before = state_files(root)
    with pytest.raises(EnvironmentBrokenError) as raised:
        apply_action("confirm", root, "finance", catalogue=subjects, store=make_store(root))
    assert (raised.value.code, raised.value.place) == ("write_failed", f".qiongli/{name}")
    assert "subject reset" in raised.value.hint
    assert state_files(root) == before


def _tree(root: Path) -> dict[str, bytes | str | None]:
    """Everything of a state by name: contents of files, targets of links, None for folders."""
    state = root / ".qiongli"
    return {
        path.relative_to(state).as_posix(): (
            str(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else None
        )
        for path in state.rglob("*")
        # What a reader and a writer create is not the user's.
        if path.name not in (".lock", ".staging") or not path.is_file()
    }


OBSTACLES = (*FOLDERS, LOCK)


#: Why a reset raises. Whoever holds the lock made a file of what stood where the lock and its folder belong.
REASONS = ("a revision", "a lock that is taken", "no locks", "a broken disk", "no subjects")
RAISING = [
    (name, why)
    for name in OBSTACLES
    for why in REASONS
    if why != "a lock that is taken" or name not in (LOCK, ".staging")
]


@pytest.mark.parametrize(("name", "why"), RAISING)
def test_a_reset_that_raises_has_moved_nothing(project: tuple[Path, Catalogue], name: str, why: str) -> None:
    """Whatever it fails at, before the lock, at it or while it writes: what stood in the way stands there again."""
    root, subjects = project
    (root / ".qiongli/.staging").mkdir()
    (root / ".qiongli" / MANIFEST).write_bytes(b"active_subject: [")
    _obstruct(root, name, "folder" if name == LOCK else "file")
    before = _tree(root)
    writes = {"no locks": FailsAt(errno.ENOLCK, names=("lock",)), "a broken disk": FailsAt(errno.EIO, names=("write",))}
    store = make_store(root, writes.get(why), timeout=0.2)

    def no_subjects() -> Catalogue:
        raise EnvironmentBrokenError("nothing is installed")

    with ExitStack() as stack:
        if why == "a lock that is taken":
            stack.enter_context(ProjectLock(root / ".qiongli" / LOCK, REAL))
        with pytest.raises(QiongliError):
            apply_action(
                "reset",
                root,
                catalogue=no_subjects if why == "no subjects" else subjects,
                if_revision=7 if why == "a revision" else None,
                store=store,
            )
    after = _tree(root)
    assert {key: after.get(key) for key in before} == before
    # Empty folders may have been made; no file was, and no copy.
    assert {key for key in after if key not in before and after[key] is not None} == set()
    assert not [key for key in after if "corrupt" in key]


def test_a_reset_that_fails_at_any_operation_puts_back_what_stood_in_the_way_or_is_finished_later(
    project: tuple[Path, Catalogue],
) -> None:
    root, subjects = project
    _obstruct(root, "trace", "file")
    (root / ".qiongli" / MANIFEST).write_bytes(b"b: &b finance\nactive_subject: *b\nsubject_mode: confirmed\n")
    start = copy_project(root, root.parent / "start")
    watched = Watched()
    apply_action("reset", root, catalogue=subjects, store=make_store(root, watched))
    old, new = state_files(start), state_files(root)
    outcomes = []
    for at in range(len(watched.names)):
        shutil.rmtree(root)
        copy_project(start, root)
        try:
            apply_action("reset", root, catalogue=subjects, store=make_store(root, FailsAt(errno.EIO, at=at)))
        except EnvironmentBrokenError:
            raised = True
        else:
            raised = False
        # The user's bytes are never lost.
        assert b"mine" in state_files(root).values()
        if raised and not (root / ".qiongli" / INTENT).exists():
            assert state_files(root) in (old, new), watched.names[at]
            outcomes.append(state_files(root) == old)
        apply_action("reset", root, catalogue=subjects, store=make_store(root))
        assert subject_status(root, catalogue=subjects).subject_mode == "auto"
        assert b"mine" in state_files(root).values()
    # Nearly all of it is before the change is announced.
    assert outcomes.count(True) > len(watched.names) // 2


#: Manifests that read as finance, confirmed, and in which no value can be replaced alone.
UNEDITABLE = {
    "a tab before a comment": b"active_subject: finance\t# mine\nsubject_mode: confirmed\n",
    "an alias": b"base: &b finance\nactive_subject: *b\nsubject_mode: confirmed\n",
    "an anchor": b"active_subject: &x finance\nsubject_mode: confirmed\nnote: *x\n",
    "a folded item": b"active_subject: finance\nsubject_mode: confirmed\nvenue_profiles:\n - >-\n   abc\n",
    "an item over lines": b"active_subject: finance\nsubject_mode: confirmed\nvenue_profiles:\n -\n  abc\n",
    "old line ends": b"active_subject: finance\rsubject_mode: confirmed\rvenue_profiles:\r  - a # b\r  - b\rx: 1\r",
    "a list on its key's line": b"active_subject: finance\nsubject_mode: confirmed\n? venue_profiles\n: - a\n  - b\n",
    "a key that is a list": b"? [a]\n: b\nactive_subject: &x finance\nsubject_mode: confirmed\n",
    "an alias inside itself": b"x: &x [*x]\nactive_subject: &y finance\nsubject_mode: confirmed\n",
}


@pytest.mark.parametrize("name", UNEDITABLE)
def test_reset_keeps_a_copy_of_a_manifest_that_cannot_be_edited_and_begins_a_new_one(
    project: tuple[Path, Catalogue], name: str
) -> None:
    root, subjects = project
    manifest = root / ".qiongli" / MANIFEST
    manifest.write_bytes(UNEDITABLE[name])
    status = subject_status(root, catalogue=subjects)
    assert (status.active_subject, status.subject_mode) == ("finance", "confirmed")
    previewed = apply_action("reset", root, catalogue=subjects, dry_run=True)
    proposed = apply_action("reset", root, catalogue=subjects, propose=True, store=make_store(root))
    assert proposed.proposal is not None
    assert manifest.read_bytes() == UNEDITABLE[name]
    packet = apply_action("reset", root, catalogue=subjects, store=make_store(root))
    assert previewed.after.subject_mode == packet.after.subject_mode == "auto"
    assert subject_status(root, catalogue=subjects).subject_mode == "auto"
    copies = list(manifest.parent.glob(f"{MANIFEST}.corrupt-*"))
    edited = not copies
    if edited:
        # An edit in place is even better, where everything else stays.
        assert name in ("a list on its key's line",)
    else:
        assert [copy.read_bytes() for copy in copies] == [UNEDITABLE[name]]
        assert [text for text in packet.warnings if f".qiongli/{MANIFEST} could not be used and is kept" in text]
        assert [text for text in previewed.warnings if f".qiongli/{MANIFEST} could not be used and is kept" in text]
    # It was the user's choice all the same, and comes back.
    assert undo_action(root, catalogue=subjects, store=make_store(root)).after.active_subject == "finance"
    assert manifest.read_bytes() == UNEDITABLE[name]


@pytest.mark.parametrize("name", ["a tab before a comment", "an alias", "an anchor", "a key that is a list"])
def test_other_actions_refuse_a_manifest_that_cannot_be_edited_and_change_nothing(
    project: tuple[Path, Catalogue], name: str
) -> None:
    root, subjects = project
    (root / ".qiongli" / MANIFEST).write_bytes(UNEDITABLE[name])
    before = state_files(root)
    for propose in (False, True):
        with pytest.raises(StateCorruptError) as raised:
            apply_action("lock", root, "economics", catalogue=subjects, propose=propose, store=make_store(root))
        assert raised.value.code == "manifest_not_editable"
        assert "subject reset" in raised.value.hint
    assert state_files(root) == before


def test_runs_outlive_the_reset_of_another_obstacle(project: tuple[Path, Catalogue]) -> None:
    root, subjects = project
    record_refinement(root, suggestion("finance", "x"))
    _obstruct(root, "guidance.d", "file")
    apply_action("reset", root, catalogue=subjects)
    assert list_runs(root)[1] == 1


def test_a_new_manifest_takes_no_permissions_from_a_folder_in_its_place(project: tuple[Path, Catalogue]) -> None:
    root, subjects = project
    _obstruct(root, MANIFEST, "folder")
    with pytest.raises(StateCorruptError):
        subject_status(root, catalogue=subjects)
    apply_action("reset", root, catalogue=subjects, store=make_store(root))
    assert not (root / ".qiongli" / MANIFEST).stat().st_mode & 0o111


def test_a_folder_that_forbids_the_change_is_found_before_the_change_is_announced(
    project: tuple[Path, Catalogue], monkeypatch: pytest.MonkeyPatch
) -> None:
    root, subjects = project
    apply_action("confirm", root, "finance", catalogue=subjects, store=make_store(root))
    before = state_files(root)
    allowed = os.access
    monkeypatch.setattr(
        os, "access", lambda path, mode: not os.fspath(path).endswith("guidance.d") and allowed(path, mode)
    )
    with pytest.raises(EnvironmentBrokenError) as raised:
        apply_action("lock", root, "finance", catalogue=subjects, store=make_store(root))
    assert (raised.value.code, raised.value.place) == ("permission_denied", ".qiongli/guidance.d")
    assert state_files(root) == before
    assert not list((root / ".qiongli/.staging").iterdir())


def test_a_change_that_fails_at_its_first_move_has_not_happened(project: tuple[Path, Catalogue]) -> None:
    """Announced, and then refused by the system: an error, the old state, and no trace of it."""
    root, subjects = project
    apply_action("confirm", root, "finance", catalogue=subjects, store=make_store(root))
    before = state_files(root)
    trial = Watched()
    apply_action("lock", root, "finance", catalogue=subjects, store=make_store(root, trial))
    undo_action(root, catalogue=subjects, store=make_store(root))
    apply_action("reset", root, catalogue=subjects, store=make_store(root))
    apply_action("confirm", root, "finance", catalogue=subjects, store=make_store(root))
    moves = [number for number, name in enumerate(trial.names) if name == "rename"]
    for name, data in before.items():
        (root / ".qiongli" / name).write_bytes(data)
    # The first rename announces the change, the second is the first move.
    with pytest.raises(EnvironmentBrokenError):
        apply_action(
            "lock", root, "finance", catalogue=subjects, store=make_store(root, FailsAt(errno.EIO, at=moves[1]))
        )
    assert state_files(root) == before
    assert subject_status(root, catalogue=subjects).subject_mode == "confirmed"
    assert not list((root / ".qiongli/.staging").iterdir())


def test_an_empty_name_is_not_the_folder_where_the_program_runs() -> None:
    with pytest.raises(InputError) as raised:
        open_project("")
    assert raised.value.code == "folder_not_found"


def test_a_state_that_is_a_link_out_of_the_project_is_named_as_people_know_it(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "project/.qiongli").symlink_to(tmp_path / "outside", target_is_directory=True)
    with pytest.raises(StateRefusedError) as raised:
        subject_status(tmp_path / "project")
    assert raised.value.place == ".qiongli"
    assert not list((tmp_path / "outside").iterdir())


def test_a_newer_file_is_answered_with_an_update_rather_than_with_mending(project: tuple[Path, Catalogue]) -> None:
    root, subjects = project
    (root / ".qiongli" / MANIFEST).write_text('schema_version: "2.0"\n', encoding="utf-8")
    with pytest.raises(StateCorruptError) as raised:
        subject_status(root, catalogue=subjects)
    assert raised.value.code == "newer_schema"
    assert raised.value.hint.startswith("Update Qiongli")


def test_a_torn_memory_is_told_in_one_sentence(project: tuple[Path, Catalogue]) -> None:
    root, subjects = project
    (root / ".qiongli" / MEMORY).write_bytes(b'{"schema_version\n')
    assert "Invalid control character in line 1" in subject_status(root, catalogue=subjects).warnings[0]
    assert GUIDANCE not in state_files(root)


def test_a_subject_in_force_is_not_recommended_for_confirmation(project: tuple[Path, Catalogue]) -> None:
    root, subjects = project
    for fingerprint in ("a", "b"):
        record_refinement(root, suggestion("finance", fingerprint))
    assert subject_status(root, catalogue=subjects).suggestions[0].promotion_status == "recommend_confirmation"
    for action in ("confirm", "lock"):
        after = apply_action(action, root, "finance", catalogue=subjects).after
        assert [entry.promotion_status for entry in after.suggestions] == ["none"]
    dismissed = apply_action("dismiss", root, "finance", catalogue=subjects).after
    assert [entry.promotion_status for entry in dismissed.suggestions] == ["suppressed"]


@pytest.fixture
def linked(project: tuple[Path, Catalogue]) -> tuple[Path, Catalogue, Path]:
    """A project in which finance is confirmed and one run recorded, and the user's own work beside the state."""
    root, subjects = project
    apply_action("confirm", root, "finance", catalogue=subjects, store=make_store(root))
    record_refinement(root, suggestion("finance", "x"), store=make_store(root))
    work = root / "work"
    (work / "deep").mkdir(parents=True)
    (work / "thesis.md").write_text("years of work", encoding="utf-8")
    (work / "deep/data.csv").write_text("1", encoding="utf-8")
    return root, subjects, work


def _contents(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in files}


@pytest.mark.parametrize(("name", "target"), [(".staging", "../work"), (LOCK, "../work/thesis.md")])
def test_nothing_is_swept_or_signed_through_a_link_within_the_project(
    linked: tuple[Path, Catalogue, Path], name: str, target: str
) -> None:
    root, subjects, work = linked
    before = _contents(work)
    path = root / ".qiongli" / name
    path.rmdir() if name == ".staging" else path.unlink()
    path.symlink_to(target, target_is_directory=name == ".staging")
    with pytest.raises(StateCorruptError) as raised:
        apply_action("lock", root, "finance", catalogue=subjects, store=make_store(root))
    assert (raised.value.code, raised.value.place) == ("not_a_file", f".qiongli/{name}")
    assert subject_status(root, catalogue=subjects).active_subject == "finance"
    apply_action("reset", root, catalogue=subjects, store=make_store(root))
    assert apply_action("lock", root, "finance", catalogue=subjects, store=make_store(root)).after.locked
    assert _contents(work) == before


def test_pruning_runs_removes_a_link_and_not_what_it_leads_to(linked: tuple[Path, Catalogue, Path]) -> None:
    root, _, work = linked
    before = _contents(work)
    (root / ".qiongli/trace/runs/run-1").symlink_to("../../../work", target_is_directory=True)
    (root / ".qiongli/trace/runs/run-2/inner").symlink_to("../../../../work", target_is_directory=True)
    assert prune_runs(root, keep=0) == ("run-1", "run-2")
    assert not list((root / ".qiongli/trace/runs").iterdir())
    assert not list((root / ".qiongli/.staging").iterdir())
    assert _contents(work) == before


@pytest.mark.parametrize("content", ["years of work", "[]", '{"schema_version": "2.0", "sessions": {}}', ""])
def test_a_session_replaces_nothing_that_is_no_list_of_sessions(
    linked: tuple[Path, Catalogue, Path], content: str
) -> None:
    root, _, work = linked
    (work / "thesis.md").write_text(content, encoding="utf-8")
    session = root / ".qiongli/trace/session.json"
    session.symlink_to("../../work/thesis.md")
    assert read_project(root, session="s").session is None
    store_session(root, "s", (), turn=3, store=make_store(root))
    assert (work / "thesis.md").read_text(encoding="utf-8") == content
    assert not session.is_symlink()
    (kept,) = session.parent.glob("session.json.corrupt-*")
    assert kept.is_symlink()
    stored = read_project(root, session="s").session
    assert stored is not None
    assert stored.turn == 3


def test_an_entry_that_is_no_session_is_put_aside_with_its_file_and_the_others_stay(
    linked: tuple[Path, Catalogue, Path],
) -> None:
    root, _, _ = linked
    session = root / ".qiongli/trace/session.json"
    store_session(root, "good", (), turn=5)
    content = json.loads(session.read_bytes())
    content["sessions"]["bad"] = {"turn": 1, "outcomes": [], "asked": [["free text that nobody checked", 1]]}
    session.write_text(json.dumps(content), encoding="utf-8")
    store_session(root, "new", (), turn=1)
    assert "free text" not in session.read_text(encoding="utf-8")
    assert len(list(session.parent.glob("session.json.corrupt-*"))) == 1
    good = read_project(root, session="good").session
    assert good is not None
    assert good.turn == 5
