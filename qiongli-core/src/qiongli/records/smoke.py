"""The report of the runtime smoke."""

from __future__ import annotations

from typing import Literal

import attrs

from qiongli.records._units import SCHEMA_VERSION, Record
from qiongli.records.task import AgentOutcome


@attrs.frozen
class SmokeCaseResult(Record):
    """What the server answered to one case; `failures` say what was expected instead, and are empty when it passed."""

    #: Name of the case.
    name: str
    #: What it is a case of, such as a near miss or a locked project.
    category: str
    #: Whether the server answered as expected.
    passed: bool
    #: The decision that it answered.
    decision: str
    #: The primary subject that it answered, or `auto`.
    primary_subject: str
    #: What was expected instead; empty when it passed.
    failures: tuple[str, ...] = ()


@attrs.frozen
class SmokeReport(Record):
    """What `qiongli smoke --json` prints."""

    #: `preview` asks the server only; `local-agent` starts a real agent, with the user's flag and setting.
    mode: Literal["preview", "local-agent"]
    #: Whether all cases passed, and nothing else went wrong.
    passed: bool
    #: Cases that ran.
    total: int
    #: Those that did not pass.
    failed: int
    #: Every case, in its fixed order.
    cases: tuple[SmokeCaseResult, ...]
    #: Every attempt of the server to start a process, as the name of the audit event; each one is a failure.
    spawned: tuple[str, ...] = ()
    #: What went wrong beside the cases: with the protocol, or with the end of the server.
    problems: tuple[str, ...] = ()
    #: What became of the agent in the mode `local-agent`.
    agent: AgentOutcome | None = None
    #: Version of this structure, `major.minor`; fields may be added within a major version.
    schema_version: str = SCHEMA_VERSION
