"""`qiongli smoke`: shipped cases through the real MCP server, or one task through a real agent."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from qiongli.cli._output import emit, table
from qiongli.errors import ExitCode


def smoke(
    mode: Annotated[
        Literal["preview", "local-agent"],
        typer.Option("--mode", help="preview: no process may be started; local-agent: --agent is started."),
    ] = "preview",
    agent: Annotated[
        str, typer.Option("--agent", help="Agent of the mode local-agent; permitted with `qiongli task allow`.")
    ] = "",
    timeout: Annotated[float, typer.Option("--timeout", min=0.1, help="Seconds that the agent may take.")] = 600.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Run the shipped cases through the real MCP server; exits 1 when one fails or a process was started."""
    from qiongli.smoke.run import load_cases, run_local_agent, run_preview

    report = run_local_agent(agent, timeout) if mode == "local-agent" else run_preview(load_cases())
    rows = [
        (case.name, case.category, case.decision, case.primary_subject, "passed" if case.passed else "FAILED")
        for case in report.cases
    ]
    lines = [table(("case", "category", "decision", "subject", "result"), rows)]
    lines += [f"{case.name}: {failure}" for case in report.cases for failure in case.failures]
    lines += [f"the server tried to start a process: {event}" for event in report.spawned]
    lines += [f"problem: {problem}" for problem in report.problems]
    lines.append(f"{report.total - report.failed} of {report.total} passed")
    emit(report.to_packet(), "\n".join(lines), as_json)
    if not report.passed:
        raise typer.Exit(int(ExitCode.ANSWER_IS_NO))
