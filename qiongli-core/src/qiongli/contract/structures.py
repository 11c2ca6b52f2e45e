"""Shapes that hold others: lists, mappings of free keys, and structures with fixed keys."""

from __future__ import annotations

from typing import Any

import attrs

from qiongli.contract.nodes import MappingNode, Node, Scalar, SequenceNode
from qiongli.contract.problems import Problems, nearest
from qiongli.contract.shapes import MISSING, Shape, Text


@attrs.frozen
class ListOf(Shape):
    """A list of `minimum` to `maximum` items of one shape, no two equal when `distinct`."""

    item: Shape = attrs.field(factory=Text)
    minimum: int = 0
    maximum: int = 500
    distinct: bool = True

    def _read(self, node: Node, field: str, problems: Problems) -> Any:
        if not isinstance(node, SequenceNode):
            return self._wrong_type(node, field, problems)
        if not self.minimum <= len(node.items) <= self.maximum:
            problems.report(
                "invalid_value",
                f"the list has {len(node.items)} items",
                line=node.line,
                field=field,
                expected=f"{self.minimum} to {self.maximum} items",
            )
            if len(node.items) > self.maximum:
                return MISSING
        values: list[Any] = []
        seen: set[str] = set()
        for number, item in enumerate(node.items):
            value = self.item.read(item, f"{field}[{number}]", problems)
            if value is MISSING:
                continue
            if self.distinct:
                key = repr(_plain(value))
                if key in seen:
                    problems.report(
                        "invalid_value",
                        "the same item stands earlier in the list",
                        line=item.line,
                        field=f"{field}[{number}]",
                    )
                seen.add(key)
            values.append(value)
        return values

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the list."""
        schema: dict[str, Any] = {"type": "array", "items": self.item.schema(), "maxItems": self.maximum}
        if self.minimum:
            schema["minItems"] = self.minimum
        if self.distinct:
            schema["uniqueItems"] = True
        return schema

    def summary(self) -> str:
        """What the list holds."""
        size = {0: "a list", 1: "a list of one or more"}.get(self.minimum, f"a list of {self.minimum} or more")
        return f"{size}, each {self.item.summary()}"


def _plain(value: Any) -> Any:
    """A value without the place that the reader noted in it, so that equal items are equal wherever they stand."""
    if not isinstance(value, dict):
        return value
    return {key: item for key, item in value.items() if key not in ("line", "place")}


@attrs.frozen
class MapOf(Shape):
    """A mapping of free keys of one shape to values of another."""

    key: Text = attrs.field(factory=Text)
    value: Shape = attrs.field(factory=Text)
    maximum: int = 500

    def _read(self, node: Node, field: str, problems: Problems) -> Any:
        if not isinstance(node, MappingNode):
            return self._wrong_type(node, field, problems)
        if len(node.entries) > self.maximum:
            problems.report("invalid_value", f"more than {self.maximum} entries", line=node.line, field=field)
            return MISSING
        values: dict[str, Any] = {}
        for entry in node.entries:
            place = f"{field}.{entry.key}" if field else entry.key
            key = self.key.read(Scalar(entry.key, False, entry.line), place, problems)
            value = self.value.read(entry.value, place, problems)
            if key is not MISSING and value is not MISSING:
                values[key] = value
        return values

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the mapping."""
        return {
            "type": "object",
            "propertyNames": self.key.schema(),
            "additionalProperties": self.value.schema(),
            "maxProperties": self.maximum,
        }

    def summary(self) -> str:
        """What the mapping holds."""
        return f"a mapping of {self.key.summary()} to {self.value.summary()}"


@attrs.frozen
class Field:
    """One key of a structure: its shape, its meaning, whether it must stand there, and what holds when it does not."""

    name: str
    shape: Shape
    description: str
    required: bool = False
    default: str = ""


@attrs.frozen
class Structure(Shape):
    """A mapping with fixed keys; unknown ones are faults. It reads to a dict of those present, `line` and `place`."""

    name: str = ""
    fields: tuple[Field, ...] = ()
    #: How a key that does not belong here is reported: the code, and what a key is.
    unknown: str = "unknown_key"
    noun: str = "key"

    def _read(self, node: Node, field: str, problems: Problems) -> Any:
        if not isinstance(node, MappingNode):
            return self._wrong_type(node, field, problems)
        known = {item.name: item for item in self.fields}
        values: dict[str, Any] = {"line": node.line, "place": field}
        present = set()
        for entry in node.entries:
            place = f"{field}.{entry.key}" if field else entry.key
            present.add(entry.key)
            if entry.key not in known:
                problems.report(
                    self.unknown,
                    f"unknown {self.noun} {entry.key!r}",
                    line=entry.line,
                    field=place,
                    hint=nearest(entry.key, tuple(known)),
                    available=tuple(known),
                )
                continue
            problems.lines[place] = entry.line
            value = known[entry.key].shape.read(entry.value, place, problems)
            if value is not MISSING:
                values[entry.key] = value
        for item in self.fields:
            if item.required and item.name not in present:
                problems.report(
                    "missing_key",
                    f"the key {item.name!r} is missing",
                    line=node.line,
                    field=f"{field}.{item.name}" if field else item.name,
                    expected=item.shape.summary(),
                )
        return values

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the mapping, each key with its description."""
        return {
            "type": "object",
            "properties": {item.name: {**item.shape.schema(), "description": item.description} for item in self.fields},
            "required": [item.name for item in self.fields if item.required],
            "additionalProperties": False,
        }

    def summary(self) -> str:
        """The name of the structure."""
        return f"a mapping ({self.name})" if self.name else "a mapping"
