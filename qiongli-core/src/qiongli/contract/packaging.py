"""A subject's package as a whole: its contract, and the files that the contract names, found without importing it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

import attrs

from qiongli.contract.kinds import MAXIMUM_RESOURCE, check_resource
from qiongli.contract.loader import read_contract
from qiongli.contract.models import CONTRACT_FILE, SubjectContract
from qiongli.contract.nodes import decode, read_bytes
from qiongli.contract.paths import Located, locate
from qiongli.contract.problems import Problems
from qiongli.errors import QiongliError
from qiongli.records.resources import ResourceKind
from qiongli.records.subjects import ACTIVATION_STATUSES

#: Most files that are looked at when links are searched that leave the package.
MAXIMUM_FILES: Final = 20_000

#: Kinds without which a subject cannot be suggested, only lend lenses.
REQUIRED_KINDS: Final[tuple[ResourceKind, ...]] = ("overlay", "skill")

_STATUS_LINE: Final = re.compile(r"(?im)^.*activation[ _]status.*$")


@attrs.frozen
class DeclaredResource:
    """A resource as the contract declares it; `field` is the place of its path in the contract."""

    kind: ResourceKind
    name: str
    path: str
    field: str
    optional: bool = False


@attrs.frozen
class MissingResource:
    """A declared, or required and undeclared, resource that cannot be read; `path` is empty when undeclared.

    `lowers` is true when the subject may not be active without it; `escapes` when its path leaves the package.
    """

    kind: ResourceKind
    name: str
    path: str
    reason: str
    lowers: bool = False
    escapes: bool = False


@attrs.frozen
class ResourceState:
    """Which of a contract's files are there; contents are not judged.

    `available_lenses` are the slugs whose pack resolves; `notes` say which lenses are disabled, and why.
    """

    available_lenses: frozenset[str]
    missing: tuple[MissingResource, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def can_be_active(self) -> bool:
        """Whether nothing is missing that an active subject must have: an overlay and a skill."""
        return not any(missing.lowers for missing in self.missing)


def declared_resources(contract: SubjectContract) -> tuple[DeclaredResource, ...]:
    """Every resource that the contract names, in the order of authority: overlay, skill, profile, packs, venues."""
    found = [
        DeclaredResource(kind, contract.subject, path, field)
        for kind, field, path in _single_resources(contract)
        if path is not None
    ]
    found += [
        DeclaredResource("method_pack", lens.slug, lens.pack, f"method_lenses.{lens.slug}", lens.optional)
        for lens in contract.method_lenses
    ]
    found += [
        DeclaredResource("venue_profile", slug, path, f"venue_profiles.{slug}")
        for slug, path in contract.venue_profiles.items()
    ]
    return tuple(found)


def _single_resources(contract: SubjectContract) -> tuple[tuple[ResourceKind, str, str | None], ...]:
    return (
        ("overlay", "overlay", contract.overlay),
        ("skill", "subject_skill", contract.subject_skill),
        ("domain_profile", "domain_profile", contract.domain_profile),
    )


def locate_resource(root: Path, path: str) -> Located:
    """Find a resource's file inside the package; too large a file is not found."""
    return locate(root, path, limit=MAXIMUM_RESOURCE)


def resource_state(contract: SubjectContract, root: Path) -> ResourceState:
    """See which declared resources resolve inside the package in `root`; reads no file and imports nothing.

    A method pack that does not resolve disables its lens, whether it is optional or not; an overlay or skill that is
    missing or undeclared lowers the subject.
    """
    lenses: set[str] = set()
    missing: list[MissingResource] = []
    notes: list[str] = []
    declared = declared_resources(contract)
    for kind in REQUIRED_KINDS:
        if not any(resource.kind == kind for resource in declared):
            missing.append(MissingResource(kind, contract.subject, "", f"the contract names no {kind}", lowers=True))
    for resource in declared:
        located = locate_resource(root, resource.path)
        if located.path is not None:
            if resource.kind == "method_pack":
                lenses.add(resource.name)
            continue
        missing.append(
            MissingResource(
                resource.kind,
                resource.name,
                resource.path,
                located.reason,
                lowers=resource.kind in REQUIRED_KINDS,
                escapes=located.escapes,
            )
        )
        if resource.kind == "method_pack":
            notes.append(f"the lens {resource.name} is disabled: {located.reason}")
    return ResourceState(frozenset(lenses), tuple(missing), tuple(notes))


def validate_package(package_root: Path) -> tuple[SubjectContract | None, tuple[QiongliError, ...]]:
    """Load the contract of a package and check every file that it names.

    `package_root` is the import package's folder, the one with `runtime-subject.yaml`. Returns the contract (None
    when it is malformed) and every fault, in the order of the files: the contract's, then each resource's. Examples
    and near misses are executed by `qiongli.signals.auditing`, not here.
    """
    path = package_root / CONTRACT_FILE
    problems = Problems(str(path))
    contract = read_contract(path, problems)
    if contract is None:
        return None, problems.in_file_order()
    faults: list[QiongliError] = []
    if not contract.requires_qiongli:
        problems.report(
            "missing_key",
            "the key 'requires_qiongli' is missing: without it the subject never activates",
            field="requires_qiongli",
            expected="a PEP 440 version specifier, such as >=0.1,<0.2",
        )
    for resource in declared_resources(contract):
        faults += _check_declared(contract, resource, package_root, problems)
    faults += _check_documentation(contract, package_root, problems)
    _check_evaluation_pack(contract, package_root, problems)
    _check_hooks(contract, package_root, problems)
    _check_links(package_root, problems)
    return contract, (*problems.in_file_order(), *faults)


def _check_declared(
    contract: SubjectContract, resource: DeclaredResource, root: Path, problems: Problems
) -> tuple[QiongliError, ...]:
    located = locate_resource(root, resource.path)
    if located.path is None:
        if not resource.optional or located.escapes:
            _report_unlocated(located, resource.field, problems)
        return ()
    if not _has_exact_case(root, resource.path):
        _report_case(resource.path, resource.field, problems)
    own = Problems(str(root.joinpath(*resource.path.split("/"))))
    data = read_bytes(located.path, own, limit=MAXIMUM_RESOURCE)
    if data is not None:
        check_resource(
            resource.kind,
            data,
            subject=contract.subject,
            name=resource.name,
            path=resource.path,
            problems=own,
        )
    return own.in_file_order()


def _report_unlocated(located: Located, field: str, problems: Problems) -> None:
    problems.report(
        "path_escapes" if located.escapes else "missing_resource",
        located.reason,
        field=field,
        expected="a file inside the package",
    )


def _report_case(path: str, field: str, problems: Problems) -> None:
    problems.report(
        "missing_resource",
        f"{path!r} is written with other capitals than the file's name, which most systems tell apart",
        field=field,
    )


def _has_exact_case(root: Path, path: str) -> bool:
    folder = root
    for segment in path.rstrip("/").split("/"):
        try:
            if segment not in os.listdir(folder):  # noqa: PTH208  # names are wanted, not paths
                return False
        except OSError:
            return False
        folder = folder / segment
    return True


def stated_statuses(text: str) -> tuple[str, ...]:
    """The activation statuses that stand in lines of a documentation which speak of the `activation status`."""
    lines = _STATUS_LINE.findall(text)
    return tuple(status for status in ACTIVATION_STATUSES if any(re.search(rf"\b{status}\b", line) for line in lines))


def restate_status(text: str, status: str) -> str:
    """The documentation's text with another status in the lines that state the activation status."""
    assert status in ACTIVATION_STATUSES
    any_status = re.compile(r"\b(?:" + "|".join(ACTIVATION_STATUSES) + r")\b")
    return _STATUS_LINE.sub(lambda line: any_status.sub(status, line.group()), text)


def _check_documentation(contract: SubjectContract, root: Path, problems: Problems) -> tuple[QiongliError, ...]:
    located = locate_resource(root, contract.documentation)
    if located.path is None:
        _report_unlocated(located, "documentation", problems)
        return ()
    own = Problems(str(root.joinpath(*contract.documentation.split("/"))))
    data = read_bytes(located.path, own, limit=MAXIMUM_RESOURCE)
    text = None if data is None else decode(data, own)
    if text is not None and contract.activation_status not in stated_statuses(text):
        own.report(
            "invalid_resource",
            f"the documentation does not state the activation status {contract.activation_status}",
            expected=f"a line such as: Activation status: {contract.activation_status}",
        )
    return own.in_file_order()


def _check_evaluation_pack(contract: SubjectContract, root: Path, problems: Problems) -> None:
    if contract.evaluation_pack is None:
        return
    located = locate(root, contract.evaluation_pack, folder=True)
    if located.path is None:
        _report_unlocated(located, "evaluation_pack", problems)
    elif not any(name.endswith((".json", ".jsonl")) for name in _names(located.path)):
        problems.report(
            "missing_resource",
            f"{contract.evaluation_pack!r} holds no fixture",
            field="evaluation_pack",
            expected="files that end in .json or .jsonl",
        )


def _names(folder: Path) -> tuple[str, ...]:
    return tuple(name for _, _, names in os.walk(folder) for name in names)


def _check_hooks(contract: SubjectContract, root: Path, problems: Problems) -> None:
    if contract.hooks is None:
        return
    path = contract.hooks.replace(".", "/")
    if all(locate(root, candidate).path is None for candidate in (f"{path}.py", f"{path}/__init__.py")):
        problems.report("missing_resource", f"the package has no module {contract.hooks!r}", field="hooks")


def _check_links(root: Path, problems: Problems) -> None:
    """Report every link in the package that leaves it, named by the contract or not."""
    base = root.resolve()
    seen = 0
    for folder, folders, files in os.walk(root):
        folders.sort()
        for name in sorted(folders + files):
            seen += 1
            if seen > MAXIMUM_FILES:
                problems.report("too_many_nodes", f"the package has more than {MAXIMUM_FILES} files")
                return
            path = Path(folder, name)
            # realpath, unlike Path.resolve, does not raise for links that go round in a circle.
            if path.is_symlink() and not Path(os.path.realpath(path)).is_relative_to(base):
                inside = path.relative_to(root).as_posix()
                problems.report("path_escapes", f"{inside!r} is a link that leaves the package")
