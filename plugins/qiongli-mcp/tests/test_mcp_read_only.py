"""A read-only server answers every tool, says what the user may do instead, and changes not one byte."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from qiongli.project import apply_action
from qiongli_mcp.runtime_access import current_catalogue

TASK = "We use CRSP abnormal returns in an event study, for the Journal of Finance"


def everything(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Every file with its bytes and time of change, and every folder."""
    return {
        str(path.relative_to(folder)): (path.read_bytes() if path.is_file() else b"", path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
    }


@pytest.fixture
def read_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """The switch that `--read-only` sets."""
    monkeypatch.setenv("QIONGLI_MCP_READ_ONLY", "1")


def writing_calls(cwd: Path) -> list[tuple[str, dict[str, Any]]]:
    here = {"cwd": str(cwd)}
    updates = [
        *({**here, "action": action, "subject": "economics"} for action in ("confirm", "dismiss", "lock")),
        *({**here, "action": action} for action in ("reset", "unlock")),
    ]
    return [
        *(("qiongli_subject_update", update) for update in updates),
        ("qiongli_observe", {**here, "text": TASK, "suggestion": "declined"}),
        ("qiongli_task_run", {**here, "text": TASK, "record": True}),
        ("qiongli_task_run", {**here, "text": TASK, "launch": "claude"}),
    ]


@pytest.mark.parametrize("fresh", [True, False], ids=["no state yet", "confirmed"])
@pytest.mark.usefixtures("read_only")
def test_no_writing_tool_changes_one_byte_of_the_project(ask: Any, call: Any, tmp_path: Path, fresh: bool) -> None:
    if not fresh:
        apply_action("confirm", tmp_path, "finance", catalogue=current_catalogue)
    tools = ask(lambda client: client.list_tools()).tools
    writing = {tool.name for tool in tools if not tool.annotations.read_only_hint}
    calls = [(name, arguments) for name, arguments in writing_calls(tmp_path) if name in writing]
    assert {name for name, _ in calls} == writing
    before = everything(tmp_path)
    for name, arguments in calls:
        for says in (None, "accept"):
            result = call(name, arguments, says)
            assert not result.is_error, result
            packet = result.structured_content
            if packet["outcome"] == "unchanged":
                assert arguments["action"] in ("unlock", "reset")
                continue
            if packet["outcome"] == "read_only":
                assert all(item["command"].startswith("qiongli ") for item in packet["proposed_actions"])
                assert packet["proposed_actions"]
            else:
                # An agent that the user has not permitted is refused for that reason first.
                assert packet["outcome"] == "not_permitted"
    assert everything(tmp_path) == before
    assert call.asked == []


@pytest.mark.usefixtures("read_only")
def test_no_reading_tool_writes_either(ask: Any, call: Any, tmp_path: Path) -> None:
    here = {"cwd": str(tmp_path)}
    calls = {
        "qiongli_route": {**here, "text": TASK},
        "qiongli_subject_status": here,
        "qiongli_subject_list": {},
        "qiongli_subject_explain": {**here, "subject": "finance", "text": TASK},
        "qiongli_gate_report": {"subject": "finance"},
        "qiongli_resource_read": {"subject": "finance", "kind": "overlay"},
        "qiongli_trace": here,
    }
    tools = ask(lambda client: client.list_tools()).tools
    assert calls.keys() == {tool.name for tool in tools if tool.annotations.read_only_hint}
    for name, arguments in calls.items():
        assert not call(name, arguments).is_error
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("read_only")
def test_a_recorded_suggestion_comes_back_as_a_command(call: Any, tmp_path: Path) -> None:
    told = call("qiongli_observe", {"cwd": str(tmp_path), "text": TASK, "suggestion": "accepted"}).structured_content
    assert told["outcome"] == "read_only"
    assert told["decision"] == "suggest_subject"
    commands = [item["command"] for item in told["proposed_actions"]]
    assert commands == ["qiongli route --record --cwd . --file TASK", "qiongli subject confirm finance --cwd ."]
