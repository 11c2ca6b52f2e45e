"""The smallest changes that would alter a decision, found by composing the changed route again."""

from __future__ import annotations

import attrs

from qiongli.limits import Limits
from qiongli.records._units import Ppm
from qiongli.records.evidence import DIMENSIONS
from qiongli.records.packet import ScoreEntry, WhatWouldChange
from qiongli.routing import Routing, Standing
from qiongli.safety import two_dimension_gate
from qiongli.scoring import Contribution, Route, score


def what_would_change(routing: Routing, limits: Limits) -> tuple[WhatWouldChange, ...]:
    """For each subject that matters, the smallest change and what it would do."""
    changes: list[WhatWouldChange] = []
    if routing.decision in ("no_subject", "borrow_lens"):
        changes += [change for standing in routing.ranked[:3] if (change := _missing(standing, limits))]
        for blocked in routing.blocked:
            codes = {reason.code for reason in blocked.reasons}
            if "excluded" in codes:
                words = "without the words that exclude it"
            elif "part_not_active" in codes:
                words = "all its parts active"
            else:
                words = "state active"
            changes.append(WhatWouldChange(blocked.subject, words, "it would be considered"))
    elif routing.decision == "suggest_subject" and routing.standing is not None:
        changes.append(_weakest_support(routing.standing, limits))
        changes += [
            WhatWouldChange(rival, f"the answer {rival}", f"{rival} would be suggested instead")
            for rival in routing.secondaries
        ]
    elif routing.decision == "lock_subject":
        changes.append(WhatWouldChange(routing.primary, "qiongli subject unlock", "the subject could be replaced"))
    elif routing.decision == "confirm_subject":
        changes.append(WhatWouldChange(routing.primary, "qiongli subject reset", "the router would suggest again"))
    return tuple(changes)


def _suggestible(route: Route, limits: Limits) -> bool:
    scored = score(route, limits)
    gate = two_dimension_gate(scored.dimensions, route.single_dimension)
    return gate.passed and scored.total >= limits.suggest_threshold


def _missing(standing: Standing, limits: Limits) -> WhatWouldChange | None:
    """Whether one more signal would make the subject suggestible, and where it would have to be."""
    if standing.suggestible:
        return None
    route = standing.scored.route
    held = standing.scored.dimensions
    free = [name for name in DIMENSIONS if name not in held and name != "vocabulary"]
    # All free dimensions weigh alike, so one stands for all of them; a full weight is the most that one signal adds.
    if free and _suggestible(_with_one_more(route, free[0], limits), limits):
        change = f"one more dimension: a strong signal in {' or '.join(free)}"
    elif held and _suggestible(_with_one_more(route, held[-1], limits), limits):
        change = f"one more strong signal in {held[-1]}"
    else:
        lacking = max(limits.suggest_threshold - standing.scored.total, 0)
        change = f"more than one further signal; {lacking / 1_000_000:.2f} is missing to the threshold"
    return WhatWouldChange(standing.subject, change, "it would be suggested")


def _with_one_more(route: Route, dimension: str, limits: Limits) -> Route:
    further = Contribution("further", dimension, Ppm(limits.weight_cap))
    return attrs.evolve(route, boosts=(*route.boosts, further))


def _weakest_support(standing: Standing, limits: Limits) -> WhatWouldChange:
    """The lightest dimension without which the suggestion would end, if there is one."""
    entries = [entry for entry in standing.scored.breakdown.entries if entry.kind == "dimension"]
    for entry in sorted(entries, key=lambda entry: (entry.amount, entry.name)):
        if not _stands_without(standing, entry, limits):
            signals = ", ".join(share.id for share in entry.shares[:3])
            change = f"without any {entry.name} signal ({signals})"
            return WhatWouldChange(standing.subject, change, "it would no longer be suggested")
    return WhatWouldChange(
        standing.subject, "no single dimension decides", "it would stay suggested without any one of them"
    )


def _stands_without(standing: Standing, entry: ScoreEntry, limits: Limits) -> bool:
    """Whether the subject would still be suggested without one dimension; composed only where that is in doubt."""
    route = standing.scored.route
    breakdown = standing.scored.breakdown
    # With a rejected contribution, or an exemption, what is left may count otherwise than it did.
    if not breakdown.rejected and not route.single_dimension:
        held = [name for name in standing.scored.dimensions if name != entry.name]
        if not two_dimension_gate(held).passed:
            return False
        # The dimensions behind it rise by one rank. They count no less than before, and at most so much more: with n
        # the divisor across dimensions, x // n^(k-1) is at most n * (x // n^k) + n - 1.
        without = breakdown.total - entry.amount
        if without >= limits.suggest_threshold:
            return True
        dimensions = [item for item in breakdown.entries if item.kind == "dimension"]
        behind = dimensions[dimensions.index(entry) + 1 :]
        if without + sum((limits.across_divisor - 1) * (item.amount + 1) for item in behind) < limits.suggest_threshold:
            return False
    left = tuple(item for item in route.boosts if item.dimension != entry.name)
    return _suggestible(attrs.evolve(route, boosts=left), limits)
