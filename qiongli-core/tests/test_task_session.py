"""A recorded run moves its session's counters: ids and counts only, and nothing of another process is lost."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from packet_cases import write_packages
from task_cases import AMBIGUOUS, NOTHING, SUGGESTS_ALPHA, make_runtime

from qiongli.project import list_runs, read_project
from qiongli.records.task import AgentOutcome
from qiongli.runtime import Runtime
from qiongli.task import Launching, run_task
from qiongli.task.reinforcement import session_of

pytestmark = pytest.mark.usefixtures("isolated_qiongli")


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    write_packages(tmp_path / "packages")
    return make_runtime(tmp_path / "packages")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    return root


def ends(monkeypatch: pytest.MonkeyPatch, *statuses: str) -> None:
    """Let agents end like this, one after the other, without starting any."""
    from qiongli.plugins.settings import set_agent

    set_agent("claude", True)
    waiting = list(statuses)
    monkeypatch.setattr(
        "qiongli.task.launcher.launch_agent",
        lambda adapter, *_, **__: AgentOutcome(adapter.name, waiting.pop(0), 0),  # type: ignore[arg-type]
    )


def test_a_recorded_run_is_in_the_trace_and_its_session_has_moved_on(runtime: Runtime, project: Path) -> None:
    first = run_task(SUGGESTS_ALPHA, cwd=project, record=True, session="talk-1", runtime=runtime).recording
    second = run_task(SUGGESTS_ALPHA, cwd=project, record=True, session="talk-1", runtime=runtime).recording
    assert first is not None
    assert second is not None
    assert [(first.session, first.turn), (second.session, second.turn)] == [("talk-1", 1), ("talk-1", 2)]
    runs, total = list_runs(project)
    assert total == 2
    assert [run.run_id for run in runs] == [second.run_id, first.run_id]
    # The same task counts once.
    assert read_project(project).memory.suggestions["alpha"].suggestion_count == 1


def test_without_a_name_every_task_has_a_session_of_its_own(runtime: Runtime, project: Path) -> None:
    run = run_task(SUGGESTS_ALPHA, cwd=project, record=True, runtime=runtime)
    assert run.recording is not None
    assert run.recording.session == f"task:{run.refinement.fingerprint}" == session_of(SUGGESTS_ALPHA)
    assert session_of("") is None


def test_no_word_of_a_task_gets_into_a_session(runtime: Runtime, project: Path) -> None:
    run_task(f"{AMBIGUOUS} Extraordinarywording.", cwd=project, record=True, runtime=runtime)
    stored = json.loads((project / ".qiongli/trace/session.json").read_text(encoding="utf-8"))
    assert "xtraordinary" not in json.dumps(stored)
    (entry,) = stored["sessions"].values()
    assert set(entry) == {"turn", "outcomes", "asked"}
    assert entry["asked"] == [["ambiguous:alpha+beta", 1]]


def test_a_question_is_put_twice_to_one_session_and_then_rests(runtime: Runtime, project: Path) -> None:
    rounds = [
        run_task(AMBIGUOUS, cwd=project, record=True, session="talk", runtime=runtime).refinement.clarification
        for _ in range(3)
    ]
    assert [question and question.round for question in rounds] == [1, 2, None]
    other = run_task(AMBIGUOUS, cwd=project, session="another", runtime=runtime)
    assert other.refinement.clarification is not None


def test_an_answered_question_is_not_put_again(runtime: Runtime, project: Path) -> None:
    answers = {"ambiguous:alpha+beta": "beta"}
    answered = run_task(AMBIGUOUS, cwd=project, record=True, session="talk", answers=answers, runtime=runtime)
    assert answered.refinement.primary_subject == "beta"
    again = run_task(AMBIGUOUS, cwd=project, session="talk", runtime=runtime)
    assert again.refinement.clarification is None


def test_a_preview_moves_nothing(runtime: Runtime, project: Path) -> None:
    for _ in range(3):
        run = run_task(AMBIGUOUS, cwd=project, session="talk", runtime=runtime)
        assert run.refinement.clarification is not None
        assert run.refinement.clarification.round == 1
    assert not (project / ".qiongli").exists()


def test_an_agent_that_fails_again_and_again_is_not_simply_tried_once_more(
    runtime: Runtime, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends(monkeypatch, "failed", "timed_out", "failed")
    for _ in range(3):
        run = run_task(SUGGESTS_ALPHA, cwd=project, record=True, launching=Launching("claude"), runtime=runtime)
        assert run.refinement.primary_subject == "alpha"
    after = run_task(SUGGESTS_ALPHA, cwd=project, runtime=runtime)
    assert after.refinement.primary_subject == "auto"
    assert after.refinement.clarification is not None
    assert after.refinement.clarification.id == "repeated_failure:alpha"
    # It is this task's experience, and no other's.
    assert run_task(f"{SUGGESTS_ALPHA} For bees.", cwd=project, runtime=runtime).refinement.primary_subject == "alpha"


def test_a_success_adds_a_little_to_the_same_task_and_a_stopped_agent_nothing(
    runtime: Runtime, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends(monkeypatch, "stopped", "finished")
    before = run_task(SUGGESTS_ALPHA, cwd=project, runtime=runtime).refinement.confidence
    run_task(SUGGESTS_ALPHA, cwd=project, record=True, launching=Launching("claude"), runtime=runtime)
    assert run_task(SUGGESTS_ALPHA, cwd=project, runtime=runtime).refinement.confidence == before
    run_task(SUGGESTS_ALPHA, cwd=project, record=True, launching=Launching("claude"), runtime=runtime)
    # One success is one step of 0.025.
    assert run_task(SUGGESTS_ALPHA, cwd=project, runtime=runtime).refinement.confidence == before + 25_000


def test_a_session_whose_file_is_malformed_is_begun_anew(runtime: Runtime, project: Path) -> None:
    (project / ".qiongli/trace").mkdir(parents=True)
    (project / ".qiongli/trace/session.json").write_text("{", encoding="utf-8")
    run = run_task(NOTHING, cwd=project, record=True, session="talk", runtime=runtime)
    assert run.recording is not None
    assert run.recording.turn == 1


WORKER = """
import sys
from qiongli.project import store_session
from qiongli.session import Identifier, SessionContext, SessionEvent

root, number = sys.argv[1:]
context = SessionContext(Identifier("talk"), Identifier(f"task-{number}"), Identifier("policy:1"), 0)
for step in range(4):
    store_session(root, "talk", [SessionEvent("asked", Identifier(f"fact-{number}-{step}"), context)], turn=step)
"""


def test_processes_that_share_a_session_lose_no_event(project: Path) -> None:
    workers = [subprocess.Popen([sys.executable, "-c", WORKER, str(project), str(number)]) for number in range(3)]
    assert [worker.wait(60) for worker in workers] == [0, 0, 0]
    state = read_project(project, session="talk").session
    assert state is not None
    assert state.rounds() == {f"fact-{number}-{step}": 1 for number in range(3) for step in range(4)}
