"""Resources and completions: the installed subjects, what they ship, and the state of a project, by address."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import anyio.to_thread
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resources import ResourceSecurity
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    Completion,
    CompletionArgument,
    CompletionContext,
    PromptReference,
    ResourceTemplateReference,
)

from qiongli.errors import QiongliError
from qiongli.records.resources import RESOURCE_KINDS
from qiongli_mcp.edge import folder, hidden, opened, tool_error
from qiongli_mcp.runtime_access import current_catalogue, settled_catalogue
from qiongli_mcp.subject_tools import list_packet, require_subject

SUBJECTS: Final = "qiongli://subjects"
SUBJECT_RESOURCE: Final = "qiongli://subject/{subject}/{kind}/{name}"
PROJECT_STATUS: Final = "qiongli://project/status"
#: The status of any project; `cwd` is checked like that of the tools, so it may be a full path.
PROJECT_STATUS_OF: Final = "qiongli://project/status{?cwd}"
JSON: Final = "application/json"
#: Most values of one completion.
_MAXIMUM_VALUES: Final = 100


def protocol_error(error: QiongliError | ToolError) -> MCPError:
    """What goes wrong outside a tool, as a protocol error with the same prose and facts as a tool's error."""
    lines = str(tool_error(error) if isinstance(error, QiongliError) else error).splitlines()
    return MCPError(code=INVALID_PARAMS, message=lines[0], data=json.loads(lines[-1]))


def _json(packet: dict[str, Any]) -> str:
    return json.dumps(hidden(packet), ensure_ascii=False, indent=1)


def subjects() -> str:
    """The installed disciplines, whether each may act, and why not."""
    return _json(list_packet())


def subject_resource(subject: str, kind: str, name: str) -> str:
    """One guidance resource of a subject, as its package ships it."""
    from qiongli.resources import load_resource

    try:
        return load_resource(require_subject(subject), kind, name)[1]
    except QiongliError as error:
        raise protocol_error(error) from None


def project_status() -> str:
    """What the project in the server's own folder has decided."""
    return project_status_of(str(Path.cwd()))


def project_status_of(cwd: str = "") -> str:
    """What a project has decided; `cwd` is its folder as a full path."""
    from qiongli.project import subject_status

    try:
        return _json(subject_status(opened(folder(cwd)), catalogue=settled_catalogue).to_packet())
    except (QiongliError, ToolError) as error:
        raise protocol_error(error) from None


def add_resources(server: MCPServer) -> None:
    """Offer the resources, and completions for their addresses and for the prompts."""
    server.resource(SUBJECTS, name="subjects", title="Installed subjects", mime_type=JSON)(subjects)
    server.resource(PROJECT_STATUS, name="project-status", title="Project status", mime_type=JSON)(project_status)
    server.resource(
        PROJECT_STATUS_OF,
        name="project-status-of",
        title="Status of a project",
        mime_type=JSON,
        security=ResourceSecurity(exempt_params={"cwd"}),
    )(project_status_of)
    server.resource(SUBJECT_RESOURCE, name="subject-resource", title="Guidance of a subject", mime_type="text/plain")(
        subject_resource
    )

    server.completion()(_complete)  # type: ignore[no-untyped-call]  # the SDK does not annotate it


async def _complete(
    _: PromptReference | ResourceTemplateReference, argument: CompletionArgument, context: CompletionContext | None
) -> Completion:
    """The values of an argument that begin with what is typed; they mean the same in addresses and in prompts."""
    given = dict(context.arguments or {}) if context is not None else {}
    values = await anyio.to_thread.run_sync(possible_values, argument.name, given)
    fitting = [value for value in values if value.startswith(argument.value)]
    return Completion(values=fitting[:_MAXIMUM_VALUES], total=len(fitting), has_more=len(fitting) > _MAXIMUM_VALUES)


def possible_values(argument: str, given: dict[str, str]) -> list[str]:
    """What an argument of an address or a prompt may be, given the others; empty when that is open."""
    from qiongli.contract.files import declared_resources
    from qiongli.resources import may_load

    subjects = current_catalogue().subjects
    if argument == "subject":
        return sorted(subject.contract.subject for subject in subjects)
    if argument == "kind":
        return sorted(RESOURCE_KINDS)
    if argument == "name":
        return sorted(
            {
                declared.name
                for subject in subjects
                if given.get("subject") in (None, subject.contract.subject)
                for declared in declared_resources(subject.contract)
                if given.get("kind") in (None, declared.kind) and may_load(declared.kind, subject.listing.state)
            }
        )
    return []
