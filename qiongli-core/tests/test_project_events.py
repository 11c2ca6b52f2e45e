"""What is written into the memory about an action: who asked, whether the manifest was written, and what is kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from project_cases import make_store, standard_subjects, state_files, suggestion

from qiongli.cli import run
from qiongli.plugins import Catalogue
from qiongli.project import (
    apply_action,
    apply_proposal,
    change_settings,
    init_project,
    list_proposals,
    read_memory,
    record_refinement,
    subject_status,
    undo_action,
)
from qiongli.project.memory import LARGEST_COUNT
from qiongli.project.paths import MANIFEST, MEMORY
from qiongli.project.proposals import Proposal
from qiongli.records._units import to_packet


class Person:
    """Acts on one project, as somebody or as some program."""

    def __init__(self, folder: Path) -> None:
        self.subjects: Catalogue = standard_subjects(folder / "packages")
        self.root = folder / "project"
        self.root.mkdir()

    def does(self, action: str, subject: str | None = None, **options: Any) -> Any:
        return apply_action(action, self.root, subject, catalogue=self.subjects, store=make_store(self.root), **options)

    def undoes(self) -> Any:
        return undo_action(self.root, catalogue=self.subjects, store=make_store(self.root))

    def sets(self, **settings: Any) -> Any:
        return change_settings(self.root, settings, catalogue=self.subjects, store=make_store(self.root))

    @property
    def memory(self) -> Path:
        return self.root / ".qiongli" / MEMORY

    def last_event(self) -> dict[str, Any]:
        event: dict[str, Any] = json.loads(self.memory.read_bytes())["lifecycle_events"][-1]
        return event


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path)


def test_an_event_says_whether_the_manifest_was_written(person: Person) -> None:
    """As the file itself tells: its bytes are compared before and after each action."""
    acts: list[tuple[str, Callable[[], object], bool]] = [
        ("dismiss", lambda: person.does("dismiss", "economics"), False),
        ("init", lambda: init_project(person.root, catalogue=person.subjects), True),
        ("confirm", lambda: person.does("confirm", "finance"), True),
        ("confirm", lambda: person.does("confirm", "finance"), False),
        ("lock", lambda: person.does("lock", "finance"), True),
        ("lock", lambda: person.does("lock", "finance"), False),
        ("confirm", lambda: person.does("confirm", "finance"), False),
        ("dismiss", lambda: person.does("dismiss", "finance"), False),
        ("undo", lambda: person.undoes(), False),
        ("unlock", lambda: person.does("unlock"), True),
        ("set", lambda: person.sets(strictness="strict"), True),
        ("undo", lambda: person.undoes(), True),
        ("reset", lambda: person.does("reset"), True),
        ("reset", lambda: person.does("reset"), False),
    ]
    for number, (name, act, written) in enumerate(acts):
        before = state_files(person.root).get(MANIFEST)
        act()
        event = person.last_event()
        assert (number, event["event"], event["write_manifest"]) == (number, name, written)
        assert (state_files(person.root).get(MANIFEST) != before) is written


def test_an_event_says_who_asked_and_for_which_run(person: Person) -> None:
    person.does("confirm", "finance")
    event = person.last_event()
    assert (event["event"], event["subject"], event["source"], event["run_id"]) == ("confirm", "finance", "user", "")
    person.does("dismiss", "economics", source="mcp", run_id="run-7")
    event = person.last_event()
    assert (event["event"], event["source"], event["run_id"]) == ("dismiss", "mcp", "run-7")
    assert read_memory(person.root)[0].dismissed_subjects["economics"].last_dismissed_run_id == "run-7"
    # A proposal remembers who made it.
    proposed = person.does("lock", "finance", source="mcp", propose=True)
    apply_proposal(proposed.proposal, person.root, catalogue=person.subjects, store=make_store(person.root))
    event = person.last_event()
    assert (event["event"], event["source"], event["proposal"]) == ("lock", "mcp", proposed.proposal)


BROKEN = {
    "torn": lambda data: data[:-20],
    "nothing": lambda data: b"",
    "no object": lambda data: b"[]",
    "not UTF-8": lambda data: b"\xff" + data,
    "of a later version": lambda data: data.replace(b'"schema_version": "1.0"', b'"schema_version": "3.0"'),
    "of no version": lambda data: data.replace(b'"schema_version": "1.0"', b'"schema_version": "0.9"'),
    "the largest number": lambda data: data.replace(b'"revision": 3', b'"revision": 999999999999999', 1),
    "a number too large": lambda data: data.replace(b'"revision": 3', b'"revision": 9999999999999999', 1),
    "the largest number, torn": lambda data: data.replace(b'"revision": 3', b'"revision": 999999999999999', 1)[:-20],
    "the most dismissals": lambda data: data.replace(b'"dismissal_count": 1', b'"dismissal_count": 999999999999999'),
    "the most suggestions": lambda data: data.replace(b'"suggestion_count": 1', b'"suggestion_count": 999999999999999'),
    "a subject that is none": lambda data: data.replace(b'"economics": {', b'"x\\nsubject: economics (locked)": {'),
    "no number": lambda data: data.replace(b'"revision": 3', b'"mine": NaN, "revision": 3', 1),
    "a number beyond all": lambda data: data.replace(b'"revision": 3', b'"mine": 1e999, "revision": 3', 1),
    "tasks that are none": lambda data: data.replace(b'"first"', b"5"),
}


@pytest.mark.parametrize("action", ["record", "confirm", "dismiss", "reset", "unlock", "set"])
@pytest.mark.parametrize("name", BROKEN)
def test_a_memory_that_cannot_be_used_is_kept_byte_for_byte_and_begun_anew_by_any_write(
    person: Person, name: str, action: str
) -> None:
    """Which is what its warning says. Nothing is lost but what nobody can read, and nothing is stopped."""
    person.does("lock", "finance")
    record_refinement(person.root, suggestion("economics", "first"), store=make_store(person.root))
    person.does("dismiss", "economics")
    if action in ("confirm", "set"):
        person.does("unlock")
        person.memory.write_bytes(person.memory.read_bytes().replace(b'"revision": 4', b'"revision": 3', 1))
    broken = BROKEN[name](person.memory.read_bytes())
    assert broken != person.memory.read_bytes()
    person.memory.write_bytes(broken)
    status = subject_status(person.root, catalogue=person.subjects)
    assert (status.active_subject, status.dismissed_subjects, status.suggestions) == ("finance", (), ())
    assert "put aside at the next write" in status.warnings[0]
    if action == "record":
        record_refinement(person.root, suggestion("economics", "second"), store=make_store(person.root))
    elif action == "set":
        person.sets(strictness="strict")
    else:
        person.does(action, "finance" if action in ("confirm", "dismiss") else None)
    kept = [path.read_bytes() for path in person.memory.parent.glob("subject_evidence.json.*")]
    assert kept == [broken]
    after = subject_status(person.root, catalogue=person.subjects)
    assert after.warnings == ()
    assert 0 < after.revision < LARGEST_COUNT
    person.does("reset")
    assert subject_status(person.root, catalogue=person.subjects).subject_mode == "auto"


@pytest.mark.parametrize("below", [0, 1, 2])
def test_the_largest_number_that_a_memory_may_hold_is_counted_on_from(person: Person, below: int) -> None:
    person.does("lock", "finance")
    person.memory.write_bytes(
        person.memory.read_bytes().replace(b'"revision": 1', f'"revision": {LARGEST_COUNT - below}'.encode(), 1)
    )
    for _ in range(4):
        # An edit by hand counts as one more.
        manifest = person.root / ".qiongli" / MANIFEST
        manifest.write_bytes(manifest.read_bytes() + b"# mine\n")
        person.does("dismiss", "economics")
    assert subject_status(person.root, catalogue=person.subjects).warnings == ()


FORGED_LINE = "x\nsubject: economics (locked)\r\x1b[2K\x9b2J\u202elocked"


def test_what_files_say_reaches_the_terminal_as_text(
    person: Person, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No line is forged and nothing is sent to the terminal, whatever a memory, a run or a marker holds."""
    monkeypatch.setattr("qiongli.gate.admission.installed_catalogue", lambda: person.subjects)
    record_refinement(person.root, suggestion("finance", "a"), store=make_store(person.root))
    content = json.loads(person.memory.read_bytes())
    content["latest_refinement"] |= {"run_id": FORGED_LINE, "decision": FORGED_LINE, "primary_subject": FORGED_LINE}
    content["suggestions"]["finance"] |= {"last_decision": FORGED_LINE, "last_run_id": FORGED_LINE}
    person.memory.write_text(json.dumps(content), encoding="utf-8")
    folder = person.root / ".qiongli/trace/runs/run-1"
    for name in ("packet", "refinement"):
        kept = json.loads((folder / f"{name}.json").read_bytes())
        fields = ("time", "fingerprint") if name == "packet" else ("decision", "primary_subject")
        (folder / f"{name}.json").write_text(json.dumps(kept | dict.fromkeys(fields, FORGED_LINE)), encoding="utf-8")
    guidance = person.root / ".qiongli/guidance.d/subject-runtime.md"
    guidance.parent.mkdir()
    guidance.write_text("<!-- qiongli:managed:begin x\x1b[2K\x9b2J -->\n", encoding="utf-8")
    for command in (
        ("subject", "status"),
        ("subject", "confirm", "finance", "--dry-run"),
        ("trace", "list"),
        ("trace", "show", "run-1"),
        ("guidance", "lint"),
    ):
        for form in ((), ("--json",)):
            assert run([*command, *form, "--cwd", str(person.root)]) in (0, 1, 2)
            captured = capsys.readouterr()
            shown = captured.out + captured.err
            assert not {"\x1b", "\x9b", "\r", "\u202e"} & set(shown)
            assert "subject: economics (locked)" not in [line[:27] for line in shown.splitlines()]
            if form and captured.out:
                json.loads(captured.out)


def test_a_proposal_with_a_forged_name_is_not_listed(person: Person) -> None:
    folder = person.root / ".qiongli/proposals"
    folder.mkdir(parents=True)
    store = make_store(person.root)
    forged = Proposal(
        action="confirm",
        subject=FORGED_LINE,
        settings=(),
        run_id="",
        fingerprint="",
        source="user",
        project="",
        choice="",
        created="2026-07-01T12:00:00Z",
        expires="2026-07-02T12:00:00Z",
    )
    (folder / f"{forged.id}.json").write_text(json.dumps(to_packet(forged)), encoding="utf-8")
    assert list_proposals(store.project, clock=store.clock) == ()
