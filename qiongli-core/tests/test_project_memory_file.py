"""The bytes of the evidence memory: what is carried over unread, what is read whole, and what no reader may lose."""

from __future__ import annotations

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
from qiongli.project.memory import RETAINED_EVENTS, UNDO_DEPTH, parse_memory
from qiongli.project.paths import MEMORY


@pytest.fixture
def project(tmp_path: Path) -> tuple[Path, Catalogue]:
    """A project on which somebody confirmed finance, then dismissed economics."""
    subjects = standard_subjects(tmp_path / "packages")
    root = tmp_path / "project"
    root.mkdir()
    apply_action("confirm", root, "finance", catalogue=subjects, store=make_store(root))
    apply_action("dismiss", root, "economics", catalogue=subjects, store=make_store(root))
    return root, subjects


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
unknown = st.dictionaries(
    st.text(max_size=10).filter(
        lambda key: key not in ("schema_version", "revision", "dismissed_subjects", "suggestions", "latest_refinement")
    ),
    json_values,
    max_size=4,
)


@given(content=unknown, lines=events, undo=st.lists(st.fixed_dictionaries({"action": json_values}), max_size=4))
def test_what_is_written_is_plain_json_and_reads_the_same_with_the_lines_unread_or_read(
    content: dict[str, Any], lines: list[dict[str, Any]], undo: list[dict[str, Any]]
) -> None:
    reserved = (memory_file.DIGESTS_KEY, memory_file.EVENTS_KEY, memory_file.UNDO_KEY)
    content = {"revision": 3, **{key: value for key, value in content.items() if key not in reserved}}
    data, telling = memory_file.render_file(
        content, memory_file.lines_from(lines, RETAINED_EVENTS), memory_file.lines_from(undo, UNDO_DEPTH)
    )
    parsed = json.loads(data)
    assert {key: parsed[key] for key in content} == content
    assert (parsed["lifecycle_events"], parsed["undo"]) == (lines, undo)
    document = parse_memory(data)
    assert document.telling == telling < len(data)
    assert (document.content, document.events.parse(), document.undo.parse()) == (content, lines, undo)
    # The same content in any other layout is read whole, to the same end.
    other = parse_memory(json.dumps(parsed).encode())
    assert other.telling is None
    assert (other.content, other.events.parse(), other.undo.parse()) == (content, lines, undo)


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


def test_an_action_reads_none_of_the_events_and_none_of_what_could_be_undone(
    project: tuple[Path, Catalogue], monkeypatch: pytest.MonkeyPatch
) -> None:
    root, subjects = project

    def refuse(_lines: memory_file.Lines) -> list[Any]:
        raise AssertionError("the lines were parsed")

    with monkeypatch.context() as patched:
        patched.setattr(memory_file.Lines, "parse", refuse)
        for action, subject in (("confirm", "economics"), ("dismiss", "finance"), ("lock", "finance"), ("reset", None)):
            apply_action(action, root, subject, catalogue=subjects, store=make_store(root))
        record_refinement(root, suggestion("finance", "a"), store=make_store(root))
        subject_status(root, catalogue=subjects)
        read_project(root)
    assert _events(root) == ["confirm", "dismiss", "confirm", "dismiss", "lock", "reset"]


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


def test_a_memory_cut_off_anywhere_is_put_aside_or_whole(project: tuple[Path, Catalogue]) -> None:
    root, _ = project
    data = _memory(root).read_bytes()
    whole = parse_memory(data)
    for length in range(len(data)):
        document = parse_memory(data[:length])
        if document.error is None:
            # Only the last newline is missing.
            assert data[length:] == b"\n"
            assert (document.content, document.list_events()) == (whole.content, whole.list_events())


def test_lines_forged_along_with_their_digest_stop_no_action_and_are_told_to_who_reads_them(
    project: tuple[Path, Catalogue],
) -> None:
    root, subjects = project
    for line in (b'  {"event": "dismiss"', b"  [7]", b"  7"):
        forged = memory_file.lines_of(line)
        document = parse_memory(_memory(root).read_bytes())
        _memory(root).write_bytes(memory_file.render_file(document.content, forged, forged)[0])
        memory, warnings = read_memory(root)
        assert memory.lifecycle_events == ()
        assert set(memory.dismissed_subjects) == {"economics"}
        assert "lifecycle_events" in warnings[0]
        assert subject_status(root, catalogue=subjects).dismissed_subjects == ("economics",)
        with pytest.raises(StateRefusedError) as raised:
            undo_action(root, catalogue=subjects, store=make_store(root))
        assert raised.value.code == "nothing_to_undo"
        assert apply_action("confirm", root, "finance", catalogue=subjects, store=make_store(root)).status == "applied"


def test_a_key_of_the_users_own_may_be_called_as_ours_are_inside(project: tuple[Path, Catalogue]) -> None:
    root, subjects = project
    content = json.loads(_memory(root).read_bytes())
    content["mine"] = {"lifecycle_events": [1], "undo": [{"digests": ',\n "undo": ['}]}
    _memory(root).write_text(json.dumps(content, indent=1), encoding="utf-8")
    for _ in range(2):
        apply_action("dismiss", root, "finance", catalogue=subjects, store=make_store(root))
    assert json.loads(_memory(root).read_bytes())["mine"] == content["mine"]
    assert _events(root) == ["confirm", "dismiss", "dismiss", "dismiss"]


def test_a_lone_surrogate_in_an_event_is_written_as_its_escape(project: tuple[Path, Catalogue]) -> None:
    root, subjects = project
    apply_action("dismiss", root, "finance", run_id="run-\ud800", catalogue=subjects, store=make_store(root))
    apply_action("dismiss", root, "finance", catalogue=subjects, store=make_store(root))
    assert read_memory(root)[0].lifecycle_events[-2].run_id == "run-\ud800"


def test_the_memory_written_is_the_published_structure(project: tuple[Path, Catalogue]) -> None:
    root, _ = project
    memory = memory_from_packet(json.loads(_memory(root).read_bytes()))
    assert memory == read_memory(root)[0]
    assert [event.revision for event in memory.lifecycle_events] == [1, 2]
