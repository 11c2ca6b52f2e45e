"""`qiongli evaluate`: measure the router on fixtures, or on labelled text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qiongli.cli._output import emit, message
from qiongli.errors import ExitCode, InputError

if TYPE_CHECKING:
    from qiongli.evaluation.run import Evaluation
    from qiongli.plugins.catalogue import Catalogue
    from qiongli.records.gate import GateReport


def evaluate(
    packs: Annotated[
        list[Path] | None,
        typer.Argument(help="Packs: files or folders of fixtures. Default: the legacy core pack and active subjects'."),
    ] = None,
    subject: Annotated[
        str, typer.Option("--subject", help="Measure this subject (slug or path), switched on beside its peers.")
    ] = "",
    gate: Annotated[str, typer.Option("--gate", help="Run the gate on --subject: runtime-enabled.")] = "",
    only: Annotated[
        list[str] | None, typer.Option("--only", help="Only fixtures whose name fits; may be repeated.")
    ] = None,
    mutate: Annotated[
        bool, typer.Option("--mutate", help="Also measure the strength of the subject's pack; needs --subject.")
    ] = False,
    corpus: Annotated[
        list[Path] | None, typer.Option("--corpus", help="Measure labelled text (JSONL) instead; may be repeated.")
    ] = None,
    state: Annotated[
        Path | None, typer.Option("--state", help="Save the progress of --corpus here, and go on from it.")
    ] = None,
    junit: Annotated[Path | None, typer.Option("--junit", help="Also write JUnit XML.")] = None,
    html: Annotated[Path | None, typer.Option("--html", help="Also write one offline HTML page.")] = None,
    failed_out: Annotated[
        Path | None, typer.Option("--failed-out", help="Write failing fixtures into this folder.")
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", min=0, help="Processes; 0 means as many as fit.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Measure the router on fixtures or labelled text; exit 1 when a threshold is missed or the gate says no."""
    from qiongli.gate.admission import installed_catalogue

    catalogue = installed_catalogue()
    if gate:
        if not subject:
            raise InputError("--gate needs a subject", code="usage", hint="Give --subject SUBJECT")
        _gate(subject, gate, catalogue, jobs, junit, html, failed_out, as_json)
        return
    if corpus:
        if packs or only or mutate or junit or failed_out:
            message_text = "--corpus goes with --subject, --state, --html, --jobs and --json only"
            raise InputError(message_text, code="usage")
        _corpus(corpus, subject, catalogue, state, html, jobs, as_json)
        return
    if mutate and not subject:
        raise InputError("--mutate needs a subject", code="usage", hint="Give --subject SUBJECT")
    found = _fixtures(packs or [], subject, catalogue, only or [], mutate, jobs)
    _write(found, junit, html, failed_out)
    from qiongli.evaluation.rendering.text import render_evaluation

    emit(found.report.to_packet(), render_evaluation(found.report), as_json)
    if any(failure.kind == "fixture_error" for failure in found.report.failures):
        raise typer.Exit(int(ExitCode.INVALID_INPUT))
    if found.report.verdict != "pass":
        raise typer.Exit(int(ExitCode.ANSWER_IS_NO))


def _fixtures(
    paths: list[Path], subject: str, catalogue: Catalogue, only: list[str], mutate: bool, jobs: int
) -> Evaluation:
    from qiongli.cli._progress import ProgressBar
    from qiongli.evaluation.catalogue import measuring_runtime, switched_on
    from qiongli.evaluation.packs import load_packs, load_subject_pack, with_missing
    from qiongli.evaluation.parallel import default_jobs
    from qiongli.evaluation.run import default_packs, evaluate, pack_details

    given = load_packs(paths)
    if not subject:
        runtime = measuring_runtime([item for item in catalogue.subjects if item.listing.state != "inactive"])
        return evaluate(runtime, given or default_packs(catalogue), only=only)
    from qiongli.gate.promotion import earlier_record
    from qiongli.gate.sources import find_source

    source = find_source(subject, catalogue)
    runtime = measuring_runtime((*source.peers, switched_on(source.subject)))
    record = earlier_record(source.subject.root)
    own = with_missing(load_subject_pack(source.subject), record.cases if record is not None else ())
    if not mutate:
        return evaluate(runtime, given or (own,), only=only)
    with ProgressBar("changed signals") as bar:
        details, failures = pack_details(runtime, source.subject, own, jobs=jobs or default_jobs(), progress=bar)
    return evaluate(runtime, given or (own,), only=only, details=details, further=failures)


def _write(
    found: Evaluation, junit: Path | None, html: Path | None, failed_out: Path | None, gate: GateReport | None = None
) -> None:
    """Write the other forms of the report that were asked for."""
    if junit is not None:
        from qiongli.evaluation.rendering.junit import render_junit

        _write_text(junit, render_junit(found.report, gate=gate))
    if html is not None:
        from qiongli.evaluation.rendering.html import render_evaluation_page

        _write_text(html, render_evaluation_page(found.report, gate=gate))
    if failed_out is not None:
        from qiongli.evaluation.report import write_failed

        written = write_failed(found.outcomes, failed_out)
        message(f"wrote {len(written)} failing fixtures to {failed_out}")


def _write_text(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
    message(f"wrote {path}")


def _gate(
    subject: str,
    gate: str,
    catalogue: Catalogue,
    jobs: int,
    junit: Path | None,
    html: Path | None,
    failed_out: Path | None,
    as_json: bool,
) -> None:
    from qiongli.cli.gate import run_gate
    from qiongli.evaluation.rendering.text import render_gate

    run = run_gate(subject, gate, catalogue, jobs=jobs)
    measured = run.measured
    if measured is not None and (junit is not None or html is not None or failed_out is not None):
        from qiongli.evaluation.report import build_report
        from qiongli.evaluation.run import Evaluation

        details = {"mutation": measured.mutation.to_packet(), "quality": measured.quality.to_packet()}
        report = build_report(measured.outcomes, [measured.pack], thresholds=measured.thresholds, details=details)
        _write(Evaluation(report, measured.outcomes), junit, html, failed_out, run.report)
    emit(run.report.to_packet(), render_gate(run.report), as_json)
    if not run.report.eligible_for_runtime_enabled:
        raise typer.Exit(int(ExitCode.ANSWER_IS_NO))


def _corpus(
    paths: list[Path],
    subject: str,
    catalogue: Catalogue,
    state: Path | None,
    html: Path | None,
    jobs: int,
    as_json: bool,
) -> None:
    from qiongli.cli._progress import ProgressBar
    from qiongli.evaluation.catalogue import switched_on
    from qiongli.evaluation.corpus import measure_corpus
    from qiongli.evaluation.corpus_report import corpus_report
    from qiongli.evaluation.parallel import default_jobs
    from qiongli.evaluation.rendering.text import render_corpus

    subjects = [item for item in catalogue.subjects if item.listing.state != "inactive"]
    if subject:
        from qiongli.gate.sources import find_source

        source = find_source(subject, catalogue)
        slug = source.subject.contract.subject
        subjects = [item for item in subjects if item.contract.subject != slug] + [switched_on(source.subject)]
    with ProgressBar("corpus") as bar:
        counts, run = measure_corpus(
            paths, subjects, jobs=jobs or default_jobs(), state_file=state, progress=bar.rows()
        )
    report = corpus_report(counts, paths, run)
    if html is not None:
        from qiongli.evaluation.rendering.html import render_corpus_page

        _write_text(html, render_corpus_page(report))
    emit(report.to_packet(), render_corpus(report), as_json)
