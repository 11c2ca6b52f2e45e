"""The formats of the resources that a subject brings: overlay, domain profile, method pack, venue profile, skill."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from qiongli.contract.format import NAME, NAME_TEXT, SLUG_TEXT
from qiongli.contract.nodes import decode, parse, parse_text
from qiongli.contract.problems import Problems
from qiongli.contract.rules import version_is_readable
from qiongli.contract.shapes import MISSING, Choice, Integer, Text
from qiongli.contract.structures import Field, ListOf, MapOf, Structure
from qiongli.records.resources import ResourceKind

_LINE: Final = Text(phrase="a text of one line", maximum=300)
_PROSE: Final = Text(phrase="a text", maximum=4000, lines=True)
_POINTS: Final = ListOf(_PROSE, minimum=1, maximum=200)

SOURCE: Final = Structure(
    name="source",
    fields=(
        Field("author", _LINE, "Authors or the body that issues it.", required=True),
        Field("year", Integer(minimum=1500, maximum=2100), "Year of publication.", required=True),
        Field("title", _LINE, "Title.", required=True),
        Field("venue", _LINE, "Journal, publisher or series."),
    ),
)
_SOURCES: Final = ListOf(SOURCE, minimum=1, maximum=200)


def _format(kind: ResourceKind, *fields: Field) -> Structure:
    head = (
        Field("kind", Choice(values=(kind,), noun="kind"), f"`{kind}`.", required=True),
        Field(
            "schema_version",
            Text(phrase="`1.0`", maximum=20, pattern=r"[0-9]+(\.[0-9]+)?", verbatim=True),
            "Version of this format.",
            required=True,
        ),
    )
    return Structure(name=kind.replace("_", " "), fields=(*head, *fields))


OVERLAY: Final = _format(
    "overlay",
    Field("subject", SLUG_TEXT, "The contract's subject.", required=True),
    Field("title", _LINE, "Title.", required=True),
    Field(
        "standards",
        ListOf(
            Structure(
                name="standard",
                fields=(
                    Field("id", NAME_TEXT, "Id inside the overlay.", required=True),
                    Field("title", _LINE, "The standard in a few words.", required=True),
                    Field("guidance", _PROSE, "What work of the subject has to do.", required=True),
                    Field("sources", ListOf(SOURCE, maximum=50), "Where the standard is stated."),
                ),
            ),
            minimum=1,
            maximum=200,
        ),
        "What the subject demands of research.",
        required=True,
    ),
    Field("review_questions", _POINTS, "What a reviewer of the subject asks.", required=True),
    Field("sources", _SOURCES, "What the overlay rests on.", required=True),
)

DOMAIN_PROFILE: Final = _format(
    "domain_profile",
    Field("subject", SLUG_TEXT, "The contract's subject.", required=True),
    Field("display_name", _LINE, "How people call the subject.", required=True),
    Field("scope", _PROSE, "What belongs to the subject, and what does not.", required=True),
    Field("subfields", _POINTS, "Its fields.", required=True),
    Field(
        "data_sources",
        ListOf(
            Structure(
                name="data source",
                fields=(
                    Field("name", _LINE, "Name of the data.", required=True),
                    Field("note", _PROSE, "What it holds, and its traps.", required=True),
                ),
            ),
            minimum=1,
            maximum=200,
        ),
        "Data that the subject works with.",
        required=True,
    ),
    Field("outcomes", _POINTS, "What it usually explains or measures.", required=True),
    Field("classifications", ListOf(_PROSE, maximum=200), "Classification codes.", required=True),
    Field("sources", _SOURCES, "What the profile rests on.", required=True),
)

METHOD_PACK: Final = _format(
    "method_pack",
    Field("slug", NAME_TEXT, "The slug of the lens.", required=True),
    Field("title", _LINE, "Title.", required=True),
    Field("subject", SLUG_TEXT, "The contract's subject.", required=True),
    Field("purpose", _PROSE, "What the method answers.", required=True),
    Field("when_to_use", _POINTS, "When it fits, and when not.", required=True),
    Field("assumptions", _POINTS, "What it assumes.", required=True),
    Field("steps", _POINTS, "How it is done.", required=True),
    Field("diagnostics", _POINTS, "How to notice that it fails.", required=True),
    Field("pitfalls", _POINTS, "What goes wrong.", required=True),
    Field("reporting", _POINTS, "What to report.", required=True),
    Field("sources", _SOURCES, "What the pack rests on.", required=True),
)

VENUE_PROFILE: Final = _format(
    "venue_profile",
    Field("slug", NAME_TEXT, "The slug of the venue.", required=True),
    Field("name", _LINE, "Name of the venue.", required=True),
    Field("subject", SLUG_TEXT, "The contract's subject."),
    Field("aims", _PROSE, "What it publishes.", required=True),
    Field("expectations", _POINTS, "What it expects of a paper.", required=True),
    Field("sources", _SOURCES, "What the profile rests on.", required=True),
)

#: The rules of the Agent Skills format for the head of `SKILL.md`.
SKILL: Final = Structure(
    name="skill",
    fields=(
        Field(
            "name",
            Text(phrase="1 to 64 lower-case letters, digits and single hyphens", maximum=64, pattern=NAME),
            "The name of the skill's folder.",
            required=True,
        ),
        Field("description", Text(phrase="a text", maximum=1024, lines=True), "When to use the skill.", required=True),
        Field("license", _LINE, "Licence."),
        Field("compatibility", Text(phrase="a text", maximum=500), "What the skill needs."),
        Field("metadata", MapOf(Text(phrase="a key", maximum=64), _LINE, maximum=50), "Further keys and texts."),
        Field("allowed-tools", _LINE, "Tools that the skill may use."),
    ),
)

FORMATS: Final[Mapping[ResourceKind, Structure]] = MappingProxyType(
    {
        "domain_profile": DOMAIN_PROFILE,
        "overlay": OVERLAY,
        "skill": SKILL,
        "method_pack": METHOD_PACK,
        "venue_profile": VENUE_PROFILE,
    }
)


def check_resource(kind: ResourceKind, data: bytes, *, subject: str, name: str, path: str, problems: Problems) -> None:
    """Report what is wrong with a resource of the subject `subject` that the contract calls `name`.

    `path` is the path inside the package: a skill's name must be that of its folder.
    """
    if kind == "skill":
        _check_skill(data, path, problems)
        return
    root = parse(data, problems)
    if root is None or not version_is_readable(root, problems):
        return
    values: dict[str, Any] = FORMATS[kind].read(root, "", problems)
    for key, expected in (("subject", subject), ("slug", name)):
        if values.get(key, expected) != expected:
            problems.report(
                "invalid_resource",
                f"the resource says {values[key]!r}",
                field=key,
                expected=f"{expected}, as the contract",
            )
    if kind == "overlay":
        _check_standards(values, problems)


def _check_standards(values: dict[str, Any], problems: Problems) -> None:
    seen: set[str] = set()
    for standard in values.get("standards", ()):
        identifier = standard.get("id", "")
        if identifier in seen:
            problems.report(
                "duplicate_id", f"the standard {identifier!r} stands twice", field=f"{standard['place']}.id"
            )
        seen.add(identifier)


def _check_skill(data: bytes, path: str, problems: Problems) -> None:
    folder, _, file = path.rpartition("/")
    if file != "SKILL.md":
        problems.report("invalid_resource", "a skill is a file SKILL.md in a folder of its own", expected="SKILL.md")
    text = decode(data, problems)
    if text is None:
        return
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        problems.report("invalid_resource", "the skill has no head between lines of ---", line=1, expected="---")
        return
    end = next((number for number, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), None)
    if end is None:
        problems.report("invalid_resource", "the head of the skill is not closed by a line of ---", line=1)
        return
    # An empty first line instead of the marker keeps the numbers of all lines.
    root = parse_text("\n".join(["", *lines[1:end]]), problems)
    if root is not None:
        name = SKILL.read(root, "", problems).get("name", MISSING)
        expected = folder.rpartition("/")[2]
        if name is not MISSING and name != expected:
            problems.report("invalid_resource", f"the skill is called {name!r}", field="name", expected=expected)
    if not "\n".join(lines[end + 1 :]).strip():
        problems.report("invalid_resource", "the skill says nothing after its head", line=end + 1)
