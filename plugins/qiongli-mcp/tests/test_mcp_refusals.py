"""Arguments that do not fit, folders that are none, huge texts and clients that cancel: refused in words, no traces."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp_types import ElicitResult

from qiongli.errors import InputError
from qiongli.project import Store, apply_action, open_project
from qiongli_mcp.edge import hidden, tool_error
from qiongli_mcp.replies import beginning, bounded, reply
from qiongli_mcp.server import build_server

TASK = "We use CRSP abnormal returns in an event study, for the Journal of Finance"
CWD_TOOLS = {
    "qiongli_route": {"text": TASK},
    "qiongli_subject_status": {},
    "qiongli_subject_explain": {"subject": "finance", "text": TASK},
    "qiongli_subject_update": {"action": "confirm", "subject": "finance"},
    "qiongli_observe": {"text": TASK},
    "qiongli_trace": {},
}


def facts(result: Any) -> dict[str, Any]:
    """The facts of an error: one line of prose, then one line of JSON."""
    assert result.is_error, result
    prose, line = result.content[0].text.split("\n")
    assert prose
    assert not prose.startswith("Error executing tool")
    found: dict[str, Any] = json.loads(line)
    assert found.keys() == {"code", "hint", "available"}
    return found


def test_every_tool_refuses_unknown_arguments_and_names_its_own(ask: Any, call: Any) -> None:
    for tool in ask(lambda client: client.list_tools()).tools:
        told = facts(call(tool.name, {"nonsense": 1}))
        assert told["code"] == "invalid_arguments"
        assert set(told["available"]) <= set(tool.input_schema["properties"])


@pytest.mark.parametrize(
    ("tool", "arguments", "available"),
    [
        ("qiongli_route", {"text": 7}, ["text", "cwd", "venue", "detail"]),
        ("qiongli_route", {"text": TASK, "detail": "everything"}, ["short", "full"]),
        ("qiongli_route", {"text": ["a"]}, ["text", "cwd", "venue", "detail"]),
        ("qiongli_route", {"text": TASK, "venue": "x" * 501}, ["text", "cwd", "venue", "detail"]),
        ("qiongli_trace", {"cwd": "/tmp", "limit": "5"}, ["cwd", "limit"]),
        ("qiongli_trace", {"cwd": "/tmp", "limit": True}, ["cwd", "limit"]),
        ("qiongli_trace", {"cwd": "/tmp", "limit": 10**9}, ["cwd", "limit"]),
        ("qiongli_resource_read", {"subject": "finance", "kind": "secret"}, None),
        (
            "qiongli_subject_update",
            {"cwd": "/tmp", "action": "delete"},
            ["confirm", "dismiss", "reset", "lock", "unlock"],
        ),
    ],
)
def test_wrong_types_and_values_are_refused_with_what_is_possible(
    call: Any, tool: str, arguments: dict[str, Any], available: list[str] | None
) -> None:
    told = facts(call(tool, arguments))
    assert told["code"] == "invalid_arguments"
    if available is not None:
        assert told["available"] == available


def test_what_was_given_is_not_repeated(call: Any) -> None:
    result = call("qiongli_route", {"text": TASK, "detail": "hunter2-secret"})
    assert "hunter2" not in result.model_dump_json()


def test_an_unknown_tool_is_an_error_that_lists_the_tools(call: Any) -> None:
    told = facts(call("qiongli_rout", {}))
    assert told["code"] == "unknown_tool"
    assert "qiongli_route" in told["available"]


@pytest.mark.parametrize("tool", CWD_TOOLS)
def test_only_an_existing_folder_named_in_full_is_a_project(call: Any, tmp_path: Path, tool: str) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    cases = {
        str(tmp_path / "none"): "no_such_folder",
        str(tmp_path / "file"): "no_such_folder",
        str(tmp_path / "file" / ".." / "x"): "no_such_folder",
        str(loop): "no_such_folder",
        "\0": "cwd_not_absolute",
        "/\0": "no_such_folder",
        ".": "cwd_not_absolute",
        "..": "cwd_not_absolute",
        "~": "cwd_not_absolute",
        "/" + "x" * 4_000: "no_such_folder",
    }
    for cwd, code in cases.items():
        assert facts(call(tool, {**CWD_TOOLS[tool], "cwd": cwd}))["code"] == code, cwd
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "loop"]


def test_links_and_dots_lead_to_one_project(call: Any, tmp_path: Path) -> None:
    real = tmp_path / "real"
    (real / "inside").mkdir(parents=True)
    link = tmp_path / "link"
    link.symlink_to(real)
    wish = {"action": "confirm", "subject": "finance"}
    plan = call("qiongli_subject_update", {**wish, "cwd": str(link)}).structured_content["plan_id"]
    dotted = str(real / "inside" / "..")
    done = call("qiongli_subject_update", {**wish, "cwd": dotted, "plan_id": plan}).structured_content
    assert done["outcome"] == "applied"
    status = call("qiongli_subject_status", {"cwd": str(link)}).structured_content
    assert status["active_subject"] == "finance"


def test_state_that_leads_out_of_the_project_is_not_followed(call: Any, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    project = tmp_path / "project"
    project.mkdir()
    (project / ".qiongli").symlink_to(elsewhere)
    for tool, arguments in CWD_TOOLS.items():
        assert facts(call(tool, {**arguments, "cwd": str(project)}))["code"] == "path_outside_project"
    assert list(elsewhere.iterdir()) == []


def test_a_huge_text_is_answered_and_stays_small(call: Any, tmp_path: Path) -> None:
    huge = "event study " * 200_000
    result = call("qiongli_route", {"text": huge})
    assert result.structured_content["refusal"]["code"] == "input_too_large"
    assert len(json.dumps(result.structured_content)) <= 8_192
    for field in ("subject", "name"):
        arguments = {"subject": "finance", "kind": "overlay", field: huge}
        assert facts(call("qiongli_resource_read", arguments))["code"] == "invalid_arguments"
    observed = call("qiongli_observe", {"cwd": str(tmp_path), "text": huge})
    assert len(json.dumps(observed.structured_content or {})) <= 8_192


@pytest.mark.parametrize("text", ["", " ", "\ud800", "\0", "\u202e" * 50, "a" * 100_000])
def test_odd_texts_are_answered(call: Any, text: str) -> None:
    result = call("qiongli_route", {"text": text})
    assert not result.is_error
    assert result.structured_content["decision"] == "no_subject"


@pytest.mark.parametrize("name", ["../finance", "..", "/etc/passwd", "finance/../economics", "\0", "财务"])
def test_names_are_never_paths(call: Any, name: str) -> None:
    assert facts(call("qiongli_resource_read", {"subject": name, "kind": "overlay"}))["code"] == "unknown_subject"
    told = facts(call("qiongli_resource_read", {"subject": "finance", "kind": "method_pack", "name": name}))
    assert told["code"] == "unknown_resource"
    assert facts(call("qiongli_subject_explain", {"subject": name, "text": TASK}))["code"] == "unknown_subject"


def test_a_fault_of_ours_says_nothing_of_what_happened(
    call: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the secret of /home/somebody")

    monkeypatch.setattr("qiongli_mcp.routing_tools.router_for", broken)
    result = call("qiongli_route", {"text": TASK})
    assert facts(result)["code"] == "internal_error"
    assert "secret" not in result.model_dump_json()
    assert "the secret of /home/somebody" in caplog.text


def test_a_cancelled_change_leaves_the_old_state_or_the_new_one(era: str, tmp_path: Path) -> None:
    """While another writer holds the project, the client gives up: then nothing is changed, whenever it is free."""
    store = Store(open_project(tmp_path))
    held, release = threading.Event(), threading.Event()

    def hold() -> None:
        with store.writing():
            held.set()
            release.wait(20)

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait(20)

    async def answer(_: Any, __: Any) -> ElicitResult:
        return ElicitResult(action="accept", content={})

    async def main() -> None:
        server = build_server()
        wish = {"cwd": str(tmp_path), "action": "confirm", "subject": "finance"}
        async with Client(server, mode=era, elicitation_callback=answer) as client:  # type: ignore[arg-type]
            threading.Timer(1.5, release.set).start()
            with anyio.move_on_after(0.7) as scope:
                await client.call_tool("qiongli_subject_update", wish)
            assert scope.cancelled_caught
        # A new client finds the project as it was, and can go on.
        async with Client(server, mode=era) as client:  # type: ignore[arg-type]
            status = await client.call_tool("qiongli_subject_status", {"cwd": str(tmp_path)})
            assert status.structured_content["active_subject"] == "auto"

    anyio.run(main)
    holder.join()
    time.sleep(0.3)
    assert not (tmp_path / ".qiongli" / "guidance_manifest.yaml").exists()
    assert not [path for path in (tmp_path / ".qiongli" / ".staging").rglob("*") if path.is_file()]


def test_calls_that_are_cancelled_at_any_moment_leave_a_whole_state(era: str, tmp_path: Path) -> None:
    async def main() -> None:
        server = build_server()

        async def observe(client: Any, number: int, seconds: float) -> None:
            with anyio.move_on_after(seconds):
                await client.call_tool("qiongli_observe", {"cwd": str(tmp_path), "text": f"{TASK} {number}"})

        async with Client(server, mode=era) as client, anyio.create_task_group() as group:  # type: ignore[arg-type]
            for number in range(12):
                group.start_soon(observe, client, number, 0.003 * number)
        async with Client(server, mode=era) as client:  # type: ignore[arg-type]
            trace = await client.call_tool("qiongli_trace", {"cwd": str(tmp_path), "limit": 20})
            status = await client.call_tool("qiongli_subject_status", {"cwd": str(tmp_path)})
        runs = trace.structured_content["runs"]
        assert all(run["decision"] == "suggest_subject" for run in runs)
        counted = {item["subject"]: item["suggestion_count"] for item in status.structured_content["suggestions"]}
        assert counted.get("finance", 0) == len(runs)
        assert status.structured_content["warnings"] == []

    anyio.run(main)


def test_shortening_keeps_the_shape_and_says_what_it_cut() -> None:
    packet = {
        "decision": "x",
        "signals": [{"id": str(number), "snippet": "s" * 50} for number in range(500)],
        "text": "t" * 20_000,
        "empty": [],
        "nested": {"list": ["a" * 300] * 100},
        "warnings": ["short"],
    }
    small = bounded(packet, 8_192)
    assert len(json.dumps(small)) <= 8_192
    assert small["decision"] == "x"
    assert small["warnings"] == ["short"]
    assert small["signals"] == packet["signals"][: len(small["signals"])]  # type: ignore[index]
    assert small["text"].startswith("t" * 100)
    assert any(line.startswith("signals: ") and line.endswith(" of 500") for line in small["shortened"])
    assert len(packet["signals"]) == 500
    assert bounded({"a": 1}, 8_192) == {"a": 1}


@pytest.mark.parametrize(
    "text", ["a" * 9_000, "事件研究" * 3_000, '"\\\n' * 4_000, "a" * 5_000 + "研" * 5_000, "short", ""]
)
def test_a_text_is_cut_where_it_fills_its_room_in_whatever_script(text: str) -> None:
    kept = beginning(text, 6_000)
    assert text.startswith(kept)
    size = len(json.dumps(kept))
    assert size <= 6_000
    assert kept == text or size > 5_990


def test_a_reply_that_names_a_folder_after_all_names_it_by_what_it_is() -> None:
    home = str(Path.home())
    result = reply({"warnings": [f"{home}/x is broken", "see /data/of/mine/y"]}, projects=("/data/of/mine",))
    assert result.structured_content == {"warnings": ["~/x is broken", "see ./y"]}
    assert json.loads(result.content[0].text) == result.structured_content  # type: ignore[union-attr]


def test_folders_of_this_machine_are_replaced_wherever_they_stand() -> None:
    home = str(Path.home())
    assert hidden(f"see {home}/x and /data/p/y", "/data/p") == "see ~/x and ./y"
    assert hidden({"a": [f"{home}"]}) == {"a": ["~"]}
    # Only whole names: a folder is no part of another word.
    assert hidden(f"{home}stead square{home}") == f"{home}stead square{home}"
    said = str(tool_error(InputError(f"{home}/secret is bad", hint=f"cd {home}", available=(f"{home}/a",))))
    assert home not in said


def test_the_commands_of_a_refusal_or_a_packet_name_no_folder_of_the_machine(call: Any, tmp_path: Path) -> None:
    project = tmp_path / "it's my paper"
    project.mkdir()
    apply_action("lock", project, "economics")
    refused = call("qiongli_subject_update", {"cwd": str(project), "action": "confirm", "subject": "finance"})
    assert facts(refused)["hint"] == "Run first: qiongli subject unlock --cwd ."
    unlocked = call("qiongli_subject_update", {"cwd": str(project), "action": "unlock"})
    assert unlocked.structured_content["command"] == "qiongli subject unlock --cwd ."
    (project / ".qiongli/guidance_manifest.yaml").write_text("[", encoding="utf-8")
    for tool in ("qiongli_subject_status", "qiongli_route", "qiongli_task_run", "qiongli_observe"):
        told = call(tool, {"cwd": str(project), **({"text": TASK} if tool != "qiongli_subject_status" else {})})
        assert facts(told)["hint"] == "Mend the file, or run: qiongli subject reset --cwd . (it keeps a copy)"
        assert "paper" not in told.model_dump_json()
