"""The server answers in both protocol eras with the packets that the library gives."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import anyio
import jsonschema
import pytest
from mcp import Client
from mcp_types import ElicitResult

from qiongli.schemas import schema_text
from qiongli_mcp.server import build_server

TASK = "We use CRSP daily abnormal returns around earnings announcements in an event study, for the Journal of Finance"


def call(mode: str, tool: str, arguments: dict[str, Any]) -> Any:
    async def run() -> Any:
        async with Client(build_server(), mode=mode) as client:
            return await client.call_tool(tool, arguments)

    return anyio.run(run)


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_route_suggests_finance_and_fits_its_schema(mode: str) -> None:
    result = call(mode, "qiongli_route", {"text": TASK})
    assert not result.is_error
    assert result.structured_content["decision"] == "suggest_subject"
    assert result.structured_content["primary_subject"] == "finance"
    jsonschema.validate(result.structured_content, json.loads(schema_text("packet")))


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_status_of_a_new_project_is_auto(mode: str, tmp_path: Path) -> None:
    result = call(mode, "qiongli_subject_status", {"cwd": str(tmp_path)})
    assert result.structured_content["active_subject"] == "auto"
    assert not (tmp_path / ".qiongli").exists()


def test_unknown_arguments_are_refused() -> None:
    assert call("legacy", "qiongli_route", {"text": TASK, "subject": "finance"}).is_error


def test_a_missing_folder_is_an_error_and_creates_nothing(tmp_path: Path) -> None:
    result = call("legacy", "qiongli_subject_status", {"cwd": str(tmp_path / "none")})
    assert result.is_error
    assert json.loads(result.content[0].text.splitlines()[-1])["code"] == "no_such_folder"
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_without_elicitation_nothing_is_confirmed_before_the_second_call(mode: str, tmp_path: Path) -> None:
    wish = {"cwd": str(tmp_path), "action": "confirm", "subject": "finance"}
    first = call(mode, "qiongli_subject_update", wish)
    assert first.structured_content["outcome"] == "needs_confirmation", first
    assert not (tmp_path / ".qiongli/guidance_manifest.yaml").exists()
    plan = next((tmp_path / ".qiongli/proposals").glob("p-*.json")).stem
    other = call(mode, "qiongli_subject_update", {**wish, "action": "lock", "plan_id": plan})
    assert other.is_error
    second = call(mode, "qiongli_subject_update", {**wish, "plan_id": plan})
    assert second.structured_content["after"]["active_subject"] == "finance"


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
@pytest.mark.parametrize("word", ["accept", "decline", "cancel"])
def test_only_the_user_accepting_changes_the_subject(mode: str, word: str, tmp_path: Path) -> None:
    async def answer(context: Any, params: Any) -> Any:
        assert "title" not in params.requested_schema
        return ElicitResult(action=word, content={} if word == "accept" else None)

    async def run() -> Any:
        async with Client(build_server(), mode=mode, elicitation_callback=answer) as client:
            wish = {"cwd": str(tmp_path), "action": "confirm", "subject": "finance"}
            return await client.call_tool("qiongli_subject_update", wish)

    result = anyio.run(run)
    assert result.structured_content["outcome"] == ("applied" if word == "accept" else "cancelled"), result
    assert (tmp_path / ".qiongli/guidance_manifest.yaml").exists() == (word == "accept")


def test_a_read_only_server_proposes_and_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QIONGLI_MCP_READ_ONLY", "1")
    wish = {"cwd": str(tmp_path), "action": "confirm", "subject": "finance"}
    assert call("legacy", "qiongli_subject_update", wish).structured_content["outcome"] == "read_only"
    assert call("legacy", "qiongli_observe", {"cwd": str(tmp_path), "text": TASK}).is_error
    assert not (tmp_path / ".qiongli").exists()


def test_subjects_resources_and_trace_can_be_read(tmp_path: Path) -> None:
    listed = call("legacy", "qiongli_subject_list", {})
    assert "finance" in [row["subject"] for row in listed.structured_content["subjects"]]
    read = call("legacy", "qiongli_resource_read", {"subject": "finance", "kind": "overlay"})
    assert not read.is_error, read
    assert call("legacy", "qiongli_observe", {"cwd": str(tmp_path), "text": TASK}).structured_content
    assert call("legacy", "qiongli_trace", {"cwd": str(tmp_path)}).structured_content["total"] == 1


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_tools_keep_the_rules_that_clients_impose(mode: str) -> None:
    async def run() -> Any:
        async with Client(build_server(), mode=mode) as client:
            return (await client.list_tools()).tools

    tools = anyio.run(run)
    assert len(tools) <= 15
    assert len((build_server().instructions or "").encode()) in range(1, 1025)
    for tool in tools:
        assert re.fullmatch(r"[a-z][a-z0-9_]{2,35}", tool.name)
        assert tool.input_schema["additionalProperties"] is False
        assert "$ref" not in json.dumps(tool.input_schema)
        assert "answer" not in tool.input_schema["properties"]
        hints = tool.annotations
        assert None not in (
            hints.read_only_hint,
            hints.destructive_hint,
            hints.idempotent_hint,
            hints.open_world_hint,
        )


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_subject_and_gate_can_be_explained(mode: str) -> None:
    explained = call(mode, "qiongli_subject_explain", {"subject": "finance", "text": TASK})
    assert explained.structured_content["subject"] == "finance", explained
    assert call(mode, "qiongli_subject_explain", {"subject": "../finance", "text": TASK}).is_error


def test_the_gate_reports_an_unknown_subject_as_unavailable() -> None:
    for name in ("nothing", "/", ".."):
        report = call("legacy", "qiongli_gate_report", {"subject": name}).structured_content
        assert report["eligible_for_runtime_enabled"] is False
        jsonschema.validate(report, json.loads(schema_text("gate-report")))
