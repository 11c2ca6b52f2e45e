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

    #: Slug of the subject.
    subject: str
    #: For how many different tasks it was suggested and recorded, from 0.
    suggestion_count: int
    #: Its score at the last of them, 0 to 1.
    last_confidence: Ppm = ppm_field()
    #: The decision of the last of them.
    last_decision: str = "suggest_subject"
    #: Whether that often is enough to recommend confirming it; `suppressed` after the user turned it down.
    promotion_status: PromotionStatus = "none"


@attrs.frozen(repr=False)
class LatestRefinement(Record):
    """The last recorded run."""

    #: Id of the run in the project's trace.
    run_id: str
    #: The decision of the packet.
    decision: str
    #: Slug of the primary subject, or `auto`.
    primary_subject: str
    #: Score of the primary subject, 0 to 1; 0 without one.
    confidence: Ppm = ppm_field()


@attrs.frozen(repr=False)
class StatusPacket(Record):
    """What `qiongli subject status --json` prints."""

    #: Version of this structure, `major.minor`; fields may be added within a major version.
    schema_version: str
    #: Slug of the project's subject; `auto` while it is left to the router.
    active_subject: str
    #: Who decides about the subject: the router (`auto`), or the user, who may have locked it.
    subject_mode: SubjectMode
    #: Neighbours that the user named; never the primary subject.
    secondary_subjects: tuple[str, ...]
    #: Venues that every task of the project takes into its plan.
    venue_profiles: tuple[str, ...]
    #: Method lenses that every task of the project takes into its plan, as `subject/lens` or `lens`.
    method_lenses: tuple[str, ...]
    #: `strict` asks for higher scores before a subject is suggested or a lens lent.
    strictness: Strictness
    #: What was suggested so far, one line for each subject.
    suggestions: tuple[SuggestionStatus, ...]
    #: Subjects that the user turned down, sorted.
    dismissed_subjects: tuple[str, ...]
    #: Whether the project is locked: no other subject can be confirmed until it is unlocked.
    locked: bool
    #: The last run that was recorded; null when there is none.
    latest_refinement: LatestRefinement | None
    #: State of the managed guidance block: `none`, `current`, `stale` or `broken`.
    guidance: str
    #: Number of the state that this packet describes; a writer may demand that it is still the same.
    revision: int
    #: What the user should know, such as a malformed file that was kept aside.
    warnings: tuple[str, ...]
    #: Digest of everything that the packet describes; unlike the revision it also notices edits by hand.
    state_digest: str = ""


@attrs.frozen(repr=False)
class ActionPacket(Record):
    """What `qiongli subject confirm --json` and its siblings print."""

    #: Version of this structure, `major.minor`; fields may be added within a major version.
    schema_version: str
    #: What was asked for, such as `confirm`, `lock`, `set` or `undo`.
    action: str
    #: Slug of the subject that the action is about; null for an action without one.
    subject: str | None
    #: Whether anything of the project changed.
    changed: bool
    #: The project's state before the action.
    before: StatusPacket
    #: The state after it, or the one that it would lead to.
    after: StatusPacket
    #: What the user should know of the result.
    warnings: tuple[str, ...] = ()
    #: Set when the action was only proposed (`--propose`): the id to give to `qiongli apply`.
    proposal: str | None = None
    #: `applied`, `unchanged` (nothing to do, nothing written), `dry_run` or `proposed`.
    status: ActionStatus = "applied"
    #: The command line that does the same to the folder that was named, for a person to run.
    command: str = ""
    #: What was done, where the action's name does not say it, as what was undone; nothing to worry about.
    notes: tuple[str, ...] = ()
