"""The server answers in both protocol eras with the packets that the library gives, in the shapes that it publishes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import anyio
import jsonschema
import pytest
from mcp import Client

from qiongli.schemas import schema_text
from qiongli_mcp.replies import FULL_LIMIT, SHORT_LIMIT, bounded
from qiongli_mcp.server import INSTRUCTIONS, build_server

TASK = "We use CRSP daily abnormal returns around earnings announcements in an event study, for the Journal of Finance"

#: Arguments with which every tool answers; `{cwd}` is a project with recorded runs.
CALLS: dict[str, dict[str, Any]] = {
    "qiongli_route": {"text": TASK, "cwd": "{cwd}"},
    "qiongli_task_run": {"text": TASK, "cwd": "{cwd}"},
    "qiongli_subject_status": {"cwd": "{cwd}"},
    "qiongli_subject_list": {},
    "qiongli_subject_explain": {"subject": "finance", "text": TASK, "cwd": "{cwd}"},
    "qiongli_gate_report": {"subject": "finance"},
    "qiongli_resource_read": {"subject": "finance", "kind": "skill"},
    "qiongli_trace": {"cwd": "{cwd}", "limit": 20},
    "qiongli_observe": {"cwd": "{cwd}", "text": TASK, "suggestion": "accepted"},
    "qiongli_subject_update": {"cwd": "{cwd}", "action": "confirm", "subject": "finance"},
}


def filled(arguments: dict[str, Any], cwd: Path) -> dict[str, Any]:
    return {key: str(cwd) if value == "{cwd}" else value for key, value in arguments.items()}


@pytest.fixture
def project(tmp_path: Path, call: Any) -> Path:
    """A project in which a few tasks were observed."""
    for number in range(3):
        call("qiongli_observe", {"cwd": str(tmp_path), "text": f"{TASK} {number}"})
    return tmp_path


def test_route_suggests_finance_and_fits_its_schema(call: Any) -> None:
    result = call("qiongli_route", {"text": TASK})
    assert not result.is_error
    assert result.structured_content["decision"] == "suggest_subject"
    assert result.structured_content["primary_subject"] == "finance"
    jsonschema.validate(result.structured_content, json.loads(schema_text("packet")))


def test_every_tool_answers_by_its_output_schema_with_the_same_facts_in_text_and_structure(
    ask: Any, call: Any, project: Path
) -> None:
    tools = ask(lambda client: client.list_tools()).tools
    assert {tool.name for tool in tools} == CALLS.keys()
    for tool in tools:
        assert tool.output_schema["type"] == "object"
        result = call(tool.name, filled(CALLS[tool.name], project))
        assert not result.is_error, result
        jsonschema.Draft202012Validator.check_schema(tool.output_schema)
        jsonschema.validate(result.structured_content, tool.output_schema)
        assert json.loads(result.content[0].text) == result.structured_content
        # However much has to be cut, what is left fits the schema.
        shortened = bounded(result.structured_content, 700)
        jsonschema.validate(shortened, tool.output_schema)


def test_every_reply_is_small_unless_asked_for_in_full(ask: Any, call: Any, tmp_path: Path) -> None:
    text = " ".join(f"In sample {number}: {TASK}; JEL: G12, G14; we do not use a panel." for number in range(40))
    for number in range(20):
        call("qiongli_observe", {"cwd": str(tmp_path), "text": f"{TASK} {number}"})
    tools = {tool.name: tool for tool in ask(lambda client: client.list_tools()).tools}
    for name, arguments in CALLS.items():
        given = filled(arguments, tmp_path)
        if "text" in given:
            given["text"] = text
        short = call(name, given)
        assert not short.is_error, short
        assert len(json.dumps(short.structured_content)) <= SHORT_LIMIT, name
        assert len(short.content[0].text.encode()) <= SHORT_LIMIT, name
        if "detail" in tools[name].input_schema["properties"]:
            full = call(name, {**given, "detail": "full"})
            assert len(json.dumps(full.structured_content)) <= FULL_LIMIT, name
            assert len(full.content[0].text) >= len(short.content[0].text), name


def test_no_reply_names_a_folder_of_this_machine(call: Any, project: Path) -> None:
    import sys
    import sysconfig

    folders = {str(project), str(Path.home()), sys.prefix, *sysconfig.get_paths().values(), str(Path.cwd())}
    replies = {name: call(name, filled(arguments, project)) for name, arguments in CALLS.items()}
    replies["list"] = call("qiongli_subject_list", {"detail": "full"})
    replies["gate"] = call("qiongli_gate_report", {"subject": "finance", "detail": "full"})
    replies["corrupt"] = call("qiongli_subject_status", {"cwd": str(_corrupt(project))})
    replies["missing"] = call("qiongli_subject_status", {"cwd": str(project / "none")})
    for name, reply in replies.items():
        said = reply.model_dump_json()
        for folder in folders:
            assert not re.search(rf"{re.escape(folder)}(?![\w-])", said), (name, folder)


def _corrupt(project: Path) -> Path:
    manifest = project / ".qiongli" / "guidance_manifest.yaml"
    manifest.parent.mkdir(exist_ok=True)
    manifest.write_text("active_subject: [", encoding="utf-8")
    return project


def test_status_of_a_new_project_is_auto_and_writes_nothing(call: Any, tmp_path: Path) -> None:
    result = call("qiongli_subject_status", {"cwd": str(tmp_path)})
    assert result.structured_content["active_subject"] == "auto"
    assert list(tmp_path.iterdir()) == []


def test_subjects_resources_and_trace_can_be_read(call: Any, project: Path) -> None:
    listed = call("qiongli_subject_list", {})
    assert "finance" in [row["subject"] for row in listed.structured_content["subjects"]]
    read = call("qiongli_resource_read", {"subject": "finance", "kind": "overlay"})
    assert read.structured_content["resource"]["checksum"].startswith("sha256:")
    trace = call("qiongli_trace", {"cwd": str(project), "limit": 2}).structured_content
    assert trace["total"] == 3
    assert [run["run_id"] for run in trace["runs"]] == ["run-3", "run-2"]


def test_an_observed_outcome_is_kept_and_decides_nothing(call: Any, tmp_path: Path) -> None:
    told = call("qiongli_observe", {"cwd": str(tmp_path), "text": TASK, "suggestion": "accepted"}).structured_content
    assert told["counted"] is True
    command = "qiongli subject confirm finance --cwd ."
    assert told["proposed_actions"] == [{"action": "confirm", "command": command, "tool": "qiongli_subject_update"}]
    kept = tmp_path / ".qiongli" / "trace" / "runs" / told["run_id"] / "proposal.json"
    assert json.loads(kept.read_text(encoding="utf-8")) == {"suggestion": "accepted", "subject": "finance"}
    assert call("qiongli_subject_status", {"cwd": str(tmp_path)}).structured_content["subject_mode"] == "auto"


def test_tools_keep_the_rules_that_clients_impose(ask: Any) -> None:
    tools = ask(lambda client: client.list_tools()).tools
    assert len(tools) <= 15
    for tool in tools:
        assert re.fullmatch(r"[a-z][a-z0-9_]{2,35}", tool.name)
        assert tool.description
        assert tool.input_schema["additionalProperties"] is False
        assert "$ref" not in json.dumps(tool.input_schema)
        assert "anyOf" not in json.dumps(tool.input_schema)
        assert not {"answer", "seen", "ctx"} & tool.input_schema["properties"].keys()
        assert all(field.get("description") for field in tool.input_schema["properties"].values()), tool.name
        assert tool.output_schema["type"] == "object"
        hints = tool.annotations
        assert None not in (
            hints.read_only_hint,
            hints.destructive_hint,
            hints.idempotent_hint,
            hints.open_world_hint,
        )
    loaded_at_once = [tool.name for tool in tools if (tool.meta or {}).get("anthropic/alwaysLoad")]
    assert loaded_at_once == ["qiongli_route", "qiongli_subject_status", "qiongli_subject_update"]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_instructions_are_short_and_reach_the_client(mode: Any) -> None:
    async def read() -> tuple[str | None, str]:
        async with Client(build_server(), mode=mode) as client:
            return client.instructions, client.protocol_version

    told, version = anyio.run(read)
    assert told == INSTRUCTIONS
    # A client that negotiates by itself finds the modern era, as Claude Code does.
    assert (version >= "2026-07-28") == (mode == "auto")
    assert len(INSTRUCTIONS.encode()) <= 1024


def test_subject_and_gate_can_be_explained(call: Any) -> None:
    explained = call("qiongli_subject_explain", {"subject": "finance", "text": TASK})
    assert explained.structured_content["verdict"] == "primary"
    report = call("qiongli_gate_report", {"subject": "finance"}).structured_content
    assert report["verdict"] == "pass"


def test_the_gate_reports_an_unknown_subject_as_unavailable(call: Any) -> None:
    for name in ("nothing", "/", ".."):
        report = call("qiongli_gate_report", {"subject": name}).structured_content
        assert report["eligible_for_runtime_enabled"] is False
        assert report["activation_status"] == "unavailable"
        jsonschema.validate(report, json.loads(schema_text("gate-report")))


def test_long_work_tells_its_progress(ask: Any) -> None:
    told: list[tuple[float, float | None, str | None]] = []

    async def measured(client: Any) -> Any:
        async def progress(done: float, total: float | None, message: str | None) -> None:
            told.append((done, total, message))

        return await client.call_tool("qiongli_gate_report", {"subject": "finance"}, progress_callback=progress)

    assert not ask(measured).is_error
    assert [done for done, _, _ in told] == [0, 1]
