"""The one order of routes, and what is chosen by it: a winner with its rivals, or resources under a budget."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import attrs

from qiongli._value import Value
from qiongli.errors import QiongliError
from qiongli.limits import DEFAULT_LIMITS, Limits
from qiongli.routing.candidates import Standing
from qiongli.scoring import Route, ScoredRoute, score

#: The priority of a route whose own cannot be read: after all others.
_LAST_PRIORITY: Final = 1 << 62


def _rank_key(item: ScoredRoute) -> tuple[int, int, int, str]:
    priority = item.route.priority
    return (-item.total, priority if type(priority) is int else _LAST_PRIORITY, item.cost, item.route.id)


def rank(scored: Iterable[ScoredRoute]) -> tuple[ScoredRoute, ...]:
    """The one order of routes: score, then lowest priority, then lowest cost, then id by code point.

    Ids are unique, so the order is total and never depends on the order of the input. Raises `QiongliError`
    (`duplicate_route`) when an id occurs twice.
    """
    routes = tuple(scored)
    unique(item.route.id for item in routes)
    return tuple(sorted(routes, key=_rank_key))


def unique(ids: Iterable[str]) -> None:
    """Raise `QiongliError` (`duplicate_route`) when an id occurs twice."""
    seen: set[str] = set()
    for id_ in ids:
        if id_ in seen:
            raise QiongliError(f"the route {id_!r} occurs twice", code="duplicate_route")
        seen.add(id_)


def select(
    standings: Sequence[Standing], limits: Limits = DEFAULT_LIMITS
) -> tuple[Standing | None, tuple[Standing, ...]]:
    """The winner and its rivals: the best suggestible one, and the suggestible ones within the margin, inclusive.

    `standings` are in rank order, and so are the rivals.
    """
    suggestible = [standing for standing in standings if standing.suggestible]
    if not suggestible:
        return None, ()
    winner = suggestible[0]
    lowest = winner.scored.total - limits.margin
    return winner, tuple(standing for standing in suggestible[1:] if standing.scored.total >= lowest)


@attrs.frozen(repr=False)
class ResourceCandidate(Value):
    """A resource that might be loaded: its route, its size in tokens if known, and whether the manifest pins it."""

    route: Route
    tokens: int | None
    pinned: bool = False


@attrs.frozen(repr=False)
class ResourceChoice(Value):
    """Which resources fit, in rank order, and which do not."""

    chosen: tuple[ScoredRoute, ...] = ()
    left_out: tuple[ScoredRoute, ...] = ()


def choose_resources(
    candidates: Iterable[ResourceCandidate], budget: int | None, limits: Limits = DEFAULT_LIMITS
) -> ResourceChoice:
    """Choose resources in rank order while their tokens fit into the budget; None is no budget.

    What the manifest pins is always chosen and takes its tokens first. Under a budget a resource of unknown size is
    left out unless it is pinned: it could be larger than everything that is left. Raises `QiongliError`
    (`duplicate_route`) when an id occurs twice.
    """
    candidates = tuple(candidates)
    order = rank(score(candidate.route, limits) for candidate in candidates)
    by_id = {candidate.route.id: candidate for candidate in candidates}
    left = budget
    if left is not None:
        left -= sum(candidate.tokens or 0 for candidate in candidates if candidate.pinned)
    chosen, left_out = [], []
    for item in order:
        candidate = by_id[item.route.id]
        if candidate.pinned or left is None:
            chosen.append(item)
        elif candidate.tokens is not None and 0 <= candidate.tokens <= left:
            chosen.append(item)
            left -= candidate.tokens
        else:
            left_out.append(item)
    return ResourceChoice(tuple(chosen), tuple(left_out))
