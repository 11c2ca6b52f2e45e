"""The server as a process: protocol lines and nothing else on standard output, and a gate that nobody waits for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from qiongli_mcp.runtime_access import HOLDER, RuntimeHolder

TASK = "We use CRSP abnormal returns in an event study, for the Journal of Finance"


class Process:
    """A server process, spoken to line by line in the older era."""

    def __init__(self, *options: str, **environment: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "qiongli", "mcp", "serve", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env={**os.environ, **environment},
        )
        self.lines: list[str] = []
        self.errors = ""
        self.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "t", "version": "1"})
        self.send({"method": "notifications/initialized"})

    def send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self._process.stdin.flush()

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        number = len(self.lines) + 1
        self.send({"id": number, "method": method, "params": params})
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.lines.append(line)
            answer: dict[str, Any] = json.loads(line)
            if answer.get("id") == number:
                return answer
        raise AssertionError("the server ended")

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result: dict[str, Any] = self.ask("tools/call", name=tool, arguments=arguments)["result"]
        return result

    def end(self) -> int:
        out, self.errors = self._process.communicate(timeout=60)
        self.lines += out.splitlines()
        return self._process.returncode


@pytest.fixture
def noisy(tmp_path: Path) -> dict[str, str]:
    """The environment in which a plugin is found that prints whenever it can."""
    site = tmp_path / "site"
    (site / "noisy_plugin-1.0.dist-info").mkdir(parents=True)
    (site / "noisy_plugin-1.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: noisy-plugin\nVersion: 1.0\n", encoding="utf-8"
    )
    (site / "noisy_plugin-1.0.dist-info" / "entry_points.txt").write_text(
        "[qiongli.plugins]\nnoisy = noisy_plugin\n", encoding="utf-8"
    )
    (site / "noisy_plugin.py").write_text(
        "import os, subprocess\n"
        "from qiongli.hookspecs import ToolSpec, hookimpl\n"
        "print('printed at import')\n"
        "os.write(1, b'written at import\\n')\n"
        "@hookimpl\n"
        "def qiongli_mcp_tools():\n"
        "    print('printed by the hook')\n"
        "    return [ToolSpec('shout', 'noisy_plugin:shout')]\n"
        "def shout(text: str) -> dict[str, str]:\n"
        "    'Print the text.'\n"
        "    print(text, flush=True)\n"
        "    os.write(1, text.encode())\n"
        "    subprocess.run(['echo', text], check=True)\n"
        "    return {'text': text}\n",
        encoding="utf-8",
    )
    return {"PYTHONPATH": str(site)}


def test_whatever_prints_standard_output_holds_only_protocol_lines(noisy: dict[str, str]) -> None:
    process = Process(**noisy)
    names = [tool["name"] for tool in process.ask("tools/list")["result"]["tools"]]
    assert "shout" in names
    assert process.call("shout", text="loud")["structuredContent"] == {"text": "loud"}
    assert process.end() == 0
    for line in process.lines:
        assert json.loads(line)["jsonrpc"] == "2.0"
    for said in ("printed at import", "written at import", "printed by the hook", "loud"):
        assert said in process.errors


def test_a_fresh_machine_verifies_beside_the_client_and_then_acts(tmp_path: Path) -> None:
    """Until the gate has measured a subject here it lends lenses only, and says why; nobody waits for that."""
    process = Process(QIONGLI_CACHE_DIR=str(tmp_path / "cache"))
    process.ask("tools/list")
    started = time.monotonic()
    first = process.call("qiongli_route", text=TASK)["structuredContent"]
    if first["decision"] != "suggest_subject":
        blocked = {item["subject"]: item["reasons"][0]["code"] for item in first["blocked_candidates"]}
        assert blocked["finance"] == "verifying"
    while time.monotonic() - started < 60:
        last = process.call("qiongli_route", text=TASK)["structuredContent"]
        if last["decision"] == "suggest_subject":
            break
        time.sleep(0.2)
    assert last["primary_subject"] == "finance"
    assert process.end() == 0
    assert "verifying the activation" in process.errors
    assert "Traceback" not in process.errors


def test_who_asks_for_a_subjects_guidance_waits_for_the_gate(tmp_path: Path) -> None:
    process = Process(QIONGLI_CACHE_DIR=str(tmp_path / "cache"))
    read = process.call("qiongli_resource_read", subject="finance", kind="overlay")
    assert not read.get("isError"), read
    assert process.end() == 0


def test_what_is_confirmed_on_a_fresh_machine_is_written_down_as_the_gate_leaves_it(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    process = Process(QIONGLI_CACHE_DIR=str(tmp_path / "cache"))
    wish = {"cwd": str(project), "action": "confirm", "subject": "finance"}
    plan = process.call("qiongli_subject_update", **wish)["structuredContent"]["plan_id"]
    applied = process.call("qiongli_subject_update", **wish, plan_id=plan)["structuredContent"]
    assert applied["warnings"] == []
    assert process.end() == 0
    again = Process(QIONGLI_CACHE_DIR=str(tmp_path / "another cache"))
    status = again.call("qiongli_subject_status", cwd=str(project))["structuredContent"]
    assert (status["guidance"], status["warnings"]) == ("current", [])
    assert again.end() == 0


def test_a_verification_that_fails_leaves_subjects_lens_only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from qiongli.gate import admission

    real = admission.installed_catalogue
    monkeypatch.setenv("QIONGLI_CACHE_DIR", str(tmp_path))

    def installed_catalogue(*, deferred: bool = False) -> Any:
        if not deferred:
            raise OSError("no room on the disk")
        return real(deferred=True)

    monkeypatch.setattr(admission, "installed_catalogue", installed_catalogue)
    holder = RuntimeHolder()
    holder.get()
    holder.wait()
    finance = holder.get().catalogue.get("finance")
    assert finance is not None
    assert finance.listing.state == "lens_only"
    assert [reason.code for reason in finance.listing.reasons] == ["verifying"]
    holder.prepare()


def test_the_runtime_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert HOLDER.get() is HOLDER.get()
    from qiongli.gate import admission

    def broken(**_: object) -> None:
        raise OSError("unreadable")

    monkeypatch.setattr(admission, "installed_catalogue", broken)
    holder = RuntimeHolder()
    holder.prepare()
    with pytest.raises(OSError, match="unreadable"):
        holder.get()


def test_the_options_reach_the_server(tmp_path: Path) -> None:
    process = Process("--read-only", "--profile", "evolution")
    wish = {"cwd": str(tmp_path), "action": "confirm", "subject": "economics"}
    assert process.call("qiongli_subject_update", **wish)["structuredContent"]["outcome"] == "read_only"
    assert process.end() == 0
    assert list(tmp_path.iterdir()) == []
