"""The server: which tools it offers, with strict inputs, published output schemas and honest annotations."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import Field

from qiongli._version import VERSION
from qiongli.errors import InputError, QiongliError
from qiongli.schemas import schema_text

INSTRUCTIONS: Final = (
    "Qiongli says which academic discipline's standards apply to a research task. Call qiongli_route with the task's "
    "text before you plan or review it; follow a confirmed or locked subject, treat a suggestion as a question to the "
    "user, and use a borrowed lens for its method only. Call qiongli_subject_status to see what a project has decided."
)

_READ_ONLY: Final = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)


def build_server() -> MCPServer:
    """The server with all its tools; nothing is discovered before the first call."""
    server = MCPServer("qiongli", version=VERSION, instructions=INSTRUCTIONS)
    _add(server, qiongli_route, "packet")
    _add(server, qiongli_subject_status, "status")
    return server


def _add(server: MCPServer, function: Callable[..., Any], schema: str) -> None:
    server.add_tool(function, annotations=_READ_ONLY)
    tool = server._tool_manager.get_tool(function.__name__)  # the SDK publishes no way to set a schema
    assert tool is not None
    tool.parameters["additionalProperties"] = False
    tool.fn_metadata.arg_model.model_config["extra"] = "forbid"
    tool.fn_metadata.arg_model.model_rebuild(force=True)
    tool.fn_metadata.output_schema = json.loads(schema_text(schema))


def _tool_error(error: QiongliError) -> ToolError:
    """One line of prose and one line of JSON, because clients show a failing tool's text only."""
    facts = {"code": error.code, "hint": error.hint, "available": list(error.available)}
    return ToolError(f"{error}\n{json.dumps(facts, ensure_ascii=False)}")


def _folder(cwd: str) -> Path:
    path = Path(cwd)
    if not path.is_dir():
        raise _tool_error(
            InputError("cwd is no existing folder", code="no_such_folder", hint="Give the project's own folder")
        )
    return path.resolve()


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
        router = open_router(_folder(cwd) if cwd else None)
        packet = router.route({"text": text, "venue": venue} if venue else {"text": text}).to_packet()
    except QiongliError as error:
        raise _tool_error(error) from None
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
        return subject_status(_folder(cwd)).to_packet()
    except QiongliError as error:
        raise _tool_error(error) from None
