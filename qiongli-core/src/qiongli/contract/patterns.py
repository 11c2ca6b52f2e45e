"""The forms of a pattern: a phrase, an acronym with context words, a regular expression in RE2 syntax."""

from __future__ import annotations

import re
from typing import Any, Final

import attrs

from qiongli.contract.nodes import MappingNode, Node, Scalar
from qiongli.contract.problems import Problems
from qiongli.contract.shapes import MISSING, Choice, Shape, Text
from qiongli.contract.structures import Field, ListOf, Structure

MAXIMUM_PHRASE: Final = 200
MAXIMUM_REGEX: Final = 1000
#: Memory that RE2 may use for one regular expression; larger ones are refused.
REGEX_MEMORY: Final = 1 << 20

_ACRONYM: Final = re.compile(r"[0-9A-Za-z][0-9A-Za-z&.+/-]{0,18}[0-9A-Za-z+]\Z")
#: Han, Hiragana, Katakana: scripts that are written without spaces.
_UNSPACED: Final = re.compile(
    "[\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)


def reason_against_phrase(text: str) -> str | None:
    """Why a text cannot be a phrase, or None."""
    if not any(character.isalnum() for character in text):
        return f"{text!r} has neither letter nor digit"
    return None


def reason_against_acronym(text: str) -> str | None:
    """Why a text cannot be an acronym, or None: it is matched case-sensitively as one token."""
    if not _ACRONYM.match(text):
        return f"{text!r} is no single token of 2 to 20 ASCII letters, digits and & . + / -"
    if not any(character.isupper() for character in text):
        return f"{text!r} has no capital letter, which is all that tells an acronym from a word"
    return None


def reason_against_context_word(text: str) -> str | None:
    """Why a text cannot be a context word of an acronym, or None."""
    if len(text.split()) != 1:
        return f"{text!r} is not one word"
    return reason_against_phrase(text)


def reason_against_regex(text: str) -> str | None:
    """Why RE2 refuses a regular expression, or None; RE2 is imported only here, when a contract has one."""
    try:
        import re2
    except ImportError:
        return "google-re2 is not installed, so the regular expression cannot be checked"
    options = re2.Options()
    options.max_mem = REGEX_MEMORY
    options.log_errors = False
    try:
        compiled = re2.compile(text, options)
    except re2.error as error:
        detail = error.args[0] if error.args else "no reason given"
        if isinstance(detail, bytes):
            detail = detail.decode("utf-8", "replace")
        return f"RE2 refuses the regular expression: {detail}"
    if compiled.search("") is not None:
        return "the regular expression matches the empty text"
    return None


JUSTIFICATION: Final = Field(
    "justification",
    Text(phrase="a sentence", maximum=300),
    "Why this one common word is safe here; without it, one-word patterns among the most frequent words are refused.",
)

PHRASE: Final = Structure(
    name="phrase",
    fields=(
        Field(
            "phrase",
            Text(phrase="a phrase", maximum=MAXIMUM_PHRASE, check=reason_against_phrase, code="invalid_pattern"),
            "Whole words, whatever their case; tolerant of plural (last word), hyphen, dash and line break.",
            required=True,
        ),
        Field(
            "lang",
            Choice(values=("zh",), code="invalid_pattern", noun="language"),
            "`zh`: no word boundaries; traditional and full-width forms count as the same characters.",
        ),
        JUSTIFICATION,
    ),
)

ACRONYM: Final = Structure(
    name="acronym",
    fields=(
        Field(
            "acronym",
            Text(phrase="an acronym", maximum=20, check=reason_against_acronym, code="invalid_pattern"),
            "One token, its case respected.",
            required=True,
        ),
        Field(
            "near",
            ListOf(
                Text(phrase="a word", maximum=60, check=reason_against_context_word, code="invalid_pattern"),
                minimum=1,
                maximum=60,
            ),
            "It counts only with one of these words in its sentence within 12 tokens, or in the venue field.",
            required=True,
        ),
        JUSTIFICATION,
    ),
)

REGEX: Final = Structure(
    name="regex",
    fields=(
        Field(
            "regex",
            Text(
                phrase="a regular expression in RE2 syntax",
                maximum=MAXIMUM_REGEX,
                check=reason_against_regex,
                code="regex_refused",
            ),
            "Matched in linear time against the normalised text.",
            required=True,
        ),
        JUSTIFICATION,
    ),
)

FORMS: Final = (PHRASE, ACRONYM, REGEX)


@attrs.frozen
class PatternShape(Shape):
    """A plain text, which is a phrase, or a mapping with exactly one of `phrase`, `acronym` and `regex`."""

    def _read(self, node: Node, field: str, problems: Problems) -> Any:
        if isinstance(node, Scalar):
            phrase = PHRASE.fields[0].shape.read(node, field, problems)
            return (
                MISSING if phrase is MISSING else {"kind": "phrase", "text": phrase, "line": node.line, "place": field}
            )
        if not isinstance(node, MappingNode):
            return self._wrong_type(node, field, problems)
        forms = [form for form in FORMS if node.get(form.name) is not None]
        if len(forms) != 1:
            problems.report(
                "invalid_pattern",
                "a pattern has exactly one of the keys phrase, acronym and regex",
                line=node.line,
                field=field,
                available=tuple(form.name for form in FORMS),
            )
            return MISSING
        form = forms[0]
        values = form.read(node, field, problems)
        if form.name not in values or (form is ACRONYM and "near" not in values):
            return MISSING
        pattern = {"kind": form.name, "text": values.pop(form.name), **values}
        if pattern.get("lang") == "zh" and not _UNSPACED.search(pattern["text"]):
            problems.report(
                "invalid_pattern", "the phrase has no Chinese character", line=node.line, field=f"{field}.lang"
            )
            return MISSING
        return pattern

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of all forms."""
        return {"anyOf": [PHRASE.fields[0].shape.schema(), *(form.schema() for form in FORMS)]}

    def summary(self) -> str:
        """The forms."""
        return "a phrase, or a mapping with `phrase`, `acronym` or `regex`"
