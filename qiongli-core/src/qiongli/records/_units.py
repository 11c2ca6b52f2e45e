"""Units and serialisation of the records: scores are integers inside and decimal numbers in JSON."""

from __future__ import annotations

import json
from typing import Any, Final, NewType

import attr
import attrs

from qiongli._value import Value

#: Millionths of one score. All arithmetic on scores, weights and costs is done in this unit.
Ppm = NewType("Ppm", int)

SCALE: Final = 1_000_000

SCHEMA_VERSION: Final = "1.0"


def ppm_field(default: Any = attrs.NOTHING, description: str = "") -> Any:
    """An attrs field that holds millionths and is written to JSON as a decimal number."""
    return attrs.field(default=default, metadata={"unit": "ppm", "description": description})


def _serialise(_instance: type, attribute: attrs.Attribute[Any] | None, value: Any) -> Any:
    if attribute is not None and attribute.metadata.get("unit") == "ppm" and value is not None:
        return value / SCALE
    return value


def to_packet(record: attrs.AttrsInstance) -> dict[str, Any]:
    """Turn a record into plain dicts, lists, texts and numbers, ready for JSON.

    Fields in millionths become decimal numbers; tuples become lists; the order of the fields is that of the class.
    """
    return attr.asdict(record, retain_collection_types=False, value_serializer=_serialise)


def to_json(packet: object, *, indent: int | None = 2) -> str:
    """The canonical JSON text of a packet: the same packet gives the same characters everywhere."""
    return json.dumps(packet, ensure_ascii=False, indent=indent, allow_nan=False)


class Record(Value):
    """Base of every record that has a published JSON Schema."""

    __slots__ = ()

    def to_packet(self) -> dict[str, Any]:
        """Plain dicts, lists, texts and numbers, ready for JSON."""
        return to_packet(self)  # type: ignore[arg-type]  # every subclass is an attrs class
