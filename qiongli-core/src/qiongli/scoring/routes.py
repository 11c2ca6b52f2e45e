"""What may be chosen, as the composer sees it: routes with their contributions, and how evidence becomes a route."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

import attrs

from qiongli._value import Value
from qiongli.costs import resource_cost
from qiongli.limits import DEFAULT_LIMITS, Limits
from qiongli.records._units import Ppm
from qiongli.records.evidence import Evidence
from qiongli.records.packet import RouteKind


@attrs.frozen(repr=False)
class Contribution(Value):
    """One piece of evidence as the composer sees it: who it is, where it counts and how much it weighs.

    `weight` is in millionths. There is no field that could grant or override anything.
    """

    id: str
    dimension: str
    weight: Ppm
    source: str = "text"


@attrs.frozen(repr=False)
class Route(Value):
    """One thing that may be chosen: a subject, a lens of a subject, or a resource of a subject.

    `priority` breaks ties, lowest first. `prior`, `cost`, `risk` (a multiplier) and `session` are in millionths; None
    means that none was declared. `single_dimension` is set when the gate has proved the subject's exemption.
    """

    kind: RouteKind
    id: str
    subject: str
    priority: int = 0
    prior: Ppm | None = None
    boosts: tuple[Contribution, ...] = ()
    penalties: tuple[Contribution, ...] = ()
    cost: Ppm | None = None
    risk: Ppm | None = None
    session: Ppm | None = None
    single_dimension: bool = False


def counts_for_subject(evidence: Evidence) -> bool:
    """Whether a piece of evidence counts for a subject route: an asserted signal at subject level."""
    return evidence.role == "signal" and evidence.polarity == "asserted" and evidence.activation == "subject"


def counts_for_lens(evidence: Evidence, lens: str) -> bool:
    """Whether a piece of evidence counts for the lens: an asserted method signal whose value is the lens's slug."""
    return (
        evidence.role == "signal"
        and evidence.polarity == "asserted"
        and evidence.value == lens
        and (
            evidence.activation == "method_only"
            or (evidence.activation == "subject" and evidence.dimension == "method")
        )
    )


#: A contribution that is known is found in a third of the time it takes to make one. Weights of other types are other
#: keys: True is no 1.
_known_contribution: Final = lru_cache(maxsize=4_096, typed=True)(Contribution)


def _contribution(evidence: Evidence) -> Contribution:
    try:
        return _known_contribution(evidence.signal_id, evidence.dimension, evidence.weight, evidence.source)
    except TypeError:  # a malformed weight that cannot be a key; the composer rejects it
        return Contribution(evidence.signal_id, evidence.dimension, evidence.weight, evidence.source)


def subject_route(
    subject: str,
    priority: int,
    evidence: Iterable[Evidence],
    *,
    parts: Sequence[str] = (),
    session: Ppm | None = None,
    single_dimension_proved: bool = False,
    limits: Limits = DEFAULT_LIMITS,
) -> Route:
    """The route of a subject from its evidence, on which the disjoint-span rule has been applied.

    Asserted subject-level signals are boosts; asserted suppressors are penalties, once per id. Evidence of other
    subjects is left out, except that of the `parts` of a composite subject. A subject route has no cost.
    """
    boosts, penalties = [], []
    for item in evidence:
        if item.subject != subject and item.subject not in parts:
            continue
        if item.role == "suppressor":
            if item.polarity == "asserted":
                penalties.append(_contribution(item))
        elif counts_for_subject(item):
            boosts.append(_contribution(item))
    return Route(
        kind="subject",
        id=subject,
        subject=subject,
        priority=priority,
        prior=Ppm(limits.subject_prior),
        boosts=tuple(boosts),
        penalties=tuple(penalties),
        session=session,
        single_dimension=single_dimension_proved is True,
    )


def lens_route(
    subject: str, lens: str, priority: int, evidence: Iterable[Evidence], *, limits: Limits = DEFAULT_LIMITS
) -> Route:
    """The route of one method lens; suppressors, session and cost do not apply to lenses."""
    return Route(
        kind="lens",
        id=f"{subject}/{lens}",
        subject=subject,
        priority=priority,
        prior=Ppm(limits.lens_prior),
        boosts=tuple(
            _contribution(item) for item in evidence if item.subject == subject and counts_for_lens(item, lens)
        ),
    )


def resource_route(
    id: str,  # noqa: A002  # the field's name
    subject: str,
    priority: int,
    *,
    tokens: int | None,
    budget: int | None,
    prior: Ppm | None = None,
    risk: Ppm | None = None,
    boosts: Iterable[Contribution] = (),
    limits: Limits = DEFAULT_LIMITS,
) -> Route:
    """The route of one resource; its cost is its share of the token budget, the maximum when the size is unknown."""
    return Route(
        kind="resource",
        id=id,
        subject=subject,
        priority=priority,
        prior=prior,
        boosts=tuple(boosts),
        cost=None if tokens is None else Ppm(resource_cost(tokens, budget, limits)),
        risk=risk,
    )
