"""The smallest changes that would alter a decision, found by composing the changed route again."""

from __future__ import annotations

import attrs

from qiongli.limits import Limits
from qiongli.records._units import Ppm
from qiongli.records.evidence import DIMENSIONS
from qiongli.records.packet import WhatWouldChange
from qiongli.routing import Routing, Standing
from qiongli.safety import two_dimension_gate
from qiongli.scoring import Contribution, Route, compose, score


def what_would_change(routing: Routing, limits: Limits) -> tuple[WhatWouldChange, ...]:
    """For each subject that matters, the smallest change and what it would do."""
    changes: list[WhatWouldChange] = []
    if routing.decision in ("no_subject", "borrow_lens"):
        changes += [change for standing in routing.ranked if (change := _missing(standing, limits))]
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
    """The lightest single further signal that would make the subject suggestible, or that one is not enough."""
    route = standing.scored.route
    if standing.suggestible:
        return None
    held = standing.scored.dimensions
    free = [name for name in DIMENSIONS if name not in held and name != "vocabulary"]
    step = 10_000
    for weight in range(limits.weight_floor, limits.weight_cap + 1, step):
        for dimension in (*free, *held):
            further = Contribution("further", dimension, Ppm(weight))
            if _suggestible(attrs.evolve(route, boosts=(*route.boosts, further)), limits):
                where = f"another dimension ({', '.join(free)})" if dimension in free else f"the dimension {dimension}"
                return WhatWouldChange(
                    standing.subject,
                    f"one more signal of weight {weight / 1_000_000:.2f} in {where}",
                    "it would be suggested",
                )
    lacking = limits.suggest_threshold - standing.scored.total
    return WhatWouldChange(
        standing.subject,
        f"more than one further signal; {max(lacking, 0) / 1_000_000:.2f} is missing to the threshold",
        "it would be suggested",
    )


def _weakest_support(standing: Standing, limits: Limits) -> WhatWouldChange:
    """The lightest signal whose absence would end the suggestion, else the lightest dimension."""
    route = standing.scored.route
    boosts = sorted(route.boosts, key=lambda item: (item.weight, item.id))
    for boost in boosts:
        left = tuple(item for item in route.boosts if item.id != boost.id)
        if not _suggestible(attrs.evolve(route, boosts=left), limits):
            return WhatWouldChange(standing.subject, f"without {boost.id}", "it would no longer be suggested")
    entries = [entry for entry in compose(route, limits).entries if entry.kind == "dimension"]
    for entry in sorted(entries, key=lambda entry: (entry.amount, entry.name)):
        left = tuple(item for item in route.boosts if item.dimension != entry.name)
        if not _suggestible(attrs.evolve(route, boosts=left), limits):
            return WhatWouldChange(
                standing.subject, f"without any {entry.name} signal", "it would no longer be suggested"
            )
    return WhatWouldChange(
        standing.subject, "no single signal or dimension decides", "it would stay suggested without any one of them"
    )
