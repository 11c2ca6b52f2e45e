"""From outcomes to the report that `qiongli evaluate` prints, and to fixtures that can be run again."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

import attrs

from qiongli.evaluation.fixtures import Fixture
from qiongli.evaluation.outcomes import Outcome, expected_packet
from qiongli.evaluation.packs import Pack
from qiongli.evaluation.runner import breakdown, measure
from qiongli.evaluation.thresholds import RUNNER_THRESHOLDS, ThresholdResult, Thresholds, check_thresholds
from qiongli.plugins.catalogue import Catalogue
from qiongli.records._units import to_json
from qiongli.records.evaluation import EvaluationFailure, EvaluationReport, EvaluationSummary, EvaluationVerdict
from qiongli.records.project import AUTO

#: Characters that a file name may hold on every system.
_NAME: Final = re.compile(r"[^A-Za-z0-9._-]+")


def build_report(
    outcomes: Sequence[Outcome],
    packs: Sequence[Pack],
    *,
    thresholds: Thresholds | None = RUNNER_THRESHOLDS,
    catalogue: Catalogue | None = None,
    further: Iterable[EvaluationFailure] = (),
    details: Mapping[str, Any] | None = None,
) -> EvaluationReport:
    """The report on some outcomes; the same outcomes give the same characters.

    Without `thresholds`, as for a selection of fixtures, every fixture must pass. `catalogue` is used to say that a
    fixture names a subject or lens that does not exist; `further` are failures that other parts found.
    """
    ordered = sorted(outcomes, key=lambda outcome: (outcome.fixture.pack, outcome.fixture.name))
    measures = measure(ordered)
    results = () if thresholds is None else check_thresholds(measures, thresholds)
    failures = [*_pack_failures(packs), *(_threshold_failure(result) for result in results if result.outcome != "pass")]
    arguments = {pack.label: pack.arguments for pack in packs}
    failures += further
    failures += [_case_failure(outcome, catalogue, arguments) for outcome in ordered if not outcome.passed]
    passed = sum(outcome.passed for outcome in ordered)
    return EvaluationReport(
        summary=EvaluationSummary(len(ordered), passed, len(ordered) - passed),
        metrics=measures.to_metrics(),
        failures=tuple(failures),
        cases=tuple(outcome.to_record() for outcome in ordered),
        details={
            **breakdown(ordered),
            "thresholds": [attrs.asdict(result) for result in results],
            "digests": {pack.label: pack.digest for pack in packs},
            **(details or {}),
        },
        verdict=_verdict(failures, results, thresholds is None),
    )


def _verdict(
    failures: Sequence[EvaluationFailure], results: Sequence[ThresholdResult], every_case: bool
) -> EvaluationVerdict:
    """Yes when every threshold is met and nothing else is wrong; single cases may fail within the thresholds."""
    if any(failure.kind not in ("case", "threshold") for failure in failures):
        return "fail"
    if every_case:
        return "fail" if failures else "pass"
    outcomes = {result.outcome for result in results}
    return "fail" if "fail" in outcomes else "insufficient_evidence" if len(outcomes) > 1 else "pass"


def _pack_failures(packs: Sequence[Pack]) -> Iterable[EvaluationFailure]:
    for pack in packs:
        for problem in pack.problems:
            yield EvaluationFailure(
                name=problem.place or pack.label,
                kind="fixture_error",
                message=str(problem),
                actual={"code": problem.code, "pack": pack.label},
            )
        for name in pack.missing:
            yield EvaluationFailure(
                name=name,
                kind="case_missing",
                message=f"case missing since the record: {name}",
                actual={"pack": pack.label},
            )


def _threshold_failure(result: ThresholdResult) -> EvaluationFailure:
    return EvaluationFailure(
        name=result.metric,
        kind="threshold",
        message=result.message,
        expected={result.metric: result.required},
        actual={result.metric: result.actual},
    )


def _case_failure(outcome: Outcome, catalogue: Catalogue | None, arguments: Mapping[str, str]) -> EvaluationFailure:
    fixture = outcome.fixture
    problems = [outcome.error] if outcome.error else [str(mismatch) for mismatch in outcome.mismatches]
    if catalogue is not None:
        problems += unknown_names(fixture, catalogue)
    return EvaluationFailure(
        name=fixture.name,
        kind="case",
        message="; ".join(problems),
        expected=expected_packet(fixture.expected),
        actual=dict(outcome.actual),
        evidence=outcome.evidence,
        reproduce=reproduce_command(fixture, arguments.get(fixture.pack, "")),
    )


def reproduce_command(fixture: Fixture, arguments: str = "") -> str:
    """The command line that runs the fixture alone; `arguments` select its pack."""
    return " ".join(("qiongli evaluate", *((arguments,) if arguments else ()), "--only", shlex.quote(fixture.name)))


def unknown_names(fixture: Fixture, catalogue: Catalogue) -> list[str]:
    """What a fixture names and nobody installed has, with what was probably meant."""
    subjects = sorted(subject.contract.subject for subject in catalogue.subjects)
    lenses = sorted({lens.slug for subject in catalogue.subjects for lens in subject.contract.method_lenses})
    expected = fixture.expected
    named = {expected.primary_subject or AUTO, fixture.manifest.active_subject, *(expected.suggest_subjects or ())}
    wanted = {*(expected.method_lenses or ()), *(item.lens for item in expected.borrowed_lenses or ())}
    lines = []
    for what, names, known in (("subject", named - {AUTO}, subjects), ("lens", wanted, lenses)):
        for name in sorted(names.difference(known)):
            near = get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            lines.append(f"no {what} {name!r} is installed{hint}")
    return lines


def write_failed(outcomes: Iterable[Outcome], folder: Path) -> tuple[Path, ...]:
    """Write every failing fixture into a folder, one file each, so that `qiongli evaluate FOLDER` runs them again."""
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for outcome in outcomes:
        if outcome.passed:
            continue
        fixture = outcome.fixture
        raw = dict(fixture.raw)
        # The category may have come from the folder in which the fixture stood.
        if fixture.category and "category" not in raw:
            raw["category"] = fixture.category
        name = _NAME.sub("-", f"{fixture.pack}-{fixture.name}").strip("-.")[:120] or "fixture"
        path = folder / f"{name}.json"
        number = 2
        while path in written:
            path = folder / f"{name}-{number}.json"
            number += 1
        path.write_text(to_json(raw) + "\n", encoding="utf-8")
        written.append(path)
    return tuple(written)
