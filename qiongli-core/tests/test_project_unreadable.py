"""A run or a proposal that nobody can read is told apart from the others, and is no reason not to show them."""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest
from project_cases import make_store, standard_subjects, suggestion

from qiongli.cli import run
from qiongli.errors import EnvironmentBrokenError, InputError, QiongliError, StateCorruptError, StateRefusedError
from qiongli.plugins import Catalogue
from qiongli.project import (
    apply_action,
    apply_proposal,
    list_proposals,
    list_runs,
    open_project,
    prune_runs,
    read_run,
    record_refinement,
)
from qiongli.project.proposals import LIFETIME, Proposal, choice_digest
from qiongli.records._units import to_packet


@pytest.fixture
def project(tmp_path: Path) -> tuple[Path, Catalogue]:
    """A folder with two runs in which finance was suggested."""
    root = tmp_path / "project"
    root.mkdir()
    for task in ("a", "b"):
        record_refinement(root, suggestion("finance", task), store=make_store(root))
    return root, standard_subjects(tmp_path / "packages")


def _write(text: str) -> Callable[[Path], None]:
    return lambda path: path.write_text(text, encoding="utf-8") and None


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _link_out(path: Path) -> None:
    path.unlink()
    path.symlink_to("/etc/hostname")


def _link_nowhere(path: Path) -> None:
    path.unlink()
    path.symlink_to("nowhere")


SPOILT: dict[str, Callable[[Path], None]] = {
    "a link out": _link_out,
    "a link to nothing": _link_nowhere,
    "a folder": _folder,
    "gone": lambda path: path.unlink(),
    "nothing": _write(""),
    "torn": _write('{"decision": "suggest_sub'),
    "no object": _write("[1, 2]"),
    "too deep": _write("[" * 100_000),
    "not UTF-8": lambda path: path.write_bytes(b"\xff\xfe{}") and None,
    "too large": lambda path: os.truncate(path, 1 << 30),
}

#: What may be wrong with the fields of a run that is JSON.
WRONG = (
    '{"decision": "suggest_subject", "primary_subject": "finance", "confidence": "high"}',
    '{"decision": "suggest_subject", "primary_subject": "finance", "confidence": [1]}',
    f'{{"decision": "suggest_subject", "primary_subject": "finance", "confidence": 1{"0" * 400}}}',
    f'{{"decision": "suggest_subject", "primary_subject": "finance", "confidence": 1{"0" * 5000}}}',
    '{"decision": "suggest_subject", "primary_subject": "finance", "confidence": NaN}',
    '{"decision": "suggest_subject", "primary_subject": "finance", "confidence": -Infinity}',
    '{"decision": "suggest_subject", "primary_subject": "finance", "confidence": 1e999}',
    '{"decision": "suggest_subject", "primary_subject": "finance", "confidence": true}',
    '{"decision": "suggest_subject", "primary_subject": "finance", "confidence": 2}',
    '{"decision": "suggest_subject", "primary_subject": ["finance"], "confidence": 0.5}',
    '{"decision": {"a": 1}, "primary_subject": "finance", "confidence": 0.5}',
    '{"primary_subject": "finance", "confidence": 0.5}',
)


def _rows(root: Path) -> list[tuple[str, str, float]]:
    return [(found.run_id, found.decision, found.confidence) for found in list_runs(root)[0]]


@pytest.mark.parametrize("file", ["packet", "refinement"])
@pytest.mark.parametrize("how", SPOILT)
def test_a_run_that_cannot_be_read_is_listed_as_unreadable(
    project: tuple[Path, Catalogue], how: str, file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    root, _ = project
    SPOILT[how](root / f".qiongli/trace/runs/run-2/{file}.json")
    assert _rows(root) == [("run-2", "unreadable", 0.0), ("run-1", "suggest_subject", 0.7)]
    for form in ((), ("--json",)):
        assert run(["trace", "list", "--cwd", str(root), *form]) == 0
        assert "run-1" in capsys.readouterr().out
    # Showing it is an error with a code, or shows what is there.
    if file == "refinement":
        with pytest.raises(StateCorruptError) as raised:
            read_run(root, "run-2")
        assert raised.value.code == "trace_malformed"
        assert raised.value.place == ".qiongli/trace/runs/run-2/refinement.json"
    else:
        assert read_run(root, "run-2")["packet"] is None
    assert read_run(root, "run-1")["packet"]["fingerprint"] == "a"
    # It can be removed like any other.
    assert prune_runs(root, keep=0, store=make_store(root)) == ("run-1", "run-2")
    assert Path("/etc/hostname").exists()


@pytest.mark.parametrize("text", WRONG)
def test_a_run_of_the_wrong_types_is_listed_as_unreadable_and_shown_without_a_traceback(
    project: tuple[Path, Catalogue], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    root, _ = project
    (root / ".qiongli/trace/runs/run-2/refinement.json").write_text(text, encoding="utf-8")
    assert _rows(root) == [("run-2", "unreadable", 0.0), ("run-1", "suggest_subject", 0.7)]
    for command in (("trace", "list"), ("trace", "show", "run-2")):
        for form in ((), ("--json",)):
            assert run([*command, "--cwd", str(root), *form]) in (0, 2, 3)
            captured = capsys.readouterr()
            assert "Traceback" not in captured.out + captured.err
            if form:
                json.loads(captured.out, parse_constant=_no_constant)


def _no_constant(name: str) -> object:
    raise AssertionError(f"{name} is no JSON")


@pytest.mark.parametrize("name", ["run-01", "run-1x", "run-", "run--1", "run-\u0661", "run-9999999999999999", "other"])
def test_what_is_no_run_is_not_listed(project: tuple[Path, Catalogue], name: str) -> None:
    root, _ = project
    (root / f".qiongli/trace/runs/{name}").mkdir()
    assert [run_id for run_id, _, _ in _rows(root)] == ["run-2", "run-1"]
    assert prune_runs(root, keep=0, store=make_store(root)) == ("run-1", "run-2")
    assert (root / f".qiongli/trace/runs/{name}").is_dir()


def test_a_run_that_is_a_link_out_is_unreadable_and_removed_as_a_link(project: tuple[Path, Catalogue]) -> None:
    root, _ = project
    outside = root.parent / "outside"
    outside.mkdir()
    (outside / "packet.json").write_text('{"time": "private"}', encoding="utf-8")
    (outside / "refinement.json").write_text('{"decision": "private", "confidence": 0.5}', encoding="utf-8")
    (root / ".qiongli/trace/runs/run-3").symlink_to(outside, target_is_directory=True)
    assert _rows(root)[0] == ("run-3", "unreadable", 0.0)
    with pytest.raises(QiongliError):
        read_run(root, "run-3")
    assert "run-3" in prune_runs(root, keep=0, store=make_store(root))
    assert sorted(path.name for path in outside.iterdir()) == ["packet.json", "refinement.json"]


@pytest.mark.parametrize("error", [errno.EACCES, errno.EIO])
def test_a_folder_that_the_system_does_not_list_is_a_structured_error(
    project: tuple[Path, Catalogue], error: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, subjects = project
    apply_action("confirm", root, "finance", catalogue=subjects, propose=True, store=make_store(root))

    def refuse(path: object) -> list[str]:
        raise OSError(error, os.strerror(error), os.fspath(path))  # type: ignore[call-overload]

    monkeypatch.setattr(os, "listdir", refuse)
    for look, place in (
        (lambda: list_runs(root), ".qiongli/trace/runs"),
        (lambda: read_run(root, "run-1"), ".qiongli/trace/runs"),
        (lambda: prune_runs(root, keep=0), ".qiongli/trace/runs"),
        (lambda: list_proposals(open_project(root)), ".qiongli/proposals"),
    ):
        with pytest.raises(EnvironmentBrokenError) as raised:
            look()
        assert (raised.value.code, raised.value.place) == ("state_unreadable", place)


# --- proposals ----------------------------------------------------------------------------------------------------


def _forged(root: Path, **changes: object) -> str:
    """A proposal that somebody wrote by hand, whose id is right."""
    store = make_store(root)
    proposal = Proposal(
        action="confirm",
        subject="finance",
        settings=(),
        run_id="",
        fingerprint="",
        source="user",
        project=hashlib.sha256(os.fsencode(root.resolve())).hexdigest(),
        choice=choice_digest(store.read()),
        created="2026-07-01T11:00:00Z",
        expires="2026-07-02T11:00:00Z",
    )
    proposal = attrs.evolve(proposal, **changes)  # type: ignore[arg-type]
    folder = root / ".qiongli/proposals"
    folder.mkdir(exist_ok=True)
    content = {"schema_version": "1.0", "id": proposal.id, **to_packet(proposal)}
    (folder / f"{proposal.id}.json").write_text(json.dumps(content), encoding="utf-8")
    return proposal.id


def test_the_forger_of_the_other_tests_can_write_a_good_proposal(project: tuple[Path, Catalogue]) -> None:
    root, subjects = project
    good = _forged(root)
    store = make_store(root)
    assert [found.id for found in list_proposals(store.project, clock=store.clock)] == [good]
    assert apply_proposal(good, root, catalogue=subjects, store=store).after.active_subject == "finance"


@pytest.mark.parametrize(
    "changes",
    [
        {"created": "x"},
        {"expires": "x"},
        {"created": "x", "expires": "x"},
        {"created": "0001-01-01T00:00:00Z", "expires": "0001-01-02T00:00:00Z"},
        {"created": "9999-12-31T23:59:59Z", "expires": "9999-12-31T23:59:59Z"},
        {"created": "2026-07-01T11:00:00"},
        {"created": "2026-7-1T11:00:00Z"},
        {"expires": "2036-07-01T11:00:00Z"},
        {"created": "2026-07-01T13:00:00Z", "expires": "2026-07-02T13:00:00Z"},
        {"subject": "../../x"},
        {"subject": "x\nsubject: economics (locked)"},
        {"source": "x" * 50_000},
        {"fingerprint": "f" * 40_000},
        {"action": "undo", "subject": None},
        {"action": "reset"},
        {"action": "set", "subject": None, "settings": (("active_subject", "finance"),)},
        {"action": "set", "subject": None, "settings": (("strictness", "lax"),)},
        {"project": "another"},
        {"choice": "another"},
    ],
)
def test_a_forged_proposal_is_refused_with_a_code_and_stops_no_other(
    project: tuple[Path, Catalogue], changes: dict[str, object]
) -> None:
    root, subjects = project
    good, bad = _forged(root), _forged(root, **changes)
    store = make_store(root)
    assert good in [found.id for found in list_proposals(store.project, clock=store.clock)]
    with pytest.raises((StateCorruptError, StateRefusedError, InputError)) as raised:
        apply_proposal(bad, root, catalogue=subjects, store=make_store(root))
    assert raised.value.code
    made = apply_action("lock", root, "finance", catalogue=subjects, propose=True, store=make_store(root))
    assert made.proposal is not None
    assert apply_proposal(made.proposal, root, catalogue=subjects, store=make_store(root)).after.locked


@pytest.mark.parametrize("how", SPOILT)
def test_a_proposal_that_cannot_be_read_is_passed_over(project: tuple[Path, Catalogue], how: str) -> None:
    root, subjects = project
    good = _forged(root)
    bad = _forged(root, run_id="run-1")
    SPOILT[how](root / f".qiongli/proposals/{bad}.json")
    store = make_store(root)
    assert [found.id for found in list_proposals(store.project, clock=store.clock)] == [good]
    made = apply_action("lock", root, "finance", catalogue=subjects, propose=True, store=make_store(root))
    assert made.proposal is not None
    with pytest.raises(QiongliError):
        apply_proposal(bad, root, catalogue=subjects, store=make_store(root))


def test_only_what_can_be_applied_by_now_is_listed_as_waiting(project: tuple[Path, Catalogue]) -> None:
    root, subjects = project
    store = make_store(root)
    made = apply_action("lock", root, "finance", catalogue=subjects, propose=True, store=store).proposal
    for hours, listed in ((0, True), (23, True), (24, False), (48, False)):
        now = store.clock() + LIFETIME * hours / 24
        found = [proposal.id for proposal in list_proposals(store.project, clock=lambda at=now: at)]  # type: ignore[misc]
        assert found == ([made] if listed else [])


def test_an_expired_proposal_of_settings_names_a_command_that_exists(
    project: tuple[Path, Catalogue], capsys: pytest.CaptureFixture[str]
) -> None:
    root, subjects = project
    expired = _forged(
        root,
        action="set",
        subject=None,
        settings=(("method_lenses", ("finance-lens",)), ("strictness", "strict"), ("venue_profiles", ())),
        created="2026-06-01T11:00:00Z",
        expires="2026-06-02T11:00:00Z",
    )
    with pytest.raises(StateRefusedError) as raised:
        apply_proposal(expired, root, catalogue=subjects, store=make_store(root))
    assert raised.value.code == "proposal_expired"
    command = raised.value.hint.removeprefix("Ask anew: qiongli ").split(" ")
    assert command[:2] == ["project", "set"]
    assert "--dry-run" not in command
    run([*command, "--dry-run"])
    assert "No such" not in capsys.readouterr().err
