"""The disjoint-span rule: one span of text supports one dimension of a subject only."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from typing import Final

from qiongli.records.evidence import DIMENSIONS, Evidence

_ORDER: Final = {name: index for index, name in enumerate(DIMENSIONS)}


def select_spans(evidence: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """Of the asserted signals of each subject, those that keep their span: the longest, then weight, dimension, id.

    A span that was claimed supports nothing else: "no arbitrage" is not "arbitrage" as well. A signal that loses one
    span keeps the others on which it stands by itself.
    """
    kept: list[Evidence] = []
    #: For each subject and field the spans that are taken: they are disjoint, so that starts and ends sort alike.
    taken: dict[tuple[str, str], tuple[list[int], list[int]]] = {}
    candidates = [item for item in evidence if item.role == "signal" and item.polarity == "asserted"]
    candidates.sort(key=_precedence)
    for item in candidates:
        starts, ends = taken.setdefault((item.subject, item.field), ([], []))
        place = bisect_left(starts, item.end)
        if place and ends[place - 1] > item.start:
            continue
        starts.insert(place, item.start)
        ends.insert(place, item.end)
        kept.append(item)
    kept.sort(key=lambda item: (item.field, item.start, item.end, item.signal_id))
    return tuple(kept)


def _precedence(item: Evidence) -> tuple[int, int, int, str, str, int]:
    return (
        item.start - item.end,
        -item.weight,
        _ORDER[item.dimension],
        item.signal_id,
        item.field,
        item.start,
    )
