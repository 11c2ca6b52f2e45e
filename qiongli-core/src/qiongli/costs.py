"""What a route costs: its size against the token budget, made dearer by risk. Only resource routes cost anything."""

from __future__ import annotations

from qiongli.limits import DEFAULT_LIMITS, Limits, bounded
from qiongli.records._units import SCALE


def resource_cost(tokens: object, budget: object, limits: Limits = DEFAULT_LIMITS) -> int:
    """The cost of a resource before risk, in millionths: cost cap x min(1, tokens / budget), rounded down.

    An undeclared or malformed size costs the maximum, and so does any size when no budget is known: what cannot be
    measured must not look cheap.
    """
    if type(tokens) is not int or tokens < 0 or type(budget) is not int or budget <= 0:
        return limits.cost_cap
    return limits.cost_cap * min(tokens, budget) // budget


def charged_cost(cost: object, risk: object = None, limits: Limits = DEFAULT_LIMITS) -> int:
    """What is subtracted from the score, in millionths: min(cost cap, cost x risk), rounded down.

    `cost` is in millionths; None or malformed is the cap. `risk` is a multiplier in millionths, clipped to its
    range; None is 1.0, malformed is the largest.
    """
    amount = bounded(cost, limits.cost_cap)
    if amount is None:
        amount = limits.cost_cap
    if risk is None:
        multiplier = limits.risk_floor
    else:
        known = bounded(risk, limits.risk_cap)
        multiplier = limits.risk_cap if known is None else max(limits.risk_floor, known)
    return min(limits.cost_cap, amount * multiplier // SCALE)
