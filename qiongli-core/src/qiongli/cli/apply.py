"""`qiongli apply` and `qiongli undo`: carry out what was proposed, revert what was done."""

from __future__ import annotations

from typing import Annotated

import typer

from qiongli.cli._folder import Cwd, FindProject, cwd_option, look_above
from qiongli.cli._output import emit, table
from qiongli.cli._project import AsJson, DryRun, action_text, subjects
from qiongli.records._units import SCHEMA_VERSION, to_packet


def apply(
    cwd: Cwd,
    proposal: Annotated[str | None, typer.Argument(help="Id of a proposal; without it, list them.")] = None,
    dry_run: DryRun = False,
    find_project: FindProject = False,
    as_json: AsJson = False,
) -> None:
    """Apply a proposal of this project, or list its proposals."""
    look_above(cwd, find_project)
    if proposal is not None:
        from qiongli.project import apply_proposal

        packet = apply_proposal(proposal, cwd, dry_run=dry_run, find_project=find_project, catalogue=subjects)
        emit(packet.to_packet(), action_text(packet, cwd_option(cwd, find_project)), as_json)
        return
    from qiongli.project import list_proposals, open_project

    found = list_proposals(open_project(cwd, find_project=find_project))
    rows: list[tuple[str, ...]] = [
        (item.id, f"{item.action} {item.subject or ''}".rstrip(), item.expires) for item in found
    ]
    text = table(("proposal", "action", "expires"), rows) if rows else "no proposals"
    proposals = [{"id": item.id, **to_packet(item)} for item in found]
    emit({"schema_version": SCHEMA_VERSION, "proposals": proposals}, text, as_json)


def undo(cwd: Cwd, dry_run: DryRun = False, find_project: FindProject = False, as_json: AsJson = False) -> None:
    """Revert the last action on this project; what was recorded since stays."""
    from qiongli.project import undo_action

    look_above(cwd, find_project)
    packet = undo_action(cwd, dry_run=dry_run, find_project=find_project, catalogue=subjects)
    emit(packet.to_packet(), action_text(packet, cwd_option(cwd, find_project)), as_json)
