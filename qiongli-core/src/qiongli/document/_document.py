"""The document: which fields of a task packet are subject text, and their tokens."""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Mapping
from typing import Final

import attrs

from qiongli._value import Value
from qiongli.document._field_names import field_key, field_kind
from qiongli.document._mask import mask, reference_spans
from qiongli.document._normalise import Tokens, tokenise
from qiongli.errors import InputError

#: Bytes of UTF-8 that one packet may hold.
DEFAULT_LIMIT: Final = 1_048_576

#: The order in which known fields are read; all others follow by name.
_FIELD_ORDER: Final = (
    "topic",
    "title",
    "question",
    "abstract",
    "text",
    "context",
    "keywords",
    "venue",
    "jel",
    "draft",
    "review",
)


@attrs.frozen(repr=False)
class DocumentField(Value):
    """One field: its original text, the tokens of what counts, and the ranges of its reference lists."""

    name: str
    text: str
    masked: str
    tokens: Tokens
    references: tuple[tuple[int, int], ...] = ()

    def is_reference(self, offset: int) -> bool:
        """Whether a character stands in a reference list."""
        place = bisect_right(self.references, (offset, len(self.text))) - 1
        return place >= 0 and offset < self.references[place][1]


@attrs.frozen(repr=False)
class Document(Value):
    """A task packet, read; `size` is in bytes of UTF-8, `fingerprint` is the same for the same subject text."""

    fields: tuple[DocumentField, ...]
    fingerprint: str
    size: int
    task_id: str = ""

    @property
    def has_text(self) -> bool:
        """Whether any field holds a token."""
        return any(field.tokens.words for field in self.fields)


def read_document(task_packet: Mapping[str, object] | str, *, limit: int = DEFAULT_LIMIT) -> Document:
    """Read a task packet: a text, or a mapping of field names to texts or lists of texts.

    `limit` is in bytes of UTF-8. Raises `InputError` with the codes `input_too_large`, `undecodable` (characters that
    no encoding produced) and `invalid_task_packet` (a wrong type).
    """
    texts = {"text": task_packet} if isinstance(task_packet, str) else _texts(task_packet)
    size = 0
    for name, text in texts.items():
        try:
            size += len(text) if text.isascii() else len(text.encode("utf-8"))
        except UnicodeEncodeError:
            raise InputError(
                "the text holds bytes that are no UTF-8", code="undecodable", place=name, hint="Save it as UTF-8"
            ) from None
    if size > limit:
        raise InputError(
            f"the task has {size} bytes, more than the limit of {limit}",
            code="input_too_large",
            expected=f"at most {limit}",
            hint="Give the abstract only",
        )
    names = sorted(texts, key=_reading_order) if len(texts) > 1 else texts
    fields = tuple([field for name in names if (field := _field(name, texts[name])).text])
    digest = hashlib.sha256()
    for field in fields:
        digest.update(" ".join(field.tokens.words).encode("utf-8", "replace") + b"\n")
    task_id = "" if isinstance(task_packet, str) else str(task_packet.get("task_id") or "")
    return Document(fields, digest.hexdigest()[:32], size, task_id=task_id)


_RANK: Final = {name: rank for rank, name in enumerate(_FIELD_ORDER)}


def _reading_order(name: str) -> tuple[int, str]:
    return _RANK.get(field_key(name), len(_RANK)), name


def _texts(packet: Mapping[str, object]) -> dict[str, str]:
    if not isinstance(packet, Mapping):
        raise InputError("a task packet is a text or a mapping", code="invalid_task_packet", expected="a mapping")
    from qiongli.document._own import is_answer

    if is_answer(packet):
        raise InputError(
            "the packet is an answer of Qiongli's, not a task",
            code="invalid_task_packet",
            expected="a task packet with fields such as title and abstract",
            hint="Route the text that was asked about",
        )
    texts: dict[str, str] = {}
    for name, value in packet.items():
        if not isinstance(name, str):
            raise InputError(
                "a field has no name", code="invalid_task_packet", place=repr(name), expected="a text as key"
            )
        kind = field_kind(name)
        if kind == "no_text" or value is None or isinstance(value, bool | int | float):
            continue
        if isinstance(value, str):
            texts[name] = value
        elif isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
            texts[name] = "; ".join(value)
        elif not isinstance(value, Mapping) and kind == "text":
            raise InputError(
                f"the field {name!r} is no text",
                code="invalid_task_packet",
                place=name,
                expected="a text or a list of texts",
            )
    return texts


def _field(name: str, text: str) -> DocumentField:
    masked = mask(text)
    references = ((0, len(text)),) if field_kind(name) == "references" else reference_spans(masked)
    return DocumentField(name, text, masked, tokenise(masked), references)
