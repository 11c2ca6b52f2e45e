"""`qiongli contract validate|schema|new|diff`: tools of those who write a subject. No plugin is imported."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qiongli.cli._output import emit
from qiongli.errors import ContractError, InputError, QiongliError
from qiongli.records._units import SCHEMA_VERSION, to_packet

if TYPE_CHECKING:
    from qiongli.contract.models import SubjectContract

app = typer.Typer(help="Validate, compare and scaffold subject contracts.", no_args_is_help=True)

_JSON = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
_PATH = "A contract, the import package that holds it, or the source tree around that."


@app.command()
def validate(path: Annotated[Path, typer.Argument(help=_PATH)] = Path(), as_json: _JSON = False) -> None:
    """Check a contract, every file that it names, and run its examples and near misses."""
    from qiongli.contract.files import resource_state
    from qiongli.contract.packaging import check_portability, validate_package
    from qiongli.signals.auditing import audit_contract

    root = _package_root(path)
    contract, problems = validate_package(root)
    if contract is not None:
        problems = (*problems, *check_portability(root), *_placed(audit_contract(contract), root))
    if contract is None or problems:
        raise ContractError(
            f"the contract has {len(problems)} problem{'s' if len(problems) != 1 else ''}",
            problems=problems,
            place=str(root),
            hint="The keys are explained in docs/reference/contract.md.",
        )
    notes = resource_state(contract, root).notes
    packet: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "valid": True,
        "subject": contract.subject,
        "path": str(root),
        "activation_status": contract.activation_status,
        "counts": _counts(contract),
        "problems": [],
        "notes": list(notes),
    }
    counts = ", ".join(f"{number} {name.replace('_', ' ')}" for name, number in _counts(contract).items())
    lines = [f"{contract.subject} is valid ({contract.activation_status}): {counts}"]
    lines += [f"note: {note}" for note in notes]
    emit(packet, "\n".join(lines), as_json)


@app.command()
def schema(
    document: Annotated[
        str, typer.Argument(help="contract, overlay, domain_profile, method_pack, venue_profile or skill.")
    ] = "contract",
    as_json: _JSON = False,  # noqa: ARG001  # a schema is JSON either way
) -> None:
    """Print the JSON Schema of the contract, or of a kind of resource, for editors."""
    from qiongli.contract.schema import json_schema

    emit(json_schema(document), "", True)


@app.command()
def new(
    slug: Annotated[str, typer.Argument(help="Slug of the subject, such as marine-ecology.")],
    directory: Annotated[Path, typer.Option("--dir", help="Folder in which the package's folder is made.")] = Path(),
    name: Annotated[str, typer.Option("--name", help="How people call the subject.")] = "",
    as_json: _JSON = False,
) -> None:
    """Write a whole installable package of a new subject, a candidate; nothing is overwritten."""
    from qiongli.contract.scaffold import new_package

    root, written = new_package(slug, directory, display_name=name)
    files = [path.as_posix() for path in written]
    packet = {"schema_version": SCHEMA_VERSION, "subject": slug, "path": str(root), "files": files}
    lines = [f"wrote {len(files)} files to {root}", *(f"  {file}" for file in files)]
    lines.append(f"Next: python -m pip install -e {root}, then: qiongli contract validate {root}")
    emit(packet, "\n".join(lines), as_json)


@app.command()
def diff(
    old: Annotated[Path, typer.Argument(help=_PATH)],
    new: Annotated[Path, typer.Argument(help=_PATH)],
    as_json: _JSON = False,
) -> None:
    """Say what changed between two contracts: signals, weights, patterns, lenses, status."""
    from qiongli.contract.diff import diff_contracts, render_diff
    from qiongli.contract.loader import load_contract

    found = diff_contracts(load_contract(_contract_file(old)), load_contract(_contract_file(new)))
    emit(to_packet(found), render_diff(found), as_json)


def _counts(contract: SubjectContract) -> dict[str, int]:
    return {
        "signals": len(contract.signals),
        "suppressors": len(contract.suppressors),
        "method_lenses": len(contract.method_lenses),
        "venue_profiles": len(contract.venue_profiles),
    }


def _contract_file(path: Path) -> Path:
    from qiongli.contract.models import CONTRACT_FILE

    return path if path.is_file() else _package_root(path) / CONTRACT_FILE


def _package_root(path: Path) -> Path:
    """The import package that a path means: itself, the folder of a contract, or the only one in a source tree."""
    from qiongli.contract.models import CONTRACT_FILE

    if path.is_file():
        if path.name != CONTRACT_FILE:
            raise InputError(f"{str(path)!r} is not called {CONTRACT_FILE}", code="no_contract", expected=CONTRACT_FILE)
        return path.parent
    if not path.exists():
        raise InputError(f"{str(path)!r} does not exist", code="no_contract")
    if (path / CONTRACT_FILE).is_file():
        return path
    found = sorted({*path.glob(f"*/{CONTRACT_FILE}"), *path.glob(f"src/*/{CONTRACT_FILE}")})
    if len(found) == 1:
        return found[0].parent
    if found:
        raise InputError(
            f"{str(path)!r} holds several contracts",
            code="several_contracts",
            available=tuple(str(item.parent) for item in found),
        )
    raise InputError(
        f"{str(path)!r} holds no {CONTRACT_FILE}", code="no_contract", hint="Make a subject: qiongli contract new SLUG"
    )


def _placed(problems: tuple[QiongliError, ...], root: Path) -> tuple[QiongliError, ...]:
    """The problems of the audit, each with the contract's path in its place."""
    from qiongli.contract.models import CONTRACT_FILE

    file = str(root / CONTRACT_FILE)
    placed = []
    for problem in problems:
        line = problem.place.removeprefix(f"{CONTRACT_FILE}:")
        place = f"{file}:{line}" if line.isdecimal() else f"{file}: {problem.place}"
        placed.append(
            QiongliError(
                problem.message,
                code=problem.code,
                place=place,
                expected=problem.expected,
                hint=problem.hint,
                available=problem.available,
            )
        )
    return tuple(placed)
