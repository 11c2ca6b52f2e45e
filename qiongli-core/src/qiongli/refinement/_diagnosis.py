"""Facts for the maintainers of the engine: counts and registry ids only, never text.

Failures of hooks are not among them: they belong to the process, and the same task must give the same packet.
"""

from __future__ import annotations

from typing import Any

from qiongli.routing import Routing


def diagnose(routing: Routing) -> dict[str, Any]:
    """What was rejected, withheld or replaced on the way to the decision."""
    rejected = sum(standing.scored.breakdown.rejected for standing in routing.ranked)
    rejected += sum(lens.scored.breakdown.rejected for lens in routing.lenses)
    diagnostics: dict[str, Any] = {"rejected_contributions": rejected}
    if routing.withheld_lenses:
        diagnostics["withheld_lenses"] = [
            {"lens": lens, "reasons": [reason.code for reason in reasons]} for lens, reasons in routing.withheld_lenses
        ]
    if routing.replaced:
        diagnostics["replaced_by_composite"] = [standing.subject for standing in routing.replaced]
    return diagnostics
