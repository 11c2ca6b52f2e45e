"""A subject's package as a whole: its contract, and the files that the contract names, found without importing it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

from qiongli.contract.files import MAXIMUM_RESOURCE, DeclaredResource, declared_resources, locate_resource
from qiongli.contract.kinds import check_resource
from qiongli.contract.loader import read_contract
from qiongli.contract.models import CONTRACT_FILE, SubjectContract
from qiongli.contract.nodes import decode, read_bytes, reads_alike
from qiongli.contract.paths import Located, locate
from qiongli.contract.problems import Problems
from qiongli.errors import QiongliError
from qiongli.records.subjects import ACTIVATION_STATUSES

#: Most files that are looked at when links are searched that leave the package.
MAXIMUM_FILES: Final = 20_000

_STATUS_LINE: Final = re.compile(r"(?im)^.*activation[ _]status.*$")


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
    faults += _links_out(package_root)
    return contract, (*problems.in_file_order(), *faults)


def check_portability(package_root: Path) -> tuple[QiongliError, ...]:
    """Every YAML file of a valid package that machines without PyYAML's C extension read otherwise.

    For authors, and slow: about ten times the time of `validate_package`.
    """
    contract = read_contract(package_root / CONTRACT_FILE, Problems(CONTRACT_FILE))
    if contract is None:
        return ()
    paths = [CONTRACT_FILE, *(item.path for item in declared_resources(contract) if item.kind != "skill")]
    faults: list[QiongliError] = []
    for path in paths:
        located = locate_resource(package_root, path) if path != CONTRACT_FILE else Located(package_root / path)
        problems = Problems(str(package_root.joinpath(*path.split("/"))))
        if located.path is not None:
            reads_alike(read_bytes(located.path, problems) or b"", problems)
        faults += problems.in_file_order()
    return tuple(faults)


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


def _links_out(root: Path) -> tuple[QiongliError, ...]:
    """Every link in the package that leaves it, named by the contract or not, each under its own path."""
    base = Path(os.path.realpath(root))
    faults: list[QiongliError] = []
    seen = 0
    for folder, folders, files in os.walk(root):
        folders.sort()
        for name in sorted(folders + files):
            seen += 1
            path = Path(folder, name)
            problems = Problems(str(path))
            # realpath, unlike Path.resolve, does not raise for links that go round in a circle.
            if path.is_symlink() and not Path(os.path.realpath(path)).is_relative_to(base):
                problems.report("path_escapes", "this is a link that leaves the package")
            elif seen > MAXIMUM_FILES:
                problems.report("too_many_nodes", f"the package has more than {MAXIMUM_FILES} files")
            faults += problems.in_file_order()
            if seen > MAXIMUM_FILES:
                return tuple(faults)
    return tuple(faults)
