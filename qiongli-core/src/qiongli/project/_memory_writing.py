"""The memory that an action or a recording leaves: its entries, its events, and what of it can be undone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from qiongli.project._memory_file import SUGGESTIONS_KEY, TASKS_KEY, Lines, render_file
from qiongli.project.guidance import parse_guidance
from qiongli.project.lifecycle import Plan
from qiongli.project.memory import EVENTS_SLACK, RETAINED_EVENTS, UNDO_DEPTH, MemoryDocument, Suggested, validated_head
from qiongli.project.paths import GUIDANCE, MANIFEST, MEMORY
from qiongli.project.store import Snapshot, digest
from qiongli.records._units import SCHEMA_VERSION, to_packet
from qiongli.records.lifecycle import LatestRefinement
from qiongli.records.project import Dismissal, LifecycleEvent

#: A larger manifest is not kept for undo as text; undoing then edits the values back.
_UNDO_TEXT_LIMIT: Final = 16_384


def written_memory(
    before: Snapshot,
    planned: Plan,
    event: LifecycleEvent | None,
    manifest_digest: str,
    undo: Lines | None = None,
    latest: LatestRefinement | None = None,
) -> MemoryDocument:
    """The memory that an action leaves, with its bytes: known parts replaced, keys that we do not know kept."""
    old = before.memory.content
    dismissed = before.memory.dismissed if planned.dismissed is None else planned.dismissed
    suggestions = before.memory.suggestions if planned.suggestions is None else planned.suggestions
    content: dict[str, Any] = {
        "schema_version": old.get("schema_version", SCHEMA_VERSION),
        "revision": before.revision + 1,
        "manifest_digest": manifest_digest,
        "dismissed_subjects": _entries(old.get("dismissed_subjects", {}), before.memory.dismissed, dismissed),
        SUGGESTIONS_KEY: _entries(old.get(SUGGESTIONS_KEY, {}), before.memory.suggestions, suggestions),
    }
    tasks = {subject: suggestions[subject].tasks for subject in content[SUGGESTIONS_KEY]}
    content.update({key: value for key, value in old.items() if key not in content})
    if latest is not None:
        content["latest_refinement"] = to_packet(latest)
    events = before.memory.events
    if event is not None:
        events = events.appended(to_packet(event), RETAINED_EVENTS, EVENTS_SLACK)
    undo = before.memory.undo if undo is None else undo
    data, telling = render_file(content, tasks, events, undo)
    return validated_head(data, content, tasks, events, undo, telling)


def _entries(old: Mapping[str, Any], known: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """The file's entries of `new`; those that are as they were `known` from the `old` ones stay as they are."""
    return {
        subject: (
            dict(old[subject])
            if subject in old and new[subject] is known.get(subject)
            else {**old.get(subject, {}), **_fields(new[subject])}
        )
        for subject in sorted(new)
    }


def _fields(item: Suggested | Dismissal) -> dict[str, Any]:
    """The fields of an entry as the head has them."""
    if isinstance(item, Dismissal):
        return to_packet(item)
    fields = to_packet(item.summary)
    del fields[TASKS_KEY]
    return fields


def undo_lines(before: Snapshot, planned: Plan, manifest: bytes | None, aside: list[str], changed: bool) -> Lines:
    """What can be undone, after this action; of a memory that is put aside, nothing of before.

    An undo brings back no file that was put aside: for a manifest the settings that the last action left, for the
    guidance file a sound block.
    """
    if MEMORY in aside:
        return Lines()
    if planned.request.action == "guidance" or (not changed and planned.state is None):
        return before.memory.undo
    old = before.manifest.data
    # One that only could not be edited in place is as good as any other.
    broken = MANIFEST in aside and before.manifest.error is not None
    text = old.decode("utf-8") if old is not None and len(old) <= _UNDO_TEXT_LIMIT and not broken else None
    state_before = to_packet(before.manifest.state)
    if broken:
        state_before = _last_known(before.memory) or state_before
    entry: dict[str, Any] = {
        "revision": before.revision + 1,
        "action": planned.request.action,
        "subject": planned.request.subject,
        "had_manifest": old is not None or MANIFEST in aside,
        "had_guidance": before.guidance is not None,
        "had_block": parse_guidance(before.guidance).span is not None or GUIDANCE in aside,
        "manifest_text": text,
        "manifest_after": digest(manifest),
        "state_before": state_before,
        "state_after": to_packet(before.manifest.state if planned.state is None else planned.state),
        "dismissed_before": {name: to_packet(item) for name, item in sorted(before.memory.dismissed.items())},
        "suggestions_before": None,
    }
    if planned.suggestions is not None and planned.request.action == "dismiss":
        # The one that it counted; to keep all those that it did not would be to keep ten thousand for each dismissal.
        entry["task_counted"] = planned.request.fingerprint
    elif planned.suggestions is not None:
        kept = sorted(before.memory.suggestions.items())
        entry["suggestions_before"] = {name: {**_fields(item), TASKS_KEY: item.list_tasks()} for name, item in kept}
    return before.memory.undo.appended(entry, UNDO_DEPTH)


def _last_known(memory: MemoryDocument) -> dict[str, Any] | None:
    """The settings that the last action which can be undone left; None when there is none, or it does not say."""
    try:
        return dict(memory.undo.parse()[-1]["state_after"])
    except (IndexError, KeyError, TypeError, ValueError, RecursionError):
        return None
