"""Standings of method lenses: which are lent, and which have evidence but may not be."""

from __future__ import annotations

from collections.abc import Sequence

from qiongli.limits import Limits
from qiongli.records.subjects import Reason
from qiongli.routing.candidates import LensCandidate, LensStanding
from qiongli.routing.order import rank, unique
from qiongli.safety import LENS_GATES, eligibility
from qiongli.scoring import ScoredRoute, lens_route, score


def score_lenses(
    lenses: Sequence[LensCandidate], limits: Limits
) -> tuple[tuple[LensStanding, ...], tuple[tuple[str, tuple[Reason, ...]], ...]]:
    """Lenses with evidence: the eligible ones in rank order, scored, and the ids of the others with the reasons.

    A lens is lent when it holds evidence of some weight and its score reaches the lens threshold.
    """
    owners: dict[str, LensCandidate] = {}
    scored: list[ScoredRoute] = []
    withheld = []
    unique(lens.id for lens in lenses)
    for lens in lenses:
        route = lens_route(lens.subject, lens.lens, lens.priority, lens.evidence, limits=limits)
        if not route.boosts:
            continue
        verdict = eligibility(lens.gates, LENS_GATES)
        if not verdict.eligible:
            withheld.append((lens.id, verdict.reasons))
            continue
        owners[lens.id] = lens
        scored.append(score(route, limits))
    standings = tuple(
        LensStanding(
            owners[item.route.id].subject,
            owners[item.route.id].lens,
            item,
            # Malformed evidence adds nothing, and a lens is not lent for its prior alone.
            bool(item.dimensions) and item.total >= limits.lens_threshold,
        )
        for item in rank(scored)
    )
    return standings, tuple(sorted(withheld))
