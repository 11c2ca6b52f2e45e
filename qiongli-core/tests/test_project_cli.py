"""The commands on a project: packets that fit their schemas, errors as JSON, exit codes, and text for people."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from project_cases import standard_subjects, state_files, suggestion

from qiongli.cli import run
from qiongli.project import record_refinement
from qiongli.records.packet import DECISIONS
from qiongli.schemas import schema_text


class Shell:
    """Runs command lines on one project."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.root = root
        self._capsys = capsys

    def text(self, *arguments: str, code: int = 0) -> str:
        assert run([*arguments, "--cwd", str(self.root)]) == code
        captured = self._capsys.readouterr()
        return captured.out if code in (0, 1) else captured.err

    def json(self, *arguments: str, code: int = 0) -> dict[str, Any]:
        assert run([*arguments, "--cwd", str(self.root), "--json"]) == code
        captured = self._capsys.readouterr()
        packet: dict[str, Any] = json.loads(captured.out)
        return packet


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    subjects = standard_subjects(tmp_path / "packages")
    monkeypatch.setattr("qiongli.gate.admission.installed_catalogue", lambda: subjects)
    root = tmp_path / "project"
    root.mkdir()
    return Shell(root, capsys)


def _validate(name: str, packet: object) -> None:
    Draft202012Validator(json.loads(schema_text(name))).validate(packet)


def test_every_packet_fits_its_published_schema(shell: Shell) -> None:
    for task in ("a", "b"):
        record_refinement(shell.root, suggestion("finance", task))
    _validate("status", shell.json("subject", "status"))
    _validate("action", shell.json("project", "init"))
    _validate("action", shell.json("subject", "dismiss", "finance"))
    _validate("action", shell.json("subject", "confirm", "finance", "--dry-run"))
    proposed = shell.json("subject", "confirm", "finance", "--propose")
    _validate("action", proposed)
    _validate("action", shell.json("apply", proposed["proposal"]))
    _validate("action", shell.json("project", "set", "--method-lens", "finance-lens", "--strictness", "strict"))
    _validate("action", shell.json("subject", "lock", "finance"))
    _validate("action", shell.json("subject", "unlock"))
    _validate("action", shell.json("undo"))
    _validate("action", shell.json("guidance", "apply"))
    _validate("action", shell.json("subject", "reset"))
    _validate("status", shell.json("project", "show"))
    memory = json.loads((shell.root / ".qiongli/trace/subject_evidence.json").read_bytes())
    _validate("subject-evidence", memory)
    assert [event["event"] for event in memory["lifecycle_events"]] == [
        "init",
        "dismiss",
        "confirm",
        "set",
        "lock",
        "unlock",
        "undo",
        "reset",
    ]


def test_errors_are_json_under_json_and_carry_their_exit_codes(shell: Shell) -> None:
    shell.json("subject", "lock", "economics")
    for arguments, code, name in (
        (("subject", "confirm", "finance"), 3, "project_locked"),
        (("subject", "confirm", "biology"), 2, "unknown_subject"),
        (("subject", "lock", "geoeconomics"), 3, "subject_unusable"),
        (("project", "set", "--strictness", "strict"), 3, "project_locked"),
        (("apply", "p-000000000000000000000000"), 2, "unknown_proposal"),
        (("trace", "show", "run-1"), 2, "unknown_run"),
        (("subject", "unlock", "--if-revision", "7"), 3, "changed_since"),
        (("subject", "unlock", "--dry-run", "--propose"), 2, "usage"),
        (("subject", "confirm"), 2, "usage"),
        (("project", "set", "--clear", "strictness"), 2, "unknown_setting"),
    ):
        packet = shell.json(*arguments, code=code)
        _validate("error", packet)
        assert packet["error"]["code"] == name


def test_a_missing_folder_is_an_error_and_creates_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], shell: Shell
) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    before = sorted(tmp_path.rglob("*"))
    for cwd in (str(tmp_path / "missing"), str(tmp_path / "file")):
        for command in (
            ("subject", "status"),
            ("subject", "confirm", "finance"),
            ("subject", "reset"),
            ("project", "init"),
            ("guidance", "apply"),
            ("trace", "list"),
            ("undo",),
        ):
            assert run([*command, "--cwd", cwd]) == 2
    # Nor is the folder guessed when none is named.
    for command in (("subject", "status"), ("subject", "reset"), ("subject", "confirm", "finance")):
        assert run([*command]) == 2
    capsys.readouterr()
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    "command",
    ["subject confirm finance", "undo", "trace list", "guidance apply", "route --record --text x", "task run x"],
)
def test_an_unset_variable_as_folder_is_an_error(
    shell: Shell, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.chdir(shell.root)
    assert run([*command.split(), "--cwd", "", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "folder_not_found"
    assert not list(shell.root.iterdir())


def test_a_locked_project_tells_how_to_unlock(shell: Shell) -> None:
    shell.text("subject", "lock", "economics")
    error = shell.text("subject", "confirm", "finance", code=3)
    assert "error[project_locked]" in error
    assert f"qiongli subject unlock --cwd {shell.root}\n" in error


def test_text_for_people(shell: Shell) -> None:
    for task in ("a", "b"):
        record_refinement(shell.root, suggestion("finance", task))
    status = shell.text("subject", "status")
    assert "subject: left to the router (auto)" in status
    assert "suggested: finance, 2 tasks, last with confidence 0.70; you may confirm it" in status
    assert "auto -> finance (confirmed)" in shell.text("subject", "confirm", "finance")
    dry = shell.text("subject", "lock", "economics", "--dry-run")
    assert "dry run, nothing was written" in dry
    assert f"to do it run: qiongli subject lock economics --cwd {shell.root}\n" in dry
    assert "warning: accounting is lens_only" in shell.text("subject", "confirm", "accounting")
    assert "nothing to do" in shell.text("subject", "unlock")
    assert "undone: confirm accounting" in shell.text("undo")
    assert "  strictness: standard -> strict\n" in shell.text("project", "set", "--strictness", "strict")
    assert "  dismissed: none -> economics\n" in shell.text("subject", "dismiss", "economics")
    shell.text("subject", "lock", "economics")
    assert "confidence 0.70; the project is locked" in shell.text("subject", "status")
    proposed = shell.text("subject", "reset", "--propose")
    assert "qiongli apply p-" in proposed
    assert "reset" in shell.text("apply")


def test_trace_commands(shell: Shell) -> None:
    assert "no runs" in shell.text("trace", "list")
    for task in ("a", "b", "c"):
        record_refinement(shell.root, suggestion("finance", task), task_packet="a text")
    listed = shell.json("trace", "list", "--limit", "2")
    assert listed["total"] == 3
    assert [entry["run_id"] for entry in listed["runs"]] == ["run-3", "run-2"]
    assert "1 older" in shell.text("trace", "list", "--limit", "2")
    assert shell.json("trace", "show", "run-2")["packet"]["task_packet"] == {"text": "a text"}
    assert shell.json("trace", "prune", "--keep", "1", "--dry-run")["removed"] == ["run-1", "run-2"]
    assert shell.text("trace", "prune", "--keep", "1") == "removed 2 runs\n"


def test_guidance_commands(shell: Shell) -> None:
    shell.text("subject", "confirm", "finance")
    assert "Subject: finance (confirmed)" in shell.text("guidance", "show")
    assert shell.json("guidance", "lint")["problems"] == []
    assert shell.text("guidance", "diff") == "no difference\n"
    file = shell.root / ".qiongli/guidance.d/subject-runtime.md"
    file.write_text(file.read_text(encoding="utf-8").replace("finance", "biology"), encoding="utf-8")
    assert "stale" in shell.text("guidance", "lint", code=1)
    assert "+Subject: finance" in shell.text("guidance", "diff")
    shell.text("guidance", "apply")
    assert shell.json("guidance", "lint")["status"] == "current"
    file.write_text("<!-- qiongli:managed:begin subject-runtime -->\n", encoding="utf-8")
    problem = shell.json("guidance", "lint", code=1)["problems"][0]
    assert (problem["line"], problem["code"]) == (1, "unclosed")
    assert shell.json("guidance", "apply", code=2)["error"]["code"] == "guidance_broken"


def test_looking_at_a_project_leaves_it_as_it_was(shell: Shell) -> None:
    shell.text("subject", "confirm", "finance")
    record_refinement(shell.root, suggestion("finance", "a"))
    before = state_files(shell.root)
    for command in (
        ("subject", "status"),
        ("project", "show"),
        ("guidance", "show"),
        ("guidance", "lint"),
        ("guidance", "diff"),
        ("trace", "list"),
        ("trace", "show", "run-2"),
        ("apply",),
        ("subject", "lock", "economics", "--dry-run"),
        ("undo", "--dry-run"),
    ):
        shell.text(*command)
    assert state_files(shell.root) == before


GUIDE = Path(__file__).parents[2] / "docs/guide/your-project.md"


def test_every_command_of_the_guide_runs(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shell.root.rename(tmp_path / "my-paper")
    shell.root = tmp_path / "my-paper"
    for number in range(12):
        record_refinement(shell.root, suggestion("finance", str(number)))
    blocks = re.findall(r"```console\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    commands = [line for block in blocks for line in block.splitlines()]
    assert len(commands) > 10
    for command in commands:
        # The subjects of these tests lend lenses of other names; routing is tested where the engine is.
        program, *arguments = shlex.split(command.replace("event-study", "finance-lens"))
        assert program == "qiongli"
        if arguments[0] != "route":
            assert run(arguments) == 0, command
    table = re.findall(r"`(qiongli (?:subject|undo)[^`]*--cwd \.)`", GUIDE.read_text(encoding="utf-8"))
    monkeypatch.chdir(shell.root)
    assert len(table) == 6
    for command in table:
        assert run(shlex.split(command)[1:]) == 0, command


FIRST_STEPS = Path(__file__).parents[2] / "docs/guide/first-steps.md"


def test_the_first_decisions_run_from_an_empty_folder(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    part = FIRST_STEPS.read_text(encoding="utf-8").split("## Decide for a project")[1]
    first, *commands = re.search(r"```console\n(.*?)```", part, re.DOTALL)[1].splitlines()  # type: ignore[index]
    program, folder = first.split()
    assert program == "mkdir"
    Path(folder).mkdir()
    assert len(commands) == 6
    for command in commands:
        program, *arguments = shlex.split(command)
        assert f"--cwd {folder}" in command
        # The subjects of these tests have no signals; routing is tested where the engine is.
        assert arguments[0] == "route" or run(arguments) == 0, command
    assert "finance" in Path(folder, ".qiongli/guidance_manifest.yaml").read_text(encoding="utf-8")


def test_the_first_steps_name_every_decision() -> None:
    named = re.findall(r"^\| `(\w+)` \|", FIRST_STEPS.read_text(encoding="utf-8"), re.MULTILINE)
    assert tuple(named) == DECISIONS
