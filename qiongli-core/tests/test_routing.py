"""The route selector: order, margins, the policy table row by row, composites, lenses in every mode, resources."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from engine_cases import ACTIVE, LENDABLE, candidate, evidence, lens, shaped

from qiongli.errors import QiongliError
from qiongli.limits import DEFAULT_LIMITS
from qiongli.records import Evidence, Ppm
from qiongli.records.packet import Refusal
from qiongli.records.subjects import Reason
from qiongli.routing import (
    LensCandidate,
    ResourceCandidate,
    RouteCandidate,
    choose_resources,
    decide,
    rank,
    select,
)
from qiongli.safety import Gate, Outcome, lens_gates, subject_gates
from qiongli.scoring import Route, ScoredRoute, resource_route, score

FULL = 200_000
STRONG = ([FULL, FULL], [150_000])  # 641666
THRESHOLD = ([FULL], [FULL])  # 600000
FAILED = (Gate("policy", Outcome.FAIL),)


def resource(id_: str, **fields: Any) -> ScoredRoute:
    return score(Route("resource", id_, "s", **({"cost": Ppm(0)} | fields)))


def method_signal(subject: str, slug: str, weight: int = 150_000, activation: str = "method_only") -> Evidence:
    return evidence(subject, "method", 50, weight, value=slug, activation=activation)


class TestRank:
    """Score, then priority, then cost, then id by code point."""

    def test_each_criterion_only_breaks_ties_of_the_one_before(self) -> None:
        best = resource("z", prior=Ppm(600_000), priority=9)
        first = resource("y", prior=Ppm(500_000), priority=0, cost=Ppm(0))
        second = resource("x", prior=Ppm(500_000), priority=1)
        cheap = resource("w", prior=Ppm(500_000), priority=2)
        dear = resource("v", prior=Ppm(510_000), priority=2, cost=Ppm(10_000))
        by_id = resource("wa", prior=Ppm(500_000), priority=2)
        assert [dear.total, cheap.total] == [500_000, 500_000]
        expected = [best, first, second, cheap, by_id, dear]
        for order in (expected, expected[::-1], expected[3:] + expected[:3]):
            assert list(rank(order)) == expected

    def test_ids_compare_by_code_point_in_any_locale(self) -> None:
        ids = ["Z", "a", "i", "z", "\u0131", "\u4e00"]
        assert [item.route.id for item in rank([resource(name) for name in reversed(ids)])] == ids

    def test_a_repeated_id_is_an_error(self) -> None:
        with pytest.raises(QiongliError) as caught:
            rank([resource("a"), resource("b"), resource("a", priority=3)])
        assert caught.value.code == "duplicate_route"
        for repeated in ([candidate("finance"), candidate("finance")],):
            with pytest.raises(QiongliError, match="twice"):
                decide(repeated)
        twice = lens("finance", "event-study", ())
        with pytest.raises(QiongliError, match="twice"):
            decide([], [twice, twice])

    @pytest.mark.parametrize("priority", [float("nan"), None, "0", True, -1.5])
    def test_an_unreadable_priority_comes_last(self, priority: Any) -> None:
        assert [item.route.id for item in rank([resource("a", priority=priority), resource("b", priority=99)])] == [
            "b",
            "a",
        ]


class TestMargin:
    """Who counts as a rival."""

    @staticmethod
    def pair(first: int, second: int, suggestible: bool = True) -> tuple[str | None, tuple[str, ...]]:
        routing = decide(
            [
                candidate("economics", shaped("economics", *THRESHOLD)),
                candidate("finance", shaped("finance", *THRESHOLD)),
            ]
        )
        better, worse = routing.ranked

        def at(standing: Any, total: int, may: bool) -> Any:
            breakdown = attrs.evolve(standing.scored.breakdown, total=Ppm(total))
            return attrs.evolve(standing, scored=attrs.evolve(standing.scored, breakdown=breakdown), suggestible=may)

        winner, rivals = select([at(better, first, True), at(worse, second, suggestible)])
        return winner.subject if winner else None, tuple(rival.subject for rival in rivals)

    def test_the_margin_is_inclusive(self) -> None:
        assert self.pair(700_000, 600_000) == ("economics", ("finance",))
        assert self.pair(700_001, 600_000) == ("economics", ())

    def test_a_rival_must_be_suggestible_itself(self) -> None:
        assert self.pair(700_000, 690_000, suggestible=False) == ("economics", ())

    def test_nobody_wins_without_being_suggestible(self) -> None:
        assert select([]) == (None, ())

    def test_a_subject_just_below_the_threshold_is_no_rival(self) -> None:
        almost = shaped("finance", [FULL], [199_999])  # 599999
        routing = decide([candidate("economics", shaped("economics", *THRESHOLD)), candidate("finance", almost)])
        assert (routing.primary, routing.secondaries, routing.facts) == ("economics", (), ())

    def test_more_rivals_than_options_are_all_secondary_but_three_are_offered(self) -> None:
        names = ("economics", "finance", "accounting", "business")
        routing = decide([candidate(name, shaped(name, *THRESHOLD)) for name in names])
        assert routing.primary == "economics"
        assert routing.secondaries == names[1:]
        assert routing.facts[0].id == "ambiguous:accounting+economics+finance"
        assert routing.facts[0].subjects == names[:3]

    def test_the_question_keeps_its_id_when_the_order_changes(self) -> None:
        def ask(first: Any, second: Any) -> str:
            found = [
                candidate("economics", shaped("economics", *first)),
                candidate("finance", shaped("finance", *second)),
            ]
            return decide(found).facts[0].id

        assert ask(STRONG, THRESHOLD) == ask(THRESHOLD, STRONG) == "ambiguous:economics+finance"


class TestPolicyTable:
    """The table of the gates document, row by row."""

    @pytest.mark.parametrize("state", ["active", "lens_only", "inactive"])
    def test_a_weak_or_context_only_signal_is_core_in_any_gate_state(self, state: str) -> None:
        gates = subject_gates(state=state, excluded=False)
        context = (evidence("finance", "venue", 1, FULL, activation="context_only"),)
        for found in (shaped("finance", [60_000]), context):
            routing = decide([candidate("finance", found, gates=gates)])
            assert (routing.decision, routing.primary, routing.confidence) == ("no_subject", "auto", 0)
            assert routing.reasons

    def test_a_method_only_signal_with_its_pack_borrows_the_lens(self) -> None:
        found = (method_signal("finance", "event-study"),)
        routing = decide([candidate("finance", found)], [lens("finance", "event-study", found)])
        assert (routing.decision, routing.primary) == ("borrow_lens", "auto")
        assert [(item.subject, item.lens) for item in routing.borrowed_lenses] == [("finance", "event-study")]
        assert routing.ranked == ()

    def test_a_method_only_signal_without_its_pack_is_core_with_a_note(self) -> None:
        found = (method_signal("finance", "event-study"),)
        gates = lens_gates(state="active", pack_resolves=False)
        routing = decide([candidate("finance", found)], [lens("finance", "event-study", found, gates)])
        assert (routing.decision, routing.borrowed_lenses, routing.lenses) == ("no_subject", (), ())
        assert [reason.code for reason in routing.reasons] == ["method_pack_missing"]
        assert [name for name, _ in routing.withheld_lenses] == ["finance/event-study"]

    def test_a_strong_signal_below_runtime_enabled_is_core_or_borrow_with_the_candidate_shown(self) -> None:
        gates = subject_gates(state="lens_only", excluded=False)
        found = (*shaped("finance", *STRONG), method_signal("finance", "event-study"))
        blocked = candidate("finance", found, gates=gates)
        core = decide([blocked])
        assert core.decision == "no_subject"
        assert [(item.subject, item.dimensions) for item in core.blocked] == [
            ("finance", ("method", "data_or_outcome"))
        ]
        assert core.blocked[0].signal_ids == ("finance.data_or_outcome.0", "finance.method.0", "finance.method.1")
        assert "not_active" in [reason.code for reason in core.reasons]
        lendable = lens_gates(state="lens_only", pack_resolves=True)
        assert decide([blocked], [lens("finance", "event-study", found, lendable)]).decision == "borrow_lens"

    def test_a_strong_signal_of_an_enabled_subject_is_suggested(self) -> None:
        routing = decide([candidate("finance", shaped("finance", *STRONG))])
        assert (routing.decision, routing.primary, routing.confidence) == ("suggest_subject", "finance", 641_666)
        assert routing.reasons == ()

    @pytest.mark.parametrize(("mode", "decision"), [("confirmed", "confirm_subject"), ("locked", "lock_subject")])
    def test_a_confirmed_or_locked_subject_stays_whatever_speaks_against_it(self, mode: Any, decision: str) -> None:
        rival = candidate("finance", shaped("finance", *STRONG))
        own = candidate("economics")
        routing = decide([own, rival], mode=mode, active_subject="economics")
        assert (routing.decision, routing.primary, routing.confidence) == (decision, "economics", 300_000)
        assert (routing.secondaries, routing.facts) == ((), ())
        assert [item.subject for item in routing.ranked] == ["finance"]
        strong = candidate("economics", shaped("economics", *STRONG))
        beside = decide([strong, rival], mode=mode, active_subject="economics")
        assert (beside.primary, beside.secondaries, beside.facts) == ("economics", (), ())
        blocked = attrs.evolve(own, gates=subject_gates(state="inactive", excluded=True))
        for others in ([blocked, rival], [rival], []):
            routing = decide(others, mode=mode, active_subject="economics")
            # The gate decides what may be loaded, and nothing is scored that it blocks.
            assert (routing.decision, routing.primary, routing.confidence) == (decision, "economics", 0)

    def test_a_locked_subject_borrows_a_neighbours_lens(self) -> None:
        found = (method_signal("finance", "event-study"),)
        routing = decide(
            [candidate("economics"), candidate("finance", found)],
            [lens("finance", "event-study", found)],
            mode="locked",
            active_subject="economics",
        )
        assert (routing.decision, routing.primary) == ("lock_subject", "economics")
        assert [(item.subject, item.lens) for item in routing.borrowed_lenses] == [("finance", "event-study")]

    def test_a_project_without_a_subject_is_left_to_the_router(self) -> None:
        routing = decide([candidate("finance", shaped("finance", *STRONG))], mode="locked", active_subject="auto")
        assert (routing.decision, routing.primary) == ("suggest_subject", "finance")


class TestLenses:
    """Lent for every subject alike and in every mode."""

    @pytest.mark.parametrize(
        ("mode", "active", "primary"),
        [("auto", "auto", "economics"), ("confirmed", "finance", "finance"), ("locked", "finance", "finance")],
    )
    def test_the_primarys_own_are_method_lenses_and_the_others_are_borrowed(
        self, mode: Any, active: str, primary: str
    ) -> None:
        economics = (*shaped("economics", *STRONG), method_signal("economics", "did"))
        finance = (method_signal("finance", "event-study"),)
        routing = decide(
            [candidate("economics", economics), candidate("finance", finance)],
            [lens("finance", "event-study", finance), lens("economics", "did", economics)],
            mode=mode,
            active_subject=active,
        )
        slugs = {"economics": "did", "finance": "event-study"}
        assert routing.primary == primary
        assert routing.method_lenses == (slugs.pop(primary),)
        assert [(item.subject, item.lens) for item in routing.borrowed_lenses] == list(slugs.items())

    @pytest.mark.parametrize(("weight", "decision"), [(100_000, "borrow_lens"), (99_999, "no_subject")])
    def test_the_threshold_is_reached_by_one_signal_of_a_tenth(self, weight: int, decision: str) -> None:
        found = (method_signal("finance", "event-study", weight),)
        assert decide([candidate("finance", found)], [lens("finance", "event-study", found)]).decision == decision

    @pytest.mark.parametrize(("weight", "decision"), [(150_000, "borrow_lens"), (149_999, "no_subject")])
    def test_a_strict_project_wants_more(self, weight: int, decision: str) -> None:
        found = (method_signal("finance", "event-study", weight),)
        strict = DEFAULT_LIMITS.strict()
        assert (
            decide([candidate("finance", found)], [lens("finance", "event-study", found)], limits=strict).decision
            == decision
        )

    def test_a_strict_project_suggests_later(self) -> None:
        strict = DEFAULT_LIMITS.strict()
        exact = shaped("finance", [FULL], [FULL], [FULL])  # 0.30 + 0.20 + 0.10 + 0.05
        assert decide([candidate("finance", exact)], limits=strict).decision == "suggest_subject"
        assert decide([candidate("finance", shaped("finance", *STRONG))], limits=strict).decision == "no_subject"

    def test_a_lens_is_not_lent_for_its_prior(self) -> None:
        low = attrs.evolve(DEFAULT_LIMITS, lens_threshold=300_000)
        for found in (
            (),
            (method_signal("finance", "event-study", 0),),
            (method_signal("finance", "event-study", None),),
        ):  # type: ignore[arg-type]
            routing = decide([], [lens("finance", "event-study", found)], limits=low)
            assert routing.decision == "no_subject"

    def test_exclusion_concerns_subjects_and_never_lenses(self) -> None:
        found = (*shaped("finance", *STRONG), method_signal("finance", "event-study"))
        excluded = candidate("finance", found, gates=subject_gates(state="active", excluded=True))
        routing = decide([excluded], [lens("finance", "event-study", found)])
        assert routing.decision == "borrow_lens"
        assert [item.subject for item in routing.blocked] == ["finance"]

    def test_a_suppressor_lowers_the_subject_and_not_its_lens(self) -> None:
        suppressor = evidence("finance", "method", 0, 300_000, signal_id="finance.suppressor.x", role="suppressor")
        found = (*shaped("finance", *STRONG), method_signal("finance", "event-study"), suppressor)
        routing = decide([candidate("finance", found)], [lens("finance", "event-study", found)])
        assert routing.ranked[0].scored.total == 341_666
        assert (routing.decision, routing.lenses[0].scored.total) == ("borrow_lens", 450_000)

    def test_lenses_come_in_rank_order(self) -> None:
        first, second = method_signal("finance", "a", 100_000), method_signal("finance", "b", 120_000)
        second = attrs.evolve(second, signal_id="finance.method.b")
        lenses = [LensCandidate("finance", slug, 0, (first, second), LENDABLE) for slug in ("a", "b")]
        assert [item.lens for item in decide([], lenses).borrowed_lenses] == ["b", "a"]


class TestComposites:
    """economics-accounting: carried by its parts, or by evidence of its own, and then in their place."""

    @staticmethod
    def scene(
        economics: Any = (), accounting: Any = (), own: Any = (), gates: tuple[Gate, ...] = ACTIVE, part: Any = None
    ) -> list[RouteCandidate]:
        slug = "economics-accounting"
        # Dimensions of the parts are kept apart, so that their spans are disjoint.
        first = shaped("economics", *economics)
        second = shaped("accounting", *accounting)
        mine = shaped(slug, *own)
        composite = candidate(slug, (*first, *second, *mine), composes=("economics", "accounting"), gates=gates)
        return [
            composite,
            candidate("economics", first),
            candidate("accounting", second, **(part or {})),
        ]

    def test_two_suggestible_parts_within_the_margin_carry_it(self) -> None:
        routing = decide(self.scene(THRESHOLD, STRONG))
        assert (routing.decision, routing.primary, routing.secondaries) == (
            "suggest_subject",
            "economics-accounting",
            (),
        )
        assert routing.facts == ()
        assert [item.subject for item in routing.ranked] == ["economics-accounting"]
        assert [item.subject for item in routing.replaced] == ["accounting", "economics"]
        # Its own and its parts' evidence: method 3 x 0.20 and 0.20, data 0.15 and 0.20.
        assert routing.confidence == 300_000 + (200_000 + 66_666 + 22_222) + (200_000 + 50_000) // 2

    def test_parts_beyond_the_margin_do_not(self) -> None:
        far = ([FULL, FULL], [FULL, FULL], [FULL, FULL])  # 766665
        routing = decide(self.scene(THRESHOLD, far))
        assert (routing.primary, routing.secondaries) == ("accounting", ())
        assert "economics-accounting" not in [item.subject for item in routing.ranked]

    def test_a_part_that_is_not_suggestible_does_not(self) -> None:
        assert decide(self.scene(THRESHOLD, ([FULL],))).primary == "economics"

    def test_evidence_of_its_own_and_a_signal_of_each_part_carry_it(self) -> None:
        routing = decide(self.scene(([100_000],), ([100_000],), ([FULL], [FULL])))
        assert (routing.decision, routing.primary) == ("suggest_subject", "economics-accounting")

    def test_evidence_of_its_own_without_a_signal_of_each_part_does_not(self) -> None:
        routing = decide(self.scene(([100_000],), (), ([FULL], [FULL])))
        assert routing.decision == "no_subject"
        (blocked,) = routing.blocked
        assert (blocked.subject, [reason.code for reason in blocked.reasons]) == (
            "economics-accounting",
            ["parts_without_evidence"],
        )

    def test_a_signal_of_each_part_without_evidence_of_its_own_does_not(self) -> None:
        routing = decide(self.scene(([FULL],), ([150_000],)))
        assert routing.decision == "no_subject"
        assert routing.blocked == ()

    @pytest.mark.parametrize(
        "gates", [subject_gates(state="lens_only", excluded=False), subject_gates(state="active", excluded=True)]
    )
    def test_every_part_must_be_eligible(self, gates: tuple[Gate, ...]) -> None:
        routing = decide(self.scene(THRESHOLD, THRESHOLD, ([FULL],), part={"gates": gates}))
        assert (routing.primary, routing.secondaries) == ("economics", ())
        assert [item.subject for item in routing.blocked] == ["accounting", "economics-accounting"]
        assert routing.blocked[1].reasons[-1].code == "part_not_active"

    def test_it_must_be_eligible_itself(self) -> None:
        gates = subject_gates(state="lens_only", excluded=False)
        routing = decide(self.scene(THRESHOLD, THRESHOLD, gates=gates))
        assert (routing.primary, routing.secondaries) == ("economics", ("accounting",))
        assert [item.subject for item in routing.blocked] == ["economics-accounting"]

    def test_one_that_is_not_suggestible_leaves_its_parts_in_place(self) -> None:
        scene = self.scene(THRESHOLD, THRESHOLD)
        suppressor = evidence("economics-accounting", "method", 0, 300_000, signal_id="x.suppressor", role="suppressor")
        scene[0] = attrs.evolve(scene[0], evidence=(*scene[0].evidence, suppressor))
        routing = decide(scene)
        assert (routing.primary, routing.secondaries) == ("economics", ("accounting",))
        assert [item.subject for item in routing.ranked if not item.suggestible] == ["economics-accounting"]

    def test_what_may_not_act_as_itself_may_not_act_as_a_part(self) -> None:
        routing = decide(self.scene(THRESHOLD, THRESHOLD, part={"final_gates": FAILED}))
        assert (routing.decision, routing.primary) == ("no_subject", "auto")
        assert "economics-accounting" in [item.subject for item in routing.blocked]
        assert "accounting" not in [item.subject for item in routing.replaced]

    def test_a_part_that_is_not_installed_blocks_it(self) -> None:
        scene = self.scene(THRESHOLD, THRESHOLD, ([FULL],))
        routing = decide(scene[:2])
        assert routing.primary == "economics"
        assert [item.subject for item in routing.blocked] == ["economics-accounting"]


class TestFinalGate:
    """What was chosen may still not act; then nobody takes its place."""

    def test_the_runner_up_is_not_silently_chosen(self) -> None:
        best = candidate("economics", shaped("economics", *STRONG), final_gates=FAILED)
        routing = decide([best, candidate("finance", shaped("finance", *THRESHOLD))])
        assert (routing.decision, routing.primary, routing.secondaries, routing.facts) == ("no_subject", "auto", (), ())
        assert [item.subject for item in routing.blocked] == ["economics"]
        assert [item.subject for item in routing.ranked] == ["finance"]
        assert "gate_policy" in [reason.code for reason in routing.reasons]

    def test_a_rival_that_may_not_act_is_neither_secondary_nor_offered(self) -> None:
        rival = candidate("finance", shaped("finance", *THRESHOLD), final_gates=FAILED)
        routing = decide([candidate("economics", shaped("economics", *STRONG)), rival])
        assert (routing.primary, routing.secondaries, routing.facts) == ("economics", (), ())
        assert [item.subject for item in routing.blocked] == ["finance"]

    @pytest.mark.parametrize("answer", [Outcome.FAIL, True, "pass", None])
    def test_a_last_check_that_is_no_explicit_pass_stops_who_would_act(self, answer: object) -> None:
        why = (Reason("resource_missing", "gone"),)
        best = candidate("economics", shaped("economics", *STRONG), final_checks=(("resources", lambda: answer, why),))
        routing = decide([best, candidate("finance", shaped("finance", *THRESHOLD))])
        assert (routing.primary, [item.subject for item in routing.ranked]) == ("auto", ["finance"])
        assert [(item.subject, item.reasons) for item in routing.blocked] == [("economics", why)]

    def test_a_last_check_that_raises_is_a_fail(self) -> None:
        best = candidate("economics", shaped("economics", *STRONG), final_checks=(("clock", lambda: 1 // 0, ()),))
        routing = decide([best])
        assert routing.primary == "auto"
        assert [reason.code for item in routing.blocked for reason in item.reasons] == ["gate_raised"]

    def test_last_checks_are_asked_only_about_who_would_act(self) -> None:
        asked: list[str] = []

        def scene() -> list[RouteCandidate]:
            strength = {"economics": STRONG, "finance": THRESHOLD, "accounting": ([FULL],), "business": ([], [FULL])}
            return [
                candidate(
                    name,
                    shaped(name, *found),
                    final_checks=(("last", lambda name=name: asked.append(name) or Outcome.PASS, ()),),  # type: ignore[misc]
                )
                for name, found in strength.items()
            ]

        assert decide(scene()).primary == "economics"
        assert sorted(asked) == ["economics", "finance"]
        asked.clear()
        assert decide(scene(), mode="confirmed", active_subject="business").primary == "business"
        assert asked == []

    def test_a_last_check_of_a_part_stops_the_composite(self) -> None:
        parts = [
            candidate(name, shaped(name, *THRESHOLD), final_checks=(("last", lambda: Outcome.FAIL, ()),))
            for name in ("accounting", "economics")
        ]
        both = tuple(item for part in parts for item in part.evidence)
        composite = candidate("economics-accounting", both, composes=("accounting", "economics"))
        routing = decide([composite, *parts])
        assert (routing.decision, routing.primary) == ("no_subject", "auto")

    def test_a_part_that_may_only_carry_a_composite_does_not_act_by_itself(self) -> None:
        kept = (Reason("excluded", "kept elsewhere"),)
        parts = [candidate(name, shaped(name, *THRESHOLD), only_as_part=kept) for name in ("accounting", "economics")]
        both = tuple(item for part in parts for item in part.evidence)
        composite = candidate("economics-accounting", both, composes=("accounting", "economics"))
        assert decide([composite, *parts]).primary == "economics-accounting"
        alone = decide(parts)
        assert (alone.decision, [(item.subject, item.reasons) for item in alone.blocked]) == (
            "no_subject",
            [("accounting", kept), ("economics", kept)],
        )

    def test_it_binds_in_a_locked_project_too(self) -> None:
        own = candidate("economics", shaped("economics", *STRONG), final_gates=FAILED)
        routing = decide([own], mode="locked", active_subject="economics")
        assert (routing.decision, routing.confidence, routing.ranked) == ("lock_subject", 0, ())


class TestReasons:
    """`no_subject` always says why."""

    @pytest.mark.parametrize(
        ("found", "codes"),
        [
            ((), ["no_evidence"]),
            ((evidence("finance", "method", 1, FULL, polarity="negated"),), ["no_evidence"]),
            ((evidence("finance", "venue", 1, FULL, activation="context_only"),), ["no_subject_evidence"]),
            (shaped("finance", [FULL]), ["one_dimension", "below_threshold"]),
            (shaped("finance", [FULL], [150_000]), ["below_threshold"]),
        ],
    )
    def test_each_way_of_not_being_suggested_has_a_code(self, found: Any, codes: list[str]) -> None:
        routing = decide([candidate("finance", found)])
        assert [reason.code for reason in routing.reasons] == codes

    def test_a_task_without_text_says_so(self) -> None:
        routing = decide([candidate("finance")], has_text=False)
        assert [reason.code for reason in routing.reasons] == ["no_text"]
        assert [fact.id for fact in routing.facts] == ["missing_text"]

    def test_a_refusal_says_nothing_else(self) -> None:
        found = (*shaped("finance", *STRONG), method_signal("finance", "event-study"))
        refusal = Refusal("policy_forbids", "No.")
        routing = decide(
            [candidate("finance", found)],
            [lens("finance", "event-study", found)],
            mode="locked",
            active_subject="finance",
            refusal=refusal,
        )
        assert (routing.decision, routing.primary, routing.refusal) == ("no_subject", "auto", refusal)
        assert (routing.ranked, routing.lenses, routing.facts, routing.blocked) == ((), (), (), ())
        assert [reason.code for reason in routing.reasons] == ["policy_forbids"]


class TestAnswers:
    """What the user answered settles the question among those who were asked about."""

    FOUND = (
        candidate("economics", shaped("economics", *STRONG)),
        candidate("finance", shaped("finance", *THRESHOLD)),
        candidate("accounting", shaped("accounting", [FULL])),
    )

    def test_an_answer_makes_its_subject_primary_and_excludes_the_others(self) -> None:
        routing = decide(self.FOUND, answers={"ambiguous:economics+finance": "finance"})
        assert (routing.decision, routing.primary, routing.secondaries) == ("suggest_subject", "finance", ())
        assert (routing.facts, routing.confidence) == ((), 600_000)
        assert [item.subject for item in routing.ranked] == ["finance"]
        assert [item.subject for item in routing.blocked] == ["accounting", "economics"]
        assert {reason.code for item in routing.blocked for reason in item.reasons} == {"excluded"}

    @pytest.mark.parametrize("answer", ["accounting", "law", "", None, 1])
    def test_an_answer_that_is_no_option_changes_nothing(self, answer: Any) -> None:
        routing = decide(self.FOUND, answers={"ambiguous:economics+finance": answer})
        assert routing == decide(self.FOUND)
        assert routing.primary == "economics"

    def test_an_answer_to_a_question_that_is_not_open_changes_nothing(self) -> None:
        alone = self.FOUND[:1]
        assert decide(alone, answers={"ambiguous:economics+finance": "finance"}) == decide(alone)


class TestNothingLiftsAGate:
    """Neither evidence, nor a session, nor a high score."""

    def test_a_full_session_and_a_high_score_do_not(self) -> None:
        gates = subject_gates(state="lens_only", excluded=False)
        strongest = shaped("finance", *([FULL] * 3,) * 6)
        own = candidate("finance", strongest, gates=gates, session=50_000, single_dimension_proved=True)
        routing = decide([own, candidate("economics")])
        assert (routing.decision, routing.ranked) == ("no_subject", ())
        assert [item.subject for item in routing.blocked] == ["finance"]

    def test_a_flag_of_a_detector_does_not(self) -> None:
        @attrs.frozen
        class Grabbing(Evidence):
            override: bool = True

        names = [field.name for field in attrs.fields(Evidence)]
        found = [Grabbing(**{name: getattr(item, name) for name in names}) for item in shaped("finance", *STRONG)]
        own = candidate("finance", found, gates=subject_gates(state="lens_only", excluded=False))
        assert decide([own]).ranked == ()

    def test_who_has_no_evidence_is_not_even_blocked(self) -> None:
        gates = subject_gates(state="inactive", excluded=False)
        context = (evidence("finance", "venue", 1, FULL, activation="context_only"),)
        for found in ((), context):
            assert decide([candidate("finance", found, gates=gates)]).blocked == ()


class TestRepeatedFailure:
    """Three failures are no reason to try a fourth time, nor to try something else unasked."""

    def test_the_winner_is_held_back_and_nobody_takes_its_place(self) -> None:
        failing = candidate("economics", shaped("economics", *STRONG), repeated_failure=True)
        routing = decide([failing, candidate("finance", shaped("finance", *THRESHOLD))])
        assert (routing.decision, routing.primary, routing.secondaries) == ("no_subject", "auto", ())
        assert [fact.id for fact in routing.facts] == ["repeated_failure:economics"]
        assert routing.reasons[0].code == "repeated_failure"

    def test_a_lens_is_lent_all_the_same(self) -> None:
        found = (*shaped("economics", *STRONG), method_signal("economics", "did"))
        failing = candidate("economics", found, repeated_failure=True)
        assert decide([failing], [lens("economics", "did", found)]).decision == "borrow_lens"

    def test_the_user_may_ask_for_another_try(self) -> None:
        failing = candidate("economics", shaped("economics", *STRONG), repeated_failure=True)
        routing = decide([failing], answers={"repeated_failure:economics": "economics"})
        assert (routing.decision, routing.primary, routing.facts) == ("suggest_subject", "economics", ())

    @pytest.mark.parametrize("flag", [None, 1, "no"])
    def test_a_flag_that_cannot_be_read_holds_back(self, flag: Any) -> None:
        failing = candidate("economics", shaped("economics", *STRONG), repeated_failure=flag)
        assert decide([failing]).decision == "no_subject"


class TestResources:
    """The same order chooses resources under a token budget."""

    @staticmethod
    def item(
        name: str, tokens: int | None, budget: int | None = 1_000, pinned: bool = False, **fields: Any
    ) -> ResourceCandidate:
        return ResourceCandidate(resource_route(name, "s", 0, tokens=tokens, budget=budget, **fields), tokens, pinned)

    @staticmethod
    def names(choice: Any) -> tuple[list[str], list[str]]:
        return [item.route.id for item in choice.chosen], [item.route.id for item in choice.left_out]

    def test_smaller_ones_of_equal_worth_come_first_until_the_budget_is_used(self) -> None:
        items = [self.item("a", 700), self.item("b", 400), self.item("c", 500)]
        assert self.names(choose_resources(items, 1_000)) == (["b", "c"], ["a"])

    def test_one_that_does_not_fit_does_not_stop_the_next(self) -> None:
        items = [self.item("a", 900, prior=Ppm(900_000)), self.item("b", 200), self.item("c", 100)]
        assert self.names(choose_resources(items, 1_000)) == (["a", "c"], ["b"])

    def test_pinned_ones_always_enter_and_use_the_budget_first(self) -> None:
        items = [
            self.item("a", 600, prior=Ppm(900_000)),
            self.item("b", 700, pinned=True),
            self.item("c", None, pinned=True),
        ]
        assert self.names(choose_resources(items, 1_000)) == (["b", "c"], ["a"])

    def test_an_unknown_size_does_not_fit_into_a_budget(self) -> None:
        assert self.names(choose_resources([self.item("a", None), self.item("b", -5)], 1_000)) == ([], ["a", "b"])

    def test_without_a_budget_everything_is_chosen(self) -> None:
        items = [self.item("b", 10**9, None), self.item("a", None, None)]
        assert self.names(choose_resources(items, None)) == (["a", "b"], [])
