"""One installed distribution as its metadata states it: name, version and entry points, whatever is wrong with them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import attrs

from qiongli._value import Value
from qiongli.records.subjects import Reason

SUBJECTS_GROUP: Final = "qiongli.subjects"
PLUGINS_GROUP: Final = "qiongli.plugins"
COMMANDS_GROUP: Final = "qiongli.commands"
#: Every group that core reads.
GROUPS: Final = (SUBJECTS_GROUP, PLUGINS_GROUP, COMMANDS_GROUP)

_MAXIMUM_METADATA: Final = 65_536
_NAME: Final = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"


@attrs.frozen(repr=False)
class EntryPoint(Value):
    """One line of a distribution's entry points in one of our groups."""

    group: str
    name: str
    value: str


@attrs.frozen(repr=False)
class Distribution(Value):
    """An installed distribution that touches our groups; `problem` says why it cannot be used.

    `folder` is that of its metadata. `misspelt` are groups that look like ours and are not; `shadows` are metadata
    folders of the same distribution that do not count.
    """

    name: str
    version: str
    folder: Path
    entry_points: tuple[EntryPoint, ...] = ()
    problem: Reason | None = None
    misspelt: tuple[str, ...] = ()
    shadows: tuple[Path, ...] = ()

    @property
    def key(self) -> str:
        """The name in the one spelling that all spellings share (PEP 503)."""
        return canonical(self.name)

    def in_group(self, group: str) -> tuple[EntryPoint, ...]:
        """The entry points of one group."""
        return tuple(entry for entry in self.entry_points if entry.group == group)


def canonical(name: str) -> str:
    """A distribution's name in lower case with runs of `-`, `_` and `.` as one hyphen."""
    key = name.strip().lower().replace("_", "-").replace(".", "-")
    while "--" in key:
        key = key.replace("--", "-")
    return key


def split_folder_name(name: str) -> tuple[str, str]:
    """Name and version that the name of a metadata folder states; the version may be empty."""
    stem, _, suffix = name.rpartition(".")
    if not stem:
        return name, ""
    if suffix.lower() == "egg-info":
        stem = re.sub(r"-py\d+(\.\d+)*$", "", stem)
    project, separator, version = stem.rpartition("-")
    return (project, version) if separator and version[:1].isdigit() else (stem, "")


def metadata_kind(folder: Path) -> int:
    return 0 if folder.suffix.lower() == ".dist-info" else 1


def read_distribution(folder: Path, data: bytes | None) -> Distribution:
    """One distribution, whatever is wrong with it."""
    project, version = split_folder_name(folder.name)
    if folder.name == "EGG-INFO":
        project, version = split_folder_name(f"{folder.parent.name.removesuffix('.egg')}.egg-info")
    stated_name, stated_version, problem = _identity(folder)
    if problem is None and stated_name and canonical(stated_name) != canonical(project):
        problem = Reason(
            "metadata_contradictory", f"its metadata names it {stated_name!r}, its folder {folder.name!r} does not"
        )
    elif stated_name:
        project = stated_name
    return parse_entry_points(Distribution(project, stated_version or version, folder, problem=problem), data)


def _identity(folder: Path) -> tuple[str, str, Reason | None]:
    """Name and version as the distribution's own metadata states them, or why they cannot be read."""
    if folder.is_file():
        return "", "", None
    file = folder / ("METADATA" if metadata_kind(folder) == 0 else "PKG-INFO")
    try:
        with file.open("rb") as stream:
            data = stream.read(_MAXIMUM_METADATA)
    except FileNotFoundError:
        return "", "", Reason("metadata_missing", f"its {file.name} is missing")
    except OSError as error:
        return "", "", Reason("metadata_unreadable", f"its {file.name} cannot be read ({type(error).__name__})")
    fields: dict[str, str] = {}
    for line in data.decode("utf-8", "replace").splitlines():
        field, separator, value = line.partition(":")
        if not line.strip() or not separator:
            break
        fields.setdefault(field.strip().lower(), value.strip())
    name, version = fields.get("name", ""), fields.get("version", "")
    if not re.fullmatch(_NAME, name) or not version:
        return "", "", Reason("metadata_unreadable", f"its {file.name} states no name and version")
    return name, version, None


def parse_entry_points(distribution: Distribution, data: bytes | None) -> Distribution:
    """The distribution with its entry points; a problem of the metadata stands before one of the entry points."""

    def broken(message: str) -> Distribution:
        problem = distribution.problem or Reason("entry_points_unreadable", message)
        return attrs.evolve(distribution, problem=problem)

    if data is None:
        return broken("its entry_points.txt is too large or cannot be read")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return broken("its entry_points.txt is not UTF-8")
    entries: list[EntryPoint] = []
    misspelt: set[str] = set()
    fault = ""
    for number, group, line in entry_point_lines(text):
        if group not in GROUPS:
            if "qiongli" in group.casefold():
                misspelt.add(group)
            continue
        if not line:
            continue
        name, separator, value = line.partition("=")
        if not separator or not name.strip() or not value.strip():
            fault = fault or f"line {number} of its entry_points.txt is not `name = value`"
            continue
        entry = EntryPoint(group, name.strip(), value.strip())
        if entry not in entries:
            entries.append(entry)
    read = attrs.evolve(
        distribution, entry_points=tuple(sorted(entries, key=attrs.astuple)), misspelt=tuple(sorted(misspelt))
    )
    if fault and read.problem is None:
        return attrs.evolve(read, problem=Reason("entry_points_malformed", fault))
    return read


def entry_point_lines(text: str) -> Iterator[tuple[int, str, str]]:
    """Line number, group and text of every line; a heading is an empty line of its group."""
    group = ""
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line.startswith(("#", ";")):
            continue
        if line.startswith("[") and line.endswith("]"):
            group, line = line[1:-1].strip(), ""
        yield number, group, line
