"""Write the JSON Schema of every published structure from its attrs class; `--check` only compares.

The schemas are shipped as files, so that nothing at run time has to derive them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import attrs
import msgspec
from field_meanings import meanings_of

from qiongli.gate.explanation import Explanation, Verification
from qiongli.gate.promotion import PromotionPacket
from qiongli.plugins.diagnosis import Diagnosis
from qiongli.plugins.listing import PluginList
from qiongli.plugins.settings import PolicyPacket
from qiongli.records.evaluation import CorpusReport, EvaluationReport
from qiongli.records.evidence import Evidence
from qiongli.records.gate import ActivationRecord, GateReport
from qiongli.records.lifecycle import ActionPacket, StatusPacket
from qiongli.records.packet import RefinementPacket, RoutedPackets
from qiongli.records.project import EvidenceMemory, ManifestState
from qiongli.records.resources import ResourceActivationPlan, ResourceRef
from qiongli.records.smoke import SmokeReport
from qiongli.records.subjects import SubjectList
from qiongli.records.task import TaskRun

FOLDER = Path(__file__).resolve().parent.parent / "qiongli-core" / "src" / "qiongli" / "schemas"

#: Published name to class; the names are those of `qiongli schema NAME`.
STRUCTURES: dict[str, type] = {
    "action": ActionPacket,
    "activation-record": ActivationRecord,
    "corpus-report": CorpusReport,
    "doctor": Diagnosis,
    "evaluation-report": EvaluationReport,
    "evidence": Evidence,
    "gate-explanation": Explanation,
    "gate-report": GateReport,
    "gate-verification": Verification,
    "manifest": ManifestState,
    "packet": RefinementPacket,
    "packets": RoutedPackets,
    "plugin-list": PluginList,
    "plugin-policy": PolicyPacket,
    "promotion": PromotionPacket,
    "resource": ResourceRef,
    "resource-plan": ResourceActivationPlan,
    "smoke-report": SmokeReport,
    "status": StatusPacket,
    "subject-evidence": EvidenceMemory,
    "subject-list": SubjectList,
    "task-run": TaskRun,
}

_ERROR_FIELDS: dict[str, str] = {
    "code": "What it is, as a stable snake_case word; the page of errors lists them all.",
    "message": "The same for a person; it may be worded anew.",
    "place": "Where: `file:line`, a dotted field, or both; empty where there is none.",
    "expected": "What would have been right; empty where that is plain.",
    "hint": "The next command or step; empty where there is none.",
}

ERROR_SCHEMA: dict[str, Any] = {
    "title": "Error",
    "description": "What any command prints on standard output under --json when it fails.",
    "type": "object",
    "required": ["schema_version", "error"],
    "properties": {
        "schema_version": {"type": "string", "description": "Version of this structure, `major.minor`."},
        "error": {"$ref": "#/$defs/Error", "description": "What went wrong, as a whole."},
        "problems": {
            "type": "array",
            "items": {"$ref": "#/$defs/Error"},
            "description": "Every single fault, in the order of the file; absent where there is but one.",
        },
    },
    "$defs": {
        "Error": {
            "description": "One fault, of which a program reads the code and a person the rest.",
            "type": "object",
            "required": ["code", "message", "place", "expected", "hint", "available"],
            "properties": {
                **{name: {"type": "string", "description": meaning} for name, meaning in _ERROR_FIELDS.items()},
                "available": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "The possible values, where there is a closed set of them.",
                },
            },
        }
    },
}


def _attrs_classes(root: type) -> dict[str, type]:
    """All attrs classes reachable from the root, by name."""
    found: dict[str, type] = {}
    waiting: list[Any] = [root]
    while waiting:
        candidate = waiting.pop()
        if isinstance(candidate, type) and attrs.has(candidate):
            if candidate.__name__ in found:
                continue
            found[candidate.__name__] = candidate
            attrs.resolve_types(candidate)
            waiting.extend(attribute.type for attribute in attrs.fields(candidate))
        else:
            waiting.extend(getattr(candidate, "__args__", ()))
    return found


def schema_of(name: str, structure: type) -> dict[str, Any]:
    """The schema of one structure, with units and without the presumption that defaults may be left out."""
    schema = msgspec.json.schema(structure)
    for class_name, found in _attrs_classes(structure).items():
        definition = schema["$defs"][class_name]
        definition["required"] = [attribute.name for attribute in attrs.fields(found)]
        meanings = meanings_of(found)
        for attribute in attrs.fields(found):
            properties = definition["properties"][attribute.name]
            properties.pop("default", None)
            properties["description"] = meanings[attribute.name]
            if attribute.metadata.get("unit") == "ppm":
                properties["type"] = "number"
                properties["description"] += " A decimal number in units of one score."
    # The root stands in full, because MCP clients want `type: object` there and not a reference.
    definitions = schema.pop("$defs")
    root = definitions.pop(structure.__name__)
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": f"urn:qiongli:schema:{name}"}
    return {**head, **root, **({"$defs": definitions} if definitions else {})}


def texts() -> dict[str, str]:
    """File name to content of every published schema."""
    schemas = {name: schema_of(name, structure) for name, structure in STRUCTURES.items()}
    schemas["error"] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:qiongli:schema:error",
        **ERROR_SCHEMA,
    }
    return {
        f"{name}.json": json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
        for name, schema in sorted(schemas.items())
    }


def main() -> None:
    """Write or compare."""
    stale = [
        name
        for name, text in texts().items()
        if not (FOLDER / name).is_file() or (FOLDER / name).read_text(encoding="utf-8") != text
    ]
    if "--check" in sys.argv[1:]:
        if stale:
            sys.exit(f"stale schemas: {', '.join(stale)}; run: python tools/generate_schemas.py")
        return
    for name, text in texts().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
