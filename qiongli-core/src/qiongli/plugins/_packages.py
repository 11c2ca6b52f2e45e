"""Where the folder of an import package is: found by looking at the path, never by importing anything."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import attrs

from qiongli.records.subjects import Reason

_MODULE_SUFFIXES: Final = (".py", ".pyc", ".so", ".pyd")


@attrs.frozen(repr=False)  # making a repr costs every start more than printing it is worth
class Package:
    """A regular package: its folder, and further packages of that name later on the path, which it hides."""

    root: Path
    hides: tuple[Path, ...] = ()


def find_package(name: str, paths: Sequence[str], *, ask_finders: bool) -> Package | Reason:
    """Find the folder that `import name` would load, or say why there is none that may be used.

    Only a regular package in a plain folder will do: a namespace portion could be extended by anybody, and a zip file
    has no folder to read resources from. With `ask_finders`, editable installations that work through an import hook
    are found as well.
    """
    found: list[Path] = []
    namespaces: list[Path] = []
    for path in dict.fromkeys(path or os.curdir for path in paths):
        folder = os.path.join(path, name)  # noqa: PTH118  # plain texts on the hot way
        if _is_regular(folder):
            found.append(Path(folder))
            continue
        obstacle = None if found else _obstacle(path, name)
        if obstacle is not None:
            return obstacle
        if os.path.isdir(folder):  # noqa: PTH112  # the same
            namespaces.append(Path(folder))
    if not found and ask_finders:
        found += [root for root in _asked(name) if _is_regular(os.fspath(root))]
    if found:
        root = found[0]
        real = os.path.realpath(root)
        return Package(root, tuple(path for path in found[1:] if os.path.realpath(path) != real))
    if namespaces:
        where = ", ".join(str(path) for path in namespaces)
        return Reason(
            "namespace_package",
            f"{name!r} is a namespace portion, which anybody could extend: {where} has no __init__.py",
            "Add an __init__.py to the package, and publish it again",
        )
    return Reason("package_missing", f"its import package {name!r} is not there")


def _is_regular(folder: str) -> bool:
    return os.path.isfile(os.path.join(folder, "__init__.py"))  # noqa: PTH113, PTH118  # plain texts on the hot way


def _obstacle(path: str, name: str) -> Reason | None:
    """What Python would import from this place of the path instead of a regular package."""
    if os.path.isfile(path):  # noqa: PTH113  # plain texts on the hot way
        return _in_archive(path, name)
    for suffix in _MODULE_SUFFIXES:
        module = os.path.join(path, name + suffix)  # noqa: PTH118  # the same
        if os.path.isfile(module):  # noqa: PTH113  # the same
            return Reason(
                "no_package",
                f"{name!r} is a single module, {module}, and no package with a contract in it",
                "Name the import package that holds runtime-subject.yaml",
            )
    return None


def _in_archive(path: str, name: str) -> Reason | None:
    from zipimport import ZipImportError, zipimporter

    try:
        inside = zipimporter(path).find_spec(name) is not None
    except (ZipImportError, OSError, ValueError):
        return None
    if not inside:
        return None
    return Reason(
        "zip_import",
        f"{name!r} is inside the zip file {path}; a subject's resources are read from a folder",
        "Install it unpacked: python -m pip install",
    )


def _asked(name: str) -> Iterator[Path]:
    """Folders that import hooks of editable installations name; the standard finders look where we did already."""
    from importlib.machinery import BuiltinImporter, FrozenImporter, PathFinder

    for finder in sys.meta_path:
        if finder in (BuiltinImporter, FrozenImporter, PathFinder):
            continue
        try:
            spec = finder.find_spec(name, None, None)
        except Exception:  # noqa: S112  # somebody else's finder; the next may know
            continue
        if spec is not None and spec.origin and spec.submodule_search_locations:
            yield Path(spec.origin).parent
