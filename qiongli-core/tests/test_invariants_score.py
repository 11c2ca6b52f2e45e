"""Invariants A, B, C and I of the heuristics contract on the composer; the letters are those of the contract."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import attrs
import pytest
from engine_cases import (
    GARBAGE,
    contribution,
    contributions,
    covering,
    evidence,
    garbage,
    penalties,
    penalty_weights,
    reference_score,
    resource_routes,
    strong_weights,
    subject_routes,
)
from hypothesis import example, given
from hypothesis import strategies as st

from qiongli.limits import DEFAULT_LIMITS, bounded, quantise
from qiongli.records import SCALE, Ppm
from qiongli.records.evidence import DIMENSIONS
from qiongli.records.packet import ScoreBreakdown, ScoreEntry, ScoreShare
from qiongli.scoring import Contribution, Route, compose, resource_route, score, subject_route

routes = st.one_of(subject_routes(), resource_routes(), subject_routes(kind="lens"))
new_boosts = st.builds(lambda name, weight: contribution(name, 99, weight), st.sampled_from(DIMENSIONS), strong_weights)
new_penalties = st.builds(lambda weight: contribution("method", 98, weight), penalty_weights)


#: A route that scores far above what all penalties may take, under more penalties than they may take.
crushed = subject_routes(
    session=None,
    boosts=st.just(tuple(contribution(name, number, 200_000) for name in DIMENSIONS for number in range(5))),
    penalties=st.lists(st.integers(210_000, 300_000), min_size=3, max_size=6).map(
        lambda found: tuple(contribution("method", number, weight) for number, weight in enumerate(found))
    ),
)


def with_boosts(route: Route, *more: Contribution) -> Route:
    return attrs.evolve(route, boosts=(*route.boosts, *more))


def with_penalties(route: Route, *more: Contribution) -> Route:
    return attrs.evolve(route, penalties=(*route.penalties, *more))


def total(route: Route) -> int:
    return compose(route).total


def fits(value: object) -> bool:
    """Whether a slot of millionths takes the value; the independent statement of it."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


class TestTotality:
    """A: any value in any numeric slot."""

    @given(
        st.sampled_from(["subject", "lens", "resource"]),
        st.tuples(*(garbage for _ in range(8))),
        st.booleans(),
    )
    def test_a1_every_result_is_an_int_within_one_score(self, kind: Any, slots: tuple[Any, ...], single: bool) -> None:
        boost, other, penalty, prior, cost, risk, session, priority = slots
        route = Route(
            kind,
            "r",
            "s",
            priority=priority,
            prior=prior,
            boosts=(
                contribution("method", 1, boost),
                contribution("venue", 1, other),
                contribution("venue", 2, 150_000),
            ),
            penalties=(contribution("method", 1, penalty),),
            cost=cost,
            risk=risk,
            session=session,
            single_dimension=single,
        )
        scored = score(route)
        assert type(scored.total) is int
        assert 0 <= scored.total <= SCALE
        assert type(scored.cost) is int
        for entry in scored.breakdown.entries:
            assert type(entry.amount) is int
            assert all(type(share.amount) is int and type(share.weight) is int for share in entry.shares)
        assert sum(entry.amount for entry in scored.breakdown.entries) == scored.total
        json.dumps(scored.breakdown.to_packet(), allow_nan=False)

    @pytest.mark.parametrize("slot", ["boosts", "penalties"])
    @pytest.mark.parametrize("value", [None, 1, "text", (None, 1, "x", object()), [contribution("method", None, 1)]])  # type: ignore[arg-type]
    def test_a1_what_is_no_contribution_at_all_is_no_reason_to_raise(self, slot: str, value: Any) -> None:
        assert total(Route("subject", "s", "s", **{slot: value})) in (300_000, 299_999, 300_001)

    @given(subject_routes(), garbage)
    def test_a2_a_malformed_contribution_adds_nothing_and_is_counted(self, route: Route, value: Any) -> None:
        before, after = compose(route), compose(with_boosts(route, Contribution("new", "method", value)))
        if fits(value):
            assert after.rejected == before.rejected
        else:
            assert (after.total, after.rejected) == (before.total, before.rejected + 1)
            assert after.entries == before.entries
            against = compose(with_penalties(route, Contribution("new", "method", value)))
            assert (against.total, against.rejected) == (before.total, before.rejected + 1)

    @given(subject_routes(session=None), garbage)
    def test_a2_a_malformed_session_adds_nothing_and_is_counted(self, route: Route, value: Any) -> None:
        after = compose(attrs.evolve(route, session=value))
        if value is not None and type(value) is not int:
            assert (after.total, after.rejected) == (total(route), compose(route).rejected + 1)

    @given(resource_routes(), garbage)
    def test_a3_malformed_cost_and_risk_are_their_maxima(self, route: Route, value: Any) -> None:
        if value is not None and not fits(value):
            assert compose(attrs.evolve(route, cost=value)).total == total(attrs.evolve(route, cost=Ppm(200_000)))
            riskiest = attrs.evolve(route, risk=Ppm(2_000_000))
            assert total(attrs.evolve(route, risk=value)) == total(riskiest)

    @given(resource_routes(), st.integers(0, 10**6), st.integers(1, 10**6))
    def test_a4_an_undeclared_size_never_beats_a_known_one(self, route: Route, tokens: int, budget: int) -> None:
        def sized(size: int | None) -> Route:
            built = resource_route("r", "s", 0, tokens=size, budget=budget, prior=route.prior, boosts=route.boosts)
            return attrs.evolve(built, risk=route.risk, penalties=route.penalties)

        assert total(sized(None)) <= total(sized(tokens))
        assert score(sized(None)).cost >= score(sized(tokens)).cost

    @given(subject_routes(session=None))
    def test_a5_absent_and_zero_score_alike_but_are_told_apart(self, route: Route) -> None:
        zero = attrs.evolve(route, session=Ppm(0))
        assert total(route) == total(zero)
        assert [entry.kind for entry in compose(route).entries if entry.kind == "session"] == []
        assert [entry.amount for entry in compose(zero).entries if entry.kind == "session"] == [0]
        nothing = with_boosts(route, Contribution("new", "method", Ppm(0)))
        assert total(nothing) == total(route)
        assert "new" in score(nothing).signal_ids
        # An absent and a declared default prior, and an absent and a maximal cost, differ by name only.
        absent = Route("resource", "r", "s")
        declared = Route("resource", "r", "s", prior=Ppm(500_000), cost=Ppm(200_000))
        assert total(absent) == total(declared)
        assert [entry.name for entry in compose(absent).entries] == ["default", "undeclared"]
        assert [entry.name for entry in compose(declared).entries] == ["declared", "declared"]


class TestBoundedness:
    """B: how far anything can move a score."""

    @given(routes)
    def test_b1_a_score_lies_between_zero_and_one(self, route: Route) -> None:
        assert 0 <= total(route) <= SCALE

    @given(routes, new_boosts, new_penalties)
    def test_b2_one_contribution_moves_the_score_by_its_weight_at_most(
        self, route: Route, boost: Contribution, penalty: Contribution
    ) -> None:
        assert 0 <= total(with_boosts(route, boost)) - total(route) <= min(boost.weight, DEFAULT_LIMITS.weight_cap)
        assert (
            0 <= total(route) - total(with_penalties(route, penalty)) <= min(penalty.weight, DEFAULT_LIMITS.penalty_cap)
        )

    @given(routes, st.integers(0, 10**9), st.sampled_from(DIMENSIONS))
    def test_b2_a_weight_over_its_cap_moves_the_score_by_the_cap_at_most(
        self, route: Route, weight: int, dimension: str
    ) -> None:
        assert total(with_boosts(route, contribution(dimension, 99, weight))) - total(route) <= 200_000
        assert total(route) - total(with_penalties(route, contribution(dimension, 99, weight))) <= 300_000

    @given(st.one_of(subject_routes(session=None, boosts=contributions(40), penalties=penalties(20)), crushed))
    def test_b3_all_evidence_together_stays_within_its_suprema(self, route: Route) -> None:
        bare = attrs.evolve(route, penalties=())
        one = attrs.evolve(bare, boosts=tuple(item for item in route.boosts if item.dimension == "venue"))
        assert total(bare) - 300_000 < 600_000
        assert total(attrs.evolve(one, single_dimension=False)) - 300_000 < 300_000
        assert total(attrs.evolve(one, single_dimension=True)) - 300_000 <= 300_000
        assert total(bare) - total(route) <= 600_000

    @given(st.one_of(subject_routes(), resource_routes()), st.integers(-SCALE, SCALE))
    def test_b4_a_session_moves_the_score_by_its_cap_at_most(self, route: Route, session: int) -> None:
        with_session = total(attrs.evolve(route, session=Ppm(session)))
        assert abs(with_session - total(attrs.evolve(route, session=None))) <= 50_000

    @given(routes)
    def test_b5_repetition_changes_nothing(self, route: Route) -> None:
        doubled = attrs.evolve(route, boosts=route.boosts * 2, penalties=route.penalties * 2)
        assert compose(doubled) == compose(route)

    @given(subject_routes(boosts=(), session=st.integers(-SCALE, SCALE)))
    def test_b6_without_evidence_the_score_is_the_prior_and_the_session_at_most(self, route: Route) -> None:
        assert total(route) <= 350_000
        assert score(route).dimensions == ()


def test_b7_an_independent_negative_is_never_absorbed() -> None:
    @covering(st.tuples(subject_routes(penalties=penalties(2)), new_penalties), free=0.5)
    def prove(example: tuple[Route, Contribution]) -> set[str]:
        route, penalty = example
        before, after = total(route), total(with_penalties(route, penalty))
        heaviest: dict[str, int] = {}
        for item in route.penalties:
            heaviest[item.id] = max(heaviest.get(item.id, 0), item.weight)
        summed = sum(heaviest.values())
        if before > 0 and summed + penalty.weight <= 600_000:
            assert after < before
            assert before - after == min(before, penalty.weight)
            return {"free"}
        return set()

    prove()


class TestMonotonicity:
    """C: more of something good never hurts, more of something bad never helps."""

    @given(resource_routes(cost=st.integers(0, 200_000)), st.integers(0, 100_000))
    def test_c1_more_cost_never_raises_the_score(self, route: Route, more: int) -> None:
        dearer = attrs.evolve(route, cost=Ppm((route.cost or 0) + more))
        assert total(dearer) <= total(route)

    @given(resource_routes(risk=st.integers(1_000_000, 2_000_000)), st.integers(0, 1_000_000))
    def test_c2_more_risk_never_raises_the_score(self, route: Route, more: int) -> None:
        riskier = attrs.evolve(route, risk=Ppm((route.risk or 0) + more))
        assert total(riskier) <= total(route)

    @given(routes, new_boosts)
    @example(
        Route("subject", "s", "s", prior=Ppm(300_000), boosts=(contribution("method", 1, 60_000),)),
        contribution("venue", 99, 200_000),
    )
    def test_c3_a_positive_never_lowers_the_score(self, route: Route, boost: Contribution) -> None:
        assert total(with_boosts(route, boost)) >= total(route)

    @given(subject_routes(boosts=contributions(4), penalties=(), session=None, single_dimension=False), new_boosts)
    def test_c3_more_evidence_outranks_less(self, route: Route, boost: Contribution) -> None:
        assert total(with_boosts(route, boost)) > total(route)

    @given(routes, new_penalties)
    def test_c4_a_negative_never_raises_the_score(self, route: Route, penalty: Contribution) -> None:
        assert total(with_penalties(route, penalty)) <= total(route)

    @given(st.one_of(subject_routes(penalties=()), resource_routes(penalties=())), st.data())
    def test_c7_less_specific_evidence_never_scores_higher(self, route: Route, data: st.DataObject) -> None:
        kept = data.draw(st.lists(st.sampled_from(route.boosts), unique=True) if route.boosts else st.just([]))
        assert total(attrs.evolve(route, boosts=tuple(kept))) <= total(route)

    @given(
        st.one_of(
            subject_routes(),
            subject_routes(boosts=contributions(1)),
            resource_routes(cost=st.integers(0, 200_000), prior=st.integers(0, SCALE)),
        ),
        st.data(),
    )
    def test_c8_dominance(self, route: Route, data: st.DataObject) -> None:
        better = attrs.evolve(
            route,
            boosts=(*route.boosts, *data.draw(contributions(3))),
            penalties=tuple(item for item in route.penalties if data.draw(st.booleans())),
            cost=None if route.cost is None else Ppm(data.draw(st.integers(0, route.cost))),
            prior=Ppm(data.draw(st.integers(route.prior or 0, SCALE))),
        )
        assert total(better) >= total(route)


class TestExactness:
    """D and I: what is shown is what was computed, exactly."""

    @given(routes)
    def test_i1_the_score_is_that_of_exact_arithmetic(self, route: Route) -> None:
        assert total(route) == reference_score(route)

    @given(routes)
    def test_i1_the_entries_sum_to_the_score_and_the_shares_to_their_entries(self, route: Route) -> None:
        breakdown = compose(route)
        assert sum(entry.amount for entry in breakdown.entries) == breakdown.total
        for entry in breakdown.entries:
            if entry.kind == "dimension":
                assert sum(share.amount for share in entry.shares) == entry.amount
        unclamped = sum(entry.amount for entry in breakdown.entries if entry.kind not in ("floor", "ceiling"))
        assert [entry.kind for entry in breakdown.entries if entry.kind == "floor"] == ["floor"] * (unclamped < 0)
        assert [entry.kind for entry in breakdown.entries if entry.kind == "ceiling"] == ["ceiling"] * (
            unclamped > SCALE
        )

    @given(subject_routes(single_dimension=False))
    def test_i1_discounts_lose_less_than_a_millionth_a_share_against_unrounded_ones(self, route: Route) -> None:
        heaviest: dict[tuple[str, str], int] = {}
        for item in route.boosts:
            key = (item.dimension, item.id)
            heaviest[key] = max(heaviest.get(key, 0), item.weight)
        sums = []
        for name in DIMENSIONS:
            found = sorted((weight for (dimension, _), weight in heaviest.items() if dimension == name), reverse=True)
            sums.append(sum((Fraction(weight, 3**rank) for rank, weight in enumerate(found)), Fraction(0)))
        exact = sum((amount / 2**rank for rank, amount in enumerate(sorted(sums, reverse=True))), Fraction(0))
        counted = sum(entry.amount for entry in compose(route).entries if entry.kind == "dimension")
        assert 0 <= exact - counted < len(heaviest) + len(DIMENSIONS)

    @given(routes)
    def test_i2_every_contribution_names_source_weight_amount_and_role(self, route: Route) -> None:
        breakdown = compose(route)
        assert breakdown.entries[0].kind == "prior"
        for entry in breakdown.entries:
            assert entry.kind
            assert entry.name
            if entry.kind in ("dimension", "penalty"):
                assert entry.shares
            for share in entry.shares:
                assert share.id
                assert share.source
                assert share.role == ("boost" if entry.kind == "dimension" else "penalty")
                assert abs(share.amount) <= share.weight
        shown = {share.id for entry in breakdown.entries for share in entry.shares}
        expected = {item.id for item in route.boosts}
        if route.kind != "lens":
            expected |= {item.id for item in route.penalties}
        assert shown == expected

    @given(subject_routes(), st.data())
    def test_i4_dropping_a_positive_lowers_the_score_by_its_weight_at_most(
        self, route: Route, data: st.DataObject
    ) -> None:
        if not route.boosts:
            return
        dropped = data.draw(st.sampled_from(sorted({item.id for item in route.boosts})))
        heaviest = max(item.weight for item in route.boosts if item.id == dropped)
        without = attrs.evolve(route, boosts=tuple(item for item in route.boosts if item.id != dropped))
        assert 0 <= total(route) - total(without) <= heaviest

    @given(routes, st.randoms(use_true_random=False))
    def test_d1_the_order_of_evidence_does_not_matter(self, route: Route, random: Any) -> None:
        boosts, negatives = list(route.boosts), list(route.penalties)
        random.shuffle(boosts)
        random.shuffle(negatives)
        shuffled = attrs.evolve(route, boosts=tuple(boosts), penalties=tuple(negatives))
        assert json.dumps(compose(shuffled).to_packet()) == json.dumps(compose(route).to_packet())

    @given(routes)
    def test_d3_the_breakdown_survives_json_exactly(self, route: Route) -> None:
        breakdown = compose(route)
        packet = json.loads(json.dumps(breakdown.to_packet()))

        def millionths(value: float) -> Ppm:
            amount = quantise(abs(value), 10 * SCALE)
            assert amount is not None
            return Ppm(-amount if value < 0 else amount)

        def back(values: dict[str, Any]) -> dict[str, Any]:
            return {name: millionths(value) if isinstance(value, float) else value for name, value in values.items()}

        entries = [
            ScoreEntry(**back(entry) | {"shares": tuple(ScoreShare(**back(share)) for share in entry["shares"])})
            for entry in packet["entries"]
        ]
        assert ScoreBreakdown(**back(packet) | {"entries": tuple(entries)}) == breakdown

    @given(st.lists(st.tuples(st.sampled_from(DIMENSIONS), st.floats(0.06, 0.20)), max_size=12))
    def test_d6_decimal_weights_are_rounded_once_and_then_added_as_ints(self, found: list[tuple[str, float]]) -> None:
        loaded = [
            evidence("s", dimension, number, quantise(weight, 200_000))
            for number, (dimension, weight) in enumerate(found)
        ]
        exact = [
            contribution(dimension, number, round(Fraction(weight) * SCALE))
            for number, (dimension, weight) in enumerate(found)
        ]
        route = Route("subject", "s", "s", prior=Ppm(300_000), boosts=tuple(exact))
        assert total(subject_route("s", 0, loaded)) == reference_score(route)


def test_the_garbage_has_something_for_every_branch() -> None:
    assert any(bounded(value, 1) is not None for value in GARBAGE)
    assert any(quantise(value) is None for value in GARBAGE)
    assert any(quantise(value) not in (None, 0, SCALE) for value in GARBAGE)
