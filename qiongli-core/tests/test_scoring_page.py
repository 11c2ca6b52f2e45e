"""The reference page on scoring says what the code does: its numbers, its example, its inequalities."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import attrs
import pytest
import yaml
from engine_cases import evidence
from packet_cases import Desk, lent, scores, write_packages

from qiongli.limits import DEFAULT_LIMITS, Limits, broken_rules, quantise
from qiongli.records.packet import DECISIONS, REFUSAL_CODES
from qiongli.scoring import compose, subject_route

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "scoring.md"
FINANCE = ROOT / "subjects" / "finance" / "src" / "qiongli_subject_finance"


class Sign(NamedTuple):
    """A row of the example's evidence."""

    words: str
    name: str
    dimension: str
    weight: Fraction
    does: str


@pytest.fixture(scope="module")
def page() -> str:
    """The page's text."""
    return PAGE.read_text(encoding="utf-8")


def test_the_table_of_numbers_is_that_of_the_code(page: str) -> None:
    rows = re.findall(r"^\| `(\w+)` \| ([\d.]+) \| (.*) \|$", page, re.MULTILINE)
    shown = {name: (value, description) for name, value, description in rows}
    expected = {}
    for field in attrs.fields(Limits):
        in_decimals = field.metadata["unit"] != "count"
        name, value = field.name, shown.get(field.name, ("", ""))[0]
        number = quantise(Decimal(value), 10**9) if in_decimals and value else int(value or -1)
        assert number == getattr(DEFAULT_LIMITS, name), f"{name} is {getattr(DEFAULT_LIMITS, name)}"
        expected[name] = (value, field.metadata["description"])
    assert shown == expected


def signs(page: str) -> list[Sign]:
    """The rows of the example's evidence."""
    rows = re.findall(
        r"^\| (.+) \| `(finance\.\S+)` \| (\w+|\(suppressor\)) \| ([\d.]+) \| (.+) \|$", page, re.MULTILINE
    )
    assert len(rows) == 7
    return [Sign(words, name, dimension, Fraction(weight), does) for words, name, dimension, weight, does in rows]


def by_hand(found: list[Sign]) -> tuple[list[tuple[str, Fraction]], Fraction]:
    """The steps and the score as the page's formula has them, in exact fractions and rounded down where it says so."""
    millionth = Fraction(1, 1_000_000)
    sums = {}
    for dimension in {sign.dimension for sign in found if sign.does == "counts"}:
        weights = sorted((s.weight for s in found if s.dimension == dimension and s.does == "counts"), reverse=True)
        sums[dimension] = sum(
            (weight / 3**place // millionth * millionth for place, weight in enumerate(weights)), Fraction()
        )
    ranked = sorted(sums, key=lambda dimension: (-sums[dimension], dimension))
    steps = [("prior", Fraction("0.3"))]
    steps += [(f"dimension {d}", sums[d] / 2**rank // millionth * millionth) for rank, d in enumerate(ranked)]
    steps += [("penalty", -sign.weight) for sign in found if sign.does == "a penalty"]
    return steps, sum((amount for _, amount in steps), Fraction())


def test_the_example_is_made_of_shipped_signals_with_their_weights(page: str) -> None:
    contract = yaml.safe_load((FINANCE / "runtime-subject.yaml").read_text(encoding="utf-8"))
    declared = {
        signal["id"]: (dimension, Fraction(str(signal["weight"])))
        for dimension, signals in contract["signal_groups"].items()
        for signal in signals
    }
    declared |= {item["id"]: ("(suppressor)", Fraction(str(item["weight"]))) for item in contract["suppressors"]}
    text = " ".join(re.findall(r"^> (.*)$", page, re.MULTILINE))
    for sign in signs(page):
        assert declared[sign.name] == (sign.dimension, sign.weight)
        assert sign.words in text


def test_the_worked_example_adds_up(page: str) -> None:
    steps, total = by_hand(signs(page))
    shown = re.findall(r"^\| (prior|dimension \w+|penalty) \| ([+-][\d.]+) \|", page, re.MULTILINE)
    assert [(name, Fraction(amount)) for name, amount in shown] == steps
    score = re.search(r"\*\*score\*\* \| \*\*([\d.]+)\*\*", page)
    assert score is not None
    assert Fraction(score[1]) == total >= Fraction("0.6")


def test_what_the_example_says_of_a_longer_match_is_so(page: str) -> None:
    (lost,) = [sign for sign in signs(page) if sign.does.startswith("nothing")]
    holders = [sign for sign in signs(page) if sign.does == "counts" and lost.words in sign.words]
    assert len(holders) == 1
    assert holders[0].weight < lost.weight


def test_the_example_without_one_of_its_signs_comes_to_what_the_page_says(page: str) -> None:
    rows = dict(re.findall(r"^\| (without .*) \| ([\d.]+) \| (?:.*) \|$", page, re.MULTILINE))
    outcomes = dict(re.findall(r"^\| (without .*) \| [\d.]+ \| `(\w+)`", page, re.MULTILINE))
    taken = {
        "without the journal": "Journal of Finance",
        "without the abnormal returns": "abnormal returns",
        "without the return to work": "return to work",
    }
    assert rows.keys() == taken.keys()
    for name, words in taken.items():
        left = [sign for sign in signs(page) if sign.words != words]
        total = by_hand(left)[1]
        assert Fraction(rows[name]) == total
        # The lens needs one method signal of 0.10, and the page says what is done when nobody is suggested.
        lens = any(sign.dimension == "method" for sign in left)
        expected = "suggest_subject" if total >= Fraction("0.6") else "borrow_lens" if lens else "no_subject"
        assert outcomes[name] == expected
    assert re.search(r"^The lens is lent because `finance/event-study` scores 0\.500000 by itself", page, re.MULTILINE)


def test_the_composer_says_the_same(page: str) -> None:
    found = [
        evidence(
            "finance",
            "method" if sign.dimension == "(suppressor)" else sign.dimension,
            0,
            int(sign.weight * 1_000_000),
            signal_id=sign.name,
            role="suppressor" if sign.dimension == "(suppressor)" else "signal",
        )
        for sign in signs(page)
        if not sign.does.startswith("nothing")
    ]
    breakdown = compose(subject_route("finance", 1, found))
    assert [Fraction(entry.amount, 1_000_000) for entry in breakdown.entries] == [a for _, a in by_hand(signs(page))[0]]


def test_every_inequality_decision_and_refusal_is_named(page: str) -> None:
    lines = re.findall(r"^\| ([a-h]) \| ", page, re.MULTILINE)
    assert lines == list("abcdefgh")
    nothing = attrs.evolve(
        DEFAULT_LIMITS,
        subject_prior=900_000,
        margin=0,
        session_cap=200_000,
        session_step=300_000,
        cost_cap=700_000,
        suggest_threshold=1_000_000,
        strict_suggest_threshold=800_000,
        lens_threshold=900_000,
        weight_cap=150_000,
    )
    broken = {problem.code.removeprefix("limits_") for problem in broken_rules(nothing)}
    assert broken <= set(lines)
    assert len(broken) >= 6
    for name in (*DECISIONS, *REFUSAL_CODES):
        assert f"`{name}`" in page


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A router over made-up subjects."""
    write_packages(tmp_path)
    return Desk(tmp_path)


def test_a_method_signal_in_an_everyday_sense_lends_no_lens(desk: Desk) -> None:
    assert lent(desk.route("A quorl kriging of the hills.")) == ["alpha/kriging"]
    assert lent(desk.route("A toy quorl kriging of the hills.")) == []


def test_a_sense_that_the_text_denies_is_there_and_one_that_it_quotes_is_not(desk: Desk) -> None:
    evidence_of_alpha = "Quorl kriging and the quorl ledger."
    plain = scores(desk.route(evidence_of_alpha))["alpha"]
    assert scores(desk.route(f"{evidence_of_alpha} This is not a toy quorl."))["alpha"] == plain - 100_000
    said = f'{evidence_of_alpha} "I never had a toy quorl when I was young," one of them said.'
    assert scores(desk.route(said))["alpha"] == plain
