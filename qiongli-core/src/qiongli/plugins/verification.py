"""Whether a subject's activation record holds on this machine: cheap facts first, a kept verdict, then the verifier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from qiongli.errors import ContractError
from qiongli.gate.record import (
    POLICY_VERSION,
    Verdict,
    changed_files,
    content_digest,
    read_record,
    read_verdict,
    verdict_key,
    write_verdict,
)
from qiongli.plugins._distributions import canonical
from qiongli.plugins.catalogue import CatalogueSubject, VerificationRequest
from qiongli.plugins.states import Verifier
from qiongli.records.subjects import Reason

if TYPE_CHECKING:
    from qiongli.records.gate import ActivationRecord


def judge_record(
    candidate: CatalogueSubject, admitted: Sequence[CatalogueSubject], verifier: Verifier | None, *, ask: bool = True
) -> Verdict:
    """Whether a subject that declares itself `runtime_enabled` may act here; whatever cannot be read does not hold.

    Without `ask`, neither kept verdicts nor the verifier are consulted: the subject was lowered already, and only what
    is wrong with the record itself is of interest.
    """
    slug = candidate.contract.subject
    distribution = canonical(candidate.listing.distribution)
    try:
        stored = read_record(candidate.root)
    except ContractError as error:
        return _no("record_malformed", f"{error.place}: {error.message}", _promote(slug))
    if stored is None:
        return _no("no_record", "it has no activation record", f"Run: qiongli gate check {slug}")
    record = stored.record
    if record.subject != slug or canonical(record.distribution) != distribution:
        message = f"its record was written for {record.subject!r} of {record.distribution!r}"
        return _no("record_foreign", message, _promote(slug))
    if record.policy_version != POLICY_VERSION:
        message = f"its record follows version {record.policy_version} of the gate's rules, not {POLICY_VERSION}"
        return _no("record_other_rules", message, _promote(slug))
    try:
        content = content_digest(candidate.root, remembered=True)
    except OSError as error:
        return _no("record_outdated", f"its files cannot be read ({type(error).__name__})", _reinstall(candidate))
    if record.content_digest != content:
        return _other_content(candidate, record)
    if not ask:
        return Verdict(True)
    return _verified(VerificationRequest(candidate, stored, content, tuple(admitted)), verifier)


def _other_content(candidate: CatalogueSubject, record: ActivationRecord) -> Verdict:
    """The files are not those of the record: a few were changed, or it is the record of something else."""
    hint = f"{_promote(candidate.contract.subject)}; or reinstall {candidate.listing.distribution}"
    try:
        changed = changed_files(record, candidate.root)
    except OSError:
        changed = ()
    if record.files and 2 * len(changed) > len(record.files):
        message = f"its record was written for other files than these ({record.distribution} {record.version})"
        return _no("record_for_other_files", message, hint)
    named = (
        f" ({'; '.join(changed[:3])}{f'; and {len(changed) - 3} more' if len(changed) > 3 else ''})" if changed else ""
    )
    return _no("record_outdated", f"its files were changed after its record was written{named}", hint)


def _verified(request: VerificationRequest, verifier: Verifier | None) -> Verdict:
    slug = request.candidate.contract.subject
    key = _key(request)
    kept = None if key is None else read_verdict(key)
    if kept is not None:
        return kept
    if verifier is None:
        message = "its record was not verified on this machine"
        return _no("unverified", message, f"Run: qiongli gate verify {slug}")
    try:
        verdict: object = verifier(request)
    except Exception as error:  # a verification that fails admits nothing
        message = f"verifying its record failed ({type(error).__name__})"
        return _no("verification_failed", message, f"Run: qiongli gate verify {slug}")
    if not isinstance(verdict, Verdict):
        return _no("verification_failed", "verifying its record gave no verdict", f"Run: qiongli gate verify {slug}")
    if key is not None:
        write_verdict(key, verdict)
    return verdict


def _key(request: VerificationRequest) -> str | None:
    """The name of the kept verdict; None when something that it depends on cannot be read."""
    try:
        peers = [
            (subject.contract.subject, content_digest(subject.root, remembered=True))
            for subject in request.admitted
            if subject.listing.state == "active"
        ]
        return verdict_key(record=request.record.digest, content=request.content_digest, peers=peers)
    except OSError:
        return None


def _no(code: str, message: str, hint: str) -> Verdict:
    return Verdict(False, Reason(code, message, hint))


def _promote(slug: str) -> str:
    return f"Run: qiongli gate promote {slug} on its source tree"


def _reinstall(subject: CatalogueSubject) -> str:
    return f"Reinstall {subject.listing.distribution}"
