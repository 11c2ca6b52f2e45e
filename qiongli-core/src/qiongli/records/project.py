"""The state of a project: its manifest and its evidence memory."""

from __future__ import annotations

from typing import Final, Literal

import attrs

from qiongli.records._units import SCHEMA_VERSION, Ppm, Record, ppm_field

SubjectMode = Literal["auto", "confirmed", "locked"]
SUBJECT_MODES: Final[tuple[SubjectMode, ...]] = ("auto", "confirmed", "locked")

Strictness = Literal["standard", "strict"]
STRICTNESSES: Final[tuple[Strictness, ...]] = ("standard", "strict")

Action = Literal["confirm", "dismiss", "reset", "lock", "unlock"]
ACTIONS: Final[tuple[Action, ...]] = ("confirm", "dismiss", "reset", "lock", "unlock")

PromotionStatus = Literal["none", "recommend_confirmation", "suppressed"]

#: The active subject of a project whose subject is left to the router.
AUTO: Final = "auto"


@attrs.frozen(repr=False)
class ManifestState(Record):
    """What `.qiongli/guidance_manifest.yaml` says of the project's subject."""

    #: Slug of the project's subject; `auto` while it is left to the router.
    active_subject: str = AUTO
    #: Who decides about the subject: the router (`auto`), or the user, who may have locked it.
    subject_mode: SubjectMode = "auto"
    #: Neighbours that the user named; never the primary subject.
    secondary_subjects: tuple[str, ...] = ()
    #: Venues that every task takes into its plan.
    venue_profiles: tuple[str, ...] = ()
    #: Method lenses that every task takes into its plan, as `subject/lens` or `lens`.
    method_lenses: tuple[str, ...] = ()
    #: `strict` asks for higher scores before a subject is suggested or a lens lent.
    strictness: Strictness = "standard"


@attrs.frozen(repr=False)
class Dismissal(Record):
    """How often and when the user turned a subject down."""

    #: How often the user turned it down, from 1.
    dismissal_count: int = 1
    #: Id of the run that the user last turned down; empty when it was not recorded.
    last_dismissed_run_id: str = ""
    #: The subject's suggestion count at the time: only more suggestions than that prompt again.
    last_suggestion_count: int = 0


@attrs.frozen(repr=False)
class SuggestionMemory(Record):
    """How often a subject was suggested for distinct tasks."""

    #: For how many different tasks it was suggested and recorded, from 0.
    suggestion_count: int = 0
    #: Its score at the last of them, 0 to 1.
    last_confidence: Ppm = ppm_field(default=Ppm(0))
    #: The decision of the last of them.
    last_decision: str = "suggest_subject"
    #: Id of the last run that suggested it.
    last_run_id: str = ""
    #: Fingerprints of the tasks already counted, oldest first.
    fingerprints: tuple[str, ...] = ()


@attrs.frozen(repr=False)
class LifecycleEvent(Record):
    """One thing that happened to the project's subject."""

    #: What happened, named as the action: `confirm`, `lock`, `set`, `undo` and so on.
    event: str
    #: Slug of the subject that it was about; null for an action without one.
    subject: str | None = None
    #: Who asked for it: `user`, or what acted for the user, such as `mcp`.
    source: str = "user"
    #: Whether it wrote the project's manifest.
    write_manifest: bool = False
    #: Id of the run that it answers; empty when it answers none.
    run_id: str = ""
    #: UTC, ISO 8601; informative only: order is the order of the list.
    time: str = ""
    #: Number of the state that the event made: no two events of a project share one.
    revision: int = 0
    #: Id of the proposal that the event applied, if it applied one.
    proposal: str = ""


@attrs.frozen(repr=False)
class EvidenceMemory(Record):
    """The content of `.qiongli/trace/subject_evidence.json`."""

    #: Version of this structure, `major.minor`; fields may be added within a major version.
    schema_version: str = SCHEMA_VERSION
    #: What happened to the project's subject, oldest first; at least the last 10,000 are kept.
    lifecycle_events: tuple[LifecycleEvent, ...] = ()
    #: What the user turned down, by slug.
    dismissed_subjects: dict[str, Dismissal] = attrs.field(factory=dict)
    #: What was suggested, by slug.
    suggestions: dict[str, SuggestionMemory] = attrs.field(factory=dict)
