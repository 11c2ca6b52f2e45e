"""The pages that the browser opens: real ones, one full of hostile text, and one with 5,000 cases."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from qiongli.evaluation.fixtures import Fixture, read_fixture
from qiongli.evaluation.packs import Pack
from qiongli.evaluation.rendering.html import render_corpus_page, render_evaluation_page
from qiongli.evaluation.report import build_report
from qiongli.evaluation.runner import run_fixtures
from qiongli.gate.admission import installed_catalogue
from qiongli.gate.check import check_subject
from qiongli.gate.sources import find_source
from qiongli.records.evaluation import CorpusError, CorpusReport
from qiongli.records.gate import GateReport
from qiongli.records.packet import RefinementPacket

HOSTILE = (
    '</script><script>document.title="taken";alert(1)</script><img src=x onerror=alert(2)>'
    '<svg onload=alert(3)><a href="javascript:alert(4)">x</a>\u202egnp\x07 & "quoted" {{ 7*7 }}'
)
CASES = 5_000


def made_up(count: int, description: str = "", gate: GateReport | None = None) -> str:
    """A page of that many cases, half of which fail."""
    found: list[Fixture] = []
    for number in range(count):
        raw: Mapping[str, Any] = {
            "id": f"case-{number:05}",
            "category": "clear_positive" if number % 2 else "near_miss",
            "task_packet": {"context": "text"},
            "expected": {"decision": "recommend", "primary_subject": "finance"}
            if number % 2
            else {"decision": "core_only"},
            "description": description or f"What case {number} is about, in a sentence of ordinary length.",
            "tags": ["finance", "made-up"],
        }
        fixture, _ = read_fixture(raw, place="f", pack="pack")
        assert fixture is not None
        found.append(fixture)

    def infer(task_packet: Any, **_: Any) -> RefinementPacket:
        return RefinementPacket("no_subject")

    report = build_report(run_fixtures(found, infer), [Pack("pack", tuple(found))])
    return render_evaluation_page(report, gate=gate)


def finance() -> str:
    """The page of the finance pack at the gate."""
    source = find_source("finance", installed_catalogue())
    run = check_subject(source.subject, source.peers, depth="fast", left_out="report")
    assert run.measured is not None
    report = build_report(run.measured.outcomes, [run.measured.pack], thresholds=run.measured.thresholds)
    return render_evaluation_page(report, gate=run.report)


def corpus(title: str) -> str:
    """A page about labelled text."""
    share = {"value": 0.5, "successes": 1, "n": 2, "ci_low": 0.1, "ci_high": 0.9}
    metrics = dict.fromkeys(("right_recall", "some_recall", "precision", "false_positive_rate"), share)
    return render_corpus_page(
        CorpusReport(
            rows=2,
            skipped={"no_json": 1},
            metrics={**metrics, "f1": 0.5},
            subjects={"finance": {"right_recall": share, "some_recall": share, "precision": share, "f1": 0.5}},
            confusion={"finance": {"auto": 1, "finance": 1}},
            decisions={"no_subject": 1, "suggest_subject": 1},
            reliability=({"confidence_from": 0.6, "confidence_below": 0.65, "n": 1, "right": share, "some": share},),
            causes={"finance": {"no_evidence": 1}},
            errors=(CorpusError("row", "finance", "auto", "no_evidence", title=title),),
            slices={"file: a": {"rows": 2, **metrics}},
            inputs=({"file": "a.jsonl", "bytes": 10},),
            run={"rows_per_second": 100.0, "processes": 1},
        )
    )


PAGES: Mapping[str, Callable[[], str]] = {
    "finance": finance,
    "corpus": lambda: corpus("A title"),
    "hostile evaluation": lambda: made_up(20, HOSTILE),
    "hostile corpus": lambda: corpus(HOSTILE),
    f"{CASES} cases": lambda: made_up(CASES),
}
