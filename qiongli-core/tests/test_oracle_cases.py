"""The fixed oracle cases of the heuristics contract: exact scores and decisions, derived by hand there."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from engine_cases import candidate, evidence, lens, shaped

from qiongli.clarification import ask
from qiongli.records import Evidence, Ppm
from qiongli.routing import decide, rank
from qiongli.safety import subject_gates
from qiongli.scoring import Route, compose, resource_route, score, subject_route

FULL = 200_000


@pytest.mark.parametrize(
    ("dimensions", "total", "decision"),
    [
        pytest.param([], 300_000, "no_subject", id="no evidence"),
        pytest.param([[FULL] * 2], 566_666, "no_subject", id="one dimension, two signals"),
        pytest.param([[FULL] * 4], 596_295, "no_subject", id="one dimension, four signals"),
        pytest.param([[FULL], [FULL]], 600_000, "suggest_subject", id="two dimensions at full weight"),
        pytest.param([[FULL], [150_000]], 575_000, "no_subject", id="two dimensions, one weaker"),
        pytest.param([[FULL, FULL], [150_000]], 641_666, "suggest_subject", id="two dimensions, three signals"),
        pytest.param([[FULL], [FULL], [120_000]], 630_000, "suggest_subject", id="three dimensions"),
    ],
)
def test_a_subject_by_itself(dimensions: Sequence[Sequence[int]], total: int, decision: str) -> None:
    found = shaped("finance", *dimensions)
    assert compose(subject_route("finance", 1, found)).total == total
    routing = decide([candidate("finance", found)])
    assert routing.decision == decision
    assert routing.primary == ("finance" if decision == "suggest_subject" else "auto")
    assert routing.confidence == (total if decision == "suggest_subject" else 0)
    assert ask(routing) is None


#: 0.70 and 0.72 exactly, and 0.60: prior, dimensions after discounts.
SEVENTY = ([200_000], [200_000], [200_000], [200_000, 75_000])  # 0.30 + 0.225 + 0.10 + 0.05 + 0.025
SEVENTY_TWO = ([200_000, 120_000], [200_000, 120_000], [200_000])  # 0.30 + 0.24 + 0.12 + 0.05 = 0.71, and 0.01 below
SIXTY = ([200_000], [200_000])


def test_two_subjects_at_070_and_060_are_within_the_margin() -> None:
    first, second = shaped("economics", *SEVENTY), shaped("finance", *SIXTY)
    routing = decide([candidate("finance", second), candidate("economics", first)])
    assert [item.scored.total for item in routing.ranked] == [700_000, 600_000]
    assert (routing.decision, routing.primary, routing.secondaries) == ("suggest_subject", "economics", ("finance",))
    clarification = ask(routing)
    assert clarification is not None
    assert clarification.id == "ambiguous:economics+finance"
    assert [option.subject for option in clarification.options] == ["economics", "finance"]


def test_072_and_060_are_not() -> None:
    # One more signal of 0.08 in a fourth dimension, at 1/8, adds the last 0.01.
    first = shaped("economics", *SEVENTY_TWO, [80_000])
    routing = decide([candidate("economics", first), candidate("finance", shaped("finance", *SIXTY))])
    assert [item.scored.total for item in routing.ranked] == [720_000, 600_000]
    assert (routing.decision, routing.primary, routing.secondaries) == ("suggest_subject", "economics", ())
    assert ask(routing) is None


def test_a_subject_behind_a_failing_gate_is_blocked_without_a_score() -> None:
    blocked = candidate("finance", shaped("finance", *SEVENTY), gates=subject_gates(state="lens_only", excluded=False))
    routing = decide([blocked, candidate("economics")])
    assert routing.decision == "no_subject"
    assert [item.subject for item in routing.blocked] == ["finance"]
    assert "score" not in routing.blocked[0].to_packet()
    assert routing.ranked == ()
    assert routing.refusal is None


def test_every_candidate_gated_is_core_and_no_refusal() -> None:
    gates = subject_gates(state="inactive", excluded=False)
    routing = decide([candidate(name, shaped(name, *SEVENTY), gates=gates) for name in ("economics", "finance")])
    assert routing.decision == "no_subject"
    assert [item.subject for item in routing.blocked] == ["economics", "finance"]
    assert routing.refusal is None
    assert routing.reasons


def test_a_weight_that_is_not_a_number_adds_nothing_and_is_counted() -> None:
    found = (evidence("finance", "method", 0, float("nan")), evidence("finance", "venue", 0, FULL))
    routing = decide([candidate("finance", found)])
    (standing,) = routing.ranked
    assert (standing.scored.total, standing.scored.breakdown.rejected) == (500_000, 1)
    assert routing.decision == "no_subject"


def test_one_penalty_takes_a_suggestion_away() -> None:
    suppressor = evidence("finance", "method", 0, 100_000, signal_id="finance.suppressor.bond", role="suppressor")
    routing = decide([candidate("finance", (*shaped("finance", [FULL], [FULL]), suppressor))])
    assert routing.ranked[0].scored.total == 500_000
    assert routing.decision == "no_subject"


def test_one_method_only_signal_lends_its_lens() -> None:
    found: tuple[Evidence, ...] = (
        evidence("finance", "method", 0, 100_000, value="event-study", activation="method_only"),
    )
    routing = decide([candidate("finance", found)], [lens("finance", "event-study", found)])
    assert routing.lenses[0].scored.total == 400_000
    assert routing.decision == "borrow_lens"
    assert [(item.subject, item.lens) for item in routing.borrowed_lenses] == [("finance", "event-study")]


def test_a_resource_is_charged_its_cost_times_its_clipped_risk() -> None:
    route = Route("resource", "r", "finance", prior=Ppm(500_000), cost=Ppm(150_000), risk=Ppm(3_000_000))
    scored = score(route)
    assert (scored.cost, scored.total) == (200_000, 300_000)


def test_a_resource_of_undeclared_size_is_charged_the_most() -> None:
    assert score(resource_route("r", "finance", 0, tokens=None, budget=1_000)).cost == 200_000


@pytest.mark.parametrize("order", [("b", "a"), ("a", "b")])
def test_ties_are_broken_by_id_and_never_by_input_order(order: tuple[str, str]) -> None:
    scored = [score(subject_route(name, 0, shaped(name, *SIXTY))) for name in order]
    assert [item.route.id for item in rank(scored)] == ["a", "b"]
    assert decide([candidate(name, shaped(name, *SIXTY), priority=0) for name in order]).primary == "a"
