"""A resource by (subject, kind, name): found inside its package, measured, and read as it was when it was measured."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, Final

import attrs

from qiongli.contract.files import (
    REQUIRED_KINDS,
    DeclaredResource,
    MissingResource,
    declared_resources,
    locate_resource,
    resource_state,
)
from qiongli.contract.models import SubjectContract
from qiongli.errors import InputError, QiongliError, StateRefusedError
from qiongli.records.resources import (
    RESOURCE_KINDS,
    ResourceKind,
    ResourceRef,
)
from qiongli.records.subjects import SubjectState

if TYPE_CHECKING:
    from qiongli.plugins import CatalogueSubject

#: Kinds that speak for the subject as a whole: never loaded for a subject that is not active.
SUBJECT_KINDS: Final[frozenset[ResourceKind]] = frozenset({"overlay", "skill", "domain_profile"})

#: Bytes of UTF-8 that count as one token.
BYTES_PER_TOKEN: Final = 4


def estimate_tokens(data: bytes) -> int:
    """The estimated size in tokens: bytes of UTF-8 divided by four, rounded up, at least 1.

    English prose has four to five characters a token, Chinese about one token a character of three bytes, so the
    estimate is a little high for the former and a little low for the latter.
    """
    return max(1, -(-len(data) // BYTES_PER_TOKEN))


def may_load(kind: ResourceKind, state: SubjectState) -> bool:
    """Whether a resource of this kind may be loaded from a subject in this state."""
    if kind in SUBJECT_KINDS:
        return state == "active"
    return state in ("active", "lens_only")


def list_resources(
    contract: SubjectContract, root: Path
) -> tuple[tuple[ResourceRef, ...], tuple[MissingResource, ...]]:
    """The resources that resolve, measured and checksummed, in order of authority, and those that are missing."""
    missing = resource_state(contract, root).missing
    gone = {(item.kind, item.name) for item in missing}
    found = tuple(
        _known(contract, root, declared.kind, declared.name) or _made(contract, root, declared)
        for declared in declared_resources(contract)
        if (declared.kind, declared.name) not in gone
    )
    return found, missing


def resolve_resource(contract: SubjectContract, root: Path, kind: str, name: str) -> ResourceRef:
    """The reference of one resource of a subject.

    Raises `InputError`: `unknown_resource_kind`, `unknown_resource` with the names that exist, `missing_resource`
    when the file is not there, or `path_escapes` when it is a link that leaves the package.
    """
    if kind not in RESOURCE_KINDS:
        raise InputError(
            f"there is no kind of resource {kind!r}", code="unknown_resource_kind", available=RESOURCE_KINDS
        )
    if (known := _known(contract, root, kind, name)) is not None:
        return known
    declared = {item.name: item for item in declared_resources(contract) if item.kind == kind}
    if name not in declared:
        raise InputError(
            f"the subject {contract.subject} has no {kind} {name!r}",
            code="unknown_resource",
            available=tuple(declared),
            hint=f"Run: qiongli resource list {contract.subject}",
        )
    return _made(contract, root, declared[name])


def subject_resolves(contract: SubjectContract, root: Path) -> bool:
    """Whether what an active subject must have is there at this moment: its overlay and its skill."""
    for kind in REQUIRED_KINDS:
        if _known(contract, root, kind, contract.subject) is None:
            try:
                resolve_resource(contract, root, kind, contract.subject)
            except QiongliError:
                return False
    return True


def read_resource(root: Path, reference: ResourceRef) -> str:
    """The text of a resource, when the file is still the one that the reference was made of.

    Raises `InputError` with the code `missing_resource`, `path_escapes`, `not_utf8`, or `resource_changed` when the
    checksum is another.
    """
    data = _read(root, reference.path)
    if _checksum(data) != reference.checksum:
        raise InputError(
            f"the {reference.kind} {reference.name!r} of {reference.subject} changed since it was planned",
            code="resource_changed",
            place=reference.path,
            hint="Route the task again.",
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"byte {error.start} of the resource is not UTF-8", code="not_utf8", place=reference.path
        ) from error


def load_resource(subject: CatalogueSubject, kind: str, name: str) -> tuple[ResourceRef, str]:
    """Resolve and read a resource of a subject, if its state permits that the resource is loaded.

    Raises as `resolve_resource` and `read_resource` do, and `StateRefusedError` with the code `resource_not_active`
    for an overlay, skill or domain profile of a subject that is not active.
    """
    reference = resolve_resource(subject.contract, subject.root, kind, name)
    if not may_load(reference.kind, subject.listing.state):
        raise StateRefusedError(
            f"the {kind} of {reference.subject} is not loaded while the subject is {subject.listing.state}",
            code="resource_not_active",
            expected="an active subject",
            hint=f"Run: qiongli gate explain {reference.subject}",
        )
    return reference, read_resource(subject.root, reference)


def _read(root: Path, path: str) -> bytes:
    located = locate_resource(root, path)
    if located.path is None:
        raise InputError(located.reason, code="path_escapes" if located.escapes else "missing_resource", place=path)
    try:
        return located.path.read_bytes()
    except OSError as error:
        raise InputError(
            f"{path!r} cannot be read: {error.strerror or error}", code="missing_resource", place=path
        ) from error


def _checksum(data: bytes) -> str:
    return f"sha256:{sha256(data).hexdigest()}"


@attrs.define(eq=False, repr=False)
class _Known:
    """A reference made before, with its file and what the file's status was then."""

    root: Path
    location: str
    status: tuple[int, ...]
    reference: ResourceRef


#: References made before, by the digest of their contract, kind and name: planning a task reads no file twice.
_KNOWN: Final[dict[tuple[str, str, str], _Known]] = {}
_MOST_KNOWN: Final = 4_096


def _known(contract: SubjectContract, root: Path, kind: str, name: str) -> ResourceRef | None:
    """The reference made before, if the contract still stands in that folder and the file is as it was."""
    known = _KNOWN.get((contract.digest, kind, name))
    if known is None or not (known.root is root or known.root == root) or _status(known.location) != known.status:
        return None
    return known.reference


def _status(location: str) -> tuple[int, ...] | None:
    """What changes when a file is replaced or written, or None when it cannot be told or is a link."""
    try:
        found = os.lstat(location)
    except OSError:
        return None
    if not S_ISREG(found.st_mode):
        return None
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _made(contract: SubjectContract, root: Path, declared: DeclaredResource) -> ResourceRef:
    location = f"{root}{os.sep}{declared.path}"  # a plain text is quicker to ask for, and every plan asks
    status = _status(location)
    data = _read(root, declared.path)
    reference = ResourceRef(
        kind=declared.kind,
        subject=contract.subject,
        name=declared.name,
        path=declared.path,
        checksum=_checksum(data),
        tokens=estimate_tokens(data),
    )
    key = (contract.digest, declared.kind, declared.name)
    if contract.digest and status is not None and (key in _KNOWN or len(_KNOWN) < _MOST_KNOWN):
        _KNOWN[key] = _Known(root, location, status, reference)
    return reference
