"""`qiongli resource list|show`: the resources of installed subjects, by (subject, kind, name)."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from qiongli.cli._output import emit, table
from qiongli.cli.subject import find
from qiongli.records._units import SCHEMA_VERSION, to_packet

app = typer.Typer(help="List and show the resources of subjects.", no_args_is_help=True)

_JSON = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


@app.command(name="list")
def list_(
    subject: Annotated[str | None, typer.Argument(help="Slug of one subject; all without it.")] = None,
    as_json: _JSON = False,
) -> None:
    """List resources with their size and whether they may be loaded now."""
    from qiongli.gate.admission import installed_catalogue
    from qiongli.resources import list_resources, may_load

    catalogue = installed_catalogue()
    subjects = (find(catalogue, subject),) if subject is not None else catalogue.subjects
    resources: list[dict[str, Any]] = []
    missing: list[dict[str, Any]] = []
    for item in subjects:
        references, absent = list_resources(item.contract, item.root)
        resources += [
            {**to_packet(reference), "loadable": may_load(reference.kind, item.listing.state)}
            for reference in references
        ]
        missing += [
            {
                "subject": item.contract.subject,
                "kind": gone.kind,
                "name": gone.name,
                "path": gone.path,
                "reason": gone.reason,
            }
            for gone in absent
        ]
    rows: list[tuple[str, ...]] = [
        (row["subject"], row["kind"], row["name"], str(row["tokens"]), "yes" if row["loadable"] else "no")
        for row in resources
    ]
    lines = [table(("subject", "kind", "name", "tokens", "loadable"), rows)] if rows else ["no resources"]
    lines += [f"missing: {row['subject']}/{row['kind']}/{row['name']}: {row['reason']}" for row in missing]
    emit({"schema_version": SCHEMA_VERSION, "resources": resources, "missing": missing}, "\n".join(lines), as_json)


@app.command()
def show(
    subject: Annotated[str, typer.Argument(help="Slug of the subject.")],
    kind: Annotated[str, typer.Argument(help="overlay, skill, domain_profile, method_pack or venue_profile.")],
    name: Annotated[str | None, typer.Argument(help="Name; of overlay, skill and profile, the subject's slug.")] = None,
    as_json: _JSON = False,
) -> None:
    """Print one resource, if the state of its subject permits that it is loaded."""
    from qiongli.gate.admission import installed_catalogue
    from qiongli.resources import load_resource

    reference, text = load_resource(find(installed_catalogue(), subject), kind, name if name is not None else subject)
    emit({"schema_version": SCHEMA_VERSION, "resource": to_packet(reference), "text": text}, text, as_json)
