"""The record of a score: every contribution as an entry, and the entries add up to the total exactly."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import attrs

from qiongli._value import Value
from qiongli.limits import DEFAULT_LIMITS, Limits
from qiongli.records._units import SCALE, Ppm
from qiongli.records.packet import ScoreBreakdown, ScoreEntry, ScoreShare
from qiongli.scoring.routes import Route
from qiongli.scoring.weighing import Dimension, Weighing, weigh


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


#: The same sign adds the same in text after text, and a share that is known is found in a third of the time it takes
#: to make one.
_share: Final = lru_cache(maxsize=8_192)(ScoreShare)


def _dimension_entry(dimension: Dimension, divisor: int) -> ScoreEntry:
    """One dimension after the discount of its rank; shares are differences of a running sum, so that they add up."""
    shares = []
    before = running = 0
    _, name, items, amounts = dimension
    for item, amount in zip(items, amounts, strict=True):
        running += amount
        after = running // divisor
        shares.append(_share(item.id, item.weight, after - before, item.source))
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
