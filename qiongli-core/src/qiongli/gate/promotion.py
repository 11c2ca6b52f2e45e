"""Promotion: the only way to `runtime_enabled`. Measures, changes the status with comments kept, writes the record."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import attrs

from qiongli._version import VERSION
from qiongli.contract.models import CONTRACT_FILE
from qiongli.contract.packaging import restate_status
from qiongli.errors import ContractError, InputError, StateRefusedError
from qiongli.evaluation.thresholds import (
    EXCLUDED_FALSE_POSITIVE_RATE,
    REQUIRED_LOWER_BOUND,
    REQUIRED_MUTATION_SCORE,
    REQUIRED_NEAR_MISSES,
)
from qiongli.gate._checks import PROMOTABLE
from qiongli.gate.check import GateRun, check_subject
from qiongli.gate.detectors import MEASURED_WITH_HOOKS, Detectors
from qiongli.gate.digest import file_digests
from qiongli.gate.measured import Measured
from qiongli.gate.record import POLICY_VERSION, RECORD_FILE, content_digest, read_record, write_record
from qiongli.gate.sources import Source, check_changeable
from qiongli.plugins.hooks import HookCaller
from qiongli.records._units import SCHEMA_VERSION, Record
from qiongli.records.gate import ActivationRecord, GateReport
from qiongli.records.subjects import ActivationStatus

#: The status that promotion sets, and the one that revocation goes back to.
PROMOTED: Final[ActivationStatus] = "runtime_enabled"
REVOKED: Final[ActivationStatus] = "eval_ready"

_STATUS_LINE: Final = re.compile(
    r"^(?P<before>activation_status[ \t]*:[ \t]*)(?P<quote>[\"']?)(?P<status>[a-z_]+)(?P=quote)(?=[ \t]*(?:#.*)?\r?$)",
    re.MULTILINE,
)


@attrs.frozen
class PromotionPacket(Record):
    """What `qiongli gate promote --json` and `revoke --json` print; `files` are those that were written or removed."""

    #: Slug of the subject.
    subject: str
    #: `promote` or `revoke`.
    action: str
    #: Whether anything was written; a subject that does not pass is left as it is.
    changed: bool
    #: The status that the contract declares afterwards.
    activation_status: str
    #: The files that were written or removed, relative to the package.
    files: tuple[str, ...] = ()
    #: The record that was written; null when none was.
    record: ActivationRecord | None = None
    #: What the gate found; null for a revocation.
    report: GateReport | None = None
    #: Version of this structure, `major.minor`; fields may be added within a major version.
    schema_version: str = SCHEMA_VERSION


def promote(
    source: Source,
    *,
    hooks: HookCaller | None = None,
    detectors: Detectors | None = None,
    jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> PromotionPacket:
    """Measure a subject of a source tree in full and, if it passes, enable it and record what was measured.

    A subject that does not pass is left as it is: the packet then says `changed: false` and holds the report. Raises
    `StateRefusedError` for an installed wheel, and for a contract whose status line cannot be changed in place.
    """
    check_changeable(source, "promote")
    root = source.subject.root
    run = check_subject(
        source.subject,
        source.peers,
        record=earlier_record(root),
        hooks=hooks,
        detectors=detectors,
        jobs=jobs,
        progress=progress,
    )
    measured = run.measured
    if not run.report.eligible_for_runtime_enabled or measured is None:
        status = run.report.activation_status
        return PromotionPacket(run.report.subject, "promote", False, status, report=run.report)
    changes = _status_changes(root, measured.candidate.contract.documentation, PROMOTED)
    with _Restored([*changes, root / RECORD_FILE]) as restored:
        for path, text in changes.items():
            _write(path, text)
        # What is recorded is the package as it is now: it must pass with its new status, too.
        again = check_subject(source.subject, source.peers, depth="fast", hooks=hooks, detectors=detectors)
        if not again.report.eligible_for_runtime_enabled:
            raise StateRefusedError(
                "with its new status the subject does not pass the gate: " + "; ".join(again.report.blocking_failures),
                code="promotion_failed",
                place=str(root),
            )
        record = make_record(run, root)
        write_record(root, record)
        restored.keep()
    files = tuple(path.relative_to(root).as_posix() for path in (*changes, root / RECORD_FILE))
    return PromotionPacket(run.report.subject, "promote", True, PROMOTED, files, record, run.report)


def revoke(source: Source) -> PromotionPacket:
    """Undo a promotion: the status goes back to `eval_ready`, the record is removed.

    Raises `StateRefusedError` for an installed wheel; a subject that is not enabled is left as it is.
    """
    check_changeable(source, "revoke")
    contract, root = source.subject.contract, source.subject.root
    record = root / RECORD_FILE
    if contract.activation_status != PROMOTED and not record.exists():
        return PromotionPacket(contract.subject, "revoke", False, contract.activation_status)
    status = REVOKED if contract.activation_status == PROMOTED else contract.activation_status
    changes = _status_changes(root, contract.documentation, status)
    with _Restored([*changes, record]) as restored:
        removed = (record,) if record.exists() else ()
        record.unlink(missing_ok=True)
        for path, text in changes.items():
            _write(path, text)
        restored.keep()
    files = tuple(path.relative_to(root).as_posix() for path in (*changes, *removed))
    return PromotionPacket(contract.subject, "revoke", True, status, files)


def make_record(run: GateRun, root: Path) -> ActivationRecord:
    """The record of a run of the full gate over the package as it lies in `root` now."""
    measured = run.measured
    assert measured is not None
    subject = measured.candidate
    listing = subject.listing
    return ActivationRecord(
        subject=subject.contract.subject,
        distribution=listing.distribution,
        version=listing.version,
        content_digest=content_digest(root),
        core_version=VERSION,
        policy_version=POLICY_VERSION,
        metrics=run.report.metrics,
        thresholds=_thresholds(measured),
        counts=_counts(measured),
        peers={peer.contract.subject: content_digest(peer.root) for peer in measured.peers},
        cases=tuple(sorted(fixture.name for fixture in measured.pack.fixtures)),
        files=file_digests(root),
    )


def _thresholds(measured: Measured) -> dict[str, Any]:
    return {
        **measured.thresholds.to_packet(),
        "legacy_regression_failures": 0,
        "primary_subject_accuracy_lower_bound": REQUIRED_LOWER_BOUND,
        "near_misses": REQUIRED_NEAR_MISSES,
        "excluded_false_positive_rate": EXCLUDED_FALSE_POSITIVE_RATE,
        "mutation_score": REQUIRED_MUTATION_SCORE,
    }


def _counts(measured: Measured) -> dict[str, int]:
    contract = measured.candidate.contract
    detectors = measured.detectors
    code = {MEASURED_WITH_HOOKS: 1} if detectors is not None and detectors.run_for(measured.candidate) else {}
    return {
        "fixtures": len(measured.pack.fixtures),
        "near_misses": measured.measures.near_misses,
        "counted_near_misses": measured.counted.near_misses,
        "counted_cases": measured.counted.primary_subject_accuracy.n,
        "signals": len(contract.signals),
        "suppressors": len(contract.suppressors),
        "method_lenses": len(contract.method_lenses),
        "legacy_fixtures": len(measured.legacy.fixtures),
        "mutants": len(measured.mutation.results),
        **code,
    }


def earlier_record(root: Path) -> ActivationRecord | None:
    """The record of an earlier promotion, whose fixtures must still be there; a malformed one knows none."""
    with suppress(ContractError):
        stored = read_record(root)
        return stored.record if stored is not None else None
    return None


def _status_changes(root: Path, documentation: str, status: ActivationStatus) -> dict[Path, str]:
    """The texts of contract and documentation with another status; files that need no change are left out."""
    contract = root / CONTRACT_FILE
    readme = root.joinpath(*documentation.split("/"))
    changes = {contract: with_status(_text(contract), status, str(contract)), readme: ""}
    changes[readme] = restate_status(_text(readme), status)
    return {path: text for path, text in changes.items() if text != _text(path)}


def with_status(text: str, status: ActivationStatus, place: str = CONTRACT_FILE) -> str:
    """The contract's text with another `activation_status`; everything else, comments too, stays as it is.

    Raises `StateRefusedError` (`status_not_editable`) unless exactly one plain line at the top level states it.
    """
    if len(_STATUS_LINE.findall(text)) != 1:
        raise StateRefusedError(
            "the status cannot be changed in place",
            code="status_not_editable",
            place=f"{place}: activation_status",
            expected=f"one line such as: activation_status: {'|'.join(PROMOTABLE)}",
        )
    return _STATUS_LINE.sub(lambda match: f"{match['before']}{match['quote']}{status}{match['quote']}", text)


def _text(path: Path) -> str:
    try:
        # Line ends and a byte order mark are the author's and stay.
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {type(error).__name__}", code="unreadable", place=str(path)) from None


def _write(path: Path, text: str) -> None:
    temporary = path.with_name(f".{path.name}.new")
    temporary.write_bytes(text.encode("utf-8"))
    temporary.replace(path)


class _Restored:
    """Files that are as they were before, unless `keep` was called: a promotion happens as a whole or not at all."""

    def __init__(self, paths: list[Path]) -> None:
        self._before: dict[Path, bytes | None] = {}
        self._kept = False
        for path in paths:
            self._before[path] = path.read_bytes() if path.is_file() else None

    def __enter__(self) -> _Restored:
        return self

    def keep(self) -> None:
        """Let the changes stand."""
        self._kept = True

    def __exit__(self, *_: object) -> None:
        if self._kept:
            return
        for path, data in self._before.items():
            if data is None:
                path.unlink(missing_ok=True)
            else:
                path.write_bytes(data)


__all__ = [
    "PROMOTED",
    "REVOKED",
    "PromotionPacket",
    "earlier_record",
    "make_record",
    "promote",
    "revoke",
    "with_status",
]
