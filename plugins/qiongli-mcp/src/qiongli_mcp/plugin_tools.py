"""Tools of other distributions, through the hook `qiongli_mcp_tools`; what is wrong with them costs nobody else."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from mcp.server import MCPServer
from mcp_types import ToolAnnotations

from qiongli.plugins._isolation import run_isolated
from qiongli_mcp.registration import add_tool
from qiongli_mcp.runtime_access import HOLDER, hooks_at_start

if TYPE_CHECKING:
    from qiongli.hookspecs import ToolSpec

logger: Final = logging.getLogger(__name__)

#: The most that clients show without hiding some.
MAXIMUM_DEFAULT_TOOLS: Final = 15
#: Short enough for every client, with the names of server and plugin before it.
TOOL_NAME: Final = re.compile(r"[a-z][a-z0-9_]{2,35}")
_IMPORT_SECONDS: Final = 10.0
#: What a tool counts as that does not say otherwise: the worst.
_CAUTIOUS: Final = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False, "openWorldHint": True}


def add_plugin_tools(server: MCPServer, profile: str) -> None:
    """Add the tools of plugins for this profile; every one that is refused is said on standard error."""
    try:
        hooks = hooks_at_start()
    except Exception:
        logger.exception("the plugins cannot be asked for tools")
        return
    if hooks is None:
        return
    specs = hooks.mcp_tools()
    HOLDER.say_hook_failures()
    wanted = [spec for spec in specs if spec.profile in ("default", profile)]
    own = {tool.name for tool in server._tool_manager.list_tools()}
    names = [spec.name for spec in wanted]
    room = MAXIMUM_DEFAULT_TOOLS - len(own)
    for spec in wanted:
        problem = _objection(spec, own, names)
        if not problem and spec.profile == "default" and room <= 0:
            problem = f"a server offers at most {MAXIMUM_DEFAULT_TOOLS} tools in its default profile"
        problem = problem or _add(server, spec)
        if problem:
            logger.warning("the tool %r (%s) is left out: %s", spec.name, spec.target, problem)
        elif spec.profile == "default":
            room -= 1


def _objection(spec: ToolSpec, own: set[str], names: list[str]) -> str:
    if not isinstance(spec.name, str) or not TOOL_NAME.fullmatch(spec.name):
        return "its name must be 3 to 36 lower-case letters, digits and underscores"
    if spec.name in own:
        return "this server has a tool of that name"
    if names.count(spec.name) > 1:
        return "more than one plugin claims that name, so none gets it"
    return ""


def _add(server: MCPServer, spec: ToolSpec) -> str:
    """Import and register one tool; what went wrong, or an empty text."""
    module, _, attribute = spec.target.partition(":")

    def register() -> None:
        function: Callable[..., Any] = getattr(import_module(module), attribute)
        schema = getattr(function, "output_schema", None)
        add_tool(
            server,
            function,
            schema if isinstance(schema, dict) else {"type": "object", "properties": {}},
            name=spec.name,
            annotations=_annotations(spec.annotations),
        )

    outcome = run_isolated(register, limit_seconds=_IMPORT_SECONDS)
    if outcome.failure and server._tool_manager.get_tool(spec.name) is not None:
        server.remove_tool(spec.name)
    return outcome.failure


def _annotations(given: Mapping[str, Any]) -> ToolAnnotations:
    """The plugin's hints, in either spelling; what it leaves out counts as the worst."""
    camel = {re.sub(r"_(\w)", lambda found: found[1].upper(), str(key)): value for key, value in given.items()}
    return ToolAnnotations.model_validate({**_CAUTIOUS, **camel})
