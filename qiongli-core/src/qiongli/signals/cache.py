"""The compiled index in the user's cache, named by the digest of what it was compiled from.

The cache gives back only what was written under that name. Whatever is of another form all the same, or names other
contracts, is compiled anew from the contracts themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from qiongli.cache import read_cached, write_cached
from qiongli.contract.models import SubjectContract
from qiongli.signals.index import SignalIndex, compile_index, index_digest, index_from_json, index_to_json


def load_index(contracts: Sequence[SubjectContract]) -> SignalIndex:
    """The index of the contracts, from the cache when it is there, whole and theirs."""
    digest = index_digest(contracts)
    name = f"index-{digest}.json"
    cached = read_cached(name)
    if cached is not None:
        with suppress(ValueError, TypeError, KeyError, IndexError, RecursionError):
            index = index_from_json(cached)
            if index.digest == digest:
                return index
    index = compile_index(contracts)
    write_cached(name, index_to_json(index))
    return index
