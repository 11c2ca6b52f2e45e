"""Four servers and the command line on one project, as when several agents and the user work there, lose nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from mcp_wire import Wire, assert_pure, refusal

#: Each is a task of its own that suggests finance, because the count of a suggestion counts distinct tasks.
TASK = "We run an event study of CRSP abnormal returns around announcement {}, for the Journal of Finance"
ROUNDS = 3
SUBJECTS = ("finance", "economics")

Decision = tuple[str, str, int]
"Action, subject and the number of the state that the reply gave."


def decide_by_answering(wire: Wire, project: str, name: str) -> list[Decision]:
    """What an agent does whose client asks the user: record a task, then confirm or dismiss at once."""
    done: list[Decision] = []
    for number in range(ROUNDS):
        observe(wire, project, f"{name} {number}")
        action, subject = ("confirm", "dismiss")[number % 2], SUBJECTS[number % 2]
        done.append(until_applied(wire, project, action, subject))
    return done


def decide_by_calling_again(wire: Wire, project: str, name: str) -> list[Decision]:
    """The same in a client that cannot ask, where the second call applies the plan of the first."""
    done: list[Decision] = []
    for number in range(ROUNDS):
        observe(wire, project, f"{name} {number}")
        done.append(until_applied(wire, project, "dismiss", SUBJECTS[number % 2]))
    return done


def until_applied(wire: Wire, project: str, action: str, subject: str) -> Decision:
    """Ask again as long as others decide between the question and the answer, which then counts for nothing."""
    wish = {"cwd": project, "action": action, "subject": subject}
    for _ in range(50):
        result = wire.call("qiongli_subject_update", **wish)
        if not result.get("isError") and result["structuredContent"]["outcome"] == "needs_confirmation":
            plan = result["structuredContent"]["plan_id"]
            result = wire.call("qiongli_subject_update", **wish, plan_id=plan)
        if not result.get("isError"):
            packet = result["structuredContent"]
            assert packet["outcome"] == "applied", packet
            return action, subject, packet["after"]["revision"]
        # Nothing else may stand in the way.
        assert refusal(result)["code"] == "changed_since", result
    raise AssertionError("never the first of five")


def observe(wire: Wire, project: str, what: str) -> None:
    result = wire.call("qiongli_observe", cwd=project, text=TASK.format(what))
    assert not result.get("isError"), result


def command_line(project: str) -> list[Decision]:
    """What the user does at the same time."""
    done: list[Decision] = []
    for number in range(ROUNDS):
        action, subject = ("confirm", "dismiss")[number % 2], SUBJECTS[(number + 1) % 2]
        packet = qiongli("subject", action, subject, "--cwd", project)
        done.append((action, subject, packet["after"]["revision"]))
        qiongli("route", "--text", TASK.format(f"by hand {number}"), "--cwd", project, "--record")
    return done


def qiongli(*arguments: str) -> dict[str, Any]:
    run = subprocess.run(
        [sys.executable, "-m", "qiongli", *arguments, "--json"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        encoding="utf-8",
        env=os.environ,
    )
    assert run.returncode == 0, run.stderr
    packet: dict[str, Any] = json.loads(run.stdout)
    return packet


def test_four_servers_and_the_command_line_lose_nothing(tmp_path: Path) -> None:
    project = str(tmp_path)
    qiongli("subject", "list")  # so that no server is still verifying the subjects
    decisions: list[Decision] = []
    failures: list[BaseException] = []
    agents = [
        (Wire("legacy", answer="accept"), decide_by_answering),
        (Wire("modern", answer="accept"), decide_by_answering),
        (Wire("legacy"), decide_by_calling_again),
        (Wire("modern"), decide_by_calling_again),
    ]
    wires = [wire for wire, _ in agents]

    def noted(work: Callable[[], list[Decision]]) -> None:
        try:
            decisions.extend(work())
        except BaseException as error:
            failures.append(error)

    try:
        for wire in wires:
            wire.greet()
        work = [partial(decide, wire, project, str(number)) for number, (wire, decide) in enumerate(agents)]
        threads = [threading.Thread(target=noted, args=(each,)) for each in (*work, partial(command_line, project))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        codes = [wire.close() for wire in wires]
    assert not failures, failures
    assert codes == [0] * 4
    for wire in wires:
        assert_pure(wire)

    # Every reply's state is one event, each there once, in the order of the states.
    memory = json.loads((tmp_path / ".qiongli/trace/subject_evidence.json").read_text(encoding="utf-8"))
    events = [(event["event"], event["subject"], event["revision"]) for event in memory["lifecycle_events"]]
    assert events == sorted(decisions, key=lambda decision: decision[2])
    assert len({revision for *_, revision in events}) == 5 * ROUNDS
    # Every recorded task is one run, and a write is a decision or a run.
    runs = sorted((tmp_path / ".qiongli/trace/runs").iterdir())
    recorded = [json.loads((run / "packet.json").read_text(encoding="utf-8")) for run in runs]
    names = ["by hand", "0", "1", "2", "3"]
    wanted = {TASK.format(f"{name} {number}") for name in names for number in range(ROUNDS)}
    assert sorted(task["task_packet"]["text"] for task in recorded) == sorted(wanted)
    for run in runs:
        assert json.loads((run / "refinement.json").read_text(encoding="utf-8"))["decision"]
    revisions = [revision for *_, revision in events] + [int(run.name.removeprefix("run-")) for run in runs]
    assert sorted(revisions) == list(range(1, memory["revision"] + 1))
    status = qiongli("subject", "status", "--cwd", project)
    assert status["warnings"] == []
    assert status["guidance"] == "current"
    assert status["revision"] == 10 * ROUNDS
    assert not list((tmp_path / ".qiongli/.staging").iterdir())
