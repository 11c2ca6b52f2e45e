"""Reading and changing `.qiongli/trace/subject_evidence.json`: what was suggested, dismissed and decided."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from qiongli.errors import QiongliError, StateCorruptError
from qiongli.project._memory_file import (
    DIGESTS_KEY,
    EVENTS_KEY,
    UNDO_KEY,
    Lines,
    lines_from,
    split_file,
)
from qiongli.project.paths import MEMORY, STATE_FOLDER
from qiongli.records._units import SCALE, SCHEMA_VERSION, Ppm
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
SUPPORTED_MAJOR: Final = "1"

_MEMORY_PLACE: Final = f"{STATE_FOLDER}/{MEMORY}"
_REVISION: Final = rb'"revision"\s*:\s*(\d{1,15})\b'


_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


class MemoryDocument(NamedTuple):
    """The evidence memory as it was found.

    `content` is the parsed file, unknown keys and all, but for events and what can be undone, which stay lines: an
    action needs none of them, and a long-lived project has ten thousand. The typed parts are views of the content.
    """

    data: bytes | None
    content: Mapping[str, Any] = _NOTHING
    events: Lines = Lines()
    undo: Lines = Lines()
    revision: int = 0
    dismissed: Mapping[str, Dismissal] = _NOTHING
    suggestions: Mapping[str, SuggestionMemory] = _NOTHING
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
            return _list_events(self.events.parse())
        except (ValueError, RecursionError):
            raise _corrupt("the events are no JSON", EVENTS_KEY) from None

    def to_memory(self, *, events: bool = True) -> EvidenceMemory:
        """The memory as the engine and the published structure know it; raises as `list_events` does."""
        return EvidenceMemory(
            schema_version=SCHEMA_VERSION,
            lifecycle_events=self.list_events() if events else (),
            dismissed_subjects=dict(self.dismissed),
            suggestions=dict(self.suggestions),
        )


def parse_memory(data: bytes | None) -> MemoryDocument:
    """Parse and validate the memory's bytes; None is the memory of a project that has none."""
    if data is None:
        return MemoryDocument(None)
    try:
        return _parse_head(data) or validated_memory(data, _parse_json(data))
    except StateCorruptError as error:
        # The number of the state never goes back, not even when the file that holds it breaks.
        revisions = [int(number) for number in re.findall(_REVISION, data[:4096])]
        return MemoryDocument(data, revision=max(revisions, default=0), error=error)


def _parse_head(data: bytes) -> MemoryDocument | None:
    """The document of a file whose events are as we wrote them; None for one that has to be parsed whole."""
    parts = split_file(data) if len(data) <= MEMORY_LIMIT else None
    if parts is None:
        return None
    head, events, undo = parts
    try:
        content = _parse_json(head)
    except StateCorruptError:
        # The place of the fault is that in the whole file.
        return None
    digests = {EVENTS_KEY: events.digest, UNDO_KEY: undo.digest}
    if content.get(DIGESTS_KEY) != digests or EVENTS_KEY in content or UNDO_KEY in content:
        return None
    return validated_head(data, content, events, undo, len(head) - 1)


def memory_from_packet(content: Mapping[str, Any]) -> EvidenceMemory:
    """The evidence memory that a parsed `subject_evidence.json` holds, as fixtures carry it.

    Raises `StateCorruptError` whose place is the dotted field at fault.
    """
    return validated_memory(None, content).to_memory()


def _corrupt(message: str, field: str = "", *, code: str = "memory_malformed", expected: str = "") -> StateCorruptError:
    return StateCorruptError(
        message,
        code=code,
        place=f"{_MEMORY_PLACE}: {field}" if field else _MEMORY_PLACE,
        expected=expected,
        hint="Any action on the project puts the file aside and starts a new one",
    )


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _parse_json(data: bytes) -> Mapping[str, Any]:
    if len(data) > MEMORY_LIMIT:
        raise _corrupt(f"the file is larger than {MEMORY_LIMIT} bytes", code="memory_oversized")
    try:
        content = json.loads(data.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except UnicodeDecodeError:
        raise _corrupt("the file is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise _corrupt(f"the file is no JSON: {error.msg.removesuffix(' at')} in line {error.lineno}") from None
    except (ValueError, RecursionError) as error:
        raise _corrupt(f"the file is no JSON: {str(error)[:100]}") from None
    if not isinstance(content, dict):
        raise _corrupt("the file is no JSON object")
    return content


def validated_memory(data: bytes | None, content: Mapping[str, Any]) -> MemoryDocument:
    """The document of an already parsed memory; raises `StateCorruptError` whose place is the field at fault."""
    events = _get(content, EVENTS_KEY, list, [], "")
    _list_events(events)
    undo = content.get(UNDO_KEY)
    return validated_head(
        data,
        {key: value for key, value in content.items() if key not in (EVENTS_KEY, UNDO_KEY)},
        lines_from(events, RETAINED_EVENTS + EVENTS_SLACK),
        # What is no list of entries cannot be undone; that is for the undoing to say.
        lines_from(undo if isinstance(undo, list) else (), UNDO_DEPTH),
    )


def validated_head(
    data: bytes | None, content: Mapping[str, Any], events: Lines, undo: Lines, telling: int | None = None
) -> MemoryDocument:
    """The document of a memory of which all but its lines is parsed; raises as `validated_memory` does."""
    version = _get(content, "schema_version", str, SCHEMA_VERSION, "")
    if version.split(".")[0] != SUPPORTED_MAJOR:
        raise _corrupt(
            f"the file has the schema version {version[:20]!r}, which this Qiongli does not know",
            "schema_version",
            code="newer_schema",
            expected="1.x",
        )
    latest = content.get("latest_refinement")
    return MemoryDocument(
        data,
        {key: value for key, value in content.items() if key != DIGESTS_KEY},
        events,
        undo,
        revision=_count(content, "revision", ""),
        dismissed={
            subject: _dismissal(entry, f"dismissed_subjects.{subject}")
            for subject, entry in _get(content, "dismissed_subjects", dict, {}, "").items()
        },
        suggestions={
            subject: _suggestion(entry, f"suggestions.{subject}")
            for subject, entry in _get(content, "suggestions", dict, {}, "").items()
        },
        latest=None if latest is None else _latest(latest, "latest_refinement"),
        telling=telling,
    )


def _get(content: Any, key: str, kind: type, default: Any, field: str) -> Any:
    path = f"{field}.{key}" if field else key
    if not isinstance(content, Mapping):
        raise _corrupt("not an object", field)
    value = content.get(key, default)
    if not isinstance(value, kind) or isinstance(value, bool) is not (kind is bool):
        raise _corrupt(f"not of the type {kind.__name__}", path)
    return value


def _count(content: Any, key: str, field: str, default: int = 0) -> int:
    value: int = _get(content, key, int, default, field)
    if not 0 <= value < 10**15:
        raise _corrupt("not a count", f"{field}.{key}" if field else key)
    return value


def _confidence(content: Any, key: str, field: str) -> Ppm:
    value = content.get(key, 0)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise _corrupt("not a number from 0 to 1", f"{field}.{key}")
    return Ppm(round(value * SCALE))


def _dismissal(entry: Any, field: str) -> Dismissal:
    return Dismissal(
        dismissal_count=_count(entry, "dismissal_count", field, 1),
        last_dismissed_run_id=_get(entry, "last_dismissed_run_id", str, "", field),
        last_suggestion_count=_count(entry, "last_suggestion_count", field),
    )


def _suggestion(entry: Any, field: str) -> SuggestionMemory:
    fingerprints = _get(entry, "fingerprints", list, [], field)
    if not {str}.issuperset(map(type, fingerprints)):
        raise _corrupt("not a list of texts", f"{field}.fingerprints")
    return SuggestionMemory(
        suggestion_count=_count(entry, "suggestion_count", field),
        last_confidence=_confidence(entry, "last_confidence", field),
        last_decision=_get(entry, "last_decision", str, "suggest_subject", field),
        last_run_id=_get(entry, "last_run_id", str, "", field),
        fingerprints=tuple(fingerprints),
    )


def _latest(entry: Any, field: str) -> LatestRefinement:
    return LatestRefinement(
        run_id=_get(entry, "run_id", str, "", field),
        decision=_get(entry, "decision", str, "", field),
        primary_subject=_get(entry, "primary_subject", str, "", field),
        confidence=_confidence(entry, "confidence", field),
    )


def _list_events(events: list[Any]) -> tuple[LifecycleEvent, ...]:
    """Parsed events as records; raises `StateCorruptError` whose place is the field at fault."""
    return tuple(_event(event, f"{EVENTS_KEY}[{index}]") for index, event in enumerate(events))


def _event(event: Any, field: str) -> LifecycleEvent:
    """An event; beyond its name and its subject a field of the wrong type counts as absent."""
    if type(event) is not dict or type(event.get("event")) is not str:
        raise _corrupt("not an event", field, expected='{"event": "confirm", "subject": ..., ...}')
    subject = event.get("subject")
    if subject is not None and type(subject) is not str:
        raise _corrupt("not a text", f"{field}.subject")

    def text(key: str, default: str = "") -> str:
        value = event.get(key)
        return value if type(value) is str else default

    revision = event.get("revision")
    return LifecycleEvent(
        event=event["event"],
        subject=subject,
        source=text("source", "user"),
        write_manifest=event.get("write_manifest") is True,
        run_id=text("run_id"),
        time=text("time"),
        revision=revision if type(revision) is int else 0,
        proposal=text("proposal"),
    )
