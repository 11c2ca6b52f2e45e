"""The bytes of the evidence memory: a head that every action parses, and lists that grow and that none has to read.

A project may have ten thousand events, and as many tasks that suggested a subject, and an action adds one of them. The
suggestions with their tasks, events, and what can be undone therefore stand at the end of the file, one a line, and the
head holds the digests of those lines. Where they are right, the lines are as this module wrote them, and are carried
over unparsed. Any other file is JSON like any other: parsed and checked whole.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from hashlib import _Hash

SUGGESTIONS_KEY: Final = "suggestions"
#: Key of a suggestion's list of tasks.
TASKS_KEY: Final = "fingerprints"
EVENTS_KEY: Final = "lifecycle_events"
UNDO_KEY: Final = "undo"
#: Key of the head's object of digests.
DIGESTS_KEY: Final = "digests"

# A raw newline is never inside a JSON text, so no text in the file looks like these.
_SUGGESTIONS: Final = b',\n "suggestions": {'
_EVENTS: Final = b',\n "lifecycle_events": ['
_UNDO: Final = b',\n "undo": ['
_CLOSE: Final = b"]"
_END: Final = b"\n}\n"
_FIRST: Final = b"\n"
_BETWEEN: Final = b",\n"
_LAST: Final = b"\n "
_ENTRY: Final = b"\n  "
_LAST_TASK: Final = b"\n  ]"
_SUGGESTIONS_END: Final = b"\n }"
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


def parse_json(data: bytes | str) -> Any:
    """What a JSON text says; raises `ValueError` for what can be read, but is no number that JSON can say again."""
    return json.loads(data, parse_constant=_refused, parse_float=_finite)


def _refused(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if number - number != 0:
        raise ValueError(f"{text[:20]} is too large a number")
    return number


class Lines(NamedTuple):
    """JSON values as they stand in the file, oldest first, with a hash of those bytes that can be continued.

    The bytes are those of `data` from `start` to `end`, then `added`: a long history is not copied to add a line.
    """

    data: bytes = b""
    start: int = 0
    end: int = 0
    added: bytes = b""
    # Never updated in place, so that all empty lines may share theirs.
    hasher: _Hash = hashlib.sha256()

    @property
    def digest(self) -> str:
        """SHA-256 of the lines in hexadecimal digits."""
        return self.hasher.hexdigest()

    @property
    def parts(self) -> tuple[memoryview, bytes]:
        """The bytes of the lines, in two parts."""
        return memoryview(self.data)[self.start : self.end], self.added

    @property
    def empty(self) -> bool:
        """Whether there is no line."""
        return self.start == self.end and not self.added

    def __eq__(self, other: object) -> bool:
        """Whether these are the same bytes, wherever they stand."""
        return isinstance(other, Lines) and self.digest == other.digest

    def __ne__(self, other: object) -> bool:
        """Whether these are other bytes; a tuple has its own opinion."""
        return not self == other

    def __hash__(self) -> int:
        """A hash that goes with being equal."""
        return hash(self.digest)

    def holds(self, item: object) -> bool:
        """Whether one of the lines is that value, as this module writes it."""
        # A raw newline is in no JSON text, so what is found is a whole line.
        line = b"\n" + _line(item) + _BETWEEN
        return line in b"".join((b"\n", *self.parts, _BETWEEN))

    def appended(self, item: object, limit: int, slack: int = 0) -> Lines:
        """The lines with one more; once there are more than `limit + slack`, the oldest beyond the limit go.

        Dropping lines means hashing the others again, so that of a long list it is not done each time.
        """
        if self.added:
            return lines_of(b"".join(self.parts)).appended(item, limit, slack)
        line = _line(item)
        if self.empty:
            return lines_of(line)
        added = _BETWEEN + line
        surplus = self.data.count(b"\n", self.start, self.end) + 2 - limit
        if surplus <= slack:
            hasher = self.hasher.copy()
            hasher.update(added)
            return self._replace(added=added, hasher=hasher)
        if limit == 1:
            return lines_of(line)
        start = self.start
        for _ in range(surplus):
            start = self.data.index(b"\n", start) + 1
        hasher = hashlib.sha256(memoryview(self.data)[start : self.end])
        hasher.update(added)
        return Lines(self.data, start, self.end, added, hasher)

    def match(self, item: bytes) -> bool:
        """Whether every line matches a regular expression; where that is enough, it is cheaper than to parse them."""
        if self.empty:
            return True
        data = b"".join(self.parts) if self.added else self.parts[0]
        return re.fullmatch(rb"  %b(?:,\n  %b)*+" % (item, item), data) is not None

    def parse(self) -> list[Any]:
        """The lines as JSON values; raises `ValueError` for lines that this module did not write."""
        items: list[Any] = parse_json(b"".join((b"[", *self.parts, b"]")))
        return items


def lines_of(data: bytes, start: int = 0, end: int | None = None) -> Lines:
    """The lines that are a part of some bytes."""
    end = len(data) if end is None else end
    return Lines(data, start, end, b"", hashlib.sha256(memoryview(data)[start:end]))


def lines_from(items: Iterable[Any], limit: int) -> Lines:
    """The lines of parsed values, of the newest if there are too many."""
    return lines_of(_BETWEEN.join(map(_line, list(items)[-limit:])))


class Suggestions(NamedTuple):
    """The suggestions as they stand in the file, each list of tasks replaced by its digest."""

    #: JSON text of its own: an object whose entries have no tasks, or the digest of their lines as the only one.
    text: bytes = b"{}"
    #: The tasks of each entry, in the order of the entries.
    tasks: tuple[Lines, ...] = ()

    @property
    def digest(self) -> str:
        """SHA-256 in hexadecimal digits, of everything in the suggestions."""
        return hashlib.sha256(self.text).hexdigest()


class FileParts(NamedTuple):
    """A file in the form of this module. Its lines are what they seem only if the head holds their digests."""

    #: JSON text of its own.
    head: bytes
    suggestions: Suggestions
    events: Lines
    undo: Lines

    @property
    def digests(self) -> dict[str, str]:
        """What the head must say of the rest."""
        return _digests(self.suggestions, self.events, self.undo)


def _digests(suggestions: Suggestions, events: Lines, undo: Lines) -> dict[str, str]:
    return {SUGGESTIONS_KEY: suggestions.digest, EVENTS_KEY: events.digest, UNDO_KEY: undo.digest}


def split_file(data: bytes) -> FileParts | None:
    """The parts of a file; None when it has another form."""
    at = data.find(_SUGGESTIONS)
    if at < 0 or not data.endswith(_END):
        return None
    found = _split_suggestions(data, at + len(_SUGGESTIONS))
    if found is None:
        return None
    suggestions, events_at = found
    undo_at = data.rfind(_UNDO)
    if not data.startswith(_EVENTS, events_at) or undo_at <= events_at:
        return None
    events = _section(data, events_at + len(_EVENTS), undo_at)
    undo = _section(data, undo_at + len(_UNDO), len(data) - len(_END))
    return None if events is None or undo is None else FileParts(data[:at] + b"}", suggestions, events, undo)


def _split_suggestions(data: bytes, start: int) -> tuple[Suggestions, int] | None:
    """The suggestions that begin after their brace, and where they end."""
    if data.startswith(b"}", start):
        return Suggestions(), start + 1
    text, tasks = [b"{"], []
    while data.startswith(_ENTRY, start):
        end = data.find(b"\n", start + 1)
        if data.endswith(b"[", start, end):
            close = _end_of_tasks(data, end + 1)
            if close is None:
                return None
            tasks.append(lines_of(data, end + 1, close))
            text += (data[start:end], _encode(tasks[-1].digest))
            start, end = close + len(_LAST_TASK) - 1, data.find(b"\n", close + 1)
        else:
            tasks.append(Lines())
        text.append(data[start:end])
        start = end
    if not data.startswith(_SUGGESTIONS_END, start):
        return None
    text.append(_SUGGESTIONS_END)
    return Suggestions(b"".join(text), tuple(tasks)), start + len(_SUGGESTIONS_END)


def _end_of_tasks(data: bytes, start: int) -> int | None:
    # To look for one byte is several times as fast as for four, and few tasks have one of these.
    bracket = data.find(b"]", start)
    while bracket >= 0:
        close = bracket + 1 - len(_LAST_TASK)
        if close > start and data.startswith(_LAST_TASK, close):
            return close
        bracket = data.find(b"]", bracket + 1)
    return None


def _section(data: bytes, start: int, end: int) -> Lines | None:
    if end - start == len(_CLOSE) and data.startswith(_CLOSE, start):
        return Lines()
    if not (data.startswith(_FIRST, start) and data.endswith(_LAST + _CLOSE, start, end)):
        return None
    return lines_of(data, start + len(_FIRST), end - len(_LAST + _CLOSE))


def render_file(
    content: Mapping[str, Any], tasks: Mapping[str, Lines], events: Lines, undo: Lines
) -> tuple[bytes, int]:
    """The file as JSON text, one event, task or undo entry a line so that a diff can be read.

    `tasks` are those of the suggestions in the content. Returns also how many of its bytes, counted from its start,
    differ whenever anything in it differs.
    """
    parts = []
    suggestions, rows = _render_suggestions(content.get(SUGGESTIONS_KEY, {}), tasks)
    for key, value in content.items():
        if key == SUGGESTIONS_KEY:
            continue
        text = _spread(value) if isinstance(value, list | dict) and value else _encode(value)
        parts.append(b" " + _encode(key) + b": " + text)
    parts.append(f' "{DIGESTS_KEY}": '.encode() + _encode(_digests(suggestions, events, undo)))
    head = b"{\n" + _BETWEEN.join(parts)
    return b"".join((head, _SUGGESTIONS, *rows, _EVENTS, *_framed(events), _UNDO, *_framed(undo), _END)), len(head)


def _render_suggestions(
    entries: Mapping[str, Mapping[str, Any]], tasks: Mapping[str, Lines]
) -> tuple[Suggestions, list[bytes | memoryview]]:
    """The suggestions, and the bytes of the file from behind their brace on."""
    if not entries:
        return Suggestions(), [b"}"]
    text, rows, before = [b"{"], list[bytes | memoryview](), b""
    for subject, entry in entries.items():
        # The list is the last in its entry, and open until its lines are known.
        row = before + _ENTRY + _encode(subject) + b": " + _encode({**entry, TASKS_KEY: []})[: -len(b"]}")]
        lines = tasks.get(subject, Lines())
        if lines.empty:
            text += (row, b"]}")
            rows += (row, b"]}")
        else:
            text += (row, _encode(lines.digest), b"]}")
            rows += (row, _FIRST, *lines.parts, _LAST_TASK, b"}")
        before = b","
    return Suggestions(b"".join((*text, _SUGGESTIONS_END))), [*rows, _SUGGESTIONS_END]


def _spread(value: list[Any] | dict[str, Any]) -> bytes:
    """A list or an object, one item a line."""
    if isinstance(value, list):
        return b"[\n" + _BETWEEN.join(b"  " + _encode(item) for item in value) + b"\n ]"
    lines = (b"  " + _encode(name) + b": " + _encode(item) for name, item in value.items())
    return b"{\n" + _BETWEEN.join(lines) + b"\n }"


def _framed(lines: Lines) -> tuple[bytes | memoryview, ...]:
    return (_CLOSE,) if lines.empty else (_FIRST, *lines.parts, _LAST, _CLOSE)


def _line(item: object) -> bytes:
    return b"  " + _encode(item)


def _encode(value: object) -> bytes:
    # A lone surrogate cannot be written as UTF-8; its escape is the same JSON.
    return _ENCODER.encode(value).encode("utf-8", "backslashreplace")
