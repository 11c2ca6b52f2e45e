"""The smallest changes that would alter a decision, found by composing the changed route again."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Final

import attrs

from qiongli.limits import Limits
from qiongli.records._units import Ppm
from qiongli.records.evidence import DIMENSIONS, Evidence
from qiongli.records.packet import WhatWouldChange
from qiongli.records.subjects import Reason
from qiongli.routing import Routing, Standing
from qiongli.safety import two_dimension_gate
from qiongli.scoring import Contribution, Route, subject_route, total_without, weigh

if TYPE_CHECKING:
    from qiongli.document import Document
    from qiongli.records.packet import BlockedCandidate
    from qiongli.refinement._senses import Restorer

#: Subjects, by rank, of which it is told what would change their standing.
_TOLD: Final = 3
#: Suppressors of one subject that are tried one by one, the heaviest ones.
_TRIED: Final = 3


def what_would_change(
    routing: Routing,
    limits: Limits,
    found: Sequence[Evidence] = (),
    document: Document | None = None,
    failures: Collection[str] = (),
) -> tuple[WhatWouldChange, ...]:
    """For each subject that matters, the smallest changes and what each would do.

    `found` is all evidence of the document, which says what a suppressor took; `failures` are the subjects that a
    session forbids to suggest again without the user's word.
    """
    restorer = _restorer(found, document)
    if routing.decision in ("no_subject", "borrow_lens"):
        return (*_towards_a_suggestion(routing, limits, restorer, failures), *map(unblocked, routing.blocked))
    if routing.decision == "suggest_subject" and routing.standing is not None:
        return (
            _weakest_support(routing.standing, limits),
            *[
                WhatWouldChange(rival, f"the answer {rival}", f"{rival} would be suggested instead")
                for rival in routing.secondaries
            ],
            *(_towards_another_one(routing, limits, restorer, failures) if restorer is not None else ()),
        )
    changes = []
    if routing.decision == "lock_subject":
        changes.append(WhatWouldChange(routing.primary, "qiongli subject unlock", "the subject could be replaced"))
    elif routing.decision == "confirm_subject":
        changes.append(WhatWouldChange(routing.primary, "qiongli subject reset", "the router would decide again"))
    first = next((standing.subject for standing in routing.ranked if standing.suggestible), routing.primary)
    if first != routing.primary:
        changes.append(WhatWouldChange(first, RESET, _suggested(first, failures)))
    return tuple(changes)


#: What returns a project to the router, whatever its mode is.
RESET: Final = "qiongli subject reset"


def _restorer(found: Sequence[Evidence], document: Document | None) -> Restorer | None:
    """Who can say what a suppressor took; None when none fired, as in nearly all texts."""
    if document is None or not any(item.role == "suppressor" for item in found):
        return None
    from qiongli.refinement._senses import Restorer

    return Restorer(found, document)


def _suggested(subject: str, failures: Collection[str], instead: str = "") -> str:
    if subject in failures:
        return "it would be asked about, because earlier attempts failed"
    return f"it would be suggested{instead}"


def _towards_a_suggestion(
    routing: Routing, limits: Limits, restorer: Restorer | None, failures: Collection[str]
) -> Iterator[WhatWouldChange]:
    """What would make a suggestion where there is none."""
    for fact in routing.facts:
        if fact.kind == "repeated_failure":
            # Whoever stands behind that subject waits for it, so that nothing else changes anything.
            for subject in fact.subjects:
                yield WhatWouldChange(subject, f"the answer {subject} to {fact.id}", "it would be suggested once more")
            return
    if any(reason.code in _LAST_LOOK for blocked in routing.blocked for reason in blocked.reasons):
        return  # nobody takes the place of the winner that was removed
    for standing in routing.ranked[:_TOLD]:
        if standing.suggestible:
            continue
        effect = _suggested(standing.subject, failures)
        for route, change in _without_suppressors(standing, restorer, limits):
            if _suggestible(route, limits):
                yield WhatWouldChange(standing.subject, change, effect)
                break
        yield WhatWouldChange(standing.subject, _missing(standing, limits), effect)


def _towards_another_one(
    routing: Routing, limits: Limits, restorer: Restorer, failures: Collection[str]
) -> Iterator[WhatWouldChange]:
    """Subjects that only their suppressors keep from standing before the suggested one, or beside it."""
    winner = routing.standing
    if winner is None:
        return
    named = {routing.primary, *routing.secondaries}
    for standing in [standing for standing in routing.ranked if standing.subject not in named][: _TOLD - 1]:
        subject = standing.subject
        for route, change in _without_suppressors(standing, restorer, limits):
            total = weigh(route, limits).total
            if total < winner.scored.total - limits.margin or not _suggestible(route, limits):
                continue
            before = (-total, route.priority, subject) < (
                -winner.scored.total,
                winner.scored.route.priority,
                winner.subject,
            )
            instead = _suggested(subject, failures, " instead")
            beside = f"it would stand beside {routing.primary}, within the margin"
            yield WhatWouldChange(subject, change, instead if before else beside)
            break


def _suggestible(route: Route, limits: Limits) -> bool:
    weighing = weigh(route, limits)
    gate = two_dimension_gate(weighing.dimensions, route.single_dimension)
    return gate.passed and weighing.total >= limits.suggest_threshold


def _without_suppressors(standing: Standing, restorer: Restorer | None, limits: Limits) -> Iterator[tuple[Route, str]]:
    """The subject's route without one of its suppressors, the lightest first, and then without any of them."""
    route = standing.scored.route
    penalties = weigh(route, limits).penalties if route.penalties else []
    took: frozenset[str] = frozenset()
    if restorer is not None and restorer.owns(standing.subject, [item.id for item in route.boosts]):
        # Not so for a composite, whose spans are shared with its parts: for it, only what is subtracted is looked at.
        took = restorer.took(standing.subject)
    ids = [item.id for item in penalties]
    ids += sorted(took.difference(ids))
    if not ids:
        return

    def changed(gone: Collection[str]) -> Route:
        boosts = route.boosts
        if restorer is not None and not took.isdisjoint(gone):
            boosts = subject_route(standing.subject, 0, restorer.without(standing.subject, gone)).boosts
        left = tuple([item for item in penalties if item.id not in gone])
        return attrs.evolve(route, boosts=boosts, penalties=left)

    without_any = changed(ids)
    if not _suggestible(without_any, limits):
        return
    for identifier in ids[:_TRIED][::-1]:
        yield changed([identifier]), f"without the suppressor {identifier}"
    if len(ids) > 1:
        yield without_any, f"without the suppressors {', '.join(ids)}"


#: Codes of the last look before a subject acts, and what would satisfy it.
_LAST_LOOK: Final = {
    "resource_missing": "its overlay and skill in place",
    "gate_raised": "its last check answering",
}
_OTHER_GATES: Final = {
    **_LAST_LOOK,
    "part_not_active": "its parts free to act",
    "parts_without_evidence": "evidence of each of its parts",
}


def unblocked(blocked: BlockedCandidate, *further: str) -> WhatWouldChange:
    """All that a blocked subject lacks, and `further` conditions: with one of them alone it would not be considered."""
    lacking = dict.fromkeys(map(_lacking, blocked.reasons))
    return WhatWouldChange(blocked.subject, " and ".join([*lacking, *further]), "it would be considered")


def _lacking(reason: Reason) -> str:
    if reason.code == "excluded":
        by_answer = reason.message.casefold().startswith("the user's answer")
        return "without the answer that excludes it" if by_answer else "without the words that exclude it"
    return _OTHER_GATES.get(reason.code, "state active")


def _missing(standing: Standing, limits: Limits) -> str:
    """Whether one more signal would make the subject suggestible, and where it would have to be."""
    route = standing.scored.route
    held = standing.scored.dimensions
    free = [name for name in DIMENSIONS if name not in held and name != "vocabulary"]
    # All free dimensions weigh alike, so one stands for all of them; a full weight is the most that one signal adds.
    if free and _suggestible(_with_one_more(route, free[0], limits), limits):
        return f"one more dimension: a strong signal in {' or '.join(free)}"
    if held and _suggestible(_with_one_more(route, held[-1], limits), limits):
        return f"one more strong signal in {held[-1]}"
    lacking = max(limits.suggest_threshold - standing.scored.total, 0)
    return f"more than one further signal; {lacking / 1_000_000:.2f} is missing to the threshold"


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
