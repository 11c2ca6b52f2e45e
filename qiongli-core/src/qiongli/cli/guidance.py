"""`qiongli guidance show|lint|diff|apply`: the managed block of a project."""

from __future__ import annotations

import typer

from qiongli.cli._folder import Cwd, FindProject, cwd_option, look_above
from qiongli.cli._output import emit
from qiongli.cli._project import AsJson, DryRun, action_text, subjects
from qiongli.errors import ExitCode

app = typer.Typer(help="Show, check and apply the managed guidance block.", no_args_is_help=True)


@app.command()
def show(cwd: Cwd, find_project: FindProject = False, as_json: AsJson = False) -> None:
    """Show what is active in a project and how to read it."""
    from qiongli.project import guidance_report

    look_above(cwd, find_project)
    report = guidance_report(cwd, catalogue=subjects, find_project=find_project)
    emit(report.to_packet(), f"{report.block}\n\nblock in {report.path}: {report.status}", as_json)


@app.command()
def lint(cwd: Cwd, find_project: FindProject = False, as_json: AsJson = False) -> None:
    """Check the markers and the content of the block; exit 1 when something is wrong."""
    from qiongli.project import guidance_report

    look_above(cwd, find_project)
    report = guidance_report(cwd, catalogue=subjects, find_project=find_project)
    lines = [
        f"{report.path}{f':{problem.line}' if problem.line else ''}: {problem.message} [{problem.code}]; {problem.fix}"
        for problem in report.problems
    ]
    emit(report.to_packet(), "\n".join(lines) or f"{report.path}: {report.status}", as_json)
    if report.problems:
        raise typer.Exit(int(ExitCode.ANSWER_IS_NO))


@app.command()
def diff(cwd: Cwd, find_project: FindProject = False, as_json: AsJson = False) -> None:
    """Show what `apply` would change."""
    from qiongli.project import guidance_report

    look_above(cwd, find_project)
    report = guidance_report(cwd, catalogue=subjects, find_project=find_project)
    emit(report.to_packet(), report.diff or "no difference", as_json)


@app.command()
def apply(cwd: Cwd, dry_run: DryRun = False, find_project: FindProject = False, as_json: AsJson = False) -> None:
    """Write the block anew; text outside it stays byte for byte."""
    from qiongli.project import apply_guidance

    look_above(cwd, find_project)
    packet = apply_guidance(cwd, dry_run=dry_run, catalogue=subjects, find_project=find_project)
    emit(packet.to_packet(), action_text(packet, cwd_option(cwd, find_project)), as_json)
