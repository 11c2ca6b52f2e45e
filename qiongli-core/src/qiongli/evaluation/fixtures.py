"""Fixtures: one task with what the router must answer, in either of the two published shapes.

Both `name` and `id` name a fixture; `expected.decision` is in the packet's vocabulary or in the words `recommend`,
`core_only` and `keep_locked`. What a fixture does not mention is not compared. Every fault names file, line and field.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

import attrs

from qiongli.contract.problems import nearest
from qiongli.document import Document, read_document
from qiongli.errors import InputError, QiongliError, StateCorruptError
from qiongli.project.memory import memory_from_packet
from qiongli.records.packet import DECISIONS, Decision
from qiongli.records.project import AUTO, STRICTNESSES, SUBJECT_MODES, EvidenceMemory, ManifestState

#: Categories that every subject's pack must have.
REQUIRED_CATEGORIES: Final = (
    "clear_positive",
    "method_only_borrow",
    "mixed_subject",
    "near_miss",
    "locked_subject",
    "confirmed_subject",
    "dismissed_subject",
    "legacy_regression",
)

#: Words of the subject packs to decisions of the packet.
DECISION_WORDS: Final[Mapping[str, Decision]] = {
    "recommend": "suggest_subject",
    "core_only": "no_subject",
    "keep_locked": "lock_subject",
}

#: Tags that stand for a category where a fixture names none.
_TAG_CATEGORIES: Final = {
    "method_only": "method_only_borrow",
    "borrowed_lens": "method_only_borrow",
    "mixed": "mixed_subject",
    "locked": "locked_subject",
    "confirmed": "confirmed_subject",
    "dismissed": "dismissed_subject",
    "legacy": "legacy_regression",
    "positive": "clear_positive",
}

_KEYS: Final = (
    "name", "id", "subject_under_test", "category", "description", "task_packet", "manifest", "memory", "expected",
    "tags",
)  # fmt: skip
_EXPECTED_KEYS: Final = (
    "decision", "primary_subject", "suggest_subjects", "allowed_neighbor_subjects", "forbidden_subjects",
    "secondary_subjects", "method_lenses", "borrowed_lenses", "prompt", "promotion_status",
)  # fmt: skip
_MANIFEST_KEYS: Final = tuple(field.name for field in attrs.fields(ManifestState))
_PROMOTION_STATUSES: Final = ("none", "recommend_confirmation", "suppressed")
_LONGEST_NAME: Final = 200
_SLUG: Final = re.compile(r"[a-z0-9][a-z0-9_-]*\Z")


@attrs.frozen
class ExpectedLens:
    """A lens that must be borrowed; `subject` is empty when any subject may lend it."""

    lens: str
    subject: str = ""


@attrs.frozen
class Expected:
    """What the packet must say; None stands for what is not compared."""

    decision: Decision
    primary_subject: str | None = None
    suggest_subjects: frozenset[str] | None = None
    allowed_neighbor_subjects: frozenset[str] | None = None
    forbidden_subjects: frozenset[str] = frozenset()
    secondary_subjects: frozenset[str] | None = None
    method_lenses: frozenset[str] | None = None
    borrowed_lenses: frozenset[ExpectedLens] | None = None
    prompt: bool | None = None
    promotion_status: str | None = None


@attrs.frozen
class Fixture:
    """One task, the project's state around it, and the expectation; `place` is `file` or `file:line`."""

    name: str
    task_packet: Mapping[str, object] | str
    expected: Expected
    manifest: ManifestState = ManifestState()
    memory: EvidenceMemory | None = None
    category: str = ""
    tags: tuple[str, ...] = ()
    description: str = ""
    subject_under_test: str | None = None
    pack: str = ""
    place: str = ""
    #: The fixture as it was read, to be written out again.
    raw: Mapping[str, Any] = attrs.field(factory=dict, eq=False, repr=False)
    #: The task as it was read; None for one that is too large or undecodable, which has an answer of its own.
    document: Document | None = attrs.field(default=None, eq=False, repr=False)

    @property
    def key(self) -> str:
        """Pack and name: unique in a run."""
        return f"{self.pack}/{self.name}" if self.pack else self.name

    @property
    def near_miss(self) -> bool:
        """Whether the fixture guards against a false positive."""
        return self.category == "near_miss"


class FixtureError(InputError):
    """A fixture that cannot be read; `place` is `file:line: field`."""

    default_code = "invalid_fixture"


class _Reader:
    """Reads one fixture and collects its faults."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.problems: list[QiongliError] = []

    def report(self, field: str, message: str, *, code: str = "invalid_fixture", **details: Any) -> None:
        place = f"{self.place}: {field}" if field else self.place
        self.problems.append(FixtureError(message, code=code, place=place, **details))

    def unknown_keys(self, found: Iterable[object], known: tuple[str, ...], field: str, *, only_near: bool) -> None:
        for key in found:
            if key in known:
                continue
            hint = nearest(str(key), known)
            # A fixture may carry notes of its author; a misspelt key would silently not be compared.
            if hint or not only_near:
                path = f"{field}.{key}" if field else str(key)
                self.report(path, f"unknown field {key!r}", code="unknown_field", hint=hint, available=known)

    def text(self, raw: Mapping[str, Any], key: str, field: str, default: str = "") -> str:
        value = raw.get(key, default)
        if value is None:
            return default
        if not isinstance(value, str):
            self.report(field, "is no text", expected="a text")
            return default
        return value

    def texts(self, raw: Mapping[str, Any], key: str, field: str) -> tuple[str, ...] | None:
        if key not in raw or raw[key] is None:
            return None
        value = raw[key]
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            self.report(field, "is no list of texts", expected='a list such as ["finance"]')
            return None
        return tuple(value)

    def choice(self, raw: Mapping[str, Any], key: str, field: str, allowed: tuple[str, ...], default: str) -> str:
        value = raw.get(key, default)
        if value not in allowed:
            self.report(field, f"{value!r} is not allowed", available=allowed, hint=nearest(str(value), allowed))
            return default
        return str(value)


def read_fixture(
    raw: object, *, place: str, pack: str = "", folder: str = ""
) -> tuple[Fixture | None, tuple[QiongliError, ...]]:
    """Turn one parsed JSON value into a fixture, or into all its faults.

    `folder` is the name of the folder that the file stands in; it gives the category where nothing else does.
    """
    reader = _Reader(place)
    if not isinstance(raw, dict):
        reader.report("", "a fixture is a JSON object", expected='{"id": ..., "task_packet": ..., "expected": ...}')
        return None, tuple(reader.problems)
    reader.unknown_keys(raw, _KEYS, "", only_near=True)
    name = _name(raw, reader)
    task_packet, document = _task_packet(raw, reader)
    manifest = _manifest(raw, reader)
    memory = _memory(raw, reader)
    tags = reader.texts(raw, "tags", "tags") or ()
    category = _category(raw, tags, folder, reader)
    expected = _expected(raw, reader)
    description = reader.text(raw, "description", "description")
    subject = reader.text(raw, "subject_under_test", "subject_under_test") or None
    if reader.problems or expected is None:
        return None, tuple(reader.problems)
    fixture = Fixture(
        name=name,
        task_packet=task_packet,
        expected=expected,
        manifest=manifest,
        memory=memory,
        category=category,
        tags=tags,
        description=description,
        subject_under_test=subject,
        pack=pack,
        place=place,
        raw=raw,
        document=document,
    )
    return fixture, ()


def _name(raw: Mapping[str, Any], reader: _Reader) -> str:
    if "id" in raw and "name" in raw and raw["id"] != raw["name"]:
        reader.report("name", "`id` and `name` differ", hint="Give one of them")
    key = "id" if "id" in raw else "name"
    value = raw.get(key)
    if not isinstance(value, str) or not value.strip():
        reader.report(key, "the fixture has no name", code="missing_field", expected="`id` or `name`, a text")
        return ""
    if len(value) > _LONGEST_NAME or not value.isprintable():
        reader.report(key, f"the name is longer than {_LONGEST_NAME} characters or holds control characters")
    return value


def _task_packet(raw: Mapping[str, Any], reader: _Reader) -> tuple[Mapping[str, object] | str, Document | None]:
    value = raw.get("task_packet")
    if not isinstance(value, dict | str):
        code = "missing_field" if value is None else "invalid_fixture"
        reader.report("task_packet", "is missing or no object", code=code, expected="an object of fields, or a text")
        return "", None
    try:
        return value, read_document(value)
    except InputError as error:
        # Too large and undecodable tasks have an answer of their own, which a fixture may expect.
        if error.code not in ("input_too_large", "undecodable"):
            field = f"task_packet.{error.place}" if error.place else "task_packet"
            reader.report(field, error.message, expected=error.expected)
    return value, None


def _manifest(raw: Mapping[str, Any], reader: _Reader) -> ManifestState:
    value = raw.get("manifest")
    if value is None:
        return ManifestState()
    if not isinstance(value, dict):
        reader.report("manifest", "is no object", expected='{"active_subject": ..., "subject_mode": ...}')
        return ManifestState()
    known = (*_MANIFEST_KEYS, "schema_version")
    reader.unknown_keys(value, known, "manifest", only_near=False)
    active = reader.text(value, "active_subject", "manifest.active_subject", AUTO) or AUTO
    mode = reader.choice(value, "subject_mode", "manifest.subject_mode", SUBJECT_MODES, "auto")
    if mode != "auto" and active == AUTO:
        reader.report("manifest.active_subject", f"the mode {mode!r} needs a subject", expected="the slug of a subject")
    return ManifestState(
        active_subject=active,
        subject_mode=mode,  # type: ignore[arg-type]  # one of the choices
        secondary_subjects=reader.texts(value, "secondary_subjects", "manifest.secondary_subjects") or (),
        venue_profiles=reader.texts(value, "venue_profiles", "manifest.venue_profiles") or (),
        method_lenses=reader.texts(value, "method_lenses", "manifest.method_lenses") or (),
        strictness=reader.choice(value, "strictness", "manifest.strictness", STRICTNESSES, "standard"),  # type: ignore[arg-type]
    )


def _memory(raw: Mapping[str, Any], reader: _Reader) -> EvidenceMemory | None:
    value = raw.get("memory")
    if value is None:
        return None
    if not isinstance(value, dict):
        reader.report("memory", "is no object", expected="the content of a subject_evidence.json")
        return None
    try:
        return memory_from_packet(value)
    except StateCorruptError as error:
        field = error.place.rpartition(": ")[2] if ": " in error.place else ""
        reader.report(f"memory.{field}" if field else "memory", error.message, expected=error.expected)
        return None


def _category(raw: Mapping[str, Any], tags: tuple[str, ...], folder: str, reader: _Reader) -> str:
    named = reader.text(raw, "category", "category")
    if named:
        category = _normal(named)
        if category in REQUIRED_CATEGORIES:
            return category
        hint = nearest(category, REQUIRED_CATEGORIES)
        if hint:
            reader.report("category", f"unknown category {named!r}", available=REQUIRED_CATEGORIES, hint=hint)
        elif not _SLUG.match(category):
            reader.report("category", f"{named!r} is no plain word", available=REQUIRED_CATEGORIES)
        return category
    for word in (*tags, folder):
        category = _TAG_CATEGORIES.get(_normal(word), _normal(word))
        if category in REQUIRED_CATEGORIES:
            return category
    return ""


def _normal(word: str) -> str:
    return word.strip().lower().replace("-", "_").replace(" ", "_")


def _expected(raw: Mapping[str, Any], reader: _Reader) -> Expected | None:
    value = raw.get("expected")
    if not isinstance(value, dict):
        code = "missing_field" if value is None else "invalid_fixture"
        reader.report("expected", "is missing or no object", code=code, expected='{"decision": ...}')
        return None
    reader.unknown_keys(value, _EXPECTED_KEYS, "expected", only_near=False)
    words = (*DECISIONS, *DECISION_WORDS)
    if "decision" not in value:
        reader.report("expected.decision", "is missing", code="missing_field", available=words)
    decision = reader.choice(value, "decision", "expected.decision", words, "no_subject")
    primary: str | None = None
    if "primary_subject" in value:
        primary = reader.text(value, "primary_subject", "expected.primary_subject", AUTO) or AUTO
    prompt = value.get("prompt")
    if prompt is not None and not isinstance(prompt, bool):
        reader.report("expected.prompt", "is neither true nor false", expected="true or false")
        prompt = None
    status: str | None = None
    if "promotion_status" in value:
        status = reader.choice(value, "promotion_status", "expected.promotion_status", _PROMOTION_STATUSES, "none")
    forbidden = reader.texts(value, "forbidden_subjects", "expected.forbidden_subjects") or ()
    if primary is not None and primary in forbidden:
        reader.report("expected.forbidden_subjects", f"{primary!r} is both expected and forbidden")
    return Expected(
        decision=DECISION_WORDS.get(decision, decision),  # type: ignore[arg-type]  # one of the choices
        primary_subject=primary,
        suggest_subjects=_set(reader.texts(value, "suggest_subjects", "expected.suggest_subjects")),
        allowed_neighbor_subjects=_set(
            reader.texts(value, "allowed_neighbor_subjects", "expected.allowed_neighbor_subjects")
        ),
        forbidden_subjects=frozenset(forbidden),
        secondary_subjects=_set(reader.texts(value, "secondary_subjects", "expected.secondary_subjects")),
        method_lenses=_set(reader.texts(value, "method_lenses", "expected.method_lenses")),
        borrowed_lenses=_borrowed(value, reader),
        prompt=prompt,
        promotion_status=status,
    )


def _set(values: tuple[str, ...] | None) -> frozenset[str] | None:
    return None if values is None else frozenset(values)


def _borrowed(value: Mapping[str, Any], reader: _Reader) -> frozenset[ExpectedLens] | None:
    """Lenses by slug, by `subject/slug`, or as objects with `lens` and, if wanted, `subject`."""
    if value.get("borrowed_lenses") is None:
        return None
    found = set()
    items = value["borrowed_lenses"]
    for index, item in enumerate(items if isinstance(items, list) else [None]):
        if isinstance(item, str):
            subject, _, lens = item.rpartition("/")
            found.add(ExpectedLens(lens, subject))
        elif isinstance(item, dict) and isinstance(item.get("lens"), str):
            found.add(ExpectedLens(item["lens"], str(item.get("subject") or "")))
        else:
            field = f"expected.borrowed_lenses[{index}]" if isinstance(items, list) else "expected.borrowed_lenses"
            reader.report(field, "names no lens", expected='a slug, or {"subject": ..., "lens": ...}')
    return frozenset(found)
