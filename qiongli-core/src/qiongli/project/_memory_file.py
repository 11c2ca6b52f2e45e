"""The bytes of the evidence memory: a head that every action parses, and lists that grow and that none has to read.

A project may have ten thousand events, and an action adds one. Events, and what can be undone, therefore stand at the
end of the file, one a line, and the head holds the digests of those lines. Where they are right, the lines are as this
module wrote them, and are carried over unparsed. Any other file is JSON like any other: parsed and checked whole.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from hashlib import _Hash

EVENTS_KEY: Final = "lifecycle_events"
UNDO_KEY: Final = "undo"
#: Key of the head's object of digests.
DIGESTS_KEY: Final = "digests"

# A raw newline is never inside a JSON text, so no text in the file looks like these.
_EVENTS: Final = b',\n "lifecycle_events": ['
_UNDO: Final = b',\n "undo": ['
_CLOSE: Final = b"]"
_END: Final = b"\n}\n"
_FIRST: Final = b"\n"
_BETWEEN: Final = b",\n"
_LAST: Final = b"\n "
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


class Lines(NamedTuple):
    """JSON objects as they stand in the file, oldest first, with a hash of those bytes that can be continued.

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

    def appended(self, item: Mapping[str, Any], limit: int, slack: int = 0) -> Lines:
        """The lines with one more; once there are more than `limit + slack`, the oldest beyond the limit go.

        Dropping lines means hashing the others again, so that of a long list it is not done each time.
        """
        if self.added:
            return lines_of(b"".join(self.parts)).appended(item, limit, slack)
        line = b"  " + _encode(item)
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

    def parse(self) -> list[Any]:
        """The lines as JSON values; raises `ValueError` for lines that this module did not write."""
        items: list[Any] = json.loads(b"".join((b"[", *self.parts, b"]")))
        return items


def lines_of(data: bytes, start: int = 0, end: int | None = None) -> Lines:
    """The lines that are a part of some bytes."""
    end = len(data) if end is None else end
    return Lines(data, start, end, b"", hashlib.sha256(memoryview(data)[start:end]))


def lines_from(items: Iterable[Any], limit: int) -> Lines:
    """The lines of parsed objects, of the newest if there are too many."""
    return lines_of(_BETWEEN.join(b"  " + _encode(item) for item in list(items)[-limit:]))


def split_file(data: bytes) -> tuple[bytes, Lines, Lines] | None:
    """The head of a file, as JSON text of its own, events, and what can be undone; None when it has another form.

    The lines are what they seem only if the head holds their digests.
    """
    at, undo_at = data.find(_EVENTS), data.rfind(_UNDO)
    if not 0 <= at < undo_at or not data.endswith(_END):
        return None
    events = _section(data, at + len(_EVENTS), undo_at)
    undo = _section(data, undo_at + len(_UNDO), len(data) - len(_END))
    return None if events is None or undo is None else (data[:at] + b"}", events, undo)


def _section(data: bytes, start: int, end: int) -> Lines | None:
    if end - start == len(_CLOSE) and data.startswith(_CLOSE, start):
        return Lines()
    if not (data.startswith(_FIRST, start) and data.endswith(_LAST + _CLOSE, start, end)):
        return None
    return lines_of(data, start + len(_FIRST), end - len(_LAST + _CLOSE))


def render_file(content: Mapping[str, Any], events: Lines, undo: Lines) -> tuple[bytes, int]:
    """The file as JSON text, one event, suggestion or undo entry a line so that a diff can be read.

    Returns also how many of its bytes, counted from its start, differ whenever anything in it differs.
    """
    parts = []
    for key, value in content.items():
        text = _spread(value) if isinstance(value, list | dict) and value else _encode(value)
        parts.append(b" " + _encode(key) + b": " + text)
    digests = {EVENTS_KEY: events.digest, UNDO_KEY: undo.digest}
    parts.append(f' "{DIGESTS_KEY}": '.encode() + _encode(digests))
    head = b"{\n" + _BETWEEN.join(parts)
    return b"".join((head, _EVENTS, *_framed(events), _UNDO, *_framed(undo), _END)), len(head)


def _spread(value: list[Any] | dict[str, Any]) -> bytes:
    """A list or an object, one item a line."""
    if isinstance(value, list):
        return b"[\n" + _BETWEEN.join(b"  " + _encode(item) for item in value) + b"\n ]"
    lines = (b"  " + _encode(name) + b": " + _encode(item) for name, item in value.items())
    return b"{\n" + _BETWEEN.join(lines) + b"\n }"


def _framed(lines: Lines) -> tuple[bytes | memoryview, ...]:
    return (_CLOSE,) if lines.empty else (_FIRST, *lines.parts, _LAST, _CLOSE)


def _encode(value: object) -> bytes:
    # A lone surrogate cannot be written as UTF-8; its escape is the same JSON.
    return _ENCODER.encode(value).encode("utf-8", "backslashreplace")
