"""Reverting the last action: the manifest's bytes come back, dismissals come back, what was recorded since stays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs

from qiongli.errors import QiongliError, StateRefusedError
from qiongli.project._manifest_edit import edit_manifest
from qiongli.project._memory_file import lines_from
from qiongli.project.actions import carry_out
from qiongli.project.lifecycle import Plan, Request, Restore
from qiongli.project.manifest import is_slug, parse_manifest
from qiongli.project.memory import RETAINED_FINGERPRINTS, MemoryDocument, Suggested, validated_memory
from qiongli.project.paths import MANIFEST, MEMORY, STATE_FOLDER
from qiongli.project.store import Snapshot, Store, digest
from qiongli.records.lifecycle import ActionPacket
from qiongli.records.project import ACTIONS, ManifestState, SuggestionMemory

if TYPE_CHECKING:
    from qiongli.plugins import Catalogue


def undo(store: Store, catalogue: Catalogue, *, dry_run: bool = False) -> ActionPacket:
    """Revert the last action that can be undone; raises `StateRefusedError` when there is none or it was built upon."""
    return carry_out(store, plan_undo, catalogue, dry_run=dry_run)


def plan_undo(snapshot: Snapshot) -> Plan:
    """Say what undoing would bring back; codes `nothing_to_undo` and `changed_since`."""
    snapshot.require_readable()
    try:
        entries = snapshot.memory.undo.parse()
    except (ValueError, RecursionError) as error:
        raise _unreadable() from error
    if not entries:
        raise StateRefusedError(
            "no action on this project can be undone",
            code="nothing_to_undo",
            place=STATE_FOLDER,
            hint=f"Run: {snapshot.project.command('subject status')}",
        )
    entry = entries[-1]
    try:
        before, after = (_state(entry[key]) for key in ("state_before", "state_after"))
        manifest = _manifest(snapshot, entry, before, after)
        action, subject = _said(entry)
        request = Request("undo", subject)
        earlier = validated_memory(
            None, {"dismissed_subjects": entry["dismissed_before"], "suggestions": entry["suggestions_before"] or {}}
        )
        had_block, had_guidance = bool(entry["had_block"]), bool(entry["had_guidance"])
        current = snapshot.memory.suggestions
        suggestions = None
        if entry["suggestions_before"] is not None:
            suggestions = _merge(earlier, current)
        elif entry.get("task_counted"):
            suggestions = _without_task(current, request.subject or "", str(entry["task_counted"]))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise _unreadable() from error
    except QiongliError as error:
        if isinstance(error, StateRefusedError):
            raise
        raise _unreadable() from error
    return Plan(
        request,
        state=before if before != snapshot.manifest.state else None,
        dismissed=dict(earlier.dismissed),
        suggestions=suggestions,
        restore=Restore(manifest, had_block, had_guidance, len(entries) - 1, action != "dismiss"),
        notes=(f"undone: {action} {request.subject or ''}".rstrip(),),
    )


def _said(entry: Mapping[str, Any]) -> tuple[str, str | None]:
    """What the action was, which is shown and goes into an event; raises `ValueError` for what is no action."""
    action, subject = entry["action"], entry["subject"]
    if action not in (*ACTIONS, "init", "set") or not (subject is None or (type(subject) is str and is_slug(subject))):
        raise ValueError("no action of ours")
    return action, subject


def _unreadable() -> StateRefusedError:
    return StateRefusedError(
        "what the last action changed was not kept in a form that can be undone",
        code="nothing_to_undo",
        place=f"{STATE_FOLDER}/{MEMORY}",
    )


def _state(entry: Mapping[str, Any]) -> ManifestState:
    from qiongli.project._manifest_edit import new_manifest

    lists = ("secondary_subjects", "venue_profiles", "method_lenses")
    values: dict[str, Any] = {key: tuple(value) if key in lists else value for key, value in entry.items()}
    # The memory is a file that anybody may have edited: what it says goes through the manifest's own validation.
    checked = parse_manifest(new_manifest(ManifestState(**values)))
    if checked.error is not None:
        raise ValueError(checked.error.message)
    return checked.state


def _manifest(
    snapshot: Snapshot, entry: Mapping[str, Any], before: ManifestState, after: ManifestState
) -> bytes | None:
    """The manifest to put back: the very bytes if nobody edited it since, else its values in the edited file."""
    current = snapshot.manifest.data
    if before == after and entry["had_manifest"]:
        return current
    if digest(current) == entry["manifest_after"]:
        if not entry["had_manifest"]:
            return None
        if isinstance(entry["manifest_text"], str):
            restored: bytes = entry["manifest_text"].encode()
            if parse_manifest(restored).state != before or parse_manifest(restored).error is not None:
                raise ValueError("the kept text is not the state that was kept")
            return restored
    if snapshot.manifest.state != after or current is None:
        raise StateRefusedError(
            "the manifest was changed since the last action, so undoing would lose that change",
            code="changed_since",
            place=f"{STATE_FOLDER}/{MANIFEST}",
            hint=f"Say what you want instead, for example: {snapshot.project.command('subject confirm SUBJECT')}",
        )
    return edit_manifest(current, before, snapshot.project)


def _merge(earlier: MemoryDocument, current: Mapping[str, Suggested]) -> dict[str, Suggested]:
    """The suggestions before the action, and those of tasks recorded since."""
    merged = dict(earlier.suggestions)
    for subject, now in current.items():
        old = merged.get(subject)
        if old is None:
            merged[subject] = now
            continue
        tasks = old.list_tasks()
        known = set(tasks)
        new = [task for task in now.list_tasks() if task not in known]
        summary = attrs.evolve(now.summary, suggestion_count=old.summary.suggestion_count + len(new))
        merged[subject] = Suggested(summary, lines_from((*tasks, *new), RETAINED_FINGERPRINTS))
    return merged


def _without_task(current: Mapping[str, Suggested], subject: str, task: str) -> dict[str, Suggested]:
    """The suggestions but for one task of one subject, if it is still among those remembered."""
    left = dict(current)
    suggested = left.get(subject, Suggested())
    if not suggested.counts(task):
        return left
    summary = attrs.evolve(suggested.summary, suggestion_count=max(0, suggested.summary.suggestion_count - 1))
    tasks = lines_from((other for other in suggested.list_tasks() if other != task), RETAINED_FINGERPRINTS)
    if summary == SuggestionMemory() and tasks.empty:
        # It was the dismissal that began it.
        del left[subject]
    else:
        left[subject] = Suggested(summary, tasks)
    return left
