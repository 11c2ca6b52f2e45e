"""The tool that runs a task: a preview, unless the user's word, their setting and their consent make it more."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Annotated, Any, Final

import anyio.from_thread
import attrs
from mcp.server.mcpserver import Context, Elicit, ElicitationResult, Resolve
from mcp_types import ToolAnnotations
from pydantic import Field

from qiongli.records.subjects import Reason
from qiongli.schemas import schema_text
from qiongli_mcp.confirmation import PLANS, Ask, NotAsked, can_ask, consent, read_only
from qiongli_mcp.edge import folder, opened
from qiongli_mcp.project_tools import decision
from qiongli_mcp.routing_tools import Detail, short_packet
from qiongli_mcp.runtime_access import current_runtime

if TYPE_CHECKING:
    from qiongli.records.task import TaskRun

#: It can start an agent, which can do anything that the agent may.
LAUNCHES: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=True
)
#: One process serves one conversation.
_CONVERSATION: Final = f"mcp-{secrets.token_hex(8)}"
_TEXT: Final = {"type": "string"}


def ask_launch(ctx: Context, launch: str = "") -> Ask | Elicit[Ask]:
    """Ask the user, where the client can, before an agent is started that their own setting permits."""
    from qiongli.errors import QiongliError
    from qiongli.task import verdict_on

    if not launch or read_only() or not can_ask(ctx):
        return NotAsked()
    try:
        verdict, _ = verdict_on(launch, current_runtime().hooks)
    except QiongliError:
        # The tool itself meets the same error, and says it.
        return NotAsked()
    return Elicit(f"Qiongli: start the agent {launch} on this task?", Ask) if verdict.allowed else NotAsked()


def qiongli_task_run(
    text: Annotated[str, Field(description="The research task: a sentence, an abstract or a draft.")],
    answer: Annotated[ElicitationResult[Ask], Resolve(ask_launch)],
    cwd: Annotated[
        str, Field(max_length=4096, description="Folder of the project whose state takes part; empty for none.")
    ] = "",
    venue: Annotated[str, Field(max_length=500, description="Target journal or conference, if known.")] = "",
    budget: Annotated[
        int, Field(ge=0, le=1_000_000, description="Tokens that the context bundle may take; 0 for no limit.")
    ] = 0,
    record: Annotated[bool, Field(description="Record the run in the project's memory and trace.")] = False,
    launch: Annotated[
        str, Field(max_length=32, description="Agent to start, only when the user asked for that; empty to preview.")
    ] = "",
    plan_id: Annotated[str, Field(max_length=100, description="From needs_confirmation, after the user agreed.")] = "",
    detail: Annotated[Detail, Field(description="full: with the texts of the context bundle.")] = "short",
) -> dict[str, Any]:
    """Preview a research task: plan, guidance by authority, what is blocked; starts no agent unasked."""
    from qiongli.task import Launching, run_task, verdict_on

    path = folder(cwd) if cwd else None
    task: dict[str, object] = {"text": text, "venue": venue} if venue else {"text": text}
    runtime = current_runtime()
    verdict, _ = verdict_on(launch, runtime.hooks)
    outcome, told = "preview", dict[str, Any]()
    if launch and path is not None and verdict.allowed:
        wish = ("launch", launch, text, venue, str(path))
        said = consent(answer)
        if read_only():
            outcome = "read_only"
        elif said == "refused":
            outcome = "cancelled"
        elif said == "given":
            outcome = "launched"
        elif plan_id:
            PLANS.take(plan_id, wish)
            outcome = "launched"
        else:
            outcome = "needs_confirmation"
            told = {"plan_id": PLANS.keep(wish, ""), "expires_in_seconds": int(PLANS.seconds)}
    elif launch:
        outcome = "not_permitted"
    starts = outcome == "launched"
    run = run_task(
        task,
        cwd=None if path is None else opened(path),
        budget=budget or None,
        record=record and not read_only(),
        session=_CONVERSATION,
        launching=Launching(launch, stop=_cancelled) if starts else Launching(),
        runtime=runtime,
    )
    if launch and not starts:
        reasons = verdict.reasons or (Reason(outcome, _WHY[outcome]),)
        run = attrs.evolve(run, launch=attrs.evolve(verdict, allowed=False, reasons=reasons))
    if record and read_only():
        outcome = "read_only"
    actions = _proposed(run, launch, starts=starts, record=record and run.recording is None)
    return {"outcome": outcome, **told, **_packet(run, detail), "proposed_actions": actions}


_WHY: Final = {
    "read_only": "this server is read-only and starts nothing",
    "cancelled": "the user did not agree",
    "needs_confirmation": "the user has to agree first; this client cannot ask them",
    "not_permitted": "only a task of a project can be given to an agent",
}


def _cancelled() -> bool:
    """Leave the wait for an agent, which is then ended, when the client has cancelled."""
    try:
        anyio.from_thread.check_cancelled()
    except RuntimeError:
        # Called on no worker thread, so there is nobody who could cancel.
        return False
    return False


def _proposed(run: TaskRun, launch: str, *, starts: bool, record: bool) -> list[dict[str, str]]:
    """What the user may do instead of what was not done here, and what they may decide."""
    actions = []
    if run.suggestion is not None and run.suggestion.prompt:
        actions.append(decision("confirm", run.suggestion.confirm))
        actions.append(decision("dismiss", run.suggestion.dismiss))
    if launch and not starts:
        if any(reason.code == "not_permitted_here" for reason in run.launch.reasons):
            actions.append({"action": "allow", "command": f"qiongli task allow {launch}"})
        actions.append({"action": "launch", "command": f"qiongli task run --launch {launch} --cwd . --file TASK"})
    if record:
        actions.append({"action": "record", "command": "qiongli task run --record --cwd . --file TASK"})
    return actions


def _packet(run: TaskRun, detail: Detail) -> dict[str, Any]:
    """The run without what it says twice; the texts of the bundle only in full."""
    packet = run.to_packet()
    refinement = short_packet(packet["refinement"])
    # They stand beside the refinement already.
    for name in ("blocked_candidates", "near_miss_protections", "warnings"):
        refinement[name] = []
    refinement["resource_activation_plan"]["resources"] = []
    packet["refinement"] = refinement
    if detail == "short":
        refinement["signals"] = []
        for part in packet["context_bundle"]["parts"]:
            part["text"] = ""
    return packet


def task_schema() -> dict[str, Any]:
    """The output schema: the published one of a task run, and how the call went."""
    import json

    schema: dict[str, Any] = json.loads(schema_text("task-run"))
    schema = {key: value for key, value in schema.items() if key not in ("$schema", "$id", "title")}
    action = {"type": "object", "properties": {"action": _TEXT, "command": _TEXT}, "required": ["action", "command"]}
    own = {
        "outcome": {"enum": ["preview", "launched", "cancelled", "needs_confirmation", "read_only", "not_permitted"]},
        "plan_id": _TEXT,
        "expires_in_seconds": {"type": "integer", "minimum": 0},
        "proposed_actions": {"type": "array", "items": action},
    }
    schema["properties"] = {**schema["properties"], **own}
    schema["required"] = [*schema["required"], "outcome", "proposed_actions"]
    return schema
