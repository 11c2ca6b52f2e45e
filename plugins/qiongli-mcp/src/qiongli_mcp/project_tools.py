"""Tools that concern a project's state: change its subject, record a task, read its trace.

A change is made only on the user's word: asked through the client where it can ask, else kept as a proposal that a
second call applies. What the router thinks plays no part in that.
"""

from __future__ import annotations

import os
from typing import Annotated, Any, Final, Literal

from mcp.server.mcpserver import AcceptedElicitation, Context, Elicit, ElicitationResult, Resolve
from pydantic import BaseModel, ConfigDict, Field

from qiongli.errors import InputError, QiongliError, StateRefusedError
from qiongli.records._units import SCHEMA_VERSION, to_packet
from qiongli_mcp.edge import folder, tool_error

Action = Literal["confirm", "dismiss", "reset", "lock", "unlock"]
READ_ONLY_VARIABLE: Final = "QIONGLI_MCP_READ_ONLY"


def _without_title(schema: dict[str, Any]) -> None:
    # Codex refuses a form with a title, and then asks nobody.
    schema.pop("title", None)


class Ask(BaseModel):
    """An empty form: accepting it is the consent."""

    model_config = ConfigDict(json_schema_extra=_without_title)


class NotAsked(Ask):
    """Nobody could be asked; never counts as consent."""


def read_only() -> bool:
    """Whether this server may write; any value of the variable but an empty one and 0 forbids it."""
    return os.environ.get(READ_ONLY_VARIABLE, "") not in ("", "0")


def ask(action: Action, ctx: Context, cwd: str, subject: str = "", plan_id: str = "") -> Ask | Elicit[Ask]:
    """Ask the user, where the client can; pure, because the SDK may run it more than once."""
    capabilities = ctx.client_capabilities
    if plan_id or read_only() or capabilities is None or capabilities.elicitation is None:
        return NotAsked()
    what = f"{action} {subject}".strip()
    return Elicit(f"Qiongli: {what} for the project in {cwd}?", Ask)


def qiongli_subject_update(
    cwd: Annotated[str, Field(description="Folder of the project.")],
    action: Annotated[Action, Field(description="What the user decided.")],
    answer: Annotated[ElicitationResult[Ask], Resolve(ask)],
    subject: Annotated[str, Field(description="Slug; for confirm, dismiss and lock.")] = "",
    plan_id: Annotated[str, Field(description="From needs_confirmation, after the user agreed.")] = "",
) -> dict[str, Any]:
    """Change the subject of a project as the user decided; asks the user first, or returns a plan to confirm."""
    from qiongli.project import apply_action, apply_proposal, open_project
    from qiongli.project.proposals import read_proposal

    path = folder(cwd)
    try:
        if read_only():
            planned = apply_action(action, path, subject or None, dry_run=True)
            return {**planned.to_packet(), "outcome": "read_only"}
        if plan_id:
            planned_for = read_proposal(open_project(path), plan_id)
            if (planned_for.action, planned_for.subject) != (action, subject or None):
                raise InputError(
                    "the plan is for another action",
                    code="plan_of_another_action",
                    hint="Give the action and subject that the plan was made for",
                )
            return {**apply_proposal(plan_id, path).to_packet(), "outcome": "applied"}
        if not isinstance(answer, AcceptedElicitation):
            return {**apply_action(action, path, subject or None, dry_run=True).to_packet(), "outcome": "cancelled"}
        if isinstance(answer.data, NotAsked):
            kept = apply_action(action, path, subject or None, propose=True)
            return {**kept.to_packet(), "outcome": "needs_confirmation"}
        return {**apply_action(action, path, subject or None).to_packet(), "outcome": "applied"}
    except QiongliError as error:
        raise tool_error(error) from None


def qiongli_observe(
    cwd: Annotated[str, Field(description="Folder of the project.")],
    text: Annotated[str, Field(description="The research task that was worked on.")],
) -> dict[str, Any]:
    """Record a research task in the project's evidence memory and trace; confirms nothing."""
    from qiongli.runtime import open_router

    try:
        if read_only():
            raise StateRefusedError(
                "this server is read-only and records nothing", code="read_only", hint="qiongli route --cwd PROJECT"
            )
        packet = open_router(folder(cwd)).route(text, record=True)
    except QiongliError as error:
        raise tool_error(error) from None
    return {"schema_version": SCHEMA_VERSION, "decision": packet.decision, "primary_subject": packet.primary_subject}


def qiongli_trace(
    cwd: Annotated[str, Field(description="Folder of the project.")],
    limit: Annotated[int, Field(ge=1, le=20, description="How many of the newest runs.")] = 10,
) -> dict[str, Any]:
    """List the newest recorded runs of a project, newest first."""
    from qiongli.project import list_runs

    try:
        runs, total = list_runs(folder(cwd), limit=limit)
    except QiongliError as error:
        raise tool_error(error) from None
    return {"schema_version": SCHEMA_VERSION, "total": total, "runs": [to_packet(run) for run in runs]}
