"""The report of the activation gate, and the record that a promotion writes."""

from __future__ import annotations

from typing import Any, Literal

import attrs

from qiongli.records._units import SCHEMA_VERSION, Record

Verdict = Literal["pass", "fail", "insufficient_evidence"]
CheckOutcome = Literal["pass", "fail", "not_checked", "insufficient_evidence"]


@attrs.frozen(repr=False)
class GateCheck(Record):
    """The outcome of one check of the gate; `not_checked` counts as a failure."""

    #: Name of the check, such as `contract` or `near_misses`.
    name: str
    #: What it found; `not_checked` counts as a failure.
    outcome: CheckOutcome
    #: The finding in one sentence.
    message: str = ""
    #: The next step when it did not pass.
    hint: str = ""
    #: Names of the fixtures, signals or files that the outcome rests on.
    details: tuple[str, ...] = ()


@attrs.frozen(repr=False)
class GateReport(Record):
    """What `qiongli gate check SUBJECT --json` prints."""

    #: Slug of the subject under test.
    subject: str
    #: Declared status, or `unavailable` when no such subject is installed.
    activation_status: str
    #: Whether every check passed, so that the subject may be promoted.
    eligible_for_runtime_enabled: bool
    #: What was measured, by name; shares are numbers from 0 to 1, null where nothing could be measured.
    metrics: dict[str, Any]
    #: One sentence for each check that stands in the way.
    blocking_failures: tuple[str, ...]
    #: The whole: `insufficient_evidence` when nothing is wrong and there are too few cases to say so.
    verdict: Verdict
    #: Every check of the gate, in the order in which they ran; none is left out after a failure.
    checks: tuple[GateCheck, ...] = ()
    #: Name of the gate.
    gate: str = "runtime-enabled"
    #: Version of this structure, `major.minor`; fields may be added within a major version.
    schema_version: str = SCHEMA_VERSION


@attrs.frozen(repr=False)
class ActivationRecord(Record):
    """The content of `activation.json`, written by `qiongli gate promote` and never by hand."""

    #: Slug of the subject that was promoted.
    subject: str
    #: Distribution that ships the subject.
    distribution: str
    #: Its version when it was measured.
    version: str
    #: SHA-256 over the sorted list of all package files but the record and bytecode.
    content_digest: str
    #: Version of core that measured it.
    core_version: str
    #: Number of the gate's rules that it was measured by.
    policy_version: int
    #: What was measured, as in the gate's report.
    metrics: dict[str, Any]
    #: What was asked for, by the name of the metric.
    thresholds: dict[str, Any]
    #: How much was measured: fixtures, near misses, signals, mutants and the like, by name.
    counts: dict[str, int]
    #: Slug and content digest of each subject that the measurement ran beside.
    peers: dict[str, str]
    #: Names of all fixtures, sorted: a case missing since the record is noticed.
    cases: tuple[str, ...]
    #: SHA-256 of every file that the content digest covers, to say what was changed; the content digest decides.
    files: dict[str, str] = attrs.field(factory=dict)
    #: Version of this structure, `major.minor`; fields may be added within a major version.
    schema_version: str = SCHEMA_VERSION
