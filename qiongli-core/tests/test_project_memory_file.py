"""The bytes of the evidence memory: what is carried over unread, what is read whole, and what no reader may lose."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from project_cases import make_store, standard_subjects, suggestion

from qiongli.errors import StateRefusedError
from qiongli.plugins import Catalogue
from qiongli.project import _memory_file as memory_file
from qiongli.project import (
    apply_action,
    memory_from_packet,
    read_memory,
    read_project,
    record_refinement,
    subject_status,
    undo_action,
)
from qiongli.project.memory import (
    RETAINED_EVENTS,
    RETAINED_FINGERPRINTS,
    UNDO_DEPTH,
    MemoryDocument,
    parse_memory,
)
from qiongli.project.paths import MEMORY
from qiongli.records.project import EvidenceMemory, LifecycleEvent


@pytest.fixture
def project(tmp_path: Path) -> tuple[Path, Catalogue]:
    """A project on which somebody confirmed finance, then dismissed economics."""
    subjects = standard_subjects(tmp_path / "packages")
    root = tmp_path / "project"
    root.mkdir()
    apply_action("confirm", root, "finance", catalogue=subjects, store=make_store(root))
    apply_action("dismiss", root, "economics", catalogue=subjects, store=make_store(root))
    return root, subjects


@pytest.fixture
def suggested(project: tuple[Path, Catalogue]) -> tuple[Path, Catalogue]:
    """That project, where then finance was suggested for three tasks and economics for one."""
    root, subjects = project
    for subject, task in (("finance", "a"), ("economics", "b"), ("finance", "c"), ("finance", "d")):
        record_refinement(root, suggestion(subject, task), store=make_store(root))
    return root, subjects


def _tasks(root: Path) -> dict[str, tuple[str, ...]]:
    return {subject: entry.fingerprints for subject, entry in read_memory(root)[0].suggestions.items()}


def _memory(root: Path) -> Path:
    return root / ".qiongli" / MEMORY


def _kept(root: Path) -> list[Path]:
    return list(_memory(root).parent.glob("*.corrupt-*"))


def _events(root: Path) -> list[str]:
    return [event.event for event in read_memory(root)[0].lifecycle_events]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**12), 10**12) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
events = st.lists(
    st.fixed_dictionaries({"event": st.text(max_size=12)}, optional={"note": json_values, "run_id": st.text()}),
    max_size=6,
)
entries = st.dictionaries(
    st.from_regex(r"[a-z0-9][a-z0-9_-]{0,7}", fullmatch=True),
    st.tuples(
        st.fixed_dictionaries(
            {"suggestion_count": st.integers(0, 9)},
            optional={"note": json_values, "last_run_id": st.text(max_size=5), "]": json_values},
        ),
        st.lists(st.text(max_size=6), max_size=4),
    ),
    max_size=3,
)
unknown = st.dictionaries(
    st.text(max_size=10).filter(
        lambda key: key not in ("schema_version", "revision", "dismissed_subjects", "suggestions", "latest_refinement")
    ),
    json_values,
    max_size=4,
)


@given(
    content=unknown,
    suggestions=entries,
    lines=events,
    undo=st.lists(st.fixed_dictionaries({"action": json_values}), max_size=4),
)
def test_what_is_written_is_plain_json_and_reads_the_same_with_the_lines_unread_or_read(
    content: dict[str, Any],
    suggestions: dict[str, tuple[dict[str, Any], list[str]]],
    lines: list[dict[str, Any]],
    undo: list[dict[str, Any]],
) -> None:
    reserved = (memory_file.DIGESTS_KEY, memory_file.EVENTS_KEY, memory_file.UNDO_KEY)
    content = {"revision": 3, **{key: value for key, value in content.items() if key not in reserved}}
    content["suggestions"] = {subject: entry for subject, (entry, _) in suggestions.items()}
    tasks = {subject: found for subject, (_, found) in suggestions.items()}
    data, telling = memory_file.render_file(
        content,
        {subject: memory_file.lines_from(found, RETAINED_FINGERPRINTS) for subject, found in tasks.items()},
        memory_file.lines_from(lines, RETAINED_EVENTS),
        memory_file.lines_from(undo, UNDO_DEPTH),
    )
    parsed = json.loads(data)
    whole = {subject: {**entry, "fingerprints": tasks[subject]} for subject, (entry, _) in suggestions.items()}
    assert {key: parsed[key] for key in content} == {**content, "suggestions": whole}
    assert (parsed["lifecycle_events"], parsed["undo"]) == (lines, undo)
    document = parse_memory(data)
    assert document.telling == telling < len(data)
    # The same content in any other layout is read whole, to the same end.
    other = parse_memory(json.dumps(parsed).encode())
    assert other.telling is None
    for found in (document, other):
        assert (found.content, found.events.parse(), found.undo.parse()) == (content, lines, undo)
        assert {subject: list(entry.list_tasks()) for subject, entry in found.suggestions.items()} == tasks


@given(lines=events, more=events, limit=st.integers(1, 8))
def test_lines_grow_one_by_one_as_they_would_be_written_at_once(
    lines: list[dict[str, Any]], more: list[dict[str, Any]], limit: int
) -> None:
    grown = memory_file.lines_from(lines, limit)
    for event in more:
        grown = grown.appended(event, limit)
    at_once = memory_file.lines_from([*lines, *more], limit)
    assert grown.parse() == at_once.parse() == [*lines, *more][-limit:]
    assert grown.digest == at_once.digest


def test_an_action_reads_no_event_no_task_and_nothing_of_what_could_be_undone(
    suggested: tuple[Path, Catalogue], monkeypatch: pytest.MonkeyPatch
) -> None:
    root, subjects = suggested

    def refuse(_lines: memory_file.Lines) -> list[Any]:
        raise AssertionError("the lines were parsed")

    with monkeypatch.context() as patched:
        patched.setattr(memory_file.Lines, "parse", refuse)
        apply_action("confirm", root, "economics", catalogue=subjects, store=make_store(root))
        apply_action("dismiss", root, "finance", fingerprint="e", catalogue=subjects, store=make_store(root))
        apply_action("dismiss", root, "finance", fingerprint="e", catalogue=subjects, store=make_store(root))
        apply_action("lock", root, "finance", catalogue=subjects, store=make_store(root))
        assert not record_refinement(root, suggestion("finance", "c"), store=make_store(root)).counted
        assert record_refinement(root, suggestion("finance", "f"), store=make_store(root)).counted
        assert [entry.suggestion_count for entry in subject_status(root, catalogue=subjects).suggestions] == [1, 5]
    assert _events(root) == ["confirm", "dismiss", "confirm", "dismiss", "dismiss", "lock"]
    assert _tasks(root) == {"economics": ("b",), "finance": ("a", "c", "d", "e", "f")}


def test_routing_reads_the_tasks_but_no_event_and_a_reset_no_event_that_looks_as_ours_do(
    suggested: tuple[Path, Catalogue], monkeypatch: pytest.MonkeyPatch
) -> None:
    root, subjects = suggested

    def refuse(_memory: MemoryDocument) -> tuple[LifecycleEvent, ...]:
        raise AssertionError("the events were parsed")

    with monkeypatch.context() as patched:
        patched.setattr(MemoryDocument, "list_events", refuse)
        assert read_project(root).memory.suggestions["finance"].fingerprints == ("a", "c", "d")
        apply_action("reset", root, catalogue=subjects, store=make_store(root))
    assert _events(root) == ["confirm", "dismiss", "reset"]
    assert _tasks(root) == {}
    undo_action(root, catalogue=subjects, store=make_store(root))
    assert _tasks(root) == {"economics": ("b",), "finance": ("a", "c", "d")}


def test_of_too_many_tasks_the_oldest_is_forgotten_and_stays_counted(project: tuple[Path, Catalogue]) -> None:
    root, _ = project
    content = json.loads(_memory(root).read_bytes())
    tasks = [f"task {number}" for number in range(RETAINED_FINGERPRINTS)]
    content["suggestions"] = {"finance": {"suggestion_count": len(tasks), "fingerprints": tasks}}
    _memory(root).write_text(json.dumps(content), encoding="utf-8")
    for task, counted in (("task 0", False), ("new", True), ("task 1", False), ("task 0", True)):
        assert record_refinement(root, suggestion("finance", task), store=make_store(root)).counted is counted
    found = read_memory(root)[0].suggestions["finance"]
    assert found.suggestion_count == RETAINED_FINGERPRINTS + 2
    assert found.fingerprints == (*tasks[2:], "new", "task 0")


def test_a_task_is_known_only_by_its_whole_name(project: tuple[Path, Catalogue]) -> None:
    root, _ = project
    names = ["a b", "b", '"', '"b', "b,", "", "\n", "b\n", "\\n", 'b"\n  "c', "\ud800", "]", "\n  ]", "é"]
    for name in names:
        assert record_refinement(root, suggestion("finance", name), store=make_store(root)).counted is bool(name)
    for name in names:
        assert not record_refinement(root, suggestion("finance", name), store=make_store(root)).counted
    assert _tasks(root)["finance"] == tuple(name for name in names if name)


def test_undoing_a_dismissal_forgets_the_task_that_it_counted_and_keeps_no_other_for_that(
    suggested: tuple[Path, Catalogue],
) -> None:
    root, subjects = suggested
    before = read_memory(root)[0].suggestions
    for subject in ("finance", "accounting"):
        apply_action("dismiss", root, subject, fingerprint="new", catalogue=subjects, store=make_store(root))
        record_refinement(root, suggestion("economics", "since"), store=make_store(root))
        assert _tasks(root)[subject][-1] == "new"
        last = parse_memory(_memory(root).read_bytes()).undo.parse()[-1]
        assert (last["suggestions_before"], last["task_counted"]) == (None, "new")
        undo_action(root, catalogue=subjects, store=make_store(root))
    found = read_memory(root)[0].suggestions
    assert {subject: entry for subject, entry in found.items() if subject != "economics"} == {
        "finance": before["finance"]
    }
    assert _tasks(root)["economics"] == ("b", "since")


def test_undoing_a_dismissal_of_an_earlier_version_brings_back_the_suggestions_that_it_kept(
    suggested: tuple[Path, Catalogue],
) -> None:
    root, subjects = suggested
    kept = {name: entry.to_packet() for name, entry in read_memory(root)[0].suggestions.items()}
    apply_action("dismiss", root, "finance", fingerprint="new", catalogue=subjects, store=make_store(root))
    content = json.loads(_memory(root).read_bytes())
    del content["undo"][-1]["task_counted"]
    content["undo"][-1]["suggestions_before"] = {
        **kept,
        "finance": {**kept["finance"], "suggestion_count": 2, "fingerprints": ["a", "c"]},
    }
    _memory(root).write_text(json.dumps(content), encoding="utf-8")
    undo_action(root, catalogue=subjects, store=make_store(root))
    # What is there and was not kept, was counted since.
    assert _tasks(root) == {"economics": ("b",), "finance": ("a", "c", "d", "new")}
    assert read_memory(root)[0].suggestions["finance"].suggestion_count == 4


#: A file as the first versions wrote it: the tasks of a suggestion are in the head, on one line.
EARLIER = b"""{
 "schema_version": "1.0",
 "revision": 7,
 "manifest_digest": "",
 "dismissed_subjects": {},
 "suggestions": {
  "finance": {"suggestion_count": 2, "last_confidence": 0.8, "last_decision": "suggest_subject", "last_run_id": \
"run-7", "fingerprints": ["a", "c"], "mine": 1}
 },
 "digests": {"lifecycle_events": "%s", "undo": "%s"},
 "lifecycle_events": [
  {"event": "dismiss", "subject": "economics", "source": "user", "write_manifest": false, "run_id": "", "time": \
"2026-01-01T00:00:00Z", "revision": 3, "proposal": ""}
 ],
 "undo": []
}
"""


def test_a_memory_of_an_earlier_version_is_read_and_goes_on_in_the_new_form_without_loss(
    project: tuple[Path, Catalogue],
) -> None:
    root, subjects = project
    data = EARLIER.replace(b"\\\n", b"")
    lines = data[data.index(b"  {") : data.index(b"\n ],")]
    data %= (hashlib.sha256(lines).hexdigest().encode(), hashlib.sha256(b"").hexdigest().encode())
    _memory(root).write_bytes(data)
    assert _tasks(root) == {"finance": ("a", "c")}
    apply_action("dismiss", root, "finance", catalogue=subjects, store=make_store(root))
    found = parse_memory(_memory(root).read_bytes())
    assert found.telling is not None
    assert found.content["suggestions"]["finance"]["mine"] == 1
    assert (_tasks(root), _events(root)) == ({"finance": ("a", "c")}, ["dismiss", "dismiss"])
    assert found.revision > 7
    assert not _kept(root)
    for task, counted in (("c", False), ("d", True)):
        assert record_refinement(root, suggestion("finance", task), store=make_store(root)).counted is counted
    assert _tasks(root) == {"finance": ("a", "c", "d")}
    assert json.loads(_memory(root).read_bytes())["suggestions"]["finance"]["mine"] == 1


def test_a_memory_in_the_form_of_the_published_structure_is_read_and_goes_on(
    project: tuple[Path, Catalogue],
) -> None:
    """As an earlier version, a person, or another tool may have written it: events in the middle, no digests."""
    root, subjects = project
    content = json.loads(_memory(root).read_bytes())
    del content["digests"]
    order = ("lifecycle_events", "undo", "schema_version")
    content = {key: content[key] for key in (*order, *(key for key in content if key not in order))}
    _memory(root).write_text(json.dumps(content, indent=4), encoding="utf-8")
    apply_action("lock", root, "finance", catalogue=subjects, store=make_store(root))
    assert _events(root) == ["confirm", "dismiss", "lock"]
    undo_action(root, catalogue=subjects, store=make_store(root))
    undo_action(root, catalogue=subjects, store=make_store(root))
    assert subject_status(root, catalogue=subjects).dismissed_subjects == ()
    assert not _kept(root)


def test_an_event_edited_by_hand_is_read_for_what_it_says_now(project: tuple[Path, Catalogue]) -> None:
    root, subjects = project
    data = _memory(root).read_bytes()
    _memory(root).write_bytes(data.replace(b'"event": "dismiss"', b'"event": "thought about it"'))
    assert _events(root) == ["confirm", "thought about it"]
    before = subject_status(root, catalogue=subjects)
    _memory(root).write_bytes(data)
    assert subject_status(root, catalogue=subjects).state_digest != before.state_digest


def test_a_task_edited_by_hand_is_read_for_what_it_says_now(suggested: tuple[Path, Catalogue]) -> None:
    root, subjects = suggested
    before = subject_status(root, catalogue=subjects)
    data = _memory(root).read_bytes()
    _memory(root).write_bytes(data.replace(b'  "c",', b'  "e",'))
    assert subject_status(root, catalogue=subjects).state_digest != before.state_digest
    assert _tasks(root)["finance"] == ("a", "e", "d")
    assert record_refinement(root, suggestion("finance", "c"), store=make_store(root)).counted
    assert not _kept(root)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'  "c",', b"  7,"),
        (b'  "c",', b'  "c'),
        (b'  "c",', b"  c,"),
        (b'  "c",', b'  ],\n  "c",'),
        (b'\n  "a",\n  "c",\n  "d"\n  ]', b'"a"'),
        (b'"fingerprints": [\n  "a"', b'"fingerprints": {\n  "a"'),
        (b'  "finance": {', b'  "finance": ['),
        (b"\n ]\n}\n", b"\n ]\n}\n,"),
    ],
)
def test_tasks_that_break_by_hand_are_told_and_put_aside(
    suggested: tuple[Path, Catalogue], old: bytes, new: bytes
) -> None:
    root, subjects = suggested
    broken = _memory(root).read_bytes().replace(old, new)
    assert broken != _memory(root).read_bytes()
    _memory(root).write_bytes(broken)
    status = subject_status(root, catalogue=subjects)
    assert "put aside at the next write" in status.warnings[0]
    packet = apply_action("lock", root, "finance", catalogue=subjects, store=make_store(root))
    assert [path.read_bytes() for path in _kept(root)] == [broken]
    assert packet.after.revision > status.revision >= 6


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"event": "dismiss"', b'"event": 7'),
        (b'"event": "dismiss"', b'"event": "dismiss'),
        (b'"event": "dismiss", ', b""),
        (b'"subject": "economics"', b'"subject": []'),
        (b'"subject": "economics"', b'"subject": NaN'),
        (b'\n  {"event": "confirm"', b'\n  7,\n  {"event": "confirm"'),
        (b"\n ]\n}\n", b"\n }\n}\n"),
        (b"\n ]\n}\n", b"\n ]\n]\n"),
    ],
)
def test_events_that_break_by_hand_are_told_and_put_aside(
    project: tuple[Path, Catalogue], old: bytes, new: bytes
) -> None:
    root, subjects = project
    data = _memory(root).read_bytes()
    broken = data.replace(old, new)
    assert broken != data
    _memory(root).write_bytes(broken)
    status = subject_status(root, catalogue=subjects)
    assert "put aside at the next write" in status.warnings[0]
    packet = apply_action("lock", root, "finance", catalogue=subjects, store=make_store(root))
    assert packet.after.locked
    assert [path.read_bytes() for path in _kept(root)] == [broken]
    assert packet.after.revision > status.revision >= 2


def test_a_memory_cut_off_anywhere_is_put_aside_or_whole(suggested: tuple[Path, Catalogue]) -> None:
    root, _ = suggested
    data = _memory(root).read_bytes()
    whole = parse_memory(data)
    for length in range(len(data)):
        document = parse_memory(data[:length])
        if document.error is None:
            # Only the last newline is missing.
            assert data[length:] == b"\n"
            assert document.content == whole.content
            assert document.to_memory() == whole.to_memory()


def test_lines_forged_along_with_their_digest_stop_no_action_and_are_told_to_who_reads_them(
    project: tuple[Path, Catalogue],
) -> None:
    root, subjects = project
    for line in (b'  {"event": "dismiss"', b"  [7]", b"  7"):
        forged = memory_file.lines_of(line)
        document = parse_memory(_memory(root).read_bytes())
        _memory(root).write_bytes(memory_file.render_file(document.content, {}, forged, forged)[0])
        memory, warnings = read_memory(root)
        assert memory.lifecycle_events == ()
        assert set(memory.dismissed_subjects) == {"economics"}
        assert "lifecycle_events" in warnings[0]
        assert subject_status(root, catalogue=subjects).dismissed_subjects == ("economics",)
        with pytest.raises(StateRefusedError) as raised:
            undo_action(root, catalogue=subjects, store=make_store(root))
        assert raised.value.code == "nothing_to_undo"
        assert apply_action("confirm", root, "finance", catalogue=subjects, store=make_store(root)).status == "applied"


@pytest.mark.parametrize(
    ("part", "line"),
    [
        ("events", b'  {"event": "dismiss"'),
        ("events", b"  [7]"),
        ("events", b'  {"event": "dismiss", "subject": []}'),
        ("events", b'  {"event": "dismiss\xff"}'),
        ("undo", b'  {"action": '),
        ("finance", b"  7"),
        ("finance", b'  "a'),
        ("finance", b'  "\xff"'),
        ("finance", b"  " + b"[" * 100_000),
    ],
)
def test_a_reset_puts_lines_aside_that_were_forged_along_with_their_digest(
    suggested: tuple[Path, Catalogue], part: str, line: bytes
) -> None:
    root, subjects = suggested
    _forge(root, part, line)
    broken = _memory(root).read_bytes()
    before = subject_status(root, catalogue=subjects)
    packet = apply_action("reset", root, catalogue=subjects, store=make_store(root))
    assert packet.status == "applied"
    assert any(f"is kept as {MEMORY}.corrupt-" in warning for warning in packet.warnings)
    assert [path.read_bytes() for path in _kept(root)] == [broken]
    assert packet.after.revision > before.revision
    memory, warnings = read_memory(root)
    assert warnings == ()
    assert [event.event for event in memory.lifecycle_events] == ["reset"]
    assert (memory.dismissed_subjects, memory.suggestions) == ({}, {})
    record_refinement(root, suggestion("finance", "a"), store=make_store(root))
    assert _tasks(root) == {"finance": ("a",)}


def _forge(root: Path, part: str, line: bytes) -> None:
    document = parse_memory(_memory(root).read_bytes())
    parts = {"events": document.events, "undo": document.undo}
    parts |= {subject: entry.tasks for subject, entry in document.suggestions.items()}
    assert part in parts
    parts[part] = memory_file.lines_of(line)
    events, undo = parts.pop("events"), parts.pop("undo")
    _memory(root).write_bytes(memory_file.render_file(document.content, parts, events, undo)[0])


def test_tasks_forged_along_with_their_digest_are_told_to_who_reads_them_and_put_aside_by_who_counts(
    suggested: tuple[Path, Catalogue],
) -> None:
    root, subjects = suggested
    _forge(root, "finance", b"  7")
    broken = _memory(root).read_bytes()
    for memory, warnings in (read_memory(root), (read_project(root).memory, read_project(root).warnings)):
        assert memory == EvidenceMemory()
        assert len(warnings) == 1
        assert "suggestions.finance.fingerprints" in warnings[0]
        assert "qiongli subject reset" in warnings[0]
    # An action that needs none of them carries them over, and is stopped by none.
    assert apply_action("dismiss", root, "finance", catalogue=subjects, store=make_store(root)).status == "applied"
    assert not _kept(root)
    _memory(root).write_bytes(broken)
    recording = record_refinement(root, suggestion("finance", "a"), store=make_store(root))
    assert recording.counted
    assert "suggestions.finance.fingerprints" in recording.warnings[-1]
    assert [path.read_bytes() for path in _kept(root)] == [broken]
    assert read_memory(root)[1] == ()
    assert _tasks(root) == {"finance": ("a",)}


def test_a_key_of_the_users_own_may_be_called_as_ours_are_inside(project: tuple[Path, Catalogue]) -> None:
    root, subjects = project
    content = json.loads(_memory(root).read_bytes())
    content["mine"] = {"lifecycle_events": [1], "undo": [{"digests": ',\n "undo": ['}], "suggestions": {"a": 1}}
    content["suggestions"] = {
        "finance": {
            "suggestion_count": 1,
            "fingerprints": ["a"],
            "mine": {"fingerprints": ["\n  ]", "["], "suggestions": ',\n "suggestions": {'},
        }
    }
    _memory(root).write_text(json.dumps(content, indent=1), encoding="utf-8")
    for _ in range(2):
        apply_action("dismiss", root, "finance", catalogue=subjects, store=make_store(root))
    found = json.loads(_memory(root).read_bytes())
    assert (found["mine"], found["suggestions"]["finance"]["mine"]) == (
        content["mine"],
        content["suggestions"]["finance"]["mine"],
    )
    assert _tasks(root) == {"finance": ("a",)}
    assert _events(root) == ["confirm", "dismiss", "dismiss", "dismiss"]


def test_a_lone_surrogate_in_an_event_is_written_as_its_escape(project: tuple[Path, Catalogue]) -> None:
    root, subjects = project
    apply_action("dismiss", root, "finance", run_id="run-\ud800", catalogue=subjects, store=make_store(root))
    apply_action("dismiss", root, "finance", catalogue=subjects, store=make_store(root))
    assert read_memory(root)[0].lifecycle_events[-2].run_id == "run-\ud800"


def test_the_memory_written_is_the_published_structure(suggested: tuple[Path, Catalogue]) -> None:
    root, _ = suggested
    memory = memory_from_packet(json.loads(_memory(root).read_bytes()))
    assert memory == read_memory(root)[0]
    assert [event.revision for event in memory.lifecycle_events] == [1, 2]
