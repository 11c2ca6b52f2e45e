"""Tools about installed subjects: list and explain them, read their resources and what the gate says of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import anyio.from_thread
from mcp.server.mcpserver import Context
from pydantic import Field

from qiongli.errors import UnknownSubjectError
from qiongli.records._units import SCHEMA_VERSION, to_packet
from qiongli_mcp.edge import folder
from qiongli_mcp.replies import FULL_LIMIT, SHORT_LIMIT, beginning
from qiongli_mcp.routing_tools import Detail
from qiongli_mcp.runtime_access import current_catalogue, router_for, settled_catalogue

if TYPE_CHECKING:
    from qiongli.plugins import CatalogueSubject

Kind = Literal["overlay", "skill", "domain_profile", "method_pack", "venue_profile"]
Slug = Annotated[str, Field(max_length=100, description="Slug of the subject.")]

#: What the reference of a resource takes beside its text.
_REFERENCE_ROOM = 1_500


def require_subject(slug: str) -> CatalogueSubject:
    """The installed and readable subject, verified; raises `UnknownSubjectError` with those that are."""
    catalogue = settled_catalogue()
    found = catalogue.get(slug)
    if found is None:
        names = tuple(item.contract.subject for item in catalogue.subjects)
        raise UnknownSubjectError(f"no subject {slug[:40]!r} is installed", available=names, hint="Give one of these")
    return found


def list_packet() -> dict[str, Any]:
    """The list of subjects without the folders that they are in."""
    rows = []
    for listing in current_catalogue().listings:
        row = to_packet(listing)
        row["location"] = ""
        rows.append(row)
    return {"schema_version": SCHEMA_VERSION, "subjects": rows}


def qiongli_subject_list(
    detail: Annotated[Detail, Field(description="full: every reason of every subject.")] = "short",
) -> dict[str, Any]:
    """List the installed disciplines, whether each may act, and why not."""
    packet = list_packet()
    if detail == "short":
        for row in packet["subjects"]:
            row["reasons"] = row["reasons"][:2]
    return packet


def qiongli_resource_read(
    subject: Slug,
    kind: Annotated[Kind, Field(description="Kind of the resource.")],
    name: Annotated[str, Field(max_length=100, description="Name; empty for overlay, skill and profile.")] = "",
    detail: Annotated[Detail, Field(description="full: the whole text.")] = "short",
) -> dict[str, Any]:
    """Read one guidance resource of a subject: overlay, skill, method pack, venue or domain profile."""
    from qiongli.resources import load_resource

    reference, text = load_resource(require_subject(subject), kind, name or subject)
    kept = beginning(text, (FULL_LIMIT if detail == "full" else SHORT_LIMIT) - _REFERENCE_ROOM)
    return {
        "schema_version": SCHEMA_VERSION,
        "resource": to_packet(reference),
        "truncated": kept != text,
        "text": kept,
    }


def qiongli_subject_explain(
    subject: Slug,
    text: Annotated[str, Field(description="The research task.")],
    cwd: Annotated[
        str, Field(max_length=4096, description="Folder of the project whose state takes part; empty for none.")
    ] = "",
    detail: Annotated[Detail, Field(description="full: every reason and change.")] = "short",
) -> dict[str, Any]:
    """Say why a subject is, or is not, suggested for a text, and what would change that."""
    from qiongli.refinement.subject_explanation import explain_subject

    require_subject(subject)
    routed = router_for(folder(cwd) if cwd else None).route(text)
    packet = dict(to_packet(explain_subject(subject, routed, options="--cwd .")))
    if detail == "short":
        packet["reasons"] = packet["reasons"][:10]
        packet["what_would_change"] = packet["what_would_change"][:10]
    return packet


def qiongli_gate_report(
    subject: Slug,
    ctx: Context,
    detail: Annotated[Detail, Field(description="full: the details of every check.")] = "short",
) -> dict[str, Any]:
    """Report what the fast activation gate says of a subject; `qiongli gate check` runs the whole gate."""
    from qiongli.gate.check import unavailable
    from qiongli.gate.explanation import explain_subject

    catalogue = settled_catalogue()
    if catalogue.get(subject) is None:
        # Only slugs: the gate itself would take the path of any source tree.
        return dict(unavailable(subject, catalogue).report.to_packet())
    anyio.from_thread.run(ctx.report_progress, 0, 1, f"measuring {subject} with the fast gate")
    packet = dict(explain_subject(subject, catalogue).gate.to_packet())
    anyio.from_thread.run(ctx.report_progress, 1, 1, f"{subject}: {packet['verdict']}")
    if detail == "short":
        for check in packet["checks"]:
            check["details"] = check["details"][:5]
    return packet
