"""The quantiser, the limits loader, and one property for each line (a) to (h) of the inequalities."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import attrs
import pytest
from engine_cases import GARBAGE, contributions, garbage, penalties, strong_weights
from hypothesis import given
from hypothesis import strategies as st

from qiongli.limits import (
    DEFAULT_LIMITS,
    Limits,
    LimitsError,
    bounded,
    bounded_signed,
    broken_rules,
    load_limits,
    quantise,
)
from qiongli.records import SCALE, Ppm
from qiongli.scoring import Contribution, Route, compose


class TestQuantise:
    """Floats enter once: exact, rounded half to even, clipped, or refused."""

    @pytest.mark.parametrize(
        ("value", "expected"),
        [
            (0, 0),
            (1, 1_000_000),
            (2, 1_000_000),
            (0.2, 200_000),
            (0.15, 150_000),
            (-0.0, 0),
            (5e-324, 0),
            (1e308, 1_000_000),
            (10**400, 1_000_000),
            (Decimal("0.06"), 60_000),
            (Decimal("0e999999"), 0),
            (Decimal("1e-999999"), 0),
            (Decimal("1e999999"), 1_000_000),
            (Fraction(1, 3), 333_333),
            (Fraction(2, 3), 666_667),
        ],
    )
    def test_takes_finite_numbers(self, value: object, expected: int) -> None:
        assert quantise(value) == expected

    @pytest.mark.parametrize(
        ("halves", "expected"), [(1, 0), (3, 2), (5, 2), (7, 4), (199_999, 100_000), (200_001, 100_000)]
    )
    def test_rounds_half_to_even(self, halves: int, expected: int) -> None:
        assert quantise(Fraction(halves, 2 * SCALE)) == expected

    @pytest.mark.parametrize(
        "value",
        [
            *(True, False, None, "0.3", "", b"1", 1j, [], object()),
            *(float("nan"), float("inf"), float("-inf"), -1, -0.1, Fraction(-1, 2)),
            *(Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity"), Decimal("-1"), Decimal("-1e-999999")),
        ],
    )
    def test_refuses_what_is_no_number_of_a_score(self, value: object) -> None:
        assert quantise(value) is None

    def test_does_not_call_what_a_subclass_replaced(self) -> None:
        class Lying(float):
            def as_integer_ratio(self) -> tuple[int, int]:
                return (10**9, 1)

        class LyingInt(int):
            def __index__(self) -> int:
                return 10**9

        assert quantise(Lying(0.2)) == 200_000
        assert quantise(LyingInt(0)) == 0

    @given(
        st.one_of(
            st.fractions(min_value=0, max_value=3),
            st.integers(0, SCALE).map(lambda odd: Fraction(2 * odd + 1, 2 * SCALE)),
        ),
        st.integers(0, SCALE),
    )
    def test_d6_rounds_once_as_exact_arithmetic_does(self, value: Fraction, cap: int) -> None:
        assert quantise(value, cap) == min(cap, round(value * SCALE))

    @given(st.floats(min_value=0, max_value=2))
    def test_d6_floats_are_taken_at_their_exact_value(self, value: float) -> None:
        assert quantise(value) == min(SCALE, round(Fraction(value) * SCALE))


@given(garbage, st.integers(0, SCALE))
def test_a1_no_slot_lets_anything_but_a_bounded_int_through(value: object, cap: int) -> None:
    for taken, lowest in ((quantise(value, cap), 0), (bounded(value, cap), 0), (bounded_signed(value, cap), -cap)):
        assert taken is None or (type(taken) is int and lowest <= taken <= cap)


def test_slots_take_true_ints_only() -> None:
    assert [bounded(value, 100) for value in (0, 7, 100, 101, True, -1, 7.0)] == [0, 7, 100, 100, None, None, None]
    assert [bounded_signed(value, 5) for value in (-6, -5, 0, 6, False, 1.0)] == [-5, -5, 0, 5, None, None]


class TestLoading:
    def test_the_defaults_and_the_strict_ones_keep_all_rules(self) -> None:
        assert broken_rules(DEFAULT_LIMITS) == ()
        assert broken_rules(DEFAULT_LIMITS.strict()) == ()
        assert load_limits({}) == DEFAULT_LIMITS

    def test_strict_raises_both_thresholds_and_nothing_else(self) -> None:
        strict = DEFAULT_LIMITS.strict()
        assert (strict.suggest_threshold, strict.lens_threshold) == (650_000, 450_000)
        moved = {"suggest_threshold", "lens_threshold", "lending_weight"}
        for field in attrs.fields(Limits):
            if field.name not in moved:
                assert getattr(strict, field.name) == getattr(DEFAULT_LIMITS, field.name)

    def test_decimals_become_millionths_and_counts_stay(self) -> None:
        limits = load_limits(
            {"suggest_threshold": 0.62, "margin": Decimal("0.12"), "session_expiry": 10, "risk_cap": 1.5}
        )
        assert (limits.suggest_threshold, limits.margin) == (620_000, 120_000)
        assert (limits.session_expiry, limits.risk_cap) == (10, 1_500_000)

    def test_all_problems_are_reported_at_once_with_their_places(self) -> None:
        with pytest.raises(LimitsError) as caught:
            load_limits({"margin": float("nan"), "sugest_threshold": 0.6, "session_expiry": 2.0, "session_cap": 0.06})
        problems = {(problem.code, problem.place) for problem in caught.value.problems}
        assert problems == {
            ("limits_d", "limits.margin"),
            ("unknown_limit", "limits.sugest_threshold"),
            ("limits_d", "limits.session_expiry"),
            ("limits_b", "limits"),
            ("limits_e", "limits"),
        }
        assert caught.value.code == "invalid_limits"

    @pytest.mark.parametrize("name", [field.name for field in attrs.fields(Limits)])
    def test_a6_a_limit_that_is_no_number_is_an_error_with_its_field(self, name: str) -> None:
        for value in GARBAGE:
            if quantise(value) is None:
                with pytest.raises(LimitsError) as caught:
                    load_limits({name: value})
                assert [problem.place for problem in caught.value.problems] == [f"limits.{name}"]

    def test_a_value_over_its_range_is_reported_and_not_clipped(self) -> None:
        with pytest.raises(LimitsError, match="cost_cap is out of its range"):
            load_limits({"cost_cap": 1.5})
        with pytest.raises(LimitsError, match="within_divisor is out of its range"):
            load_limits({"within_divisor": 1})
        with pytest.raises(LimitsError, match="risk_floor is out of its range"):
            load_limits({"risk_floor": 0.5})


def letters(**changes: int) -> list[str]:
    """The lines that a change of the default limits breaks."""
    return [problem.code.removeprefix("limits_") for problem in broken_rules(attrs.evolve(DEFAULT_LIMITS, **changes))]


class TestBoundaries:
    """Each line holds with equality, or just below, where it says so, and breaks one millionth further."""

    def test_a(self) -> None:
        assert letters(subject_prior=300_000, suggest_threshold=600_000) == []
        assert letters(suggest_threshold=599_999) == ["a"]
        assert letters(subject_prior=300_001) == ["a"]
        assert letters(strict_suggest_threshold=599_999) == ["a"]

    def test_b(self) -> None:
        assert letters(session_cap=50_000) == []
        assert letters(session_cap=50_001) == ["b"]
        assert letters(margin=99_999) == ["b"]

    def test_c(self) -> None:
        # The supremum of all patterns is 600,000: a threshold of 900,000 would never be reached.
        assert letters(suggest_threshold=899_999, strict_suggest_threshold=899_999) == []
        assert letters(suggest_threshold=900_000, strict_suggest_threshold=900_000) == ["c"]
        assert letters(strict_suggest_threshold=900_000) == ["c"]

    def test_d(self) -> None:
        assert letters(lens_threshold=600_001, lens_prior=500_001) == ["d"]
        assert letters(margin=0, session_cap=0, session_step=0) == ["d"]
        assert letters(weight_floor=200_001) == ["d"]
        assert letters(penalty_cap=600_001) == ["d"]
        assert letters(risk_cap=1_000_000) == []
        assert letters(risk_floor=2_000_001) == ["d"]
        assert letters(session_step=50_001) == ["d"]
        assert letters(strict_lens_threshold=650_001, lens_prior=500_000) == ["d"]

    def test_e(self) -> None:
        assert letters(weight_floor=50_001) == []
        assert letters(weight_floor=50_000) == ["e"]

    def test_f(self) -> None:
        assert letters(subject_prior=350_000, suggest_threshold=650_000) == []
        assert letters(subject_prior=350_001, suggest_threshold=650_001, strict_suggest_threshold=650_001) == ["f"]
        assert letters(single_dimension_cap=650_001) == ["f"]

    def test_g(self) -> None:
        assert letters(cost_cap=599_999) == []
        assert letters(cost_cap=600_000) == ["g"]

    def test_h(self) -> None:
        assert letters(lens_threshold=400_001) == ["h"]
        assert letters(lens_prior=299_999) == ["h"]
        assert letters(lending_weight=200_001) == ["h"]
        assert letters(strict_lens_threshold=500_001) == ["h"]


@st.composite
def accepted_limits(draw: st.DrawFn) -> Limits:
    """Limits that the loader accepts, moved about within their inequalities."""
    within, across = draw(st.integers(2, 5)), draw(st.integers(2, 4))
    weight_cap = draw(st.integers(120_000, min(200_000, 600_000 * (within - 1) * (across - 1) // (within * across))))
    one_dimension = Fraction(weight_cap * within, within - 1)
    all_patterns = one_dimension * Fraction(across, across - 1)
    prior = draw(st.integers(250_000, 340_000))
    highest = (prior + all_patterns).__ceil__() - 1
    threshold = draw(st.integers((prior + one_dimension).__ceil__(), highest))
    session_cap = draw(st.integers(25_000, 59_999))
    lens_prior = draw(st.integers(250_000, 340_000))
    lending_weight = draw(st.integers(60_000, weight_cap))
    limits = attrs.evolve(
        DEFAULT_LIMITS,
        weight_cap=weight_cap,
        within_divisor=within,
        across_divisor=across,
        subject_prior=prior,
        suggest_threshold=threshold,
        strict_suggest_threshold=draw(st.integers(threshold, highest)),
        lens_prior=lens_prior,
        lending_weight=lending_weight,
        lens_threshold=draw(st.integers(0, min(threshold, lens_prior + lending_weight))),
        strict_lens_threshold=draw(st.integers(0, min(threshold, lens_prior + weight_cap))),
        session_cap=session_cap,
        margin=draw(st.integers(2 * session_cap, 200_000)),
        cost_cap=draw(st.integers(0, all_patterns.__ceil__() - 1)),
        single_dimension_cap=draw(st.integers(0, SCALE - prior - session_cap)),
    )
    assert broken_rules(limits) == ()
    return limits


class TestConsequences:
    """What each line is for, for any limits that the loader accepts."""

    @given(accepted_limits(), contributions(12, ("method",)))
    def test_a_one_dimension_alone_never_reaches_the_threshold(
        self, limits: Limits, boosts: tuple[Contribution, ...]
    ) -> None:
        full = tuple(Contribution(str(number), "method", Ppm(limits.weight_cap)) for number in range(40))
        for found in (boosts, full):
            route = Route("subject", "s", "s", prior=Ppm(limits.subject_prior), boosts=found)
            assert compose(route, limits).total < limits.suggest_threshold

    @given(accepted_limits(), contributions(), contributions(), st.integers(-SCALE, SCALE), st.integers(-SCALE, SCALE))
    def test_b_session_never_turns_one_decisive_choice_into_another(
        self,
        limits: Limits,
        first: tuple[Contribution, ...],
        second: tuple[Contribution, ...],
        advisory: int,
        other: int,
    ) -> None:
        def total(boosts: tuple[Contribution, ...], session: int | None) -> int:
            route = Route("subject", "s", "s", prior=Ppm(limits.subject_prior), boosts=boosts, session=session)  # type: ignore[arg-type]
            return compose(route, limits).total

        low, high = sorted((first, second), key=lambda boosts: total(boosts, None))
        if total(high, None) - total(low, None) > limits.margin:
            assert total(high, advisory) > total(low, other)
        assert total(high, -SCALE) + 2 * limits.session_cap >= total(high, SCALE)

    @given(accepted_limits())
    def test_c_a_suggestion_is_reachable(self, limits: Limits) -> None:
        boosts = tuple(
            Contribution(f"{dimension}.{number}", dimension, Ppm(limits.weight_cap))
            for dimension in (
                "method",
                "data_or_outcome",
                "venue",
                "theory_or_construct",
                "classification",
                "vocabulary",
            )
            for number in range(30)
        )
        supremum = Fraction(limits.weight_cap) * limits.within_divisor * limits.across_divisor
        supremum /= (limits.within_divisor - 1) * (limits.across_divisor - 1)
        route = Route("subject", "s", "s", prior=Ppm(limits.subject_prior), boosts=boosts)
        reached = compose(route, limits).total
        assert limits.subject_prior + supremum > limits.suggest_threshold
        # Six dimensions leave out the rest of the series, floors leave out some millionths.
        rest = supremum / limits.across_divisor**6
        assert reached >= limits.subject_prior + supremum - rest - 100

    def test_c_two_dimensions_of_one_full_signal_each_reach_the_threshold_exactly(self) -> None:
        boosts = (Contribution("a", "method", Ppm(200_000)), Contribution("b", "venue", Ppm(200_000)))
        route = Route("subject", "s", "s", prior=Ppm(300_000), boosts=boosts)
        assert compose(route).total == DEFAULT_LIMITS.suggest_threshold

    @given(accepted_limits())
    def test_d_every_cap_is_an_int_of_at_most_one_score(self, limits: Limits) -> None:
        for field in attrs.fields(Limits):
            value = getattr(limits, field.name)
            assert type(value) is int
            assert value >= 0
            assert field.metadata["unit"] != "ppm" or value <= SCALE
        assert limits.lens_threshold <= limits.suggest_threshold
        assert limits.margin > 0

    @given(accepted_limits(), strong_weights)
    def test_e_no_session_outweighs_a_signal(self, limits: Limits, weight: int) -> None:
        assert limits.session_cap < max(weight, limits.weight_floor)

    @given(accepted_limits(), contributions(), penalties(), st.booleans())
    def test_f_the_upper_clamp_is_out_of_reach(
        self, limits: Limits, boosts: tuple[Contribution, ...], negatives: tuple[Contribution, ...], single: bool
    ) -> None:
        full = tuple(
            Contribution(f"{dimension}.{number}", dimension, Ppm(limits.weight_cap))
            for dimension in (
                "method",
                "data_or_outcome",
                "venue",
                "theory_or_construct",
                "classification",
                "vocabulary",
            )
            for number in range(30)
        )
        for found in (boosts, full):
            route = Route(
                "subject", "s", "s", prior=Ppm(SCALE), boosts=found, session=Ppm(SCALE), single_dimension=single
            )
            breakdown = compose(route, limits)
            assert breakdown.total < SCALE
            assert all(entry.kind != "ceiling" for entry in breakdown.entries)

    @given(accepted_limits())
    def test_g_cost_demotes_but_never_bans(self, limits: Limits) -> None:
        prior = limits.subject_prior
        supremum = Fraction(limits.weight_cap * limits.within_divisor * limits.across_divisor) / (
            (limits.within_divisor - 1) * (limits.across_divisor - 1)
        )
        assert prior + supremum - limits.cost_cap > prior

    @given(accepted_limits())
    def test_h_one_lending_signal_lends_its_lens(self, limits: Limits) -> None:
        boost = Contribution("a", "method", Ppm(limits.lending_weight))
        route = Route("lens", "s/l", "s", prior=Ppm(limits.lens_prior), boosts=(boost,), session=Ppm(-SCALE))
        assert compose(route, limits).total >= limits.lens_threshold
