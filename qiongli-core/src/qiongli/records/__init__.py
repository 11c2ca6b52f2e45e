"""The values that the parts of Qiongli, and its users, exchange.

Every class here is a frozen attrs class with a published JSON Schema (`qiongli schema NAME`). Fields may be added in
later versions; none is renamed or removed.
"""

from __future__ import annotations

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
