"""The commands that messages name: pasted where the first one was typed, they act on the project that it was about."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from project_cases import standard_subjects, state_files, suggestion

from qiongli.cli import run
from qiongli.errors import QiongliError
from qiongli.project import (
    Project,
    apply_action,
    apply_guidance,
    apply_proposal,
    change_settings,
    guidance_report,
    init_project,
    open_project,
    prune_runs,
    read_project,
    read_run,
    record_refinement,
    subject_status,
    undo_action,
)
from qiongli.project.paths import cwd_option

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command line in a folder that holds a project's folder, `my paper`, and is itself none."""
    subjects = standard_subjects(tmp_path / "packages")
    monkeypatch.setattr("qiongli.gate.admission.installed_catalogue", lambda: subjects)
    (tmp_path / "work/my paper/chapters/one").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work")

    def typed(line: str) -> tuple[int, str, str]:
        program, *arguments = shlex.split(line)
        assert program == "qiongli"
        code = run(arguments)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return typed


def _commands(text: str) -> list[str]:
    """The command lines in a text, up to the end of their options."""
    found = re.findall(r"qiongli [a-z].*?--cwd (?:'[^']*'|[^ \n),;]+)(?: --find-project)?", text)
    assert found, text
    return found


# --- every message names the folder as it was given ---------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "qiongli subject confirm finance --dry-run",
        "qiongli subject lock finance --propose",
        "qiongli subject reset --dry-run",
        "qiongli project set --strictness strict --method-lens finance-lens --dry-run",
        "qiongli project set --venue-profile journal-of-finance --propose",
    ],
)
def test_the_command_that_a_preview_prints_does_it_when_it_is_pasted(shell: Run, line: str) -> None:
    shell("qiongli project init --cwd 'my paper'")
    shell("qiongli subject dismiss economics --cwd 'my paper'")
    code, previewed, _ = shell(f"{line} --cwd 'my paper'")
    assert code == 0
    pasted = previewed.split("it run: ")[1].splitlines()[0]
    assert "--cwd 'my paper'" in pasted
    code, done, error = shell(pasted)
    assert (code, error) == (0, "")
    assert ": done\n" in done
    assert not Path(".qiongli").exists()
    # What was previewed is what was done.
    assert previewed.splitlines()[1] == done.splitlines()[1]


def test_the_project_is_named_from_the_folder_below_that_was_given(shell: Run) -> None:
    shell("qiongli subject confirm finance --cwd 'my paper'")
    code, previewed, _ = shell("qiongli subject lock economics --dry-run --find-project --cwd 'my paper/chapters/one'")
    assert code == 0
    pasted = previewed.split("to do it run: ")[1].splitlines()[0]
    assert pasted == "qiongli subject lock economics --cwd 'my paper/chapters/one' --find-project"
    assert shell(pasted)[0] == 0
    assert subject_status("my paper").active_subject == "economics"
    assert not Path("my paper/chapters/one/.qiongli").exists()
    # The project itself needs no search.
    previewed = shell("qiongli subject unlock --dry-run --find-project --cwd 'my paper'")[1]
    assert "qiongli subject unlock --cwd 'my paper'\n" in previewed


def _break_the_manifest(root: Path) -> None:
    (root / ".qiongli/guidance_manifest.yaml").write_text("subject_mode: [\n", encoding="utf-8")


def _break_the_guidance(root: Path) -> None:
    text = "<!-- qiongli:managed:begin subject-runtime -->\n"
    (root / ".qiongli/guidance.d/subject-runtime.md").write_text(text, encoding="utf-8")


def _put_a_folder_in_the_way(root: Path) -> None:
    (root / ".qiongli/guidance_manifest.yaml").unlink()
    (root / ".qiongli/guidance_manifest.yaml").mkdir()


def _spoil_the_mode(root: Path) -> None:
    text = "active_subject: finance\nsubject_mode: auto\n"
    (root / ".qiongli/guidance_manifest.yaml").write_text(text, encoding="utf-8")


def _alias(root: Path) -> None:
    text = "mine: &names [economics]\nsecondary_subjects: *names\n"
    (root / ".qiongli/guidance_manifest.yaml").write_text(text, encoding="utf-8")


def _edit(root: Path) -> None:
    (root / ".qiongli/guidance_manifest.yaml").write_text("subject_mode: auto\n", encoding="utf-8")


def _nothing(root: Path) -> None:
    """The project as it is."""


@pytest.mark.parametrize(
    ("happens", "line"),
    [
        (_nothing, "subject confirm finance"),
        (_nothing, "subject lock economics"),
        (_nothing, "subject confirm economics"),
        (_nothing, "subject dismiss economics"),
        (_nothing, "project set --strictness strict"),
        (_nothing, "subject unlock --if-revision 77"),
        (_nothing, "trace show run-99"),
        (_break_the_manifest, "subject status"),
        (_break_the_manifest, "route x"),
        (_break_the_manifest, "task run x"),
        (_break_the_guidance, "subject status"),
        (_break_the_guidance, "subject unlock"),
        (_break_the_guidance, "guidance lint"),
        (_put_a_folder_in_the_way, "subject status"),
        (_spoil_the_mode, "subject status"),
        (_spoil_the_mode, "guidance lint"),
        (_alias, "project set --clear secondary_subjects"),
        (_edit, "undo"),
        (_edit, "guidance lint"),
    ],
)
def test_errors_and_warnings_name_commands_for_the_project_that_they_are_about(
    shell: Run, happens: Callable[[Path], None], line: str
) -> None:
    shell("qiongli subject lock economics --cwd 'my paper'")
    happens(Path("my paper"))
    _, out, error = shell(f"qiongli {line} --cwd 'my paper'")
    told = out + error
    assert "--cwd ." not in told
    if "broken" in told or "--cwd" in told:
        assert all(command.endswith("--cwd 'my paper'") for command in _commands(told))
    else:
        # What is done or refused for no reason of the project's needs no other command.
        assert line in ("guidance lint", "subject lock economics")


def test_the_library_names_the_folder_that_it_was_given(shell: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    shell("qiongli subject lock economics --cwd 'my paper'")
    for folder, shown in (("my paper", "'my paper'"), (Path("my paper").resolve(), f"'{Path('my paper').resolve()}'")):
        with pytest.raises(QiongliError) as raised:
            apply_action("confirm", folder, "finance")
        assert raised.value.hint == f"Run first: qiongli subject unlock --cwd {shown}"
        assert apply_action("unlock", folder, dry_run=True).command == f"qiongli subject unlock --cwd {shown}"
        with pytest.raises(QiongliError) as raised:
            apply_action("confirm", folder)
        assert raised.value.hint == f"Run: qiongli subject confirm SUBJECT --cwd {shown}"
    monkeypatch.chdir("my paper")
    assert apply_action("unlock", ".", dry_run=True).command == "qiongli subject unlock --cwd ."


def test_an_open_project_is_a_folder_for_every_function_and_may_have_another_name(shell: Run) -> None:
    project = open_project("my paper", shown="PROJECT")
    assert open_project(project) is project
    assert init_project(project).command == "qiongli project init --cwd PROJECT"
    assert apply_action("lock", project, "finance").command == "qiongli subject lock finance --cwd PROJECT"
    assert record_refinement(project, suggestion("finance", "a")).counted
    assert read_run(project, "run-3")["run_id"] == "run-3"
    assert read_project(project).manifest_state.active_subject == "finance"
    assert subject_status(project).locked
    assert guidance_report(project).status == "current"
    assert apply_guidance(project).command == "qiongli guidance apply --cwd PROJECT"
    assert prune_runs(project, keep=0) == ("run-3",)
    proposal = apply_action("unlock", project, propose=True).proposal
    assert proposal is not None
    assert apply_proposal(proposal, project).after.subject_mode == "confirmed"
    assert undo_action(project).command == "qiongli undo --cwd PROJECT"
    with pytest.raises(QiongliError) as raised:
        change_settings(project, {"strictness": "strict"})
    assert raised.value.hint == "Run first: qiongli subject unlock --cwd PROJECT"


def test_a_proposal_that_no_longer_holds_says_how_to_make_it_anew(shell: Run) -> None:
    shell("qiongli subject confirm finance --cwd 'my paper'")
    packet = json.loads(shell("qiongli project set --strictness strict --propose --json --cwd 'my paper'")[1])
    shell("qiongli subject confirm economics --cwd 'my paper'")
    code, _, error = shell(f"qiongli apply {packet['proposal']} --cwd 'my paper'")
    assert code == 3
    pasted = error.split("Ask anew: ")[1].strip()
    assert pasted == "qiongli project set --cwd 'my paper' --strictness strict"
    assert shell(pasted)[0] == 0


@pytest.mark.skipif(os.name == "nt", reason="the names and the shell are those of POSIX")
@pytest.mark.parametrize(
    "name", ["plain-1.0_x", "with space", "it's", 'a"b', "$HOME", "a;b", "论文", "-x", "~", "a\nb"]
)
def test_property_a_quoted_folder_is_one_word_for_a_shell(name: str) -> None:
    assert shlex.split(cwd_option(name)) == ["--cwd", name]
    assert shlex.split(cwd_option(name, searched=True)) == ["--cwd", name, "--find-project"]


def test_a_project_says_how_to_name_it() -> None:
    assert Project(Path("/x"), "paper").command("undo") == "qiongli undo --cwd paper"


# --- the place of an error is the argument here and the flag there ----------------------------------------------------


@pytest.mark.parametrize(
    ("call", "line", "argument"),
    [
        (lambda: subject_status("missing"), "subject status --cwd missing", "cwd"),
        (lambda: read_project("file.txt"), "route x --cwd file.txt", "cwd"),
        (
            lambda: subject_status("my paper", find_project=True),
            "subject status --find-project --cwd 'my paper'",
            "cwd",
        ),
    ],
)
def test_an_error_of_the_library_names_its_argument_and_one_of_the_commands_the_flag(
    shell: Run, call: Callable[[], object], line: str, argument: str
) -> None:
    Path("file.txt").write_text("x", encoding="utf-8")
    with pytest.raises(QiongliError) as raised:
        call()
    assert raised.value.place == argument
    assert "--" not in str(raised.value).split(". ")[0]
    code, _, error = shell(f"qiongli {line}")
    assert code == 2
    assert f": --{argument}: " in error
    told = json.loads(shell(f"qiongli {line} --json")[1])["error"]
    assert (told["place"], told["message"]) == (f"--{argument}", raised.value.message)


# --- a project above ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "subject status",
        "project show",
        "guidance show",
        "guidance lint",
        "guidance diff",
        "guidance apply",
        "trace list",
        "trace prune --keep 0",
        "apply",
        "subject unlock",
        "project set --strictness strict",
        "undo",
    ],
)
def test_every_command_finds_the_project_above_when_it_is_asked_to(shell: Run, line: str) -> None:
    shell("qiongli subject confirm finance --cwd 'my paper'")
    below = "my paper/chapters/one"
    code, found, error = shell(f"qiongli {line} --json --find-project --cwd '{below}'")
    assert (code, error) == (0, "")
    assert not Path(below, ".qiongli").exists()
    named = json.loads(found)
    if "after" in named:
        shell("qiongli subject reset --cwd 'my paper'")
    else:
        assert named == json.loads(shell(f"qiongli {line} --json --cwd 'my paper'")[1])


@pytest.mark.parametrize("line", ["subject status", "guidance show", "trace list", "apply"])
def test_a_folder_in_a_project_is_told_of_it_on_standard_error_alone(shell: Run, line: str) -> None:
    below = "my paper/chapters/one"
    before = shell(f"qiongli {line} --json --cwd '{below}'")
    assert before[2] == ""
    shell("qiongli subject confirm finance --cwd 'my paper'")
    code, out, error = shell(f"qiongli {line} --json --cwd '{below}'")
    assert (code, out) == before[:2]
    assert error == (
        f"warning: {below} has no state of its own, and lies in the project my paper (finance, confirmed); "
        "to use that project, add --find-project\n"
    )
    shell(f"qiongli project init --cwd '{below}'")
    assert shell(f"qiongli {line} --json --cwd '{below}'")[2] == ""


def test_a_project_above_is_named_in_full_for_a_folder_that_was(shell: Run) -> None:
    shell("qiongli project init --cwd 'my paper'")
    root = Path("my paper").resolve()
    assert f"lies in the project {root}; " in shell(f"qiongli subject status --cwd '{root}/chapters'")[2]
    _break_the_manifest(root)
    assert "my paper, whose manifest cannot be used; " in shell("qiongli subject status --cwd 'my paper/chapters'")[2]


# --- what is a warning, and what is not -------------------------------------------------------------------------------


def test_what_was_undone_or_had_not_to_be_done_is_no_warning(shell: Run) -> None:
    shell("qiongli guidance apply --cwd 'my paper'")
    shell("qiongli subject dismiss finance --cwd 'my paper'")
    for line, note in (
        ("undo", "  undone: dismiss finance\n"),
        ("subject unlock", "  the project is not locked: its subject is left to the router; nothing was written\n"),
        ("guidance apply", "  the block is current; nothing was written\n"),
    ):
        told = shell(f"qiongli {line} --cwd 'my paper'")[1]
        assert note in told
        assert "warning" not in told


def test_a_broken_or_stale_block_comes_with_the_command_that_helps(shell: Run) -> None:
    shell("qiongli subject confirm finance --cwd 'my paper'")
    _spoil_the_mode(Path("my paper"))
    assert (
        "guidance block: stale (to renew it run: qiongli guidance apply --cwd 'my paper')\n"
        in shell("qiongli subject status --cwd 'my paper'")[1]
    )
    _break_the_guidance(Path("my paper"))
    before = state_files(Path("my paper"))
    told = shell("qiongli subject status --cwd 'my paper'")[1]
    assert "guidance block: broken\n" in told
    warning = (
        ".qiongli/guidance.d/subject-runtime.md: the managed block is broken; "
        "to see where run: qiongli guidance lint --cwd 'my paper'"
    )
    assert f"warning: {warning}\n" in told
    assert warning in subject_status("my paper").warnings
    assert shell("qiongli guidance lint --cwd 'my paper'")[0] == 1
    assert state_files(Path("my paper")) == before


def test_the_status_prints_the_revision_that_a_condition_takes(shell: Run) -> None:
    shell("qiongli subject confirm finance --cwd 'my paper'")
    told = shell("qiongli subject status --cwd 'my paper'")[1]
    revision = re.search(r"^revision: (\d+)$", told, re.MULTILINE)
    assert revision is not None
    assert shell(f"qiongli subject lock finance --if-revision {revision[1]} --cwd 'my paper'")[0] == 0
    assert shell(f"qiongli subject unlock --if-revision {revision[1]} --cwd 'my paper'")[0] == 3
