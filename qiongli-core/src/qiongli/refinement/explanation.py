"""What an explanation adds to a packet: who lost words to whom. It is read off the evidence, and never decides."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from qiongli.records.evidence import Evidence
from qiongli.records.packet import LostSpan, RefinementPacket
from qiongli.signals import select_spans
from qiongli.signals._intervals import Intervals


def explained(packet: RefinementPacket) -> RefinementPacket:
    """The packet with its `lost_spans`."""
    return attrs.evolve(packet, lost_spans=lost_spans(packet.signals))


def lost_spans(signals: Sequence[Evidence]) -> tuple[LostSpan, ...]:
    """Every asserted signal that stands on words of a stronger one of its subject, with that one, in their order."""
    kept = select_spans(signals)
    taken = _by_field(kept)
    counting = {_place(item) for item in kept}
    return tuple(
        LostSpan(
            item.signal_id,
            item.subject,
            item.field,
            item.start,
            item.end,
            item.snippet,
            keeper.signal_id,
            keeper.snippet,
        )
        for item in signals
        if item.role == "signal"
        and item.polarity == "asserted"
        and _place(item) not in counting
        and (keeper := _strongest(taken[item.subject, item.field].overlapping(item.start, item.end))) is not None
    )


def _place(item: Evidence) -> tuple[str, str, str, int, int]:
    return item.subject, item.signal_id, item.field, item.start, item.end


def _by_field(kept: Iterable[Evidence]) -> dict[tuple[str, str], Intervals[Evidence]]:
    spans: dict[tuple[str, str], list[tuple[int, int, Evidence]]] = {}
    for item in kept:
        spans.setdefault((item.subject, item.field), []).append((item.start, item.end, item))
    return {place: Intervals(found) for place, found in spans.items()}


def _strongest(keepers: Iterable[tuple[int, int, Evidence]]) -> Evidence | None:
    """Of several that it touches, the one whose claim came first: the longest, then the heaviest, then by place."""
    found = min(keepers, key=lambda keeper: (keeper[0] - keeper[1], -keeper[2].weight, keeper[0]), default=None)
    return None if found is None else found[2]
