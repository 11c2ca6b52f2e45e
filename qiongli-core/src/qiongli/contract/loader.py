"""`runtime-subject.yaml` to a `SubjectContract`, or every fault of it at once."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path
from typing import Any

from qiongli.contract.format import CONTRACT
from qiongli.contract.models import CONTRACT_FILE, Later, Signal, SubjectContract, Suppressor
from qiongli.contract.nodes import parse, read_bytes
from qiongli.contract.problems import Problems
from qiongli.contract.rules import check_rules, signals, version_is_readable


def load_contract(path: Path) -> SubjectContract:
    """Read the contract in `path`, a file, or a folder that holds `runtime-subject.yaml`.

    Raises `ContractError` with every fault in `problems`, each with file, line and dotted field. Nothing of the
    package is imported and no other file is read.
    """
    if path.is_dir():
        path = path / CONTRACT_FILE
    problems = Problems(str(path))
    contract = read_contract(path, problems)
    problems.raise_if_any("the contract")
    assert contract is not None  # a contract that cannot be read has a problem
    return contract


def read_contract(path: Path, problems: Problems) -> SubjectContract | None:
    """Read a contract, reporting to `problems`; None when any fault was found."""
    home, target = Path(os.path.realpath(path.parent)), Path(os.path.realpath(path))
    if not target.is_relative_to(home):
        problems.report("path_escapes", "the contract is a link that leaves its folder")
        return None
    data = read_bytes(path, problems)
    return None if data is None else parse_contract(data, problems)


def parse_contract(data: bytes, problems: Problems) -> SubjectContract | None:
    """Turn the bytes of a contract into its model, reporting to `problems`; None when any fault was found."""
    root = parse(data, problems)
    if root is None or not version_is_readable(root, problems):
        return None
    values: dict[str, Any] = CONTRACT.read(root, "", problems)
    check_rules(values, problems)
    return None if problems else _structure(values, sha256(data).hexdigest())


def _structure(values: dict[str, Any], digest: str) -> SubjectContract:
    """Build the models from faultless values."""
    from cattrs import Converter

    subject = values["subject"]
    groups = values.pop("signal_groups")
    policy = values.pop("near_miss_policy", {})
    lenses = values.pop("method_lenses", {})
    plain = {
        **values,
        "schema_version": "1.0",
        "signals": [
            {**signal, "subject": subject, "dimension": dimension}
            for _, dimension, signal in signals({"signal_groups": groups})
        ],
        "method_lenses": [{"slug": slug, **lens} for slug, lens in lenses.items()],
        "forbidden_subjects": policy.get("forbidden_subjects", ()),
        "digest": digest,
    }
    converter = Converter(use_alias=True)
    # What is being loaded is there already; only stored contracts make their signals later.
    converter.register_structure_hook_func(
        lambda found: found == tuple[Signal, ...] | Later[Signal],
        lambda value, _: converter.structure(value, tuple[Signal, ...]),
    )
    converter.register_structure_hook_func(
        lambda found: found == tuple[Suppressor, ...] | Later[Suppressor],
        lambda value, _: converter.structure(value, tuple[Suppressor, ...]),
    )
    return converter.structure(plain, SubjectContract)
