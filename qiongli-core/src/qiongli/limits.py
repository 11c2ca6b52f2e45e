"""The engine's numbers, the inequalities that they must keep, and the one door through which floats enter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import attrs

from qiongli._value import Value
from qiongli.errors import QiongliError
from qiongli.records._units import SCALE

#: Beyond this decimal exponent a number is over every cap; below its negative it rounds to nothing.
_EXPONENT_LIMIT: Final = 40


class LimitsError(QiongliError):
    """Limits break their inequalities or cannot be read; `problems` holds one error for each fault, in fixed order."""

    default_code = "invalid_limits"

    def __init__(self, problems: tuple[QiongliError, ...]) -> None:
        super().__init__(
            f"the limits break {len(problems)} rule(s): " + "; ".join(problem.message for problem in problems),
            place="limits",
            hint="See the inequalities in docs/reference/scoring.md",
        )
        self.problems: Final = problems


def _half_even(numerator: int, denominator: int) -> int:
    quotient, remainder = divmod(numerator, denominator)
    twice = 2 * remainder
    if twice > denominator or (twice == denominator and quotient % 2):
        quotient += 1
    return quotient


def _ratio(value: object) -> tuple[int, int] | None:
    """The exact rational of a finite number, or None; never calls a method that a subclass could have replaced."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return int.__index__(value), 1
    if isinstance(value, float):
        # NaN and the infinities have no ratio.
        try:
            return float.as_integer_ratio(value)
        except (ValueError, OverflowError):
            return None
    from decimal import Decimal
    from fractions import Fraction

    if type(value) is Fraction:
        return value.numerator, value.denominator
    if type(value) is Decimal:
        if not value.is_finite():
            return None
        if not value:
            return 0, 1
        # The exact ratio of 1e999999999 would not fit into memory.
        if value.adjusted() > _EXPONENT_LIMIT:
            return (-1 if value.is_signed() else 1) * 10**_EXPONENT_LIMIT, 1
        if value.adjusted() < -_EXPONENT_LIMIT:
            return (-1 if value.is_signed() else 1), 10**_EXPONENT_LIMIT
        return value.as_integer_ratio()
    return None


def quantise(value: object, cap: int = SCALE) -> int | None:
    """Turn a number in units of one score into millionths, or answer None when it is no usable number.

    Refused: bool, text, None and every other type, NaN, the infinities, and what is below zero (negative zero is
    zero). The exact rational value is rounded once, half to even, and then clipped to `cap` (millionths).
    """
    ratio = _ratio(value)
    if ratio is None or ratio[0] < 0:
        return None
    return min(cap, _half_even(ratio[0] * SCALE, ratio[1]))


def bounded(value: object, cap: int) -> int | None:
    """What a slot that should hold millionths holds: an int in [0, cap], or None when it is malformed.

    Only a true `int` is taken: floats have passed `quantise` before, or they are a fault of whoever filled the slot.
    """
    if type(value) is not int or value < 0:
        return None
    return min(cap, value)


def bounded_signed(value: object, cap: int) -> int | None:
    """The same for a slot with a sign: an int in [-cap, cap], or None when it is malformed."""
    if type(value) is not int:
        return None
    return max(-cap, min(cap, value))


def _ppm(default: int, description: str) -> Any:
    return attrs.field(default=default, metadata={"unit": "ppm", "description": description})


def _multiplier(default: int, description: str) -> Any:
    return attrs.field(default=default, metadata={"unit": "multiplier", "description": description})


def _count(default: int, description: str) -> Any:
    return attrs.field(default=default, metadata={"unit": "count", "description": description})


@attrs.frozen(repr=False)
class Limits(Value):
    """Every number of the engine: millionths of one score, multipliers in millionths, or counts.

    An instance that did not come from `load_limits` or `DEFAULT_LIMITS` has not been checked; `broken_rules` does.
    """

    default_prior: int = _ppm(500_000, "default prior of a route that declares none")
    subject_prior: int = _ppm(300_000, "prior of subject routes")
    lens_prior: int = _ppm(300_000, "prior of lens routes")
    weight_floor: int = _ppm(60_000, "smallest weight of a signal that the registry allows")
    weight_cap: int = _ppm(200_000, "largest weight of a signal; the most that one boost can add")
    within_divisor: int = _count(3, "discount within a dimension: each further signal counts 1/3 of the rank before")
    across_divisor: int = _count(2, "discount across dimensions: each further dimension counts 1/2 of the rank before")
    single_dimension_divisor: int = _count(2, "discount within the one dimension of a proved single-dimension subject")
    single_dimension_cap: int = _ppm(300_000, "what that one dimension is clipped at")
    penalty_cap: int = _ppm(300_000, "largest single penalty")
    penalties_cap: int = _ppm(600_000, "largest sum of penalties")
    cost_cap: int = _ppm(200_000, "largest cost, after risk; resource routes only")
    risk_floor: int = _multiplier(1_000_000, "smallest risk multiplier, and that of a route that declares none")
    risk_cap: int = _multiplier(2_000_000, "largest risk multiplier")
    session_cap: int = _ppm(50_000, "largest session advisory, each sign")
    session_step: int = _ppm(25_000, "what one remembered success or failure adds to or takes from the advisory")
    suggest_threshold: int = _ppm(600_000, "suggest threshold T")
    lens_threshold: int = _ppm(400_000, "lens threshold")
    lending_weight: int = _ppm(100_000, "smallest weight at which one method signal lends its lens alone")
    strict_suggest_threshold: int = _ppm(650_000, "suggest threshold of a project with strictness strict")
    strict_lens_threshold: int = _ppm(450_000, "lens threshold of a project with strictness strict")
    margin: int = _ppm(100_000, "margin within which a rival stands, inclusive")
    clarification_rounds: int = _count(2, "rounds of one question")
    clarification_options: int = _count(3, "options of one question")
    clarification_facts: int = _count(64, "different questions of one session")
    retained_successes: int = _count(8, "successes that a session retains")
    retained_failures: int = _count(8, "failures that a session retains")
    session_expiry: int = _count(20, "turns after which a session's outcomes count nothing")
    forced_core_failures: int = _count(3, "failures of one route on one task that stop its suggestion")
    input_size: int = _count(1_048_576, "bytes of one task packet, in UTF-8; larger ones are refused")
    diagnostics_events: int = _count(64, "diagnostic events of one run")
    diagnostics_field: int = _count(200, "code points of one diagnostic field")
    diagnostics_payload: int = _count(16_384, "bytes of all diagnostics of one run, in UTF-8")

    def strict(self) -> Limits:
        """The limits of a project whose strictness is `strict`: both thresholds are higher, nothing else moves."""
        return attrs.evolve(
            self,
            suggest_threshold=self.strict_suggest_threshold,
            lens_threshold=self.strict_lens_threshold,
            lending_weight=max(self.lending_weight, self.strict_lens_threshold - self.lens_prior),
        )


def _malformed(limits: Limits) -> list[QiongliError]:
    """Line d, first part: every number is an int in its range."""
    problems = []
    for field in attrs.fields(Limits):
        value = getattr(limits, field.name)
        unit = field.metadata["unit"]
        if unit == "ppm":
            fine, expected = type(value) is int and 0 <= value <= SCALE, "an integer from 0 to 1000000 millionths"
        elif unit == "multiplier":
            fine, expected = type(value) is int and value >= SCALE, "a multiplier of at least 1.0, in millionths"
        else:
            fine, expected = type(value) is int and value >= 1, "a count of at least 1"
        if fine and field.name.endswith("_divisor"):
            fine, expected = value >= 2, "a divisor of at least 2"
        if not fine:
            problems.append(_problem("d", f"{field.name} is out of its range", field=field.name, expected=expected))
    return problems


def _problem(line: str, message: str, *, field: str = "", expected: str = "") -> QiongliError:
    place = f"limits.{field}" if field else "limits"
    return QiongliError(f"({line}) {message}", code=f"limits_{line}", place=place, expected=expected)


def broken_rules(limits: Limits) -> tuple[QiongliError, ...]:
    """Every inequality (a) to (h) that the limits break: one error a line, its letter in the code (`limits_a`).

    The suprema are those of infinite geometric sums; no finite evidence attains them.
    """
    problems = _malformed(limits)
    if problems:
        return tuple(problems)
    # Suprema as exact rationals over one common denominator, so that no rounding decides an inequality.
    unit = (limits.within_divisor - 1) * (limits.across_divisor - 1)
    one_dimension = limits.weight_cap * limits.within_divisor * (limits.across_divisor - 1)
    all_patterns = limits.weight_cap * limits.within_divisor * limits.across_divisor
    lowest = min(limits.suggest_threshold, limits.strict_suggest_threshold)
    highest = max(limits.suggest_threshold, limits.strict_suggest_threshold)
    rules = (
        (
            "a",
            limits.subject_prior * unit + one_dimension <= lowest * unit,
            "subject prior + supremum of one dimension must not exceed the suggest threshold",
        ),
        ("b", 2 * limits.session_cap <= limits.margin, "twice the session cap must not exceed the margin"),
        (
            "c",
            (highest - limits.subject_prior) * unit < all_patterns,
            "suggest threshold - subject prior must be below the supremum of all patterns",
        ),
        (
            "d",
            limits.lens_threshold <= limits.suggest_threshold
            and limits.strict_lens_threshold <= limits.strict_suggest_threshold
            and limits.margin > 0
            and limits.weight_floor <= limits.weight_cap
            and limits.penalty_cap <= limits.penalties_cap
            and limits.risk_floor <= limits.risk_cap
            and limits.session_step <= limits.session_cap,
            "lens threshold <= suggest threshold, margin > 0, and no floor or part above its cap",
        ),
        ("e", limits.session_cap < limits.weight_floor, "the session cap must be below the smallest signal weight"),
        (
            "f",
            (limits.subject_prior + limits.session_cap) * unit + all_patterns <= SCALE * unit
            and limits.subject_prior + limits.single_dimension_cap + limits.session_cap <= SCALE,
            "subject prior + supremum of all patterns + session cap must not exceed one score",
        ),
        ("g", limits.cost_cap * unit < all_patterns, "the cost cap must be below the supremum of all patterns"),
        (
            "h",
            limits.lens_prior + limits.lending_weight >= limits.lens_threshold
            and limits.lending_weight <= limits.weight_cap
            and limits.strict_lens_threshold <= limits.lens_prior + limits.weight_cap,
            "lens prior + lending weight must reach the lens threshold, within the weight of one signal",
        ),
    )
    return tuple(_problem(line, message) for line, holds, message in rules if not holds)


def load_limits(values: Mapping[str, object]) -> Limits:
    """Limits from decimal numbers (`suggest_threshold: 0.62`); what is not named keeps its default.

    Scores and multipliers are decimals, counts are integers. Raises `LimitsError` with all problems at once: an
    unknown name, a value that is no finite number in range, and one problem for each broken inequality.
    """
    problems: list[QiongliError] = []
    loaded: dict[str, int] = {}
    fields = {field.name: field for field in attrs.fields(Limits)}
    for name in values:
        value = values[name]
        if name not in fields:
            problems.append(
                QiongliError(
                    f"{name!r} is not a limit", code="unknown_limit", place=f"limits.{name}", available=tuple(fields)
                )
            )
            continue
        unit = fields[name].metadata["unit"]
        # The wide cap keeps a value out of range visible, so that it is reported and not clipped.
        number = quantise(value, 1_000 * SCALE) if unit != "count" else value if type(value) is int else None
        if number is None:
            expected = "an integer" if unit == "count" else "a finite decimal number, not negative"
            problems.append(_problem("d", f"{name} is no usable number", field=name, expected=expected))
        else:
            loaded[name] = number
    limits = Limits(**loaded)
    problems.extend(broken_rules(limits))
    if problems:
        raise LimitsError(tuple(problems))
    return limits


DEFAULT_LIMITS: Final = Limits()
