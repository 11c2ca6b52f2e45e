"""The subject of a project, and the user's actions on it: status, confirm, dismiss, reset, lock, unlock.

Every action is planned from a snapshot by a pure function, and executed by one writer. A plan that changes nothing, or
that the state refuses, touches no file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

from qiongli.errors import InputError, StateCorruptError, StateRefusedError
from qiongli.project.memory import Suggested
from qiongli.project.paths import GUIDANCE, MANIFEST, MEMORY, STATE_FOLDER, Project
from qiongli.project.store import Snapshot
from qiongli.project.subjects import require_known, require_usable
from qiongli.records.project import ACTIONS, Dismissal, ManifestState

if TYPE_CHECKING:
    from qiongli.plugins import Catalogue

#: Actions that need a subject; the others take none.
SUBJECT_ACTIONS: Final = ("confirm", "dismiss", "lock")


@attrs.frozen
class Request:
    """What somebody asks for, checked for form only.

    `fingerprint` lets a host that dismisses a suggestion name the task that it was made for; `run_id` the run.
    """

    action: str
    subject: str | None = None
    source: str = "user"
    run_id: str = ""
    fingerprint: str = ""
    proposal: str = ""
    #: For `set`: manifest keys and their new values.
    settings: tuple[tuple[str, str | tuple[str, ...]], ...] = ()


@attrs.frozen
class Restore:
    """What an undo puts back besides values: the manifest's bytes (None: there was none), and whether a block."""

    manifest: bytes | None
    had_block: bool
    had_guidance: bool
    #: How many undoable actions are left.
    depth: int
    #: Whether the undone action wrote to the guidance file, as all but a dismissal do.
    touches_guidance: bool = True


@attrs.frozen
class Plan:
    """What an action would do: the new values, None where nothing changes."""

    request: Request
    state: ManifestState | None = None
    dismissed: dict[str, Dismissal] | None = None
    suggestions: dict[str, Suggested] | None = None
    #: Files that are malformed and are kept under another name.
    aside: tuple[str, ...] = ()
    #: What stands where folders of the state belong, and is kept under another name.
    obstacles: tuple[str, ...] = ()
    restore: Restore | None = None
    warnings: tuple[str, ...] = ()
    #: What was done, where the action's name does not say it.
    notes: tuple[str, ...] = ()
    #: Whether anything at all is written; False says why in `warnings`.
    writes: bool = True


def check_form(action: str, subject: str | None, project: Project) -> None:
    """Raise `InputError` for an action on a project that does not exist, lacks its subject, or takes none."""
    if action not in ACTIONS:
        raise InputError(f"no such action: {action!r}", code="unknown_action", available=ACTIONS)
    if action in SUBJECT_ACTIONS and not subject:
        raise InputError(
            f"{action} needs a subject",
            code="subject_required",
            place="subject",
            hint=f"Run: {project.command(f'subject {action} SUBJECT')}",
        )
    if action not in SUBJECT_ACTIONS and subject:
        raise InputError(f"{action} takes no subject", code="subject_not_taken", place="subject")


def plan(snapshot: Snapshot, request: Request, catalogue: Catalogue) -> Plan:
    """Say what an action would do to a state, or raise why it may not be done.

    Raises `UnknownSubjectError` for a subject that is not installed, `StateRefusedError` when the state forbids it,
    `StateCorruptError` when the manifest cannot be used; `reset` alone works then.
    """
    check_form(request.action, request.subject, snapshot.project)
    if request.action == "reset":
        return _plan_reset(snapshot, request)
    snapshot.require_readable()
    if request.action == "unlock":
        return _plan_unlock(snapshot, request)
    subject = request.subject or ""
    if request.action == "dismiss":
        require_known(catalogue, subject)
        return _plan_dismiss(snapshot, request)
    return _plan_decision(snapshot, request, require_usable(catalogue, subject))


def _plan_decision(snapshot: Snapshot, request: Request, warnings: tuple[str, ...]) -> Plan:
    """`confirm` and `lock`."""
    state, subject = snapshot.manifest.state, request.subject or ""
    require_unlocked(snapshot, f"{request.action} {subject}", except_for=subject)
    if state.subject_mode == "locked" and request.action == "confirm":
        warnings = (
            *warnings,
            f"the project stays locked to {subject}; to loosen it run: {snapshot.project.command('subject unlock')}",
        )
        new = state
    else:
        new = attrs.evolve(
            state,
            active_subject=subject,
            subject_mode="confirmed" if request.action == "confirm" else "locked",
            secondary_subjects=tuple(name for name in state.secondary_subjects if name != subject),
        )
    dismissed = {name: entry for name, entry in snapshot.memory.dismissed.items() if name != subject}
    return Plan(
        request,
        state=new if new != state or snapshot.manifest.data is None else None,
        dismissed=dismissed if len(dismissed) != len(snapshot.memory.dismissed) else None,
        warnings=warnings,
    )


def require_unlocked(snapshot: Snapshot, what: str, except_for: str = "") -> None:
    """Raise `StateRefusedError` (`project_locked`) when a lock on another subject stands in the way."""
    state = snapshot.manifest.state
    if state.subject_mode == "locked" and state.active_subject != except_for:
        raise StateRefusedError(
            f"the project is locked to {state.active_subject}, so {what} is refused",
            code="project_locked",
            place=f"{STATE_FOLDER}/{MANIFEST}: subject_mode",
            hint=f"Run first: {snapshot.project.command('subject unlock')}",
        )


def _plan_dismiss(snapshot: Snapshot, request: Request) -> Plan:
    subject = request.subject or ""
    memory = snapshot.memory
    suggested = memory.suggestions.get(subject, Suggested())
    suggestions = None
    if request.fingerprint and not suggested.counts(request.fingerprint):
        # The user turned down a suggestion that its host had not recorded: it counts as made, and stays silent.
        suggested = suggested.with_task(request.fingerprint)
        suggestions = {**memory.suggestions, subject: suggested}
    earlier = memory.dismissed.get(subject)
    dismissal = Dismissal(
        dismissal_count=(earlier.dismissal_count if earlier else 0) + 1,
        last_dismissed_run_id=request.run_id or suggested.summary.last_run_id,
        last_suggestion_count=suggested.summary.suggestion_count,
    )
    state = snapshot.manifest.state
    warnings: tuple[str, ...] = ()
    if state.subject_mode != "auto" and state.active_subject == subject:
        reset = snapshot.project.command("subject reset")
        warnings = (f"{subject} stays {state.subject_mode}; to return to the adaptive core run: {reset}",)
    return Plan(request, dismissed={**memory.dismissed, subject: dismissal}, suggestions=suggestions, warnings=warnings)


def _plan_unlock(snapshot: Snapshot, request: Request) -> Plan:
    state = snapshot.manifest.state
    if state.subject_mode == "locked":
        return Plan(request, state=attrs.evolve(state, subject_mode="confirmed"))
    reason = (
        "its subject is left to the router" if state.subject_mode == "auto" else f"{state.active_subject} is confirmed"
    )
    return Plan(request, warnings=(f"the project is not locked: {reason}; nothing was written",), writes=False)


def _plan_reset(snapshot: Snapshot, request: Request) -> Plan:
    """Back to the adaptive core from any state; what cannot be used is kept under another name."""
    from qiongli.project._manifest_edit import edit_manifest
    from qiongli.project._obstacles import find_obstacles, is_below
    from qiongli.project.guidance import parse_guidance

    obstacles = find_obstacles(snapshot.project)
    aside = [name for name, _ in snapshot.refusals if not is_below(name, obstacles)]
    if snapshot.manifest.error is not None:
        aside.append(MANIFEST)
    if snapshot.memory.checked(whole=True).error is not None and MEMORY not in aside:
        aside.append(MEMORY)
    if parse_guidance(snapshot.guidance).problems:
        aside.append(GUIDANCE)
    if not snapshot.project.exists:
        return Plan(request, warnings=("the project has no state yet; nothing was written",), writes=False)
    state, data = ManifestState(), snapshot.manifest.data
    unchanged = snapshot.manifest.state == state and MANIFEST not in aside and data is not None
    warnings: tuple[str, ...] = ()
    if not unchanged and data is not None and MANIFEST not in aside:
        try:
            edit_manifest(data, state, snapshot.project)
        except StateCorruptError as error:
            aside.append(MANIFEST)
            warnings = (f"{error.place}: {error.message}",)
    return Plan(
        request,
        state=None if unchanged else state,
        dismissed={},
        suggestions={},
        aside=tuple(aside),
        obstacles=obstacles,
        warnings=warnings,
    )
