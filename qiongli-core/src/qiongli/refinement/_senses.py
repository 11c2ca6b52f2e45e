"""What everyday and other-field senses took in a text, by which suppressor, and what would stand without one.

All of it is looked up only when a suppressor fired at all.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

import attrs

from qiongli.records.evidence import Evidence
from qiongli.signals import select_spans
from qiongli.signals._intervals import Intervals

if TYPE_CHECKING:
    from qiongli.document import Document
    from qiongli.records.evidence import Polarity
    from qiongli.signals.polarity import Clauses


class Senses:
    """The suppressors among some evidence, to be asked what they took."""

    def __init__(self, found: Iterable[Evidence]) -> None:
        by_field: dict[tuple[str, str], list[tuple[int, int, Evidence]]] = {}
        for item in found:
            if item.role == "suppressor":
                by_field.setdefault((item.subject, item.field), []).append((item.start, item.end, item))
        self._by_field = {place: Intervals(spans) for place, spans in by_field.items()}

    def takers(self, taken: Evidence) -> tuple[Evidence, ...]:
        """The suppressors that stand on the words of a match of the same subject, in the order of the text."""
        spans = self._by_field.get((taken.subject, taken.field))
        if spans is None:
            return ()
        return tuple([item for _, _, item in spans.overlapping(taken.start, taken.end)][::-1])


class Restorer:
    """What would be left of the evidence of one document if some suppressors were not there."""

    def __init__(self, found: Sequence[Evidence], document: Document) -> None:
        self._found = found
        self._senses = Senses(found)
        self._document = document
        #: By subject: its signals, each as it stands, and as it would stand without the suppressors of those ids.
        self._signals: dict[str, list[tuple[Evidence, Evidence | None, frozenset[str]]]] = {}
        self._clauses: dict[str, Clauses] = {}
        self._directed: dict[str, Intervals[None]] = {}

    def owns(self, subject: str, ids: Collection[str]) -> bool:
        """Whether all of these are ids of the subject's own signals."""
        return {item.signal_id for item, _, _ in self._of(subject)}.issuperset(ids)

    def took(self, subject: str) -> frozenset[str]:
        """The ids of the suppressors that took a signal of the subject."""
        return frozenset().union(*(takers for _, _, takers in self._of(subject)))

    def without(self, subject: str, suppressors: Collection[str]) -> tuple[Evidence, ...]:
        """The subject's signals that would then keep a span; its other suppressors still hold what they took."""
        return select_spans(
            item if restored is None or not takers.issubset(suppressors) else restored
            for item, restored, takers in self._of(subject)
        )

    def _of(self, subject: str) -> list[tuple[Evidence, Evidence | None, frozenset[str]]]:
        signals = self._signals.get(subject)
        if signals is None:
            signals = self._signals[subject] = [
                self._restored(item) for item in self._found if item.role == "signal" and item.subject == subject
            ]
        return signals

    def _restored(self, item: Evidence) -> tuple[Evidence, Evidence | None, frozenset[str]]:
        takers = self._senses.takers(item) if item.polarity == "everyday" and item.source == "text" else ()
        if not takers:
            return item, None, frozenset()
        return item, attrs.evolve(item, polarity=self._said(item)), frozenset([taker.signal_id for taker in takers])

    def _said(self, item: Evidence) -> Polarity:
        """What the author says with the words of a match, as detection finds it where no sense takes them."""
        field = next(field for field in self._document.fields if field.name == item.field)
        clauses = self._clauses.get(field.name)
        if clauses is None:
            from qiongli.signals.polarity import Clauses

            clauses = self._clauses[field.name] = Clauses(field.tokens)
            self._directed[field.name] = Intervals(
                (other.start, other.end, None)
                for other in self._found
                if other.role in ("exclude", "keep") and other.field == field.name
            )
        first = bisect_right(field.tokens.starts, item.start) - 1
        last = bisect_left(field.tokens.ends, item.end) + 1
        if clauses.quotes(first, last):
            return "quoted"
        if self._directed[field.name].covers(item.start, item.end):
            return "excluded"
        return "negated" if clauses.denies(first, last) else "asserted"
