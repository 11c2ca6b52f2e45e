"""`qiongli_task_run`: a preview; an agent only on the user's setting, the argument and the user's own word."""

from __future__ import annotations

import inspect
import json
import os
import sys
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import anyio
import jsonschema
import pytest
from mcp import Client

from qiongli.plugins.settings import set_agent
from qiongli.project import apply_action, list_runs
from qiongli.smoke.run import load_cases, run_preview
from qiongli.smoke.wire import ServerProcess
from qiongli.task import run_task, verdict_on
from qiongli_mcp.runtime_access import current_catalogue, current_runtime
from qiongli_mcp.server import build_server
from qiongli_mcp.task_tools import ask_launch

TOOL = "qiongli_task_run"
FINANCE = (
    "We use CRSP daily abnormal returns around earnings announcements in an event study, for the Journal of Finance"
)
MIXED = (
    f"{FINANCE}. Minimum wages, labor supply and a difference-in-differences design on the Current Population Survey."
)

Call = Callable[..., Any]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    return root


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that the program which stands in for claude writes; settings are this test's own."""
    programs = tmp_path / "programs"
    programs.mkdir()
    mark = tmp_path / "started"
    program = programs / "claude"
    program.write_text(
        f"#!{sys.executable} -I\nimport sys\nopen({str(mark)!r}, 'w').write(sys.stdin.read())\nprint('done')\n",
        encoding="utf-8",
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setenv("QIONGLI_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.delenv("QIONGLI_INSIDE_AGENT", raising=False)
    return mark


def told(result: Any) -> dict[str, Any]:
    assert not result.is_error, result.content[0].text
    assert json.loads(result.content[0].text) == result.structured_content
    found: dict[str, Any] = result.structured_content
    return found


def code(result: Any) -> str:
    assert result.is_error
    return str(json.loads(result.content[0].text.splitlines()[-1])["code"])


# --- previews ----------------------------------------------------------------------------------------------------


def test_the_tool_says_what_the_library_says(call: Call) -> None:
    packet = told(call(TOOL, {"text": FINANCE, "detail": "full"}))
    library = run_task({"text": FINANCE}, runtime=current_runtime()).to_packet()
    for name in ("mode", "summary", "domain", "suggestion", "plan", "context_bundle", "launch", "missing_resources"):
        assert packet[name] == library[name], name
    assert packet["refinement"]["fingerprint"] == library["refinement"]["fingerprint"]
    assert packet["outcome"] == "preview"
    assert [action["action"] for action in packet["proposed_actions"]] == ["confirm", "dismiss"]


@pytest.mark.parametrize("detail", ["short", "full"])
@pytest.mark.parametrize("text", [FINANCE, MIXED, "Tidy the headings.", "We do not use an event study.", ""])
def test_every_reply_fits_the_published_output_schema(call: Call, ask: Call, text: str, detail: str) -> None:
    async def schemas(client: Client) -> Any:
        return {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}

    jsonschema.validate(told(call(TOOL, {"text": text, "detail": detail})), ask(schemas)[TOOL])


def test_a_short_reply_is_small_and_a_confirmed_projects_full_one_has_the_texts(call: Call, project: Path) -> None:
    apply_action("lock", project, "finance", catalogue=current_catalogue)
    short = call(TOOL, {"text": MIXED, "cwd": str(project)})
    assert len(short.content[0].text.encode()) <= 8_192
    assert "shortened" not in told(short)
    assert {part["text"] for part in told(short)["context_bundle"]["parts"]} == {""}
    full = told(call(TOOL, {"text": FINANCE, "cwd": str(project), "detail": "full"}))
    parts = full["context_bundle"]["parts"]
    assert [part["kind"] for part in parts][:3] == ["core", "overlay", "skill"]
    assert "shortened" not in full
    assert all(len(part["text"].encode()) // 4 <= part["tokens"] for part in parts)
    assert parts[1]["text"].startswith("kind: overlay")


def test_a_budget_holds_and_one_without_room_for_core_is_an_error(call: Call) -> None:
    bundle = told(call(TOOL, {"text": FINANCE, "budget": 600}))["context_bundle"]
    assert bundle["tokens"] <= 600
    assert code(call(TOOL, {"text": FINANCE, "budget": 5})) == "budget_too_small"


def test_nothing_is_written_for_a_preview(call: Call, project: Path) -> None:
    told(call(TOOL, {"text": FINANCE, "cwd": str(project)}))
    assert list(project.iterdir()) == []


def test_a_recorded_run_is_in_the_trace_and_moves_the_conversation(call: Call, project: Path) -> None:
    first = told(call(TOOL, {"text": FINANCE, "cwd": str(project), "record": True}))
    second = told(call(TOOL, {"text": FINANCE, "cwd": str(project), "record": True}))
    assert [first["recording"]["turn"], second["recording"]["turn"]] == [1, 2]
    assert first["recording"]["session"] == second["recording"]["session"]
    assert list_runs(project)[1] == 2
    assert code(call(TOOL, {"text": FINANCE, "record": True})) == "project_needed"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"text": FINANCE, "agent": "claude"}, "invalid_arguments"),
        ({"text": 1}, "invalid_arguments"),
        ({"text": FINANCE, "budget": -1}, "invalid_arguments"),
        ({"text": FINANCE, "budget": "600"}, "invalid_arguments"),
        ({"text": FINANCE, "launch": "x" * 100}, "invalid_arguments"),
        ({"text": FINANCE, "launch": "rm"}, "unknown_agent"),
        ({"text": FINANCE, "cwd": "relative"}, "cwd_not_absolute"),
        ({"text": FINANCE, "cwd": "/nowhere/at/all"}, "no_such_folder"),
        ({"text": FINANCE, "answer": {"action": "accept"}}, "invalid_arguments"),
    ],
)
def test_hostile_arguments_are_refused(call: Call, arguments: dict[str, Any], expected: str) -> None:
    assert code(call(TOOL, arguments)) == expected


def test_a_preview_takes_at_most_fifty_milliseconds_in_process() -> None:
    run_task(FINANCE, runtime=current_runtime())
    fastest = 1.0
    for _ in range(10):
        start = time.perf_counter()
        run_task(f"{FINANCE}. {'An ordinary sentence of an abstract. ' * 30}", runtime=current_runtime())
        fastest = min(fastest, time.perf_counter() - start)
    assert fastest <= 0.050


# --- launching ---------------------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="the program that stands in for the agent is a script")
class TestLaunching:
    @pytest.mark.parametrize(
        ("argument", "setting", "says"), [*product(["", "claude"], [False, True], ["accept", "decline", "cancel"])]
    )
    def test_setting_argument_and_consent_are_all_needed(
        self, argument: str, setting: bool, says: str, call: Call, project: Path, started: Path
    ) -> None:
        if setting:
            set_agent("claude", True)
        packet = told(call(TOOL, {"text": FINANCE, "cwd": str(project), "launch": argument}, says))
        starts = bool(argument) and setting and says == "accept"
        assert started.exists() == starts
        assert packet["mode"] == ("launched" if starts else "preview")
        assert packet["launch"]["allowed"] == starts
        if not argument:
            expected = "preview"
        elif not setting:
            expected = "not_permitted"
        else:
            expected = "launched" if starts else "cancelled"
        assert packet["outcome"] == expected
        # Nobody is asked about what cannot be done anyway.
        assert len(call.asked) == int(bool(argument) and setting)  # type: ignore[attr-defined]
        if starts:
            assert (packet["agent"]["status"], packet["agent"]["output"]) == ("finished", "done\n")
            assert FINANCE in started.read_text(encoding="utf-8")

    def test_where_nobody_can_be_asked_a_second_call_with_the_plan_starts_the_agent(
        self, call: Call, project: Path, started: Path
    ) -> None:
        set_agent("claude", True)
        wish = {"text": FINANCE, "cwd": str(project), "launch": "claude"}
        first = told(call(TOOL, wish))
        assert (first["outcome"], first["mode"], started.exists()) == ("needs_confirmation", "preview", False)
        assert first["proposed_actions"][-1]["command"].startswith("qiongli task run --launch claude")
        plan = {"plan_id": first["plan_id"]}
        assert code(call(TOOL, {**wish, **plan, "text": "another task"})) == "plan_of_another_action"
        assert code(call(TOOL, {**wish, "plan_id": "plan-guessed"})) == "unknown_plan"
        assert not started.exists()
        assert told(call(TOOL, {**wish, **plan}))["outcome"] == "launched"
        assert started.exists()
        assert code(call(TOOL, {**wish, **plan})) == "unknown_plan"

    def test_a_plan_starts_nothing_once_the_setting_is_gone(self, call: Call, project: Path, started: Path) -> None:
        set_agent("claude", True)
        wish = {"text": FINANCE, "cwd": str(project), "launch": "claude"}
        plan = told(call(TOOL, wish))["plan_id"]
        set_agent("claude", False)
        assert told(call(TOOL, {**wish, "plan_id": plan}))["outcome"] == "not_permitted"
        assert not started.exists()

    def test_without_a_project_nothing_is_started(self, call: Call, started: Path) -> None:
        set_agent("claude", True)
        packet = told(call(TOOL, {"text": FINANCE, "launch": "claude"}, "accept"))
        assert (packet["outcome"], started.exists()) == ("not_permitted", False)

    def test_a_read_only_server_proposes_instead(
        self, call: Call, project: Path, started: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        set_agent("claude", True)
        monkeypatch.setenv("QIONGLI_MCP_READ_ONLY", "1")
        wish = {"text": FINANCE, "cwd": str(project), "launch": "claude", "record": True}
        packet = told(call(TOOL, wish, "accept"))
        assert (packet["outcome"], packet["recording"], packet["agent"]) == ("read_only", None, None)
        assert [action["action"] for action in packet["proposed_actions"]] == [
            *("confirm", "dismiss"),
            *("launch", "record"),
        ]
        assert not started.exists()
        assert list(project.iterdir()) == []

    def test_a_client_that_cancels_ends_the_agent(self, era: str, project: Path, started: Path, tmp_path: Path) -> None:
        set_agent("claude", True)
        ended = tmp_path / "ended"
        (tmp_path / "programs/claude").write_text(
            f"#!{sys.executable} -I\nimport signal, sys, time\n"
            f"def end(*_):\n    open({str(ended)!r}, 'w').close()\n    sys.exit(1)\n"
            f"signal.signal(signal.SIGTERM, end)\nopen({str(started)!r}, 'w').close()\ntime.sleep(60)\n",
            encoding="utf-8",
        )

        async def main() -> None:
            async with Client(build_server(), mode=era) as client:
                wish = {"text": FINANCE, "cwd": str(project), "launch": "claude"}
                plan = (await client.call_tool(TOOL, wish)).structured_content["plan_id"]
                with anyio.move_on_after(60) as scope:
                    async with anyio.create_task_group() as group:
                        group.start_soon(client.call_tool, TOOL, {**wish, "plan_id": plan})
                        while not started.exists():
                            await anyio.sleep(0.02)
                        group.cancel_scope.cancel()
                assert not scope.cancelled_caught

        start = time.monotonic()
        anyio.run(main)
        while not ended.exists() and time.monotonic() - start < 30:
            time.sleep(0.05)
        assert ended.exists()


def test_who_is_asked_depends_on_the_client_the_argument_and_the_setting_alone() -> None:
    assert set(inspect.signature(ask_launch).parameters) == {"ctx", "launch"}
    assert set(inspect.signature(verdict_on).parameters) == {"agent", "hooks"}


# --- the smoke ---------------------------------------------------------------------------------------------------


def test_every_case_of_the_smoke_passes_in_a_process_that_starts_no_other() -> None:
    report = run_preview(load_cases())
    assert [case.failures for case in report.cases if not case.passed] == []
    assert (report.spawned, report.problems, report.passed) == ((), (), True)
    assert report.total >= 8


@pytest.mark.skipif(sys.platform == "win32", reason="the program that stands in for the agent is a script")
def test_the_smoke_would_notice_a_server_that_starts_a_process(project: Path, started: Path, tmp_path: Path) -> None:
    set_agent("claude", True)
    report = tmp_path / "report"
    server = ServerProcess(
        [sys.executable, "-m", "qiongli.smoke.guard", str(report), "mcp", "serve"],
        environment=dict(os.environ),
        errors=tmp_path / "errors",
    )
    server.start()
    wish: dict[str, object] = {"text": FINANCE, "cwd": str(project), "launch": "claude"}
    plan = server.call(TOOL, wish)["plan_id"]
    assert report.read_bytes() == b""
    answer = server.request("tools/call", {"name": TOOL, "arguments": {**wish, "plan_id": plan}})
    server.end()
    assert answer["isError"]
    assert report.read_text(encoding="utf-8").split() == ["subprocess.Popen"]
    assert not started.exists()
