"""JUnit XML, as build servers read it: one suite a pack, one case a fixture, no clock."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from qiongli.records._units import to_json
from qiongli.records.evaluation import CaseResult, EvaluationFailure, EvaluationReport
from qiongli.records.gate import GateReport

#: Characters that XML 1.0 cannot hold, even escaped.
_FORBIDDEN: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

#: Suite of everything that is no case: thresholds, unreadable and missing fixtures.
_OTHER: Final = "qiongli"


def render_junit(report: EvaluationReport, gate: GateReport | None = None) -> str:
    """The report as JUnit XML: a case for every fixture, and one for everything else that is wrong.

    Build servers count cases and nothing else, so a threshold that was missed, a fixture that cannot be read or that
    is gone, and with `gate` each of its checks, is a case of its own.
    """
    packs: dict[str, list[CaseResult]] = {}
    for case in report.cases:
        packs.setdefault(case.pack, []).append(case)
    others = [failure for failure in report.failures if failure.kind != "case"]
    root = Element("testsuites", name="qiongli")
    # Two packs may each have a case of one name; failures stand in the order of the cases that fail.
    failing = [(case.pack, case.name) for case in report.cases if not case.passed]
    reproduce = dict(zip(failing, (item.reproduce for item in report.failures if item.kind == "case"), strict=False))
    for pack in sorted(packs):
        _suite(root, pack, packs[pack], reproduce)
    if others:
        _other_suite(root, others)
    if gate is not None:
        _gate_suite(root, gate)
    for count in ("tests", "failures", "errors"):
        root.set(count, str(sum(int(suite.get(count, "0")) for suite in root.findall("testsuite"))))
    indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _suite(root: Element, pack: str, cases: Sequence[CaseResult], reproduce: Mapping[tuple[str, str], str]) -> None:
    failed = sum(not case.passed for case in cases)
    suite = SubElement(root, "testsuite", name=_clean(pack), tests=str(len(cases)), failures=str(failed), errors="0")
    for case in cases:
        classname = f"{pack}.{case.category}" if case.category else pack
        element = SubElement(suite, "testcase", classname=_clean(classname), name=_clean(case.name), time="0")
        if case.passed:
            continue
        failure = SubElement(element, "failure", message=_clean("; ".join(case.problems)), type="mismatch")
        lines = [f"expected: {to_json(case.expected, indent=None)}", f"actual: {to_json(case.actual, indent=None)}"]
        lines += [f"evidence: {line}" for line in case.evidence]
        command = reproduce.get((pack, case.name))
        if command:
            lines.append(f"reproduce: {command}")
        failure.text = _clean("\n".join(lines))


def _other_suite(root: Element, failures: Sequence[EvaluationFailure]) -> None:
    count = str(len(failures))
    suite = SubElement(root, "testsuite", name=_OTHER, tests=count, failures="0", errors=count)
    for failure in failures:
        classname = f"{_OTHER}.{failure.kind}"
        element = SubElement(suite, "testcase", classname=classname, name=_clean(failure.name), time="0")
        SubElement(element, "error", message=_clean(failure.message), type=failure.kind)


def _gate_suite(root: Element, gate: GateReport) -> None:
    wrong = sum(check.outcome != "pass" for check in gate.checks)
    name = f"gate {gate.gate}"
    suite = SubElement(root, "testsuite", name=name, tests=str(len(gate.checks)), failures=str(wrong), errors="0")
    for check in gate.checks:
        element = SubElement(suite, "testcase", classname=f"gate.{gate.subject}", name=_clean(check.name), time="0")
        if check.outcome != "pass":
            failure = SubElement(element, "failure", message=_clean(check.message), type=check.outcome)
            failure.text = _clean("\n".join((check.hint, *check.details)).strip())


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("\ufffd", text)
