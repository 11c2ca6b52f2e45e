"""The route selector: who may be compared, who wins, which rivals stand beside the winner, which lenses are lent."""

from __future__ import annotations

from qiongli.routing.candidates import (
    FactKind,
    LensCandidate,
    LensStanding,
    RouteCandidate,
    Routing,
    Standing,
    UnresolvedFact,
)
from qiongli.routing.decision import ambiguous_fact, decide
from qiongli.routing.order import ResourceCandidate, ResourceChoice, choose_resources, rank, select

__all__ = [
    "FactKind",
    "LensCandidate",
    "LensStanding",
    "ResourceCandidate",
    "ResourceChoice",
    "RouteCandidate",
    "Routing",
    "Standing",
    "UnresolvedFact",
    "ambiguous_fact",
    "choose_resources",
    "decide",
    "rank",
    "select",
]
