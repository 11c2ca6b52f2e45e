"""Recording runs, counting suggestions, keeping sessions and settings, and what is dropped when."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from project_cases import Died, DiesAt, Watched, make_store, standard_subjects, state_files, suggestion

from qiongli.errors import InputError, StateRefusedError, UnknownSubjectError
from qiongli.plugins import Catalogue
from qiongli.project import (
    apply_action,
    change_settings,
    init_project,
    list_runs,
    memory_from_packet,
    prune_runs,
    read_manifest_state,
    read_memory,
    read_project,
    read_run,
    record_refinement,
    store_session,
    subject_status,
)
from qiongli.project import trace as trace_module
from qiongli.project.memory import EVENTS_SLACK, RETAINED_EVENTS
from qiongli.prompting import prompt_state
from qiongli.records.packet import Persistence, RefinementPacket
from qiongli.records.project import Dismissal, EvidenceMemory, LifecycleEvent, SuggestionMemory
from qiongli.records.resources import PlannedResource, ResourceActivationPlan
from qiongli.session import Identifier, SessionContext, SessionEvent, SessionState, fold


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    return root


@pytest.fixture
def subjects(tmp_path: Path) -> Catalogue:
    return standard_subjects(tmp_path / "packages")


def test_a_run_keeps_packet_refinement_plan_context_and_proposal(root: Path) -> None:
    packet = attrs.evolve(suggestion("finance", "abc"), persistence=Persistence("proposed"))
    recorded = record_refinement(
        root, packet, task_packet={"topic": "stock returns"}, proposal={"action": "confirm"}, store=make_store(root)
    )
    run = read_run(root, recorded.run_id)
    assert (
        run["packet"].items()
        >= {
            "run_id": recorded.run_id,
            "time": "2026-07-01T12:00:00Z",
            "fingerprint": "abc",
            "task_packet": {"topic": "stock returns"},
        }.items()
    )
    assert run["refinement"] == packet.to_packet()
    assert run["plan"] == packet.to_packet()["resource_activation_plan"]
    assert run["guidance_context"]["manifest"]["active_subject"] == "auto"
    assert run["proposal"] == {"action": "confirm"}


def test_checksums_survive_the_redaction_and_tokens_in_texts_do_not(root: Path, subjects: Catalogue) -> None:
    apply_action("confirm", root, "finance", catalogue=subjects)
    checksum = f"sha256:{'0123456789abcdef' * 4}"
    resource = PlannedResource("overlay", "finance", "finance", "overlays/finance.yaml", checksum, 1, "applied")
    packet = attrs.evolve(
        suggestion("finance", "abc"),
        resource_activation_plan=ResourceActivationPlan(resources=(resource,)),
        summary=f"the file {checksum} is read",
    )
    task = {"context": f"see {checksum}", "checksum": "hunter2 password: x1y2z3", "digest": checksum[7:]}
    record_refinement(root, packet, task_packet=task, store=make_store(root))
    run = read_run(root, "run-2")
    assert run["plan"]["resources"][0]["checksum"] == checksum
    assert run["refinement"]["resource_activation_plan"] == run["plan"]
    block = (root / ".qiongli/guidance.d/subject-runtime.md").read_bytes()
    assert run["guidance_context"]["guidance_digest"] == f"sha256:{hashlib.sha256(block).hexdigest()}"
    # The same characters in a text, or a digest without its form, may be anything.
    assert run["refinement"]["summary"] == "the file sha256:[redacted:token] is read"
    assert run["packet"]["task_packet"] == {
        "context": "see sha256:[redacted:token]",
        "checksum": "hunter2 password: [redacted:secret]",
        "digest": "[redacted:token]",
    }


def test_the_status_shows_the_latest_run(root: Path, subjects: Catalogue) -> None:
    record_refinement(root, suggestion("finance", "a", 812_345))
    latest = record_refinement(root, RefinementPacket("no_subject", fingerprint="b"))
    packet = subject_status(root, catalogue=subjects).to_packet()
    assert packet["latest_refinement"] == {
        "run_id": latest.run_id,
        "decision": "no_subject",
        "primary_subject": "auto",
        "confidence": 0.0,
    }
    assert packet["suggestions"][0]["last_confidence"] == 0.812345


def test_only_suggestions_count(root: Path) -> None:
    for decision in ("no_subject", "borrow_lens", "confirm_subject", "lock_subject"):
        packet = RefinementPacket(decision, primary_subject="finance", fingerprint=decision)  # type: ignore[arg-type]
        assert not record_refinement(root, packet).counted
    assert read_memory(root)[0].suggestions == {}


def test_recording_makes_no_lifecycle_event_and_confirms_nothing(root: Path) -> None:
    for task in ("a", "b", "c"):
        record_refinement(root, suggestion("finance", task))
    assert read_memory(root)[0].lifecycle_events == ()
    assert not (root / ".qiongli/guidance_manifest.yaml").exists()


def test_runs_are_listed_newest_first_by_number_not_by_time(root: Path) -> None:
    store = make_store(root)
    for number in range(12):
        record_refinement(root, suggestion("finance", str(number)), store=store)
        store.clock.move(days=-1)  # type: ignore[attr-defined]
    runs, total = list_runs(root, limit=3)
    assert total == 12
    assert [run.run_id for run in runs] == ["run-12", "run-11", "run-10"]
    assert [run.fingerprint for run in runs] == ["11", "10", "9"]


def test_reading_a_project_writes_nothing(root: Path, subjects: Catalogue) -> None:
    for attempt in (
        lambda: read_project(root, session="s"),
        lambda: read_memory(root),
        lambda: read_manifest_state(root),
        lambda: subject_status(root, catalogue=subjects),
        lambda: list_runs(root),
    ):
        attempt()
        assert not list(root.iterdir())


def test_an_unknown_run_names_the_newest_ones(root: Path) -> None:
    record_refinement(root, suggestion("finance", "a"))
    for run_id in ("run-9", "../runs/run-1", "", "run-1/../run-1"):
        with pytest.raises(InputError) as raised:
            read_run(root, run_id)
        assert raised.value.available == ("run-1",)


def test_pruning_removes_the_oldest_runs_and_nothing_else(root: Path) -> None:
    for number in range(5):
        record_refinement(root, suggestion("finance", str(number)))
    memory = state_files(root)["trace/subject_evidence.json"]
    assert prune_runs(root, keep=2, dry_run=True) == ("run-1", "run-2", "run-3")
    assert list_runs(root)[1] == 5
    assert prune_runs(root, keep=2) == ("run-1", "run-2", "run-3")
    assert [run.run_id for run in list_runs(root)[0]] == ["run-5", "run-4"]
    assert state_files(root)["trace/subject_evidence.json"] == memory
    assert prune_runs(root, keep=2) == ()
    with pytest.raises(InputError):
        prune_runs(root, keep=-1)
    # A number is not given twice.
    assert record_refinement(root, suggestion("finance", "x")).run_id == "run-6"


def test_a_death_while_pruning_leaves_whole_runs(root: Path) -> None:
    for number in range(3):
        record_refinement(root, suggestion("finance", str(number)))
    points = 0
    while True:
        watched = DiesAt(points)
        try:
            prune_runs(root, keep=1, store=make_store(root, watched))
            break
        except Died:
            points += 1
        for run in list_runs(root)[0]:
            assert read_run(root, run.run_id)["refinement"]["decision"] == "suggest_subject"
    with make_store(root, Watched()).writing():
        pass
    assert [run.run_id for run in list_runs(root)[0]] == ["run-3"]
    assert not list((root / ".qiongli/.staging").iterdir())


def test_runs_beyond_the_limit_are_dropped_now_and_then(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert trace_module.RETAINED_RUNS >= 10_000
    monkeypatch.setattr(trace_module, "RETAINED_RUNS", 3)
    monkeypatch.setattr(trace_module, "_PRUNE_EVERY", 5)
    for number in range(10):
        record_refinement(root, suggestion("finance", str(number)))
    assert [run.run_id for run in list_runs(root)[0]] == ["run-10", "run-9", "run-8"]


def test_ten_thousand_events_are_kept_and_the_oldest_go_first_now_and_then(root: Path, subjects: Catalogue) -> None:
    assert RETAINED_EVENTS >= 10_000
    number = RETAINED_EVENTS + EVENTS_SLACK
    memory = root / ".qiongli/trace/subject_evidence.json"
    memory.parent.mkdir(parents=True)
    events = [{"event": "dismiss", "subject": "finance", "revision": revision} for revision in range(1, number)]
    memory.write_text(json.dumps({"revision": number - 1, "lifecycle_events": events}), encoding="utf-8")
    apply_action("confirm", root, "finance", catalogue=subjects)
    kept = read_memory(root)[0].lifecycle_events
    assert len(kept) == number
    assert (kept[0].revision, kept[-1].event) == (1, "confirm")
    apply_action("lock", root, "finance", catalogue=subjects)
    kept = read_memory(root)[0].lifecycle_events
    assert len(kept) == RETAINED_EVENTS
    assert [event.revision for event in kept] == list(range(number + 2 - RETAINED_EVENTS, number + 2))
    assert [event.event for event in kept[-2:]] == ["confirm", "lock"]


def test_a_run_number_that_is_taken_is_passed_over(root: Path) -> None:
    record_refinement(root, suggestion("finance", "a"))
    (root / ".qiongli/trace/subject_evidence.json").unlink()
    assert record_refinement(root, suggestion("finance", "a")).run_id == "run-2"


# --- prompting -----------------------------------------------------------------------------------------------------


def _memory(count: int, fingerprints: tuple[str, ...], dismissed_at: int | None) -> EvidenceMemory:
    return EvidenceMemory(
        dismissed_subjects={} if dismissed_at is None else {"finance": Dismissal(1, "", dismissed_at)},
        suggestions={"finance": SuggestionMemory(suggestion_count=count, fingerprints=fingerprints)},
    )


@pytest.mark.parametrize(
    ("memory", "task", "prompt", "status", "count"),
    [
        (None, "a", True, None, None),
        (_memory(1, ("a",), None), "a", True, None, None),
        (_memory(1, ("a",), None), "b", True, "recommend_confirmation", 2),
        (_memory(2, ("a", "b"), None), "a", True, "recommend_confirmation", 2),
        # Dismissed when it had been suggested twice: silent for what is counted, and until the count grows beyond.
        (_memory(2, ("a", "b"), 2), "a", False, "suppressed", 2),
        (_memory(2, ("a", "b"), 2), "c", True, "recommend_confirmation", 3),
        (_memory(3, ("a", "b", "c"), 2), "c", False, "suppressed", 3),
        (_memory(1, ("a",), 2), "b", False, "suppressed", 2),
        (_memory(0, (), 1), "a", False, "suppressed", 1),
        (_memory(0, (), 0), "a", True, None, None),
    ],
)
def test_a_dismissal_silences_until_there_is_new_evidence(
    memory: EvidenceMemory | None, task: str, prompt: bool, status: str | None, count: int | None
) -> None:
    prompts, recommendation = prompt_state(memory, "finance", task)
    assert prompts is prompt
    assert (recommendation.status if recommendation else None) == status
    assert (recommendation.suggestion_count if recommendation else None) == count


@given(st.lists(st.sampled_from("abcdefgh"), max_size=12), st.integers(0, 12), st.sampled_from("abcdefgh"))
def test_property_a_task_that_was_counted_never_prompts_for_a_dismissed_subject(
    tasks: list[str], dismissed_at: int, task: str
) -> None:
    distinct = tuple(dict.fromkeys(tasks))
    prompts, recommendation = prompt_state(_memory(len(distinct), distinct, dismissed_at), "finance", task)
    expected = task not in distinct and len(distinct) + 1 > dismissed_at
    assert prompts is expected
    assert (recommendation is not None and recommendation.status == "suppressed") is not expected
    # Nobody else is concerned.
    assert prompt_state(_memory(len(distinct), distinct, dismissed_at), "economics", task) == (True, None)


# --- memory as a structure -------------------------------------------------------------------------------------------


def test_a_memory_makes_the_round_trip_through_its_packet() -> None:
    memory = EvidenceMemory(
        lifecycle_events=(LifecycleEvent("confirm", "finance", "user", True, "run-1", "2026-07-01T12:00:00Z", 3),),
        dismissed_subjects={"economics": Dismissal(2, "run-1", 4)},
        suggestions={"finance": SuggestionMemory(2, 650_000, "suggest_subject", "run-1", ("a", "b"))},  # type: ignore[arg-type]
    )
    assert memory_from_packet(memory.to_packet()) == memory
    assert memory_from_packet({}) == EvidenceMemory()


# --- sessions --------------------------------------------------------------------------------------------------------


def _events(name: str, turns: int) -> list[SessionEvent]:
    return [
        SessionEvent(
            ("success", "failure", "asked")[turn % 3],  # type: ignore[arg-type]
            Identifier("finance"),
            SessionContext(Identifier(name), Identifier("task"), Identifier("default"), turn),
        )
        for turn in range(turns)
    ]


@pytest.mark.parametrize("turns", [0, 1, 7, 40])
def test_a_session_is_stored_and_read_back(root: Path, turns: int) -> None:
    events = _events("session-1", turns)
    # In two pieces: what is stored is folded further, not replaced.
    store_session(root, "session-1", events[:3])
    state = store_session(root, "session-1", events[3:])
    assert state == fold(events, "session-1")
    assert read_project(root, session="session-1").session == state
    assert read_project(root, session="session-2").session is None
    assert read_project(root).session is None


def test_a_turn_in_which_nothing_happened_ages_a_session(root: Path) -> None:
    store_session(root, "session-1", _events("session-1", 2))
    assert store_session(root, "session-1", (), turn=9).turn == 9
    assert store_session(root, "session-1", (), turn=4).turn == 9


def test_events_of_another_session_change_nothing(root: Path) -> None:
    assert store_session(root, "session-1", _events("session-2", 3)) == SessionState(Identifier("session-1"))


def test_only_the_last_sessions_are_kept(root: Path) -> None:
    for number in range(10):
        store_session(root, f"session-{number}", _events(f"session-{number}", 2))
    stored = [read_project(root, session=f"session-{number}").session is not None for number in range(10)]
    assert stored == [False, False] + [True] * 8


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        '{"sessions": []}',
        '{"sessions": {"s": {"turn": "1", "outcomes": [], "asked": []}}}',
        '{"sessions": {"s": {"turn": 1, "outcomes": [{"kind": "a text"}], "asked": []}}}',
        '{"sessions": {"s": {"turn": 1, "outcomes": [], "asked": [["a b c", 1]]}}}',
    ],
)
def test_a_malformed_session_is_as_good_as_none(root: Path, content: str) -> None:
    (root / ".qiongli/trace").mkdir(parents=True)
    (root / ".qiongli/trace/session.json").write_text(content, encoding="utf-8")
    assert read_project(root, session="s").session is None


# --- settings --------------------------------------------------------------------------------------------------------


def test_init_makes_a_manifest_once(root: Path, subjects: Catalogue) -> None:
    assert init_project(root, catalogue=subjects, dry_run=True).status == "dry_run"
    assert not list(root.iterdir())
    assert init_project(root, catalogue=subjects).changed
    manifest = root / ".qiongli/guidance_manifest.yaml"
    manifest.write_bytes(manifest.read_bytes() + b"mine: 1\n")
    before = state_files(root)
    packet = init_project(root, catalogue=subjects)
    assert packet.status == "unchanged"
    assert state_files(root) == before


def test_settings_replace_what_they_name(root: Path, subjects: Catalogue) -> None:
    change_settings(root, {"secondary_subjects": ("finance", "economics"), "strictness": "strict"}, catalogue=subjects)
    after = change_settings(root, {"secondary_subjects": ("finance",)}, catalogue=subjects).after
    assert (after.secondary_subjects, after.strictness) == (("finance",), "strict")
    packet = change_settings(root, {"secondary_subjects": ("finance",)}, catalogue=subjects)
    assert packet.status == "unchanged"
    assert change_settings(root, {"secondary_subjects": ()}, catalogue=subjects).after.secondary_subjects == ()


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({}, "usage"),
        ({"active_subject": "finance"}, "unknown_setting"),
        ({"subject_mode": "locked"}, "unknown_setting"),
        ({"strictness": "lax"}, "invalid_setting"),
        ({"method_lenses": ("nothing",)}, "invalid_setting"),
        ({"method_lenses": ("economics/finance-lens",)}, "invalid_setting"),
        ({"method_lenses": "finance-lens"}, "invalid_setting"),
        ({"venue_profiles": ("../x",)}, "invalid_setting"),
    ],
)
def test_settings_that_do_not_exist_are_refused(root: Path, subjects: Catalogue, settings: object, code: str) -> None:
    with pytest.raises(InputError) as raised:
        change_settings(root, settings, catalogue=subjects)  # type: ignore[arg-type]
    assert raised.value.code == code
    assert not list(root.iterdir())


def test_neighbours_are_installed_and_are_not_the_subject_itself(root: Path, subjects: Catalogue) -> None:
    with pytest.raises(UnknownSubjectError):
        change_settings(root, {"secondary_subjects": ("biology",)}, catalogue=subjects)
    apply_action("confirm", root, "finance", catalogue=subjects)
    with pytest.raises(InputError):
        change_settings(root, {"secondary_subjects": ("finance",)}, catalogue=subjects)
    apply_action("lock", root, "finance", catalogue=subjects)
    with pytest.raises(StateRefusedError):
        change_settings(root, {"secondary_subjects": ()}, catalogue=subjects)
