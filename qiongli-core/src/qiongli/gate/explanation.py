"""What `gate verify` and `gate explain` answer: the record, the bytes, what was measured here, and the next step."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from qiongli.errors import ContractError, UnknownSubjectError
from qiongli.folders import cache_folder
from qiongli.gate import admission
from qiongli.gate.check import check_subject
from qiongli.gate.digest import content_digest
from qiongli.gate.promotion import PROMOTED
from qiongli.gate.record import POLICY_VERSION, changed_files, read_record
from qiongli.gate.sources import Source, find_source
from qiongli.plugins.catalogue import Catalogue
from qiongli.records._units import SCHEMA_VERSION, Record
from qiongli.records.gate import ActivationRecord, GateReport
from qiongli.records.subjects import Reason, SubjectState

#: Kept in the user's cache folder: verdicts, and digests of packages that they rest on.
_KEPT = ("verdict-*.json", "digest-*.json")


@attrs.frozen
class VerifiedSubject(Record):
    """One subject that declares itself enabled, and whether it may act here."""

    #: Slug of the subject.
    subject: str
    #: Distribution that ships it.
    distribution: str
    #: The state that it has here.
    state: SubjectState
    #: Whether its record holds on this machine, so that it may act.
    holds: bool
    #: What lowered it; empty when nothing did.
    reasons: tuple[Reason, ...] = ()


@attrs.frozen
class Verification(Record):
    """What `qiongli gate verify --json` prints."""

    #: Whether every one of them may act.
    holds: bool
    #: The subjects that declare themselves enabled.
    subjects: tuple[VerifiedSubject, ...]
    #: Version of this structure, `major.minor`; fields may be added within a major version.
    schema_version: str = SCHEMA_VERSION

    def text(self) -> str:
        """One line a subject, with the reasons under it."""
        if not self.subjects:
            return "no installed subject declares itself runtime_enabled"
        lines = []
        for row in self.subjects:
            lines.append(f"{'ok  ' if row.holds else 'FAIL'}  {row.subject} ({row.distribution}) is {row.state}")
            for reason in row.reasons:
                lines.append(f"      {reason.message} [{reason.code}]")
                if reason.hint:
                    lines.append(f"      hint: {reason.hint}")
        return "\n".join(lines)


def forget_verdicts() -> int:
    """Remove every kept verdict and digest; how many there were. They are made anew from the files themselves."""
    count = 0
    for pattern in _KEPT:
        for path in sorted(cache_folder().glob(pattern)):
            path.unlink(missing_ok=True)
            count += 1
    return count


def verify_installed(slugs: Sequence[str] = ()) -> Verification:
    """Forget what was found before and measure the enabled subjects of this machine again.

    Raises `UnknownSubjectError` for a slug that nobody installed.
    """
    forget_verdicts()
    catalogue = admission.installed_catalogue()
    known = {row.subject for row in catalogue.listings if row.subject}
    for slug in slugs:
        if slug not in known:
            raise UnknownSubjectError(f"no subject {slug!r} is installed", available=tuple(sorted(known)))
    rows = tuple(
        VerifiedSubject(row.subject or "", row.distribution, row.state, row.state == "active", row.reasons)
        for row in catalogue.listings
        if (row.subject in slugs if slugs else row.activation_status == PROMOTED)
    )
    return Verification(all(row.holds for row in rows), rows)


@attrs.frozen
class Explanation(Record):
    """What `qiongli gate explain --json` prints; `record` is null when there is none that can be read."""

    #: Slug of the subject.
    subject: str
    #: Distribution that ships it; empty for one that is not installed.
    distribution: str
    #: Folder of the subject's package.
    location: str
    #: The status that its contract declares.
    activation_status: str
    #: The state here; empty for sources that are not installed.
    state: str
    #: Each step that lowered it here.
    reasons: tuple[Reason, ...]
    #: The activation record; null when there is none that can be read.
    record: ActivationRecord | None
    #: Why the record cannot be read; empty when it can, or is not there.
    record_problem: str
    #: Whether the files are those that the record vouches for; null without a record.
    content_matches: bool | None
    #: Files that are new, gone, or other than the record says, each with what became of it.
    changed_files: tuple[str, ...]
    #: Number of the gate's rules here.
    policy_version: int
    #: Peers that are here and not in the record, or with other content, or the other way round.
    changed_peers: tuple[str, ...]
    #: The fast gate as it stands now.
    gate: GateReport
    #: Version of this structure, `major.minor`; fields may be added within a major version.
    schema_version: str = SCHEMA_VERSION

    def text(self) -> str:
        """The explanation for a person."""
        lines = [f"{self.subject} ({self.distribution or 'not installed'}): declared {self.activation_status}"]
        if self.state:
            lines.append(f"state here: {self.state}")
        lines += [f"  {reason.message} [{reason.code}] {reason.hint}".rstrip() for reason in self.reasons]
        lines.append(self._record_line())
        lines += [f"  {line}" for line in self.changed_files[:20]]
        if self.changed_peers:
            lines.append("measured beside other peers than these: " + ", ".join(self.changed_peers))
        answer = "passes" if self.gate.eligible_for_runtime_enabled else "does not pass"
        lines.append(f"measured now, without the slow checks, it {answer}: {self.gate.verdict}")
        lines += [f"  {line}" for line in self.gate.blocking_failures[:20]]
        return "\n".join(lines)

    def _record_line(self) -> str:
        if self.record_problem:
            return f"record: {self.record_problem}"
        if self.record is None:
            return "record: none"
        matches = "fits the files" if self.content_matches else "was written for other files"
        counts = self.record.counts
        return (
            f"record: {matches}; {counts.get('fixtures', 0)} fixtures, {counts.get('near_misses', 0)} near misses, "
            f"rules {self.record.policy_version}, core {self.record.core_version}"
        )


def explain_subject(argument: str, catalogue: Catalogue) -> Explanation:
    """Compare a subject with its record, and measure it with the fast gate.

    `argument` is a slug or a path, as for the other commands. Raises `UnknownSubjectError` or `InputError`.
    """
    source = find_source(argument, catalogue)
    root = source.subject.root
    record, problem = _record(source)
    run = check_subject(source.subject, source.peers, depth="fast", record=record)
    slug = source.subject.contract.subject
    installed = catalogue.get(slug)
    here = installed is not None and installed.root.resolve() == root.resolve()
    listing = source.subject.listing
    matches = None if record is None else record.content_digest == content_digest(root)
    return Explanation(
        subject=slug,
        distribution=listing.distribution,
        location=str(root),
        activation_status=source.subject.contract.activation_status,
        state=listing.state if here else "",
        reasons=listing.reasons if here else (),
        record=record,
        record_problem=problem,
        content_matches=matches,
        changed_files=() if record is None or matches else changed_files(record, root),
        policy_version=POLICY_VERSION,
        changed_peers=() if record is None else _changed_peers(record, source),
        gate=run.report,
    )


def _record(source: Source) -> tuple[ActivationRecord | None, str]:
    try:
        stored = read_record(source.subject.root)
    except ContractError as error:
        return None, error.message
    return (None, "") if stored is None else (stored.record, "")


def _changed_peers(record: ActivationRecord, source: Source) -> tuple[str, ...]:
    here = {peer.contract.subject: content_digest(peer.root) for peer in source.peers}
    slugs = sorted({*here, *record.peers})
    return tuple(slug for slug in slugs if here.get(slug) != record.peers.get(slug))
