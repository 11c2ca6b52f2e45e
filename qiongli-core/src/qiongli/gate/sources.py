"""Where a subject's sources are: a promotion changes files of a source tree, never those of an installed wheel."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Final

import attrs

from qiongli.contract.loader import load_contract
from qiongli.contract.models import CONTRACT_FILE
from qiongli.errors import InputError, QiongliError, StateRefusedError, UnknownSubjectError
from qiongli.evaluation.catalogue import as_subject
from qiongli.plugins._distributions import canonical
from qiongli.plugins.catalogue import CORE_ORDER, Catalogue, CatalogueSubject

_SITE_FOLDERS: Final = ("site-packages", "dist-packages")


@attrs.frozen
class Source:
    """A subject to be measured: the subject, those admitted before it, and whether its files may be changed."""

    subject: CatalogueSubject
    peers: tuple[CatalogueSubject, ...]
    #: Why the files may not be changed; empty when they may.
    refusal: str = ""


def find_source(argument: str, catalogue: Catalogue) -> Source:
    """The subject that a slug or a path means.

    A path is a contract, its package, or the source tree around that, installed or not. Raises `UnknownSubjectError`
    or `InputError`.
    """
    path = Path(argument)
    # An installed slug means the subject, whatever folder of the same name stands here.
    subject = catalogue.get(argument)
    if subject is not None:
        return Source(subject, _peers(subject, catalogue), _refusal(subject))
    if not _looks_like_path(argument, path):
        raise _unknown(argument, catalogue)
    root = package_root(path)
    contract = load_contract(root / CONTRACT_FILE)
    installed = catalogue.get(contract.subject)
    if installed is not None and installed.root.resolve() == root.resolve():
        return Source(attrs.evolve(installed, contract=contract), _peers(installed, catalogue), _refusal(installed))
    project = _project(root)
    subject = as_subject(
        contract, root, distribution=str(project.get("name", "")), version=str(project.get("version", ""))
    )
    refusal = "it lies in a folder of installed packages" if _in_site_folder(root) else ""
    if not project.get("name"):
        refusal = refusal or "no pyproject.toml above it names its distribution"
    return Source(subject, _peers(subject, catalogue), refusal)


def _looks_like_path(argument: str, path: Path) -> bool:
    return "/" in argument or "\\" in argument or argument in (".", "..") or path.suffix == ".yaml" or path.is_dir()


def _unknown(slug: str, catalogue: Catalogue) -> QiongliError:
    available = tuple(sorted(subject.contract.subject for subject in catalogue.subjects))
    return UnknownSubjectError(
        f"no readable subject {slug!r} is installed",
        available=available,
        hint="Name an installed subject, or the path of its source tree",
    )


def package_root(path: Path) -> Path:
    """The import package that a path means: itself, the folder of a contract, or the only one in a source tree."""
    if path.is_file():
        if path.name != CONTRACT_FILE:
            raise InputError(f"{str(path)!r} is not called {CONTRACT_FILE}", code="no_contract", expected=CONTRACT_FILE)
        return path.parent
    if (path / CONTRACT_FILE).is_file():
        return path
    found = sorted({*path.glob(f"*/{CONTRACT_FILE}"), *path.glob(f"src/*/{CONTRACT_FILE}")})
    if len(found) != 1:
        what = "holds several contracts" if found else f"holds no {CONTRACT_FILE}"
        raise InputError(
            f"{str(path)!r} {what}",
            code="several_contracts" if found else "no_contract",
            available=tuple(str(item.parent) for item in found),
            hint="" if found else "Make a subject: qiongli contract new SLUG",
        )
    return found[0].parent


def _project(root: Path) -> dict[str, Any]:
    """The `[project]` table of the source tree around a package: above `src/PACKAGE` or beside `PACKAGE`."""
    for folder in (root.resolve().parent, root.resolve().parent.parent):
        try:
            with (folder / "pyproject.toml").open("rb") as stream:
                table = tomllib.load(stream).get("project", {})
        except (OSError, tomllib.TOMLDecodeError):
            continue
        return table if isinstance(table, dict) else {}
    return {}


def _in_site_folder(root: Path) -> bool:
    return any(part in _SITE_FOLDERS for part in root.resolve().parts)


def _refusal(subject: CatalogueSubject) -> str:
    """Why an installed subject's files may not be changed: only an editable installation leads to sources."""
    if _in_site_folder(subject.root):
        return f"{subject.listing.distribution} is an installed wheel"
    return ""


def _peers(candidate: CatalogueSubject, catalogue: Catalogue) -> tuple[CatalogueSubject, ...]:
    """The active subjects that are admitted before the candidate, in order."""
    active = [subject for subject in catalogue.subjects if subject.listing.state == "active"]
    own = admission_rank(candidate)
    slug = candidate.contract.subject
    position = next((item.priority for item in catalogue.subjects if item.contract.subject == slug), None)
    if position is not None:
        return tuple(subject for subject in active if subject.priority < position)
    return tuple(subject for subject in active if admission_rank(subject) < own)


def admission_rank(subject: CatalogueSubject) -> tuple[int, str, str]:
    """Where a subject that is not installed would stand: core's own first, then by distribution name."""
    slug = subject.contract.subject
    rank = CORE_ORDER.index(slug) if slug in CORE_ORDER else len(CORE_ORDER)
    return rank, canonical(subject.listing.distribution), slug


def check_changeable(source: Source, action: str) -> None:
    """Raise `StateRefusedError` (`not_a_source_tree`) unless the subject's files are sources."""
    if source.refusal:
        raise StateRefusedError(
            f"cannot {action} {source.subject.contract.subject}: {source.refusal}",
            code="not_a_source_tree",
            place=str(source.subject.root),
            expected="the path of a source tree, or an editable installation",
            hint="Clone the sources, and run: qiongli gate " + f"{action} PATH",
        )
