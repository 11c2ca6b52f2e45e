"""The guide to tasks, followed to the letter: its commands run, its Python runs, its table names what is there."""

from __future__ import annotations

import io
import re
import shlex
import sys
from pathlib import Path

import pytest
from packet_cases import write_packages
from task_cases import make_runtime, stand_in

from qiongli.cli import run
from qiongli.records.task import TaskRun

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "tasks.md"
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.skipif(sys.platform == "win32", reason="the program that stands in for the agent is a script")
@pytest.mark.usefixtures("isolated_qiongli")
def test_every_command_of_the_guide_does_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_packages(tmp_path / "packages")
    runtime = make_runtime(tmp_path / "packages")
    monkeypatch.setattr("qiongli.runtime.default_runtime", lambda: runtime)
    work = tmp_path / "work"
    (work / "my-paper").mkdir(parents=True)
    (work / "draft.md").write_text("A draft.", encoding="utf-8")
    (work / "abstract.txt").write_text("An abstract.", encoding="utf-8")
    stand_in(tmp_path / "programs", "claude", "import sys\nprint(len(sys.stdin.read()))")
    monkeypatch.setenv("PATH", str(tmp_path / "programs"))
    monkeypatch.chdir(work)
    done = []
    for block in _BLOCK.finditer(GUIDE.read_text(encoding="utf-8")):
        language, body = block.groups()
        if language == "python":
            exec(compile(body, str(GUIDE), "exec"), {})
            assert "core qiongli-core/task/core_guidance.md" in capsys.readouterr().out
            continue
        for line in body.splitlines():
            line, _, source = line.partition(" < ")
            if source:
                data = io.BytesIO((work / source).read_bytes())
                monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(data, encoding="utf-8"))
            program, *arguments = shlex.split(line)
            assert program == "qiongli"
            if arguments == ["smoke"]:
                # Its server is another distribution's.
                continue
            assert run(arguments) == 0, line
            done.append(" ".join(arguments[:2]))
    assert {"task run", "task agents", "task allow", "smoke --mode"} <= set(done)


def test_the_guide_names_every_part_of_a_preview_that_a_reader_must_know() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    named = set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE))
    fields = {field.name for field in TaskRun.__attrs_attrs__}
    assert named <= fields
    assert {*fields} - named <= {
        *("mode", "summary", "domain", "agent", "recording", "warnings", "schema_version"),
    }
