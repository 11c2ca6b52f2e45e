"""Judging answers, summing them up, and the verdict between yes, no and too few."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from qiongli.contract.models import RequiredMetrics
from qiongli.evaluation.fixtures import Fixture, read_fixture
from qiongli.evaluation.metrics import Proportion
from qiongli.evaluation.outcomes import judge
from qiongli.evaluation.packs import Pack
from qiongli.evaluation.report import build_report, reproduce_command
from qiongli.evaluation.runner import Infer, measure, run_fixtures
from qiongli.evaluation.thresholds import (
    RUNNER_THRESHOLDS,
    check_thresholds,
    enough_accuracy,
    enough_near_misses,
    gate_thresholds,
)
from qiongli.records.packet import BorrowedLens, PromotionRecommendation, RefinementPacket
from qiongli.records.project import EvidenceMemory, ManifestState

SUGGESTED = RefinementPacket("suggest_subject", primary_subject="finance")
CORE = RefinementPacket("no_subject")


def fixture(name: str = "f", category: str = "clear_positive", **raw: Any) -> Fixture:
    expected = raw.pop("expected", {"decision": "recommend", "primary_subject": "finance"})
    found, problems = read_fixture(
        {"id": name, "category": category, "task_packet": {"context": name}, "expected": expected, **raw}, place=name
    )
    assert found is not None, problems
    return found


def mismatched(packet: RefinementPacket, /, **expected: Any) -> list[str]:
    return [item.field for item in judge(fixture(expected=expected), packet).mismatches]


def answering(answers: Mapping[str, RefinementPacket]) -> Infer:
    def infer(
        task_packet: Mapping[str, object] | str, *, manifest_state: ManifestState, memory: EvidenceMemory | None
    ) -> RefinementPacket:
        assert isinstance(task_packet, Mapping)
        return answers[str(task_packet["context"])]

    return infer


class TestComparison:
    def test_what_a_fixture_does_not_mention_is_not_compared(self) -> None:
        packet = RefinementPacket(
            "suggest_subject", primary_subject="x", secondary_subjects=("y",), method_lenses=("z",)
        )
        assert mismatched(packet, decision="recommend") == []

    def test_lens_lists_compare_as_sets(self) -> None:
        packet = RefinementPacket("suggest_subject", primary_subject="finance", method_lenses=("b", "a"))
        assert mismatched(packet, decision="recommend", method_lenses=["a", "b", "a"]) == []
        assert mismatched(packet, decision="recommend", method_lenses=["a"]) == ["method_lenses"]

    def test_a_lent_lens_is_compared_with_its_lender_where_one_is_named(self) -> None:
        packet = RefinementPacket("borrow_lens", borrowed_lenses=(BorrowedLens("finance", "event-study", ""),))
        assert mismatched(packet, decision="borrow_lens", borrowed_lenses=["event-study"]) == []
        assert mismatched(packet, decision="borrow_lens", borrowed_lenses=["finance/event-study"]) == []
        assert mismatched(packet, decision="borrow_lens", borrowed_lenses=["economics/event-study"]) == [
            "borrowed_lenses"
        ]
        assert mismatched(packet, decision="borrow_lens", borrowed_lenses=[]) == ["borrowed_lenses"]

    def test_packs_without_borrowed_lenses_list_the_lent_lens_as_method_lens(self) -> None:
        packet = RefinementPacket("borrow_lens", borrowed_lenses=(BorrowedLens("finance", "event-study", ""),))
        assert mismatched(packet, decision="borrow_lens", method_lenses=["event-study"]) == []
        assert mismatched(packet, decision="borrow_lens", method_lenses=["garch"]) == ["method_lenses"]
        assert mismatched(packet, decision="borrow_lens", method_lenses=[]) == []

    def test_forbidden_subjects_concern_primary_and_secondaries(self) -> None:
        packet = RefinementPacket("suggest_subject", primary_subject="finance", secondary_subjects=("economics",))
        assert mismatched(packet, decision="recommend", forbidden_subjects=["economics"]) == ["forbidden_subjects"]
        assert mismatched(packet, decision="recommend", forbidden_subjects=["finance"]) == ["forbidden_subjects"]
        assert mismatched(packet, decision="recommend", forbidden_subjects=["accounting"]) == []

    def test_only_allowed_neighbours_may_stand_beside_the_primary(self) -> None:
        packet = RefinementPacket("suggest_subject", primary_subject="finance", secondary_subjects=("economics",))
        expected = {"decision": "recommend", "primary_subject": "finance"}
        assert mismatched(packet, **expected, allowed_neighbor_subjects=["economics"]) == []
        assert mismatched(packet, **expected, allowed_neighbor_subjects=[]) == ["allowed_neighbor_subjects"]

    def test_every_subject_to_suggest_is_suggested(self) -> None:
        both = ["finance", "economics"]
        assert mismatched(SUGGESTED, decision="recommend", suggest_subjects=both) == ["suggest_subjects"]

    def test_prompts_and_promotions_are_compared(self) -> None:
        quiet = RefinementPacket(
            "suggest_subject",
            primary_subject="finance",
            promotion_recommendation=PromotionRecommendation("suppressed", "finance", 2, "dismissed"),
        )
        assert mismatched(quiet, decision="recommend", prompt=False, promotion_status="suppressed") == []
        assert mismatched(quiet, decision="recommend", prompt=True) == ["prompt"]
        assert mismatched(SUGGESTED, decision="recommend", promotion_status="suppressed") == ["promotion_status"]

    def test_a_dismissed_subject_must_not_prompt_unless_the_fixture_says_so(self) -> None:
        prompting = RefinementPacket("suggest_subject", primary_subject="finance", prompt=True)
        memory = {"dismissed_subjects": {"finance": {}}}
        silent = fixture(category="dismissed_subject", memory=memory)
        assert [item.field for item in judge(silent, prompting).mismatches] == ["prompt"]
        expected = {"decision": "recommend", "prompt": True}
        assert judge(fixture(category="dismissed_subject", memory=memory, expected=expected), prompting).passed


class TestFalsePositives:
    def near(self, **raw: Any) -> Fixture:
        raw.setdefault("expected", {"decision": "core_only"})
        return fixture(category="near_miss", **raw)

    def test_the_subject_under_test_must_not_be_suggested(self) -> None:
        assert judge(self.near(subject_under_test="finance"), SUGGESTED).false_positive
        assert not judge(self.near(subject_under_test="economics"), SUGGESTED).false_positive
        assert not judge(self.near(subject_under_test="finance"), CORE).false_positive

    def test_nor_may_a_subject_that_the_contract_forbids(self) -> None:
        assert judge(self.near(subject_under_test="accounting"), SUGGESTED, forbidden=("finance",)).false_positive

    def test_the_subject_that_the_near_miss_expects_is_none(self) -> None:
        other = self.near(
            subject_under_test="accounting", expected={"decision": "recommend", "primary_subject": "finance"}
        )
        assert not judge(other, SUGGESTED, forbidden=("finance",)).false_positive

    def test_a_near_miss_that_names_nobody_guards_against_everybody(self) -> None:
        assert judge(self.near(), SUGGESTED).false_positive

    def test_a_core_only_task_with_a_subject_is_counted_apart(self) -> None:
        outcomes = run_fixtures(
            [fixture("a", "weak_signal", expected={"decision": "core_only"})], answering({"a": SUGGESTED})
        )
        measures = measure(outcomes)
        assert (measures.core_only, measures.core_only_false_positives, measures.near_miss_false_positives) == (1, 1, 0)


class TestMeasures:
    def outcomes(self) -> Any:
        """Three positives, one of them missed, one answered with another subject; one lock; two near misses."""
        fixtures = [
            fixture("hit"),
            fixture("missed"),
            fixture("other"),
            fixture("lock", "locked_subject", expected={"decision": "keep_locked", "primary_subject": "finance"}),
            fixture("near", "near_miss", expected={"decision": "core_only", "primary_subject": "auto"}),
            fixture("false", "near_miss", expected={"decision": "core_only", "primary_subject": "auto"}),
        ]
        answers = {
            "hit": SUGGESTED,
            "missed": CORE,
            "other": RefinementPacket("suggest_subject", primary_subject="economics"),
            "lock": RefinementPacket("lock_subject", primary_subject="finance"),
            "near": CORE,
            "false": SUGGESTED,
        }
        return run_fixtures(fixtures, answering(answers))

    def test_near_misses_are_counted_apart_from_accuracy(self) -> None:
        """Right primaries: hit and lock, of the four that are no near misses."""
        measures = measure(self.outcomes())
        assert measures.primary_subject_accuracy == Proportion(2, 4)

    def test_decision_precision_and_recall(self) -> None:
        measures = measure(self.outcomes())
        assert measures.decision_accuracy == Proportion(4, 6)
        # Suggested: hit (right), other (wrong subject), false (a near miss).
        assert measures.suggest_subject_precision == Proportion(1, 3)
        assert measures.suggest_subject_recall == Proportion(1, 3)
        assert measures.near_miss_false_positives == 1
        assert measures.near_misses == 2

    def test_metrics_have_the_known_four_first_and_a_bound_beside_every_proportion(self) -> None:
        metrics = measure(self.outcomes()).to_metrics()
        assert list(metrics)[:4] == [
            "decision_accuracy", "primary_subject_accuracy", "suggest_subject_precision", "near_miss_false_positives",
        ]  # fmt: skip
        for name in (
            "decision_accuracy",
            "primary_subject_accuracy",
            "suggest_subject_precision",
            "suggest_subject_recall",
        ):
            assert metrics[f"{name}_lower_bound"] < metrics[name]
            assert {"n", "ci_low", "ci_high"} <= set(metrics["bounds"][name])

    def test_accuracy_is_over_fixtures_that_name_a_primary(self) -> None:
        outcomes = run_fixtures([fixture("a", expected={"decision": "recommend"})], answering({"a": SUGGESTED}))
        assert measure(outcomes).primary_subject_accuracy.n == 0

    def test_a_router_that_raises_is_an_outcome_and_the_others_run(self) -> None:
        outcomes = run_fixtures([fixture("boom"), fixture("hit")], answering({"hit": SUGGESTED}))
        assert [outcome.passed for outcome in outcomes] == [False, True]
        assert "KeyError" in outcomes[0].error
        assert not outcomes[0].decision_right


class TestThresholds:
    def test_the_runner_asks_for_what_is_documented(self) -> None:
        assert RUNNER_THRESHOLDS.to_packet() == {
            "decision_accuracy": 0.90,
            "primary_subject_accuracy": 0.90,
            "suggest_subject_precision": 0.85,
            "near_miss_false_positives": 0,
        }

    def test_a_contract_may_tighten_the_gate_and_never_loosen_it(self) -> None:
        assert gate_thresholds().primary_subject_accuracy == 0.95
        assert gate_thresholds(RequiredMetrics(0.99, 0.97, 0)).primary_subject_accuracy == 0.99
        loose = gate_thresholds(RequiredMetrics(0.5, 0.5, 7))
        assert (loose.primary_subject_accuracy, loose.suggest_subject_precision) == (0.95, 0.95)
        assert loose.near_miss_false_positives == 0

    def test_an_empty_denominator_fails(self) -> None:
        results = {item.metric: item.outcome for item in check_thresholds(measure(()), RUNNER_THRESHOLDS)}
        assert results["suggest_subject_precision"] == "fail"
        assert results["near_miss_false_positives"] == "pass"

    def test_too_few_cases_say_how_many_are_missing(self) -> None:
        """35 passing cases reach a lower bound of 0.90; 59 near misses rule out a rate of 5 %."""
        few = enough_accuracy(Proportion(8, 8))
        assert (few.outcome, few.further_cases) == ("insufficient_evidence", 27)
        assert enough_accuracy(Proportion(35, 35)).outcome == "pass"
        near = enough_near_misses(31)
        assert (near.outcome, near.further_cases) == ("insufficient_evidence", 28)
        assert enough_near_misses(59).outcome == "pass"


class TestReport:
    def report(self, answers: Mapping[str, RefinementPacket], fixtures: list[Fixture], **options: Any) -> Any:
        pack = Pack("p", tuple(fixtures), arguments="p.jsonl")
        return build_report(run_fixtures(fixtures, answering(answers)), [pack], **options)

    def test_it_has_the_published_shape(self) -> None:
        packet = self.report({"a": SUGGESTED}, [fixture("a")]).to_packet()
        assert packet["schema_version"] == "1.0"
        assert packet["summary"] == {"total": 1, "passed": 1, "failed": 0}
        assert packet["failures"] == []

    def test_a_failure_shows_expected_actual_and_how_to_see_it_again(self) -> None:
        report = self.report({"a": CORE, "b": SUGGESTED}, [fixture("a"), fixture("b")])
        failure = next(item for item in report.failures if item.kind == "case")
        assert failure.expected["decision"] == "suggest_subject"
        assert failure.actual["decision"] == "no_subject"
        assert "decision: expected suggest_subject, got no_subject" in failure.message
        assert failure.reproduce == "qiongli evaluate --only a"

    def test_missed_thresholds_are_failures_of_the_evaluation(self) -> None:
        report = self.report({"a": CORE}, [fixture("a")])
        assert report.verdict == "fail"
        assert "primary_subject_accuracy" in {item.name for item in report.failures if item.kind == "threshold"}

    def test_single_failures_within_the_thresholds_pass(self) -> None:
        fixtures = [fixture(f"f{number:02}") for number in range(20)]
        answers = {item.name: SUGGESTED for item in fixtures} | {"f00": CORE}
        report = self.report(answers, fixtures)
        assert (report.verdict, report.summary.failed) == ("pass", 1)
        assert self.report(answers, fixtures, thresholds=None).verdict == "fail"

    def test_a_missing_case_fails_whatever_the_metrics_say(self) -> None:
        pack = Pack("p", (fixture("a"),), missing=("gone",))
        report = build_report(run_fixtures(pack.fixtures, answering({"a": SUGGESTED})), [pack])
        assert report.verdict == "fail"
        assert [item.message for item in report.failures] == ["case missing since the record: gone"]

    def test_the_order_of_the_fixtures_does_not_show(self) -> None:
        fixtures = [fixture("a"), fixture("b"), fixture("c", "near_miss", expected={"decision": "core_only"})]
        answers = {"a": SUGGESTED, "b": CORE, "c": CORE}
        forwards = self.report(answers, fixtures).to_packet()
        backwards = self.report(answers, fixtures[::-1]).to_packet()
        assert forwards == backwards

    def test_the_command_quotes_odd_names(self) -> None:
        assert (
            reproduce_command(fixture("a b"), "--subject finance") == "qiongli evaluate --subject finance --only 'a b'"
        )


@pytest.mark.parametrize("sentence", ["one always-failing case in a hard category is not outweighed"])
def test_results_by_category_are_kept(sentence: str) -> None:
    fixtures = [fixture(f"f{number:03}") for number in range(99)] + [
        fixture("lock", "locked_subject", expected={"decision": "keep_locked"})
    ]
    outcomes = run_fixtures(fixtures, answering({item.name: SUGGESTED for item in fixtures}))
    report = build_report(outcomes, [Pack("p", tuple(fixtures))])
    assert report.details["categories"]["locked_subject"]["failed"] == 1, sentence
    assert report.details["categories"]["clear_positive"]["passed"] == 99
