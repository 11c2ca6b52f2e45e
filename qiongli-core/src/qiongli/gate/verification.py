"""Verification at run time: a record that this machine has not seen is repeated with the subjects installed here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from qiongli.evaluation.packs import Pack, load_legacy_pack, load_subject_pack
from qiongli.gate.check import check_subject
from qiongli.gate.record import Verdict
from qiongli.plugins.catalogue import CatalogueSubject, VerificationRequest
from qiongli.records.gate import GateReport
from qiongli.records.subjects import Reason

#: How many of the blocking failures a reason quotes.
_QUOTED: Final = 2


class GateVerifier:
    """Runs the fast gate on a subject whose record fits its files; discovery keeps the verdict.

    `announce` is told once, before the first subject is measured. A `deferred` verifier measures nothing: it answers
    `verifying`, which is not kept, and notes in `waiting` whom to measure later.
    """

    def __init__(self, *, announce: Callable[[str], None] | None = None, deferred: bool = False) -> None:
        self._announce = announce
        self._deferred = deferred
        self._packs: dict[CatalogueSubjectKey, Pack] = {}
        self._legacy: Pack | None = None
        self.waiting: list[str] = []
        #: The report on every subject that was measured, by slug.
        self.reports: dict[str, GateReport] = {}

    def __call__(self, request: VerificationRequest) -> Verdict:
        """Whether the subject passes the fast gate beside those admitted before it."""
        slug = request.candidate.contract.subject
        if self._deferred:
            self.waiting.append(slug)
            hint = f"Wait, or run: qiongli gate verify {slug}"
            return Verdict(False, Reason("verifying", "its record is being verified", hint), lasting=False)
        if self._announce is not None and not self.reports:
            self._announce("verifying the activation of subjects that this machine has not measured yet")
        run = check_subject(
            request.candidate,
            [subject for subject in request.admitted if subject.listing.state == "active"],
            depth="fast",
            record=request.record.record,
            pack_of=self._pack,
            legacy_of=self._legacy_pack,
        )
        self.reports[slug] = run.report
        return verdict_from(run.report, single_dimension=request.candidate.contract.activation_gate.single_dimension)

    def _pack(self, subject: CatalogueSubject) -> Pack:
        """The subject's pack, read once for all subjects that are measured beside it."""
        key = (subject.contract.subject, subject.contract.digest, str(subject.root))
        if key not in self._packs:
            self._packs[key] = load_subject_pack(subject)
        return self._packs[key]

    def _legacy_pack(self) -> Pack:
        if self._legacy is None:
            self._legacy = load_legacy_pack()
        return self._legacy


#: Slug, digest of the contract and folder.
CatalogueSubjectKey = tuple[str, str, str]


def verdict_from(report: GateReport, *, single_dimension: bool = False) -> Verdict:
    """The verdict that a report of the fast gate amounts to."""
    if report.eligible_for_runtime_enabled:
        return Verdict(True, single_dimension_proved=single_dimension)
    slug = report.subject
    hint = f"Run: qiongli gate explain {slug}"
    if any(check.name == "resources" and "evaluation_pack" in " ".join(check.details) for check in report.checks):
        return Verdict(False, Reason("evaluation_pack_missing", "it has no evaluation pack to be measured with", hint))
    quoted = "; ".join(report.blocking_failures[:_QUOTED]) or report.verdict
    more = len(report.blocking_failures) - _QUOTED
    message = f"measured here, it does not pass the gate: {quoted}" + (f" (and {more} more)" if more > 0 else "")
    # What could not be checked may be checked another time; only a measurement is kept.
    lasting = all(check.outcome != "not_checked" for check in report.checks)
    return Verdict(False, Reason("record_does_not_hold", message, hint), lasting=lasting)
