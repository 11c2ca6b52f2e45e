"""Facts for the maintainers of the engine: counts and registry ids only, never text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qiongli.routing import Routing

if TYPE_CHECKING:
    from qiongli.plugins import HookCaller


def diagnose(routing: Routing, hooks: HookCaller | None) -> dict[str, Any]:
    """What was rejected, withheld or failed on the way to the decision."""
    rejected = sum(standing.scored.breakdown.rejected for standing in routing.ranked)
    rejected += sum(lens.scored.breakdown.rejected for lens in routing.lenses)
    diagnostics: dict[str, Any] = {"rejected_contributions": rejected}
    if routing.withheld_lenses:
        diagnostics["withheld_lenses"] = [
            {"lens": lens, "reasons": [reason.code for reason in reasons]} for lens, reasons in routing.withheld_lenses
        ]
    if routing.replaced:
        diagnostics["replaced_by_composite"] = [standing.subject for standing in routing.replaced]
    if hooks is not None and hooks.failures:
        diagnostics["hook_failures"] = [
            {"distribution": failure.distribution, "hook": failure.hook} for failure in hooks.failures
        ]
    return diagnostics
