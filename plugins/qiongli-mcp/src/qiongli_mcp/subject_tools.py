"""Tools about installed subjects: list and explain them, read their resources and what the gate says of them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from qiongli.errors import QiongliError, UnknownSubjectError
from qiongli.records._units import SCHEMA_VERSION, to_packet
from qiongli_mcp.edge import folder, tool_error

Kind = Literal["overlay", "skill", "domain_profile", "method_pack", "venue_profile"]


def qiongli_subject_list() -> dict[str, Any]:
    """List the installed disciplines, whether each may act, and why not."""
    from qiongli.runtime import default_runtime

    rows = []
    for listing in default_runtime().catalogue.listings:
        row = to_packet(listing)
        row["location"] = ""  # folders of this machine are nobody's business
        rows.append(row)
    return {"schema_version": SCHEMA_VERSION, "subjects": rows}


def qiongli_resource_read(
    subject: Annotated[str, Field(description="Slug of the subject.")],
    kind: Annotated[Kind, Field(description="Kind of the resource.")],
    name: Annotated[str, Field(description="Name; empty for overlay, skill and profile.")] = "",
    detail: Annotated[Literal["short", "full"], Field(description="full: the whole text.")] = "short",
) -> dict[str, Any]:
    """Read one guidance resource of a subject: overlay, skill, method pack, venue or domain profile."""
    from qiongli.resources import load_resource
    from qiongli.runtime import default_runtime

    catalogue = default_runtime().catalogue
    try:
        found = catalogue.get(subject)
        if found is None:
            raise UnknownSubjectError(
                f"no subject {subject[:40]!r} is installed",
                available=tuple(item.contract.subject for item in catalogue.subjects),
            )
        reference, text = load_resource(found, kind, name or subject)
    except QiongliError as error:
        raise tool_error(error) from None
    # Text and structure say the same, and the wire form escapes: 6 KB keeps the reply within 8 KB.
    kept = text if detail == "full" else text.encode()[:6000].decode(errors="ignore")
    return {
        "schema_version": SCHEMA_VERSION,
        "resource": to_packet(reference),
        "text": kept,
        "truncated": kept != text,
    }


def qiongli_subject_explain(
    subject: Annotated[str, Field(description="Slug of the subject.")],
    text: Annotated[str, Field(description="The research task.")],
    cwd: Annotated[str, Field(description="Folder of the project whose state takes part; empty for none.")] = "",
) -> dict[str, Any]:
    """Say why a subject is, or is not, suggested for a text, and what would change that."""
    from qiongli.refinement.subject_explanation import explain_subject
    from qiongli.runtime import open_router

    try:
        router = open_router(folder(cwd) if cwd else None)
        if router.runtime.catalogue.get(subject) is None:
            raise UnknownSubjectError(
                f"no subject {subject[:40]!r} is installed",
                available=tuple(item.contract.subject for item in router.runtime.catalogue.subjects),
            )
        return dict(to_packet(explain_subject(subject, router.route(text))))
    except QiongliError as error:
        raise tool_error(error) from None


def qiongli_gate_report(
    subject: Annotated[str, Field(description="Slug of the subject.")],
) -> dict[str, Any]:
    """Report what the fast activation gate says of a subject; `qiongli gate check` runs the whole gate."""
    from qiongli.gate.check import unavailable
    from qiongli.gate.explanation import explain_subject
    from qiongli.runtime import default_runtime

    catalogue = default_runtime().catalogue
    try:
        # Only slugs: the gate itself would take the path of any source tree.
        report = (
            unavailable(subject, catalogue).report
            if catalogue.get(subject) is None
            else explain_subject(subject, catalogue).gate
        )
        return dict(report.to_packet())
    except QiongliError as error:
        raise tool_error(error) from None
