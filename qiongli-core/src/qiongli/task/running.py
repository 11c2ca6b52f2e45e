"""Running a task: route it, preview it, and only on the caller's word record it or start an agent for it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

import attrs

from qiongli.errors import InputError
from qiongli.records.packet import RefinementPacket
from qiongli.records.task import AgentOutcome, LaunchVerdict, TaskRecording, TaskRun
from qiongli.runtime import Router, open_router
from qiongli.task.bundle import room_beside_core
from qiongli.task.consent import launch_verdict
from qiongli.task.preview import preview_task
from qiongli.task.reinforcement import Attempt, events_of, session_of

if TYPE_CHECKING:
    from qiongli.hookspecs import AgentAdapter
    from qiongli.plugins.hooks import HookCaller
    from qiongli.project.paths import Folder
    from qiongli.runtime import Runtime
    from qiongli.session import SessionState

#: How an agent's end counts for its session; one that the user stopped says nothing of the subject.
_ATTEMPTS: Final[Mapping[str, Attempt]] = {"finished": "success", "failed": "failure", "timed_out": "failure"}


@attrs.frozen
class Launching:
    """What the caller says about starting an agent: which one, for at most how many seconds, and when to stop it."""

    agent: str = ""
    timeout: float = 600.0
    stop: Callable[[], bool] = lambda: False


def run_task(
    task: Mapping[str, object] | str,
    *,
    cwd: Folder | None = None,
    find_project: bool = False,
    budget: int | None = None,
    answers: Mapping[str, str] | None = None,
    record: bool = False,
    session: str = "",
    launching: Launching = Launching(),
    runtime: Runtime | None = None,
) -> TaskRun:
    """Preview a task; record it with `record`; start an agent when the flag and the user's setting both say so.

    `cwd` is the project whose state takes part, or with `find_project` may lie below it; it is needed to record and to
    launch. `budget` limits the context bundle,
    core guidance included, in tokens. `session` names the conversation; without it each task has a session of its
    own. A launch that is not allowed leaves a preview whose `launch` says why.

    Raises `InputError` (`project_needed`, `budget_too_small`, `unknown_agent`, and as routing does), errors of the
    project's state, and those of `qiongli.task.launcher.launch_agent`.
    """
    if cwd is None and (record or launching.agent):
        what = "recorded" if record else "given to an agent"
        raise InputError(
            f"only a task of a project can be {what}",
            code="project_needed",
            place="cwd",
            hint="Name the project's folder, on the command line with --cwd DIR",
        )
    room_beside_core(budget)
    router = open_router(cwd, runtime=runtime, find_project=find_project)
    verdict, adapter = verdict_on(launching.agent, router.runtime.hooks)
    identifier = session_of(task, session)
    state = _stored_session(router, identifier)
    # Without the budget: the packet's plan is everything that the decision asks for, and the bundle what there is room
    # for. A suggestion's plan holds what waits, and must not push out what may be used now.
    packet = attrs.evolve(router, session=state).route(
        dict(task) if isinstance(task, Mapping) else task, answers=answers
    )
    run = preview_task(
        packet,
        router.manifest_state,
        router.runtime.catalogue,
        launch=verdict,
        budget=budget,
        limits=router.runtime.limits,
        project=router.project,
    )
    outcome = None
    if adapter is not None and packet.refusal is None:
        outcome = _launch(adapter, run, task, router, launching)
        run = attrs.evolve(run, mode="launched", agent=outcome)
    if record and cwd is not None:
        recording = _record(router, packet, task, state, identifier, answers, outcome)
        run = attrs.evolve(run, recording=recording)
    return run


def verdict_on(agent: str, hooks: HookCaller | None) -> tuple[LaunchVerdict, AgentAdapter | None]:
    """The verdict on the agent that a flag names, by this user's setting, and its adapter if it may be started.

    Nothing is looked up without a flag. `hooks` are the plugins that may run here, None when none may.
    """
    if not agent:
        return launch_verdict(flag="", permitted=(), known=(), environment={}), None
    from qiongli.plugins.policy import load_policy
    from qiongli.task.agents import agent_adapters

    adapters, _ = agent_adapters(hooks)
    policy = load_policy()
    verdict = launch_verdict(
        flag=agent,
        # What a malformed policy permits cannot be known.
        permitted=() if policy.problem else policy.agents,
        known=tuple(adapters),
        environment=os.environ,
    )
    return verdict, adapters[agent] if verdict.allowed else None


def _launch(
    adapter: AgentAdapter, run: TaskRun, task: Mapping[str, object] | str, router: Router, launching: Launching
) -> AgentOutcome:
    from qiongli.task.launcher import launch_agent
    from qiongli.task.prompt import render_prompt

    assert router.cwd is not None
    return launch_agent(
        adapter,
        render_prompt(run, task),
        cwd=router.cwd,
        environment=os.environ,
        timeout=launching.timeout,
        stop=launching.stop,
    )


def _stored_session(router: Router, identifier: str | None) -> SessionState | None:
    if router.project is None or identifier is None:
        return None
    from qiongli.project import load_session

    return load_session(router.project, identifier)


def _record(
    router: Router,
    packet: RefinementPacket,
    task: Mapping[str, object] | str,
    state: SessionState | None,
    identifier: str | None,
    answers: Mapping[str, str] | None,
    outcome: AgentOutcome | None,
) -> TaskRecording:
    """Write the run to memory and trace, and what it taught to the session."""
    from qiongli.project import record_refinement, store_session
    from qiongli.session import Identifier, SessionState

    assert router.project is not None
    kept = record_refinement(router.project, packet, task_packet=task, source="task_run")
    if identifier is None:
        return TaskRecording(kept.run_id, "", 0)
    state = state or SessionState(Identifier(identifier))
    events = events_of(
        packet, state, answers=answers, attempt=_ATTEMPTS.get(outcome.status) if outcome is not None else None
    )
    stored = store_session(router.project, identifier, events, turn=state.turn + 1)
    return TaskRecording(kept.run_id, identifier, stored.turn)
