"""Adapters for agents: core's own come through the same hook as everybody's, and none is started from here."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from qiongli.hookspecs import AgentAdapter, hookimpl

if TYPE_CHECKING:
    from qiongli.plugins.hooks import HookCaller

CORE: Final = "qiongli-core"

_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,31}", re.ASCII)
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}", re.ASCII)
_MAXIMUM_ARGUMENTS: Final = 64


class CoreAgents:
    """The plugin with which core offers its adapters.

    Each starts its agent once, without a conversation, with the permissions that the agent has by default: none of
    the flags widens them. The prompt goes to standard input.
    """

    @hookimpl
    def qiongli_agents(self) -> Sequence[AgentAdapter]:
        """The command lines of Claude Code, Codex and Gemini CLI."""
        return (
            AgentAdapter(
                "claude",
                "claude",
                ("--print", "--output-format", "text"),
                ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "CLAUDE_CONFIG_DIR"),
            ),
            AgentAdapter(
                "codex",
                "codex",
                # A folder of research is often no repository; in the read-only sandbox that is no danger.
                ("exec", "--sandbox", "read-only", "--skip-git-repo-check", "-"),
                ("OPENAI_API_KEY", "OPENAI_BASE_URL", "CODEX_API_KEY", "CODEX_HOME"),
            ),
            AgentAdapter(
                "gemini",
                "gemini",
                ("--output-format", "text"),
                (
                    *("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL", "GEMINI_CLI_HOME"),
                    # Without it Gemini works in trusted folders only; which these are is the user's word, not ours.
                    "GEMINI_CLI_TRUST_WORKSPACE",
                ),
            ),
        )


def agent_adapters(hooks: HookCaller | None) -> tuple[dict[str, AgentAdapter], tuple[str, ...]]:
    """Adapters by name, sorted, and warnings about those that are left out; core's names are nobody else's.

    `hooks` are the plugins that may run here, None when none may.
    """
    from qiongli.plugins.hooks import HookCaller

    own = HookCaller()
    own.register(CoreAgents(), CORE, name="agents", trusted=True)
    found = {adapter.name: adapter for adapter in own.agents()}
    reserved = frozenset(found)
    warnings: list[str] = []
    claimed_twice: set[str] = set()
    for adapter in hooks.agents() if hooks is not None else ():
        fault = adapter_fault(adapter)
        name = adapter.name if isinstance(adapter.name, str) else ""
        if fault:
            warnings.append(f"the adapter of an agent {name[:40]!r} is left out: {fault}")
        elif name in reserved:
            warnings.append(f"an adapter of the name {name!r} is left out: core has one of that name")
        elif name in found or name in claimed_twice:
            # Nobody could tell which of the two the user's setting means.
            found.pop(name, None)
            claimed_twice.add(name)
            warnings.append(f"the agent {name!r} is offered twice; none of its adapters is used")
        else:
            found[name] = adapter
    return dict(sorted(found.items())), tuple(dict.fromkeys(warnings))


def adapter_fault(adapter: AgentAdapter) -> str:
    """What is wrong with an adapter, or an empty text."""
    if not isinstance(adapter.name, str) or not _NAME.fullmatch(adapter.name):
        return "its name is not one to 32 small letters, digits and hyphens"
    if not isinstance(adapter.executable, str) or not adapter.executable or "\0" in adapter.executable:
        return "it names no executable"
    arguments, environment = adapter.arguments, adapter.environment
    if not isinstance(arguments, tuple) or len(arguments) > _MAXIMUM_ARGUMENTS:
        return f"its arguments are no tuple of at most {_MAXIMUM_ARGUMENTS} texts"
    if not all(isinstance(item, str) and "\0" not in item for item in arguments):
        return "an argument is no text"
    if not isinstance(environment, tuple) or not all(
        isinstance(item, str) and _VARIABLE.fullmatch(item) for item in environment
    ):
        return "its environment is no tuple of names of variables"
    return ""
