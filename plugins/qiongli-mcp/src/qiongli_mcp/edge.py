"""The edge of every tool: how errors read, what a project folder is, and which texts must not leave the machine."""

from __future__ import annotations

import json
import os
import re
import sys
import sysconfig
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mcp.server.mcpserver.exceptions import ToolError
from pydantic import ValidationError

from qiongli.errors import InputError, QiongliError

if TYPE_CHECKING:
    from qiongli.project import Project

#: Most characters of an error's prose, and most of the values that it lists.
_PROSE_LIMIT: Final = 1_500
_AVAILABLE_LIMIT: Final = 40
#: A shorter folder, such as `/`, says nothing of a machine.
_SHORTEST_ROOT: Final = 4


def tool_error(error: QiongliError) -> ToolError:
    """One line of prose and one line of JSON, because clients show a failing tool's text only."""
    return _failure(str(error), error.code, error.hint, error.available)


def _failure(prose: str, code: str, hint: str = "", available: tuple[str, ...] = ()) -> ToolError:
    facts = {"code": code, "hint": hint, "available": list(available[:_AVAILABLE_LIMIT])}
    line = " ".join(prose.split())
    if len(line) > _PROSE_LIMIT:
        line = line[:_PROSE_LIMIT] + "\N{HORIZONTAL ELLIPSIS}"
    return ToolError(f"{hidden(line)}\n{json.dumps(hidden(facts), ensure_ascii=False)}")


def arguments_error(name: str, error: ValidationError, allowed: tuple[str, ...]) -> ToolError:
    """The error for arguments that do not fit a tool's schema; what was given is not repeated."""
    problems, available = [], allowed
    for found in error.errors(include_url=False, include_input=False):
        field = ".".join(str(part) for part in found["loc"])[:80] or "arguments"
        problems.append(f"{field}: {found['msg']}")
        expected = found.get("ctx", {}).get("expected")
        if found["type"] == "literal_error" and expected:
            available = tuple(part.strip(" '") for part in expected.replace(" or ", ", ").split(","))
    prose = f"{name} does not take these arguments: {'; '.join(problems[:8])}"
    return _failure(prose, "invalid_arguments", "Give the arguments of the tool's input schema", available)


def in_two_lines(error: ToolError) -> ToolError:
    """An error as this server says it; the SDK's, and those of plugins, get their facts here."""
    text = str(error)
    if "\n{" in text:
        return error
    if text.startswith("Resolver "):
        hint = "Call again, or let the user run the command line: qiongli subject --help"
        prose = "the client's answer to the question could not be read, so nothing was done"
        return _failure(prose, "answer_unreadable", hint)
    return _failure(text, "tool_failed", "Look at the tool's description")


def unknown_tool(name: str, known: tuple[str, ...]) -> ToolError:
    """The error for a tool that this server does not have."""
    return _failure(f"there is no tool {name[:60]!r}", "unknown_tool", "Call one of the listed tools", known)


def unexpected_error(name: str) -> ToolError:
    """The error for a fault of ours: what happened is on standard error, nothing of it goes to the client."""
    hint = "Look at the server's standard error, or run: qiongli doctor"
    return _failure(f"{name} failed for a reason that is no fault of its arguments", "internal_error", hint)


def folder(cwd: str) -> Path:
    """The resolved folder of a project.

    Raises the tool error `cwd_not_absolute` for a relative path, which would mean another folder than the client's,
    and `no_such_folder` when there is none. Links are followed, so that one project has one name.
    """
    try:
        path = Path(cwd)
        if cwd and not path.is_absolute():
            raise tool_error(
                InputError("cwd is not absolute", code="cwd_not_absolute", hint="Give the project's full path as cwd")
            )
        if cwd and path.is_dir():
            return path.resolve()
    except (OSError, ValueError, RuntimeError):
        pass
    raise tool_error(
        InputError("cwd is no existing folder", code="no_such_folder", hint="Give the project's own folder as cwd")
    )


def opened(path: Path) -> Project:
    """The project of a folder, which its messages call `.`: the machine's folders are not the client's business.

    Raises as `qiongli.project.open_project` does.
    """
    from qiongli.project import open_project

    return open_project(path, shown=".")


@lru_cache(maxsize=1)
def _machine_roots() -> dict[str, str]:
    """Folders of this machine with what stands for them."""
    roots = {os.path.expanduser("~"): "~", sys.executable: "python"}  # noqa: PTH111
    for path in (sys.prefix, sys.base_prefix, *sysconfig.get_paths().values(), *sys.path):
        roots.setdefault(path, "<installed>")
    for path in [*roots]:
        roots.setdefault(os.path.realpath(path), roots[path])
    return roots


@lru_cache(maxsize=64)
def _pattern(projects: tuple[str, ...]) -> re.Pattern[str]:
    """One expression for all folders, the longest first; a folder is a whole name, not the end of a word."""
    paths = {path for path in (*projects, *_machine_roots()) if len(path) >= _SHORTEST_ROOT}
    anyone = "|".join(re.escape(path.rstrip("/\\")) for path in sorted(paths, key=lambda path: (-len(path), path)))
    return re.compile(rf"(?<![\w.~-])(?:{anyone})(?![\w-])")


def hidden(value: Any, *projects: str) -> Any:
    """A packet or text without this machine's folders: `.` for the project, `~` for the home folder.

    What tools answer is free of paths by design; this is for error messages and for what plugins say.
    """
    pattern = _pattern(projects)

    def shown(found: re.Match[str]) -> str:
        return "." if found[0] in projects else _machine_roots().get(found[0], "<installed>")

    def without(item: Any) -> Any:
        if isinstance(item, str):
            return pattern.sub(shown, item)
        if isinstance(item, dict):
            return {key: without(inner) for key, inner in item.items()}
        return [without(inner) for inner in item] if isinstance(item, list | tuple) else item

    return without(value)


def mentions_machine(text: str, *projects: str) -> bool:
    """Whether a text may hold a folder of this machine; cheap, so that every reply can be looked through."""
    return "\\\\" in text or _pattern(projects).search(text) is not None
