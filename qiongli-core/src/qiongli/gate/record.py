"""Activation records, content digests, and the development policy that stands in until subjects have records."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Final

RECORD_FILE: Final = "activation.json"

#: Version of the gate's rules; a record of a newer one does not hold here.
POLICY_VERSION: Final = 1

#: Exactly these are active without a record, each from its own distribution only, until issue E brings records.
GRANDFATHERED: Final[dict[str, str]] = {
    "economics": "qiongli-subject-economics",
    "finance": "qiongli-subject-finance",
}


def grandfathered(subject: str, distribution: str) -> bool:
    """Whether the development policy lets the subject of that distribution act without a record."""
    return GRANDFATHERED.get(subject) == distribution


def content_digest(root: Path) -> str:
    """SHA-256 over the sorted list of all package files but the record and bytecode, each with its own digest."""
    total = sha256()
    files = sorted(
        path.relative_to(root).as_posix()
        for path in root.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix not in (".pyc", ".pyo")
    )
    for name in files:
        if name == RECORD_FILE:
            continue
        total.update(f"{sha256((root / name).read_bytes()).hexdigest()}  {name}\n".encode())
    return total.hexdigest()
