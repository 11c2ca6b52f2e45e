"""Installed distributions that touch our entry-point groups, read one by one; a broken neighbour harms nobody.

Folders on the path are searched directly: that costs a tenth of importing a metadata library, opens no METADATA of
foreign distributions, and one corrupt folder cannot hide the others. What is no plain folder (zip files, finders of
embedded or frozen installations) is asked through `importlib_metadata`.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs

from qiongli.records.subjects import Reason

if TYPE_CHECKING:
    from importlib_metadata import Distribution as ForeignDistribution

SUBJECTS_GROUP: Final = "qiongli.subjects"
PLUGINS_GROUP: Final = "qiongli.plugins"
COMMANDS_GROUP: Final = "qiongli.commands"
#: Every group that core reads.
GROUPS: Final = (SUBJECTS_GROUP, PLUGINS_GROUP, COMMANDS_GROUP)

_MAXIMUM_ENTRY_POINTS: Final = 1_048_576
_MAXIMUM_METADATA: Final = 65_536
_SUFFIXES: Final = (".dist-info", ".egg-info")
_NAME: Final = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"


@attrs.frozen
class EntryPoint:
    """One line of a distribution's entry points in one of our groups."""

    group: str
    name: str
    value: str


@attrs.frozen
class Distribution:
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


@attrs.frozen(repr=False)  # making a repr costs every start more than printing it is worth
class Scan:
    """What a search of the path found; every part is sorted, whatever the order on disk."""

    distributions: tuple[Distribution, ...]
    #: Metadata folders with our entry points that lost against another of the same distribution: loser, winner.
    hidden: tuple[tuple[Path, Path], ...] = ()
    #: Metadata folders that an interrupted pip left behind.
    leftovers: tuple[Path, ...] = ()
    #: Foreign distributions with unreadable entry points, and groups of theirs that resemble ours; only when asked.
    neighbours: tuple[tuple[Path, str], ...] = ()


def canonical(name: str) -> str:
    """A distribution's name in lower case with runs of `-`, `_` and `.` as one hyphen."""
    key = name.strip().lower().replace("_", "-").replace(".", "-")
    while "--" in key:
        key = key.replace("--", "-")
    return key


_instead: list[tuple[str, ...] | None] = []


def search_path() -> list[str]:
    """The folders that are searched when nobody names others: Python's own path."""
    instead = _instead[-1] if _instead else None
    return list(sys.path if instead is None else instead)


def search_folders(paths: Sequence[str] | None) -> list[str]:
    """The folders of a search, in order, each as an absolute path that follows no link."""
    raw = search_path() if paths is None else paths
    return [os.path.abspath(path or os.curdir) for path in raw if isinstance(path, str | os.PathLike)]  # noqa: PTH100


def searches_everything(paths: Sequence[str] | None) -> bool:
    """Whether import hooks and unusual finders take part: only when really everything is searched."""
    return paths is None and (not _instead or _instead[-1] is None)


@contextmanager
def searching(paths: Sequence[str] | None) -> Iterator[None]:
    """Search these folders instead of Python's path while the context lasts: tests see nothing that is installed.

    None inside such a context stands for Python's path again.
    """
    _instead.append(None if paths is None else tuple(paths))
    try:
        yield
    finally:
        _instead.pop()


def scan(paths: Sequence[str] | None = None, *, neighbours: bool = False) -> Scan:
    """Find the distributions that touch our groups in the folders of `paths`, Python's own path when None.

    Of one distribution in several folders the first folder's counts, as for an import; a dist-info outranks an
    egg-info everywhere, and within one folder the newest version. With `neighbours`, foreign entry points are judged
    as well, which `doctor` does.
    """
    order = {path: place for place, path in reversed(list(enumerate(search_folders(paths))))}
    # Plain texts until it is known whose folder it is: thousands of paths would cost more than the search.
    places: dict[str, list[tuple[int, str]]] = {}
    ours: dict[str, bytes | None] = {}
    leftovers: list[Path] = []
    others: list[tuple[Path, str]] = []
    archives: list[str] = []
    for path, place in sorted(order.items(), key=lambda item: item[1]):
        names = _listing(path)
        if names is None:
            if os.path.isfile(path):  # noqa: PTH113  # plain texts on the hot way
                archives.append(path)
            continue
        for name in names:
            if name.startswith("~"):
                leftovers.append(Path(path, name))
                continue
            folder = f"{path}{os.sep}{name}"
            places.setdefault(canonical(_project(name)), []).append((place, folder))
            data = _entry_points(f"{folder}{os.sep}entry_points.txt")
            if data is None or b"qiongli" in data.lower():
                ours[folder] = data
            elif neighbours and data:
                others += _resemblance(Path(folder), data)
    found, hidden = _choose(places, ours)
    found += _others(archives, default=searches_everything(paths))
    first: dict[str, Distribution] = {}
    for distribution in found:
        first.setdefault(distribution.key, distribution)
    return Scan(
        tuple(sorted(first.values(), key=lambda item: (item.key, str(item.folder)))),
        tuple(sorted(hidden)),
        tuple(sorted(leftovers)),
        tuple(sorted(others)),
    )


def _listing(path: str) -> list[str] | None:
    """Names of the metadata folders in a folder of the path; None when it is no folder that can be listed."""
    try:
        names = os.listdir(path)  # noqa: PTH208  # names are wanted, not paths
    except (OSError, ValueError):
        return None
    found = sorted(name for name in names if name.lower().endswith(_SUFFIXES))
    if path.lower().endswith(".egg") and "EGG-INFO" in names:
        found.append("EGG-INFO")
    return found


def _project(name: str) -> str:
    """The name of the project that a metadata folder states; the common form is cut without looking further."""
    stem, _, suffix = name.rpartition(".")
    return stem.partition("-")[0] if suffix == "dist-info" and stem.count("-") == 1 else _split(name)[0]


def _split(name: str) -> tuple[str, str]:
    """Name and version that the name of a metadata folder states; the version may be empty."""
    stem, _, suffix = name.rpartition(".")
    if not stem:
        return name, ""
    if suffix.lower() == "egg-info":
        stem = re.sub(r"-py\d+(\.\d+)*$", "", stem)
    project, separator, version = stem.rpartition("-")
    return (project, version) if separator and version[:1].isdigit() else (stem, "")


def _entry_points(path: str) -> bytes | None:
    """The bytes of entry points; empty when there are none, None when they cannot be read or are too large."""
    try:
        with open(path, "rb") as stream:  # noqa: PTH123  # plain texts on the hot way
            data = stream.read(_MAXIMUM_ENTRY_POINTS + 1)
    except (FileNotFoundError, NotADirectoryError):
        return b""
    except OSError:
        return None
    return data if len(data) <= _MAXIMUM_ENTRY_POINTS else None


def _choose(
    places: dict[str, list[tuple[int, str]]], ours: dict[str, bytes | None]
) -> tuple[list[Distribution], list[tuple[Path, Path]]]:
    """Of every distribution with our entry points somewhere, the metadata folder that counts, read."""
    found: list[Distribution] = []
    hidden: list[tuple[Path, Path]] = []
    for located in places.values():
        if not any(folder in ours for _, folder in located):
            continue
        candidates = [(place, Path(folder)) for place, folder in located]
        ranked = sorted(candidates, key=lambda item: (*_rank(item), item[1].name))
        winner = _newest([folder for place, folder in ranked if _rank(ranked[0]) == (_kind(folder), place)])
        losers = tuple(sorted(folder for _, folder in candidates if folder != winner and not _same(folder, winner)))
        hidden += [(folder, winner) for folder in losers]
        data = {Path(folder): ours[folder] for _, folder in located if folder in ours}
        if winner in data:
            found.append(attrs.evolve(_read(winner, data[winner]), shadows=losers))
    return [item for item in found if item.entry_points or item.problem or item.misspelt], hidden


def _kind(folder: Path) -> int:
    return 0 if folder.suffix.lower() == ".dist-info" else 1


def _rank(item: tuple[int, Path]) -> tuple[int, int]:
    return _kind(item[1]), item[0]


def _same(one: Path, other: Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def _newest(folders: list[Path]) -> Path:
    """The folder with the newest version; one whose version cannot be compared loses, then the name decides."""
    if len(folders) == 1:
        return folders[0]
    from packaging.version import InvalidVersion, Version

    def age(folder: Path) -> tuple[bool, Any, str]:
        try:
            return True, Version(_split(folder.name)[1]), folder.name
        except InvalidVersion:
            return False, Version("0"), folder.name

    return max(folders, key=age)


def _read(folder: Path, data: bytes | None) -> Distribution:
    """One distribution, whatever is wrong with it."""
    project, version = _split(folder.name)
    if folder.name == "EGG-INFO":
        project, version = _split(f"{folder.parent.name.removesuffix('.egg')}.egg-info")
    stated_name, stated_version, problem = _identity(folder)
    if problem is None and stated_name and canonical(stated_name) != canonical(project):
        problem = Reason(
            "metadata_contradictory", f"its metadata names it {stated_name!r}, its folder {folder.name!r} does not"
        )
    elif stated_name:
        project = stated_name
    return _parse(Distribution(project, stated_version or version, folder, problem=problem), data)


def _identity(folder: Path) -> tuple[str, str, Reason | None]:
    """Name and version as the distribution's own metadata states them, or why they cannot be read."""
    if folder.is_file():
        return "", "", None
    file = folder / ("METADATA" if _kind(folder) == 0 else "PKG-INFO")
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


def _parse(distribution: Distribution, data: bytes | None) -> Distribution:
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
    for number, group, line in _lines(text):
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


def _lines(text: str) -> Iterator[tuple[int, str, str]]:
    """Line number, group and text of every line; a heading is an empty line of its group."""
    group = ""
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line.startswith(("#", ";")):
            continue
        if line.startswith("[") and line.endswith("]"):
            group, line = line[1:-1].strip(), ""
        yield number, group, line


def _resemblance(folder: Path, data: bytes) -> Iterator[tuple[Path, str]]:
    """What is odd about a foreign distribution's entry points: unreadable, or a group that resembles ours."""
    from difflib import get_close_matches

    try:
        groups = {group for _, group, _ in _lines(data.decode("utf-8"))}
    except UnicodeDecodeError:
        yield folder, "its entry_points.txt is not UTF-8"
        return
    for group in sorted(groups):
        near = get_close_matches(group.casefold(), GROUPS, n=1, cutoff=0.75)
        if near:
            yield folder, f"its entry-point group {group!r} is read by nobody here; did you mean {near[0]}?"


def _others(archives: Iterable[str], *, default: bool) -> list[Distribution]:
    """Distributions in zip files, and those that only a finder of an unusual installation knows."""
    finders = [finder for finder in sys.meta_path if default and _is_unusual(finder)]
    if not archives and not finders:
        return []
    from importlib_metadata import DistributionFinder, MetadataPathFinder

    context = DistributionFinder.Context
    sources: list[Any] = [
        lambda path=path: MetadataPathFinder.find_distributions(context(path=[path]))  # type: ignore[no-untyped-call]
        for path in archives
        if path.lower().endswith((".zip", ".egg", ".whl", ".pyz"))
    ]
    sources += [
        lambda finder=finder: finder.find_distributions(context())  # type: ignore[no-untyped-call]
        for finder in finders
    ]
    found: list[Distribution] = []
    for source in sources:
        try:
            candidates = list(source())
        except Exception:  # noqa: S112  # an unreadable archive or finder has nothing for us
            continue
        for candidate in candidates:
            found += _foreign(candidate)
    return found


def _is_unusual(finder: object) -> bool:
    from importlib.machinery import PathFinder

    if finder is PathFinder or type(finder).__name__ == "MetadataPathFinder":
        return False
    return callable(getattr(finder, "find_distributions", None))


def _foreign(candidate: ForeignDistribution) -> Iterator[Distribution]:
    try:
        text = candidate.read_text("entry_points.txt") or ""
        if "qiongli" not in text.lower():
            return
        folder = Path(str(getattr(candidate, "_path", "") or candidate.locate_file("")))
        name, version = str(candidate.metadata["Name"]), str(candidate.version)
        yield _parse(Distribution(name, version, folder), text.encode())
    except Exception:  # what cannot be read there is not ours to report
        return
