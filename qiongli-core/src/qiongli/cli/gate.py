"""`qiongli gate check|promote|verify|revoke|explain`: who may act, and why not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from qiongli.cli._output import emit
from qiongli.errors import ExitCode, UnknownSubjectError

if TYPE_CHECKING:
    from qiongli.gate.check import Depth, GateRun
    from qiongli.gate.detectors import Detectors
    from qiongli.gate.sources import Source
    from qiongli.plugins.catalogue import Catalogue
    from qiongli.plugins.hooks import HookCaller

app = typer.Typer(help="Check, promote, verify, revoke and explain activation.", no_args_is_help=True)

_JSON = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
_SUBJECT = Annotated[str, typer.Argument(help="Slug of an installed subject, or the path of its source tree.")]
_GATE = Annotated[str, typer.Option("--gate", help="There is one gate: runtime-enabled.")]
_JOBS = Annotated[int, typer.Option("--jobs", min=0, help="Processes; 0 means as many as fit.")]


def run_gate(subject: str, gate: str, catalogue: Catalogue, *, jobs: int = 0, depth: Depth = "full") -> GateRun:
    """Run the gate on a subject that may not even be installed; plugins may add failures."""
    from qiongli.cli._progress import ProgressBar
    from qiongli.evaluation.parallel import default_jobs
    from qiongli.gate.check import check_gate_name, check_subject, unavailable
    from qiongli.gate.promotion import earlier_record
    from qiongli.gate.sources import find_source

    check_gate_name(gate)
    try:
        source = find_source(subject, catalogue)
    except UnknownSubjectError:
        return unavailable(subject, catalogue)
    with ProgressBar("changed signals") as bar:
        return check_subject(
            source.subject,
            source.peers,
            depth=depth,
            left_out="report",
            record=earlier_record(source.subject.root),
            hooks=_hooks(catalogue),
            detectors=_detectors(source),
            jobs=jobs or default_jobs(),
            progress=bar,
        )


def _detectors(source: Source) -> Detectors | None:
    from qiongli.gate.detectors import permitted_detectors

    return permitted_detectors(source.subject, source.peers)


def _hooks(catalogue: Catalogue) -> HookCaller | None:
    from qiongli.plugins.permission import hook_modules

    if not hook_modules(catalogue):
        return None
    from qiongli.plugins.hooks import load_hooks

    return load_hooks(catalogue)


@app.command()
def check(
    subject: _SUBJECT,
    gate: _GATE = "runtime-enabled",
    fast: Annotated[bool, typer.Option("--fast", help="Leave out what takes long; then nothing is eligible.")] = False,
    jobs: _JOBS = 0,
    as_json: _JSON = False,
) -> None:
    """Run every check of the gate on a subject; exit 1 when it is not eligible."""
    from qiongli.evaluation.rendering.text import render_gate
    from qiongli.gate.admission import installed_catalogue

    run = run_gate(subject, gate, installed_catalogue(), jobs=jobs, depth="fast" if fast else "full")
    emit(run.report.to_packet(), render_gate(run.report), as_json)
    if not run.report.eligible_for_runtime_enabled:
        raise typer.Exit(int(ExitCode.ANSWER_IS_NO))


@app.command()
def promote(subject: _SUBJECT, jobs: _JOBS = 0, as_json: _JSON = False) -> None:
    """Measure a subject of a source tree and, if it passes, enable it and write its activation record."""
    from qiongli.cli._progress import ProgressBar
    from qiongli.evaluation.parallel import default_jobs
    from qiongli.evaluation.rendering.text import render_gate
    from qiongli.gate.admission import installed_catalogue
    from qiongli.gate.promotion import promote as promote_source
    from qiongli.gate.sources import find_source

    catalogue = installed_catalogue()
    source = find_source(subject, catalogue)
    with ProgressBar("changed signals") as bar:
        done = promote_source(
            source, hooks=_hooks(catalogue), detectors=_detectors(source), jobs=jobs or default_jobs(), progress=bar
        )
    if done.changed:
        text = f"{done.subject} is {done.activation_status}; wrote {', '.join(done.files)} in {source.subject.root}"
    else:
        assert done.report is not None  # a promotion that changes nothing says why
        text = render_gate(done.report)
    emit(done.to_packet(), text, as_json)
    if not done.changed:
        raise typer.Exit(int(ExitCode.ANSWER_IS_NO))


@app.command()
def revoke(subject: _SUBJECT, as_json: _JSON = False) -> None:
    """Undo a promotion in a source tree: the status goes back to eval_ready, the record is removed."""
    from qiongli.gate.promotion import revoke as revoke_source
    from qiongli.gate.sources import find_source
    from qiongli.plugins import discover

    source = find_source(subject, discover())
    done = revoke_source(source)
    if done.changed:
        text = f"{done.subject} is {done.activation_status} again; changed {', '.join(done.files)}"
    else:
        text = f"{done.subject} is {done.activation_status}; there is nothing to revoke"
    emit(done.to_packet(), text, as_json)


@app.command()
def verify(
    subjects: Annotated[list[str] | None, typer.Argument(help="Slugs; all enabled subjects by default.")] = None,
    as_json: _JSON = False,
) -> None:
    """Measure enabled subjects again, whatever was found before; exit 1 when one may not act."""
    from qiongli.gate.explanation import verify_installed

    found = verify_installed(subjects or [])
    emit(found.to_packet(), found.text(), as_json)
    if not found.holds:
        raise typer.Exit(int(ExitCode.ANSWER_IS_NO))


@app.command()
def explain(subject: _SUBJECT, as_json: _JSON = False) -> None:
    """Say what a subject's record claims, what was changed since, and what keeps it from acting."""
    from qiongli.gate.admission import installed_catalogue
    from qiongli.gate.explanation import explain_subject

    found = explain_subject(subject, installed_catalogue())
    emit(found.to_packet(), found.text(), as_json)
