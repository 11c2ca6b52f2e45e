"""A subject's package as a whole: its contract and the files that the contract names."""

from __future__ import annotations

from pathlib import Path

from qiongli.contract.loader import read_contract
from qiongli.contract.models import CONTRACT_FILE, SubjectContract
from qiongli.contract.problems import Problems
from qiongli.errors import QiongliError


def validate_package(package_root: Path) -> tuple[SubjectContract | None, tuple[QiongliError, ...]]:
    """Load the contract in a package folder and check every resource that it names."""
    problems = Problems(str(package_root / CONTRACT_FILE))
    contract = read_contract(package_root / CONTRACT_FILE, problems)
    return contract, problems.in_file_order()
