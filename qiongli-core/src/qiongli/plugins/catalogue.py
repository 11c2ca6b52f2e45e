"""What discovery finds: subjects with their states, and a row for everything that could not become one."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import attrs

from qiongli.contract.models import SubjectContract
from qiongli.plugins._distributions import Distribution
from qiongli.records.subjects import Reason, SubjectListing

#: Admission order of the subjects that core knows; pinned ones follow, then all others by distribution name.
CORE_ORDER: Final = ("economics", "finance")


@attrs.frozen
class CatalogueSubject:
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


@attrs.frozen
class Catalogue:
    """All readable subjects in order of priority, and a row for every subject that is installed in whatever state."""

    subjects: tuple[CatalogueSubject, ...] = ()
    listings: tuple[SubjectListing, ...] = ()
    warnings: tuple[str, ...] = ()
    #: The distributions that discovery saw; None for a catalogue that was put together by hand.
    distributions: tuple[Distribution, ...] | None = None

    def get(self, slug: str) -> CatalogueSubject | None:
        """The readable subject of that slug, or None."""
        return next((subject for subject in self.subjects if subject.contract.subject == slug), None)


@attrs.frozen
class Verdict:
    """What a verifier says of a subject's activation record; anything but an explicit True lowers the subject."""

    holds: bool
    reason: Reason | None = None
    single_dimension_proved: bool = False


@attrs.frozen
class VerificationRequest:
    """A subject that claims to be runtime-enabled, and those admitted before it."""

    contract: SubjectContract
    root: Path
    distribution: str
    version: str
    admitted: tuple[CatalogueSubject, ...] = ()
