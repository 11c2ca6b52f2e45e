"""`qiongli subject list|show|explain`: what is installed, and why a subject is or is not suggested."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qiongli.cli._folder import FindProject, OptionalCwd, cwd_option, look_above
from qiongli.cli._output import emit, message, table
from qiongli.errors import ExitCode, InputError, UnknownSubjectError
from qiongli.records._units import SCALE, SCHEMA_VERSION, to_packet
from qiongli.records.subjects import SubjectList

if TYPE_CHECKING:
    from qiongli.plugins import Catalogue, CatalogueSubject

_JSON = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def list_subjects(
    strict: Annotated[bool, typer.Option("--strict", help="Exit 1 when anything is broken or invalid.")] = False,
    as_json: _JSON = False,
) -> None:
    """List installed subjects, their states and the reasons."""
    from qiongli.gate.admission import installed_catalogue

    catalogue = installed_catalogue()
    for warning in catalogue.warnings:
        message(f"warning: {warning}")
    rows = [
        (row.subject or "?", row.state, row.activation_status or "-", f"{row.distribution} {row.version}")
        for row in catalogue.listings
    ]
    lines = [table(("subject", "state", "declared", "distribution"), rows)] if rows else ["no subjects are installed"]
    for row in catalogue.listings:
        for reason in row.reasons:
            hint = f" {reason.hint}" if reason.hint else ""
            lines.append(f"{row.subject or row.distribution}: {reason.message} [{reason.code}].{hint}")
    emit(to_packet(SubjectList(catalogue.listings)), "\n".join(lines), as_json)
    if strict and any(row.state in ("broken", "invalid") for row in catalogue.listings):
        raise typer.Exit(int(ExitCode.ANSWER_IS_NO))


def find(catalogue: Catalogue, subject: str) -> CatalogueSubject:
    """The readable subject of that slug, or an error that names the near and the available ones."""
    found = catalogue.get(subject)
    if found is not None:
        return found
    from difflib import get_close_matches

    available = tuple(sorted({item.contract.subject for item in catalogue.subjects}))
    near = get_close_matches(subject, available, n=1)
    broken = [row for row in catalogue.listings if row.subject == subject]
    if broken:
        reasons = "; ".join(reason.message for reason in broken[0].reasons)
        raise UnknownSubjectError(
            f"the subject {subject!r} is installed but {broken[0].state}: {reasons}",
            code="unreadable_subject",
            available=available,
            hint="Run: qiongli doctor",
        )
    raise UnknownSubjectError(
        f"no subject {subject!r} is installed",
        available=available,
        hint=f"Did you mean {near[0]}?" if near else "Run: qiongli subject list",
    )


def show(subject: Annotated[str, typer.Argument(help="Slug of the subject.")], as_json: _JSON = False) -> None:
    """Show one subject: state, signals by dimension, lenses and resources."""
    from qiongli.gate.admission import installed_catalogue

    found = find(installed_catalogue(), subject)
    contract = found.contract
    counts: dict[str, int] = {}
    for signal in contract.signals:
        counts[signal.dimension] = counts.get(signal.dimension, 0) + 1
    packet: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        **to_packet(found.listing),
        "signals": [
            {
                "id": signal.id,
                "dimension": signal.dimension,
                "value": signal.value,
                "weight": signal.weight / SCALE,
                "activation": signal.activation,
                "patterns": [pattern.text for pattern in signal.patterns],
            }
            for signal in contract.signals
        ],
        "suppressors": [
            {"id": suppressor.id, "weight": suppressor.weight / SCALE, "reason": suppressor.reason}
            for suppressor in contract.suppressors
        ],
        "method_lenses": [
            {"lens": lens.slug, "pack": lens.pack, "available": lens.slug in found.available_lenses}
            for lens in contract.method_lenses
        ],
        "venue_profiles": sorted(contract.venue_profiles),
        "composes": list(contract.composes),
    }
    lines = [
        f"{contract.display_name} ({contract.subject}), {found.listing.state}",
        f"  from {found.listing.distribution} {found.listing.version}, declared {contract.activation_status}",
        "  signals: " + ", ".join(f"{number} {dimension}" for dimension, number in counts.items()),
        f"  suppressors: {len(contract.suppressors)}",
        "  lenses: "
        + ", ".join(
            lens.slug if lens.slug in found.available_lenses else f"{lens.slug} (unavailable)"
            for lens in contract.method_lenses
        ),
        "  venue profiles: " + ", ".join(sorted(contract.venue_profiles)),
    ]
    lines += [f"  {reason.message} [{reason.code}]. {reason.hint}".rstrip() for reason in found.listing.reasons]
    emit(packet, "\n".join(lines), as_json)


def explain(
    subject: Annotated[str, typer.Argument(help="Slug of the subject.")],
    text: Annotated[str | None, typer.Option("--text", help="The task's text.")] = None,
    file: Annotated[Path | None, typer.Option("--file", help="A file with the task.")] = None,
    cwd: OptionalCwd = None,
    find_project: FindProject = False,
    as_json: _JSON = False,
) -> None:
    """Say why a subject is, or is not, suggested for a text."""
    from qiongli.refinement.subject_explanation import explain_subject
    from qiongli.runtime import open_router

    if (text is None) == (file is None):
        raise InputError("one text is needed", code="usage", expected="--text TEXT or --file FILE")
    look_above(cwd, find_project)
    router = open_router(cwd, find_project=find_project)
    found = find(router.runtime.catalogue, subject)
    if file is not None:
        from qiongli.document.formats import read_file

        packet = router.route(read_file(file))
    else:
        packet = router.route(text or "")
    options = "--cwd DIR" if cwd is None else cwd_option(cwd, find_project)
    explained = explain_subject(found.contract.subject, packet, options=options)
    lines = [f"{subject}: {explained.verdict}"]
    for reason in explained.reasons:
        hint = f". {reason.hint}" if reason.hint else ""
        lines.append(f"  {reason.message} [{reason.code}]{hint}")
    lines += [f"  {item.change} -> {item.effect}" for item in explained.what_would_change]
    emit(to_packet(explained), "\n".join(lines), as_json)
