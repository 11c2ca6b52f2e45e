"""Invariants F1 to F9, G3 and G7 of the heuristics contract: what is refused, what is asked, what a session may move.

The letters are those of the contract. `@covering(generator, label=share)` runs the property over the generator and
fails unless each label makes up its share of the draws.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

import attrs
import pytest
from engine_cases import (
    ACTIVE,
    AUTOMATIC,
    FAILING,
    STRONG,
    SUBJECTS,
    Scene,
    candidate,
    covering,
    each_kind,
    labels_of,
    lens,
    ppm,
    scenes,
    shaped,
    view,
)
from hypothesis import strategies as st

from qiongli.clarification import ask, intent_evidence
from qiongli.errors import InputError
from qiongli.records.packet import DECISIONS, REFUSAL_CODES, Refusal
from qiongli.routing import Routing, Standing, UnresolvedFact, decide, select
from qiongli.safety import subject_gates
from qiongli.session import (
    Identifier,
    SessionContext,
    SessionEvent,
    SessionState,
    advisory,
    apply,
    fold,
    repeated_failure,
)

# --- F: clarification and refusal ---------------------------------------------------------------------------------


@covering(each_kind(), suggest_subject=0.1, ambiguous=0.05, refusal=0.05, missing_text=0.05, repeated_failure=0.05)
def test_f1_f3_one_decision_and_never_a_question_beside_a_refusal(scene: Scene) -> set[str]:
    routing = scene.decide()
    question = ask(routing)
    assert routing.decision in DECISIONS
    if routing.refusal:
        assert question is None
        assert (routing.decision, routing.ranked, routing.blocked, routing.lenses) == ("no_subject", (), (), ())
    refused = scene.decide(refusal=Refusal("undecodable", "unreadable"))
    assert ask(refused) is None
    assert view(refused) == view(decide((), refusal=Refusal("undecodable", "unreadable")))
    # Not even when facts were left open beside it.
    assert ask(attrs.evolve(routing, refusal=Refusal("undecodable", "unreadable"))) is None
    if routing.decision in ("no_subject", "borrow_lens"):
        assert routing.primary == "auto"
        assert routing.reasons
    return labels_of(routing)


@covering(each_kind(kinds=AUTOMATIC), blocked=0.2, lens=0.1)
def test_f2_gated_candidates_are_never_a_refusal(scene: Scene) -> set[str]:
    gates = subject_gates(state="lens_only", excluded=False)
    routing = scene.decide(candidates=[attrs.evolve(item, gates=gates) for item in scene.candidates])
    assert routing.refusal is None
    assert routing.decision in ("no_subject", "borrow_lens")
    with_evidence = {
        item.subject for item in scene.candidates if any(found.role == "signal" for found in item.evidence)
    }
    assert {item.subject for item in routing.blocked} == with_evidence
    return labels_of(routing)


@covering(each_kind(kinds=AUTOMATIC), ambiguous=0.1, suggest_subject=0.2, no_subject=0.1)
def test_f4_an_ambiguous_question_exactly_when_a_suggestible_rival_is_within_the_margin(scene: Scene) -> set[str]:
    routing = scene.decide()
    rivals: list[str] = []
    if routing.decision == "suggest_subject":
        # Recomputed from what a packet shows: score and dimensions of every candidate.
        threshold = scene.limits.suggest_threshold
        for item in routing.ranked:
            near = routing.confidence - item.scored.total <= scene.limits.margin
            may = item.scored.total >= threshold and len(item.scored.dimensions) >= 2
            if item.subject != routing.primary and near and may:
                rivals.append(item.subject)
    assert list(routing.secondaries) == rivals
    question = ask(routing)
    assert (question is not None and question.id.startswith("ambiguous:")) == bool(rivals)
    return labels_of(routing)


@st.composite
def crowds(draw: st.DrawFn) -> Scene:
    """Three to six subjects that may all be suggested, within the margin of each other, and one behind a gate."""
    names = draw(st.permutations((*SUBJECTS, "law", "politics", "sociology")))
    number = draw(st.integers(3, 6))
    found = [candidate(name, shaped(name, *draw(st.sampled_from(STRONG[:4])))) for name in names[:number]]
    stopped = candidate(names[6], shaped(names[6], *STRONG[3]), gates=draw(st.sampled_from(FAILING)))
    return Scene(tuple(draw(st.permutations([*found, stopped]))))


@covering(
    [*each_kind(kinds=("ambiguous", "repeated", "missing", "blocked")), crowds(), crowds()],
    ambiguous=0.3,
    repeated_failure=0.1,
    crowd=0.1,
)
def test_f5_options_are_eligible_at_most_three_and_in_rank_order(scene: Scene) -> set[str]:
    routing = scene.decide()
    question = ask(routing)
    if question is None:
        return labels_of(routing)
    order = [item.subject for item in routing.ranked]
    offered = [option.subject for option in question.options]
    assert len(offered) <= 3
    assert offered == [subject for subject in order if subject in offered]
    eligible = {
        item.subject for item in scene.candidates if all(gate.passed for gate in item.gates) and len(item.gates) >= 2
    }
    assert set(offered) <= eligible
    assert all(option.reason for option in question.options)
    if question.id.startswith("ambiguous:"):
        # The best ones, and only they: a question about others would settle nothing.
        assert offered == [routing.primary, *routing.secondaries][:3]
    # Whatever a fact says, what is offered of it is what was ranked, in that order.
    fact = UnresolvedFact("ambiguous", "ambiguous:all", tuple(sorted(item.subject for item in scene.candidates)))
    everyone = ask(attrs.evolve(routing, facts=(fact,)))
    assert everyone is not None
    assert [option.subject for option in everyone.options] == order[:3]
    return labels_of(routing) | ({"crowd"} if len(routing.secondaries) >= 3 else set())


#: The fixed table: which of several open facts is asked about.
TABLE = ("missing_text", "repeated_failure", "ambiguous")


def first_open(routing: Routing, asked: Mapping[str, int], answered: Collection[str]) -> str | None:
    """The fact that the table asks about: the first one that is neither answered nor was asked about twice."""
    left = [fact for fact in routing.facts if fact.id not in answered and asked.get(fact.id, 0) < 2]
    return min(left, key=lambda fact: TABLE.index(fact.kind)).id if left else None


open_facts = st.lists(
    st.sampled_from(
        [
            UnresolvedFact("missing_text", "missing_text"),
            UnresolvedFact("repeated_failure", "repeated_failure:finance", ("finance",)),
            UnresolvedFact("ambiguous", "ambiguous:economics+finance", ("finance", "economics")),
        ]
    ),
    unique=True,
    max_size=3,
)


@covering(
    each_kind(
        open_facts,
        st.dictionaries(st.sampled_from(TABLE), st.integers(0, 3)),
        st.sampled_from([*TABLE, None]),
        kinds=("suggest", "ambiguous", "repeated", "missing", "core"),
    ),
    several=0.3,
    asked=0.5,
    silent=0.1,
    answered=0.15,
)
def test_f8_one_question_a_round_chosen_by_the_table_whatever_else_is_open(
    example: tuple[Scene, list[UnresolvedFact], dict[str, int], str | None],
) -> set[str]:
    scene, more, rounds, settled = example
    routing = scene.decide()
    kinds = {fact.kind for fact in routing.facts}
    facts = (*routing.facts, *(fact for fact in more if fact.kind not in kinds))
    asked = {fact.id: rounds[fact.kind] for fact in facts if fact.kind in rounds}
    answered = {fact.id for fact in facts if fact.kind == settled}
    expected = first_open(attrs.evolve(routing, facts=facts), asked, answered)
    for order in itertools.permutations(facts):
        question = ask(attrs.evolve(routing, facts=order), asked=asked, answered=answered)
        assert (question.id if question else None) == expected
    labels = {"asked" if expected else "silent"} if facts else set()
    if expected != first_open(attrs.evolve(routing, facts=facts), asked, ()):
        labels.add("answered")
    return labels | ({"several"} if len(facts) > 1 else set())


def test_f6_f7_in_any_conversation_rounds_end_and_answers_hold() -> None:
    replies = st.lists(
        st.tuples(
            st.integers(0, 2), st.sampled_from(["silent", "silent", "answered", "answered at once", "elsewhere"])
        ),
        min_size=3,
        max_size=14,
    )

    @covering(
        [
            st.tuples(st.lists(scenes((kind,)), min_size=1, max_size=3), replies)
            for kind in ("ambiguous", "repeated", "missing")
        ],
        asked_twice=0.3,
        dropped=0.3,
        answered=0.2,
        answered_at_once=0.2,
    )
    def prove(example: tuple[list[Scene], list[tuple[int, str]]]) -> set[str]:
        talks, steps = example
        state = SessionState(Identifier("here"))
        asked: Counter[str] = Counter()
        answered: set[str] = set()
        labels = set()
        for turn, (index, reply) in enumerate(steps):
            routing = talks[index % len(talks)].decide()
            question = ask(routing, asked=state.rounds())
            assert (question.id if question else None) == first_open(routing, asked, answered)
            if question is None:
                labels |= {"dropped"} if routing.facts else set()
                continue
            assert (question.round, question.max_rounds) == (asked[question.id] + 1, 2)
            labels |= {"asked_twice"} if question.round == 2 else set()
            here = SessionContext(Identifier("here"), Identifier("task"), Identifier("policy:1"), turn)
            if reply != "answered at once":
                # A host that gets its answer within one turn has no round to remember.
                asked[question.id] += 1
                state = apply(state, SessionEvent("asked", Identifier(question.id), here))
            if reply in ("answered", "answered at once"):
                answered.add(question.id)
                labels.add(reply.replace(" ", "_"))
                state = apply(state, SessionEvent("answered", Identifier(question.id), here))
            elif reply == "elsewhere":
                # What another session hears counts nothing here.
                there = attrs.evolve(here, session=Identifier("there"))
                state = apply(state, SessionEvent("answered", Identifier(question.id), there))
        return labels

    prove()


@covering(each_kind(kinds=("ambiguous", "suggest", "repeated")), ambiguous=0.1)
def test_f9_an_answer_settles_between_suggestible_ones_and_lifts_no_gate(scene: Scene) -> set[str]:
    routing = scene.decide()
    for fact in routing.facts:
        for answer in fact.subjects:
            settled = scene.decide(answers={fact.id: answer})
            if fact.kind == "ambiguous" and not any(item.repeated_failure for item in scene.candidates):
                assert (settled.decision, settled.primary) == ("suggest_subject", answer)
                assert settled.confidence == next(
                    item.scored.total for item in routing.ranked if item.subject == answer
                )
                assert ask(settled) is None
                assert [item.subject for item in settled.ranked] == [answer]
                excluded = {item.subject for item in routing.ranked} - {answer}
                assert excluded <= {item.subject for item in settled.blocked}
            assert settled.secondaries == () or answer not in settled.secondaries
    # Nobody who was not asked about can be answered into the decision.
    outsiders = {item.subject for item in scene.candidates} - {
        subject for fact in routing.facts for subject in fact.subjects
    }
    for outsider, fact in itertools.product(sorted(outsiders), routing.facts):
        assert view(scene.decide(answers={fact.id: outsider})) == view(routing)
        with pytest.raises(InputError, match="none of the options"):
            intent_evidence(fact.id, outsider)
    for fact in routing.facts:
        for answer in fact.subjects:
            found = intent_evidence(fact.id, answer)
            assert (found.subject, found.source, found.role, found.weight) == (answer, "user", "keep", 0)
    stale = {"ambiguous:alchemy+astrology": "alchemy", "repeated_failure:alchemy": "alchemy", "nonsense": "finance"}
    assert view(scene.decide(answers=stale)) == view(routing)
    return labels_of(routing)


def test_f9_an_answer_is_evidence_of_the_users_intent_without_weight() -> None:
    found = intent_evidence("ambiguous:economics+finance", "finance")
    assert (found.role, found.source, found.weight, found.activation) == ("keep", "user", 0, "context_only")
    routing = decide([candidate("finance", [found])], [lens("finance", "finance", [found])])
    assert routing.decision == "no_subject"
    blocked = candidate("finance", [*shaped("finance", [200_000], [200_000]), found], gates=ACTIVE[:1])
    assert decide([blocked], answers={"ambiguous:economics+finance": "finance"}).decision == "no_subject"


pushes = st.lists(st.integers(-(10**6), 10**6), min_size=5, max_size=5)
#: One far ahead of another that may be suggested too, and sessions that would turn them round.
duels = st.builds(
    lambda shape, push: (
        Scene((candidate("finance", shaped("finance", *STRONG[5])), candidate("law", shaped("law", *STRONG[shape])))),
        [-push, push],
    ),
    st.integers(0, 2),
    st.sampled_from([10**6, 200_000, 51_000]),
)


@covering([*each_kind(pushes, kinds=("suggest", "ambiguous", "core")), duels], decisive=0.1)
def test_g3_a_session_never_turns_one_decisive_suggestion_into_another(example: tuple[Scene, list[int]]) -> set[str]:
    scene, advisories = example
    plain = tuple(attrs.evolve(item, session=None) for item in scene.candidates)
    advised = tuple(attrs.evolve(item, session=amount) for item, amount in zip(plain, advisories, strict=False))  # type: ignore[arg-type]
    before = scene.decide(candidates=plain)
    after = scene.decide(candidates=advised)
    if before.decision != "suggest_subject":
        return set()
    totals = sorted((item.scored.total for item in before.ranked), reverse=True)
    if len(totals) < 2 or totals[0] - totals[1] > scene.limits.margin:
        assert after.primary in (before.primary, "auto")
        return {"decisive"}
    return set()


def outcome(
    kind: Any, turn: int, subject: str = "finance", task: str = "task", policy: str = "policy:1"
) -> SessionEvent:
    where = SessionContext(Identifier("here"), Identifier(task), Identifier(policy), turn)
    return SessionEvent(kind, Identifier(subject), where)


def failures(least: int, most: int) -> st.SearchStrategy[list[SessionEvent]]:
    return st.lists(st.builds(outcome, st.just("failure"), st.integers(0, 24)), min_size=least, max_size=most)


#: Successes of the same route, and failures of others, on other tasks, under another policy.
noise = st.one_of(
    [
        st.lists(st.builds(outcome, *kind), min_size=3, max_size=6)
        for kind in (
            (st.just("success"), st.integers(0, 24)),
            (st.just("failure"), st.integers(0, 24), st.just("economics")),
            (st.just("failure"), st.integers(0, 24), st.just("finance"), st.just("another")),
            (st.just("failure"), st.integers(0, 24), st.just("finance"), st.just("task"), st.just("policy:2")),
        )
    ]
)


@covering(
    [
        st.tuples(failures(0, 2), noise, st.integers(0, 5), st.booleans()),
        st.tuples(failures(3, 6), noise, st.integers(0, 5), st.booleans()),
        st.tuples(failures(3, 6), noise, st.integers(15, 25), st.booleans()),
    ],
    forced=0.15,
    expired=0.1,
    others_failed=0.1,
)
def test_g7_three_failures_of_one_route_on_one_task_force_core_and_a_question(
    example: tuple[list[SessionEvent], list[SessionEvent], int, bool],
) -> set[str]:
    own, others, wait, rivalled = example
    log = sorted([*own, *others], key=lambda item: item.context.turn)
    state = fold(log, "here")
    now = SessionContext(Identifier("here"), Identifier("task"), Identifier("policy:1"), state.turn + wait)
    retained = [item for item in log if item.kind == "failure"][-8:]
    fresh = [
        item
        for item in retained
        if attrs.evolve(item.context, turn=0) == attrs.evolve(now, turn=0)
        and item.subject == "finance"
        and now.turn - item.context.turn < 20
    ]
    forced = repeated_failure(state, "finance", now)
    assert forced == (len(fresh) >= 3)
    session = ppm(max(0, advisory(state, "finance", now)))
    found = candidate("finance", shaped("finance", *STRONG[3]), session=session, repeated_failure=forced)
    rival = candidate("economics", shaped("economics", *STRONG[0]))
    routing = decide([found, rival] if rivalled else [found])
    question = ask(routing)
    if forced:
        # Neither another try nor, silently, the runner-up.
        assert (routing.decision, routing.primary) == ("no_subject", "auto")
        assert question is not None
        assert question.id == "repeated_failure:finance"
        return {"forced"}
    assert (routing.decision, routing.primary) == ("suggest_subject", "finance")
    labels = {"expired"} if len(own) >= 3 else set()
    return labels | ({"others_failed"} if sum(item.kind == "failure" for item in log) >= 3 > len(own) else set())


def test_refusals_of_the_packet_are_the_closed_list() -> None:
    assert len(REFUSAL_CODES) == 5


def test_select_takes_what_the_standings_say_and_nothing_else() -> None:
    standings = decide([candidate(name, shaped(name, [200_000], [200_000])) for name in SUBJECTS]).ranked
    none: tuple[Standing, ...] = tuple(attrs.evolve(item, suggestible=False) for item in standings)
    assert select(none) == (None, ())
    only = (none[0], standings[1], none[2])
    assert select(only) == (standings[1], ())
