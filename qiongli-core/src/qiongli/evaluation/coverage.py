"""Which signals of a contract a pack exercises: each needs a case that it speaks in, and one in which it must not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from qiongli.contract.models import SubjectContract
from qiongli.evaluation.documents import ReadFixture


@attrs.frozen
class SignalCoverage:
    """How many positive cases assert a signal, and how many near misses touch it in whatever sense."""

    signal_id: str
    positives: int
    near_misses: int

    @property
    def covered(self) -> bool:
        """Whether both kinds of case touch the signal."""
        return self.positives > 0 and self.near_misses > 0


def signal_coverage(cases: Sequence[ReadFixture], contract: SubjectContract) -> tuple[SignalCoverage, ...]:
    """The coverage of every signal, in the order of the contract."""
    positives = [
        case for case in cases if not case.fixture.near_miss and case.fixture.expected.decision != "no_subject"
    ]
    near_misses = [case for case in cases if case.fixture.near_miss]
    return tuple(
        SignalCoverage(
            signal.id,
            sum(case.asserts(signal.id) for case in positives),
            sum(case.touches(signal.id) for case in near_misses),
        )
        for signal in contract.signals
    )


def coverage_packet(coverage: Sequence[SignalCoverage]) -> dict[str, Any]:
    """The table, and the signals that lack a case of either kind, ready for JSON."""
    return {
        "signals": len(coverage),
        "covered": sum(row.covered for row in coverage),
        "without_positive": [row.signal_id for row in coverage if not row.positives],
        "without_near_miss": [row.signal_id for row in coverage if not row.near_misses],
        "table": [
            {"signal": row.signal_id, "positives": row.positives, "near_misses": row.near_misses} for row in coverage
        ],
    }
