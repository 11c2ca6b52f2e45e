"""Costs: of resources only, never cheap for want of knowledge, and never better for being higher."""

from __future__ import annotations

import pytest
from engine_cases import GARBAGE, garbage
from hypothesis import given
from hypothesis import strategies as st

from qiongli.costs import charged_cost, resource_cost
from qiongli.limits import DEFAULT_LIMITS


@pytest.mark.parametrize(
    ("tokens", "budget", "cost"),
    [
        (0, 1_000, 0),
        (500, 1_000, 100_000),
        (1_000, 1_000, 200_000),
        (5_000, 1_000, 200_000),
        (1, 3, 66_666),
        (None, 1_000, 200_000),
        (500, None, 200_000),
        (500, 0, 200_000),
        (-1, 1_000, 200_000),
        (True, 1_000, 200_000),
        (500, True, 200_000),
        (500.0, 1_000, 200_000),
    ],
)
def test_the_cost_of_a_resource_is_its_share_of_the_budget(tokens: object, budget: object, cost: int) -> None:
    assert resource_cost(tokens, budget) == cost


@pytest.mark.parametrize(
    ("cost", "risk", "charged"),
    [
        (0, None, 0),
        (100_000, None, 100_000),
        (100_000, 1_000_000, 100_000),
        (100_000, 1_500_000, 150_000),
        (150_000, 3_000_000, 200_000),
        (100_000, 0, 100_000),
        (None, None, 200_000),
        (33_333, 1_500_000, 49_999),
    ],
)
def test_what_is_charged_is_cost_times_risk_within_the_cap(cost: object, risk: object, charged: int) -> None:
    assert charged_cost(cost, risk) == charged


@pytest.mark.parametrize("value", [item for item in GARBAGE if item is not None], ids=lambda item: type(item).__name__)
def test_a3_malformed_cost_and_malformed_risk_are_their_maxima(value: object) -> None:
    if type(value) is int and value >= 0:
        assert charged_cost(value) == min(value, 200_000)
    else:
        assert charged_cost(value) == 200_000
        assert charged_cost(50_000, value) == 100_000


@given(garbage, garbage)
def test_a1_whatever_is_in_the_slots_the_cost_is_bounded(first: object, second: object) -> None:
    for cost in (charged_cost(first, second), resource_cost(first, second)):
        assert type(cost) is int
        assert 0 <= cost <= DEFAULT_LIMITS.cost_cap


@given(st.integers(0, 10**7), st.integers(1, 10**7))
def test_a4_an_undeclared_size_never_costs_less_than_a_known_one(tokens: int, budget: int) -> None:
    assert resource_cost(None, budget) >= resource_cost(tokens, budget)


@given(st.integers(0, 300_000), st.integers(0, 50_000), st.integers(0, 3_000_000), st.integers(0, 500_000))
def test_c1_c2_more_cost_and_more_risk_never_charge_less(cost: int, more: int, risk: int, riskier: int) -> None:
    assert charged_cost(cost + more, risk) >= charged_cost(cost, risk)
    assert charged_cost(cost, risk + riskier) >= charged_cost(cost, risk)
