"""Counts, proportions with their uncertainty, and tables of expected against actual."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import sqrt
from typing import Any, Final

import attrs

#: Two-sided 95 % of the normal distribution.
Z_95: Final = 1.959963984540054

#: Digits that are kept of a proportion in a report.
DIGITS: Final = 6

#: More cases than this are never asked for.
_MOST_CASES: Final = 1_000_000


@attrs.frozen
class Proportion:
    """`successes` of `n`; without any case the value is 0 and says nothing."""

    successes: int
    n: int

    @property
    def value(self) -> float:
        """The share; 0 for an empty denominator."""
        return round(self.successes / self.n, DIGITS) if self.n else 0.0

    @property
    def low(self) -> float:
        """The Wilson 95 % lower bound."""
        return round(wilson_interval(self.successes, self.n)[0], DIGITS)

    @property
    def high(self) -> float:
        """The Wilson 95 % upper bound."""
        return round(wilson_interval(self.successes, self.n)[1], DIGITS)

    def reaches(self, target: float) -> bool:
        """Whether the share is at least `target`, to the millionth; an empty denominator reaches nothing."""
        return self.n > 0 and self.successes * 1_000_000 >= round(target * 1_000_000) * self.n

    def to_packet(self) -> dict[str, Any]:
        """Value, counts and bounds, ready for JSON."""
        return {
            "value": self.value,
            "successes": self.successes,
            "n": self.n,
            "ci_low": self.low,
            "ci_high": self.high,
        }


def proportion(flags: Iterable[bool]) -> Proportion:
    """The proportion of true flags."""
    successes = n = 0
    for flag in flags:
        n += 1
        successes += flag
    return Proportion(successes, n)


def wilson_interval(successes: int, n: int, z: float = Z_95) -> tuple[float, float]:
    """The Wilson score interval of a proportion, 95 % by default; (0, 1) without a case.

    Source: E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical Inference", Journal of the
    American Statistical Association 22 (1927), 209-212.
    """
    if n <= 0:
        return 0.0, 1.0
    share = successes / n
    centre = share + z * z / (2 * n)
    spread = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    # At the ends the bounds are exactly 0 and 1; the square root would miss them by a rounding error.
    low = 0.0 if successes == 0 else (centre - spread) / scale
    high = 1.0 if successes == n else (centre + spread) / scale
    return low, high


def zero_failure_bound(n: int, confidence: float = 0.95) -> float:
    """The largest rate that `n` cases without a single failure leave possible, one-sided; 1 without a case.

    It is the rate r with (1 - r)^n = 1 - confidence.
    """
    return 1.0 if n <= 0 else float(1 - (1 - confidence) ** (1 / n))


def cases_for_zero_failures(rate: float, confidence: float = 0.95) -> int:
    """How many cases without a failure it takes to say, one-sided, that the rate is at most `rate`."""
    n, survives = 0, 1.0
    while survives > 1 - confidence and n < _MOST_CASES:
        n += 1
        survives *= 1 - rate
    return n


def further_passing_cases(successes: int, n: int, bound: float) -> int:
    """How many more cases, all passing, lift the Wilson 95 % lower bound to `bound`."""
    low, high = 0, 1
    while wilson_interval(successes + high, n + high)[0] < bound and high < _MOST_CASES:
        high *= 2
    if wilson_interval(successes, n)[0] >= bound:
        return 0
    while low + 1 < high:
        middle = (low + high) // 2
        if wilson_interval(successes + middle, n + middle)[0] >= bound:
            high = middle
        else:
            low = middle
    return high


def f1(precision: float, recall: float) -> float:
    """The harmonic mean of precision and recall; 0 when both are 0."""
    return 0.0 if precision + recall == 0 else round(2 * precision * recall / (precision + recall), DIGITS)


def confusion(pairs: Iterable[tuple[str, str]]) -> dict[str, dict[str, int]]:
    """Expected to actual to count, both in alphabetical order; what never occurs is left out."""
    counts: dict[str, dict[str, int]] = {}
    for expected, actual in pairs:
        row = counts.setdefault(expected, {})
        row[actual] = row.get(actual, 0) + 1
    return sorted_table(counts)


def sorted_table(table: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, int]]:
    """A table of counts with rows and columns in alphabetical order."""
    return {row: {column: table[row][column] for column in sorted(table[row])} for row in sorted(table)}


def per_subject(table: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, Any]]:
    """Recall, precision and F1 of every subject of a confusion table; `auto` is no subject."""
    subjects = sorted(({*table} | {column for row in table.values() for column in row}) - {"auto"})
    found: dict[str, dict[str, Any]] = {}
    for subject in subjects:
        right = table.get(subject, {}).get(subject, 0)
        recall = Proportion(right, sum(table.get(subject, {}).values()))
        precision = Proportion(right, sum(row.get(subject, 0) for row in table.values()))
        found[subject] = {
            "recall": recall.to_packet(),
            "precision": precision.to_packet(),
            "f1": f1(precision.value, recall.value),
        }
    return found
