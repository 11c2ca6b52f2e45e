"""The resources of subjects: named by (subject, kind, name), read inside their package, planned under a budget.

Overlay, skill and domain profile speak with the authority of a subject and are loaded only when it is active. A
method pack, and a venue profile that the user pinned, need no activation. A resource's text is never evidence.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, Final

import attrs

from qiongli._value import Value
from qiongli.contract.files import (
    DeclaredResource,
    MissingResource,
    declared_resources,
    declares,
    locate_resource,
    resource_state,
)
from qiongli.contract.models import SubjectContract
from qiongli.errors import InputError, QiongliError, StateRefusedError
from qiongli.limits import DEFAULT_LIMITS, Limits
from qiongli.records._units import Ppm
from qiongli.records.resources import (
    RESOURCE_KINDS,
    PlannedResource,
    ResourceActivation,
    ResourceActivationPlan,
    ResourceKind,
    ResourceRef,
)
from qiongli.records.subjects import SubjectState
from qiongli.routing import ResourceCandidate, choose_resources
from qiongli.scoring import resource_route

if TYPE_CHECKING:
    from qiongli.plugins import Catalogue, CatalogueSubject

#: Order of authority after core, which is always there, and the order of a plan.
AUTHORITY: Final[tuple[ResourceKind, ...]] = ("overlay", "skill", "domain_profile", "method_pack", "venue_profile")

#: Kinds that speak for the subject as a whole: never loaded for a subject that is not active.
SUBJECT_KINDS: Final[frozenset[ResourceKind]] = frozenset({"overlay", "skill", "domain_profile"})

#: Prior of a resource's route, in millionths: what a kind is worth before its size is charged (at most 0.20). A
#: small pack may outrank a skill that would fill the budget; nothing outranks an overlay but a pinned resource.
PRIORS: Final[dict[ResourceKind, Ppm]] = {
    "overlay": Ppm(1_000_000),
    "skill": Ppm(790_000),
    "method_pack": Ppm(700_000),
    "domain_profile": Ppm(600_000),
    "venue_profile": Ppm(500_000),
}

_LEVELS: Final[dict[ResourceKind, str]] = {
    "overlay": "subject",
    "skill": "subject",
    "domain_profile": "subject",
    "method_pack": "lens",
    "venue_profile": "venue",
}

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


@attrs.frozen(repr=False)
class PlanRequest(Value):
    """What a decision asks to be loaded.

    `subject` is the primary subject, None without one; `applied` is true once the project has confirmed or locked
    it. `lenses` are (subject, lens) of all lent lenses, the primary's own included. Pinned names come from the
    project's manifest, as `name` or `subject/name`. With `only_loadable`, what waits until the user applies the
    subject is left out, so that it takes nothing of the budget.
    """

    subject: str | None = None
    applied: bool = False
    lenses: tuple[tuple[str, str], ...] = ()
    pinned_lenses: tuple[str, ...] = ()
    pinned_venues: tuple[str, ...] = ()
    only_loadable: bool = False


@attrs.frozen(repr=False)
class _Wanted(Value):
    """One resource that the request asks for."""

    subject: CatalogueSubject
    kind: ResourceKind
    name: str
    activation: ResourceActivation


def plan_resources(
    catalogue: Catalogue, request: PlanRequest, *, budget: int | None = None, limits: Limits = DEFAULT_LIMITS
) -> tuple[ResourceActivationPlan, tuple[str, ...], tuple[str, ...]]:
    """Plan what the task activates, in tokens at most `budget`; None is no budget.

    Returns the plan in order of authority; the `subject/kind/name` of what may be loaded now (the overlay, skill
    and profile of a suggestion wait until the user applies it); and a warning for everything that was asked for and
    is missing, blocked or too large. Pinned resources always enter. Never substitutes one resource for another.
    """
    warnings: list[str] = []
    wanted = [
        *_pinned(catalogue, request, warnings),
        *_for_subject(catalogue, request, warnings),
        *_for_lenses(catalogue, request, warnings),
    ]
    priority = {subject.contract.subject: subject.priority for subject in catalogue.subjects}
    planned = [resource for item in _unique(wanted) if (resource := _planned(item, warnings)) is not None]
    # Without a budget everything fits, and there is nothing to weigh.
    chosen = planned if budget is None else _within(budget, planned, priority, limits, warnings)
    chosen.sort(
        key=lambda resource: (
            AUTHORITY.index(resource.kind),
            resource.subject != request.subject,
            priority.get(resource.subject, 0),
            resource.subject,
            resource.name,
        ),
    )
    levels = {_LEVELS[resource.kind] for resource in chosen}
    plan = ResourceActivationPlan(
        levels=("core", *(level for level in ("subject", "lens", "venue") if level in levels)),
        resources=tuple(chosen),
    )
    loaded = tuple(
        _identifier(resource)
        for resource in chosen
        if not (resource.activation == "suggested" and resource.kind in SUBJECT_KINDS)
    )
    return plan, loaded, tuple(dict.fromkeys(warnings))


def _within(
    budget: int,
    planned: list[PlannedResource],
    priority: dict[str, int],
    limits: Limits,
    warnings: list[str],
) -> list[PlannedResource]:
    """What fits into the budget; a warning for each resource that does not."""
    by_id = {_identifier(resource): resource for resource in planned}
    candidates = [
        ResourceCandidate(
            resource_route(
                identifier,
                resource.subject,
                priority.get(resource.subject, 0),
                tokens=resource.tokens,
                budget=budget,
                prior=PRIORS[resource.kind],
                limits=limits,
            ),
            resource.tokens,
            pinned=resource.activation == "pinned",
        )
        for identifier, resource in by_id.items()
    ]
    choice = choose_resources(candidates, budget, limits)
    warnings += [
        f"{item.route.id} ({by_id[item.route.id].tokens} tokens) does not fit into the budget of {budget} tokens"
        for item in choice.left_out
    ]
    return [by_id[item.route.id] for item in choice.chosen]


def _unique(wanted: list[_Wanted]) -> list[_Wanted]:
    """The first of every resource that is asked for twice: what is pinned comes first."""
    first: dict[tuple[str, str, str], _Wanted] = {}
    for item in wanted:
        first.setdefault((item.subject.contract.subject, item.kind, item.name), item)
    return list(first.values())


def _identifier(resource: PlannedResource) -> str:
    return f"{resource.subject}/{resource.kind}/{resource.name}"


def _planned(item: _Wanted, warnings: list[str]) -> PlannedResource | None:
    try:
        reference = resolve_resource(item.subject.contract, item.subject.root, item.kind, item.name)
    except QiongliError as error:
        warnings.append(f"{item.subject.contract.subject}/{item.kind}/{item.name} is missing: {error.message}")
        return None
    return PlannedResource(
        kind=reference.kind,
        subject=reference.subject,
        name=reference.name,
        path=reference.path,
        checksum=reference.checksum,
        tokens=reference.tokens,
        activation=item.activation,
    )


def _for_subject(catalogue: Catalogue, request: PlanRequest, warnings: list[str]) -> Iterator[_Wanted]:
    """Overlay, skill and profile of the primary subject, if it is active."""
    if request.subject is None or (request.only_loadable and not request.applied):
        return
    subject = catalogue.get(request.subject)
    if subject is None:
        warnings.append(f"the subject {request.subject} is not installed, so nothing of it is loaded")
        return
    state = subject.listing.state
    if not may_load("overlay", state):
        warnings.append(f"overlay and skill of {request.subject} are not loaded while the subject is {state}")
        return
    for kind in AUTHORITY:
        if kind not in SUBJECT_KINDS:
            continue
        if declares(subject.contract, kind):
            yield _Wanted(subject, kind, request.subject, "applied" if request.applied else "suggested")
        else:
            warnings.append(f"the subject {request.subject} declares no {kind}")


def _for_lenses(catalogue: Catalogue, request: PlanRequest, warnings: list[str]) -> Iterator[_Wanted]:
    for slug, lens in request.lenses:
        subject = catalogue.get(slug)
        if subject is None or not may_load("method_pack", subject.listing.state):
            warnings.append(f"the lens {slug}/{lens} is not available")
            continue
        own: ResourceActivation = "applied" if request.applied else "suggested"
        yield _Wanted(subject, "method_pack", lens, own if slug == request.subject else "borrowed")


def _pinned(catalogue: Catalogue, request: PlanRequest, warnings: list[str]) -> Iterator[_Wanted]:
    """What the project's manifest pins: the primary's own first, then that of the first subject which has it."""
    pins: tuple[tuple[ResourceKind, str, tuple[str, ...]], ...] = (
        ("method_pack", "method lens", request.pinned_lenses),
        ("venue_profile", "venue profile", request.pinned_venues),
    )
    for kind, noun, names in pins:
        for pinned in names:
            slug, _, name = pinned.rpartition("/")
            subject = next(
                (
                    candidate
                    for candidate in sorted(
                        catalogue.subjects,
                        key=lambda item: (
                            item.contract.subject != request.subject,
                            item.priority,
                            item.contract.subject,
                        ),
                    )
                    if (not slug or candidate.contract.subject == slug)
                    and may_load(kind, candidate.listing.state)
                    and _resolves(candidate, kind, name)
                ),
                None,
            )
            if subject is None:
                warnings.append(f"the project pins the {noun} {pinned!r}, which no installed subject can give")
            else:
                yield _Wanted(subject, kind, name, "pinned")


def _resolves(subject: CatalogueSubject, kind: ResourceKind, name: str) -> bool:
    return any(
        declared.kind == kind
        and declared.name == name
        and locate_resource(subject.root, declared.path).path is not None
        for declared in declared_resources(subject.contract)
    )
