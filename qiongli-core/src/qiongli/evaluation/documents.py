"""The documents of a pack, read and matched once, for everything that looks at the same fixtures again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import attrs

from qiongli.document import Document
from qiongli.evaluation.fixtures import Fixture
from qiongli.records.evidence import Evidence


class Detects(Protocol):
    """What finds evidence in a document: an index, or a runtime with everything that takes part."""

    def detect(self, document: Document, /) -> tuple[Evidence, ...]:
        """All evidence of the document."""
        ...


@attrs.frozen
class ReadFixture:
    """A fixture with its document; None when the task is one that cannot be read."""

    fixture: Fixture
    document: Document | None
    evidence: tuple[Evidence, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """The normalised tokens of all fields."""
        if self.document is None:
            return ()
        return tuple(word for field in self.document.fields for word in field.tokens.words)

    def touches(self, signal_id: str) -> bool:
        """Whether the signal was found, in whatever sense."""
        return any(item.signal_id == signal_id for item in self.evidence)

    def asserts(self, signal_id: str) -> bool:
        """Whether the signal was found and asserted."""
        return any(item.signal_id == signal_id and item.polarity == "asserted" for item in self.evidence)


def read_fixtures(fixtures: Sequence[Fixture], index: Detects) -> tuple[ReadFixture, ...]:
    """Match every fixture, in their order."""
    return tuple(
        ReadFixture(fixture, fixture.document, () if fixture.document is None else index.detect(fixture.document))
        for fixture in fixtures
    )


@attrs.frozen
class RecordedEvidence:
    """An index that answers every document with the same evidence; it stands in for a changed index."""

    evidence: tuple[Evidence, ...]

    def detect(self, document: Document) -> tuple[Evidence, ...]:  # noqa: ARG002  # the evidence is that document's
        """The recorded evidence."""
        return self.evidence


def in_order(document: Document, evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """Evidence in the order in which an index reports it."""
    order = {field.name: place for place, field in enumerate(document.fields)}
    return tuple(
        sorted(evidence, key=lambda item: (order[item.field], item.start, item.end, item.signal_id, item.role))
    )
