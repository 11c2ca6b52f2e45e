"""From a routing to the resources that it activates; reading and choosing under a budget belong to `resources`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qiongli.errors import InputError
from qiongli.limits import Limits
from qiongli.records.project import ManifestState
from qiongli.records.resources import ResourceActivationPlan
from qiongli.resources import PlanRequest, plan_resources
from qiongli.routing import Routing

if TYPE_CHECKING:
    from qiongli.plugins import Catalogue


def check_budget(budget: object) -> None:
    """Raise `InputError` (`invalid_budget`) unless the budget is a number of tokens from 0, or None."""
    if budget is not None and (type(budget) is not int or budget < 0):
        raise InputError(
            f"the budget {budget!r:.40} is no number of tokens",
            code="invalid_budget",
            place="budget",
            expected="an integer from 0, or none",
        )


def plan_for(
    routing: Routing, manifest_state: ManifestState, catalogue: Catalogue, budget: int | None, limits: Limits
) -> tuple[ResourceActivationPlan, tuple[str, ...], tuple[str, ...]]:
    """The plan, the `subject/kind/name` of what may be loaded now, and warnings about what is missing.

    Overlay and skill of a suggestion are in the plan but not loaded: it is the user who applies them.
    """
    settled = routing.decision in ("confirm_subject", "lock_subject")
    request = PlanRequest(
        subject=routing.primary if routing.decision in ("suggest_subject", "confirm_subject", "lock_subject") else None,
        applied=settled,
        lenses=tuple((lens.subject, lens.lens) for lens in routing.lenses if lens.lent),
        pinned_lenses=manifest_state.method_lenses,
        pinned_venues=manifest_state.venue_profiles,
    )
    return plan_resources(catalogue, request, budget=budget, limits=limits)
