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

    #: What it is, as a stable snake_case word.
    code: str
    #: The same for a person; it may be worded anew.
    message: str
    #: The next command or step; empty where there is none.
    hint: str = ""


@attrs.frozen(repr=False)
class SubjectListing(Record):
    """One row of `qiongli subject list`; `subject` is null when not even a name could be read."""

    #: Slug of the subject; null when not even a name could be read.
    subject: str | None
    #: Its name for people; the slug when the contract cannot be read.
    display_name: str
    #: Distribution that ships it.
    distribution: str
    #: Version of that distribution.
    version: str
    #: Folder of the subject's package on this machine, or of the metadata when that is all there is.
    location: str
    #: The status that its contract declares; it grants nothing by itself.
    activation_status: str
    #: The state that it really has here, after the gate and the local policy.
    state: SubjectState
    #: One for each step that lowered it; empty for an active subject.
    reasons: tuple[Reason, ...] = ()


@attrs.frozen(repr=False)
class SubjectList(Record):
    """What `qiongli subject list --json` prints."""

    #: Every installed subject, the unreadable ones too.
    subjects: tuple[SubjectListing, ...] = ()
    #: Version of this structure, `major.minor`; fields may be added within a major version.
    schema_version: str = SCHEMA_VERSION
