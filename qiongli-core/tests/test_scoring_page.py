"""The reference page on scoring says what the code does: its numbers, its example, its inequalities."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path

import attrs
import pytest
from engine_cases import evidence

from qiongli.limits import DEFAULT_LIMITS, Limits, broken_rules, quantise
from qiongli.records.packet import DECISIONS, REFUSAL_CODES
from qiongli.scoring import compose, subject_route

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "scoring.md"


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


def test_the_worked_example_adds_up(page: str) -> None:
    rows = re.findall(r"^\| `(finance\.\S+)` \| (\w+|\(suppressor\)) \| ([\d.]+) \|$", page, re.MULTILINE)
    assert len(rows) == 5
    found = []
    for name, dimension, weight in rows:
        suppressor = dimension == "(suppressor)"
        found.append(
            evidence(
                "finance",
                "method" if suppressor else dimension,
                0,
                quantise(Decimal(weight)),
                signal_id=name,
                role="suppressor" if suppressor else "signal",
            )
        )
    breakdown = compose(subject_route("finance", 1, found))
    steps = re.findall(r"^\| (prior|dimension \w+|penalty) \| ([+-][\d.]+) \|", page, re.MULTILINE)
    assert [quantise(abs(Decimal(amount))) for _, amount in steps] == [abs(entry.amount) for entry in breakdown.entries]
    assert [amount[0] == "-" for _, amount in steps] == [entry.amount < 0 for entry in breakdown.entries]
    score = re.search(r"\*\*score\*\* \| \*\*([\d.]+)\*\*", page)
    assert score is not None
    assert quantise(Decimal(score[1])) == breakdown.total == 610_000
    without_venue = compose(subject_route("finance", 1, [item for item in found if item.dimension != "venue"]))
    assert without_venue.total == 580_000


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
