"""The smallest changes that would alter a decision, found by composing the changed route again."""

from __future__ import annotations

from operator import attrgetter

import attrs

from qiongli.limits import Limits
from qiongli.records._units import Ppm
from qiongli.records.evidence import DIMENSIONS
from qiongli.records.packet import WhatWouldChange
from qiongli.routing import Routing, Standing
from qiongli.safety import two_dimension_gate
from qiongli.scoring import Contribution, Route, total_without, weigh


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
    weighing = weigh(route, limits)
    gate = two_dimension_gate(weighing.dimensions, route.single_dimension)
    return gate.passed and weighing.total >= limits.suggest_threshold


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
    scored = standing.scored
    entries = [entry for entry in scored.breakdown.entries if entry.kind == "dimension"]
    entries.sort(key=attrgetter("amount", "name"))
    for entry in entries:
        held = [name for name in scored.dimensions if name != entry.name]
        if (
            not two_dimension_gate(held, scored.route.single_dimension).passed
            or total_without(scored, entry.name, limits) < limits.suggest_threshold
        ):
            signals = ", ".join([share.id for share in entry.shares[:3]])
            change = f"without any {entry.name} signal ({signals})"
            return WhatWouldChange(standing.subject, change, "it would no longer be suggested")
    return WhatWouldChange(
        standing.subject, "no single dimension decides", "it would stay suggested without any one of them"
    )
