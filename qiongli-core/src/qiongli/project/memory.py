"""Reading and changing `.qiongli/trace/subject_evidence.json`: what was suggested, dismissed and decided."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import attrs

from qiongli.errors import QiongliError, StateCorruptError
from qiongli.project._memory_fields import (
    are_texts,
    corrupt,
    read_count,
    read_dismissal,
    read_events,
    read_field,
    read_latest,
    read_name,
    read_summary,
    read_tasks,
    require_known_version,
)
from qiongli.project._memory_file import (
    DIGESTS_KEY,
    EVENTS_KEY,
    SUGGESTIONS_KEY,
    TASKS_KEY,
    UNDO_KEY,
    FileParts,
    Lines,
    lines_from,
    parse_json,
    split_file,
)
from qiongli.records._units import SCHEMA_VERSION
from qiongli.records.lifecycle import LatestRefinement
from qiongli.records.project import Dismissal, EvidenceMemory, LifecycleEvent, SuggestionMemory

MEMORY_LIMIT: Final = 33_554_432
#: How many lifecycle events are kept at least, newest last.
RETAINED_EVENTS: Final = 10_000
#: How many more there may be before the oldest are dropped.
EVENTS_SLACK: Final = 255
#: How many actions can be undone, one after the other.
UNDO_DEPTH: Final = 20
#: How many tasks are remembered for each subject; an older task would count once more.
RETAINED_FINGERPRINTS: Final = 10_000
#: No counter in a file may be larger, so that what is added to it stays below the limit of what is written.
LARGEST_COUNT: Final = 10**14

_REVISION: Final = rb'"revision"\s*:\s*(\d{1,15})\b'


# The forms of a task and of an event in nearly every file; others are parsed.
_TEXT: Final = rb'"[ !#-\[\]-~]*+"'
_EVENT: Final = (
    rb'\{"event": %b, "subject": (?:null|%b), "source": %b, "write_manifest": (?:true|false), '
    rb'"run_id": %b, "time": %b, "revision": (?:0|[1-9][0-9]{0,14}), "proposal": %b\}'
) % ((_TEXT,) * 6)

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


class Suggested(NamedTuple):
    """How often a subject was suggested, and for which tasks: lines, one fingerprint each, oldest first."""

    #: Everything but the tasks.
    summary: SuggestionMemory = SuggestionMemory()
    tasks: Lines = Lines()

    def counts(self, fingerprint: str) -> bool:
        """Whether a task is among those remembered."""
        return self.tasks.holds(fingerprint)

    def with_task(self, fingerprint: str) -> Suggested:
        """The same with one more task, which is counted, and of too many the oldest forgotten."""
        summary = attrs.evolve(self.summary, suggestion_count=self.summary.suggestion_count + 1)
        return Suggested(summary, self.tasks.appended(fingerprint, RETAINED_FINGERPRINTS))

    def list_tasks(self) -> tuple[str, ...]:
        """The fingerprints; raises `ValueError` for lines that are none, as in a forged file."""
        try:
            tasks = self.tasks.parse()
        except RecursionError as error:
            raise ValueError("nested too deep") from error
        if not are_texts(tasks):
            raise ValueError("not a list of texts")
        return tuple(tasks)

    def to_record(self) -> SuggestionMemory:
        """The suggestion as the published structure has it; raises as `list_tasks` does."""
        return attrs.evolve(self.summary, fingerprints=self.list_tasks())


class MemoryDocument(NamedTuple):
    """The evidence memory as it was found.

    `content` is the parsed file, unknown keys and all, but for the tasks of the suggestions, events and what can be
    undone, which stay lines: an action needs none of them, and a long-lived project has ten thousand. The typed parts
    are views of the content.
    """

    data: bytes | None
    content: Mapping[str, Any] = _NOTHING
    events: Lines = Lines()
    undo: Lines = Lines()
    revision: int = 0
    dismissed: Mapping[str, Dismissal] = _NOTHING
    suggestions: Mapping[str, Suggested] = _NOTHING
    latest: LatestRefinement | None = None
    #: How many bytes, from the first on, differ whenever anything in the file does; None for all of them.
    telling: int | None = None
    #: Why the file could not be used; everything else then holds the defaults.
    error: QiongliError | None = None

    @property
    def warnings(self) -> tuple[str, ...]:
        """One warning when the file could not be used."""
        if self.error is None:
            return ()
        return (f"{self.error.place}: {self.error.message}; it is ignored, and put aside at the next write",)

    @property
    def digest(self) -> str:
        """A digest that differs whenever the file does; empty without one."""
        return "" if self.data is None else hashlib.sha256(self.data[: self.telling]).hexdigest()

    def list_events(self) -> tuple[LifecycleEvent, ...]:
        """The lifecycle events, oldest first.

        Raises `StateCorruptError` when they are none although the file holds their digest, as in a forged file.
        """
        try:
            return read_events(self.events.parse())
        except (ValueError, RecursionError):
            raise corrupt("the events are no JSON", EVENTS_KEY) from None

    def list_suggestions(self) -> dict[str, SuggestionMemory]:
        """The suggestions with their tasks; raises `StateCorruptError` as `list_events` does."""
        found = {}
        for subject, suggested in self.suggestions.items():
            try:
                found[subject] = suggested.to_record()
            except ValueError:
                raise corrupt("not a list of texts", f"{SUGGESTIONS_KEY}.{subject}.{TASKS_KEY}") from None
        return found

    def checked(self, *, whole: bool = False) -> MemoryDocument:
        """The same document, or that of a file that cannot be used if its tasks are no tasks.

        Only a forger can have written such lines with their digest. With `whole`, the lines of events and of what can
        be undone are looked at, too.
        """
        try:
            if not all(suggested.tasks.match(_TEXT) for suggested in self.suggestions.values()):
                self.list_suggestions()
            if whole:
                if not self.events.match(_EVENT):
                    self.list_events()
                self._require_undo()
        except StateCorruptError as error:
            return MemoryDocument(self.data, revision=self.revision, telling=self.telling, error=error)
        return self

    def _require_undo(self) -> None:
        try:
            self.undo.parse()
        except (ValueError, RecursionError):
            raise corrupt("what can be undone is no JSON", UNDO_KEY) from None

    def to_memory(self, *, events: bool = True) -> EvidenceMemory:
        """The memory as the engine and the published structure know it; raises as `list_events` does."""
        return EvidenceMemory(
            schema_version=SCHEMA_VERSION,
            lifecycle_events=self.list_events() if events else (),
            dismissed_subjects=dict(self.dismissed),
            suggestions=self.list_suggestions(),
        )


def parse_memory(data: bytes | None) -> MemoryDocument:
    """Parse and validate the memory's bytes; None is the memory of a project that has none."""
    if data is None:
        return MemoryDocument(None)
    try:
        document = _parse_head(data) or validated_memory(data, _parse_json(data))
        _require_countable(document)
    except StateCorruptError as error:
        # The number of the state never goes back, not even when the file that holds it breaks.
        revisions = [int(number) for number in re.findall(_REVISION, data[:4096])]
        return MemoryDocument(
            data, revision=max((number for number in revisions if number <= LARGEST_COUNT), default=0), error=error
        )
    return document


def _require_countable(document: MemoryDocument) -> None:
    """Raise `StateCorruptError` for a counter that no project reaches: it would have no room for the next number."""
    counts = {"revision": document.revision}
    for subject, dismissal in document.dismissed.items():
        counts[f"dismissed_subjects.{subject}"] = max(dismissal.dismissal_count, dismissal.last_suggestion_count)
    for subject, suggested in document.suggestions.items():
        counts[f"{SUGGESTIONS_KEY}.{subject}"] = suggested.summary.suggestion_count
    for field, count in counts.items():
        if count > LARGEST_COUNT:
            raise corrupt("too large a count", field, expected=f"at most {LARGEST_COUNT}")


def _parse_head(data: bytes) -> MemoryDocument | None:
    """The document of a file whose events are as we wrote them; None for one that has to be parsed whole."""
    parts = split_file(data) if len(data) <= MEMORY_LIMIT else None
    if parts is None:
        return None
    try:
        content = _parse_json(parts.head)
        entries = _parse_json(parts.suggestions.text)
    except StateCorruptError:
        # The place of the fault is that in the whole file.
        return None
    ours = {SUGGESTIONS_KEY, EVENTS_KEY, UNDO_KEY}
    if content.get(DIGESTS_KEY) != parts.digests or ours & content.keys():
        return None
    tasks = _tasks_of(entries, parts)
    if tasks is None:
        return None
    entries = {subject: _without_tasks(entry) for subject, entry in entries.items()}
    content = {**content, SUGGESTIONS_KEY: entries}
    return validated_head(data, content, tasks, parts.events, parts.undo, len(parts.head) - 1)


def _tasks_of(entries: Mapping[str, Any], parts: FileParts) -> dict[str, Lines] | None:
    """The lines of tasks by subject; None unless they are exactly those of the entries."""
    lines = parts.suggestions.tasks
    if len(lines) != len(entries):
        return None
    for found, entry in zip(lines, entries.values(), strict=True):
        expected = [] if found.empty else [found.digest]
        if not isinstance(entry, dict) or entry.get(TASKS_KEY) != expected:
            return None
    return dict(zip(entries, lines, strict=True))


def _without_tasks(entry: Any) -> Any:
    return {key: value for key, value in entry.items() if key != TASKS_KEY} if isinstance(entry, dict) else entry


def memory_from_packet(content: Mapping[str, Any]) -> EvidenceMemory:
    """The evidence memory that a parsed `subject_evidence.json` holds, as fixtures carry it.

    Raises `StateCorruptError` whose place is the dotted field at fault.
    """
    return validated_memory(None, content).to_memory()


def _parse_json(data: bytes) -> Mapping[str, Any]:
    if len(data) > MEMORY_LIMIT:
        raise corrupt(f"the file is larger than {MEMORY_LIMIT} bytes", code="memory_oversized")
    try:
        content = parse_json(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise corrupt("the file is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise corrupt(f"the file is no JSON: {error.msg.removesuffix(' at')} in line {error.lineno}") from None
    except (ValueError, RecursionError) as error:
        raise corrupt(f"the file is no JSON: {str(error)[:100]}") from None
    if not isinstance(content, dict):
        raise corrupt("the file is no JSON object")
    return content


def validated_memory(data: bytes | None, content: Mapping[str, Any]) -> MemoryDocument:
    """The document of an already parsed memory; raises `StateCorruptError` whose place is the field at fault."""
    require_known_version(content)
    events = read_field(content, EVENTS_KEY, list, [], "")
    read_events(events)
    undo = content.get(UNDO_KEY)
    suggestions = read_field(content, SUGGESTIONS_KEY, dict, {}, "")
    entries = {subject: _without_tasks(entry) for subject, entry in suggestions.items()}
    return validated_head(
        data,
        {
            **{key: value for key, value in content.items() if key not in (EVENTS_KEY, UNDO_KEY)},
            SUGGESTIONS_KEY: entries,
        },
        {
            subject: lines_from(read_tasks(entry, f"{SUGGESTIONS_KEY}.{subject}"), RETAINED_FINGERPRINTS)
            for subject, entry in suggestions.items()
        },
        lines_from(events, RETAINED_EVENTS + EVENTS_SLACK),
        # What is no list of entries cannot be undone; that is for the undoing to say.
        lines_from(undo if isinstance(undo, list) else (), UNDO_DEPTH),
    )


def validated_head(
    data: bytes | None,
    content: Mapping[str, Any],
    tasks: Mapping[str, Lines],
    events: Lines,
    undo: Lines,
    telling: int | None = None,
) -> MemoryDocument:
    """The document of a memory of which all but its lines is parsed; raises as `validated_memory` does."""
    require_known_version(content)
    latest = content.get("latest_refinement")
    return MemoryDocument(
        data,
        {key: value for key, value in content.items() if key != DIGESTS_KEY},
        events,
        undo,
        revision=read_count(content, "revision", ""),
        dismissed={
            read_name(subject, "dismissed_subjects"): read_dismissal(entry, f"dismissed_subjects.{subject}")
            for subject, entry in read_field(content, "dismissed_subjects", dict, {}, "").items()
        },
        suggestions={
            read_name(subject, SUGGESTIONS_KEY): Suggested(
                read_summary(entry, f"{SUGGESTIONS_KEY}.{subject}"), tasks[subject]
            )
            for subject, entry in read_field(content, SUGGESTIONS_KEY, dict, {}, "").items()
        },
        latest=None if latest is None else read_latest(latest, "latest_refinement"),
        telling=telling,
    )
