"""The packets that describe a project's state and what an action did to it.

They are apart from the state itself because routing a task needs that one and none of these.
"""

from __future__ import annotations

from typing import Literal

import attrs

from qiongli.records._units import Ppm, Record, ppm_field
from qiongli.records.project import PromotionStatus, Strictness, SubjectMode

ActionStatus = Literal["applied", "unchanged", "dry_run", "proposed"]


@attrs.frozen(repr=False)
class SuggestionStatus(Record):
    """One subject's line in a status packet."""

    subject: str
    suggestion_count: int
    last_confidence: Ppm = ppm_field()
    last_decision: str = "suggest_subject"
    promotion_status: PromotionStatus = "none"


@attrs.frozen(repr=False)
class LatestRefinement(Record):
    """The last recorded run."""

    run_id: str
    decision: str
    primary_subject: str
    confidence: Ppm = ppm_field()


@attrs.frozen(repr=False)
class StatusPacket(Record):
    """What `qiongli subject status --json` prints."""

    schema_version: str
    active_subject: str
    subject_mode: SubjectMode
    secondary_subjects: tuple[str, ...]
    venue_profiles: tuple[str, ...]
    method_lenses: tuple[str, ...]
    strictness: Strictness
    suggestions: tuple[SuggestionStatus, ...]
    dismissed_subjects: tuple[str, ...]
    locked: bool
    latest_refinement: LatestRefinement | None
    #: State of the managed guidance block: `none`, `current`, `stale` or `broken`.
    guidance: str
    #: Number of the state that this packet describes; a writer may demand that it is still the same.
    revision: int
    warnings: tuple[str, ...]
    #: Digest of everything that the packet describes; unlike the revision it also notices edits by hand.
    state_digest: str = ""


@attrs.frozen(repr=False)
class ActionPacket(Record):
    """What `qiongli subject confirm --json` and its siblings print."""

    schema_version: str
    action: str
    subject: str | None
    changed: bool
    before: StatusPacket
    after: StatusPacket
    warnings: tuple[str, ...] = ()
    #: Set when the action was only proposed (`--propose`): the id to give to `qiongli apply`.
    proposal: str | None = None
    #: `applied`, `unchanged` (nothing to do, nothing written), `dry_run` or `proposed`.
    status: ActionStatus = "applied"
    #: The command line that does the same to the folder that was named, for a person to run.
    command: str = ""
    #: What was done, where the action's name does not say it, as what was undone; nothing to worry about.
    notes: tuple[str, ...] = ()
