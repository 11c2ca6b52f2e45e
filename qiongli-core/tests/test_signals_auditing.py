"""A contract is executed: its own texts and patterns show what is wrong with it."""

from __future__ import annotations

import pytest

from qiongli.contract.models import Pattern, Signal, SubjectContract, Suppressor
from qiongli.records._units import Ppm
from qiongli.signals.auditing import audit_contract


def signal(
    *patterns: str | Pattern,
    name: str = "x",
    examples: tuple[str, ...] = (),
    near_misses: tuple[str, ...] = (),
    subject: str = "t",
) -> Signal:
    made = tuple(Pattern("phrase", item) if isinstance(item, str) else item for item in patterns)
    return Signal(
        f"{subject}.method.{name}", subject, "method", name, Ppm(100_000), "subject", made, examples, near_misses
    )


def codes(*signals: Signal, suppressors: tuple[Suppressor, ...] = ()) -> list[str]:
    contract = SubjectContract("1.0", "t", "T", "candidate", signals=signals, suppressors=suppressors)
    return [problem.code for problem in audit_contract(contract)]


def test_a_sound_signal_has_no_problems() -> None:
    assert (
        codes(signal("event study", examples=("An event study of x.",), near_misses=("The event was studied.",))) == []
    )


def test_an_example_that_does_not_trigger_is_named() -> None:
    assert codes(signal("event study", examples=("A cohort study.",))) == ["example_misses"]


def test_an_example_that_is_denied_does_not_trigger() -> None:
    assert codes(signal("event study", examples=("We do not use an event study.",))) == ["example_misses"]


def test_a_near_miss_that_triggers_is_named() -> None:
    assert codes(signal("event study", near_misses=("An event study.",))) == ["near_miss_triggers"]


def test_a_suppressor_is_executed_too() -> None:
    suppressor = Suppressor("t.suppressor.y", (Pattern("phrase", "bond strength"),), Ppm(50_000), ("bonds",), ())
    assert codes(suppressors=(suppressor,)) == ["example_misses"]


def test_two_ids_with_one_normal_form_collide() -> None:
    assert codes(signal("event-study", name="a"), signal("Event Study", name="b")) == ["pattern_collides"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("stock return", "Stock-Return"),
        ("事件研究", "事件研究"),
        ("資產定價", "资产定价"),
        (Pattern("acronym", "CAR", near=("event",)), Pattern("acronym", "CAR", near=("abnormal",))),
        (Pattern("regex", "a+"), Pattern("regex", "a+")),
    ],
)
def test_two_ids_with_one_normal_form_collide_whatever_the_form(first: str | Pattern, second: str | Pattern) -> None:
    assert codes(signal(first, name="a"), signal(second, name="b")) == ["pattern_collides"]
    assert codes(signal(first, second, name="a")) == []


def test_an_acronym_and_symbols_are_other_words() -> None:
    acronym = Pattern("acronym", "CAPM", near=("asset",))
    assert codes(signal(acronym, "Basel++", name="a"), signal("capm", "basel", name="b")) == []


def test_a_signal_and_a_suppressor_collide_too() -> None:
    suppressor = Suppressor("t.suppressor.y", (Pattern("phrase", "event study"),), Ppm(50_000), (), ())
    assert codes(signal("event study"), suppressors=(suppressor,)) == ["pattern_collides"]


@pytest.mark.parametrize("word", ["q", "iv", "7"])
def test_a_word_of_two_letters_needs_a_justification(word: str) -> None:
    assert codes(signal(word))[0] in ("pattern_too_short", "pattern_too_common")
    assert codes(signal(Pattern("phrase", word, justification="the only reading"))) == []


@pytest.mark.parametrize("word", ["analysis", "results", "研", "研究"])
def test_a_frequent_word_alone_needs_a_justification(word: str) -> None:
    assert codes(signal(word)) == ["pattern_too_common"]
    assert codes(signal(Pattern("phrase", word, justification="only in the venue"))) == []


def test_a_rare_word_and_a_phrase_of_frequent_words_are_fine() -> None:
    assert codes(signal("heteroskedasticity", "analysis of results", "资产定价")) == []


def test_a_pattern_without_a_word_is_named() -> None:
    assert codes(signal("***")) == ["pattern_empty"]
