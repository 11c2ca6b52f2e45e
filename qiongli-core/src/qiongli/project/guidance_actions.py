"""Showing, checking, comparing and renewing the managed guidance block of a project."""

from __future__ import annotations

from difflib import unified_diff
from typing import TYPE_CHECKING, Final

import attrs

from qiongli.project.actions import carry_out
from qiongli.project.guidance import (
    BLOCK_LIMIT,
    GuidanceStatus,
    guidance_status,
    parse_guidance,
    put_block,
    render_block,
    require_sound,
)
from qiongli.project.guidance_problems import GuidanceProblem
from qiongli.project.lifecycle import Plan, Request
from qiongli.project.paths import GUIDANCE, STATE_FOLDER, Folder, open_project
from qiongli.project.status import resolve_catalogue
from qiongli.project.store import Snapshot, Store
from qiongli.records._units import SCHEMA_VERSION, Record
from qiongli.records.lifecycle import ActionPacket

if TYPE_CHECKING:
    from qiongli.project.status import Subjects

_NO_LIMIT: Final = 1 << 30


@attrs.frozen
class GuidanceReport(Record):
    """The block as it should be, as it is, and what is wrong with the file."""

    status: GuidanceStatus
    #: What is active now, in full even where it does not fit into the block.
    block: str
    #: What `guidance apply` would change, as a unified diff.
    diff: str
    problems: tuple[GuidanceProblem, ...]
    path: str = f"{STATE_FOLDER}/{GUIDANCE}"
    schema_version: str = SCHEMA_VERSION


def guidance_report(cwd: Folder, *, catalogue: Subjects | None = None, find_project: bool = False) -> GuidanceReport:
    """Compare the block with what is active now; nothing is written. Raises the errors of the project's state."""
    project = open_project(cwd, find_project=find_project)
    snapshot = Store(project).read()
    snapshot.require_readable()
    subjects = resolve_catalogue(catalogue)
    renew = f"run: {project.command('guidance apply')}"
    state = snapshot.manifest.state
    document = parse_guidance(snapshot.guidance)
    status = guidance_status(snapshot.guidance, state, subjects)
    block = render_block(state, subjects)
    problems = list(document.problems)
    if status == "stale":
        message = "the block does not say what is active now"
        problems.append(GuidanceProblem(0, "stale", message, renew))
    if len(document.block.encode()) > BLOCK_LIMIT:
        message = f"the block has more than {BLOCK_LIMIT} bytes"
        problems.append(GuidanceProblem(0, "oversized", message, renew))
    diff = ""
    if not document.problems:
        old = (snapshot.guidance or b"").decode("utf-8", "replace").splitlines()
        new = put_block(document, block).decode("utf-8", "replace").splitlines()
        diff = "\n".join(unified_diff(old, new, f"{GUIDANCE} (now)", f"{GUIDANCE} (applied)", lineterm="", n=2))
    return GuidanceReport(status, render_block(state, subjects, limit=_NO_LIMIT), diff, tuple(problems))


def apply_guidance(
    cwd: Folder,
    *,
    catalogue: Subjects | None = None,
    dry_run: bool = False,
    find_project: bool = False,
    store: Store | None = None,
) -> ActionPacket:
    """Write the block anew, or for the first time; text outside it stays byte for byte.

    Raises `StateCorruptError` (`guidance_broken`) when the markers are broken, and the errors of the project's state.
    """
    store = store or Store(open_project(cwd, find_project=find_project))
    subjects = resolve_catalogue(catalogue)

    def planner(snapshot: Snapshot) -> Plan:
        snapshot.require_readable()
        document = parse_guidance(snapshot.guidance)
        require_sound(document, snapshot.project)
        request = Request("guidance")
        if document.block == render_block(snapshot.manifest.state, subjects):
            return Plan(request, warnings=("the block is current; nothing was written",), writes=False)
        return Plan(request)

    return carry_out(store, planner, subjects, dry_run=dry_run)
