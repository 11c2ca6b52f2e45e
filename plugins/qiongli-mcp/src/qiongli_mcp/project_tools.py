"""Tools that concern a project's state: show it, change its subject, record a task, read its trace.

A change is made only on the user's word: asked through the client where it can ask, else kept as a plan that a
second call applies. What the router thinks plays no part in that.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import anyio.from_thread
from mcp.server.mcpserver import Context, Elicit, ElicitationResult, Resolve
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from qiongli.errors import QiongliError, StateRefusedError
from qiongli.records._units import SCALE, SCHEMA_VERSION, to_packet
from qiongli_mcp.confirmation import AGREEMENTS, PLANS, Ask, NotAsked, can_ask, consent, read_only
from qiongli_mcp.edge import folder, opened
from qiongli_mcp.routing_tools import Detail
from qiongli_mcp.runtime_access import router_for, settled_catalogue

if TYPE_CHECKING:
    from qiongli.records.lifecycle import ActionPacket

Action = Literal["confirm", "dismiss", "reset", "lock", "unlock"]
Cwd = Annotated[str, Field(max_length=4096, description="Folder of the project, as a full path.")]


def qiongli_subject_status(
    cwd: Cwd,
    detail: Annotated[Detail, Field(description="full: every suggestion and warning.")] = "short",
) -> dict[str, Any]:
    """Show which subject a project has confirmed, locked or dismissed, and what was suggested for it."""
    from qiongli.project import subject_status

    packet = subject_status(opened(folder(cwd)), catalogue=settled_catalogue).to_packet()
    if detail == "short":
        packet["suggestions"] = packet["suggestions"][:10]
    return packet


def seen_choice(cwd: str) -> str:
    """Digest of what the user has chosen so far, before anything is asked; empty where it cannot be read."""
    from qiongli.project import Store
    from qiongli.project.proposals import choice_digest

    try:
        return choice_digest(Store(opened(folder(cwd))).read())
    except (QiongliError, ToolError):
        # The tool itself meets the same error, and says it.
        return ""


def ask(
    action: Action,
    ctx: Context,
    cwd: str,
    seen: Annotated[str, Resolve(seen_choice)],
    subject: str = "",
) -> Ask | Elicit[Ask]:
    """Ask the user, where the client can, about what can be done; the SDK may run this more than once."""
    if read_only() or not seen or not can_ask(ctx):
        return NotAsked()
    path = folder(cwd)
    try:
        if _preview(action, path, subject or None).status == "unchanged":
            return NotAsked()
    except QiongliError:
        return NotAsked()
    return Elicit(question(action, subject, path), Ask)


def question(action: str, subject: str, project: Path) -> str:
    """What the user is asked; names what would be lost."""
    what = {
        "confirm": f"confirm {subject} as the subject of",
        "lock": f"lock {subject} as the subject of",
        "dismiss": f"dismiss the suggestion of {subject} for",
        "unlock": "unlock the subject of",
        "reset": "forget the confirmed subject, the dismissals and the suggestions of",
    }[action]
    agreed = AGREEMENTS.count((action, subject, str(project)))
    again = f" You agreed to this before, {agreed} time{'s' if agreed > 1 else ''}." if agreed else ""
    return f"Qiongli: {what} the project {project.name!r}?{_loss(action, subject, project)}{again}"


def _loss(action: str, subject: str, project: Path) -> str:
    """What a decision would replace; nothing when that cannot be read, for then the action itself says why."""
    if action not in ("confirm", "lock"):
        return ""
    from qiongli.project import read_manifest_state

    try:
        state, _ = read_manifest_state(project)
    except QiongliError:
        return ""
    if state.subject_mode == "auto" or state.active_subject in ("auto", subject):
        return ""
    return f" It replaces {state.active_subject}, which is {state.subject_mode}."


def qiongli_subject_update(
    cwd: Cwd,
    action: Annotated[Action, Field(description="What the user decided.")],
    seen: Annotated[str, Resolve(seen_choice)],
    answer: Annotated[ElicitationResult[Ask], Resolve(ask)],
    subject: Annotated[str, Field(max_length=100, description="Slug; for confirm, dismiss and lock.")] = "",
    plan_id: Annotated[str, Field(max_length=100, description="From needs_confirmation, after the user agreed.")] = "",
) -> dict[str, Any]:
    """Change the subject of a project as the user decided; asks the user first, or returns a plan to confirm."""
    path = folder(cwd)
    wish = (action, subject, str(path))
    preview = _preview(action, path, subject or None)
    packet = preview.to_packet()
    command = {"action": action, "command": preview.command}
    if preview.status == "unchanged":
        return {"outcome": "unchanged", **packet}
    if read_only():
        return _not_done("read_only", packet, proposed_actions=[command])
    agreed = AGREEMENTS.count(wish)
    said = consent(answer)
    if said == "refused":
        return _not_done("cancelled", packet)
    if said == "not_asked":
        if not plan_id:
            waiting = {"plan_id": PLANS.keep(wish, seen), "expires_in_seconds": int(PLANS.seconds)}
            return _not_done("needs_confirmation", packet, **waiting, proposed_actions=[command])
        seen = PLANS.take(plan_id, wish).choice
    else:
        AGREEMENTS.add(wish, agreed)
    return {"outcome": "applied", **_apply(action, path, subject or None, seen).to_packet()}


#: What the reply says first where nothing was done, so that nobody takes its preview for done.
_NOTHING_DONE: Final = {
    "read_only": "nothing was changed: this server only reads; the user can run the proposed command",
    "cancelled": "nothing was changed: the user did not agree",
    "needs_confirmation": "nothing is changed yet: ask the user; only if they agree, call again with plan_id",
}


def _not_done(outcome: str, packet: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The reply for an action that did not happen; `after` is what it would lead to, unless it was turned down."""
    after = packet["before"] if outcome == "cancelled" else packet["after"]
    return {"outcome": outcome, "summary": _NOTHING_DONE[outcome], **more, **packet, "changed": False, "after": after}


def _preview(action: Action, path: Path, subject: str | None) -> ActionPacket:
    """What an action would do; writes nothing, and raises what stands in its way."""
    from qiongli.project import apply_action

    return apply_action(action, opened(path), subject, catalogue=settled_catalogue, dry_run=True)


def _apply(action: Action, path: Path, subject: str | None, choice: str) -> ActionPacket:
    """Carry out an action on the state that the user has seen, all or nothing; a client that cancels in time stops it.

    Runs recorded meanwhile do not matter; another decision raises `StateRefusedError` (`changed_since`).
    """
    from qiongli.project import Store
    from qiongli.project.actions import carry_out
    from qiongli.project.lifecycle import Plan, Request, plan
    from qiongli.project.proposals import choice_digest
    from qiongli.project.store import Snapshot

    catalogue = settled_catalogue()
    request = Request(action, subject)

    def planned(snapshot: Snapshot) -> Plan:
        # Called once without the lock and once under it, before anything is written.
        _stop_if_cancelled()
        if choice_digest(snapshot) != choice:
            raise StateRefusedError(
                "the project's subject was changed after the user was asked",
                code="changed_since",
                hint="Look at qiongli_subject_status, and ask the user again",
            )
        return plan(snapshot, request, catalogue)

    return carry_out(Store(opened(path)), planned, catalogue)


def _stop_if_cancelled() -> None:
    """Leave a worker thread whose client has cancelled, before anything is written."""
    try:
        anyio.from_thread.check_cancelled()
    except RuntimeError:
        # Called on no worker thread, so there is nobody who could cancel.
        return


def qiongli_observe(
    cwd: Cwd,
    text: Annotated[str, Field(description="The research task that was worked on.")],
    suggestion: Annotated[
        Literal["", "accepted", "declined", "ignored"],
        Field(description="What the user made of the suggestion, if one was made; confirms nothing by itself."),
    ] = "",
) -> dict[str, Any]:
    """Record a research task in the project's evidence memory and trace, with what came of a suggestion."""
    from qiongli.project import record_refinement

    path = folder(cwd)
    task = {"text": text}
    settled_catalogue()  # what is counted and kept must not depend on how far the verification is
    packet = router_for(path).route(task)
    told = {
        "decision": packet.decision,
        "primary_subject": packet.primary_subject,
        "confidence": packet.confidence / SCALE,
        "summary": packet.summary,
        "schema_version": SCHEMA_VERSION,
    }
    actions = _next_actions(packet.primary_subject, suggestion) if packet.decision == "suggest_subject" else []
    if read_only():
        record = {"action": "record", "command": "qiongli route --record --cwd . --file TASK"}
        none = {"run_id": "", "counted": False, "warnings": ["this server is read-only and recorded nothing"]}
        return {"outcome": "read_only", **told, **none, "proposed_actions": [record, *actions]}
    _stop_if_cancelled()
    outcome = {"suggestion": suggestion, "subject": packet.primary_subject} if suggestion else None
    recording = record_refinement(opened(path), packet, task_packet=task, proposal=outcome, source="mcp")
    return {
        "outcome": "recorded",
        **told,
        "run_id": recording.run_id,
        "counted": recording.counted,
        "warnings": list(recording.warnings),
        "proposed_actions": actions,
    }


def _next_actions(subject: str, suggestion: str) -> list[dict[str, str]]:
    """What the user's reaction means for the project, for the user to do; nothing of it is done here."""
    action = {"accepted": "confirm", "declined": "dismiss"}.get(suggestion)
    return [] if action is None else [decision(action, f"qiongli subject {action} {subject} --cwd .")]


def decision(action: str, command: str) -> dict[str, str]:
    """A decision of the user's as a proposed action; an agent without a shell is told the tool, where it may write."""
    proposed = {"action": action, "command": command}
    return proposed if read_only() else {**proposed, "tool": "qiongli_subject_update"}


def qiongli_trace(
    cwd: Cwd,
    limit: Annotated[int, Field(ge=1, le=20, description="How many of the newest runs.")] = 10,
) -> dict[str, Any]:
    """List the newest recorded runs of a project, newest first."""
    from qiongli.project import list_runs

    runs, total = list_runs(opened(folder(cwd)), limit=limit)
    return {"schema_version": SCHEMA_VERSION, "total": total, "runs": [to_packet(run) for run in runs]}
