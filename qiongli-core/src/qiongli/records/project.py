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

    active_subject: str = AUTO
    subject_mode: SubjectMode = "auto"
    secondary_subjects: tuple[str, ...] = ()
    venue_profiles: tuple[str, ...] = ()
    method_lenses: tuple[str, ...] = ()
    strictness: Strictness = "standard"


@attrs.frozen(repr=False)
class Dismissal(Record):
    """How often and when the user turned a subject down."""

    dismissal_count: int = 1
    last_dismissed_run_id: str = ""
    #: The subject's suggestion count at the time: only more suggestions than that prompt again.
    last_suggestion_count: int = 0


@attrs.frozen(repr=False)
class SuggestionMemory(Record):
    """How often a subject was suggested for distinct tasks."""

    suggestion_count: int = 0
    last_confidence: Ppm = ppm_field(default=Ppm(0))
    last_decision: str = "suggest_subject"
    last_run_id: str = ""
    #: Fingerprints of the tasks already counted, oldest first.
    fingerprints: tuple[str, ...] = ()


@attrs.frozen(repr=False)
class LifecycleEvent(Record):
    """One thing that happened to the project's subject."""

    event: str
    subject: str | None = None
    source: str = "user"
    write_manifest: bool = False
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

    schema_version: str = SCHEMA_VERSION
    lifecycle_events: tuple[LifecycleEvent, ...] = ()
    dismissed_subjects: dict[str, Dismissal] = attrs.field(factory=dict)
    suggestions: dict[str, SuggestionMemory] = attrs.field(factory=dict)
