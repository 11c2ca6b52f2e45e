"""Ranges of a text that can be asked, in logarithmic time, which of them touch a span."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Intervals(Generic[Item]):
    """Half-open ranges with an item each; they may overlap and nest."""

    def __init__(self, ranges: Iterable[tuple[int, int, Item]]) -> None:
        self._ranges = sorted(ranges, key=lambda entry: (entry[0], entry[1]))
        self._starts = [entry[0] for entry in self._ranges]
        #: The furthest end of all ranges up to each.
        self._furthest = list(accumulate((entry[1] for entry in self._ranges), max))

    def __bool__(self) -> bool:
        return bool(self._ranges)

    def __iter__(self) -> Iterator[tuple[int, int, Item]]:
        return iter(self._ranges)

    def overlapping(self, start: int, end: int) -> Iterator[tuple[int, int, Item]]:
        """The ranges that share a character with a span, the last one first."""
        for place in range(bisect_left(self._starts, end) - 1, -1, -1):
            if self._furthest[place] <= start:
                return
            if self._ranges[place][1] > start:
                yield self._ranges[place]

    def covering(self, start: int, end: int) -> Iterator[tuple[int, int, Item]]:
        """The ranges that hold the whole span, the last one first."""
        for place in range(bisect_right(self._starts, start) - 1, -1, -1):
            if self._furthest[place] < end:
                return
            if self._ranges[place][1] >= end:
                yield self._ranges[place]

    def covers(self, start: int, end: int) -> bool:
        """Whether one range holds the whole span."""
        place = bisect_right(self._starts, start) - 1
        return place >= 0 and self._furthest[place] >= end
