"""Describing a project: the status packet, and the parts that other layers read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from qiongli.errors import StateCorruptError
from qiongli.project.guidance import guidance_status
from qiongli.project.paths import GUIDANCE, STATE_FOLDER, Folder, Project, open_project
from qiongli.project.store import Snapshot, Store
from qiongli.project.subjects import catalogue_warnings
from qiongli.prompting import promotion_status
from qiongli.records._units import SCHEMA_VERSION
from qiongli.records.lifecycle import StatusPacket, SuggestionStatus
from qiongli.records.project import AUTO, EvidenceMemory, ManifestState, SuggestionMemory

if TYPE_CHECKING:
    from qiongli.plugins import Catalogue
    from qiongli.project.memory import MemoryDocument
    from qiongli.session import SessionState

    #: Subjects to look things up in, or a way to find them when they are needed.
    Subjects = Catalogue | Callable[[], Catalogue]


class ProjectReading(NamedTuple):
    """What routing a task needs to know of a project."""

    manifest_state: ManifestState
    memory: EvidenceMemory
    session: SessionState | None = None
    warnings: tuple[str, ...] = ()


def resolve_catalogue(catalogue: Subjects | None) -> Catalogue:
    """The catalogue that a caller gave, or gives when it is asked; without one, what discovery finds by itself.

    Discovery by itself trusts only verdicts that this machine holds already; the command line and the MCP server hand
    in a catalogue whose unseen records were verified.
    """
    if catalogue is None:
        from qiongli.plugins import discover

        return discover()
    return catalogue() if callable(catalogue) else catalogue


def read_project(cwd: Folder, *, session: str | None = None, find_project: bool = False) -> ProjectReading:
    """Read manifest, memory and, if it is named, the stored session; nothing is written.

    The memory comes without its events: no decision depends on them. `read_memory` has them.

    Raises `InputError` when the folder is missing or a file, `StateCorruptError` when the manifest cannot be used: the
    user's choice is never guessed. A malformed memory is a warning, and counts as empty.
    """
    project = open_project(cwd, find_project=find_project)
    snapshot = Store(project).read()
    snapshot.require_readable()
    stored = None
    if session is not None:
        from qiongli.project.sessions import load_session

        stored = load_session(project, session)
    memory, warnings = _readable(snapshot.memory, project, events=False)
    return ProjectReading(snapshot.manifest.state, memory, stored, (*snapshot.warnings, *warnings))


def read_manifest_state(cwd: Folder) -> tuple[ManifestState, tuple[str, ...]]:
    """The manifest's state and warnings about it; raises as `read_project` does."""
    snapshot = Store(open_project(cwd)).read()
    snapshot.require_readable()
    return snapshot.manifest.state, snapshot.manifest.warnings


def read_memory(cwd: Folder) -> tuple[EvidenceMemory, tuple[str, ...]]:
    """The evidence memory with all its events, and warnings about it; what is malformed counts as empty."""
    project = open_project(cwd)
    memory = Store(project).read().memory
    readable, warnings = _readable(memory, project)
    return readable, (*memory.warnings, *warnings)


def _readable(
    memory: MemoryDocument, project: Project, *, events: bool = True
) -> tuple[EvidenceMemory, tuple[str, ...]]:
    """The evidence memory, and warnings about lines that are not what they should be, as in a forged file.

    Events that are none are left out. With tasks that are none the memory counts as empty, as with any other fault.
    """
    try:
        return memory.to_memory(events=events), ()
    except StateCorruptError as error:
        hint = f"to repair it run: {project.command('subject reset')}"
        warning = f"{error.place}: {error.message}, although the file holds their digest"
        if memory.checked().error is not None:
            return EvidenceMemory(), (f"{warning}; the memory is ignored; {hint}",)
        return memory.to_memory(events=False), (f"{warning}; they are left out; {hint}",)


def subject_status(cwd: Folder, *, catalogue: Subjects | None = None, find_project: bool = False) -> StatusPacket:
    """The status packet of a project; nothing is written. The catalogue is asked for only if the project needs it.

    Raises `InputError` when the folder is missing or a file, `StateCorruptError` when the manifest cannot be used.
    """
    snapshot = Store(open_project(cwd, find_project=find_project)).read()
    snapshot.require_readable()
    return describe(snapshot, resolve_catalogue(catalogue) if _names_subjects(snapshot) else None)


def _names_subjects(snapshot: Snapshot) -> bool:
    """Whether the installed subjects matter to a project; finding them takes longer than all the rest of a status."""
    return snapshot.manifest.state != ManifestState() or snapshot.guidance is not None


def describe(snapshot: Snapshot, catalogue: Catalogue | None, *, guidance: str | None = None) -> StatusPacket:
    """The status packet of a snapshot; a state that cannot be used reads as the adaptive core, with a warning.

    The catalogue may be None only for a project that names no subject and has no guidance file. `guidance` is the state
    of the block, where the caller knows it.
    """
    state, memory = snapshot.manifest.state, snapshot.memory
    warnings = list(snapshot.warnings)
    if snapshot.manifest.error is not None:
        warnings.append(f"{snapshot.manifest.error.place}: {snapshot.manifest.error.message}")
    warnings += [f"{error.place}: {error.message}" for _, error in snapshot.refusals]
    if catalogue is not None:
        warnings += catalogue_warnings(state, catalogue)
    if guidance is None:
        guidance = "none" if catalogue is None else guidance_status(snapshot.guidance, state, catalogue)
    if guidance == "broken":
        lint = snapshot.project.command("guidance lint")
        warnings.append(f"{STATE_FOLDER}/{GUIDANCE}: the managed block is broken; to see where run: {lint}")
    # Which tasks were counted says nothing that is shown.
    known = EvidenceMemory(
        dismissed_subjects=dict(memory.dismissed),
        suggestions={subject: suggested.summary for subject, suggested in memory.suggestions.items()},
    )
    return StatusPacket(
        schema_version=SCHEMA_VERSION,
        active_subject=state.active_subject,
        subject_mode=state.subject_mode,
        secondary_subjects=state.secondary_subjects,
        venue_profiles=state.venue_profiles,
        method_lenses=state.method_lenses,
        strictness=state.strictness,
        suggestions=tuple(
            _suggestion(subject, entry, known, state) for subject, entry in sorted(known.suggestions.items())
        ),
        dismissed_subjects=tuple(sorted(memory.dismissed)),
        locked=state.subject_mode == "locked" and state.active_subject != AUTO,
        latest_refinement=memory.latest,
        guidance=guidance,
        revision=snapshot.revision,
        warnings=tuple(warnings),
        state_digest=snapshot.state_digest,
    )


def _suggestion(
    subject: str, entry: SuggestionMemory, memory: EvidenceMemory, state: ManifestState
) -> SuggestionStatus:
    promotion = promotion_status(memory, subject)
    if promotion == "recommend_confirmation" and state.subject_mode != "auto" and state.active_subject == subject:
        # It is in force already.
        promotion = "none"
    return SuggestionStatus(
        subject=subject,
        suggestion_count=entry.suggestion_count,
        last_confidence=entry.last_confidence,
        last_decision=entry.last_decision,
        promotion_status=promotion,
    )
