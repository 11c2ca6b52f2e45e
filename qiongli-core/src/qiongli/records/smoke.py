"""The report of the runtime smoke."""

from __future__ import annotations

from typing import Literal

import attrs

from qiongli.records._units import SCHEMA_VERSION, Record
from qiongli.records.task import AgentOutcome


@attrs.frozen
class SmokeCaseResult(Record):
    """What the server answered to one case; `failures` say what was expected instead, and are empty when it passed."""

    name: str
    category: str
    passed: bool
    decision: str
    primary_subject: str
    failures: tuple[str, ...] = ()


@attrs.frozen
class SmokeReport(Record):
    """What `qiongli smoke --json` prints."""

    mode: Literal["preview", "local-agent"]
    passed: bool
    total: int
    failed: int
    cases: tuple[SmokeCaseResult, ...]
    #: Every attempt of the server to start a process, as the name of the audit event; each one is a failure.
    spawned: tuple[str, ...] = ()
    #: What went wrong beside the cases: with the protocol, or with the end of the server.
    problems: tuple[str, ...] = ()
    #: What became of the agent in the mode `local-agent`.
    agent: AgentOutcome | None = None
    schema_version: str = SCHEMA_VERSION
