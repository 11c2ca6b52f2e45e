"""The other forms of a report: the same cases everywhere, nothing that a text smuggles in, one offline file."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

import pytest

from qiongli.evaluation.fixtures import Fixture, FixtureError, read_fixture
from qiongli.evaluation.packs import Pack, load_pack
from qiongli.evaluation.rendering.html import render_corpus_page, render_evaluation_page
from qiongli.evaluation.rendering.junit import render_junit
from qiongli.evaluation.rendering.text import render_corpus, render_evaluation, render_gate
from qiongli.evaluation.report import build_report, write_failed
from qiongli.evaluation.runner import run_fixtures
from qiongli.records.evaluation import CorpusError, CorpusReport, EvaluationReport
from qiongli.records.evidence import Evidence
from qiongli.records.gate import GateCheck, GateReport
from qiongli.records.packet import RefinementPacket

HOSTILE = '</script><script>alert(1)</script><img src=x onerror=alert(2)>\u202egnp\x07 & "quoted" {{ 7*7 }}'


class Page(HTMLParser):
    """Tags with their attributes, the text outside of style and script, and rows of the table of cases."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self._inside: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag in ("style", "script"):
            self._inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._inside and self._inside[-1] == tag:
            self._inside.pop()

    def handle_data(self, data: str) -> None:
        if not self._inside:
            self.words.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def fixtures(count: int = 4, description: str = "") -> list[Fixture]:
    found = []
    for number in range(count):
        raw = {
            "id": f"case-{number:04}",
            "category": "clear_positive" if number % 2 else "near_miss",
            "task_packet": {"context": "text"},
            "expected": {"decision": "recommend", "primary_subject": "finance"}
            if number % 2
            else {"decision": "core_only"},
            "description": description,
            "tags": ["a"],
        }
        if number % 2 == 0:
            raw["expected"] = {"decision": "core_only"}
        fixture, _ = read_fixture(raw, place="f", pack="pack")
        assert fixture is not None
        found.append(fixture)
    return found


def report(count: int = 4, *, snippet: str = "stock", description: str = "") -> EvaluationReport:
    evidence = Evidence("finance.x.y", "finance", "method", "v", "subject", 150_000, snippet=snippet)  # type: ignore[arg-type]

    def infer(task_packet: Any, **_: Any) -> RefinementPacket:
        return RefinementPacket("no_subject", signals=(evidence,))

    cases = fixtures(count, description)
    return build_report(run_fixtures(cases, infer), [Pack("pack", tuple(cases))])


def corpus(title: str = "A title") -> CorpusReport:
    share = {"value": 0.5, "successes": 1, "n": 2, "ci_low": 0.1, "ci_high": 0.9}
    metrics = dict.fromkeys(("right_recall", "some_recall", "precision", "false_positive_rate"), share)
    return CorpusReport(
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


def refused() -> GateReport:
    check = GateCheck("contract", "fail", "bad", "fix")
    return GateReport("finance", "eval_ready", False, {}, ("no",), "fail", (check,))


class TestSameCasesEverywhere:
    def test_json_junit_and_html_have_every_fixture(self) -> None:
        made = report(7)
        suites = ElementTree.fromstring(render_junit(made))
        names = [case.get("name") for case in suites.iter("testcase") if case.find("error") is None]
        page = Page(render_evaluation_page(made))
        rows = [row for row in page.all("tr") if "data-result" in row]
        assert len(made.cases) == len(names) == len(rows) == made.summary.total == 7
        assert names == [case.name for case in made.cases]
        assert int(suites.get("failures") or -1) == made.summary.failed == 3
        assert sum(row["data-result"] == "fail" for row in rows) == 3

    def test_a_failure_in_junit_has_expected_actual_and_evidence(self) -> None:
        suites = ElementTree.fromstring(render_junit(report()))
        failure = next(suites.iter("failure"))
        assert "expected: " in str(failure.text)
        assert "finance.x.y" in str(failure.text)

    def test_everything_else_that_is_wrong_is_in_junit_too(self) -> None:
        suites = ElementTree.fromstring(render_junit(report()))
        wrong = {case.get("name"): case.find("error") for case in suites.iter("testcase")}
        assert wrong["decision_accuracy"] is not None
        assert wrong["decision_accuracy"].get("type") == "threshold"

    def test_a_build_server_that_counts_cases_sees_unreadable_and_missing_fixtures(self) -> None:
        """Nothing else fails here: every fixture that can be read passes."""
        (case,) = fixtures(1)
        broken = FixtureError("the fixture has no name", place="pack/b.json: name")
        pack = Pack("pack", (case,), problems=(broken,), missing=("gone",))

        def infer(task_packet: Any, **_: Any) -> RefinementPacket:
            return RefinementPacket("no_subject")

        suites = ElementTree.fromstring(
            render_junit(build_report(run_fixtures([case], infer), [pack], thresholds=None))
        )
        kinds = {error.get("type") for error in suites.iter("error")}
        assert kinds == {"fixture_error", "case_missing"}
        assert (suites.get("tests"), suites.get("failures"), suites.get("errors")) == ("3", "0", "2")

    def test_every_check_of_the_gate_is_a_case(self) -> None:
        suites = ElementTree.fromstring(render_junit(report(), gate=refused()))
        (check,) = [case for case in suites.iter("testcase") if case.get("classname") == "gate.finance"]
        assert check.find("failure") is not None

    def test_cases_of_one_name_in_two_packs_keep_their_own_command(self) -> None:
        raw = {"id": "same", "task_packet": {"context": "text"}, "expected": {"decision": "recommend"}}
        packs = []
        for label in ("a", "b"):
            fixture, _ = read_fixture(raw, place="f", pack=label)
            assert fixture is not None
            packs.append(Pack(label, (fixture,), arguments=f"packs/{label}"))

        def infer(task_packet: Any, **_: Any) -> RefinementPacket:
            return RefinementPacket("no_subject")

        made = build_report(run_fixtures([pack.fixtures[0] for pack in packs], infer), packs)
        texts = [str(failure.text) for failure in ElementTree.fromstring(render_junit(made)).iter("failure")]
        assert ["packs/a" in texts[0], "packs/b" in texts[1]] == [True, True]

    def test_the_same_report_gives_the_same_bytes(self) -> None:
        assert render_junit(report()) == render_junit(report())
        assert render_evaluation_page(report()) == render_evaluation_page(report())

    def test_failing_fixtures_can_be_run_again(self, tmp_path: Any) -> None:
        cases = fixtures(4)

        def infer(task_packet: Any, **_: Any) -> RefinementPacket:
            return RefinementPacket("no_subject")

        written = write_failed(run_fixtures(cases, infer), tmp_path / "failed")
        again = load_pack(tmp_path / "failed")
        assert [fixture.name for fixture in again.fixtures] == ["case-0001", "case-0003"]
        assert len(written) == 2
        assert again.fixtures[0].raw == cases[1].raw


PAGES: Mapping[str, Any] = {
    "evaluation": lambda: render_evaluation_page(report(snippet=HOSTILE, description=HOSTILE)),
    "corpus": lambda: render_corpus_page(corpus(HOSTILE)),
}


@pytest.mark.parametrize("kind", PAGES)
class TestPages:
    def test_hostile_text_stays_text(self, kind: str) -> None:
        text = PAGES[kind]()
        page = Page(text)
        assert len(page.all("script")) == 1
        assert page.all("img") == []
        assert all(not name.startswith("on") for _, attributes in page.tags for name in attributes)
        assert "alert(1)" in "".join(page.words)
        assert "{{ 7*7 }}" in "".join(page.words)
        assert "\u202e" not in text
        assert "\x07" not in text

    def test_no_request_leaves_the_page(self, kind: str) -> None:
        page = Page(PAGES[kind]())
        for tag, attributes in page.tags:
            for name in ("src", "srcset", "action", "data", "poster"):
                assert name not in attributes, tag
            href = attributes.get("href")
            assert href is None or href.startswith("#")
        assert not re.search(r"url\(|@import", PAGES[kind]())

    def test_only_the_one_style_and_script_may_act(self, kind: str) -> None:
        page = Page(PAGES[kind]())
        policy = next(
            meta["content"] for meta in page.all("meta") if meta.get("http-equiv") == "Content-Security-Policy"
        )
        assert policy is not None
        assert policy.startswith("default-src 'none'")
        assert "unsafe" not in policy
        assert policy.count("sha256-") == 2
        assert all("style" not in attributes for _, attributes in page.tags)

    def test_it_can_be_read_by_everybody(self, kind: str) -> None:
        text = PAGES[kind]()
        page = Page(text)
        assert page.all("html") == [{"lang": "en"}]
        assert len(page.all("h1")) == 1
        assert len(page.all("main")) == 1
        assert len(page.all("caption")) == len(page.all("table"))
        assert all("scope" in heading for heading in page.all("th"))
        for figure in page.all("svg"):
            assert figure["role"] == "img"
        assert len(page.all("desc")) == len(page.all("svg"))
        labelled = {label["for"] for label in page.all("label")}
        controls = [*page.all("input"), *page.all("select")]
        assert all(control["id"] in labelled for control in controls)
        assert "prefers-color-scheme: dark" in text
        assert "@media print" in text

    def test_ids_are_unique(self, kind: str) -> None:
        ids = [attributes["id"] for _, attributes in Page(PAGES[kind]()).tags if "id" in attributes]
        assert len(ids) == len(set(ids))


def test_five_thousand_cases_are_rendered_quickly_and_stay_small() -> None:
    made = report(5_000)
    started = time.process_time()
    text = render_evaluation_page(made)
    assert time.process_time() - started < 5
    assert len(text) < 8_000_000


def test_the_page_of_the_gate_shows_every_check() -> None:
    gate = GateReport(
        "finance", "eval_ready", False, {}, ("no",), "fail", (GateCheck("contract", "fail", "bad", "fix"),)
    )
    text = render_evaluation_page(report(), gate=gate)
    assert "not eligible" in text
    assert "Hint: fix" in text


def test_texts_for_a_terminal_have_bounds_and_commands() -> None:
    text = render_evaluation(report())
    assert "95 % bounds" in text
    assert "reproduce: qiongli evaluate --only case-0001" in text
    assert "rows a second" in render_corpus(corpus())
    gate = GateReport(
        "finance", "eval_ready", False, {}, ("no",), "fail", (GateCheck("contract", "fail", "bad", "fix"),)
    )
    assert "FAIL  contract: bad" in render_gate(gate)
    assert "hint: fix" in render_gate(gate)


def test_a_terminal_lists_uncovered_signals_and_suspicious_cases() -> None:
    found = {
        "coverage": {
            "signals": 3,
            "covered": 1,
            "without_positive": ["a.method.x"],
            "without_near_miss": ["a.method.x", "a.venue.y"],
        },
        "quality": {"near_duplicates": [{"name": "two", "of": "one"}], "far_near_misses": ["three"]},
        "metamorphic": {"tried": {"letter_case": 4, "denied": 3}, "failures": [{}]},
    }
    cases = fixtures(1)

    def infer(task_packet: Any, **_: Any) -> RefinementPacket:
        return RefinementPacket("no_subject")

    text = render_evaluation(build_report(run_fixtures(cases, infer), [Pack("pack", tuple(cases))], details=found))
    assert "coverage: 1 of 3 signals are in a positive case and in a near miss" in text
    assert "in no positive case: a.method.x" in text
    assert "in no near miss: a.venue.y" in text
    assert "suspicious cases: 2" in text
    assert "near duplicates: two, one" in text
    assert "far near misses: three" in text
    assert "changed texts: 6 of 7 get the right answer" in text


def test_what_a_check_that_passes_lists_is_shown_without_its_hint() -> None:
    check = GateCheck("pack_strength", "pass", "449 of 453", "never mind", ("a.method.x:drop: the signal is dropped",))
    text = render_gate(GateReport("finance", "eval_ready", True, {}, (), "pass", (check,)))
    assert "a.method.x:drop" in text
    assert "never mind" not in text


def test_junit_holds_no_character_that_xml_cannot() -> None:
    text = render_junit(report(snippet=HOSTILE, description=HOSTILE))
    ElementTree.fromstring(text)
    assert "\x07" not in text
