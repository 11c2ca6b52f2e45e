"""Statistics of small fixture sets: the tables of reference values, and edges derived by hand."""

from __future__ import annotations

import pytest

from qiongli.evaluation.metrics import (
    Proportion,
    cases_for_zero_failures,
    confusion,
    f1,
    further_passing_cases,
    per_subject,
    proportion,
    wilson_interval,
    zero_failure_bound,
)

#: Smallest n whose Wilson 95 % lower bound reaches the target, with 0, 1, 2, 3 and 5 failures (reference table).
SMALLEST = {
    0.80: (16, 25, 33, 40, 54),
    0.85: (22, 34, 45, 55, 74),
    0.90: (35, 53, 69, 84, 113),
    0.95: (73, 110, 142, 173, 230),
    0.98: (189, 280, 361, 437, 581),
}


@pytest.mark.parametrize("target", SMALLEST)
@pytest.mark.parametrize(("column", "failures"), list(enumerate((0, 1, 2, 3, 5))))
def test_smallest_sample_that_reaches_a_bound(target: float, column: int, failures: int) -> None:
    n = SMALLEST[target][column]
    assert wilson_interval(n - failures, n)[0] >= target
    assert wilson_interval(n - 1 - failures, n - 1)[0] < target


@pytest.mark.parametrize(
    ("n", "bound"),
    [(8, 0.676), (10, 0.722), (20, 0.839), (35, 0.901), (60, 0.940), (100, 0.963), (150, 0.975), (200, 0.981)],
)
def test_lower_bound_when_all_pass(n: int, bound: float) -> None:
    assert Proportion(n, n).low == pytest.approx(bound, abs=0.0006)


@pytest.mark.parametrize(("rate", "n"), [(0.10, 29), (0.05, 59), (0.03, 99), (0.02, 149), (0.01, 299)])
def test_cases_for_a_claim_from_zero_failures(rate: float, n: int) -> None:
    assert cases_for_zero_failures(rate) == n
    assert zero_failure_bound(n) <= rate < zero_failure_bound(n - 1)


@pytest.mark.parametrize("target", SMALLEST)
def test_further_cases_follow_from_the_same_table(target: float) -> None:
    assert further_passing_cases(0, 0, target) == SMALLEST[target][0]
    assert further_passing_cases(10, 11, target) == SMALLEST[target][1] - 11
    assert further_passing_cases(600, 600, target) == 0


def test_one_failure_in_eight_is_the_known_share() -> None:
    assert Proportion(7, 8).value == 0.875


def test_an_empty_denominator_reaches_nothing_and_claims_nothing() -> None:
    empty = proportion([])
    assert (empty.value, empty.low, empty.high) == (0.0, 0.0, 1.0)
    assert not empty.reaches(0.0)
    assert zero_failure_bound(0) == 1.0


def test_a_share_is_compared_exactly() -> None:
    """19 of 20 is 0.95 and reaches it, though 0.95 has no exact binary form."""
    assert Proportion(19, 20).reaches(0.95)
    assert not Proportion(18, 19).reaches(0.95)


def test_bounds_at_the_ends_are_exact() -> None:
    assert wilson_interval(0, 5)[0] == 0.0
    assert wilson_interval(5, 5)[1] == 1.0


def test_confusion_and_subject_scores() -> None:
    table = confusion([("finance", "finance"), ("finance", "auto"), ("auto", "finance"), ("economics", "economics")])
    assert table == {"auto": {"finance": 1}, "economics": {"economics": 1}, "finance": {"auto": 1, "finance": 1}}
    scores = per_subject(table)
    assert list(scores) == ["economics", "finance"]
    assert scores["finance"]["recall"]["value"] == 0.5
    assert scores["finance"]["precision"]["value"] == 0.5
    assert scores["finance"]["f1"] == 0.5
    assert f1(0.0, 0.0) == 0.0
