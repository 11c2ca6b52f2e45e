"""Installed distributions that touch our entry-point groups, read one by one; a broken neighbour harms nobody.

Folders on the path are searched directly: that costs a tenth of importing a metadata library, opens no METADATA of
foreign distributions, and one corrupt folder cannot hide the others. What is no plain folder (zip files, finders of
embedded or frozen installations) is asked through `importlib_metadata`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs

from qiongli.plugins._metadata import (
    COMMANDS_GROUP,
    GROUPS,
    PLUGINS_GROUP,
    SUBJECTS_GROUP,
    Distribution,
    EntryPoint,
    canonical,
    entry_point_lines,
    metadata_kind,
    parse_entry_points,
    read_distribution,
    split_folder_name,
)

if TYPE_CHECKING:
    from importlib_metadata import Distribution as ForeignDistribution

__all__ = [
    "COMMANDS_GROUP",
    "GROUPS",
    "PLUGINS_GROUP",
    "SUBJECTS_GROUP",
    "Distribution",
    "EntryPoint",
    "Scan",
    "canonical",
    "scan",
    "search_folders",
    "search_path",
    "searches_everything",
    "searching",
]

_MAXIMUM_ENTRY_POINTS: Final = 1_048_576
_SUFFIXES: Final = (".dist-info", ".egg-info")


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
    return stem.partition("-")[0] if suffix == "dist-info" and stem.count("-") == 1 else split_folder_name(name)[0]


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
        winner = _newest([folder for place, folder in ranked if _rank(ranked[0]) == (metadata_kind(folder), place)])
        losers = tuple(sorted(folder for _, folder in candidates if folder != winner and not _same(folder, winner)))
        hidden += [(folder, winner) for folder in losers]
        data = {Path(folder): ours[folder] for _, folder in located if folder in ours}
        if winner in data:
            found.append(attrs.evolve(read_distribution(winner, data[winner]), shadows=losers))
    return [item for item in found if item.entry_points or item.problem or item.misspelt], hidden


def _rank(item: tuple[int, Path]) -> tuple[int, int]:
    return metadata_kind(item[1]), item[0]


def _same(one: Path, other: Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def _newest(folders: list[Path]) -> Path:
    """The folder with the newest version; one whose version cannot be compared loses, then the name decides."""
    if len(folders) == 1:
        return folders[0]
    from packaging.version import InvalidVersion, Version

    def age(folder: Path) -> tuple[bool, Any, str]:
        try:
            return True, Version(split_folder_name(folder.name)[1]), folder.name
        except InvalidVersion:
            return False, Version("0"), folder.name

    return max(folders, key=age)


def _resemblance(folder: Path, data: bytes) -> Iterator[tuple[Path, str]]:
    """What is odd about a foreign distribution's entry points: unreadable, or a group that resembles ours."""
    from difflib import get_close_matches

    try:
        groups = {group for _, group, _ in entry_point_lines(data.decode("utf-8"))}
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
        yield parse_entry_points(Distribution(name, version, folder), text.encode())
    except Exception:  # what cannot be read there is not ours to report
        return
