"""The guide to agents says what the server does: its tools, entries, commands and words are tried out."""

from __future__ import annotations

import json
import os
import re
import shlex
import socket
import subprocess
import sys
import time
import tomllib
import typing
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from mcp_wire import MODERN_VERSION, Wire, connected

from qiongli.records.packet import Decision

GUIDE = (Path(__file__).resolve().parent.parent / "docs/guide/agents.md").read_text(encoding="utf-8")
TOKEN = "a token of thirty-two characters".replace(" ", "-")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", GUIDE, re.DOTALL)


def entries() -> list[dict[str, Any]]:
    """The entries of all registration files in the guide."""
    files = [json.loads(block)["mcpServers"] for block in blocks("json")]
    files += [tomllib.loads(block)["mcp_servers"] for block in blocks("toml")]
    return [file["qiongli"] for file in files]


def as_installed(command: str) -> list[str]:
    program, *arguments = shlex.split(command)
    assert program == "qiongli"
    return [sys.executable, "-m", "qiongli", *arguments]


def test_the_table_names_every_tool_and_which_of_them_write() -> None:
    rows = re.findall(r"^\| `(qiongli_\w+)` \|.*\| (.*) \|$", GUIDE, re.MULTILINE)
    with connected() as wire:
        tools = wire.request("tools/list")["result"]["tools"]
    hints = {tool["name"]: tool["annotations"]["readOnlyHint"] for tool in tools}
    assert {name: writes == "nothing" for name, writes in rows} == hints


def test_every_entry_starts_the_server_or_leads_to_it() -> None:
    found = entries()
    assert len(found) == 5
    started = [entry for entry in found if "command" in entry]
    assert {(entry["command"], *entry["args"]) for entry in started} == {("qiongli", "mcp", "serve")}
    assert {entry["url"] for entry in found if "url" in entry} == {"http://127.0.0.1:8765/mcp"}
    # Codex does not wait for a server without it.
    assert all(tomllib.loads(block)["mcp_servers"]["qiongli"]["required"] is True for block in blocks("toml"))


def test_the_words_to_agents_name_every_decision() -> None:
    text = blocks("text")[0]
    named = re.findall(r"^- ([a-z_, ]+):", text, re.MULTILINE)
    assert sorted(word for line in named for word in line.split(", ")) == sorted(typing.get_args(Decision))


def test_every_command_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    commands = [line for block in blocks("console") for line in block.splitlines()]
    assert len(commands) >= 6
    for command in commands:
        if command.startswith("export ") or "--http" in command:
            continue  # a server that is used, see below
        done = subprocess.run(as_installed(command), stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        assert done.returncode == 0, (command, done.stderr)


def test_a_server_started_as_the_guide_says_reads_only(tmp_path: Path) -> None:
    options = next(line for block in blocks("console") for line in block.splitlines() if "--read-only" in line)
    for settings in ({"options": shlex.split(options)[3:]}, {"environment": {"QIONGLI_MCP_READ_ONLY": "1"}}):
        with connected(**settings) as wire:
            wish = {"cwd": str(tmp_path), "action": "confirm", "subject": "finance"}
            answer = wire.call("qiongli_subject_update", **wish)["structuredContent"]
        assert answer["outcome"] == "read_only"
        assert answer["proposed_actions"]
    assert list(tmp_path.iterdir()) == []


def test_the_address_answers_who_has_the_token_and_nobody_else() -> None:
    command = next(line for block in blocks("console") for line in block.splitlines() if "--http" in line)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        as_installed(command.replace("8765", str(port))),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "QIONGLI_TOKEN": TOKEN},
    )
    try:
        wait_for(port, process)
        url = f"http://127.0.0.1:{port}/mcp"
        assert ask(url, {"Authorization": f"Bearer {TOKEN}"}) == 200
        assert ask(url, {}) == 401
        assert ask(url, {"Authorization": f"Bearer {TOKEN}x"}) == 401
        for header in ({"Host": "example.org"}, {"Origin": "http://example.org"}):
            assert ask(url, {"Authorization": f"Bearer {TOKEN}", **header}) in (403, 421)
    finally:
        process.terminate()
        said = process.communicate(timeout=30)
    assert said[0] == b""
    assert TOKEN.encode() not in said[1]


def wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        assert process.poll() is None, process.communicate()
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError("the server does not listen")


def ask(url: str, headers: dict[str, str]) -> int:
    """The status of a request for the server's description."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN_VERSION,
        "io.modelcontextprotocol/clientInfo": {"name": "guide", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": meta}})
    standard = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": MODERN_VERSION,
        "Mcp-Method": "server/discover",
    }
    request = urllib.request.Request(url, body.encode(), {**standard, **headers})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def test_what_the_guide_says_of_clients_without_forms_is_so(tmp_path: Path) -> None:
    """Decline is `cancelled`; no form is `needs_confirmation` with a plan for ten minutes and a command."""
    wish = {"cwd": str(tmp_path), "action": "confirm", "subject": "finance"}
    with connected("modern", answer="decline") as wire:
        assert wire.call("qiongli_subject_update", **wish)["structuredContent"]["outcome"] == "cancelled"
    with connected("legacy") as wire:
        plan = wire.call("qiongli_subject_update", **wish)["structuredContent"]
    assert plan["outcome"] == "needs_confirmation"
    assert plan["expires_in_seconds"] == 600
    assert plan["command"] == "qiongli subject confirm finance --cwd ."


def test_a_server_in_a_terminal_waits_and_ends_with_its_input() -> None:
    wire = Wire()
    time.sleep(0.2)
    assert wire.process.poll() is None
    assert wire.close() == 0
    assert wire.lines == []
