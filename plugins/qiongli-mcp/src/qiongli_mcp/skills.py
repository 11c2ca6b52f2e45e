"""Active subjects as Agent Skills over MCP (SEP-2640): one skill a subject, every file with its digest and size.

Only what the gate lets act is a skill here: the files of a subject that is not active are not listed and not served.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final

import anyio.to_thread
import attrs
from mcp.server import MCPServer
from mcp.server.context import ServerRequestContext
from mcp.server.extension import Extension, MethodBinding
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, PaginatedRequestParams, RequestParams, Resource

from qiongli_mcp.runtime_access import settled_catalogue

if TYPE_CHECKING:
    from qiongli.plugins import CatalogueSubject

SKILL_FILE: Final = "SKILL.md"
ADDRESS: Final = "skill://{skill}/{+path}"
_MARKDOWN: Final = "text/markdown"
#: A skill's list changes only when subjects are verified, installed or blocked.
_CACHE: Final = {"ttlMs": 60_000, "cacheScope": "private"}
_HEAD: Final = re.compile(r"\A---\r?\n(?P<head>.*?)\r?\n---[ \t]*(\r?\n|\Z)", re.DOTALL)


@attrs.frozen
class SkillFile:
    """One file of a skill: its address, its text, and what it is checked with."""

    uri: str
    kind: str
    name: str
    digest: str
    size: int


@attrs.frozen
class SubjectSkill:
    """The skill of one active subject."""

    uri: str
    frontmatter: dict[str, Any]
    files: tuple[SkillFile, ...]

    def entry(self) -> dict[str, Any]:
        """The skill as `skills/list` and `skills/get` give it."""
        resources = [{"uri": item.uri, "digest": item.digest, "size": item.size} for item in self.files]
        return {"uri": self.uri, "frontmatter": self.frontmatter, "resources": resources}


def subject_skills() -> tuple[SubjectSkill, ...]:
    """The skills of all active subjects, in order of priority; clients keep the list, so it waits for the gate."""
    return tuple(skill for subject in settled_catalogue().subjects if (skill := _skill(subject)) is not None)


def _skill(subject: CatalogueSubject) -> SubjectSkill | None:
    """The skill of a subject, or None when it may not act or its skill cannot be read."""
    from qiongli.contract.nodes import yaml_module
    from qiongli.errors import QiongliError
    from qiongli.resources import list_resources, read_resource

    if subject.listing.state != "active":
        return None
    slug = subject.contract.subject
    files, frontmatter = [], None
    for reference in list_resources(subject.contract, subject.root)[0]:
        try:
            text = read_resource(subject.root, reference)
        except QiongliError:
            return None
        if reference.kind == "skill":
            head = _HEAD.match(text)
            frontmatter = yaml_module().safe_load(head["head"]) if head else None
            path = SKILL_FILE
        else:
            path = str(PurePosixPath(reference.path))
        size = len(text.encode())
        files.append(SkillFile(f"skill://{slug}/{path}", reference.kind, reference.name, reference.checksum, size))
    if not isinstance(frontmatter, dict) or frontmatter.get("name") != slug:
        return None
    return SubjectSkill(f"skill://{slug}/{SKILL_FILE}", frontmatter, tuple(files))


def skill_resources() -> list[Resource]:
    """Every skill's main file as a listed resource, named and described as the skill is."""
    return [
        Resource(
            uri=skill.uri,
            name=str(skill.frontmatter["name"]),
            description=str(skill.frontmatter.get("description", "")),
            mime_type=_MARKDOWN,
        )
        for skill in subject_skills()
    ]


class SubjectSkills(Extension):
    """The extension: lists skills, and gives one by its address; files are read as resources."""

    identifier = "io.modelcontextprotocol/skills"

    def methods(self) -> Sequence[MethodBinding]:
        """`skills/list` and `skills/get`."""
        return (
            MethodBinding("skills/list", PaginatedRequestParams, _list_skills),
            MethodBinding("skills/get", GetSkillParams, _get_skill),
        )


class GetSkillParams(RequestParams):
    """Which skill is wanted."""

    uri: str


async def _list_skills(_: ServerRequestContext[Any, Any], __: PaginatedRequestParams) -> dict[str, Any]:
    skills = await anyio.to_thread.run_sync(subject_skills)
    return {"skills": [skill.entry() for skill in skills], **_CACHE}


async def _get_skill(_: ServerRequestContext[Any, Any], params: GetSkillParams) -> dict[str, Any]:
    skills: Iterable[SubjectSkill] = await anyio.to_thread.run_sync(subject_skills)
    for skill in skills:
        if skill.uri == params.uri:
            return {"skill": skill.entry(), **_CACHE}
    raise _unknown(params.uri)


def _unknown(uri: str) -> MCPError:
    return MCPError(code=INVALID_PARAMS, message=f"this server has no such skill file: {uri[:200]!r}")


def skill_file(skill: str, path: str) -> str:
    """One file of an active subject's skill, as its package ships it."""
    from qiongli.resources import load_resource

    uri = f"skill://{skill}/{path}"
    subject = settled_catalogue().get(skill)
    found = None if subject is None else _skill(subject)
    if subject is not None and found is not None:
        for item in found.files:
            if item.uri == uri:
                return load_resource(subject, item.kind, item.name)[1]
    raise _unknown(uri)


def add_skill_files(server: MCPServer) -> None:
    """Serve the files of the skills."""
    server.resource(ADDRESS, name="skill-file", title="File of a subject's skill", mime_type=_MARKDOWN)(skill_file)
