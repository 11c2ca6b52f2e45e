"""The reports of the evaluation runner: curated fixtures, and labelled real text."""

from __future__ import annotations

from typing import Any, Literal

import attrs

from qiongli.records._units import SCHEMA_VERSION, Ppm, Record, ppm_field

#: `pass`: every threshold is met. `insufficient_evidence`: nothing is wrong, and there are too few cases to say so.
EvaluationVerdict = Literal["pass", "fail", "insufficient_evidence"]


@attrs.frozen
class EvaluationSummary(Record):
    """How many fixtures ran, passed and failed."""

    total: int
    passed: int
    failed: int


@attrs.frozen
class EvaluationFailure(Record):
    """One fixture whose outcome is not what it expects, or one threshold that was missed.

    `kind` is `case`, `threshold`, `fixture_error` (a fixture that cannot be read), `case_missing` (a fixture that the
    activation record knows and the pack lacks) or `metamorphic`.
    """

    name: str
    kind: str
    message: str
    expected: dict[str, Any] = attrs.field(factory=dict)
    actual: dict[str, Any] = attrs.field(factory=dict)
    evidence: tuple[str, ...] = ()
    reproduce: str = ""


@attrs.frozen
class CaseResult(Record):
    """The outcome of one fixture; `problems` names every field that differs from what is expected."""

    name: str
    pack: str
    category: str
    tags: tuple[str, ...]
    description: str
    passed: bool
    expected: dict[str, Any]
    actual: dict[str, Any]
    problems: tuple[str, ...] = ()
    #: What decided: one line for each piece of evidence of the subjects concerned.
    evidence: tuple[str, ...] = ()
    confidence: Ppm = ppm_field(default=Ppm(0))


@attrs.frozen
class EvaluationReport(Record):
    """What `qiongli evaluate --json` prints; the four metrics that every consumer knows come first in `metrics`."""

    summary: EvaluationSummary
    metrics: dict[str, Any]
    failures: tuple[EvaluationFailure, ...] = ()
    cases: tuple[CaseResult, ...] = ()
    details: dict[str, Any] = attrs.field(factory=dict)
    verdict: EvaluationVerdict = "pass"
    schema_version: str = SCHEMA_VERSION


@attrs.frozen
class CorpusError(Record):
    """One row of labelled text that the router answered otherwise than its label says."""

    id: str
    label: str
    predicted: str
    cause: str
    confidence: Ppm = ppm_field(default=Ppm(0))
    title: str = ""
    evidence: tuple[str, ...] = ()


@attrs.frozen
class CorpusReport(Record):
    """What `qiongli evaluate --corpus FILE --json` prints; `run` alone differs between two runs on the same input."""

    rows: int
    #: Rows that could not be read, by reason.
    skipped: dict[str, int]
    metrics: dict[str, Any]
    #: One line a label or predicted subject: recall, precision, F1, with bounds.
    subjects: dict[str, dict[str, Any]]
    #: Label to predicted subject to count; `auto` is no suggestion.
    confusion: dict[str, dict[str, int]]
    decisions: dict[str, int]
    #: Bins of confidence with the share of right answers in each.
    reliability: tuple[dict[str, Any], ...]
    #: Why labelled rows got no, or another, subject: cause to count, by label.
    causes: dict[str, dict[str, int]]
    errors: tuple[CorpusError, ...] = ()
    #: The same metrics for parts of the corpus: by file, kind, language and flag.
    slices: dict[str, dict[str, Any]] = attrs.field(factory=dict)
    inputs: tuple[dict[str, Any], ...] = ()
    run: dict[str, Any] = attrs.field(factory=dict)
    schema_version: str = SCHEMA_VERSION
