"""Counts of a corpus: what each row adds, and adding up; counts of parts give the counts of the whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import attrs

from qiongli.evaluation.outcomes import deciding_evidence
from qiongli.plugins.catalogue import Catalogue
from qiongli.records.packet import RefinementPacket
from qiongli.records.project import AUTO

#: Label of rows that belong to no subject.
NONE: Final = "none"

#: How many of the most confident errors of each kind are kept.
KEPT_ERRORS: Final = 40

#: Width of a bin of confidence, in millionths.
BIN: Final = 50_000

_LONGEST_TITLE: Final = 200

Table = dict[str, dict[str, int]]


@attrs.frozen
class ErrorRow:
    """A row that was answered otherwise than its label says."""

    id: str
    label: str
    predicted: str
    cause: str
    confidence: int
    title: str
    evidence: tuple[str, ...]

    @property
    def rank(self) -> tuple[int, str]:
        """The most confident first, then by id."""
        return -self.confidence, self.id


@attrs.define
class Counts:
    """Everything that is known of the rows so far; its size depends on labels and slices, not on rows."""

    rows: int = 0
    skipped: dict[str, int] = attrs.field(factory=dict)
    decisions: dict[str, int] = attrs.field(factory=dict)
    #: Label to predicted subject, without arguable rows.
    confusion: Table = attrs.field(factory=dict)
    #: The same for each slice.
    slices: dict[str, Table] = attrs.field(factory=dict)
    #: Label to cause, for rows whose label is not what was suggested.
    causes: Table = attrs.field(factory=dict)
    #: Bin of confidence to `n`, `right` and `some`, for suggestions.
    reliability: Table = attrs.field(factory=dict)
    #: The most confident errors by kind: `false_positive`, `wrong_subject`, `missed`.
    errors: dict[str, list[ErrorRow]] = attrs.field(factory=dict)

    def skip(self, reason: str) -> None:
        """Note a row that could not be read."""
        self.skipped[reason] = self.skipped.get(reason, 0) + 1

    def keep(self, kind: str, rows: Iterable[ErrorRow]) -> None:
        """Keep the most confident errors of a kind."""
        kept = sorted([*self.errors.get(kind, ()), *rows], key=lambda row: row.rank)
        self.errors[kind] = kept[:KEPT_ERRORS]

    def add(self, other: Counts) -> None:
        """Add the counts of other rows."""
        self.rows += other.rows
        _add(self.skipped, other.skipped)
        _add(self.decisions, other.decisions)
        for mine, theirs in (
            (self.confusion, other.confusion),
            (self.causes, other.causes),
            (self.reliability, other.reliability),
        ):
            _add_table(mine, theirs)
        for name, table in other.slices.items():
            _add_table(self.slices.setdefault(name, {}), table)
        for kind, rows in other.errors.items():
            self.keep(kind, rows)

    def to_packet(self) -> dict[str, Any]:
        """The counts, ready for JSON."""
        return attrs.asdict(self)

    @classmethod
    def from_packet(cls, packet: Mapping[str, Any]) -> Counts:
        """The counts from their packet; raises ValueError, TypeError or KeyError for anything else."""
        errors = {
            str(kind): [ErrorRow(**{**row, "evidence": tuple(row["evidence"])}) for row in rows]
            for kind, rows in packet["errors"].items()
        }
        return cls(**{**packet, "errors": errors})


def _add(mine: dict[str, int], theirs: Mapping[str, int]) -> None:
    for key, count in theirs.items():
        mine[key] = mine.get(key, 0) + count


def _add_table(mine: Table, theirs: Mapping[str, Mapping[str, int]]) -> None:
    for key, row in theirs.items():
        _add(mine.setdefault(key, {}), row)


def _tick(table: Table, row: str, column: str) -> None:
    counts = table.setdefault(row, {})
    counts[column] = counts.get(column, 0) + 1


def count_row(
    counts: Counts,
    identifier: str,
    label: str,
    title: str,
    slices: Iterable[str],
    arguable: bool,
    packet: RefinementPacket,
    catalogue: Catalogue,
) -> None:
    """Add the answer to one row."""
    counts.rows += 1
    predicted = packet.primary_subject if packet.decision == "suggest_subject" else AUTO
    if arguable:
        _tick(counts.slices.setdefault("flag: arguable", {}), label, predicted)
        return
    _tick(counts.confusion, label, predicted)
    counts.decisions[packet.decision] = counts.decisions.get(packet.decision, 0) + 1
    for name in slices:
        _tick(counts.slices.setdefault(name, {}), label, predicted)
    right = predicted == (AUTO if label == NONE else label)
    if predicted != AUTO:
        _count_confidence(counts, packet.confidence, right, label != NONE)
    if right:
        return
    cause = "false_positive" if label == NONE else cause_of(label, predicted, packet, catalogue)
    _tick(counts.causes, label, cause)
    kind = "missed" if predicted == AUTO else "false_positive" if label == NONE else "wrong_subject"
    confidence: int = packet.confidence
    if kind == "missed":
        confidence = next((item.score for item in packet.candidate_subjects if item.subject == label), 0)
    kept = counts.errors.get(kind, [])
    if len(kept) < KEPT_ERRORS or -confidence <= kept[-1].rank[0]:
        subjects = {label, predicted} - {NONE, AUTO}
        evidence = deciding_evidence(packet, subjects)
        counts.keep(kind, [ErrorRow(identifier, label, predicted, cause, confidence, title[:_LONGEST_TITLE], evidence)])


def _count_confidence(counts: Counts, confidence: int, right: bool, some: bool) -> None:
    name = f"{confidence // BIN * BIN:07d}"
    row = counts.reliability.setdefault(name, {"n": 0, "right": 0, "some": 0})
    row["n"] += 1
    row["right"] += right
    row["some"] += some


def cause_of(label: str, predicted: str, packet: RefinementPacket, catalogue: Catalogue) -> str:
    """Why a row's own subject was not suggested; the first cause that holds, from the outside in."""
    subject = catalogue.get(label)
    if subject is None:
        return "not_installed"
    blocked = next((item for item in packet.blocked_candidates if item.subject == label), None)
    if blocked is not None:
        codes = {reason.code for reason in blocked.reasons}
        return "excluded" if "excluded" in codes else "inactive"
    if subject.listing.state != "active":
        return "inactive"
    if predicted != AUTO:
        return "rival"
    candidate = next((item for item in packet.candidate_subjects if item.subject == label), None)
    if candidate is not None:
        return "one_dimension" if len(candidate.dimensions) < 2 else "below_threshold"
    if any(item.subject == label for item in packet.near_miss_protections):
        return "suppressed"
    if any(item.subject == label and item.role == "signal" for item in packet.signals):
        return "context_only"
    return "no_evidence"
