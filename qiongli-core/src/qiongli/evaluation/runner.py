"""Running fixtures: calls the router for each, judges the answers, and sums them up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import attrs

from qiongli.errors import QiongliError
from qiongli.evaluation.fixtures import Fixture
from qiongli.evaluation.metrics import Proportion, confusion, f1, per_subject, proportion, zero_failure_bound
from qiongli.evaluation.outcomes import Outcome, failed_outcome, judge
from qiongli.records.packet import RefinementPacket
from qiongli.records.project import EvidenceMemory, ManifestState


class Infer(Protocol):
    """The router as the runner calls it."""

    def __call__(
        self, task_packet: Mapping[str, object] | str, *, manifest_state: ManifestState, memory: EvidenceMemory | None
    ) -> RefinementPacket:
        """Answer for one task."""
        ...


def run_fixture(fixture: Fixture, infer: Infer, *, forbidden: Iterable[str] = ()) -> Outcome:
    """The outcome of one fixture; an exception of the router is an outcome too, so that the others still run."""
    try:
        packet = infer(fixture.task_packet, manifest_state=fixture.manifest, memory=fixture.memory)
    except QiongliError as error:
        return failed_outcome(fixture, f"{error.code}: {error}")
    except Exception as error:  # a fault of the router must not hide the other cases
        return failed_outcome(fixture, f"{type(error).__name__}: {error}")
    return judge(fixture, packet, forbidden=forbidden)


def run_fixtures(
    fixtures: Iterable[Fixture], infer: Infer, *, forbidden: Mapping[str, tuple[str, ...]] | None = None
) -> tuple[Outcome, ...]:
    """Outcomes in the order of the fixtures; `forbidden` maps a pack's label to its contract's forbidden subjects."""
    forbidden = forbidden or {}
    return tuple(run_fixture(fixture, infer, forbidden=forbidden.get(fixture.pack, ())) for fixture in fixtures)


@attrs.frozen
class Measures:
    """The numbers of one run; near misses are counted apart from the accuracy of the primary subject."""

    decision_accuracy: Proportion
    primary_subject_accuracy: Proportion
    suggest_subject_precision: Proportion
    suggest_subject_recall: Proportion
    near_misses: int
    near_miss_false_positives: int
    core_only: int
    core_only_false_positives: int

    @property
    def proportions(self) -> dict[str, Proportion]:
        """The proportions by name, in the order of the report."""
        return {
            "decision_accuracy": self.decision_accuracy,
            "primary_subject_accuracy": self.primary_subject_accuracy,
            "suggest_subject_precision": self.suggest_subject_precision,
            "suggest_subject_recall": self.suggest_subject_recall,
        }

    def to_metrics(self) -> dict[str, Any]:
        """The metrics of a report: known names first, then recall, bounds and counts."""
        precision, recall = self.suggest_subject_precision.value, self.suggest_subject_recall.value
        metrics: dict[str, Any] = {
            "decision_accuracy": self.decision_accuracy.value,
            "primary_subject_accuracy": self.primary_subject_accuracy.value,
            "suggest_subject_precision": precision,
            "near_miss_false_positives": self.near_miss_false_positives,
            "suggest_subject_recall": recall,
            "suggest_subject_f1": f1(precision, recall),
            "near_misses": self.near_misses,
            "near_miss_false_positive_upper_bound": self.near_miss_bound,
            "core_only_false_positives": self.core_only_false_positives,
        }
        for name, value in self.proportions.items():
            metrics[f"{name}_lower_bound"] = value.low
        metrics["bounds"] = {name: value.to_packet() for name, value in self.proportions.items()}
        return metrics

    @property
    def near_miss_bound(self) -> float:
        """The rate of false positives that the near misses leave possible at 95 %."""
        if self.near_miss_false_positives == 0:
            return round(zero_failure_bound(self.near_misses), 6)
        return Proportion(self.near_miss_false_positives, self.near_misses).high


def measure(outcomes: Sequence[Outcome]) -> Measures:
    """Sum up outcomes."""
    near = [outcome for outcome in outcomes if outcome.fixture.near_miss]
    others = [outcome for outcome in outcomes if not outcome.fixture.near_miss]
    core_only = [outcome for outcome in others if outcome.fixture.expected.decision == "no_subject"]
    return Measures(
        decision_accuracy=proportion(outcome.decision_right for outcome in outcomes),
        primary_subject_accuracy=proportion(
            outcome.primary_right for outcome in others if outcome.fixture.expected.primary_subject is not None
        ),
        suggest_subject_precision=proportion(
            outcome.suggestion_right for outcome in outcomes if outcome.decision == "suggest_subject"
        ),
        suggest_subject_recall=proportion(
            outcome.suggestion_right for outcome in outcomes if outcome.fixture.expected.decision == "suggest_subject"
        ),
        near_misses=len(near),
        near_miss_false_positives=sum(outcome.false_positive for outcome in near),
        core_only=len(core_only),
        core_only_false_positives=sum(outcome.false_positive for outcome in core_only),
    )


def breakdown(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Results by category, tag and pack, and the confusion of subjects."""
    table = confusion(
        (outcome.fixture.expected.primary_subject, outcome.primary)
        for outcome in outcomes
        if outcome.fixture.expected.primary_subject is not None
    )
    decisions = confusion((outcome.fixture.expected.decision, outcome.decision) for outcome in outcomes)
    return {
        "categories": _grouped((outcome.fixture.category or "none", outcome.passed) for outcome in outcomes),
        "tags": _grouped((tag, outcome.passed) for outcome in outcomes for tag in outcome.fixture.tags),
        "packs": _grouped((outcome.fixture.pack, outcome.passed) for outcome in outcomes),
        "confusion": table,
        "decision_confusion": decisions,
        "subjects": per_subject(table),
    }


def _grouped(pairs: Iterable[tuple[str, bool]]) -> dict[str, dict[str, Any]]:
    groups: dict[str, list[bool]] = {}
    for name, passed in pairs:
        groups.setdefault(name, []).append(passed)
    found: dict[str, dict[str, Any]] = {}
    for name in sorted(groups):
        share = proportion(groups[name])
        found[name] = {"total": share.n, "passed": share.successes, "failed": share.n - share.successes}
        found[name] |= {"pass_rate": share.value, "ci_low": share.low, "ci_high": share.high}
    return found
