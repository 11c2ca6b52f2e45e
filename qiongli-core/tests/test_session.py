"""The session: invariants G1 to G7 and C6, and what its records can hold."""

from __future__ import annotations

import string
from itertools import zip_longest
from typing import Any

import attrs
import pytest
from engine_cases import candidate, covering, shaped
from hypothesis import given
from hypothesis import strategies as st

from qiongli.clarification import ask
from qiongli.errors import InputError
from qiongli.limits import DEFAULT_LIMITS
from qiongli.records import Ppm
from qiongli.routing import decide
from qiongli.scoring import score, subject_route
from qiongli.session import (
    EVENT_KINDS,
    Identifier,
    SessionContext,
    SessionEvent,
    SessionState,
    advisory,
    apply,
    fold,
    repeated_failure,
)

CAP, STEP, EXPIRY = 50_000, 25_000, 20


def context(turn: int = 0, session: str = "s1", signature: str = "task-1", safety: str = "policy:1") -> SessionContext:
    return SessionContext(session, signature, safety, turn)  # type: ignore[arg-type]


def event(kind: Any, turn: int = 0, subject: str = "finance", **where: str) -> SessionEvent:
    return SessionEvent(kind, subject, context(turn, **where))  # type: ignore[arg-type]


events = st.builds(
    event,
    st.sampled_from(EVENT_KINDS),
    st.integers(0, 60),
    st.sampled_from(["finance", "finance", "economics"]),
    session=st.sampled_from(["s1", "s1", "s1", "s2"]),
    signature=st.sampled_from(["task-1", "task-1", "task-2"]),
    safety=st.sampled_from(["policy:1", "policy:1", "policy:2"]),
)
#: Logs about one route on one task, where outcomes meet.
outcomes = st.lists(st.builds(event, st.sampled_from(["success", "failure"]), st.integers(0, 40)), max_size=24).map(
    lambda log: sorted(log, key=lambda item: item.context.turn)
)
logs = st.one_of(st.lists(events, max_size=60), outcomes)
outcome_events = st.builds(event, st.sampled_from(["success", "failure"]), st.integers(0, 60))
#: Many different facts, more than a session keeps.
facts_asked = st.integers(50, 90).map(lambda number: [event("asked", 0, f"more:{index}") for index in range(number)])
IDENTIFIER_CHARACTERS = string.ascii_letters + string.digits + "._:+/-"


def refused_everywhere(text: Any) -> None:
    """No field of an event, a context or a state takes the value, and no error repeats it."""
    for build in (
        lambda: event("success", subject=text),
        lambda: context(session=text),
        lambda: context(signature=text),
        lambda: context(safety=text),
        lambda: SessionState(text),
    ):
        with pytest.raises(InputError) as caught:
            build()
        assert caught.value.code == "invalid_session_event"
        assert str(text) not in str(caught.value) or len(str(text)) < 4


class TestAdvisory:
    """Small, symmetric, and fading."""

    @pytest.mark.parametrize(
        ("kinds", "amount"),
        [
            ([], 0),
            (["success"], STEP),
            (["failure"], -STEP),
            (["success", "failure"], 0),
            (["success"] * 2, CAP),
            (["success"] * 8, CAP),
            (["failure"] * 8, -CAP),
            (["failure"] * 8 + ["success"], -CAP + STEP),
        ],
    )
    def test_each_outcome_is_one_step_within_the_cap(self, kinds: list[str], amount: int) -> None:
        state = fold([event(kind) for kind in kinds], "s1")
        assert advisory(state, "finance", context()) == amount

    def test_it_fades_by_a_fixed_amount_a_turn(self) -> None:
        state = fold([event("success"), event("success")], "s1")
        assert [advisory(state, "finance", context(turn)) for turn in (0, 1, 10, 19, 20, 21)] == [
            50_000,
            47_500,
            25_000,
            2_500,
            0,
            0,
        ]

    def test_only_the_same_route_counts(self) -> None:
        state = fold([event("success")], "s1")
        assert advisory(state, "economics", context()) == 0

    @given(logs, st.integers(0, 90))
    def test_b4_it_never_exceeds_the_cap(self, log: list[SessionEvent], turn: int) -> None:
        assert abs(advisory(fold(log, "s1"), "finance", context(turn))) <= CAP

    def test_g1_another_session_task_or_safety_context_gives_nothing(self) -> None:
        @covering(st.tuples(logs, st.integers(0, 60)), counted=0.1)
        def prove(example: tuple[list[SessionEvent], int]) -> set[str]:
            log, turn = example
            state = fold(log, "s1")
            for where in ({"session": "s3"}, {"signature": "task-3"}, {"safety": "policy:3"}):
                assert advisory(state, "finance", context(turn, **where)) == 0
                assert not repeated_failure(state, "finance", context(turn, **where))
            elsewhere = [
                attrs.evolve(item, context=attrs.evolve(item.context, session=Identifier("s9"))) for item in log
            ]
            assert fold([*log, *elsewhere], "s1") == state
            assert fold(elsewhere, "s1") == SessionState("s1")  # type: ignore[arg-type]
            return {"counted"} if advisory(state, "finance", context(turn)) else set()

        prove()

    def test_g2_it_never_grows_with_age_and_ends(self) -> None:
        @covering(logs, counted=0.1)
        def prove(log: list[SessionEvent]) -> set[str]:
            state = fold(log, "s1")
            ages = [abs(advisory(state, "finance", context(state.turn + age))) for age in range(EXPIRY + 2)]
            assert ages == sorted(ages, reverse=True)
            assert ages[EXPIRY:] == [0, 0]
            return {"counted"} if ages[0] else set()

        prove()

    def test_g2_no_clock_is_read(self) -> None:
        import qiongli.session

        assert not {"time", "datetime"} & set(vars(qiongli.session))

    def test_c6_more_failures_never_raise_it_now_or_later(self) -> None:
        # Full memories, where each new failure drops an old one, and long ones.
        full = st.lists(st.builds(event, st.sampled_from(["success", "failure"]), st.integers(0, 6)), min_size=8)
        full = full.map(lambda log: sorted(log, key=lambda item: item.context.turn))
        waits = (st.integers(0, 20), st.integers(0, 25))

        def scored(amount: int) -> int:
            found = shaped("finance", [200_000], [200_000])
            return score(subject_route("finance", 0, found, session=Ppm(amount))).total

        @covering([st.tuples(logs, *waits), st.tuples(full, *waits)], lowered=0.1)
        def prove(example: tuple[list[SessionEvent], int, int]) -> set[str]:
            log, wait, later = example
            state = fold(log, "s1")
            now = state.turn + wait
            failed = apply(state, event("failure", now))
            for turn in (now, now + later):
                before, after = advisory(state, "finance", context(turn)), advisory(failed, "finance", context(turn))
                assert after <= before
                assert scored(after) <= scored(before)
            worse = advisory(failed, "finance", context(now)) < advisory(state, "finance", context(now))
            return {"lowered" if worse else "kept"}

        prove()


class TestFold:
    """G4 to G6: replay equals live, bounded, typed."""

    @given(logs, st.integers(0, 60))
    def test_g4_replaying_the_log_gives_what_was_live(self, log: list[SessionEvent], cut: int) -> None:
        live = SessionState("s1")  # type: ignore[arg-type]
        for item in log:
            live = apply(live, item)
        assert fold(log, "s1") == live
        resumed = fold(log[:cut], "s1")
        for item in log[cut:]:
            resumed = apply(resumed, item)
        assert resumed == live

    @given(logs, events)
    def test_g4_folding_changes_no_earlier_state(self, log: list[SessionEvent], more: SessionEvent) -> None:
        state = fold(log, "s1")
        kept = attrs.asdict(state)
        apply(state, more)
        assert attrs.asdict(state) == kept

    def test_turns_never_go_back(self) -> None:
        state = fold([event("success", 10), event("success", 3)], "s1")
        assert state.turn == 10
        assert [item.context.turn for item in state.outcomes] == [10, 10]

    @pytest.mark.parametrize(
        "text", ["", "two words", "line\nbreak", "x" * 129, "a;b", "\u7ecf\u6d4e", "<b>", None, 7, True, b"finance"]
    )
    def test_free_text_and_other_values_do_not_fit_into_a_record(self, text: Any) -> None:
        refused_everywhere(text)

    def test_g5_free_text_does_not_fit_into_a_record(self) -> None:
        """Identifiers are what a registry or a digest has: no blanks, no marks, ASCII, 128 characters at most."""
        words = st.text(IDENTIFIER_CHARACTERS, min_size=1, max_size=12)
        # Blanks first: what is free text has them.
        marks = st.one_of(st.just(" "), st.sampled_from("\n\t ,;<>'\"()\u00e9\u7ecf\u202e\x00"))

        @covering(
            [
                words,
                st.builds("{}{}{}".format, words, marks, words),
                st.builds(lambda word, more: word * 11 + "x" * (118 + more), words, st.integers(0, 20)),
                st.text(max_size=20),
            ],
            fits=0.2,
            refused=0.4,
        )
        def prove(text: str) -> set[str]:
            fits = 0 < len(text) <= 128 and set(text) <= set(IDENTIFIER_CHARACTERS) and text[0].isalnum()
            if not fits:
                refused_everywhere(text)
                return {"refused"}
            assert SessionState(Identifier(text)).session == text
            assert event("success", subject=text, session=text, signature=text, safety=text).subject == text
            return {"fits"}

        prove()

    @pytest.mark.parametrize("turn", [-1, 1.0, True, None, "1", float("nan")])
    def test_g5_a_turn_is_a_count(self, turn: Any) -> None:
        with pytest.raises(InputError):
            context(turn)

    @pytest.mark.parametrize(
        "fields",
        [
            {"turn": "x"},
            {"turn": -5},
            {"outcomes": (1, 2)},
            {"outcomes": [event("success")]},
            {"asked": (("ambiguous:a+b", None),)},
            {"asked": (("two words", 1),)},
            {"asked": (1,)},
        ],
        ids=str,
    )
    def test_g5_a_state_holds_events_identifiers_and_counts_only(self, fields: dict[str, Any]) -> None:
        with pytest.raises(InputError) as caught:
            SessionState("s1", **fields)  # type: ignore[arg-type]
        assert caught.value.code == "invalid_session_event"

    @pytest.mark.parametrize("kind", ["", "grant", None, 1])
    def test_g5_kinds_are_closed(self, kind: Any) -> None:
        with pytest.raises(InputError):
            event(kind)

    @given(logs)
    def test_g5_every_field_is_an_identifier_or_an_int(self, log: list[SessionEvent]) -> None:
        def leaves(value: Any) -> list[Any]:
            if attrs.has(type(value)):
                return [leaf for field in attrs.fields(type(value)) for leaf in leaves(getattr(value, field.name))]
            return [leaf for item in value for leaf in leaves(item)] if isinstance(value, tuple) else [value]

        for leaf in leaves(fold(log, "s1")):
            assert type(leaf) is int or (type(leaf) is str and " " not in leaf and len(leaf) <= 128)

    def test_g6_the_oldest_is_dropped_and_the_size_is_bounded(self) -> None:
        """Eight of each kind, the last ones; and the first 64 facts, because forgetting one would ask again."""
        facts = st.builds(
            event, st.sampled_from(["asked", "answered"]), st.integers(0, 60), st.integers(0, 99).map("fact:{}".format)
        )
        long = st.tuples(st.lists(st.one_of(events, outcome_events, facts), min_size=30, max_size=60), facts_asked)

        @covering([st.tuples(logs, st.just([])), long], dropped=0.3, facts_full=0.1)
        def prove(example: tuple[list[SessionEvent], list[SessionEvent]]) -> set[str]:
            log = [item for part in zip_longest(*example) for item in part if item is not None]
            state = fold(log, "s1")
            own = [item for item in log if item.context.session == "s1"]
            labels = set()
            for kind in ("success", "failure"):
                happened = [(item.subject, item.context.signature) for item in own if item.kind == kind]
                kept = [item for item in state.outcomes if item.kind == kind]
                assert [(item.subject, item.context.signature) for item in kept] == happened[-8:]
                labels |= {"dropped"} if len(happened) > 8 else set()
            first_asked = list(dict.fromkeys(item.subject for item in own if item.kind in ("asked", "answered")))
            assert [name for name, _ in state.asked] == first_asked[:64]
            assert len(state.outcomes) <= 16
            return labels | ({"facts_full"} if len(first_asked) > 64 else set())

        prove()


class TestRepeatedFailure:
    """G7: three failures of one route on one task are no reason for a fourth."""

    @pytest.mark.parametrize(("failures", "forced"), [(0, False), (2, False), (3, True), (8, True)])
    def test_the_third_failure_forces_core(self, failures: int, forced: bool) -> None:
        state = fold([event("failure", turn) for turn in range(failures)], "s1")
        now = context(failures)
        assert repeated_failure(state, "finance", now) == forced
        found = candidate(
            "finance",
            shaped("finance", [200_000] * 2, [150_000]),
            repeated_failure=repeated_failure(state, "finance", now),
        )
        routing = decide([found])
        question = ask(routing)
        assert routing.decision == ("no_subject" if forced else "suggest_subject")
        assert (question.id if question else None) == ("repeated_failure:finance" if forced else None)

    def test_failures_of_other_routes_and_tasks_are_not_counted(self) -> None:
        log = [
            event("failure", 0),
            event("failure", 1),
            event("failure", 1, "economics"),
            event("failure", 1, signature="task-2"),
            event("failure", 1, safety="policy:2"),
            event("success", 1),
        ]
        assert not repeated_failure(fold(log, "s1"), "finance", context(2))

    def test_failures_expire(self) -> None:
        state = fold([event("failure", turn) for turn in (0, 1, 2)], "s1")
        assert repeated_failure(state, "finance", context(19))
        assert not repeated_failure(state, "finance", context(20))


class TestRounds:
    """F6 and F7 over a session: at most two rounds, and none after an answer."""

    def test_f6_rounds_are_counted_and_end(self) -> None:
        found = [candidate(name, shaped(name, [200_000], [200_000])) for name in ("economics", "finance")]
        state = SessionState("s1")  # type: ignore[arg-type]
        rounds = []
        for turn in range(5):
            question = ask(decide(found), asked=state.rounds())
            rounds.append(question.round if question else None)
            assert decide(found).primary == "economics"
            if question:
                state = apply(state, event("asked", turn, question.id))
        assert rounds == [1, 2, None, None, None]

    @given(st.integers(0, 2))
    def test_f7_an_answered_fact_is_never_asked_again(self, before: int) -> None:
        fact = "ambiguous:economics+finance"
        found = [candidate(name, shaped(name, [200_000], [200_000])) for name in ("economics", "finance")]
        log = [event("asked", turn, fact) for turn in range(before)] + [event("answered", before, fact)]
        assert ask(decide(found), asked=fold(log, "s1").rounds()) is None

    def test_f7_a_session_that_is_full_asks_nothing_new(self) -> None:
        found = [candidate(name, shaped(name, [200_000], [200_000])) for name in ("economics", "finance")]
        full = fold([event("answered", turn, f"fact:{turn}") for turn in range(64)], "s1")
        assert len(full.asked) == DEFAULT_LIMITS.clarification_facts
        assert ask(decide(found), asked=full.rounds()) is None
        almost = fold([event("answered", turn, f"fact:{turn}") for turn in range(63)], "s1")
        assert ask(decide(found), asked=almost.rounds()) is not None
