"""What a value in a YAML file may be: one description that reads it, draws its JSON Schema and documents it.

A shape reads a node to plain Python values (texts, numbers, lists, dicts) and reports what is wrong with it, with the
line and the dotted field. It never stops at the first fault.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from enum import Enum
from fractions import Fraction
from typing import Any, Final

import attrs

from qiongli.contract.nodes import MappingNode, Node, RefusedNode, Scalar, SequenceNode
from qiongli.contract.problems import Problems, nearest


class Missing(Enum):
    """The result of reading a faulty value: the fault was reported, and nothing further should be said of it."""

    MISSING = "missing"


MISSING: Final = Missing.MISSING

#: What YAML 1.1 or 1.2 reads as nothing, a truth value or a number, when it stands without quotes.
_NULL: Final = re.compile(r"(?:~|null|Null|NULL|)\Z")
_TRUTH: Final = re.compile(r"(?:yes|no|true|false|on|off)\Z", re.IGNORECASE)
_NUMBER: Final = re.compile(
    r"[-+]?(?:\.(?:inf|nan)|0x[0-9a-f_]+|0o?[0-7_]+|0b[01_]+|(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:e[-+]?[0-9]+)?)\Z",
    re.IGNORECASE,
)
_DECIMAL: Final = re.compile(r"[-+]?(?:[0-9]{1,20}(?:\.[0-9]{0,40})?|\.[0-9]{1,40})(?:[eE][-+]?[0-9]{1,5})?\Z")
_INTEGER: Final = re.compile(r"[-+]?[0-9]{1,18}\Z")
#: Control characters and those that reorder text on a screen.
_UNPRINTABLE: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def describe(node: Node) -> str:
    """Name what a node is, for a message."""
    if isinstance(node, MappingNode):
        return "a mapping"
    if isinstance(node, SequenceNode):
        return "a list"
    if isinstance(node, RefusedNode):
        return "refused"
    if not node.plain:
        return "a text in quotes"
    if _NULL.match(node.text):
        return "nothing"
    if _TRUTH.match(node.text):
        return f"the truth value {node.text}"
    if _NUMBER.match(node.text):
        return f"the number {node.text}"
    return "a text"


def is_null(node: Node) -> bool:
    """Whether the node is YAML's null."""
    return isinstance(node, Scalar) and node.plain and bool(_NULL.match(node.text))


@attrs.frozen
class Shape(ABC):
    """Base of all shapes; `name` is how documentation and messages call it."""

    def read(self, node: Node, field: str, problems: Problems) -> Any:
        """Give the plain value, or `MISSING` after having reported why not."""
        problems.lines.setdefault(field, node.line)
        if isinstance(node, RefusedNode):
            return MISSING
        return self._read(node, field, problems)

    @abstractmethod
    def _read(self, node: Node, field: str, problems: Problems) -> Any:
        """Give the plain value of a node that was not refused, or `MISSING` after having reported why not."""

    @abstractmethod
    def schema(self) -> dict[str, Any]:
        """The JSON Schema (draft 2020-12) of the values that this shape accepts."""

    @abstractmethod
    def summary(self) -> str:
        """A phrase for the reference."""

    def _wrong_type(self, node: Node, field: str, problems: Problems, hint: str = "") -> Missing:
        problems.report(
            "wrong_type",
            f"this is {describe(node)}",
            line=node.line,
            field=field,
            expected=self.summary(),
            hint=hint,
        )
        return MISSING


@attrs.frozen
class Text(Shape):
    """A text of 1 to `maximum` characters.

    `check` gives the reason against a text, or None, under the code `code`; `pattern` is the same as a regular
    expression, for editors. `lines` allows line breaks. `verbatim` takes the text as written even when YAML would
    read a number (`schema_version: 1.0`).
    """

    phrase: str = "a text"
    maximum: int = 200
    pattern: str = ""
    check: Callable[[str], str | None] | None = None
    code: str = "invalid_value"
    lines: bool = False
    verbatim: bool = False

    def _read(self, node: Node, field: str, problems: Problems) -> Any:
        if not isinstance(node, Scalar) or is_null(node):
            colon = "A text that holds ': ' needs quotes." if isinstance(node, MappingNode) else ""
            return self._wrong_type(node, field, problems, hint=colon)
        if node.plain and not self.verbatim and (_TRUTH.match(node.text) or _NUMBER.match(node.text)):
            return self._wrong_type(node, field, problems, hint=f'Write "{node.text}", in quotes.')
        text = node.text.strip()
        reason = self._reason_against(text)
        if reason is not None:
            expected = self.summary() if reason != self.summary() else ""
            problems.report(self.code, reason, line=node.line, field=field, expected=expected)
            return MISSING
        return text

    def _reason_against(self, text: str) -> str | None:
        if not text:
            return "the text is empty"
        if len(text) > self.maximum:
            return f"the text has {len(text)} characters, more than {self.maximum}"
        if not self.lines and ("\n" in text or "\t" in text):
            return "the text has a line break or tab"
        unprintable = _UNPRINTABLE.search(text)
        if unprintable:
            return f"the text has the invisible character U+{ord(unprintable.group()):04X}"
        if self.check is not None:
            return self.check(text)
        if self.pattern and not re.fullmatch(self.pattern, text):
            return f"{text!r} does not fit"
        return None

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the text."""
        schema: dict[str, Any] = {"type": ["string", "number"] if self.verbatim else "string"}
        if not self.verbatim:
            schema |= {"minLength": 1, "maxLength": self.maximum}
        if self.pattern:
            schema["pattern"] = f"^(?:{self.pattern})$"
        return schema

    def summary(self) -> str:
        """The phrase of the text."""
        return self.phrase


@attrs.frozen
class Choice(Shape):
    """One of a closed set of texts; a miss is reported under `code`, with the nearest value."""

    values: tuple[str, ...] = ()
    code: str = "invalid_value"
    noun: str = "value"

    def _read(self, node: Node, field: str, problems: Problems) -> Any:
        if not isinstance(node, Scalar) or is_null(node):
            return self._wrong_type(node, field, problems)
        if node.text not in self.values:
            problems.report(
                self.code,
                f"unknown {self.noun} {node.text!r}",
                line=node.line,
                field=field,
                hint=nearest(node.text, self.values),
                available=self.values,
            )
            return MISSING
        return node.text

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the choice."""
        return {"enum": list(self.values)}

    def summary(self) -> str:
        """The choices."""
        values = ", ".join(f"`{value}`" for value in self.values)
        return values if len(self.values) == 1 else f"one of {values}"


@attrs.frozen
class Number(Shape):
    """A finite decimal number in [`minimum`, `maximum`], read exactly.

    `scale` multiplies the number and rounds it, half to even, to an integer (weights: millionths of a score);
    without it the value is a float. `exclusive` shuts the minimum out.
    """

    minimum: str = "0"
    maximum: str = "1"
    exclusive: bool = False
    scale: int | None = None
    code: str = "invalid_value"

    def _read(self, node: Node, field: str, problems: Problems) -> Any:
        if not isinstance(node, Scalar) or not node.plain or is_null(node) or _TRUTH.match(node.text):
            return self._fault(f"this is {describe(node)}", node, field, problems)
        # The float is asked first: it bounds the exponent, so that `1e999999999` never becomes a huge integer.
        if not _DECIMAL.match(node.text) or not math.isfinite(float(node.text)):
            return self._fault(f"{node.text[:40]} is no finite decimal number", node, field, problems)
        value = Fraction(node.text) if float(node.text) else Fraction(0)
        low, high = Fraction(self.minimum), Fraction(self.maximum)
        if not low <= value <= high or (self.exclusive and value == low):
            return self._fault(f"{node.text[:40]} is out of range", node, field, problems)
        return float(value) if self.scale is None else round(value * self.scale)

    def _fault(self, message: str, node: Node, field: str, problems: Problems) -> Missing:
        problems.report(self.code, message, line=node.line, field=field, expected=self.summary())
        return MISSING

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the number."""
        low = "exclusiveMinimum" if self.exclusive else "minimum"
        return {"type": "number", low: float(self.minimum), "maximum": float(self.maximum)}

    def summary(self) -> str:
        """The range."""
        if self.exclusive:
            return f"a number above {self.minimum}, up to {self.maximum}"
        return f"a number from {self.minimum} to {self.maximum}"


@attrs.frozen
class Integer(Shape):
    """A whole number in [`minimum`, `maximum`]."""

    minimum: int = 0
    maximum: int = 0
    code: str = "invalid_value"

    def _read(self, node: Node, field: str, problems: Problems) -> Any:
        if not isinstance(node, Scalar) or not node.plain or not _INTEGER.match(node.text):
            return self._wrong_type(node, field, problems)
        value = int(node.text)
        if not self.minimum <= value <= self.maximum:
            problems.report(self.code, f"{value} is out of range", line=node.line, field=field, expected=self.summary())
            return MISSING
        return value

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the number."""
        return {"type": "integer", "minimum": self.minimum, "maximum": self.maximum}

    def summary(self) -> str:
        """The range."""
        if self.minimum == self.maximum:
            return f"the number {self.minimum}"
        return f"a whole number from {self.minimum} to {self.maximum}"


@attrs.frozen
class Flag(Shape):
    """`true` or `false`."""

    def _read(self, node: Node, field: str, problems: Problems) -> Any:
        if not isinstance(node, Scalar) or not node.plain or node.text not in ("true", "false"):
            return self._wrong_type(node, field, problems)
        return node.text == "true"

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of a truth value."""
        return {"type": "boolean"}

    def summary(self) -> str:
        """The two values."""
        return "`true` or `false`"


@attrs.frozen
class Nullable(Shape):
    """Another shape, or `null`."""

    shape: Shape = attrs.field(factory=Text)

    def _read(self, node: Node, field: str, problems: Problems) -> Any:
        return None if is_null(node) else self.shape.read(node, field, problems)

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the value or null."""
        return {"anyOf": [self.shape.schema(), {"type": "null"}]}

    def summary(self) -> str:
        """The phrase of the value, or null."""
        return f"{self.shape.summary()}, or `null`"
