"""The activation gate: every check is run, none stops the others, and only passing all of them makes eligible.

"Content presence is not activation permission." A check that cannot be run counts as failed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Literal

import attrs

from qiongli.contract.packaging import validate_package
from qiongli.errors import InputError, QiongliError
from qiongli.evaluation.packs import Pack, load_legacy_pack, load_subject_pack
from qiongli.gate._checks import ALL_CHECKS, FULL_CHECKS
from qiongli.gate._finding import Finding, run_check
from qiongli.gate.detectors import Detectors
from qiongli.gate.measured import Measured, PackLoader
from qiongli.plugins.catalogue import Catalogue, CatalogueSubject
from qiongli.plugins.hooks import HookCaller
from qiongli.records.gate import ActivationRecord, GateReport, Verdict
from qiongli.records.subjects import SubjectListing

#: The only gate there is: what stands before the status `runtime_enabled`.
GATE: Final = "runtime-enabled"

#: `fast` is what the runtime repeats for a record that it has not seen: no changed signals, no second process.
Depth = Literal["fast", "full"]

#: Status of a subject that is not installed, or whose contract cannot be read.
UNAVAILABLE: Final = "unavailable"


@attrs.frozen
class GateRun:
    """A gate's report with what it rests on, for those who render or record it; nothing for an unreadable subject."""

    report: GateReport
    measured: Measured | None = None


def check_gate_name(gate: str) -> None:
    """Raise `InputError` (`unknown_gate`) for a gate that does not exist."""
    if gate.replace("_", "-") != GATE:
        raise InputError(f"there is no gate {gate!r}", code="unknown_gate", available=(GATE,))


def check_subject(
    candidate: CatalogueSubject,
    peers: Sequence[CatalogueSubject],
    *,
    depth: Depth = "full",
    left_out: str = "omit",
    record: ActivationRecord | None = None,
    hooks: HookCaller | None = None,
    detectors: Detectors | None = None,
    pack_of: PackLoader = load_subject_pack,
    legacy_of: Callable[[], Pack] = load_legacy_pack,
    jobs: int = 1,
    router: str = "",
    progress: Callable[[int, int], None] | None = None,
) -> GateRun:
    """Run all checks on a subject beside the `peers` that were admitted before it.

    `record` is the subject's activation record, if it has one: its fixtures must still be there. `hooks` may add
    failures, never take one away. `detectors` is the code of the subject and its peers that runs here: everything is
    measured without it, and once more with it. A subject with code that does not run is not eligible, unless with
    `depth` `fast` a record of these very files says that it was measured. With `depth` `fast` the checks of pack
    strength, changed texts and determinism are left out: they are properties of the bytes, and a promotion has run
    them; `left_out` `report` lists them as not checked, which makes the subject not eligible.
    """
    # The package is read anew, bypassing every cache: what is judged is what lies on the disk.
    contract, problems = validate_package(candidate.root)
    if contract is None:
        return GateRun(_unreadable(candidate.listing, problems))
    measured = Measured(
        attrs.evolve(candidate, contract=contract),
        tuple(peers),
        problems=problems,
        record=record,
        pack_of=pack_of,
        legacy_of=legacy_of,
        jobs=jobs,
        router=router,
        progress=progress,
        fast=depth == "fast",
        detectors=detectors,
    )
    findings = []
    for name, check in ALL_CHECKS:
        if depth == "full" or name not in FULL_CHECKS:
            findings.append(run_check(name, check, measured))
        elif left_out == "report":
            findings.append(Finding(name, "not_checked", f"{name} was left out", "Run it without --fast"))
    if hooks is not None:
        findings.append(_ask_plugins(hooks, measured, findings))
    return GateRun(_report(measured, findings), measured)


def _ask_plugins(hooks: HookCaller, measured: Measured, findings: Sequence[Finding]) -> Finding:
    """What plugins object; they see the report so far, and their silence is no approval."""
    objections = hooks.gate_checks(measured.slug, _report(measured, findings))
    if not objections:
        return Finding("plugin_checks", "pass", "no plugin objects")
    lines = tuple(f"{objection.code}: {objection.message}" for objection in objections)
    return Finding("plugin_checks", "fail", f"{len(lines)} objections of plugins", details=lines, blocking=lines)


def _report(measured: Measured, findings: Sequence[Finding]) -> GateReport:
    verdict = verdict_of(findings)
    return GateReport(
        subject=measured.slug,
        activation_status=measured.candidate.contract.activation_status,
        eligible_for_runtime_enabled=verdict == "pass",
        metrics=gate_metrics(measured),
        blocking_failures=tuple(line for finding in findings for line in finding.blocks),
        verdict=verdict,
        checks=tuple(finding.to_record() for finding in findings),
        gate=GATE,
    )


def verdict_of(findings: Sequence[Finding]) -> Verdict:
    """No, as soon as one check says so or could not be made; too few cases, if that is all; else yes."""
    outcomes = {finding.outcome for finding in findings}
    if not outcomes or outcomes & {"fail", "not_checked"}:
        return "fail"
    return "insufficient_evidence" if "insufficient_evidence" in outcomes else "pass"


def gate_metrics(measured: Measured) -> dict[str, Any]:
    """The gate's metrics, the four known ones first; zeros when nothing could be measured."""
    try:
        metrics = measured.measures.to_metrics()
    except Exception:  # the checks say what is wrong; a report is made in any case
        return _empty_metrics()
    try:
        regressions = len(measured.regressions.regressions)
    except Exception:  # the same
        regressions = 0
    first = ("primary_subject_accuracy", "suggest_subject_precision", "near_miss_false_positives")
    ordered: dict[str, Any] = {name: metrics[name] for name in first}
    ordered["legacy_regression_failures"] = regressions
    ordered |= {name: value for name, value in metrics.items() if name not in ordered}
    ordered["fixtures"] = len(measured.pack.fixtures)
    if "mutation" in measured.__dict__:
        report = measured.mutation
        ordered["mutation_score"] = report.score.value
        ordered["mutation_score_fixtures_alone"] = report.fixture_score.value
    return ordered


def _empty_metrics() -> dict[str, Any]:
    return {
        "primary_subject_accuracy": 0.0,
        "suggest_subject_precision": 0.0,
        "near_miss_false_positives": 0,
        "legacy_regression_failures": 0,
    }


def _unreadable(listing: SubjectListing, problems: Sequence[QiongliError]) -> GateReport:
    lines = tuple(str(problem) for problem in problems)
    hint = f"Run: qiongli contract validate {listing.location}"
    return _nothing_measured(listing.subject or "", listing.activation_status or UNAVAILABLE, lines, hint)


def unavailable(subject: str, catalogue: Catalogue) -> GateRun:
    """The report on a subject that is not installed, or that cannot be read: never eligible."""
    rows = [row for row in catalogue.listings if row.subject == subject]
    if rows:
        lines = tuple(f"{reason.code}: {reason.message}" for row in rows for reason in row.reasons)
        lines = lines or (f"the contract of {subject} cannot be read",)
        hint = f"Run: qiongli contract validate {rows[0].location}"
        return GateRun(_nothing_measured(subject, rows[0].activation_status or UNAVAILABLE, lines, hint))
    known = ", ".join(sorted(row.subject for row in catalogue.listings if row.subject)) or "none"
    line = f"no subject {subject!r} is installed; installed are: {known}"
    return GateRun(_nothing_measured(subject, UNAVAILABLE, (line,), "Run: qiongli subject list"))


def _nothing_measured(subject: str, status: str, lines: tuple[str, ...], hint: str) -> GateReport:
    findings = [Finding("contract", "fail", lines[0], hint, details=lines, blocking=lines)]
    findings += [
        Finding(name, "not_checked", f"{name} could not be checked: the contract cannot be read")
        for name, _ in ALL_CHECKS[1:]
    ]
    return GateReport(
        subject=subject,
        activation_status=status,
        eligible_for_runtime_enabled=False,
        metrics=_empty_metrics(),
        blocking_failures=lines,
        verdict="fail",
        checks=tuple(finding.to_record() for finding in findings),
        gate=GATE,
    )
