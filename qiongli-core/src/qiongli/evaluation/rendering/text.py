"""Reports for a terminal: the numbers with their bounds, then what is wrong and how to see it again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from qiongli.records.evaluation import CorpusReport, EvaluationFailure, EvaluationReport
from qiongli.records.gate import GateReport

#: Failures that are shown in full; the rest is in the JSON report.
MOST_FAILURES: Final = 20

_MARKS: Final = {"pass": "ok  ", "fail": "FAIL", "not_checked": "FAIL", "insufficient_evidence": "few "}


def columns(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows under headings, every column as wide as its widest cell."""
    cells = [list(headings), *(list(row) for row in rows)]
    widths = [max(len(row[place]) for row in cells) for place in range(len(headings))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]


def share(packet: Mapping[str, Any]) -> tuple[str, str, str]:
    """Value, counts and bounds of a proportion, as three cells."""
    if not packet["n"]:
        return "-", "0", ""
    bounds = f"{packet['ci_low']:.3f} to {packet['ci_high']:.3f}"
    return f"{packet['value']:.3f}", f"{packet['successes']}/{packet['n']}", bounds


def render_evaluation(report: EvaluationReport) -> str:
    """The report on fixtures."""
    summary = report.summary
    lines = [f"{summary.passed} of {summary.total} fixtures pass; verdict: {report.verdict}", ""]
    bounds = report.metrics["bounds"]
    lines += columns(("metric", "value", "cases", "95 % bounds"), [(name, *share(bounds[name])) for name in bounds])
    upper = report.metrics["near_miss_false_positive_upper_bound"]
    near = f"{report.metrics['near_miss_false_positives']} of {report.metrics['near_misses']} near misses"
    lines.append(f"false positives: {near} (95 % upper bound {upper:.3f})")
    categories = report.details.get("categories", {})
    if categories:
        lines.append("")
        rows = [(name, f"{row['passed']}/{row['total']}", f"{row['ci_low']:.3f}") for name, row in categories.items()]
        lines += columns(("category", "passed", "95 % lower bound"), rows)
    mutation = report.details.get("mutation")
    if mutation:
        lines += ["", *_mutation(mutation)]
    for name, show in (("coverage", _coverage), ("quality", _quality), ("metamorphic", _metamorphic)):
        if report.details.get(name):
            lines += show(report.details[name])
    lines += _failures(report.failures)
    return "\n".join(lines)


def _mutation(mutation: Mapping[str, Any]) -> list[str]:
    score, alone = mutation["score"], mutation["fixtures_alone"]
    lines = [
        f"pack strength: {score['successes']} of {score['n']} changed signals are noticed ({score['value']:.3f});"
        f" by fixtures alone {alone['value']:.3f}"
    ]
    return lines + _some([f"survives {row['mutant']}: {row['change']}" for row in mutation["survivors"]])


def _coverage(coverage: Mapping[str, Any]) -> list[str]:
    """How many signals stand in cases of both kinds, and which lack one."""
    line = f"coverage: {coverage['covered']} of {coverage['signals']} signals are in a positive case and in a near miss"
    lacking = [f"in no positive case: {signal}" for signal in coverage["without_positive"]]
    return [line, *_some(lacking + [f"in no near miss: {signal}" for signal in coverage["without_near_miss"]])]


def _quality(quality: Mapping[str, Sequence[Any]]) -> list[str]:
    """Every flag with the case that it is about."""
    flags = [
        f"{kind.replace('_', ' ')}: {', '.join(row.values()) if isinstance(row, dict) else row}"
        for kind, rows in quality.items()
        for row in rows
    ]
    return [f"suspicious cases: {len(flags) or 'none'}", *_some(flags)]


def _metamorphic(changed: Mapping[str, Any]) -> list[str]:
    """How many changed texts were tried; those that got a wrong answer are among the failures."""
    tried = sum(changed["tried"].values())
    return [f"changed texts: {tried - len(changed['failures'])} of {tried} get the right answer"]


def _some(lines: Sequence[str]) -> list[str]:
    more = [f"  and {len(lines) - MOST_FAILURES} more (see --json)"] if len(lines) > MOST_FAILURES else []
    return [*(f"  {line}" for line in lines[:MOST_FAILURES]), *more]


def _failures(failures: Sequence[EvaluationFailure]) -> list[str]:
    lines = []
    for failure in failures[:MOST_FAILURES]:
        lines += ["", f"{failure.kind} {failure.name}: {failure.message}"]
        lines += [f"  evidence: {line}" for line in failure.evidence]
        if failure.reproduce:
            lines.append(f"  reproduce: {failure.reproduce}")
    if len(failures) > MOST_FAILURES:
        lines += ["", f"and {len(failures) - MOST_FAILURES} more failures (see --json or --html)"]
    return lines


def render_gate(report: GateReport) -> str:
    """The report of the gate: every check on a line, and under those that block, what they rest on."""
    answer = "eligible" if report.eligible_for_runtime_enabled else "not eligible"
    lines = [f"{report.subject} ({report.activation_status}) is {answer} for {report.gate}: {report.verdict}", ""]
    for check in report.checks:
        lines.append(f"{_MARKS[check.outcome]}  {check.name}: {check.message}")
        # A check that passes may list what is worth a look, such as changes that nothing notices.
        lines += [f"        {detail}" for detail in check.details[:10]]
        if len(check.details) > 10:
            lines.append(f"        and {len(check.details) - 10} more (see --json)")
        if check.outcome != "pass" and check.hint:
            lines.append(f"        hint: {check.hint}")
    return "\n".join(lines)


def render_corpus(report: CorpusReport) -> str:
    """The report on labelled text."""
    lines = [f"{report.rows} rows; skipped: {sum(report.skipped.values())}", ""]
    shares = [(name, *share(value)) for name, value in report.metrics.items() if isinstance(value, dict)]
    lines += columns(("metric", "value", "rows", "95 % bounds"), shares)
    lines += ["", *_corpus_subjects(report)]
    lines += ["", "decisions: " + ", ".join(f"{name} {count}" for name, count in report.decisions.items())]
    lines += ["", *_causes(report)]
    lines += ["", *columns(("confidence", "suggestions", "right"), _reliability(report))]
    lines += ["", "most confident errors:"]
    for error in report.errors[:MOST_FAILURES]:
        lines.append(
            f"  {error.confidence / 1_000_000:.2f} {error.id}: {error.label} -> {error.predicted} ({error.cause})"
        )
        lines += [f"       {line}" for line in error.evidence[:4]]
    if "rows_per_second" in report.run:
        lines += ["", f"{report.run['rows_per_second']:.0f} rows a second in {report.run['processes']} processes"]
    return "\n".join(lines)


def _corpus_subjects(report: CorpusReport) -> list[str]:
    rows = []
    for subject, found in report.subjects.items():
        right, some, precision = (found[name] for name in ("right_recall", "some_recall", "precision"))
        rows.append((subject, *share(right)[:2], share(some)[0], *share(precision)[:2], f"{found['f1']:.3f}"))
    return columns(("subject", "right", "rows", "some", "precision", "suggestions", "F1"), rows)


def _causes(report: CorpusReport) -> list[str]:
    rows = [
        (label, ", ".join(f"{cause} {count}" for cause, count in sorted(causes.items(), key=lambda item: -item[1])))
        for label, causes in report.causes.items()
    ]
    return columns(("label", "causes of error"), rows)


def _reliability(report: CorpusReport) -> list[tuple[str, str, str]]:
    return [
        (
            f"{row['confidence_from']:.2f} to {row['confidence_below']:.2f}",
            str(row["n"]),
            f"{row['right']['value']:.3f}",
        )
        for row in report.reliability
    ]
