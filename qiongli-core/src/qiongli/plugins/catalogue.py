"""What discovery finds: subjects with their states, and a row for everything that could not become one."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import attrs

from qiongli._value import Value
from qiongli.contract.models import SubjectContract
from qiongli.gate.record import StoredRecord, Verdict
from qiongli.plugins._distributions import Distribution
from qiongli.records.subjects import SubjectListing

__all__ = [
    "CORE_ORDER",
    "CORE_SUBJECTS",
    "Catalogue",
    "CatalogueSubject",
    "Verdict",
    "VerificationRequest",
    "is_core_subject",
]

#: The subjects that core's own makers publish, with their distributions: the kill switches leave them alone.
CORE_SUBJECTS: Final[dict[str, str]] = {
    "economics": "qiongli-subject-economics",
    "finance": "qiongli-subject-finance",
}

#: Admission order of the subjects that core knows; pinned ones follow, then all others by distribution name.
CORE_ORDER: Final = tuple(CORE_SUBJECTS)


def is_core_subject(slug: str, distribution: str) -> bool:
    """Whether a subject is one of core's own, from its own distribution (canonical name)."""
    return CORE_SUBJECTS.get(slug) == distribution


@attrs.frozen(repr=False)
class CatalogueSubject(Value):
    """A readable subject: contract, row with its effective state and reasons, and where its files are.

    `priority` is the admission order; `available_lenses` are the slugs whose pack resolves;
    `single_dimension_proved` holds only when the gate has proved the contract's exemption.
    """

    contract: SubjectContract
    listing: SubjectListing
    root: Path
    priority: int
    available_lenses: frozenset[str] = frozenset()
    single_dimension_proved: bool = False


@attrs.frozen(repr=False)
class Catalogue(Value):
    """All readable subjects in order of priority, and a row for every subject that is installed in whatever state.

    A subject that is `broken` or `invalid` has a row and is not among `subjects`.
    """

    subjects: tuple[CatalogueSubject, ...] = ()
    listings: tuple[SubjectListing, ...] = ()
    warnings: tuple[str, ...] = ()
    #: The distributions that discovery saw; None for a catalogue that was put together by hand.
    distributions: tuple[Distribution, ...] | None = None

    def get(self, slug: str) -> CatalogueSubject | None:
        """The readable subject of that slug, or None."""
        return next((subject for subject in self.subjects if subject.contract.subject == slug), None)


@attrs.frozen(repr=False)
class VerificationRequest(Value):
    """A runtime-enabled subject whose record fits its files, and which this machine has not verified yet.

    `candidate` is the subject as it stands, lens-only; `admitted` are those admitted before it, in order and in
    whatever state; `content_digest` is that of the package's files.
    """

    candidate: CatalogueSubject
    record: StoredRecord
    content_digest: str
    admitted: tuple[CatalogueSubject, ...] = ()
