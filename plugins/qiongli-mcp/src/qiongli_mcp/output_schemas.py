"""What every tool answers: published schemas where there is one, and the few that only this server has."""

from __future__ import annotations

import json
from typing import Any, Final

from qiongli.schemas import schema_text

_TEXT: Final = {"type": "string"}
_COUNT: Final = {"type": "integer", "minimum": 0}
_TEXTS: Final = {"type": "array", "items": _TEXT}
_REASONS: Final = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"code": _TEXT, "message": _TEXT, "hint": _TEXT},
        "required": ["code", "message", "hint"],
    },
}
_ACTIONS: Final = {
    "type": "array",
    "description": "What the user may do: a command line, and the tool that does the same once they agreed.",
    "items": {
        "type": "object",
        "properties": {"action": _TEXT, "command": _TEXT, "tool": _TEXT},
        "required": ["action", "command"],
    },
}
_DECISION: Final = {"enum": ["no_subject", "borrow_lens", "suggest_subject", "confirm_subject", "lock_subject"]}


def _object(properties: dict[str, Any], *optional: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"schema_version": _TEXT, **properties},
        "required": ["schema_version", *(name for name in properties if name not in optional)],
    }


def _published(name: str) -> dict[str, Any]:
    """A schema of core, without the identity that it has there: a tool's schema stands by itself."""
    schema: dict[str, Any] = json.loads(schema_text(name))
    return {key: value for key, value in schema.items() if key not in ("$schema", "$id", "title")}


def _extended(name: str, properties: dict[str, Any], *optional: str) -> dict[str, Any]:
    schema = _published(name)
    schema["properties"] = {**schema["properties"], **properties}
    schema["required"] = [*schema["required"], *(key for key in properties if key not in optional)]
    return schema


def _own(tool: str) -> dict[str, Any] | None:
    if tool == "qiongli_route":
        return _published("packet")
    if tool == "qiongli_subject_status":
        return _published("status")
    if tool == "qiongli_subject_list":
        return _published("subject-list")
    if tool == "qiongli_gate_report":
        return _published("gate-report")
    if tool == "qiongli_subject_update":
        return _extended(
            "action",
            {
                "outcome": {"enum": ["applied", "unchanged", "cancelled", "needs_confirmation", "read_only"]},
                "summary": _TEXT,
                "plan_id": _TEXT,
                "expires_in_seconds": _COUNT,
                "proposed_actions": _ACTIONS,
            },
            *("summary", "plan_id", "expires_in_seconds", "proposed_actions"),
        )
    if tool == "qiongli_resource_read":
        resource = _published("resource")
        return _object({"resource": resource, "text": _TEXT, "truncated": {"type": "boolean"}})
    if tool == "qiongli_subject_explain":
        change = {"subject": _TEXT, "change": _TEXT, "effect": _TEXT}
        changes = {"type": "array", "items": {"type": "object", "properties": change, "required": [*change]}}
        return _object(
            {
                "subject": _TEXT,
                "verdict": {"enum": ["primary", "secondary", "candidate", "blocked", "no_evidence"]},
                "decision": _DECISION,
                "reasons": _REASONS,
                "what_would_change": changes,
            }
        )
    if tool == "qiongli_observe":
        return _object(
            {
                "outcome": {"enum": ["recorded", "read_only"]},
                "decision": _DECISION,
                "primary_subject": _TEXT,
                "confidence": {"type": "number", "minimum": 0, "maximum": 1},
                "run_id": _TEXT,
                "counted": {"type": "boolean"},
                "summary": _TEXT,
                "proposed_actions": _ACTIONS,
                "warnings": _TEXTS,
            }
        )
    if tool == "qiongli_trace":
        run = dict.fromkeys(("run_id", "time", "decision", "primary_subject", "fingerprint"), _TEXT)
        run_schema = {"type": "object", "properties": {**run, "confidence": {"type": "number"}}, "required": [*run]}
        return _object({"total": _COUNT, "runs": {"type": "array", "items": run_schema}})
    return None


def output_schema(schema: str | dict[str, Any]) -> dict[str, Any]:
    """The output schema of one of this server's tools, of a structure published under that name, or as given.

    Every reply may carry `shortened`: what was cut to keep it small.
    """
    found = schema if isinstance(schema, dict) else _own(schema) or _published(schema)
    shortened = {**_TEXTS, "description": "What was cut to keep the reply small; absent when nothing was."}
    return {**found, "properties": {**found["properties"], "shortened": shortened}}
