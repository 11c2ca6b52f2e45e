"""The score composer: one generic route, discounted evidence, and a breakdown that adds up exactly.

    S(r) = clamp(P(r) + sum B(r) - sum N(r) - C(r) + A(r), 0, 1)

All arithmetic is on integers, in millionths of one score; see `docs/reference/scoring.md`. The composer sees no gate.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import attrs

from qiongli._value import Value
from qiongli.costs import charged_cost, resource_cost
from qiongli.limits import DEFAULT_LIMITS, Limits, bounded, bounded_signed
from qiongli.records._units import SCALE, Ppm
from qiongli.records.evidence import DIMENSIONS, Evidence
from qiongli.records.packet import RouteKind, ScoreBreakdown, ScoreEntry, ScoreShare

_DIMENSION_ORDER: Final[dict[str, int]] = {name: index for index, name in enumerate(DIMENSIONS)}


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


@attrs.frozen(repr=False)
class ScoredRoute(Value):
    """A route with its score; `cost` is what was charged, in millionths."""

    route: Route
    breakdown: ScoreBreakdown
    cost: int
    #: The dimensions that hold evidence of some weight, in the fixed order of dimensions.
    dimensions: tuple[str, ...] = ()
    #: The ids of the evidence that counted, by code point.
    signal_ids: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """The score, in millionths."""
        return self.breakdown.total


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


def _contribution(evidence: Evidence) -> Contribution:
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

    Asserted subject-level signals are boosts; suppressors are penalties, once per id. Evidence of other subjects is
    left out, except that of the `parts` of a composite subject. A subject route has no cost.
    """
    owners = {subject, *parts}
    own = [item for item in evidence if item.subject in owners]
    return Route(
        kind="subject",
        id=subject,
        subject=subject,
        priority=priority,
        prior=Ppm(limits.subject_prior),
        boosts=tuple([_contribution(item) for item in own if counts_for_subject(item)]),
        penalties=tuple([_contribution(item) for item in own if item.role == "suppressor"]),
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


def _well_formed(values: object, cap: int) -> tuple[list[Contribution], int]:
    """Contributions with a text id and a weight in [0, cap], and how many were rejected."""
    fine = []
    rejected = 0
    for item in values if isinstance(values, tuple | list) else ():
        weight = bounded(item.weight, cap) if isinstance(item, Contribution) else None
        if weight is None or not isinstance(item.id, str):
            rejected += 1
        elif weight == item.weight and isinstance(item.source, str):
            fine.append(item)
        else:
            source = item.source if isinstance(item.source, str) else "unknown"
            fine.append(Contribution(item.id, item.dimension, Ppm(weight), source))
    return fine, rejected


def _heavier(new: Contribution, old: Contribution) -> bool:
    return (-new.weight, new.source) < (-old.weight, old.source)


def _boosts(values: object, limits: Limits) -> tuple[list[Contribution], int]:
    """The boosts that count, each id once with its largest weight, and how many were rejected.

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
    return list(accepted.values()), rejected


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
_Dimension = tuple[int, str, list[Contribution], list[int]]


def _dimension(name: str, items: list[Contribution], divisor: int, cap: int = SCALE) -> _Dimension:
    """Discount the items of one dimension: by weight, then id, the k-th counts w // divisor^(k-1), clipped in sum."""
    ordered = sorted(items, key=_by_weight) if len(items) > 1 else items
    amounts = []
    total = 0
    scale = 1
    for item in ordered:
        amount = min(cap - total, item.weight // scale)
        amounts.append(amount)
        total += amount
        scale *= divisor
    return total, name, ordered, amounts


def _strongest_first(dimension: _Dimension) -> tuple[int, str]:
    return -dimension[0], dimension[1]


def _dimension_entry(dimension: _Dimension, divisor: int) -> ScoreEntry:
    """One dimension after the discount of its rank; shares are differences of a running sum, so that they add up."""
    shares = []
    before = running = 0
    _, name, items, amounts = dimension
    for item, amount in zip(items, amounts, strict=True):
        running += amount
        after = running // divisor
        shares.append(ScoreShare(item.id, item.weight, Ppm(after - before), item.source))
        before = after
    return ScoreEntry("dimension", name, Ppm(before), tuple(shares))


def _boost_entries(accepted: Iterable[Contribution], single_dimension: bool, limits: Limits) -> list[ScoreEntry]:
    grouped: dict[str, list[Contribution]] = {}
    for item in accepted:
        grouped.setdefault(item.dimension, []).append(item)
    dimensions = [_dimension(name, items, limits.within_divisor) for name, items in grouped.items()]
    dimensions.sort(key=_strongest_first)
    entries = [_dimension_entry(dimension, limits.across_divisor**rank) for rank, dimension in enumerate(dimensions)]
    if not single_dimension or not dimensions:
        return entries
    # A proved exemption: the strongest dimension by itself, discounted less and clipped, counts when that is more
    # than all dimensions together under the usual discount. The larger of two monotone sums is monotone.
    alone = [
        _dimension(name, items, limits.single_dimension_divisor, limits.single_dimension_cap)
        for name, items in grouped.items()
    ]
    alone.sort(key=_strongest_first)
    if alone[0][0] <= sum(entry.amount for entry in entries):
        return entries
    return [_dimension_entry(alone[0], 1)] + [
        _dimension_entry((0, name, items, [0] * len(items)), 1) for _, name, items, _ in alone[1:]
    ]


def compose(route: Route, limits: Limits = DEFAULT_LIMITS) -> ScoreBreakdown:
    """The score of a route, with every contribution: the amounts of the entries sum to the total exactly.

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
    prior = bounded(route.prior, ceiling)
    if prior is None:
        rejected += route.prior is not None
        entries = [ScoreEntry("prior", "default", Ppm(min(limits.default_prior, ceiling)))]
    else:
        entries = [ScoreEntry("prior", "declared", Ppm(prior))]

    exempt = route.kind == "subject" and route.single_dimension is True
    entries += _boost_entries(boosts, exempt, limits)

    if advisory:
        penalties, malformed = _penalties(route.penalties, limits)
        rejected += malformed
        for item in penalties:
            share = ScoreShare(item.id, item.weight, Ppm(-item.weight), item.source, "penalty")
            entries.append(ScoreEntry("penalty", item.id, Ppm(-item.weight), (share,)))
        excess = sum(item.weight for item in penalties) - limits.penalties_cap
        if excess > 0:
            entries.append(ScoreEntry("penalty_limit", "penalties", Ppm(excess)))

    if route.kind == "resource":
        name = "undeclared" if route.cost is None else "declared"
        entries.append(ScoreEntry("cost", name, Ppm(-charged_cost(route.cost, route.risk, limits))))

    if advisory and route.session is not None:
        session = bounded_signed(route.session, limits.session_cap)
        rejected += session is None
        entries.append(ScoreEntry("session", "advisory", Ppm(session or 0)))

    total = sum(entry.amount for entry in entries)
    if total < 0:
        entries.append(ScoreEntry("floor", "zero", Ppm(-total)))
    elif total > SCALE:
        # Reachable by resource routes only: inequality (f) keeps subject and lens routes below.
        entries.append(ScoreEntry("ceiling", "one", Ppm(SCALE - total)))
    return ScoreBreakdown(
        route=route.id,
        kind=route.kind,
        subject=route.subject,
        total=Ppm(max(0, min(SCALE, total))),
        entries=tuple(entries),
        rejected=rejected,
    )


def score(route: Route, limits: Limits = DEFAULT_LIMITS) -> ScoredRoute:
    """Compose the route and note what it was charged, which breaks ties."""
    cost = charged_cost(route.cost, route.risk, limits) if route.kind == "resource" else 0
    breakdown = compose(route, limits)
    held = [entry for entry in breakdown.entries if entry.kind == "dimension"]
    weighty = {entry.name for entry in held for share in entry.shares if share.weight > 0}
    return ScoredRoute(
        route,
        breakdown,
        cost,
        tuple([name for name in DIMENSIONS if name in weighty]),
        tuple(sorted([share.id for entry in held for share in entry.shares])),
    )
