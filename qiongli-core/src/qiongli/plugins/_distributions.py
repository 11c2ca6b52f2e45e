"""Installed distributions that touch our entry-point groups, read one by one; a broken neighbour harms nobody."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import attrs

SUBJECTS_GROUP: Final = "qiongli.subjects"
PLUGINS_GROUP: Final = "qiongli.plugins"
COMMANDS_GROUP: Final = "qiongli.commands"
GROUPS: Final = (SUBJECTS_GROUP, PLUGINS_GROUP, COMMANDS_GROUP)

_MAXIMUM_ENTRY_POINTS: Final = 1_048_576
_FOLDER: Final = re.compile(
    r"(?P<name>.+?)(?:-(?P<version>[^-]+))?(?:-py[\d.]+)?\.(?P<kind>dist-info|egg-info)", re.IGNORECASE
)


@attrs.frozen
class EntryPoint:
    """One line of a distribution's entry points in one of our groups."""

    group: str
    name: str
    value: str


@attrs.frozen
class Distribution:
    """An installed distribution that touches our groups; `problem` says why its entry points cannot be read."""

    name: str
    version: str
    folder: Path
    entry_points: tuple[EntryPoint, ...] = ()
    problem: str = ""
    #: Group names that look like ours but are not.
    misspelt: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The name in the one spelling that all spellings share (PEP 503)."""
        return canonical(self.name)


def canonical(name: str) -> str:
    """A distribution's name in lower case with runs of `-`, `_` and `.` as one hyphen."""
    return re.sub(r"[-_.]+", "-", name).casefold()


def installed(paths: Sequence[str] | None = None) -> tuple[tuple[Distribution, ...], tuple[str, ...]]:
    """Distributions that touch our groups, sorted, and warnings about leftovers and shadowed versions.

    `paths` are the folders to look in, `sys.path` when None. Metadata of other distributions is never opened.
    """
    found: dict[str, Distribution] = {}
    warnings: list[str] = []
    for path in dict.fromkeys(sys.path if paths is None else paths):
        here: dict[str, list[Distribution]] = {}
        for distribution in _in_folder(Path(path or "."), warnings):
            here.setdefault(distribution.key, []).append(distribution)
        for key, versions in sorted(here.items()):
            # A dist-info outranks the egg-info of an older installation beside it.
            versions.sort(key=lambda item: (item.folder.suffix != ".dist-info", item.folder.name))
            kinds = [item for item in versions if item.folder.suffix == versions[0].folder.suffix]
            chosen = versions[0]
            if len(kinds) > 1:
                names = ", ".join(item.folder.name for item in kinds)
                chosen = attrs.evolve(chosen, problem=f"several versions are installed in one folder: {names}")
            elif len(versions) > 1:
                warnings.append(f"{versions[1].folder.name} is stale: {chosen.folder.name} stands beside it")
            if key in found:
                if chosen.folder.resolve() != found[key].folder.resolve():
                    warnings.append(f"{chosen.folder} is shadowed by {found[key].folder}")
                continue
            found[key] = chosen
    ours = [item for item in found.values() if item.entry_points or item.problem or item.misspelt]
    return tuple(sorted(ours, key=lambda item: (item.key, str(item.folder)))), tuple(warnings)


def _in_folder(folder: Path, warnings: list[str]) -> Iterator[Distribution]:
    """Every distribution of a folder that has entry points in, or near, our groups, or is stale beside one."""
    from importlib_metadata import MetadataPathFinder, PathDistribution

    try:
        candidates = list(MetadataPathFinder.find_distributions(_context(folder)))
    except Exception as error:  # a folder that cannot be listed holds nothing for us
        warnings.append(f"{folder} cannot be searched: {type(error).__name__}")
        return
    for candidate in candidates:
        try:
            location = Path(str(candidate._path)) if isinstance(candidate, PathDistribution) else folder
            yield from _read(location, warnings)
        except Exception as error:  # one unreadable distribution must not hide the others
            warnings.append(f"a distribution in {folder} cannot be read: {type(error).__name__}")


def _context(folder: Path) -> object:
    from importlib_metadata import DistributionFinder

    return DistributionFinder.Context(path=[str(folder)])  # type: ignore[no-untyped-call]


def _read(folder: Path, warnings: list[str]) -> Iterator[Distribution]:
    match = _FOLDER.fullmatch(folder.name)
    if match is None:
        return
    if folder.name.startswith("~"):
        warnings.append(f"{folder} is what an interrupted pip left behind; remove it")
        return
    name, version = match["name"], match["version"] or ""
    file = folder / "entry_points.txt"
    try:
        if file.stat().st_size > _MAXIMUM_ENTRY_POINTS:
            yield Distribution(name, version, folder, problem="entry_points.txt is too large")
            return
        data = file.read_bytes()
    except OSError:
        data = b""
    if b"qiongli" not in data.lower() and not canonical(name).startswith("qiongli"):
        return
    yield _parse(_spelt_name(folder, name), version, folder, data)


def _spelt_name(folder: Path, fallback: str) -> str:
    """The distribution's name as its own metadata spells it, else as its folder does."""
    try:
        with (folder / "METADATA").open(encoding="utf-8") as lines:
            for line in lines:
                if line.startswith("Name:") and canonical(line[5:].strip()) == canonical(fallback):
                    return line[5:].strip()
                if not line.strip():
                    break
    except (OSError, ValueError):
        return fallback
    return fallback


def _parse(name: str, version: str, folder: Path, data: bytes) -> Distribution:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return Distribution(name, version, folder, problem="entry_points.txt is no UTF-8")
    group = ""
    entries: list[EntryPoint] = []
    misspelt: set[str] = set()
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line.startswith(("#", ";")):
            continue
        if line.startswith("[") and line.endswith("]"):
            group = line[1:-1].strip()
            if "qiongli" in group.casefold() and group not in GROUPS:
                misspelt.add(group)
            continue
        if group not in GROUPS:
            continue
        entry, separator, value = line.partition("=")
        if not separator or not entry.strip() or not value.strip():
            return Distribution(name, version, folder, problem=f"entry_points.txt:{number} has no `name = value`")
        entries.append(EntryPoint(group, entry.strip(), value.strip()))
    return Distribution(
        name, version, folder, tuple(sorted(entries, key=attrs.astuple)), misspelt=tuple(sorted(misspelt))
    )
