"""The checks of the gate, one function each: from what was measured to a finding. None knows of the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
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
from qiongli.gate.measured import Measured
from qiongli.records.gate import CheckOutcome, GateCheck

#: Statuses of a contract at which a subject may pass the gate.
PROMOTABLE: Final = ("eval_ready", "runtime_enabled")

#: Names that a finding lists at most; the count of the rest follows.
MOST_DETAILS: Final = 25

#: Fault codes of a package that are about its files rather than its contract's text.
_RESOURCE_CODES: Final = frozenset(
    {"missing_resource", "invalid_resource", "path_escapes", "missing_reference", "invalid_path"}
)


@attrs.frozen
class Finding:
    """A check's outcome, and the lines under which it blocks."""

    name: str
    outcome: CheckOutcome
    message: str
    hint: str = ""
    details: tuple[str, ...] = ()
    #: What is listed among the blocking failures; the message when empty.
    blocking: tuple[str, ...] = ()

    @property
    def blocks(self) -> tuple[str, ...]:
        """The lines of this finding among the blocking failures."""
        return () if self.outcome == "pass" else self.blocking or (self.message,)

    def to_record(self) -> GateCheck:
        """The finding as it is published."""
        details = self.details
        if len(details) > MOST_DETAILS:
            details = (*details[:MOST_DETAILS], f"and {len(details) - MOST_DETAILS} more")
        return GateCheck(self.name, self.outcome, self.message, self.hint, details)


Check = Callable[[Measured], Finding]


def contract(measured: Measured) -> Finding:
    """The contract follows its schema."""
    faults = [problem for problem in measured.problems if problem.code not in _RESOURCE_CODES]
    hint = f"Run: qiongli contract validate {measured.candidate.root}"
    return _of_faults("contract", "the contract follows its schema", "the contract", faults, hint)


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
    return _of_faults("documentation", "the documentation states the activation status", "the documentation", faults)


def _about_documentation(problem: QiongliError, name: str) -> bool:
    return name in problem.place.replace("\\", "/") or problem.place.endswith(": documentation")


def examples(measured: Measured) -> Finding:
    """Every example triggers its own signal, and no near miss does."""
    hint = f"Run: qiongli contract validate {measured.candidate.root}"
    return _of_faults("examples", "examples and near misses hold", "examples and near misses", measured.audit, hint)


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
    return _of_threshold(metric, result, _failing(measured.outcomes, near_miss=metric == "near_miss_false_positives"))


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
    ("metamorphic", metamorphic),
    ("pack_strength", pack_strength),
    ("determinism", determinism),
)

#: Checks that a promotion runs and the runtime does not repeat: they take longer, and rest on the same bytes.
FULL_CHECKS: Final = frozenset({"metamorphic", "pack_strength", "determinism"})


def run_check(name: str, check: Check, measured: Measured) -> Finding:
    """The finding of one check; one that raises could not be made, which is no pass."""
    try:
        return check(measured)
    except Exception as error:  # a check that breaks must neither stop the others nor pass
        message = f"{name} could not be checked: {type(error).__name__}: {error}"
        return Finding(name, "not_checked", message)


def _of_faults(name: str, right: str, what: str, faults: Sequence[QiongliError], hint: str = "") -> Finding:
    if not faults:
        return Finding(name, "pass", right)
    lines = tuple(str(fault) for fault in faults)
    shown = (*lines[:5], f"and {len(lines) - 5} more faults in {what}") if len(lines) > 5 else lines
    return Finding(name, "fail", f"{len(lines)} faults in {what}", hint, details=lines, blocking=shown)
