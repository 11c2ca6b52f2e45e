"""The edge of every tool: how errors read and what a project folder is."""

from __future__ import annotations

import json
from pathlib import Path

from mcp.server.mcpserver.exceptions import ToolError

from qiongli.errors import InputError, QiongliError


def tool_error(error: QiongliError) -> ToolError:
    """One line of prose and one line of JSON, because clients show a failing tool's text only."""
    facts = {"code": error.code, "hint": error.hint, "available": list(error.available)}
    prose = " ".join(str(error).split())
    return ToolError(f"{prose}\n{json.dumps(facts, ensure_ascii=False)}")


def folder(cwd: str) -> Path:
    """The resolved folder; raises the tool error `no_such_folder` when it does not exist."""
    try:
        if cwd and Path(cwd).is_dir():
            return Path(cwd).resolve()
    except (OSError, ValueError):
        pass
    raise tool_error(
        InputError("cwd is no existing folder", code="no_such_folder", hint="Give the project's own folder")
    )
