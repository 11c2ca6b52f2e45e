"""The score composer: one generic route, discounted evidence, and a breakdown that adds up exactly.

    S(r) = clamp(P(r) + sum B(r) - sum N(r) - C(r) + A(r), 0, 1)

All arithmetic is on integers, in millionths of one score; see `docs/reference/scoring.md`. The composer sees no gate.
"""

from __future__ import annotations

from qiongli.scoring.breakdown import ScoredRoute, compose, score, total_without
from qiongli.scoring.routes import (
    Contribution,
    Route,
    counts_for_lens,
    counts_for_subject,
    lens_route,
    resource_route,
    subject_route,
)
from qiongli.scoring.weighing import Weighing, weigh

__all__ = [
    "Contribution",
    "Route",
    "ScoredRoute",
    "Weighing",
    "compose",
    "counts_for_lens",
    "counts_for_subject",
    "lens_route",
    "resource_route",
    "score",
    "subject_route",
    "total_without",
    "weigh",
]
