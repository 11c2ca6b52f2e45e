"""How installed subjects are listed: their states and the reasons for them."""

from __future__ import annotations

from typing import Final, Literal

import attrs

from qiongli.records._units import SCHEMA_VERSION, Record

ActivationStatus = Literal["candidate", "eval_ready", "runtime_enabled", "disabled"]
ACTIVATION_STATUSES: Final[tuple[ActivationStatus, ...]] = ("candidate", "eval_ready", "runtime_enabled", "disabled")

#: Effective state, from worst to best.
SubjectState = Literal["broken", "invalid", "inactive", "lens_only", "active"]
SUBJECT_STATES: Final[tuple[SubjectState, ...]] = ("broken", "invalid", "inactive", "lens_only", "active")


@attrs.frozen(repr=False)
class Reason(Record):
    """Why something is as it is, and what to do about it."""

    code: str
    message: str
    hint: str = ""


@attrs.frozen(repr=False)
class SubjectListing(Record):
    """One row of `qiongli subject list`; `subject` is null when not even a name could be read."""

    subject: str | None
    display_name: str
    distribution: str
    version: str
    location: str
    activation_status: str
    state: SubjectState
    reasons: tuple[Reason, ...] = ()


@attrs.frozen(repr=False)
class SubjectList(Record):
    """What `qiongli subject list --json` prints."""

    subjects: tuple[SubjectListing, ...] = ()
    schema_version: str = SCHEMA_VERSION
