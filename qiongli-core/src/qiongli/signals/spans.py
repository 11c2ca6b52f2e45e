"""The disjoint-span rule: one span of text supports one dimension of a subject only."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from operator import attrgetter
from typing import Final

from qiongli.records.evidence import DIMENSIONS, Evidence

_ORDER: Final = {name: index for index, name in enumerate(DIMENSIONS)}
_BY_SUBJECT: Final = attrgetter("subject", "field", "start")
_BY_PLACE: Final = attrgetter("field", "start", "end", "signal_id")


def select_spans(evidence: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """Of the asserted signals of each subject, those that keep their span: the longest, then weight, dimension, id.

    A span that was claimed supports nothing else: "no arbitrage" is not "arbitrage" as well. A signal that loses one
    span keeps the others on which it stands by itself.
    """
    candidates = [item for item in evidence if item.role == "signal" and item.polarity == "asserted"]
    candidates.sort(key=_BY_SUBJECT)
    kept: list[Evidence] = []
    #: Spans that touch one another, directly or by way of others; most stand alone and have no rival.
    touching: list[Evidence] = []
    subject = field = ""
    furthest = -1
    for item in candidates:
        if touching and item.start < furthest and item.field == field and item.subject == subject:
            touching.append(item)
            furthest = max(furthest, item.end)
            continue
        kept += _disjoint(touching) if len(touching) > 1 else touching
        touching = [item]
        subject, field, furthest = item.subject, item.field, item.end
    kept += _disjoint(touching) if len(touching) > 1 else touching
    kept.sort(key=_BY_PLACE)
    return tuple(kept)


def _disjoint(candidates: list[Evidence]) -> list[Evidence]:
    """Those of one subject's spans in one field that keep their place, the strongest claim first."""
    kept: list[Evidence] = []
    #: The spans that are taken: they are disjoint, so that starts and ends sort alike.
    starts: list[int] = []
    ends: list[int] = []
    for item in sorted(candidates, key=_precedence):
        place = bisect_left(starts, item.end)
        if place and ends[place - 1] > item.start:
            continue
        starts.insert(place, item.start)
        ends.insert(place, item.end)
        kept.append(item)
    return kept


def _precedence(item: Evidence) -> tuple[int, int, int, str, int]:
    return item.start - item.end, -item.weight, _ORDER[item.dimension], item.signal_id, item.start
