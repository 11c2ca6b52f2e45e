"""The report of the evaluation runner."""

from __future__ import annotations

from typing import Any

import attrs

from qiongli.records._units import SCHEMA_VERSION, Record


@attrs.frozen
class EvaluationSummary(Record):
    """How many fixtures ran, passed and failed."""

    total: int
    passed: int
    failed: int


@attrs.frozen
class EvaluationFailure(Record):
    """One fixture whose outcome is not what it expects, or one threshold that was missed."""

    name: str
    kind: str
    message: str
    expected: dict[str, Any] = attrs.field(factory=dict)
    actual: dict[str, Any] = attrs.field(factory=dict)
    evidence: tuple[str, ...] = ()
    reproduce: str = ""


@attrs.frozen
class EvaluationReport(Record):
    """What `qiongli evaluate --json` prints; the seed's four metrics come first in `metrics`."""

    summary: EvaluationSummary
    metrics: dict[str, Any]
    failures: tuple[EvaluationFailure, ...] = ()
    cases: tuple[dict[str, Any], ...] = ()
    details: dict[str, Any] = attrs.field(factory=dict)
    schema_version: str = SCHEMA_VERSION
