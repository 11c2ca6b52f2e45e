"""`qiongli task` as people and programs call it: forms of a task, packets, exit codes."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import attrs
import jsonschema
import pytest
from packet_cases import write_packages
from task_cases import BORROWS_ALPHA, GATED_GAMMA, SUGGESTS_ALPHA, make_runtime, stand_in

from qiongli.cli import run
from qiongli.hookspecs import hookimpl
from qiongli.plugins.hooks import HookCaller
from qiongli.plugins.policy import load_policy
from qiongli.schemas import schema_text

pytestmark = pytest.mark.usefixtures("isolated_qiongli")


@pytest.fixture(autouse=True)
def made_up_subjects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_packages(tmp_path / "packages")
    runtime = make_runtime(tmp_path / "packages")
    monkeypatch.setattr("qiongli.runtime.default_runtime", lambda: runtime)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    return root


def document(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> dict[str, Any]:
    capsys.readouterr()
    assert run([*arguments, "--json"]) == code
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    if "mode" in found:
        jsonschema.validate(found, json.loads(schema_text("task-run")))
    return found


def text(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    capsys.readouterr()
    assert run([*arguments]) == code
    return capsys.readouterr().out


def test_text_file_and_standard_input_are_the_same_task(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "task.txt"
    file.write_text(SUGGESTS_ALPHA, encoding="utf-8")
    packets = [
        document(capsys, "task", "run", SUGGESTS_ALPHA),
        document(capsys, "task", "run", SUGGESTS_ALPHA, "--preview"),
        document(capsys, "task", "run", str(file)),
        document(capsys, "task", "run", "--file", str(file)),
    ]
    for arguments in ((), ("-",)):
        stdin = io.TextIOWrapper(io.BytesIO(SUGGESTS_ALPHA.encode()), encoding="utf-8")
        monkeypatch.setattr(sys, "stdin", stdin)
        packets.append(document(capsys, "task", "run", *arguments))
    assert {packet["refinement"]["decision"] for packet in packets} == {"suggest_subject"}
    assert len({packet["refinement"]["fingerprint"] for packet in packets}) == 1
    assert {packet["mode"] for packet in packets} == {"preview"}


def test_a_packet_on_standard_input_keeps_its_fields(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    task = json.dumps({"topic": SUGGESTS_ALPHA, "venue": "Journal of Quorl"})
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(task.encode()), encoding="utf-8"))
    packet = document(capsys, "task", "run")
    assert "venue" in packet["refinement"]["candidate_subjects"][0]["dimensions"]


def test_the_text_form_says_what_a_person_needs(capsys: pytest.CaptureFixture[str], project: Path) -> None:
    shown = text(capsys, "task", "run", SUGGESTS_ALPHA, "--budget", "1000")
    assert "domain: auto" in shown
    assert "suggested, not confirmed: alpha (qiongli subject confirm alpha --cwd DIR)" in shown
    assert "tokens of 1000)" in shown
    assert "not in it: overlay alpha/alpha: waits until you confirm alpha" in shown
    assert "# Core guidance" not in shown
    assert "# Core guidance" in text(capsys, "task", "run", SUGGESTS_ALPHA, "--bundle")
    assert "blocked: gamma: the subject is a candidate" in text(capsys, "task", "run", GATED_GAMMA)
    assert "borrowed instead of suggested: alpha/loan" in text(capsys, "task", "run", BORROWS_ALPHA)
    assert "recorded as run-1" in text(capsys, "task", "run", BORROWS_ALPHA, "--record", "--cwd", str(project))


@pytest.mark.parametrize(
    ("arguments", "code", "error"),
    [
        (("x", "--record"), 2, "project_needed"),
        (("x", "--launch", "claude"), 2, "project_needed"),
        (("x", "--preview", "--launch", "claude"), 2, "usage"),
        (("x", "--budget", "10"), 2, "budget_too_small"),
        (("x", "--budget", "0"), 2, "usage"),
        (("x", "--file", "y"), 2, "usage"),
        (("x", "--answer", "no"), 2, "usage"),
        (("x", "--cwd", "/nowhere/at/all"), 2, ""),
        (("x", "--session", "two words", "--cwd", "."), 2, "invalid_session_event"),
        (("x", "--launch", "rm", "--cwd", "."), 2, "unknown_agent"),
    ],
)
def test_wrong_use_is_one_json_error(
    arguments: tuple[str, ...], code: int, error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    packet = document(capsys, "task", "run", *arguments, code=code)
    assert error in packet["error"]["code"]


def test_a_launch_that_the_setting_does_not_permit_is_a_preview_with_exit_code_three(
    capsys: pytest.CaptureFixture[str], project: Path
) -> None:
    packet = document(capsys, "task", "run", "x", "--launch", "claude", "--cwd", str(project), code=3)
    assert packet["mode"] == "preview"
    assert packet["launch"]["reasons"][0]["hint"] == "Run: qiongli task allow claude"
    shown = text(capsys, "task", "run", "x", "--launch", "claude", "--cwd", str(project), code=3)
    assert "not launched: this user's settings do not permit that claude is started" in shown


def test_a_program_that_is_missing_is_a_broken_environment(
    capsys: pytest.CaptureFixture[str], project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    document(capsys, "task", "allow", "claude")
    packet = document(capsys, "task", "run", "x", "--launch", "claude", "--cwd", str(project), code=4)
    assert packet["error"]["code"] == "agent_not_found"


@pytest.mark.skipif(sys.platform == "win32", reason="the program that stands in for the agent is a script")
@pytest.mark.parametrize(("ends_with", "code"), [(0, 0), (5, 1)])
def test_the_exit_code_says_how_the_agent_ended(
    ends_with: int,
    code: int,
    capsys: pytest.CaptureFixture[str],
    project: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stand_in(tmp_path / "programs", "codex", f"import sys\nprint('hello')\nsys.exit({ends_with})")
    monkeypatch.setenv("PATH", str(tmp_path / "programs"))
    document(capsys, "task", "allow", "codex")
    packet = document(capsys, "task", "run", "x", "--launch", "codex", "--cwd", str(project), code=code)
    assert packet["mode"] == "launched"
    assert (packet["agent"]["exit_code"], packet["agent"]["output"]) == (ends_with, "hello\n")
    shown = text(capsys, "task", "run", "x", "--launch", "codex", "--cwd", str(project), code=code)
    assert f"with exit code {ends_with}\n  | hello" in shown


def test_a_plugin_that_fails_is_named_and_changes_no_packet(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken:
        @hookimpl
        def qiongli_detect(self) -> Any:
            raise ValueError("no luck")

    sound = document(capsys, "task", "run", SUGGESTS_ALPHA)
    hooks = HookCaller()
    hooks.register(Broken(), "some-plugin")
    runtime = attrs.evolve(make_runtime(tmp_path / "packages"), hooks=hooks)
    monkeypatch.setattr("qiongli.runtime.default_runtime", lambda: runtime)
    assert run(["task", "run", SUGGESTS_ALPHA, "--json"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out) == sound
    assert "a plugin of some-plugin failed (qiongli_detect)" in captured.err


class TestSettings:
    def test_agents_are_listed_allowed_and_forbidden(
        self, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PATH", str(tmp_path / "empty"))
        rows = document(capsys, "task", "agents")["agents"]
        assert [(row["agent"], row["found"], row["permitted"]) for row in rows] == [
            ("claude", False, False),
            ("codex", False, False),
            ("gemini", False, False),
        ]
        allowed = document(capsys, "task", "allow", "gemini")
        jsonschema.validate(allowed, json.loads(schema_text("plugin-policy")))
        assert (allowed["changed"], allowed["agents"]) == (True, ["gemini"])
        assert [row["permitted"] for row in document(capsys, "task", "agents")["agents"]] == [False, False, True]
        assert document(capsys, "task", "allow", "gemini")["changed"] is False
        assert document(capsys, "task", "forbid", "gemini")["agents"] == []
        assert load_policy().agents == frozenset()

    def test_only_agents_with_an_adapter_can_be_allowed(self, capsys: pytest.CaptureFixture[str]) -> None:
        error = document(capsys, "task", "allow", "rm", code=2)["error"]
        assert (error["code"], error["available"]) == ("unknown_agent", ["claude", "codex", "gemini"])
        # What is no longer installed can still be forbidden.
        assert document(capsys, "task", "forbid", "rm")["agents"] == []

    def test_other_settings_survive(self, capsys: pytest.CaptureFixture[str]) -> None:
        document(capsys, "task", "allow", "claude")
        document(capsys, "plugins", "candidate-only", "on")
        policy = load_policy()
        assert policy.agents == {"claude"}
        assert policy.candidate_only
