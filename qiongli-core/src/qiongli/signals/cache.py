"""The index on disk, named by the digest of what it was compiled from; a cache that cannot be used is compiled anew."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from qiongli.contract.models import SubjectContract
from qiongli.signals.index import SignalIndex, compile_index, index_digest, index_from_json, index_to_json


def cache_folder() -> Path:
    """The user's cache folder: `QIONGLI_CACHE_DIR`, else the system's place for caches."""
    configured = os.environ.get("QIONGLI_CACHE_DIR")
    if configured:
        return Path(configured)
    from platformdirs import user_cache_path

    return user_cache_path("qiongli", appauthor=False)


def load_index(contracts: Sequence[SubjectContract]) -> SignalIndex:
    """The index of the contracts, from the cache when it is there and whole."""
    digest = index_digest(contracts)
    path = cache_folder() / f"index-{digest}.json"
    with suppress(OSError, ValueError, TypeError, KeyError, IndexError):
        index = index_from_json(path.read_text(encoding="utf-8"))
        if index.digest == digest:
            return index
    index = compile_index(contracts)
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(f".{os.getpid()}.tmp")
        temporary.write_text(index_to_json(index), encoding="utf-8")
        temporary.replace(path)
    return index
