"""Invariants E1 to E10 of the heuristics contract, and composites: no evidence and no score gets past a gate.

The letters are those of the contract. `@covering(generator, label=share)` runs the property over the generator and
fails unless each label makes up its share of the draws.
"""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from engine_cases import (
    ACTIVE,
    AUTOMATIC,
    FAILING,
    SUBJECTS,
    Scene,
    candidate,
    covering,
    each_kind,
    evidence,
    labels_of,
    lens,
    scenes,
    shaped,
    strong_evidence,
    strong_weights,
    view,
    weak_evidence,
)
from hypothesis import given
from hypothesis import strategies as st

from qiongli.clarification import ask
from qiongli.limits import DEFAULT_LIMITS
from qiongli.records import Evidence
from qiongli.records.evidence import DIMENSIONS
from qiongli.routing import Routing, decide
from qiongli.safety import Gate, Outcome, lens_gates, subject_gates

T = DEFAULT_LIMITS.suggest_threshold


def mentioned(routing: Routing) -> set[str]:
    """Every subject that a routing ranks, scores, suggests or offers."""
    question = ask(routing)
    return {
        *(item.subject for item in (*routing.ranked, *routing.replaced)),
        *([routing.standing.subject] if routing.standing else []),
        *routing.secondaries,
        *(subject for fact in routing.facts for subject in fact.subjects),
        *((option.subject for option in question.options) if question else ()),
    }


# --- E: gates outrank scores --------------------------------------------------------------------------------------


@covering(
    each_kind(st.sampled_from(FAILING), st.integers(0, 3), st.booleans()),
    suggest_subject=0.1,
    ambiguous=0.05,
    was_mentioned=0.2,
)
def test_e1_what_a_gate_stops_is_neither_ranked_nor_scored_nor_offered(
    example: tuple[Scene, Any, int, bool],
) -> set[str]:
    scene, gates, index, final = example
    stopped = scene.candidates[index % len(scene.candidates)]
    before = scene.decide()
    if final:
        stopped = attrs.evolve(stopped, final_gates=(Gate("last", None),), session=50_000)  # type: ignore[arg-type]
    else:
        stopped = attrs.evolve(stopped, gates=gates, session=50_000)  # type: ignore[arg-type]
    after = scene.with_candidate(stopped).decide()
    assert stopped.subject not in mentioned(after)
    # Only a project's own decision names it still, and then without a score.
    if after.primary == stopped.subject:
        assert after.decision in ("confirm_subject", "lock_subject")
        assert after.confidence == 0
    labels = labels_of(before)
    return labels | {"was_mentioned"} if stopped.subject in mentioned(before) else labels


@covering(each_kind(st.sampled_from(["pass", "fail"]), st.data(), kinds=AUTOMATIC), blocked=0.2)
def test_e2_neither_more_gates_nor_less_evidence_allow_what_was_refused(example: tuple[Scene, str, Any]) -> set[str]:
    scene, outcome, data = example
    before = scene.decide()
    blocked = {item.subject for item in before.blocked}
    more = Gate("more", Outcome(outcome))
    gated = tuple(attrs.evolve(item, gates=(*item.gates, more)) for item in scene.candidates)
    assert not blocked & mentioned(scene.decide(candidates=gated))
    fewer = tuple(
        attrs.evolve(item, evidence=item.evidence[: data.draw(st.integers(0, len(item.evidence)))])
        for item in scene.candidates
    )
    assert not blocked & mentioned(scene.decide(candidates=fewer))
    return labels_of(before)


@covering(each_kind(), suggest_subject=0.1, lens=0.1)
def test_e4_the_final_gate_only_removes(scene: Scene) -> set[str]:
    before = scene.decide()
    for item in scene.candidates:
        after = scene.with_candidate(attrs.evolve(item, final_gates=(Gate("last", Outcome.FAIL),))).decide()
        assert mentioned(after) <= mentioned(before) - {item.subject}
        assert {found.subject for found in after.ranked} == {found.subject for found in before.ranked} - {item.subject}
        if before.decision == "suggest_subject":
            # Not silently the runner-up.
            assert after.primary == ("auto" if before.primary == item.subject else before.primary)
    return labels_of(before)


@attrs.frozen
class Grabbing(Evidence):
    """Evidence of a plugin that would like to decide."""

    override: bool = True
    force: bool = True
    eligible: bool = True
    score: int = 1_000_000


@covering(each_kind(), suggest_subject=0.1, blocked=0.1, lens=0.1)
def test_e5_flags_on_evidence_are_inert(scene: Scene) -> set[str]:
    def grabbing(items: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
        names = [field.name for field in attrs.fields(Evidence)]
        return tuple(Grabbing(**{name: getattr(item, name) for name in names}) for item in items)

    routing = scene.decide()
    grabbed = attrs.evolve(
        scene,
        candidates=tuple(attrs.evolve(item, evidence=grabbing(item.evidence)) for item in scene.candidates),
        lenses=tuple(attrs.evolve(item, evidence=grabbing(item.evidence)) for item in scene.lenses),
    )
    assert view(grabbed.decide()) == view(routing)
    return labels_of(routing)


@covering(
    each_kind(
        st.sampled_from(["locked", "confirmed"]),
        st.sampled_from(SUBJECTS),
        kinds=("suggest", "ambiguous", "lock", "confirm"),
    ),
    rivalled=0.3,
    lens=0.1,
)
def test_e6_a_settled_project_keeps_its_subject_and_may_borrow(example: tuple[Scene, Any, str]) -> set[str]:
    scene, mode, subject = example
    routing = scene.decide(mode=mode, active_subject=subject)
    assert routing.primary == subject
    assert routing.decision == {"locked": "lock_subject", "confirmed": "confirm_subject"}[mode]
    assert (routing.secondaries, routing.facts) == ((), ())
    automatic = scene.decide(mode="auto", active_subject="auto")
    assert routing.lenses == automatic.lenses
    assert {item.lens for item in routing.lenses if item.lent} == {
        *routing.method_lenses,
        *(item.lens for item in routing.borrowed_lenses),
    }
    labels = labels_of(routing)
    return labels | {"rivalled"} if automatic.decision == "suggest_subject" and automatic.primary != subject else labels


@given(scenes(AUTOMATIC), st.sampled_from(["lens_only", "inactive", "invalid", "broken", "", None]))
def test_e7_below_active_nothing_is_suggested(scene: Scene, state: Any) -> None:
    gates = subject_gates(state=state, excluded=False)
    lendable = lens_gates(state=state, pack_resolves=True)
    routing = scene.decide(
        candidates=[attrs.evolve(item, gates=gates) for item in scene.candidates],
        lenses=[attrs.evolve(item, gates=lendable) for item in scene.lenses],
    )
    assert routing.decision in ("no_subject", "borrow_lens")
    if state != "lens_only":
        assert routing.decision == "no_subject"
        assert routing.borrowed_lenses == ()


@covering(each_kind(kinds=AUTOMATIC), borrow_lens=0.1)
def test_e7_nothing_is_borrowed_without_its_pack(scene: Scene) -> set[str]:
    before = scene.decide()
    gates = lens_gates(state="active", pack_resolves=False)
    after = scene.decide(lenses=[attrs.evolve(item, gates=gates) for item in scene.lenses])
    assert (after.borrowed_lenses, after.method_lenses, after.lenses) == ((), (), ())
    assert after.primary == before.primary
    return labels_of(before)


def test_e8_a_dismissal_is_nothing_that_a_decision_could_see() -> None:
    """Dismissal sets `prompt` only: neither candidates nor the decision have a place for it."""
    seen = {
        field.name
        for kind in (Scene, *(type(item) for item in (candidate("s"), lens("s", "l", ()))))
        for field in attrs.fields(kind)
    }
    assert not {name for name in seen if "dismiss" in name or "prompt" in name or "memory" in name}


@covering(
    st.lists(
        st.tuples(st.sampled_from(DIMENSIONS), strong_weights, st.sampled_from(["method_only", "context_only"])),
        min_size=1,
        max_size=12,
    ),
    borrow_lens=0.1,
    no_subject=0.1,
)
def test_e9_method_and_context_evidence_alone_never_suggest(found: list[tuple[str, int, str]]) -> set[str]:
    items = tuple(
        evidence("finance", dimension, number, weight, activation=activation, value="event-study")
        for number, (dimension, weight, activation) in enumerate(found)
    )
    own = candidate("finance", items, single_dimension_proved=True, session=50_000)
    routing = decide([own], [lens("finance", "event-study", items)])
    assert routing.decision in ("borrow_lens", "no_subject")
    if all(activation == "context_only" for _, _, activation in found):
        assert routing.decision == "no_subject"
        assert routing.lenses == ()
    return labels_of(routing)


one_dimension = st.tuples(st.sampled_from(DIMENSIONS), st.lists(strong_weights, min_size=1, max_size=12))


def alone(found: tuple[str, list[int]], **changes: Any) -> Any:
    dimension, weights = found
    return candidate(
        "finance", [evidence("finance", dimension, number, weight) for number, weight in enumerate(weights)], **changes
    )


class TestSingleDimension:
    """E10 holds twice over: by the gate, and by arithmetic. Each is tested with the other switched off."""

    @given(one_dimension, st.integers(-50_000, 50_000))
    def test_e10_one_dimension_is_never_suggested(self, found: tuple[str, list[int]], session: Any) -> None:
        routing = decide([alone(found, session=session)])
        assert routing.decision == "no_subject"
        assert "one_dimension" in {reason.code for reason in routing.reasons}

    @given(one_dimension)
    def test_e10_the_gate_holds_without_the_arithmetic(self, found: tuple[str, list[int]]) -> None:
        # These limits break (a): one dimension scores enough.
        generous = attrs.evolve(DEFAULT_LIMITS, suggest_threshold=350_000, lens_threshold=350_000)
        routing = decide([alone(found)], limits=generous)
        assert routing.ranked[0].scored.total >= generous.suggest_threshold
        assert routing.decision == "no_subject"

    @given(one_dimension)
    def test_e10_the_arithmetic_holds_without_the_gate(self, found: tuple[str, list[int]]) -> None:
        (standing,) = decide([alone(found)]).ranked
        assert standing.scored.total < T
        assert "below_threshold" in {reason.code for reason in standing.reasons}

    @covering(one_dimension, suggest_subject=0.1, no_subject=0.1)
    def _exempt(found: tuple[str, list[int]]) -> set[str]:  # type: ignore[misc]  # noqa: N805  # a static property
        routing = decide([alone(found, single_dimension_proved=True)])
        two_reach_it = sum(sorted(found[1])[-2:]) if len(found[1]) > 1 else 0
        if routing.decision == "suggest_subject":
            assert len(found[1]) > 1
            assert routing.confidence == T
        if two_reach_it == 400_000:
            assert routing.decision == "suggest_subject"
        return labels_of(routing)

    test_e10_a_proved_exemption_needs_two_full_signals = staticmethod(_exempt)

    @pytest.mark.parametrize("claim", [False, None, 1, "proved"])
    def test_e10_a_claim_that_was_not_proved_is_worth_nothing(self, claim: Any) -> None:
        assert decide([alone(("method", [200_000] * 4), single_dimension_proved=claim)]).decision == "no_subject"


# --- composites ---------------------------------------------------------------------------------------------------

PARTS = ("economics", "accounting")
COMPOSITE = "economics-accounting"


@st.composite
def composite_scenes(draw: st.DrawFn, kind: str) -> Scene:
    """A composite, its parts and a neighbour: carried by its parts, not carried, stopped by a gate, or anything."""
    strengths = {
        "composite": ("strong", "strong"),
        "stopped": ("strong", "strong"),
        "parts": draw(st.permutations(("strong", "none"))),
    }.get(kind) or (
        draw(st.sampled_from(["strong", "weak", "none"])),
        draw(st.sampled_from(["strong", "weak", "none"])),
    )
    found = {"finance": draw(weak_evidence("finance"))}
    for name, strength in zip(PARTS, strengths, strict=True):
        drawn = draw(strong_evidence(name)), draw(weak_evidence(name)), ()
        found[name] = drawn[("strong", "weak", "none").index(strength)]
    own = shaped(COMPOSITE, [draw(strong_weights)], [draw(strong_weights)])
    if kind == "parts" or (kind == "anything" and draw(st.booleans())):
        own = ()
    everything = (*found["economics"], *found["accounting"], *own)
    built = [candidate(name, items) for name, items in found.items()]
    built.append(candidate(COMPOSITE, everything, composes=PARTS, priority=9))
    if kind in ("stopped", "anything"):
        index = draw(st.sampled_from([1, 2, 3]))
        gates = {"gates": draw(st.sampled_from(FAILING))}
        changes = draw(st.sampled_from([gates, {"final_gates": (Gate("last", Outcome.FAIL),)}]))
        built[index] = attrs.evolve(built[index], **changes)
    return Scene(tuple(draw(st.permutations(built))))


@covering(
    [composite_scenes(kind) for kind in ("composite", "parts", "stopped", "anything")],
    composite=0.1,
    parts=0.1,
    stopped=0.1,
)
def test_a_composite_acts_only_with_parts_that_may_act_and_then_in_their_place(scene: Scene) -> set[str]:
    routing = scene.decide()
    by_name = {item.subject: item for item in scene.candidates}
    order = [item.subject for item in routing.ranked]

    def may_act(name: str) -> bool:
        gates = (*by_name[name].gates, *by_name[name].final_gates)
        return len(by_name[name].gates) >= 2 and all(gate.passed for gate in gates)

    assert not {item.subject for item in routing.blocked} & mentioned(routing)
    alone = {name: decide([attrs.evolve(by_name[name], gates=ACTIVE, final_gates=())]).ranked for name in PARTS}
    carried = False
    if all(alone.values()):
        (first,), (second,) = alone.values()
        near = abs(first.scored.total - second.scored.total) <= DEFAULT_LIMITS.margin
        own = any(item.subject == COMPOSITE for item in by_name[COMPOSITE].evidence)
        carried = own or (near and first.suggestible and second.suggestible)
    assert (COMPOSITE in order) == (carried and all(may_act(name) for name in (*PARTS, COMPOSITE)))
    if COMPOSITE in order and routing.ranked[order.index(COMPOSITE)].suggestible:
        assert not set(PARTS) & set(order)
        assert {item.subject for item in routing.replaced} == set(PARTS)
    for shuffled in (scene.candidates[::-1], scene.candidates[2:] + scene.candidates[:2]):
        assert view(scene.decide(candidates=shuffled)) == view(routing)
    labels = {"composite"} if routing.primary == COMPOSITE else set()
    labels |= {"parts"} if routing.primary in PARTS else set()
    return labels | ({"stopped"} if carried and COMPOSITE not in order else set())
