"""The composer and the builders of routes, case by case."""

from __future__ import annotations

import attrs
import pytest
from engine_cases import contribution, evidence, shaped, subject_routes
from hypothesis import example, given

from qiongli.records import Evidence, Ppm
from qiongli.records.evidence import DIMENSIONS
from qiongli.scoring import (
    Contribution,
    Route,
    compose,
    lens_route,
    resource_route,
    score,
    subject_route,
    total_without,
    weigh,
)


def entries(route: Route) -> list[tuple[str, str, int]]:
    """The breakdown in short."""
    return [(entry.kind, entry.name, entry.amount) for entry in compose(route).entries]


class TestBreakdown:
    """The entries of a breakdown, in order of composition."""

    def test_every_layer_is_listed_in_the_order_of_composition(self) -> None:
        route = Route(
            "resource",
            "r",
            "s",
            prior=Ppm(500_000),
            boosts=(
                contribution("method", 1, 200_000),
                contribution("method", 2, 90_000),
                contribution("venue", 1, 60_000),
            ),
            penalties=(contribution("method", 9, 100_000),),
            cost=Ppm(10_000),
            session=Ppm(20_000),
        )
        assert entries(route) == [
            ("prior", "declared", 500_000),
            ("dimension", "method", 230_000),
            ("dimension", "venue", 30_000),
            ("penalty", "s.method.9", -100_000),
            ("cost", "declared", -10_000),
            ("session", "advisory", 20_000),
        ]
        assert compose(route).total == 670_000

    def test_shares_name_raw_weight_and_what_it_counted(self) -> None:
        boosts = (
            contribution("venue", 1, 200_000),
            contribution("method", 1, 200_000),
            contribution("method", 2, 200_000, "a-plugin"),
        )
        _, method, venue = compose(Route("subject", "s", "s", boosts=boosts)).entries
        assert [(share.id, share.weight, share.amount, share.source) for share in method.shares] == [
            ("s.method.1", 200_000, 200_000, "text"),
            ("s.method.2", 200_000, 66_666, "a-plugin"),
        ]
        assert (venue.amount, venue.shares[0].amount) == (100_000, 100_000)

    def test_penalties_beyond_their_limit_are_given_back_in_one_entry(self) -> None:
        penalties = tuple(contribution("method", number, 300_000) for number in range(3))
        boosts = tuple(contribution(name, 1, 200_000) for name in ("method", "venue", "classification"))
        breakdown = compose(Route("subject", "s", "s", boosts=boosts, penalties=penalties, session=Ppm(50_000)))
        assert [entry.amount for entry in breakdown.entries if entry.kind == "penalty_limit"] == [300_000]
        assert breakdown.total == 300_000 + 200_000 + 100_000 + 50_000 - 600_000 + 50_000

    def test_a_negative_sum_is_lifted_to_zero_by_a_named_entry(self) -> None:
        route = Route(
            "subject", "s", "s", penalties=(contribution("method", 1, 300_000), contribution("method", 2, 100_000))
        )
        breakdown = compose(route)
        assert breakdown.total == 0
        assert breakdown.entries[-1].kind == "floor"
        assert breakdown.entries[-1].amount == 100_000

    def test_only_a_resource_reaches_the_upper_clamp_and_says_so(self) -> None:
        boosts = tuple(contribution(name, 1, 200_000) for name in ("method", "venue", "classification"))
        breakdown = compose(Route("resource", "r", "s", prior=Ppm(900_000), boosts=boosts, cost=Ppm(0)))
        assert (breakdown.total, breakdown.entries[-1].kind, breakdown.entries[-1].amount) == (
            1_000_000,
            "ceiling",
            -250_000,
        )


class TestPriors:
    def test_a_resource_that_declares_none_has_the_neutral_one(self) -> None:
        assert entries(Route("resource", "r", "s", cost=Ppm(0)))[0] == ("prior", "default", 500_000)

    @pytest.mark.parametrize("kind", ["subject", "lens"])
    @pytest.mark.parametrize(
        ("prior", "name", "amount"), [(None, "default", 300_000), (900_000, "declared", 300_000), (0, "declared", 0)]
    )
    def test_subjects_and_lenses_never_start_above_their_own(
        self, kind: str, prior: int | None, name: str, amount: int
    ) -> None:
        assert entries(Route(kind, "x", "s", prior=prior))[0] == ("prior", name, amount)  # type: ignore[arg-type]


class TestIdentity:
    """A signal id counts once per route and polarity, with its largest weight."""

    def test_repetition_adds_nothing(self) -> None:
        once = (contribution("method", 1, 90_000), contribution("venue", 1, 150_000))
        again = (contribution("method", 1, 80_000), *once, contribution("method", 1, 90_000))
        assert compose(Route("subject", "s", "s", boosts=once)) == compose(Route("subject", "s", "s", boosts=again))

    def test_the_largest_weight_of_an_id_counts_in_any_order(self) -> None:
        light, heavy = contribution("method", 1, 60_000), contribution("method", 1, 180_000)
        for boosts in ((light, heavy), (heavy, light)):
            assert compose(Route("subject", "s", "s", boosts=boosts)).total == 480_000
            assert compose(Route("subject", "s", "s", penalties=boosts)).total == 120_000

    def test_the_same_id_may_speak_for_and_against(self) -> None:
        one = contribution("method", 1, 100_000)
        assert compose(Route("subject", "s", "s", boosts=(one,), penalties=(one,))).total == 300_000

    def test_one_id_in_two_dimensions_counts_in_the_first_and_is_reported(self) -> None:
        method, venue = Contribution("x", "method", Ppm(100_000)), Contribution("x", "venue", Ppm(200_000))
        for boosts in ((method, venue), (venue, method)):
            scored = score(Route("subject", "s", "s", boosts=boosts))
            assert (scored.total, scored.breakdown.rejected, scored.dimensions) == (400_000, 1, ("method",))

    def test_a_dimension_that_nobody_documented_is_rejected(self) -> None:
        boosts = (Contribution("x", "method", Ppm(200_000)), Contribution("y", "astrology", Ppm(200_000)))
        scored = score(Route("subject", "s", "s", boosts=boosts))
        assert (scored.total, scored.breakdown.rejected, scored.dimensions) == (500_000, 1, ("method",))

    def test_evidence_of_no_weight_holds_no_dimension(self) -> None:
        boosts = (Contribution("x", "method", Ppm(200_000)), Contribution("y", "venue", Ppm(0)))
        scored = score(Route("subject", "s", "s", boosts=boosts))
        assert (scored.dimensions, scored.signal_ids) == (("method",), ("x", "y"))


class TestSingleDimension:
    """A proved exemption discounts the one dimension by 1/2, clipped at 0.30."""

    @staticmethod
    def total(*dimensions: list[int]) -> int:
        return compose(subject_route("s", 0, shaped("s", *dimensions), single_dimension_proved=True)).total

    def test_two_full_signals_of_one_dimension_reach_the_threshold(self) -> None:
        assert self.total([200_000, 200_000]) == 600_000
        assert self.total([200_000]) == 500_000

    def test_it_is_clipped(self) -> None:
        assert self.total([200_000] * 5) == 600_000

    def test_several_dimensions_count_as_ever_when_that_is_more(self) -> None:
        assert self.total([200_000, 200_000], [150_000]) == 641_666

    def test_a_weak_second_dimension_takes_nothing_away(self) -> None:
        # The usual discount would give 0.30 + 0.266666 + 0.03 = 0.596666.
        breakdown = compose(subject_route("s", 0, shaped("s", [200_000] * 2, [60_000]), single_dimension_proved=True))
        assert breakdown.total == 600_000
        assert [(entry.name, entry.amount) for entry in breakdown.entries] == [
            ("declared", 300_000),
            ("method", 300_000),
            ("data_or_outcome", 0),
        ]

    def test_only_proof_switches_it_on(self) -> None:
        for claim in (None, 1, "yes", False):
            route = subject_route("s", 0, shaped("s", [200_000] * 2), single_dimension_proved=claim)  # type: ignore[arg-type]
            assert compose(route).total == 566_666


class TestBuilders:
    """What counts for which route."""

    def test_a_subject_counts_its_own_asserted_subject_level_signals(self) -> None:
        counted = evidence("finance", "method", 1, 100_000)
        found = [
            counted,
            evidence("economics", "method", 2, 100_000),
            evidence("finance", "method", 3, 100_000, activation="method_only"),
            evidence("finance", "method", 4, 100_000, activation="context_only"),
            *(
                evidence("finance", "method", 5, 100_000, polarity=polarity)
                for polarity in ("negated", "excluded", "quoted", "everyday")
            ),
            evidence("finance", "method", 6, 100_000, role="exclude"),
            evidence("finance", "method", 7, 100_000, role="keep"),
        ]
        route = subject_route("finance", 1, found)
        assert [item.id for item in route.boosts] == [counted.signal_id]
        assert route.penalties == ()
        assert compose(route).total == 400_000

    def test_a_suppressor_subtracts_once_per_id(self) -> None:
        suppressor = evidence("finance", "method", 0, 100_000, signal_id="finance.suppressor.x", role="suppressor")
        other = attrs.evolve(suppressor, signal_id="finance.suppressor.y", start=90)
        quoted = attrs.evolve(other, polarity="quoted", signal_id="finance.suppressor.z")
        assert compose(subject_route("finance", 1, [suppressor, quoted])).total == 200_000
        assert compose(subject_route("finance", 1, [suppressor, attrs.evolve(suppressor, start=50)])).total == 200_000
        assert compose(subject_route("finance", 1, [suppressor, other])).total == 100_000

    def test_a_composite_counts_its_own_and_its_parts_evidence(self) -> None:
        found = [evidence(name, "method", 1, 100_000) for name in ("economics", "accounting", "finance", "both")]
        route = subject_route("both", 1, found, parts=("economics", "accounting"))
        assert {item.id for item in route.boosts} == {"both.method.1", "economics.method.1", "accounting.method.1"}

    def test_a_lens_counts_method_signals_of_its_slug(self) -> None:
        slug = {"value": "event-study"}
        found = [
            evidence("finance", "method", 1, 100_000, **slug),
            evidence("finance", "method", 2, 100_000, activation="method_only", **slug),
            evidence("finance", "data_or_outcome", 3, 100_000, activation="method_only", **slug),
            evidence("finance", "data_or_outcome", 4, 100_000, **slug),
            evidence("finance", "method", 5, 100_000, activation="context_only", **slug),
            evidence("finance", "method", 6, 100_000, polarity="negated", **slug),
            evidence("finance", "method", 7, 100_000, value="difference-in-differences"),
            evidence("economics", "method", 8, 100_000, **slug),
            evidence("finance", "method", 9, 100_000, role="suppressor", **slug),
        ]
        route = lens_route("finance", "event-study", 1, found)
        assert [item.id.rpartition(".")[2] for item in route.boosts] == ["1", "2", "3"]
        assert route.penalties == ()

    def test_penalties_session_and_cost_do_not_apply_to_a_lens(self) -> None:
        boost = contribution("method", 1, 100_000)
        plain = Route("lens", "s/l", "s", boosts=(boost,))
        laden = attrs.evolve(plain, penalties=(boost,), session=Ppm(-50_000), cost=Ppm(200_000), risk=Ppm(2_000_000))
        assert compose(laden) == compose(plain)
        assert score(laden).cost == 0

    def test_cost_does_not_apply_to_a_subject(self) -> None:
        route = Route("subject", "s", "s", cost=Ppm(200_000), risk=Ppm(2_000_000))
        assert (compose(route).total, score(route).cost) == (300_000, 0)

    def test_a_resource_of_unknown_size_is_told_apart_from_one_of_full_size(self) -> None:
        unknown = resource_route("r", "s", 0, tokens=None, budget=100)
        full = resource_route("r", "s", 0, tokens=100, budget=100)
        assert compose(unknown).total == compose(full).total == 300_000
        assert entries(unknown)[-1] == ("cost", "undeclared", -200_000)
        assert entries(full)[-1] == ("cost", "declared", -200_000)

    def test_e5_a_flag_on_evidence_changes_nothing(self) -> None:
        @attrs.frozen
        class Grabbing(Evidence):
            override: bool = True
            allow: bool = True

        fields = {
            field.name: getattr(evidence("s", "method", 1, 100_000), field.name) for field in attrs.fields(Evidence)
        }
        assert subject_route("s", 0, [Grabbing(**fields)]) == subject_route("s", 0, [Evidence(**fields)])


class TestWithout:
    """What a route would score without one dimension, and what it weighs without a record."""

    def test_the_dimensions_behind_rise_by_one_rank(self) -> None:
        boosts = (
            contribution("method", 1, 200_000),
            contribution("venue", 1, 100_001),
            contribution("classification", 1, 80_003),
        )
        # 0.3 + 0.2 + 100001 // 2 + 80003 // 4
        scored = score(Route("subject", "s", "s", prior=Ppm(300_000), boosts=boosts))
        assert scored.total == 570_000
        # 0.3 + 100001 + 80003 // 2; 0.3 + 0.2 + 80003 // 2; 0.3 + 0.2 + 100001 // 2
        assert [total_without(scored, name) for name in ("method", "venue", "classification")] == [
            440_002,
            540_001,
            550_000,
        ]
        assert total_without(scored, "vocabulary") == scored.total

    def test_a_score_that_penalties_pressed_to_zero_stays_there(self) -> None:
        against = tuple(Contribution(f"s.suppressor.{number}", "method", Ppm(300_000)) for number in range(2))
        scored = score(
            Route(
                "subject", "s", "s", prior=Ppm(300_000), boosts=(contribution("method", 1, 90_000),), penalties=against
            )
        )
        assert (scored.total, total_without(scored, "method")) == (0, 0)

    @given(subject_routes())
    @example(
        Route(
            "subject",
            "s",
            "s",
            prior=Ppm(300_000),
            boosts=tuple(contribution("method", number, 200_000) for number in range(3)),
            single_dimension=True,
        )
    )
    @example(Route("subject", "s", "s", boosts=(contribution("method", 1, None), contribution("venue", 1, 90_000))))
    def test_it_is_the_score_of_the_route_whose_evidence_of_that_dimension_is_gone(self, route: Route) -> None:
        scored = score(route)
        for name in DIMENSIONS:
            left = tuple(item for item in route.boosts if item.dimension != name)
            assert total_without(scored, name) == compose(attrs.evolve(route, boosts=left)).total

    @given(subject_routes())
    def test_weighing_gives_what_the_record_gives(self, route: Route) -> None:
        weighing, scored = weigh(route), score(route)
        assert (weighing.total, weighing.dimensions) == (scored.breakdown.total, scored.dimensions)
        assert weighing.total == sum(entry.amount for entry in scored.breakdown.entries)
        weighty = {
            entry.name
            for entry in scored.breakdown.entries
            if entry.kind == "dimension" and any(share.weight > 0 for share in entry.shares)
        }
        assert set(weighing.dimensions) == weighty
