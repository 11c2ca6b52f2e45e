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

    #: Fixtures that ran.
    total: int
    #: Those whose outcome is what they expect.
    passed: int
    #: The others.
    failed: int


@attrs.frozen
class EvaluationFailure(Record):
    """One fixture whose outcome is not what it expects, or one threshold that was missed.

    `kind` is `case`, `threshold`, `fixture_error` (a fixture that cannot be read), `case_missing` (a fixture that the
    activation record knows and the pack lacks) or `metamorphic`.
    """

    #: Name of the fixture or of the metric, or the place of a fixture that cannot be read.
    name: str
    #: What failed; see above.
    kind: str
    #: What is wrong, in words.
    message: str
    #: The fields that were expected; for a threshold its metric and the least value.
    expected: dict[str, Any] = attrs.field(factory=dict)
    #: The same fields as they are.
    actual: dict[str, Any] = attrs.field(factory=dict)
    #: What decided: one line for each piece of evidence of the subjects concerned.
    evidence: tuple[str, ...] = ()
    #: The command line that runs the fixture alone; empty where there is none.
    reproduce: str = ""


@attrs.frozen
class CaseResult(Record):
    """The outcome of one fixture; `problems` names every field that differs from what is expected."""

    #: Name of the fixture.
    name: str
    #: Label of the pack that it belongs to.
    pack: str
    #: Its category, such as `near_miss`; empty when it names none.
    category: str
    #: Its tags, as written.
    tags: tuple[str, ...]
    #: Its description, as written.
    description: str
    #: Whether its outcome is what it expects.
    passed: bool
    #: What it expects of the packet, field by field.
    expected: dict[str, Any]
    #: The same fields of the packet that the router made.
    actual: dict[str, Any]
    #: One line for each field that differs.
    problems: tuple[str, ...] = ()
    #: What decided: one line for each piece of evidence of the subjects concerned.
    evidence: tuple[str, ...] = ()
    #: Score of the primary subject, 0 to 1; 0 without one.
    confidence: Ppm = ppm_field(default=Ppm(0))


@attrs.frozen
class EvaluationReport(Record):
    """What `qiongli evaluate --json` prints; the four metrics that every consumer knows come first in `metrics`."""

    #: How many fixtures ran, passed and failed.
    summary: EvaluationSummary
    #: Measures by name: shares from 0 to 1, their 95 % bounds, and counts; null where nothing could be counted.
    metrics: dict[str, Any]
    #: Every fixture that failed, threshold that was missed, and fault of a pack.
    failures: tuple[EvaluationFailure, ...] = ()
    #: Every fixture that ran, by pack and name.
    cases: tuple[CaseResult, ...] = ()
    #: Everything else that was measured: thresholds, packs, strength and coverage of a subject's own pack.
    details: dict[str, Any] = attrs.field(factory=dict)
    #: The answer: exit code 0 for `pass` and 1 for anything else.
    verdict: EvaluationVerdict = "pass"
    #: Version of this structure, `major.minor`; fields may be added within a major version.
    schema_version: str = SCHEMA_VERSION


@attrs.frozen
class CorpusError(Record):
    """One row of labelled text that the router answered otherwise than its label says."""

    #: Id of the row, as the corpus gives it.
    id: str
    #: Its label: a subject's slug, or `none` for no subject.
    label: str
    #: The subject that was suggested, or `auto`.
    predicted: str
    #: Why: the first that holds, such as `false_positive`, `rival`, `one_dimension` or `below_threshold`.
    cause: str
    #: Score of what was suggested, 0 to 1; 0 without a suggestion.
    confidence: Ppm = ppm_field(default=Ppm(0))
    #: The beginning of the row's title.
    title: str = ""
    #: What spoke for what was suggested: one line for each piece of evidence.
    evidence: tuple[str, ...] = ()


@attrs.frozen
class CorpusReport(Record):
    """What `qiongli evaluate --corpus FILE --json` prints; `run` alone differs between two runs on the same input."""

    #: Labelled rows that were read.
    rows: int
    #: Rows that could not be read, by reason.
    skipped: dict[str, int]
    #: Measures over all rows by name: shares from 0 to 1, with their 95 % bounds, and counts.
    metrics: dict[str, Any]
    #: One line a label or predicted subject: recall, precision, F1, with bounds.
    subjects: dict[str, dict[str, Any]]
    #: Label to predicted subject to count; `auto` is no suggestion.
    confusion: dict[str, dict[str, int]]
    #: How often each decision was made.
    decisions: dict[str, int]
    #: Bins of confidence with the share of right answers in each.
    reliability: tuple[dict[str, Any], ...]
    #: Why labelled rows got no, or another, subject: cause to count, by label.
    causes: dict[str, dict[str, int]]
    #: Wrong answers by kind, false positives first, the most confident of each; not all of them.
    errors: tuple[CorpusError, ...] = ()
    #: The same metrics for parts of the corpus: by file, kind, language and flag.
    slices: dict[str, dict[str, Any]] = attrs.field(factory=dict)
    #: The files that were read: `file`, its name, and `bytes`, its size.
    inputs: tuple[dict[str, Any], ...] = ()
    #: Facts of this run alone, such as the seconds that it took and the processes that shared it.
    run: dict[str, Any] = attrs.field(factory=dict)
    #: Version of this structure, `major.minor`; fields may be added within a major version.
    schema_version: str = SCHEMA_VERSION
