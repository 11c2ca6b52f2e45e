"""The server: which tools it offers, with strict inputs, published output schemas and honest annotations."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Annotated, Any, Final, Literal

from mcp.server import MCPServer
from mcp_types import ToolAnnotations
from pydantic import Field

from qiongli._version import VERSION
from qiongli.errors import QiongliError
from qiongli.schemas import schema_text
from qiongli_mcp.edge import folder, tool_error
from qiongli_mcp.project_tools import qiongli_observe, qiongli_subject_update, qiongli_trace
from qiongli_mcp.subject_tools import (
    qiongli_gate_report,
    qiongli_resource_read,
    qiongli_subject_explain,
    qiongli_subject_list,
)

INSTRUCTIONS: Final = (
    "Qiongli says which academic discipline's standards apply to a research task. Call qiongli_route with the task's "
    "text before you plan or review it; follow a confirmed or locked subject, treat a suggestion as a question to the "
    "user, and use a borrowed lens for its method only. Call qiongli_subject_status to see what a project has decided."
)

_READ_ONLY: Final = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)


# It contains `reset`, so it counts as destructive.
_CHANGES: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False
)
_RECORDS: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False
)


def build_server() -> MCPServer:
    """The server with all its tools; nothing is discovered before the first call."""
    server = MCPServer("qiongli", version=VERSION, instructions=INSTRUCTIONS)
    _add(server, qiongli_route, "packet")
    _add(server, qiongli_subject_status, "status")
    _add(server, qiongli_subject_list, "subject-list")
    _add(server, qiongli_subject_explain)
    _add(server, qiongli_gate_report, "gate-report")
    _add(server, qiongli_resource_read)
    _add(server, qiongli_trace)
    _add(server, qiongli_subject_update, annotations=_CHANGES)
    _add(server, qiongli_observe, annotations=_RECORDS)
    return server


def _add(
    server: MCPServer, function: Callable[..., Any], schema: str = "", *, annotations: ToolAnnotations = _READ_ONLY
) -> None:
    server.add_tool(function, annotations=annotations)
    tool = server._tool_manager.get_tool(function.__name__)  # the SDK publishes no way to set a schema
    assert tool is not None
    tool.parameters["additionalProperties"] = False
    tool.fn_metadata.arg_model.model_config["extra"] = "forbid"
    tool.fn_metadata.arg_model.model_rebuild(force=True)
    if schema:
        tool.fn_metadata.output_schema = json.loads(schema_text(schema))


def qiongli_route(
    text: Annotated[str, Field(description="The research task: a sentence, an abstract or a draft.")],
    cwd: Annotated[str, Field(description="Folder of the project whose state takes part; empty for none.")] = "",
    venue: Annotated[str, Field(description="Target journal or conference, if known.")] = "",
    detail: Annotated[
        Literal["short", "full"], Field(description="full: every score and piece of evidence.")
    ] = "short",
) -> dict[str, Any]:
    """Say which discipline's standards apply to a research task, which single method lenses to borrow, and why."""
    from qiongli.runtime import open_router

    try:
        router = open_router(folder(cwd) if cwd else None)
        packet = router.route({"text": text, "venue": venue} if venue else {"text": text}).to_packet()
    except QiongliError as error:
        raise tool_error(error) from None
    if detail == "short":
        packet["score_breakdown"] = []
        packet["signals"] = packet["signals"][:12]
        packet["near_miss_protections"] = packet["near_miss_protections"][:6]
    return packet


def qiongli_subject_status(
    cwd: Annotated[str, Field(description="Folder of the project.")],
) -> dict[str, Any]:
    """Show which subject a project has confirmed, locked or dismissed, and what was suggested for it."""
    from qiongli.project import subject_status

    try:
        return subject_status(folder(cwd)).to_packet()
    except QiongliError as error:
        raise tool_error(error) from None
