"""The values that the parts of Qiongli, and its users, exchange.

Every class here is a frozen attrs class with a published JSON Schema (`qiongli schema NAME`). Fields may be added in
later versions; none is renamed or removed. A module of this package is imported when one of its names is first used,
because making the classes of the packet costs more than listing subjects does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qiongli.records._units import SCALE, SCHEMA_VERSION, Ppm, Record, to_json, to_packet
    from qiongli.records.evidence import Evidence
    from qiongli.records.packet import RefinementPacket
    from qiongli.records.project import EvidenceMemory, ManifestState
    from qiongli.records.resources import ResourceRef
    from qiongli.records.subjects import Reason, SubjectList, SubjectListing

__all__ = [
    "SCALE",
    "SCHEMA_VERSION",
    "Evidence",
    "EvidenceMemory",
    "ManifestState",
    "Ppm",
    "Reason",
    "Record",
    "RefinementPacket",
    "ResourceRef",
    "SubjectList",
    "SubjectListing",
    "to_json",
    "to_packet",
]

_HOMES = {
    **dict.fromkeys(("SCALE", "SCHEMA_VERSION", "Ppm", "Record", "to_json", "to_packet"), "_units"),
    "Evidence": "evidence",
    "EvidenceMemory": "project",
    "ManifestState": "project",
    "Reason": "subjects",
    "RefinementPacket": "packet",
    "ResourceRef": "resources",
    "SubjectList": "subjects",
    "SubjectListing": "subjects",
}


def __getattr__(name: str) -> Any:
    """Import the module of a public name when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
