"""JSON Schemas of the contract and of the resources, for editors: drawn from the same description as the loader's.

A schema says less than `qiongli contract validate`: it knows nothing of other keys, of files, or of what matches.
"""

from __future__ import annotations

from typing import Any

from qiongli.contract.format import CONTRACT, SIGNAL
from qiongli.contract.kinds import FORMATS, SOURCE
from qiongli.contract.models import CONTRACT_FILE
from qiongli.contract.patterns import PatternShape
from qiongli.contract.structures import Structure
from qiongli.errors import InputError

#: What has a schema: the contract, and every kind of resource; a skill's is that of its head.
DOCUMENTS: tuple[str, ...] = ("contract", *FORMATS)


def json_schema(document: str = "contract") -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a document: `contract`, or a kind of resource.

    Raises `InputError` with the code `unknown_document`.
    """
    if document == "contract":
        return _whole(CONTRACT, document, f"The contract of a Qiongli subject, {CONTRACT_FILE}.")
    for kind, structure in FORMATS.items():
        if kind == document:
            return _whole(structure, document, f"A resource of a Qiongli subject: {structure.name}.")
    raise InputError(f"there is no schema of {document!r}", code="unknown_document", available=DOCUMENTS)


def _whole(structure: Structure, document: str, description: str) -> dict[str, Any]:
    parts = {"signal": SIGNAL.schema(), "pattern": PatternShape().schema(), "source": SOURCE.schema()}
    schema: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:qiongli:schema:{document.replace('_', '-')}:1.0",
        "title": structure.name,
        "description": description,
    }
    body = _shared(structure.schema(), parts)
    used = {
        name: _shared(part, {key: other for key, other in parts.items() if key != name}) for name, part in parts.items()
    }
    schema |= body
    text = str(body)
    # A signal uses patterns, so that what it needs is needed too.
    needed = [name for name in parts if f"#/$defs/{name}'" in text or (name == "pattern" and "#/$defs/signal'" in text)]
    if needed:
        schema["$defs"] = {name: used[name] for name in needed}
    return schema


def _shared(value: Any, parts: dict[str, dict[str, Any]]) -> Any:
    """The same schema with every occurrence of a named part replaced by a reference; a description stays beside it."""
    if isinstance(value, dict):
        for name, part in parts.items():
            if value == part:
                return {"$ref": f"#/$defs/{name}"}
        return {key: _shared(item, parts) for key, item in value.items()}
    if isinstance(value, list):
        return [_shared(item, parts) for item in value]
    return value
