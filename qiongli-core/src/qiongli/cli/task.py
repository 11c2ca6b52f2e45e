"""`qiongli task`: preview a task, and on two words, the flag's and the setting's, give it to an agent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qiongli.cli._arguments import read_task
from qiongli.cli._folder import FindProject, OptionalCwd, look_above
from qiongli.cli._output import emit, message, say_what_failed, table
from qiongli.cli.route import answers_of
from qiongli.errors import ExitCode, InputError

if TYPE_CHECKING:
    from qiongli.records.task import TaskRun

app = typer.Typer(help="Preview a task, and on two words give it to an agent.", no_args_is_help=True)

_JSON = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
_AGENT = Annotated[str, typer.Argument(help="Name of an agent, as `qiongli task agents` lists it.")]


@app.command()
def run(
    task: Annotated[str | None, typer.Argument(help="A text or a file; - or nothing is standard input.")] = None,
    text: Annotated[str | None, typer.Option("--text", help="A text, even if a file has that name.")] = None,
    file: Annotated[Path | None, typer.Option("--file", help="A file; it is an error if it is missing.")] = None,
    cwd: OptionalCwd = None,
    find_project: FindProject = False,
    preview: Annotated[bool, typer.Option("--preview", help="Only preview; that is the default, too.")] = False,
    budget: Annotated[
        int | None, typer.Option("--budget", min=1, help="Tokens that the context bundle may take in all.")
    ] = None,
    answer: Annotated[list[str] | None, typer.Option("--answer", help="ID=SUBJECT: answer a clarification.")] = None,
    record: Annotated[bool, typer.Option("--record", help="Record the run in the project's memory and trace.")] = False,
    session: Annotated[
        str, typer.Option("--session", help="Name of the conversation; without it, the task's own.")
    ] = "",
    launch: Annotated[
        str, typer.Option("--launch", help="Agent to start; it must be permitted with `qiongli task allow`, too.")
    ] = "",
    timeout: Annotated[float, typer.Option("--timeout", min=0.1, help="Seconds that the agent may take.")] = 600.0,
    bundle: Annotated[bool, typer.Option("--bundle", help="Print the texts of the context bundle as well.")] = False,
    as_json: _JSON = False,
) -> None:
    """Show what would be done for a task, with which guidance; nothing is written or started unless asked for."""
    if preview and launch:
        raise InputError("--preview and --launch exclude each other", code="usage")
    packet = read_task(task, file, text, cwd)
    look_above(cwd, find_project)
    from qiongli.runtime import default_runtime
    from qiongli.task import Launching, run_task

    runtime = default_runtime()
    done = run_task(
        packet,
        cwd=cwd,
        find_project=find_project,
        budget=budget,
        answers=answers_of(answer or []),
        record=record,
        session=session,
        launching=Launching(launch, timeout),
        runtime=runtime,
    )
    say_what_failed(runtime.hooks)
    emit(done.to_packet(), "" if as_json else _shown(done, bundle), as_json)
    code = _exit_code(done)
    if code != ExitCode.FINE:
        raise typer.Exit(int(code))


@app.command()
def agents(as_json: _JSON = False) -> None:
    """List the agents that could be started, and which of them this user permits; none is started or looked into."""
    import os
    import shutil

    from qiongli.plugins.policy import load_policy
    from qiongli.records._units import SCHEMA_VERSION
    from qiongli.runtime import default_runtime
    from qiongli.task.agents import agent_adapters

    adapters, warnings = agent_adapters(default_runtime().hooks)
    policy = load_policy()
    permitted: frozenset[str] = frozenset() if policy.problem else policy.agents
    rows: list[dict[str, Any]] = [
        {
            "agent": name,
            "executable": adapter.executable,
            "found": shutil.which(adapter.executable, path=os.environ.get("PATH", os.defpath)) is not None,
            "permitted": name in permitted,
            "environment": list(adapter.environment),
        }
        for name, adapter in adapters.items()
    ]
    shown = table(
        ("agent", "program", "found", "permitted"),
        [
            (row["agent"], row["executable"], "yes" if row["found"] else "no", "yes" if row["permitted"] else "no")
            for row in rows
        ],
    )
    problems = (*warnings, *((policy.problem,) if policy.problem else ()))
    for problem in problems:
        message(f"warning: {problem}")
    emit({"schema_version": SCHEMA_VERSION, "agents": rows, "warnings": list(problems)}, shown, as_json)


@app.command()
def allow(agent: _AGENT, as_json: _JSON = False) -> None:
    """Permit that an agent is started here when `--launch` asks for it."""
    from qiongli.runtime import default_runtime
    from qiongli.task.agents import agent_adapters

    adapters, _ = agent_adapters(default_runtime().hooks)
    if agent not in adapters:
        raise InputError(
            f"there is no adapter for an agent {agent[:40]!r}", code="unknown_agent", available=tuple(adapters)
        )
    _set(agent, True, as_json)


@app.command()
def forbid(agent: _AGENT, as_json: _JSON = False) -> None:
    """Take back that an agent may be started here."""
    _set(agent, False, as_json)


def _set(agent: str, permitted: bool, as_json: bool) -> None:
    from qiongli.plugins.settings import set_agent

    packet = set_agent(agent, permitted)
    what = "may be started here when --launch asks for it" if permitted else "is not started here"
    unchanged = "" if packet.changed else "; nothing had to be changed"
    emit(packet.to_packet(), f"{agent} {what} ({packet.path}){unchanged}", as_json)


def _exit_code(done: TaskRun) -> ExitCode:
    """3 when a launch was asked for and not allowed or refused, 1 when the agent did not finish well."""
    if done.launch.requested and done.mode == "preview":
        return ExitCode.REFUSED_BY_STATE
    if done.agent is not None and done.agent.status != "finished":
        return ExitCode.ANSWER_IS_NO
    return ExitCode.FINE


def _shown(done: TaskRun, with_texts: bool) -> str:
    """A task run for a person."""
    lines = [f"{done.mode}: {done.summary}", f"  domain: {done.domain}"]
    if done.suggestion is not None:
        quiet = "" if done.suggestion.prompt else ", and you dismissed it"
        lines.append(f"  suggested, not confirmed: {done.suggestion.subject}{quiet} ({done.suggestion.confirm})")
    lines.append("plan")
    lines += [f"  {number}. {step.instruction}" for number, step in enumerate(done.plan, 1)]
    size = f"{done.context_bundle.tokens} tokens"
    if done.context_bundle.budget is not None:
        size += f" of {done.context_bundle.budget}"
    lines.append(f"context bundle, in order of authority ({size})")
    for part in done.context_bundle.parts:
        lines.append(f"  {part.kind} {part.subject}/{part.name}: {part.tokens} tokens, {part.activation}")
        lines.append(f"    {part.source} {part.checksum}")
        if with_texts:
            lines += [f"    | {line}" for line in part.text.splitlines()]
    lines += [
        f"  not in it: {part.kind} {part.subject}/{part.name}: {part.message}" for part in done.context_bundle.left_out
    ]
    for blocked in done.blocked_candidates:
        lines.append(f"blocked: {blocked.subject}: {'; '.join(reason.message for reason in blocked.reasons)}")
    lines += [f"missing: {item.kind} {item.subject}/{item.name}: {item.message}" for item in done.missing_resources]
    lines += [
        f"kept from counting: «{' '.join(kept.snippet.split())}» {kept.signal_id}: {kept.reason}"
        for kept in done.near_miss_protections
    ]
    for lens in done.borrowed_instead_of_suggested:
        why = "; ".join(reason.message for reason in lens.reasons)
        lines.append(f"borrowed instead of suggested: {lens.subject}/{lens.lens} ({why})")
    lines += [f"warning: {warning}" for warning in done.warnings]
    for reason in done.launch.reasons:
        lines.append(f"not launched: {reason.message}. {reason.hint}".rstrip(". "))
    if done.recording is not None:
        lines.append(f"recorded as {done.recording.run_id}")
    if done.agent is not None:
        code = "" if done.agent.exit_code is None else f" with exit code {done.agent.exit_code}"
        lines.append(f"{done.agent.agent} {done.agent.status.replace('_', ' ')}{code}")
        lines += [f"  | {line}" for line in done.agent.output.splitlines()]
        lines += [f"  ! {line}" for line in done.agent.errors.splitlines()]
    return "\n".join(lines)
