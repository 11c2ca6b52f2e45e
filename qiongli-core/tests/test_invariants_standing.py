"""Invariants E9 and E10 of the heuristics contract, and composites: what it takes for a subject to stand at all.

The letters are those of the contract. `@covering(generator, label=share)` runs the property over the generator and
fails unless each label makes up its share of the draws.
"""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from engine_cases import (
    ACTIVE,
    FAILING,
    Scene,
    candidate,
    covering,
    evidence,
    labels_of,
    lens,
    mentioned,
    shaped,
    strong_evidence,
    strong_weights,
    view,
    weak_evidence,
)
from hypothesis import given
from hypothesis import strategies as st

from qiongli.limits import DEFAULT_LIMITS
from qiongli.records.evidence import DIMENSIONS
from qiongli.routing import decide
from qiongli.safety import Gate, Outcome

T = DEFAULT_LIMITS.suggest_threshold


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
        gates: dict[str, Any] = {"gates": draw(st.sampled_from(FAILING))}
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
