"""The document: which fields of a task packet are subject text, and their tokens."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Final

import attrs

from qiongli._value import Value
from qiongli.document._mask import mask, reference_span
from qiongli.document._normalise import Tokens, tokenise
from qiongli.errors import InputError

#: Bytes of UTF-8 that one packet may hold.
DEFAULT_LIMIT: Final = 1_048_576

#: Fields that identify or configure; they are never subject text.
NOT_TEXT: Final = frozenset(
    {
        *("task_id", "id", "uuid", "run_id", "doi", "isbn", "issn", "arxiv", "url", "urls", "uri", "path", "paths"),
        *("file", "files", "filename", "cwd", "paper_type", "language", "lang", "schema_version", "version", "answers"),
        *("budget", "created_at", "updated_at", "date", "author", "authors", "email", "category", "name", "digest"),
        *("checksum", "fingerprint"),
    }
)
#: So do fields whose names end like this.
_NOT_TEXT_ENDINGS: Final = ("_id", "_ids", "_path", "_paths", "_file", "_files", "_url", "_urls", "_uri", "_digest")

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
    """One field: its original text, the tokens of what counts, and the range of its reference list, if it has one."""

    name: str
    text: str
    masked: str
    tokens: Tokens
    references: tuple[int, int] | None = None

    def is_reference(self, offset: int) -> bool:
        """Whether a character stands in the reference list."""
        return self.references is not None and self.references[0] <= offset < self.references[1]


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
    return _RANK.get(name.casefold(), len(_RANK)), name


def _texts(packet: Mapping[str, object]) -> dict[str, str]:
    if not isinstance(packet, Mapping):
        raise InputError("a task packet is a text or a mapping", code="invalid_task_packet", expected="a mapping")
    if "resource_activation_plan" in packet:
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
        key = name.casefold()
        if key in NOT_TEXT or key.endswith(_NOT_TEXT_ENDINGS) or value is None or isinstance(value, bool | int | float):
            continue
        if isinstance(value, str):
            texts[name] = value
        elif isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
            texts[name] = "; ".join(value)
        elif not isinstance(value, Mapping):
            raise InputError(
                f"the field {name!r} is no text",
                code="invalid_task_packet",
                place=name,
                expected="a text or a list of texts",
            )
    return texts


def _field(name: str, text: str) -> DocumentField:
    masked = mask(text)
    return DocumentField(name, text, masked, tokenise(masked), reference_span(masked))
