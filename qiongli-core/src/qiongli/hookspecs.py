"""The hooks through which plugins take part, and the markers to implement them with.

Every hook is called implementation by implementation; what one of them raises, or returns in a wrong type, is
recorded against its distribution and never stops the others. Detectors return evidence only. Gate and request hooks
can only veto: no return value of any hook grants anything.
"""

# ruff: noqa: ARG001  # a specification names its arguments and uses none

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import attrs
import pluggy

from qiongli.records.evidence import Evidence
from qiongli.records.gate import GateReport
from qiongli.records.resources import ResourceRef

if TYPE_CHECKING:
    from qiongli.contract.models import Signal
    from qiongli.document import Document

#: The name under which hook implementations are marked.
PROJECT_NAME: Final = "qiongli"

hookspec: Final = pluggy.HookspecMarker(PROJECT_NAME)
hookimpl: Final = pluggy.HookimplMarker(PROJECT_NAME)


@attrs.frozen
class SignalGroup:
    """The signals of one subject in one dimension."""

    subject: str
    dimension: str
    signals: tuple[Signal, ...]


@attrs.frozen
class BlockingFailure:
    """A reason of a plugin against the activation of a subject."""

    code: str
    message: str


@attrs.frozen
class Veto:
    """A plugin's refusal of a request; `code` is reported under the refusal `policy_forbids`."""

    code: str
    message: str


@attrs.frozen
class Request:
    """What a caller asks of the router: read-only facts, no text of the task."""

    action: str
    fields: tuple[str, ...] = ()
    size: int = 0
    subject: str | None = None


@attrs.frozen
class AgentAdapter:
    """How to start one agent's command line, without a shell.

    `arguments` holds `{prompt_file}` where the prompt's path goes; without it the prompt is the standard input.
    `environment` names further variables that the agent gets. `name` is one to 32 small letters, digits and hyphens;
    a name that core or two plugins use is nobody else's.
    """

    name: str
    executable: str
    arguments: tuple[str, ...]
    environment: tuple[str, ...] = ()


@attrs.frozen
class ToolSpec:
    """An MCP tool that a plugin offers: `target` is `module:attr`, imported only when the server starts."""

    name: str
    target: str
    profile: str = "default"
    annotations: Mapping[str, Any] = attrs.field(factory=dict)


@hookspec
def qiongli_signal_groups() -> Sequence[SignalGroup]:
    """Return the signals of a subject, one group a dimension.

    .. versionadded:: 0.1
    """
    return ()


@hookspec
def qiongli_detect(document: Document) -> Iterable[Evidence]:
    """Return evidence found in the document; anything but `Evidence` is dropped and counted.

    .. versionadded:: 0.1
    """
    return ()


@hookspec
def qiongli_resources() -> Sequence[ResourceRef]:
    """Return references to the resources of a subject; their files are read by core, never by the plugin.

    .. versionadded:: 0.1
    """
    return ()


@hookspec
def qiongli_gate_checks(subject: str, report: GateReport) -> Sequence[BlockingFailure]:
    """Return reasons against the activation of the subject; an empty sequence is no approval.

    .. versionadded:: 0.1
    """
    return ()


@hookspec
def qiongli_request_policy(request: Request) -> Veto | None:
    """Return a veto to refuse the request, or None to have no say.

    .. versionadded:: 0.1
    """
    return None


@hookspec
def qiongli_agents() -> Sequence[AgentAdapter]:
    """Return adapters for agents that `qiongli task run` may start on the user's word.

    .. versionadded:: 0.1
    """
    return ()


@hookspec
def qiongli_mcp_tools() -> Sequence[ToolSpec]:
    """Return further tools for the MCP server.

    .. versionadded:: 0.1
    """
    return ()
