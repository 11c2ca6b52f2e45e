"""`qiongli route --explain` and `qiongli subject explain`: each thing that they tell, as text and as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import jsonschema
import packet_cases
import pytest
from packet_cases import FULL, write_packages
from task_cases import make_runtime

from qiongli.cli import run
from qiongli.schemas import schema_text

pytestmark = pytest.mark.usefixtures("isolated_qiongli")

#: 0.30 + 0.20 + 0.20 / 2 - 0.10: a suppressor alone takes it below the threshold of 0.60.
SUPPRESSED = "We apply quorl weighting to the quorl ledger. It is a toy quorl."
#: One signal is denied, one was taken by a suppressor.
KEPT = "We do not use quorl weighting. The quorl survey of a quorl ledger cake."
ALPHA = "We apply quorl weighting to the quorl ledger."
BETA = "We apply brindle grafting to the brindle register."
GAMMA = "We apply gnarl gauging to the gnarl gazette."
#: `ledger sheet` is a signal of its own, and so is the shorter one inside it.
LONGER = ("alpha", "theory_or_construct", "sheet", FULL, "subject", "quorl ledger sheet")


@pytest.fixture(autouse=True)
def made_up_subjects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packet_cases, "SIGNALS", (*packet_cases.SIGNALS, LONGER))
    write_packages(tmp_path / "packages")
    runtime = make_runtime(tmp_path / "packages")
    monkeypatch.setattr("qiongli.runtime.default_runtime", lambda: runtime)


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert run([*arguments]) == 0
    return capsys.readouterr().out


def explained(capsys: pytest.CaptureFixture[str], text: str) -> str:
    return shown(capsys, "route", "--explain", "--text", text)


def packet(capsys: pytest.CaptureFixture[str], text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(shown(capsys, "route", "--explain", "--json", "--text", text))
    jsonschema.validate(found, json.loads(schema_text("packet")))
    return found


def section(output: str, title: str) -> list[str]:
    """The lines of one section, which ends at an empty line."""
    lines = output.split("\n")
    assert lines.count(title) == 1, f"there is no section {title!r}"
    rest = lines[lines.index(title) + 1 :]
    return rest[: rest.index("")] if "" in rest else rest


# --- evidence in its places ---------------------------------------------------------------------------------------


def test_every_piece_of_evidence_is_shown_in_its_place(capsys: pytest.CaptureFixture[str]) -> None:
    lines = section(explained(capsys, SUPPRESSED), "evidence")
    assert lines == [
        "  text:9-24 «quorl weighting» -> alpha.method.weighting, method, subject, weight 0.20",
        "  text:32-44 «quorl ledger» -> alpha.data-or-outcome.ledger, data_or_outcome, subject, weight 0.20",
        "  text:54-63 «toy quorl» -> alpha.suppressor.toy (suppressor), data_or_outcome, context_only, weight 0.10",
    ]
    for line in lines:
        place = re.match(r"  text:(\d+)-(\d+) «(.*?)»", line)
        assert place is not None
        assert SUPPRESSED[int(place[1]) : int(place[2])] == place[3]


def test_the_json_carries_the_same_evidence(capsys: pytest.CaptureFixture[str]) -> None:
    signals = packet(capsys, SUPPRESSED)["signals"]
    assert [(item["signal_id"], item["start"], item["end"], item["snippet"]) for item in signals] == [
        ("alpha.method.weighting", 9, 24, "quorl weighting"),
        ("alpha.data-or-outcome.ledger", 32, 44, "quorl ledger"),
        ("alpha.suppressor.toy", 54, 63, "toy quorl"),
    ]
    assert all(SUPPRESSED[item["start"] : item["end"]] == item["snippet"] for item in signals)


def test_evidence_that_counts_nothing_says_so_where_it_stands(capsys: pytest.CaptureFixture[str]) -> None:
    lines = section(explained(capsys, KEPT), "evidence")
    assert [line.partition(" ->")[0].strip() for line in lines] == [
        "text:14-29 «quorl weighting» [negated]",
        "text:35-47 «quorl survey»",
        "text:53-65 «quorl ledger» [everyday]",
        "text:53-70 «quorl ledger cake»",
    ]
    assert [item["polarity"] for item in packet(capsys, KEPT)["signals"]] == [
        "negated",
        "asserted",
        "everyday",
        "asserted",
    ]


SHEET = "A quorl ledger sheet, and a quorl ledger by itself."


def test_a_signal_that_lost_its_words_says_to_whom(capsys: pytest.CaptureFixture[str]) -> None:
    lines = section(explained(capsys, SHEET), "evidence")
    assert [line.partition(" ->")[0].strip() for line in lines] == [
        "text:2-14 «quorl ledger» [lost its words to «quorl ledger sheet» of alpha.theory-or-construct.sheet]",
        "text:2-20 «quorl ledger sheet»",
        "text:28-40 «quorl ledger»",
    ]
    assert packet(capsys, SHEET)["lost_spans"] == [
        {
            "signal_id": "alpha.data-or-outcome.ledger",
            "subject": "alpha",
            "field": "text",
            "start": 2,
            "end": 14,
            "snippet": "quorl ledger",
            "kept_by": "alpha.theory-or-construct.sheet",
            "kept_snippet": "quorl ledger sheet",
        }
    ]
    assert packet(capsys, ALPHA)["lost_spans"] == []


def test_without_explain_nobody_looks_who_lost_words(capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(shown(capsys, "route", "--json", "--text", SHEET))
    assert found["lost_spans"] is None


# --- the waterfall ------------------------------------------------------------------------------------------------


def steps(output: str, route: str) -> Iterator[tuple[str, Decimal | None, Decimal]]:
    """The steps of one waterfall: name, amount (None in the last line), and where the sum stands after it."""
    for line in section(output, f"score of {route}"):
        step = re.fullmatch(r"  (\w+) .*?(-?\d+\.\d+)?  = (-?\d+\.\d+)", line)
        if step is not None:
            yield step[1], None if step[2] is None else Decimal(step[2]), Decimal(step[3])


@pytest.mark.parametrize("text", [SUPPRESSED, KEPT, ALPHA, f"{ALPHA} Quorl kriging of the quorl survey.", SHEET])
def test_the_waterfall_runs_and_ends_at_the_score(capsys: pytest.CaptureFixture[str], text: str) -> None:
    output = explained(capsys, text)
    running = Decimal(0)
    names = []
    for name, amount, after in steps(output, "subject alpha"):
        names.append(name)
        running += amount or 0
        assert after == running
    assert names[0] == "prior"
    assert names[-1] == "total"
    assert len(names) > 2
    (scored,) = [item for item in packet(capsys, text)["candidate_subjects"] if item["subject"] == "alpha"]
    assert running == Decimal(str(scored["score"]))


def test_the_waterfall_is_that_of_the_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert section(explained(capsys, SUPPRESSED), "score of subject alpha") == [
        "  prior      declared                       0.30  = 0.30",
        "  dimension  data_or_outcome                0.20  = 0.50",
        "             alpha.data-or-outcome.ledger: weight 0.20 counts 0.20",
        "  dimension  method                         0.10  = 0.60",
        "             alpha.method.weighting: weight 0.20 counts 0.10",
        "  penalty    alpha.suppressor.toy          -0.10  = 0.50",
        "             alpha.suppressor.toy: weight 0.10 counts -0.10",
        "  total                                           = 0.50",
    ]


def test_the_json_carries_the_same_waterfall(capsys: pytest.CaptureFixture[str]) -> None:
    (breakdown,) = packet(capsys, SUPPRESSED)["score_breakdown"]
    assert [(entry["kind"], entry["name"], entry["amount"]) for entry in breakdown["entries"]] == [
        ("prior", "declared", 0.3),
        ("dimension", "data_or_outcome", 0.2),
        ("dimension", "method", 0.1),
        ("penalty", "alpha.suppressor.toy", -0.1),
    ]
    assert sum(Decimal(str(entry["amount"])) for entry in breakdown["entries"]) == Decimal("0.5")
    assert breakdown["total"] == 0.5


# --- what blocked or suppressed what ------------------------------------------------------------------------------

CAKE = "the words have an everyday or other-field sense here: alpha.suppressor.cake («quorl ledger cake»)"


def test_what_was_kept_from_counting_is_told_with_the_suppressor_that_took_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert section(explained(capsys, KEPT), "kept from counting") == [
        "  «quorl weighting» alpha.method.weighting: the text denies it",
        f"  «quorl ledger» alpha.data-or-outcome.ledger: {CAKE}",
    ]
    assert [(item["signal_id"], item["reason"]) for item in packet(capsys, KEPT)["near_miss_protections"]] == [
        ("alpha.method.weighting", "the text denies it"),
        ("alpha.data-or-outcome.ledger", CAKE),
    ]


def test_two_suppressors_on_the_same_words_are_both_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cake, toy = packet_cases.SUPPRESSORS["alpha"]
    from qiongli.contract.models import Pattern

    wider = type(toy)("alpha.suppressor.toy", (Pattern("phrase", "a quorl ledger"),), toy.weight, (), ())
    monkeypatch.setattr(packet_cases, "SUPPRESSORS", {"alpha": (cake, wider)})
    runtime = make_runtime(tmp_path / "packages")
    monkeypatch.setattr("qiongli.runtime.default_runtime", lambda: runtime)
    reasons = [item["reason"] for item in packet(capsys, KEPT)["near_miss_protections"]]
    assert reasons[1].endswith(": alpha.suppressor.toy («a quorl ledger»), alpha.suppressor.cake («quorl ledger cake»)")


def test_what_is_blocked_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    assert "  blocked: gamma: the subject is a candidate" in explained(capsys, GAMMA).split("\n")
    (blocked,) = packet(capsys, GAMMA)["blocked_candidates"]
    assert (blocked["subject"], [reason["code"] for reason in blocked["reasons"]]) == (
        "gamma",
        ["below_runtime_enabled"],
    )


def test_a_candidate_says_why_it_may_not_be_suggested(capsys: pytest.CaptureFixture[str]) -> None:
    found = packet(capsys, f"{ALPHA} The brindle register.")["candidate_subjects"]
    assert {item["subject"]: [reason["code"] for reason in item["reasons"]] for item in found} == {
        "alpha": [],
        "beta": ["one_dimension", "below_threshold"],
    }


# --- the smallest changes -----------------------------------------------------------------------------------------


def test_the_smallest_changes_are_shown_the_suppressor_first(capsys: pytest.CaptureFixture[str]) -> None:
    # A full signal in a third dimension would add 0.20 / 4, one in a dimension that it has 0.20 / 3 at most.
    assert section(explained(capsys, SUPPRESSED), "what would change it") == [
        "  alpha: without the suppressor alpha.suppressor.toy -> it would be suggested",
        "  alpha: more than one further signal; 0.10 is missing to the threshold -> it would be suggested",
    ]


@pytest.mark.parametrize("text", [SUPPRESSED, ALPHA, GAMMA, f"{ALPHA} {BETA}", KEPT])
def test_the_json_carries_the_same_changes(capsys: pytest.CaptureFixture[str], text: str) -> None:
    lines = section(explained(capsys, text), "what would change it")
    changes = packet(capsys, text)["what_would_change"]
    assert lines == [f"  {item['subject']}: {item['change']} -> {item['effect']}" for item in changes]
    assert lines


# --- why one subject is not suggested -----------------------------------------------------------------------------


def why(
    capsys: pytest.CaptureFixture[str], subject: str, text: str, *arguments: str
) -> tuple[str, list[str], list[str]]:
    """The verdict, the reasons as `[code] message` and the changes; the text and the JSON must tell the same."""
    command = ("subject", "explain", subject, "--text", text, *arguments)
    lines = shown(capsys, *command).rstrip("\n").split("\n")
    found = json.loads(shown(capsys, *command, "--json"))
    reasons = [f"[{item['code']}] {item['message']}" for item in found["reasons"]]
    changes = [f"{item['change']} -> {item['effect']}" for item in found["what_would_change"]]
    assert lines[0] == f"{subject}: {found['verdict']}"
    hints = [f". {item['hint']}" if item["hint"] else "" for item in found["reasons"]]
    assert lines[1:] == [
        *[f"  {item['message']} [{item['code']}]{hint}" for item, hint in zip(found["reasons"], hints, strict=True)],
        *[f"  {change}" for change in changes],
    ]
    assert {item["subject"] for item in found["what_would_change"]} <= {subject}
    return found["verdict"], reasons, changes


def test_a_suppressor_that_alone_stands_in_the_way_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    verdict, reasons, changes = why(capsys, "alpha", SUPPRESSED)
    assert verdict == "candidate"
    assert reasons == [
        "[below_threshold] alpha: The score is below the suggest threshold",
        "[suppressed] the suppressor alpha.suppressor.toy («toy quorl») takes 0.10 from its score",
    ]
    assert changes[0] == "without the suppressor alpha.suppressor.toy -> it would be suggested"


def test_denied_and_everyday_evidence_is_told_of_a_candidate_too(capsys: pytest.CaptureFixture[str]) -> None:
    verdict, reasons, _ = why(capsys, "alpha", KEPT)
    assert verdict == "candidate"
    assert "[negated] «quorl weighting» (alpha.method.weighting): the text denies it" in reasons
    assert f"[everyday] «quorl ledger» (alpha.data-or-outcome.ledger): {CAKE}" in reasons


def test_denied_evidence_is_told_of_a_subject_that_has_no_other(capsys: pytest.CaptureFixture[str]) -> None:
    assert why(capsys, "alpha", "We do not use quorl weighting.") == (
        "no_evidence",
        ["[negated] «quorl weighting» (alpha.method.weighting): the text denies it"],
        [],
    )


def test_words_that_went_to_a_longer_signal_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert why(capsys, "alpha", "A quorl ledger sheet.")[1][-1] == (
        "[lost_span] «quorl ledger» (alpha.data-or-outcome.ledger) lost its words to «quorl ledger sheet» "
        "(alpha.theory-or-construct.sheet)"
    )


def test_a_signal_that_counts_elsewhere_lost_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    reasons = why(capsys, "alpha", "A quorl ledger sheet, and a quorl ledger of a toy quorl.")[1]
    assert [reason.partition("]")[0] for reason in reasons] == ["[below_threshold", "[suppressed"]


def test_what_a_long_text_says_again_and_again_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    text = "A quorl ledger sheet. We do not use quorl weighting. A quorl ledger cake. "
    assert why(capsys, "alpha", text * 50)[1] == why(capsys, "alpha", text)[1]


def test_a_subject_without_any_evidence_is_told_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert why(capsys, "beta", ALPHA) == (
        "no_evidence",
        ["[no_evidence] nothing in the text speaks for it at subject level"],
        [],
    )


def test_only_what_was_kept_from_counting_for_the_subject_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    reasons = why(capsys, "beta", f"{KEPT} We read the brindle register.")[1]
    assert [reason.partition("]")[0] for reason in reasons] == ["[one_dimension", "[below_threshold"]


def test_only_the_changes_of_the_subject_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    text = f"{SUPPRESSED} The brindle register. {GAMMA}"
    of_all = {item["subject"] for item in packet(capsys, text)["what_would_change"]}
    assert of_all == {"alpha", "beta", "gamma"}
    for subject in of_all:
        assert why(capsys, subject, text)[2]  # and `why` compares whose they are


def test_the_primary_and_its_rival_are_told_where_they_stand(capsys: pytest.CaptureFixture[str]) -> None:
    verdict, reasons, changes = why(capsys, "alpha", f"{ALPHA} {BETA}")
    assert (verdict, reasons[0].partition(" ")[0], len(changes)) == ("primary", "[suggest_subject]", 1)
    verdict, reasons, changes = why(capsys, "beta", f"{ALPHA} {BETA}")
    assert (verdict, reasons) == ("secondary", ["[within_margin] alpha stands before it within the margin"])
    assert changes == ["the answer beta -> beta would be suggested instead"]


def test_a_subject_beyond_the_margin_is_told_who_stands_before_it(capsys: pytest.CaptureFixture[str]) -> None:
    # 0.30 + (0.20 + 0.15 / 3) + 0.20 / 2 + 0.20 / 4 + 0.20 / 8
    far = f"Quorl weighting, quorl ledger, quorl conjecture, Journal of Quorl, quorl survey. {BETA}"
    assert why(capsys, "beta", far)[1] == ["[outranked] alpha stands before it with a score of 0.72; its own is 0.60"]


def test_a_weaker_subject_beside_a_suggested_one_is_told_what_it_lacks(capsys: pytest.CaptureFixture[str]) -> None:
    verdict, reasons, _ = why(capsys, "beta", f"{ALPHA} The brindle register.")
    assert verdict == "candidate"
    assert [reason.partition("]")[0] for reason in reasons] == ["[one_dimension", "[below_threshold"]


def test_a_blocked_subject_is_told_all_that_it_lacks_whatever_the_decision(capsys: pytest.CaptureFixture[str]) -> None:
    lacking = ["state active -> it would be considered"]
    for text in (GAMMA, f"{ALPHA} {GAMMA}"):
        verdict, reasons, changes = why(capsys, "gamma", text)
        assert (verdict, reasons, changes) == (
            "blocked",
            ["[below_runtime_enabled] the subject is a candidate"],
            lacking,
        )
    _, reasons, changes = why(capsys, "gamma", f"Do not treat this as gamma. {ALPHA} {GAMMA}")
    assert [reason.partition("]")[0] for reason in reasons[:2]] == ["[below_runtime_enabled", "[excluded"]
    assert changes == ["state active and without the words that exclude it -> it would be considered"]


@pytest.mark.parametrize(("action", "code"), [("lock", "project_locked"), ("confirm", "project_confirmed")])
def test_in_a_settled_project_the_project_is_the_first_reason(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, action: str, code: str
) -> None:
    project = tmp_path / "project"
    (project / ".qiongli").mkdir(parents=True)
    (project / ".qiongli" / "guidance_manifest.yaml").write_text(
        f"active_subject: beta\nsubject_mode: {action}ed\nsecondary_subjects: [gamma]\n", encoding="utf-8"
    )
    where = ("--cwd", str(project))

    verdict, reasons, changes = why(capsys, "alpha", ALPHA, *where)
    assert verdict == "candidate"
    assert reasons[0].startswith(f"[{code}] this project is {action}ed to beta")
    assert reasons[1] == "[suggestible] by itself it would be suggested, with a score of 0.60"
    assert changes == ["qiongli subject reset -> it would be suggested"]

    verdict, reasons, changes = why(capsys, "alpha", "The quorl ledger.", *where)
    assert [reason.partition("]")[0] for reason in reasons] == [f"[{code}", "[one_dimension", "[below_threshold"]
    assert changes == []

    # A neighbour of the manifest stands within no margin of anything.
    verdict, reasons, _ = why(capsys, "gamma", "A tidy text.", *where)
    assert verdict == "secondary"
    assert [reason.partition("]")[0] for reason in reasons][:2] == [f"[{code}", "[neighbour"]

    verdict, reasons, changes = why(capsys, "gamma", GAMMA, *where)
    assert verdict == "blocked"
    assert [reason.partition("]")[0] for reason in reasons] == [f"[{code}", "[below_runtime_enabled"]
    assert changes == ["state active and qiongli subject reset -> it would be considered"]

    assert why(capsys, "beta", ALPHA, *where)[0] == "primary"
