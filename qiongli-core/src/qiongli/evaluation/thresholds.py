"""What is asked of a run: the runner's thresholds, the gate's floors, and the verdict between yes, no and too few."""

from __future__ import annotations

from typing import Any, Final, Literal

import attrs

from qiongli.contract.models import RequiredMetrics
from qiongli.evaluation.metrics import Proportion, cases_for_zero_failures, further_passing_cases
from qiongli.evaluation.runner import Measures

#: Wilson 95 % lower bound that the accuracy of the primary subject must reach at the gate.
REQUIRED_LOWER_BOUND: Final = 0.90

#: Rate of false positives that the near misses of a pack must be able to rule out, one-sided at 95 %.
EXCLUDED_FALSE_POSITIVE_RATE: Final = 0.05

#: Near misses without a false positive that it takes to say so.
REQUIRED_NEAR_MISSES: Final = cases_for_zero_failures(EXCLUDED_FALSE_POSITIVE_RATE)

#: Smallest share of mutants that fixtures and executed examples must notice at the gate.
REQUIRED_MUTATION_SCORE: Final = 0.80

ThresholdOutcome = Literal["pass", "fail", "insufficient_evidence"]


@attrs.frozen
class Thresholds:
    """Smallest proportions and largest counts; None is not asked for."""

    decision_accuracy: float | None = 0.90
    primary_subject_accuracy: float | None = 0.90
    suggest_subject_precision: float | None = 0.85
    near_miss_false_positives: int | None = 0

    def to_packet(self) -> dict[str, Any]:
        """Those that are asked for, by name."""
        return {name: value for name, value in attrs.asdict(self).items() if value is not None}


#: What `qiongli evaluate` asks without a gate.
RUNNER_THRESHOLDS: Final = Thresholds()


def gate_thresholds(required: RequiredMetrics = RequiredMetrics()) -> Thresholds:  # noqa: B008  # frozen
    """What the gate asks of a subject: its contract's metrics, never less than the floors."""
    floor = RequiredMetrics()
    return Thresholds(
        decision_accuracy=None,
        primary_subject_accuracy=max(floor.primary_subject_accuracy, required.primary_subject_accuracy),
        suggest_subject_precision=max(floor.suggest_subject_precision, required.suggest_subject_precision),
        near_miss_false_positives=min(floor.near_miss_false_positives, required.near_miss_false_positives),
    )


@attrs.frozen
class ThresholdResult:
    """One threshold against what was measured."""

    metric: str
    outcome: ThresholdOutcome
    message: str
    required: float
    actual: float
    #: Further cases, all passing, that would settle it.
    further_cases: int = 0


def check_thresholds(measures: Measures, thresholds: Thresholds) -> tuple[ThresholdResult, ...]:
    """Every threshold with its outcome, in the order of the report."""
    results = []
    for metric, required in thresholds.to_packet().items():
        if metric == "near_miss_false_positives":
            results.append(_false_positives(measures, required))
        else:
            results.append(_share(metric, measures.proportions[metric], required))
    return tuple(results)


def _share(metric: str, share: Proportion, required: float) -> ThresholdResult:
    if share.n == 0:
        message = f"{metric} has no case to be measured on"
        return ThresholdResult(metric, "fail", message, required, share.value, further_cases=1)
    passed = share.reaches(required)
    relation = "reaches" if passed else "is below"
    bounds = f"{share.successes} of {share.n}; 95 % bounds {share.low:.3f} to {share.high:.3f}"
    message = f"{metric} {share.value:.3f} {relation} {required:g} ({bounds})"
    return ThresholdResult(metric, "pass" if passed else "fail", message, required, share.value)


def _false_positives(measures: Measures, required: int) -> ThresholdResult:
    found = measures.near_miss_false_positives
    passed = found <= required
    message = (
        f"{found} of {measures.near_misses} near misses are false positives"
        f" (at most {required} allowed; 95 % upper bound of the rate {measures.near_miss_bound:.3f})"
    )
    outcome: ThresholdOutcome = "pass" if passed else "fail"
    return ThresholdResult("near_miss_false_positives", outcome, message, required, found)


def enough_accuracy(share: Proportion, bound: float = REQUIRED_LOWER_BOUND) -> ThresholdResult:
    """Whether the cases are many enough to say that the accuracy is what it seems."""
    further = further_passing_cases(share.successes, share.n, bound)
    message = (
        f"the 95 % lower bound of primary_subject_accuracy is {share.low:.3f} over {share.n} cases; {bound:g} is needed"
    )
    if further == 0:
        return ThresholdResult("primary_subject_accuracy_lower_bound", "pass", message, bound, share.low)
    message += f": {further} further cases, all passing, would do"
    return ThresholdResult(
        "primary_subject_accuracy_lower_bound", "insufficient_evidence", message, bound, share.low, further
    )


def enough_near_misses(count: int, required: int = REQUIRED_NEAR_MISSES) -> ThresholdResult:
    """Whether the near misses are many enough to rule out too high a rate of false positives."""
    further = max(0, required - count)
    outcome: ThresholdOutcome = "insufficient_evidence" if further else "pass"
    message = f"{count} near misses that count; {required} are needed to rule out a false-positive rate above "
    message += f"{EXCLUDED_FALSE_POSITIVE_RATE:.0%}"
    if further:
        message += f": {further} further ones are missing"
    return ThresholdResult("near_misses", outcome, message, required, count, further)
