"""The fields of the evidence memory, read one by one: what is not as it should be raises with its dotted place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from qiongli.errors import StateCorruptError
from qiongli.project._memory_file import EVENTS_KEY, TASKS_KEY
from qiongli.project.manifest import is_slug, schema_age
from qiongli.project.paths import MEMORY, STATE_FOLDER, escaped
from qiongli.records._units import SCALE, SCHEMA_VERSION, Ppm
from qiongli.records.lifecycle import LatestRefinement
from qiongli.records.project import Dismissal, LifecycleEvent, SuggestionMemory

_MEMORY_PLACE: Final = f"{STATE_FOLDER}/{MEMORY}"
_COUNT_LIMIT: Final = 10**15


def corrupt(message: str, field: str = "", *, code: str = "memory_malformed", expected: str = "") -> StateCorruptError:
    """The error for what the memory cannot hold, with its dotted place in the file."""
    return StateCorruptError(
        message,
        code=code,
        place=f"{_MEMORY_PLACE}: {field}" if field else _MEMORY_PLACE,
        expected=expected,
        hint="Any action on the project puts the file aside and starts a new one",
    )


def require_known_version(content: Mapping[str, Any]) -> None:
    """Raise unless the file is of a schema version that this Qiongli knows."""
    version = read_field(content, "schema_version", str, SCHEMA_VERSION, "")
    age = schema_age(version)
    if age != "known":
        raise corrupt(
            f"the file has the schema version {version[:20]!r}, which this Qiongli does not know",
            "schema_version",
            code="newer_schema" if age == "newer" else "memory_malformed",
            expected="1.x",
        )


def read_field(content: Any, key: str, kind: type, default: Any, field: str) -> Any:
    """A value of one type, or the default when the key is absent."""
    path = f"{field}.{key}" if field else key
    if not isinstance(content, Mapping):
        raise corrupt("not an object", field)
    value = content.get(key, default)
    if not isinstance(value, kind) or isinstance(value, bool) is not (kind is bool):
        raise corrupt(f"not of the type {kind.__name__}", path)
    return value


def read_count(content: Any, key: str, field: str, default: int = 0) -> int:
    """A count from 0, below the limit of what is written."""
    value: int = read_field(content, key, int, default, field)
    if not 0 <= value < _COUNT_LIMIT:
        raise corrupt("not a count", f"{field}.{key}" if field else key)
    return value


def _confidence(content: Any, key: str, field: str) -> Ppm:
    value = content.get(key, 0)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise corrupt("not a number from 0 to 1", f"{field}.{key}")
    return Ppm(round(value * SCALE))


def read_name(subject: str, field: str) -> str:
    """The slug of a subject."""
    if not is_slug(subject):
        raise corrupt(f"not the name of a subject: {subject[:80]!r}", field, expected="lower-case slugs")
    return subject


def _text(content: Any, key: str, field: str, default: str = "") -> str:
    """A text that is shown to people: what a terminal would act upon is escaped."""
    return escaped(read_field(content, key, str, default, field))


def read_dismissal(entry: Any, field: str) -> Dismissal:
    """What is remembered of a dismissed subject."""
    return Dismissal(
        dismissal_count=read_count(entry, "dismissal_count", field, 1),
        last_dismissed_run_id=_text(entry, "last_dismissed_run_id", field),
        last_suggestion_count=read_count(entry, "last_suggestion_count", field),
    )


def read_tasks(entry: Any, field: str) -> list[str]:
    """The fingerprints of the tasks that suggested a subject."""
    tasks: list[str] = read_field(entry, TASKS_KEY, list, [], field)
    if not are_texts(tasks):
        raise corrupt("not a list of texts", f"{field}.{TASKS_KEY}")
    return tasks


def are_texts(values: list[Any]) -> bool:
    """Whether every value is a text."""
    return {str}.issuperset(map(type, values))


def read_summary(entry: Any, field: str) -> SuggestionMemory:
    """What is remembered of a suggested subject, without its tasks."""
    return SuggestionMemory(
        suggestion_count=read_count(entry, "suggestion_count", field),
        last_confidence=_confidence(entry, "last_confidence", field),
        last_decision=_text(entry, "last_decision", field, "suggest_subject"),
        last_run_id=_text(entry, "last_run_id", field),
    )


def read_latest(entry: Any, field: str) -> LatestRefinement:
    """The last recorded run."""
    return LatestRefinement(
        run_id=_text(entry, "run_id", field),
        decision=_text(entry, "decision", field),
        primary_subject=_text(entry, "primary_subject", field),
        confidence=_confidence(entry, "confidence", field),
    )


def read_events(events: list[Any]) -> tuple[LifecycleEvent, ...]:
    """Parsed events as records; raises `StateCorruptError` whose place is the field at fault."""
    return tuple(_event(event, f"{EVENTS_KEY}[{index}]") for index, event in enumerate(events))


def _event(event: Any, field: str) -> LifecycleEvent:
    """An event; beyond its name and its subject a field of the wrong type counts as absent."""
    if type(event) is not dict or type(event.get("event")) is not str:
        raise corrupt("not an event", field, expected='{"event": "confirm", "subject": ..., ...}')
    subject = event.get("subject")
    if subject is not None and type(subject) is not str:
        raise corrupt("not a text", f"{field}.subject")

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
