"""Registration: every tool gets strict inputs, a published output schema, honest annotations and the same edge."""

from __future__ import annotations

import functools
import inspect
import logging
import os
from collections.abc import Callable
from typing import Any, Final

import anyio.to_thread
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, ToolAnnotations

from qiongli.errors import QiongliError
from qiongli_mcp.edge import tool_error, unexpected_error
from qiongli_mcp.output_schemas import output_schema
from qiongli_mcp.replies import reply
from qiongli_mcp.runtime_access import HOLDER

logger: Final = logging.getLogger(__name__)

#: Reads; may be called as often as one likes.
READS: Final = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
#: Adds to a project's memory and trace, and takes nothing away.
RECORDS: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False
)
#: Changes what the user has decided; it contains `reset`, so it counts as destructive.
CHANGES: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False
)
#: Clients that search tools by name load this one at once.
ALWAYS_LOAD: Final = {"anthropic/alwaysLoad": True}


def add_tool(
    server: MCPServer,
    function: Callable[..., Any],
    schema: str | dict[str, Any] = "",
    *,
    name: str = "",
    annotations: ToolAnnotations = READS,
    always_load: bool = False,
) -> None:
    """Offer a function that returns a packet as a tool, of its own name if no other is given.

    `schema` is the packet's published schema by name, or the schema itself; without one that of `output_schemas`. The
    function may raise any `QiongliError`. One without `async` runs on a worker thread; a reading one is left alone
    when the client cancels, a writing one is waited for, because it writes all or nothing.
    """
    name = name or function.__name__
    server.add_tool(
        _edged(function, reads=annotations.read_only_hint is True),
        name=name,
        annotations=annotations,
        meta=ALWAYS_LOAD if always_load else None,
        structured_output=True,
    )
    tool = server._tool_manager.get_tool(name)  # the SDK publishes no way to set a schema
    assert tool is not None
    tool.parameters["additionalProperties"] = False
    tool.parameters.pop("title", None)
    for field in tool.parameters["properties"].values():
        field.pop("title", None)
    tool.fn_metadata.arg_model.model_config["extra"] = "forbid"
    tool.fn_metadata.arg_model.model_config["strict"] = True
    tool.fn_metadata.arg_model.model_rebuild(force=True)
    tool.fn_metadata.output_schema = output_schema(schema or name)


def _edged(function: Callable[..., Any], *, reads: bool) -> Callable[..., Any]:
    """The function as the SDK calls it: its packet becomes a bounded reply, its errors become readable."""
    is_async = inspect.iscoroutinefunction(function)

    @functools.wraps(function)
    async def call(**arguments: Any) -> CallToolResult:
        try:
            if is_async:
                packet = await function(**arguments)
            else:
                work = functools.partial(function, **arguments)
                packet = await anyio.to_thread.run_sync(work, abandon_on_cancel=reads)
        except QiongliError as error:
            raise tool_error(error) from None
        except (ToolError, MCPError):
            raise
        except Exception:
            logger.exception("%s failed", function.__name__)
            raise unexpected_error(function.__name__) from None
        finally:
            HOLDER.say_hook_failures()
        return reply(packet, full=arguments.get("detail") == "full", projects=_projects(arguments))

    # What a plugin's function says that it returns is no matter: the schema is given beside it.
    signature = inspect.signature(function, eval_str=True).replace(return_annotation=dict[str, Any])
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    if any(parameter.kind not in named for parameter in signature.parameters.values()):
        raise TypeError(f"{function.__name__} takes arguments without names, which no client can give")
    vars(call)["__signature__"] = signature
    return call


def _projects(arguments: dict[str, Any]) -> tuple[str, ...]:
    """The project's folder as the client named it, and as it is; neither is repeated."""
    cwd = arguments.get("cwd")
    if not isinstance(cwd, str) or not cwd:
        return ()
    return tuple(dict.fromkeys((cwd.rstrip("/\\") or cwd, os.path.realpath(cwd))))
