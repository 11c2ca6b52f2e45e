"""The arithmetic of a score: which contributions count, what each is discounted to, and what they sum to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import attrs

from qiongli._value import Value
from qiongli.costs import charged_cost
from qiongli.limits import DEFAULT_LIMITS, Limits, bounded, bounded_signed
from qiongli.records._units import SCALE, Ppm
from qiongli.records.evidence import DIMENSIONS
from qiongli.scoring.routes import Contribution, Route

_DIMENSION_ORDER: Final[dict[str, int]] = {name: index for index, name in enumerate(DIMENSIONS)}


def _well_formed(values: object, cap: int) -> tuple[list[Contribution], int]:
    """Contributions with a text id and a weight in [0, cap], and how many were rejected."""
    fine = []
    rejected = 0
    for item in values if isinstance(values, tuple | list) else ():
        if not isinstance(item, Contribution):
            rejected += 1
            continue
        if (
            type(item.weight) is int
            and 0 <= item.weight <= cap
            and isinstance(item.id, str)
            and isinstance(item.source, str)
        ):
            fine.append(item)  # as nearly all of them are
            continue
        weight = bounded(item.weight, cap)
        if weight is None or not isinstance(item.id, str):
            rejected += 1
        else:
            source = item.source if isinstance(item.source, str) else "unknown"
            fine.append(Contribution(item.id, item.dimension, Ppm(weight), source))
    return fine, rejected


def _heavier(new: Contribution, old: Contribution) -> bool:
    return (-new.weight, new.source) < (-old.weight, old.source)


def _boosts(values: object, limits: Limits) -> tuple[dict[str, Contribution], int]:
    """The boosts that count by id, each once with its largest weight, and how many were rejected.

    An id belongs to one dimension. When records disagree, the first dimension in the fixed order keeps the id and
    the others are rejected, so that one sign in the text never passes for two independent ones.
    """
    fine, rejected = _well_formed(values, limits.weight_cap)
    accepted: dict[str, Contribution] = {}
    for item in fine:
        rank = _DIMENSION_ORDER.get(item.dimension) if isinstance(item.dimension, str) else None
        if rank is None:
            rejected += 1
            continue
        old = accepted.get(item.id)
        if old is None:
            accepted[item.id] = item
        elif old.dimension == item.dimension:
            if _heavier(item, old):
                accepted[item.id] = item
        else:
            rejected += 1
            if rank < _DIMENSION_ORDER[old.dimension]:
                accepted[item.id] = item
    return accepted, rejected


def _penalties(values: object, limits: Limits) -> tuple[list[Contribution], int]:
    """The penalties that count, each id once with its largest weight, heaviest first, and how many were rejected."""
    fine, rejected = _well_formed(values, limits.penalty_cap)
    accepted: dict[str, Contribution] = {}
    for item in fine:
        old = accepted.get(item.id)
        if old is None or _heavier(item, old):
            accepted[item.id] = item
    return sorted(accepted.values(), key=lambda item: (-item.weight, item.id)), rejected


def _by_weight(item: Contribution) -> tuple[int, str]:
    return -item.weight, item.id


#: A dimension within itself: its sum, its name, its items by weight and id, and what each of them counts.
Dimension = tuple[int, str, list[Contribution], list[int]]


def _dimension(name: str, items: list[Contribution], divisor: int, cap: int = SCALE) -> Dimension:
    """Discount the items of one dimension: by weight, then id, the k-th counts w // divisor^(k-1), clipped in sum."""
    ordered = sorted(items, key=_by_weight) if len(items) > 1 else items
    amounts = []
    total = 0
    scale = 1
    for item in ordered:
        amount = item.weight // scale
        if total + amount > cap:
            amount = cap - total
        amounts.append(amount)
        total += amount
        scale *= divisor
    return total, name, ordered, amounts


def _strongest_first(dimension: Dimension) -> tuple[int, str]:
    return -dimension[0], dimension[1]


def _ranked(accepted: Iterable[Contribution], single_dimension: bool, limits: Limits) -> list[tuple[Dimension, int]]:
    """The dimensions by rank, each with what its sum is divided by."""
    grouped: dict[str, list[Contribution]] = {}
    for item in accepted:
        grouped.setdefault(item.dimension, []).append(item)
    dimensions = [_dimension(name, items, limits.within_divisor) for name, items in grouped.items()]
    dimensions.sort(key=_strongest_first)
    ranked = []
    divisor = 1
    for dimension in dimensions:
        ranked.append((dimension, divisor))
        divisor *= limits.across_divisor
    if not single_dimension or not dimensions:
        return ranked
    # A proved exemption: the strongest dimension by itself, discounted less and clipped, counts when that is more
    # than all dimensions together under the usual discount. The larger of two monotone sums is monotone.
    alone = [
        _dimension(name, items, limits.single_dimension_divisor, limits.single_dimension_cap)
        for name, items in grouped.items()
    ]
    alone.sort(key=_strongest_first)
    if alone[0][0] <= sum(dimension[0] // divisor for dimension, divisor in ranked):
        return ranked
    return [(alone[0], 1)] + [((0, name, items, [0] * len(items)), 1) for _, name, items, _ in alone[1:]]


@attrs.define(eq=False, repr=False)
class Weighing(Value):
    """The score of a route and the dimensions that hold evidence of some weight, without the record of how it came.

    `total` is in millionths; the other fields are what `compose` writes the record from. Not frozen, because making
    it must be cheap; nobody changes one.
    """

    total: int
    dimensions: tuple[str, ...]
    signal_ids: tuple[str, ...]
    #: The sum before it was clipped to [0, 1].
    unclipped: int
    prior: int
    prior_declared: bool
    ranked: list[tuple[Dimension, int]]
    penalties: list[Contribution]
    #: What the penalties exceed their cap by.
    excess: int
    #: What was charged; only resource routes cost anything.
    cost: int
    #: None where no session was given, or none counts.
    session: int | None
    rejected: int


def weigh(route: Route, limits: Limits = DEFAULT_LIMITS) -> Weighing:
    """Weigh a route: all of the arithmetic of `compose` and nothing else, for who asks what a change would do.

    The total is an int in [0, 1000000] for any value in any numeric slot: malformed boosts, penalties and session
    add 0 and are counted in `rejected`, a malformed prior is the default of the route's kind, malformed cost and
    risk are their maxima. Never raises on malformed numbers.
    """
    advisory = route.kind != "lens"
    boosts, rejected = _boosts(route.boosts, limits)

    # Subject and lens routes cannot declare a prior above their own: inequalities (a) and (f) rest on it.
    ceiling = SCALE
    if route.kind != "resource":
        ceiling = limits.subject_prior if route.kind == "subject" else limits.lens_prior
    declared = bounded(route.prior, ceiling)
    if declared is None:
        rejected += route.prior is not None
    prior = min(limits.default_prior, ceiling) if declared is None else declared

    exempt = route.kind == "subject" and route.single_dimension is True
    ranked = _ranked(boosts.values(), exempt, limits)

    penalties: list[Contribution] = []
    penalised = excess = 0
    if advisory and route.penalties != ():
        penalties, malformed = _penalties(route.penalties, limits)
        rejected += malformed
        penalised = sum([item.weight for item in penalties])
        excess = max(0, penalised - limits.penalties_cap)
    cost = charged_cost(route.cost, route.risk, limits) if route.kind == "resource" else 0

    session = None
    if advisory and route.session is not None:
        session = bounded_signed(route.session, limits.session_cap)
        rejected += session is None
        session = session or 0

    total = prior - penalised + excess - cost + (session or 0)
    weighty = []
    for (held, name, items, _), divisor in ranked:
        total += held // divisor
        if items[0].weight > 0:  # the heaviest comes first
            weighty.append(name)
    return Weighing(
        total=max(0, min(SCALE, total)),
        dimensions=tuple(sorted(weighty, key=_DIMENSION_ORDER.__getitem__)),
        signal_ids=tuple(sorted(boosts)),
        unclipped=total,
        prior=prior,
        prior_declared=declared is not None,
        ranked=ranked,
        penalties=penalties,
        excess=excess,
        cost=cost,
        session=session,
        rejected=rejected,
    )
