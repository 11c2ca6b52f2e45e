"""What a decision activates: pinned resources, those of the subject and of lent lenses, within a budget of tokens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import attrs

from qiongli._value import Value
from qiongli.contract.files import (
    declared_resources,
    declares,
    locate_resource,
)
from qiongli.errors import QiongliError
from qiongli.limits import DEFAULT_LIMITS, Limits
from qiongli.records._units import Ppm
from qiongli.records.resources import (
    PlannedResource,
    ResourceActivation,
    ResourceActivationPlan,
    ResourceKind,
)
from qiongli.resources.references import SUBJECT_KINDS, may_load, resolve_resource
from qiongli.routing import ResourceCandidate, choose_resources
from qiongli.scoring import resource_route

if TYPE_CHECKING:
    from qiongli.plugins import Catalogue, CatalogueSubject

#: Order of authority after core, which is always there, and the order of a plan.
AUTHORITY: Final[tuple[ResourceKind, ...]] = ("overlay", "skill", "domain_profile", "method_pack", "venue_profile")

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
