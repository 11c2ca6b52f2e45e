"""What stands where something of the state belongs: every command says so, and `reset` puts it aside."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from project_cases import FailsAt, Watched, make_store, standard_subjects, state_files, suggestion

from qiongli.errors import EnvironmentBrokenError, InputError, QiongliError, StateCorruptError, StateRefusedError
from qiongli.plugins import Catalogue
from qiongli.project import (
    apply_action,
    list_runs,
    open_project,
    record_refinement,
    subject_status,
    undo_action,
)
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


@pytest.mark.parametrize("name", [LOCK, INTENT])
def test_reset_puts_aside_a_folder_or_a_link_where_a_file_belongs(project: tuple[Path, Catalogue], name: str) -> None:
    root, subjects = project
    for kind in ("folder", "link"):
        apply_action("lock", root, "finance", catalogue=subjects)
        path = root / ".qiongli" / name
        path.unlink(missing_ok=True)
        _obstruct(root, name, kind)
        with pytest.raises(QiongliError) as raised:
            apply_action("dismiss", root, "finance", catalogue=subjects, store=make_store(root))
        assert raised.value.hint
        packet = apply_action("reset", root, catalogue=subjects, store=make_store(root))
        assert packet.after.subject_mode == "auto"
        assert f".qiongli/{name} could not be used" in packet.warnings[0]


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


def test_a_reset_that_is_refused_moves_nothing(project: tuple[Path, Catalogue]) -> None:
    root, subjects = project
    _obstruct(root, "trace", "file")
    with pytest.raises(StateRefusedError):
        apply_action("reset", root, catalogue=subjects, if_revision=7)
    assert state_files(root) == {"trace": b"mine"}


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
