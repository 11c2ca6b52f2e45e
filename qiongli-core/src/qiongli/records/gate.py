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

    name: str
    outcome: CheckOutcome
    message: str = ""
    hint: str = ""
    #: Names of the fixtures, signals or files that the outcome rests on.
    details: tuple[str, ...] = ()


@attrs.frozen(repr=False)
class GateReport(Record):
    """What `qiongli gate check SUBJECT --json` prints."""

    subject: str
    #: Declared status, or `unavailable` when no such subject is installed.
    activation_status: str
    eligible_for_runtime_enabled: bool
    metrics: dict[str, Any]
    blocking_failures: tuple[str, ...]
    verdict: Verdict
    checks: tuple[GateCheck, ...] = ()
    gate: str = "runtime-enabled"
    schema_version: str = SCHEMA_VERSION


@attrs.frozen(repr=False)
class ActivationRecord(Record):
    """The content of `activation.json`, written by `qiongli gate promote` and never by hand."""

    subject: str
    distribution: str
    version: str
    #: SHA-256 over the sorted list of all package files but the record and bytecode.
    content_digest: str
    core_version: str
    policy_version: int
    metrics: dict[str, Any]
    thresholds: dict[str, Any]
    counts: dict[str, int]
    #: Slug and content digest of each subject that the measurement ran beside.
    peers: dict[str, str]
    #: Names of all fixtures, sorted: a case missing since the record is noticed.
    cases: tuple[str, ...]
    #: SHA-256 of every file that the content digest covers, to say what was changed; the content digest decides.
    files: dict[str, str] = attrs.field(factory=dict)
    schema_version: str = SCHEMA_VERSION
