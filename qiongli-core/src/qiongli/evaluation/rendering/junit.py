"""JUnit XML, as build servers read it: one suite a pack, one case a fixture, no clock."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from qiongli.records._units import to_json
from qiongli.records.evaluation import CaseResult, EvaluationFailure, EvaluationReport

#: Characters that XML 1.0 cannot hold, even escaped.
_FORBIDDEN: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

#: Suite of everything that is no case: thresholds, unreadable and missing fixtures.
_OTHER: Final = "qiongli"


def render_junit(report: EvaluationReport) -> str:
    """The report as JUnit XML; the numbers of cases are those of the JSON report."""
    packs: dict[str, list[CaseResult]] = {}
    for case in report.cases:
        packs.setdefault(case.pack, []).append(case)
    others = [failure for failure in report.failures if failure.kind != "case"]
    root = Element("testsuites", name="qiongli", tests=str(report.summary.total), failures=str(report.summary.failed))
    by_case = {failure.name: failure for failure in report.failures if failure.kind == "case"}
    for pack in sorted(packs):
        _suite(root, pack, packs[pack], by_case)
    if others:
        _other_suite(root, others)
    indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _suite(root: Element, pack: str, cases: Sequence[CaseResult], failures: dict[str, EvaluationFailure]) -> None:
    failed = sum(not case.passed for case in cases)
    suite = SubElement(root, "testsuite", name=_clean(pack), tests=str(len(cases)), failures=str(failed), errors="0")
    for case in cases:
        classname = f"{pack}.{case.category}" if case.category else pack
        element = SubElement(suite, "testcase", classname=_clean(classname), name=_clean(case.name), time="0")
        if case.passed:
            continue
        failure = SubElement(element, "failure", message=_clean("; ".join(case.problems)), type="mismatch")
        found = failures.get(case.name)
        lines = [f"expected: {to_json(case.expected, indent=None)}", f"actual: {to_json(case.actual, indent=None)}"]
        lines += [f"evidence: {line}" for line in case.evidence]
        if found is not None and found.reproduce:
            lines.append(f"reproduce: {found.reproduce}")
        failure.text = _clean("\n".join(lines))


def _other_suite(root: Element, failures: Sequence[EvaluationFailure]) -> None:
    suite = SubElement(root, "testsuite", name=_OTHER, tests="0", failures="0", errors=str(len(failures)))
    for failure in failures:
        output = SubElement(suite, "system-err")
        output.text = _clean(f"{failure.kind}: {failure.message}")


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("\ufffd", text)
