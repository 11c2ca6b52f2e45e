"""The checks of the gate, one function each: from what was measured to a finding. None knows of the others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import attrs

from qiongli.errors import QiongliError
from qiongli.evaluation.outcomes import Outcome
from qiongli.evaluation.quality import missing_categories
from qiongli.evaluation.thresholds import (
    REQUIRED_LOWER_BOUND,
    REQUIRED_MUTATION_SCORE,
    ThresholdResult,
    check_thresholds,
    enough_accuracy,
    enough_near_misses,
)
from qiongli.gate._finding import Check, Finding, of_faults, run_check
from qiongli.gate.detectors import MEASURED_WITH_HOOKS
from qiongli.gate.digest import content_digest
from qiongli.gate.measured import Measured
from qiongli.records.gate import CheckOutcome

#: Statuses of a contract at which a subject may pass the gate.
PROMOTABLE: Final = ("eval_ready", "runtime_enabled")

#: Fault codes of a package that are about its files rather than its contract's text.
_RESOURCE_CODES: Final = frozenset(
    {"missing_resource", "invalid_resource", "path_escapes", "missing_reference", "invalid_path"}
)


def contract(measured: Measured) -> Finding:
    """The contract follows its schema."""
    faults = [problem for problem in measured.problems if problem.code not in _RESOURCE_CODES]
    hint = f"Run: qiongli contract validate {measured.candidate.root}"
    return of_faults("contract", "the contract follows its schema", "the contract", faults, hint)


def activation_status(measured: Measured) -> Finding:
    """The maintainer has declared the subject ready to be measured."""
    status = measured.candidate.contract.activation_status
    message = f"subject activation_status is {status}"
    if status in PROMOTABLE:
        return Finding("activation_status", "pass", message)
    return Finding(
        "activation_status",
        "fail",
        message,
        "Set activation_status: eval_ready in the contract once fixtures and resources are complete",
    )


def resources(measured: Measured) -> Finding:
    """Every required resource exists, stays inside the package and follows the format of its kind."""
    candidate = measured.candidate.contract
    faults = [
        problem
        for problem in measured.problems
        if problem.code in _RESOURCE_CODES and not _about_documentation(problem, candidate.documentation)
    ]
    missing = [
        f"the contract names no {name}"
        for name, path in (
            ("domain_profile", candidate.domain_profile),
            ("overlay", candidate.overlay),
            ("subject_skill", candidate.subject_skill),
            ("evaluation_pack", candidate.evaluation_pack),
        )
        if path is None
    ]
    if not candidate.signals:
        missing.append("the contract has no signals")
    lends = {signal.value for signal in candidate.signals if signal.activation == "method_only"}
    undeclared = sorted(lends - {lens.slug for lens in candidate.method_lenses})
    missing += [f"no method lens is declared for the method-only value {value!r}" for value in undeclared]
    lines = (*(str(fault) for fault in faults), *missing)
    if not lines:
        return Finding("resources", "pass", "every required resource is there")
    return Finding("resources", "fail", f"{len(lines)} resources are missing or wrong", details=lines, blocking=lines)


def documentation(measured: Measured) -> Finding:
    """The documentation exists and states the activation status."""
    name = measured.candidate.contract.documentation
    faults = [problem for problem in measured.problems if _about_documentation(problem, name)]
    return of_faults("documentation", "the documentation states the activation status", "the documentation", faults)


def _about_documentation(problem: QiongliError, name: str) -> bool:
    return name in problem.place.replace("\\", "/") or problem.place.endswith(": documentation")


def examples(measured: Measured) -> Finding:
    """Every example triggers its own signal, and no near miss does."""
    hint = f"Run: qiongli contract validate {measured.candidate.root}"
    return of_faults("examples", "examples and near misses hold", "examples and near misses", measured.audit, hint)


def fixtures(measured: Measured) -> Finding:
    """Every fixture can be read and run, and none that was once measured is missing."""
    pack = measured.pack
    missing = tuple(f"case missing since the record: {name}" for name in pack.missing)
    faults = tuple(str(problem) for problem in pack.problems)
    errors = tuple(f"{item.fixture.name}: {item.error}" for item in measured.outcomes if item.error)
    lines = (*faults, *missing, *errors)
    if not lines:
        return Finding("fixtures", "pass", f"{len(pack.fixtures)} fixtures are read")
    return Finding("fixtures", "fail", f"{len(lines)} faults in the pack", details=lines, blocking=lines)


def pack_quality(measured: Measured) -> Finding:
    """No case stands twice, and the near misses are near; the rest of what is suspicious is listed."""
    quality = measured.quality
    repeated = tuple(f"{name} repeats {other}" for name, other in quality.exact_duplicates)
    suspicious = (
        *(f"{name} says nearly the same as {other}" for name, other in quality.near_duplicates),
        *(f"{name} touches no signal and shares no word with one" for name in quality.far_near_misses),
        *(f"{name}: {why}" for name, why in quality.mislabelled),
        *(f"{name} copies an example of {signal}" for name, signal in quality.copied_positives),
        *(f"{name} does not say what makes it near" for name in quality.undescribed_near_misses),
    )
    if repeated:
        message = f"{len(repeated)} cases stand twice"
        return Finding("pack_quality", "fail", message, details=(*repeated, *suspicious), blocking=repeated)
    message = f"{len(suspicious)} suspicious cases; those that repeat or are not near add no evidence"
    return Finding("pack_quality", "pass", message if suspicious else "nothing suspicious", details=suspicious)


def fixture_categories(measured: Measured) -> Finding:
    """Every required category has a case that is what it says."""
    missing = missing_categories(measured.pack.fixtures, measured.quality)
    lines = tuple(f"missing {category} fixtures" for category in missing)
    if not lines:
        return Finding("fixture_categories", "pass", "every required category is there")
    return Finding("fixture_categories", "fail", f"missing: {', '.join(missing)}", details=missing, blocking=lines)


def _threshold(measured: Measured, metric: str) -> Finding:
    result = next(item for item in check_thresholds(measured.measures, measured.thresholds) if item.metric == metric)
    finding = _of_threshold(
        metric, result, _failing(measured.outcomes, near_miss=metric == "near_miss_false_positives")
    )
    if finding.outcome != "pass" and measured.absent:
        why = f"its pack expects answers of {', '.join(measured.absent)}, which does not take part here"
        finding = attrs.evolve(
            finding,
            message=f"{finding.message}; {why}",
            hint="Install what its fixtures name, and let its package depend on it",
        )
    return finding


def _of_threshold(name: str, result: ThresholdResult, details: tuple[str, ...] = ()) -> Finding:
    hint = f"Add {result.further_cases} cases of different wording" if result.further_cases else ""
    return Finding(name, result.outcome, result.message, hint, details if result.outcome != "pass" else ())


def _failing(outcomes: Iterable[Outcome], *, near_miss: bool) -> tuple[str, ...]:
    return tuple(
        _line(outcome)
        for outcome in outcomes
        if (outcome.false_positive if near_miss else not outcome.passed) and outcome.fixture.near_miss == near_miss
    )


def _line(outcome: Outcome) -> str:
    why = outcome.error or "; ".join(str(mismatch) for mismatch in outcome.mismatches)
    return f"{outcome.fixture.name} ({why})"


def primary_subject_accuracy(measured: Measured) -> Finding:
    """The primary subject comes out right often enough."""
    return _threshold(measured, "primary_subject_accuracy")


def suggest_subject_precision(measured: Measured) -> Finding:
    """What is suggested is right often enough."""
    return _threshold(measured, "suggest_subject_precision")


def near_miss_false_positives(measured: Measured) -> Finding:
    """No near miss suggests the subject, or one that its policy forbids."""
    return _threshold(measured, "near_miss_false_positives")


def core_only(measured: Measured) -> Finding:
    """No task that belongs to the core gets a subject."""
    wrong = tuple(
        _line(outcome) for outcome in measured.outcomes if outcome.false_positive and not outcome.fixture.near_miss
    )
    if not wrong:
        return Finding("core_only", "pass", f"{measured.measures.core_only} core-only cases get no subject")
    return Finding("core_only", "fail", f"{len(wrong)} core-only cases get a subject", details=wrong)


def enough_cases(measured: Measured) -> Finding:
    """The cases are many enough for the accuracy to mean something."""
    return _of_threshold("enough_cases", enough_accuracy(measured.counted.primary_subject_accuracy))


def enough_near_miss_cases(measured: Measured) -> Finding:
    """The near misses are many enough to rule out a rate of false positives."""
    return _of_threshold("enough_near_misses", enough_near_misses(measured.counted.near_misses))


def _category(measured: Measured, name: str, category: str, promise: str) -> Finding:
    """Every case of a hard category passes: a single one that fails is not outweighed by the others."""
    cases = [outcome for outcome in measured.outcomes if outcome.fixture.category == category]
    wrong = tuple(_line(outcome) for outcome in cases if not outcome.passed)
    if not cases:
        return Finding(name, "fail", f"there is no {category} case", blocking=(f"no {category} case to check",))
    if wrong:
        return Finding(name, "fail", f"{len(wrong)} of {len(cases)} {category} cases fail", details=wrong)
    return Finding(name, "pass", f"{promise} in all {len(cases)} cases")


def method_only(measured: Measured) -> Finding:
    """A borrowed method lends its lens and suggests nobody."""
    return _category(measured, "method_only", "method_only_borrow", "only the lens is lent")


def locked_subject(measured: Measured) -> Finding:
    """A locked project stays locked."""
    return _category(measured, "locked_subject", "locked_subject", "the lock holds")


def confirmed_subject(measured: Measured) -> Finding:
    """A confirmed project loads its subject as applied."""
    return _category(measured, "confirmed_subject", "confirmed_subject", "the confirmed subject stays")


def dismissed_subject(measured: Measured) -> Finding:
    """A dismissed subject prompts only on new evidence."""
    return _category(measured, "dismissed_subject", "dismissed_subject", "a dismissal is respected")


def legacy_regression(measured: Measured) -> Finding:
    """Nothing that passes without the subject fails with it, and its own regression cases hold."""
    if not measured.legacy.fixtures:
        return Finding("legacy_regression", "not_checked", "the legacy core pack cannot be read")
    report = measured.regressions
    lost = tuple(str(regression) for regression in report.regressions)
    own = tuple(
        _line(outcome)
        for outcome in measured.outcomes
        if outcome.fixture.category == "legacy_regression" and not outcome.passed
    )
    missing = tuple(f"case missing from the legacy core pack: {name}" for name in measured.legacy.missing)
    lines = (*lost, *own, *missing)
    if not lines:
        message = f"{report.cases} cases of others hold; the subject has a say in {report.affected}"
        return Finding("legacy_regression", "pass", message)
    message = f"{len(lines)} cases of others fail because of the subject"
    return Finding("legacy_regression", "fail", message, details=lines, blocking=(message, *lost[:3]))


def composition(measured: Measured) -> Finding:
    """The subject passes beside those admitted before it, and its parts act."""
    beside = {peer.contract.subject for peer in measured.peers}
    parts = tuple(part for part in measured.candidate.contract.composes if part not in beside)
    if parts:
        message = f"parts that are not active: {', '.join(parts)}"
        return Finding("composition", "fail", message, "Promote the parts first", details=parts)
    names = ", ".join(sorted(beside)) or "nobody"
    lost = tuple(outcome.fixture.name for outcome in measured.alone if outcome.passed)
    if not lost:
        return Finding("composition", "pass", f"measured beside {names}")
    message = f"{len(lost)} cases pass alone and fail beside {names}"
    failed = any(result.outcome != "pass" for result in check_thresholds(measured.measures, measured.thresholds))
    return Finding("composition", "fail" if failed else "pass", message, details=lost)


def single_dimension(measured: Measured) -> Finding:
    """An exemption from the two-dimension rule is proved by precise suggestions, or it is not claimed."""
    if not measured.candidate.contract.activation_gate.single_dimension:
        return Finding("single_dimension", "pass", "no exemption is claimed")
    precision = measured.counted.suggest_subject_precision
    message = f"with one dimension, precision has the 95 % lower bound {precision.low:.3f}"
    message += f"; {REQUIRED_LOWER_BOUND:g} is needed"
    if precision.low >= REQUIRED_LOWER_BOUND:
        return Finding("single_dimension", "pass", message)
    outcome: CheckOutcome = "insufficient_evidence" if precision.successes == precision.n else "fail"
    return Finding("single_dimension", outcome, message, "Add positive cases, or withdraw the exemption")


def metamorphic(measured: Measured) -> Finding:
    """Without its evidence a task has no subject, denied evidence suggests nobody, and form does not matter."""
    report = measured.metamorphic
    lines = tuple(
        f"{item.fixture}, {item.change}: expected {item.expected}, got {item.actual}" for item in report.failures
    )
    if lines:
        return Finding("metamorphic", "fail", f"{len(lines)} changed texts get a wrong answer", details=lines)
    return Finding("metamorphic", "pass", f"{sum(report.tried.values())} changed texts get the right answer")


def pack_strength(measured: Measured) -> Finding:
    """The pack and the executed examples notice when a signal changes."""
    report = measured.mutation
    survivors = tuple(f"{item.name}: {item.description}" for item in report.survivors)
    score, alone = report.score, report.fixture_score
    message = (
        f"{score.successes} of {score.n} changed signals are noticed ({score.value:.2f}; fixtures alone "
        f"{alone.value:.2f}); {REQUIRED_MUTATION_SCORE:.2f} is needed"
    )
    if score.reaches(REQUIRED_MUTATION_SCORE):
        return Finding("pack_strength", "pass", message, details=survivors)
    hint = "Add fixtures in which the listed signals decide, and near misses that the broader patterns would take"
    return Finding("pack_strength", "fail", message, hint, details=survivors)


def determinism(measured: Measured) -> Finding:
    """Two further processes with other hash seeds give the same answers."""
    report = measured.determinism
    if report.deterministic:
        return Finding("determinism", "pass", f"{report.cases} answers agree in two processes")
    message = f"non-deterministic: {len(report.differing)} of {report.cases} answers differ between two processes"
    return Finding("determinism", "fail", message, details=report.differing)


def own_code(measured: Measured) -> Finding:
    """Code of its own, if it has any, took part in a second measurement and made nothing worse."""
    candidate, detectors = measured.candidate, measured.detectors
    has_code = bool(candidate.contract.hooks)
    if detectors is None and not has_code:
        return Finding("own_code", "pass", "it is data only")
    if has_code and (detectors is None or not detectors.run_for(candidate)):
        if measured.fast and _recorded_with_code(measured):
            return Finding("own_code", "pass", "its record says that its own code was measured")
        name = candidate.listing.distribution or measured.slug
        message = f"its own code (hooks: {candidate.contract.hooks}) was not measured, because it may not run here"
        return Finding("own_code", "fail", message, f"Read it, install it, then run: qiongli plugins allow {name}")
    assert detectors is not None
    again = attrs.evolve(measured, with_code=True)
    checks = [item for item in _WITH_CODE if not measured.fast or item[0] not in FULL_CHECKS]
    findings = [run_check(name, check, again) for name, check in checks]
    lines = [f"with code, {finding.name}: {line}" for finding in findings for line in finding.blocks]
    lines += [f"its code failed: {failure}" for failure in detectors.failures]
    if lines:
        shown = tuple(line for finding in findings if finding.outcome != "pass" for line in finding.details)
        message = f"measured with the code of {', '.join(dict.fromkeys(m.distribution for m in detectors.modules))}"
        return Finding(
            "own_code", "fail", f"{message}, {len(lines)} things fail", details=(*lines, *shown), blocking=tuple(lines)
        )
    return Finding("own_code", "pass", f"{len(measured.pack.fixtures)} answers hold with the code of subjects, too")


def _recorded_with_code(measured: Measured) -> bool:
    """Whether the record vouches for these very files, code and all."""
    record = measured.record
    return (
        record is not None
        and record.counts.get(MEASURED_WITH_HOOKS) == 1
        and record.content_digest == content_digest(measured.candidate.root)
    )


#: Checks that are made a second time when code of subjects takes part.
_WITH_CODE: Final[tuple[tuple[str, Check], ...]] = (
    ("fixtures", fixtures),
    ("primary_subject_accuracy", primary_subject_accuracy),
    ("suggest_subject_precision", suggest_subject_precision),
    ("near_miss_false_positives", near_miss_false_positives),
    ("core_only", core_only),
    ("method_only", method_only),
    ("locked_subject", locked_subject),
    ("confirmed_subject", confirmed_subject),
    ("dismissed_subject", dismissed_subject),
    ("legacy_regression", legacy_regression),
    ("metamorphic", metamorphic),
    ("determinism", determinism),
)

#: All checks in the order of the report.
ALL_CHECKS: Final[tuple[tuple[str, Check], ...]] = (
    ("contract", contract),
    ("activation_status", activation_status),
    ("resources", resources),
    ("documentation", documentation),
    ("examples", examples),
    ("fixtures", fixtures),
    ("pack_quality", pack_quality),
    ("fixture_categories", fixture_categories),
    ("primary_subject_accuracy", primary_subject_accuracy),
    ("suggest_subject_precision", suggest_subject_precision),
    ("near_miss_false_positives", near_miss_false_positives),
    ("core_only", core_only),
    ("enough_cases", enough_cases),
    ("enough_near_misses", enough_near_miss_cases),
    ("method_only", method_only),
    ("locked_subject", locked_subject),
    ("confirmed_subject", confirmed_subject),
    ("dismissed_subject", dismissed_subject),
    ("legacy_regression", legacy_regression),
    ("composition", composition),
    ("single_dimension", single_dimension),
    ("own_code", own_code),
    ("metamorphic", metamorphic),
    ("pack_strength", pack_strength),
    ("determinism", determinism),
)

#: Checks that a promotion runs and the runtime does not repeat: they take longer, and rest on the same bytes.
FULL_CHECKS: Final = frozenset({"metamorphic", "pack_strength", "determinism"})
