"""`qiongli trace list|show|prune`: the recorded runs of a project."""

from __future__ import annotations

from typing import Annotated

import typer

from qiongli.cli._folder import Cwd, FindProject, look_above
from qiongli.cli._output import emit, table
from qiongli.cli._project import AsJson, DryRun
from qiongli.records._units import SCHEMA_VERSION, to_json, to_packet

app = typer.Typer(help="List, show and prune recorded runs.", no_args_is_help=True)


@app.command(name="list")
def list_(
    cwd: Cwd,
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many of the newest runs.")] = 20,
    find_project: FindProject = False,
    as_json: AsJson = False,
) -> None:
    """List the newest runs, newest first."""
    from qiongli.project import list_runs

    look_above(cwd, find_project)
    runs, total = list_runs(cwd, limit=limit, find_project=find_project)
    rows: list[tuple[str, ...]] = [
        (run.run_id, run.time, run.decision, run.primary_subject, f"{run.confidence:.2f}") for run in runs
    ]
    text = table(("run", "time", "decision", "subject", "confidence"), rows) if rows else "no runs are recorded"
    if total > len(runs):
        text += f"\n{total - len(runs)} older"
    emit({"schema_version": SCHEMA_VERSION, "total": total, "runs": [to_packet(run) for run in runs]}, text, as_json)


@app.command()
def show(
    run: Annotated[str, typer.Argument(help="Id of the run.")],
    cwd: Cwd,
    find_project: FindProject = False,
    as_json: AsJson = False,
) -> None:
    """Show everything that was kept of a run; secrets, addresses and home folders are masked."""
    from qiongli.project import read_run

    look_above(cwd, find_project)
    packet = read_run(cwd, run, find_project=find_project)
    emit(packet, to_json(packet), as_json)


@app.command()
def prune(
    cwd: Cwd,
    keep: Annotated[int, typer.Option("--keep", min=0, help="How many of the newest runs stay.")],
    dry_run: DryRun = False,
    find_project: FindProject = False,
    as_json: AsJson = False,
) -> None:
    """Remove the oldest runs; evidence memory and events stay."""
    from qiongli.project import prune_runs

    look_above(cwd, find_project)
    gone = prune_runs(cwd, keep=keep, dry_run=dry_run, find_project=find_project)
    text = f"{'would remove' if dry_run else 'removed'} {len(gone)} {'run' if len(gone) == 1 else 'runs'}"
    emit({"schema_version": SCHEMA_VERSION, "removed": list(gone), "dry_run": dry_run}, text, as_json)
