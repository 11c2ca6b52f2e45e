"""Contracts from packages, through the user's cache of contracts that were found valid before."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

from qiongli.cache import read_cached, write_cached
from qiongli.contract.models import CONTRACT_FILE, SubjectContract
from qiongli.errors import QiongliError

#: What the loader accepts at most; a larger file is left to it to refuse.
_MAXIMUM_CACHED: Final = 1_048_576


def read_package_contract(root: Path) -> SubjectContract:
    """The contract of the package in `root`, from the cache when its bytes were seen before.

    Raises `ContractError` with every fault of a malformed or unreadable contract, and `EnvironmentBrokenError` when
    the library that reads YAML is missing.
    """
    path = root / CONTRACT_FILE
    data = _plain_bytes(path)
    name = ""
    if data is not None:
        digest = sha256(data).hexdigest()
        name = f"contract-{digest}.json"
        cached = read_cached(name)
        if cached is not None:
            from qiongli.contract.stored import contract_from_json

            with suppress(ValueError, TypeError, KeyError, AttributeError, QiongliError):
                contract = contract_from_json(cached)
                if contract.digest == digest:
                    return contract
    from qiongli.contract.loader import load_contract

    contract = load_contract(path)
    if name and contract.digest in name:
        from qiongli.contract.stored import contract_to_json

        write_cached(name, contract_to_json(contract))
    return contract


def _plain_bytes(path: Path) -> bytes | None:
    """The bytes of a regular file of bearable size that lies in its folder; None leaves the judgement to the loader."""
    home = os.path.realpath(path.parent)
    if os.path.realpath(path) != os.path.join(home, path.name):  # noqa: PTH118  # plain texts on the hot way
        return None
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > _MAXIMUM_CACHED:
            return None
        return path.read_bytes()
    except OSError:
        return None
