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
    #: What each dimension holds before it is discounted for its rank, strongest first: (name, millionths).
    sums: tuple[tuple[str, int], ...] = ()

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
    boosts, penalties = [], []
    for item in evidence:
        if item.subject != subject and item.subject not in parts:
            continue
        if item.role == "suppressor":
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
_Dimension = tuple[int, str, list[Contribution], list[int]]


def _dimension(name: str, items: list[Contribution], divisor: int, cap: int = SCALE) -> _Dimension:
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


def _strongest_first(dimension: _Dimension) -> tuple[int, str]:
    return -dimension[0], dimension[1]


def _ranked(accepted: Iterable[Contribution], single_dimension: bool, limits: Limits) -> list[tuple[_Dimension, int]]:
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
    ranked: list[tuple[_Dimension, int]]
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


def _dimension_entry(dimension: _Dimension, divisor: int) -> ScoreEntry:
    """One dimension after the discount of its rank; shares are differences of a running sum, so that they add up."""
    shares = []
    before = running = 0
    _, name, items, amounts = dimension
    for item, amount in zip(items, amounts, strict=True):
        running += amount
        after = running // divisor
        # Not `Ppm(...)`: a call of that name takes as long as making the share.
        shares.append(ScoreShare(item.id, item.weight, after - before, item.source))  # type: ignore[arg-type]
        before = after
    return ScoreEntry("dimension", name, Ppm(before), tuple(shares))


def _breakdown(route: Route, weighing: Weighing) -> ScoreBreakdown:
    """The record of a weighing: one entry for each contribution."""
    entries = [ScoreEntry("prior", "declared" if weighing.prior_declared else "default", Ppm(weighing.prior))]
    entries += [_dimension_entry(dimension, divisor) for dimension, divisor in weighing.ranked]
    for item in weighing.penalties:
        share = ScoreShare(item.id, item.weight, Ppm(-item.weight), item.source, "penalty")
        entries.append(ScoreEntry("penalty", item.id, Ppm(-item.weight), (share,)))
    if weighing.excess > 0:
        entries.append(ScoreEntry("penalty_limit", "penalties", Ppm(weighing.excess)))
    if route.kind == "resource":
        entries.append(ScoreEntry("cost", "undeclared" if route.cost is None else "declared", Ppm(-weighing.cost)))
    if weighing.session is not None:
        entries.append(ScoreEntry("session", "advisory", Ppm(weighing.session)))
    if weighing.unclipped < 0:
        entries.append(ScoreEntry("floor", "zero", Ppm(-weighing.unclipped)))
    elif weighing.unclipped > SCALE:
        # Reachable by resource routes only: inequality (f) keeps subject and lens routes below.
        entries.append(ScoreEntry("ceiling", "one", Ppm(SCALE - weighing.unclipped)))
    return ScoreBreakdown(route.id, route.kind, route.subject, Ppm(weighing.total), tuple(entries), weighing.rejected)


def compose(route: Route, limits: Limits = DEFAULT_LIMITS) -> ScoreBreakdown:
    """The score of a route, with every contribution: the amounts of the entries sum to the total exactly.

    What malformed numbers count is told at `weigh`; it never raises on them.
    """
    return _breakdown(route, weigh(route, limits))


def score(route: Route, limits: Limits = DEFAULT_LIMITS) -> ScoredRoute:
    """Compose the route and note what it was charged, which breaks ties."""
    weighing = weigh(route, limits)
    return ScoredRoute(
        route,
        _breakdown(route, weighing),
        weighing.cost,
        weighing.dimensions,
        weighing.signal_ids,
        tuple([(dimension[1], dimension[0]) for dimension, _ in weighing.ranked]),
    )


def total_without(scored: ScoredRoute, dimension: str, limits: Limits = DEFAULT_LIMITS) -> int:
    """The score that a route would have without the evidence of one dimension, in millionths.

    The dimensions behind it rise by one rank.
    """
    breakdown = scored.breakdown
    if breakdown.rejected or scored.route.single_dimension:
        # What is left may count otherwise than it did, so that it is weighed anew.
        boosts = scored.route.boosts if isinstance(scored.route.boosts, tuple | list) else ()
        left = tuple([item for item in boosts if getattr(item, "dimension", None) != dimension])
        return weigh(attrs.evolve(scored.route, boosts=left), limits).total
    total = sum([entry.amount for entry in breakdown.entries if entry.kind not in ("dimension", "floor", "ceiling")])
    rank = 0
    for name, held in scored.sums:
        if name != dimension:
            total += held // limits.across_divisor**rank
            rank += 1
    return max(0, min(SCALE, total))
