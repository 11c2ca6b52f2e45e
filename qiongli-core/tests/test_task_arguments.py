"""An argument is a text, a file, or a mistake: what looks like a file and is none is not routed as words."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packet_cases import write_packages
from task_cases import SUGGESTS_ALPHA, make_runtime

from qiongli.cli import run
from qiongli.cli._arguments import looks_like_file
from qiongli.project import list_runs, read_manifest_state

pytestmark = pytest.mark.usefixtures("isolated_qiongli")


@pytest.fixture(autouse=True)
def made_up_subjects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Made-up subjects, and a shell in a folder with a project, `paper`, that holds a draft."""
    write_packages(tmp_path / "packages")
    runtime = make_runtime(tmp_path / "packages")
    monkeypatch.setattr("qiongli.runtime.default_runtime", lambda: runtime)
    (tmp_path / "work/paper/chapters").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work")
    Path("paper/draft.md").write_text(SUGGESTS_ALPHA, encoding="utf-8")


def _json(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> dict[str, Any]:
    capsys.readouterr()
    assert run([*arguments, "--json"]) == code
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize(
    "name",
    [
        *("draft.md", "paper/drafft.md", "my paper draft.docx", "paper/chapters/intro", "./draft", "../my paper/draft"),
        *("notes.TXT", "Smith 2020.pdf", "~/papers/draft", "/no/such/paper", "paper/a draft", "drafts/*.tex", "*.bib"),
        *("論文.docx", "paper", "paper/", ".", "data.csv", "old draft.doc", "task.json", "and/or", "draft.md "),
    ],
)
@pytest.mark.parametrize("command", [("route",), ("task", "run")])
def test_what_looks_like_a_file_and_is_none_is_an_error_and_records_nothing(
    capsys: pytest.CaptureFixture[str], command: tuple[str, ...], name: str
) -> None:
    error = _json(capsys, *command, name, "--cwd", "paper", "--record", code=2)["error"]
    assert error["code"] == "file_not_found"
    assert repr(name) in error["message"]
    assert error["hint"].endswith("to route the words themselves use --text")
    assert list_runs("paper") == ((), 0)


@pytest.mark.parametrize(
    "words",
    [
        SUGGESTS_ALPHA,
        "finance",
        "price/earnings ratios of firms",
        "the trade-off and/or substitution of debt",
        "We study 2/3 of all firms.",
        "an event study, e.g. in finance",
        "The results are in Table 3.5",
        "本文研究股票/债券市场的事件研究法",
        "株式/債券の実証研究",
        "the standard is .tex",
        "Our code is at https://example.org/code/estimate.csv",
        "We study stocks. " * 20 + "All data are in data.csv",
        "a text\nwith draft.md",
        "see section 3. md",
        "x" * 300 + ".md",
        "U.S.",
        "a null \0 character.",
        "null\0/character",
        '{"topic":"stocks/bonds"}',
        "",
    ],
)
def test_words_are_words(capsys: pytest.CaptureFixture[str], words: str) -> None:
    packet = _json(capsys, "route", words)
    assert packet == _json(capsys, "route", "--text", words)
    assert _json(capsys, "task", "run", words)["refinement"]["decision"] == packet["decision"]


@given(st.lists(st.from_regex(r"[A-Za-z]{1,12}(?:-[a-z]{1,8})?[,;]?", fullmatch=True), min_size=1, max_size=30))
def test_property_sentences_of_words_are_no_names(words: list[str]) -> None:
    assert not looks_like_file(f"{' '.join(words)}.")


@pytest.mark.parametrize("name", ["draft.md", "paper", "and/or", "paper/draft.md"])
def test_the_words_themselves_are_routed_when_that_is_said(capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert _json(capsys, "route", "--text", name)["decision"] == "no_subject"
    assert _json(capsys, "task", "run", "--text", name)["refinement"]["decision"] == "no_subject"


def test_a_file_that_was_meant_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    for name, near in (("paper/drafft.md", "paper/draft.md"), ("paper/drat.md", "paper/draft.md")):
        hint = _json(capsys, "route", name, code=2)["error"]["hint"]
        assert hint.startswith(f"Did you mean {near.replace('/', os.sep)}? Names count from the folder of the shell; ")
    # In the project, but not where the shell is.
    assert "Did you mean" not in _json(capsys, "route", "draft.md", code=2)["error"]["hint"]
    hint = _json(capsys, "route", "draft.md", "--cwd", "paper", code=2)["error"]["hint"]
    assert f"Did you mean {Path('paper/draft.md')}? " in hint
    assert _json(capsys, "route", "paper/draft.md", "--cwd", "paper")["decision"] == "suggest_subject"


def test_one_wrong_name_among_several_tasks_keeps_all_from_being_recorded(capsys: pytest.CaptureFixture[str]) -> None:
    _json(capsys, "route", SUGGESTS_ALPHA, "paper/draft.md", "none.md", "--cwd", "paper", "--record", code=2)
    assert list_runs("paper")[1] == 0


def test_a_task_is_given_in_one_way(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for arguments in (("x", "--text", "y"), ("--text", "y", "--file", "paper/draft.md"), ("x", "--file", "y")):
        assert _json(capsys, "task", "run", *arguments, code=2)["error"]["code"] == "usage"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"words"), encoding="utf-8"))
    assert _json(capsys, "task", "run", "-")["refinement"]["decision"] == "no_subject"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_what_a_shell_makes_of_a_command_is_read(capsys: pytest.CaptureFixture[str]) -> None:
    read, write = os.pipe()
    with os.fdopen(write, "wb") as pipe:
        pipe.write(SUGGESTS_ALPHA.encode())
    try:
        assert _json(capsys, "route", f"/dev/fd/{read}")["decision"] == "suggest_subject"
    finally:
        os.close(read)


# --- the project that a task belongs to ---------------------------------------------------------------------------


@pytest.mark.parametrize("command", [("route",), ("task", "run"), ("subject", "explain", "alpha", "--text")])
def test_a_task_in_a_folder_below_finds_the_project_when_it_is_asked_to(
    capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    def seen(*arguments: str) -> str:
        return json.dumps(_json(capsys, *command, SUGGESTS_ALPHA, *arguments))

    alone = seen()
    Path("paper/.qiongli").mkdir()
    text = "active_subject: beta\nsubject_mode: confirmed\n"
    Path("paper/.qiongli/guidance_manifest.yaml").write_text(text, encoding="utf-8")
    in_project = seen("--cwd", "paper")
    assert alone != in_project
    found = seen("--cwd", "paper/chapters", "--find-project")
    assert found.replace("--cwd paper/chapters --find-project", "--cwd paper") == in_project
    # An explanation of why another subject is in force names the command that changes it, and the project.
    assert command[0] != "subject" or "qiongli subject reset --cwd paper" in in_project
    capsys.readouterr()
    assert run([*command, SUGGESTS_ALPHA, "--cwd", "paper/chapters", "--json"]) == 0
    below = capsys.readouterr()
    assert "lies in the project paper (beta, confirmed); to use that project, add --find-project" in below.err
    assert "lies in the project" not in below.out
    assert _json(capsys, *command, SUGGESTS_ALPHA, "--find-project", code=2)["error"]["code"] == "usage"


def test_a_suggestion_names_the_project_that_the_task_belongs_to(capsys: pytest.CaptureFixture[str]) -> None:
    _json(capsys, "project", "init", "--cwd", "paper")
    for arguments, option in (
        (("--cwd", "paper"), "--cwd paper"),
        (("--cwd", "paper/chapters", "--find-project"), "--cwd paper/chapters --find-project"),
        ((), "--cwd DIR"),
    ):
        suggestion = _json(capsys, "task", "run", SUGGESTS_ALPHA, *arguments)["suggestion"]
        assert suggestion["confirm"] == f"qiongli subject confirm alpha {option}"
        assert suggestion["dismiss"] == f"qiongli subject dismiss alpha {option}"
    assert run(["task", "run", SUGGESTS_ALPHA, "--record", "--find-project", "--cwd", "paper/chapters"]) == 0
    assert run(["route", SUGGESTS_ALPHA, "--record", "--find-project", "--cwd", "paper/chapters"]) == 0
    assert list_runs("paper")[1] == 2
    assert not Path("paper/chapters/.qiongli").exists()
    assert read_manifest_state("paper")[0].subject_mode == "auto"


def test_a_task_without_a_project_cannot_be_recorded(capsys: pytest.CaptureFixture[str]) -> None:
    error = _json(capsys, "task", "run", "x", "--record", code=2)["error"]
    assert (error["code"], error["place"]) == ("project_needed", "--cwd")
