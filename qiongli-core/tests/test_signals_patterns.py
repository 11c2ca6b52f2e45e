"""Every form of pattern, what suppresses it, and that the compiled index is the same however it was made."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiongli.contract.models import Pattern, Signal, SubjectContract, Suppressor
from qiongli.document import normal_form, read_document
from qiongli.errors import ContractError
from qiongli.records import Evidence, Ppm
from qiongli.signals import SignalIndex, compile_index, select_spans
from qiongli.signals.index import index_from_json, index_to_json


def signal(
    name: str, *patterns: Pattern, subject: str = "t", weight: int = 100_000, dimension: Any = "method"
) -> Signal:
    return Signal(
        f"{subject}.{dimension.replace('_', '-')}.{name}",
        subject,
        dimension,
        name,
        Ppm(weight),
        "subject",
        patterns,
        (),
        (),
    )


def phrase(text: str) -> Pattern:
    return Pattern("phrase", text)


def contract(*signals: Signal, suppressors: Sequence[Suppressor] = (), subject: str = "t") -> SubjectContract:
    return SubjectContract(
        "1.0", subject, subject.title(), "candidate", signals=signals, suppressors=tuple(suppressors), digest=subject
    )


def hits(pattern: Pattern, task: dict[str, object] | str) -> list[str]:
    """The original characters of every match that is asserted."""
    found = compile_index([contract(signal("x", pattern))]).detect(read_document(task))
    return [item.snippet for item in found if item.role == "signal" and item.polarity == "asserted"]


# --- acronyms -----------------------------------------------------------------------------------------------------

CAR = Pattern("acronym", "CAR", near=("abnormal", "announcement date"))


@pytest.mark.parametrize(
    "text",
    [
        "The abnormal CAR is small",
        "CAR around the announcement date",
        "CAR (abnormal)",
        "CAR, as it were, is abnormal",
        "around announcement dates the CAR grows",
        # Eleven tokens between: the context word is the twelfth.
        f"CAR {'of ' * 11}abnormal size",
        f"abnormal {'of ' * 11}CAR",
        "Abnormal-return CAR",
        "异常收益 abnormal CAR 很小",
    ],
)
def test_an_acronym_counts_with_a_context_word_in_its_sentence_within_twelve_tokens(text: str) -> None:
    assert hits(CAR, text) == ["CAR"]


@pytest.mark.parametrize(
    "text",
    [
        "The CAR is small",
        "the abnormal car is small",
        "the abnormal Car is small",
        "the abnormal SCAR healed",
        "the abnormal CARE of them",
        f"CAR {'of ' * 12}abnormal size",
        f"abnormal {'of ' * 12}CAR",
        "It is abnormal. The CAR is small",
        "It is abnormal! CAR",
        "It is abnormal\n\nCAR",
        "The CAR is small? Abnormal, no",
        "an announcement without dates of a CAR",
        "这很 abnormal。CAR 很小",
    ],
)
def test_an_acronym_counts_nowhere_else(text: str) -> None:
    assert hits(CAR, text) == []


def test_in_the_venue_field_an_acronym_needs_no_context_but_its_case() -> None:
    assert hits(CAR, {"venue": "CAR"}) == ["CAR"]
    assert hits(CAR, {"venue": "car"}) == []
    assert hits(CAR, {"topic": "CAR"}) == []


def test_an_abbreviation_in_between_ends_no_sentence() -> None:
    assert hits(CAR, "abnormal, e.g. by Doe et al. 1999, CAR") == ["CAR"]


def test_an_acronym_has_no_plural_of_its_own() -> None:
    assert hits(Pattern("acronym", "JF", near=("journal",)), "the journal jfs and JFES") == []


# --- regular expressions ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "text", "found"),
    [
        ("harbou?r (bond|note)s?", "A harbor bond and HARBOUR   NOTES.", ["harbor bond", "HARBOUR   NOTES"]),
        ("tidal .{0,10}rate", "the tidal (mean) rate", ["tidal (mean) rate"]),
        ("bond", "vagabond bonded bond", ["bond"]),
        ("silt [0-9]+", "silt 12 silt 13", ["silt 12", "silt 13"]),
        ("silt", "silt silt-silt", ["silt", "silt", "silt"]),
        ("资产(定价|价格)", "本文研究资产定价与资产价格", []),
        ("m.nster", "in MÜNSTER", ["MÜNSTER"]),
        ("caf(e|é)s?", "two cafe\u0301s", ["cafe\u0301s"]),
    ],
)
def test_a_regex_sees_normalised_tokens_and_gives_the_original_text(
    expression: str, text: str, found: list[str]
) -> None:
    assert hits(Pattern("regex", expression), text) == found


def test_a_regex_reads_chinese_with_a_space_between_characters() -> None:
    pattern = Pattern("regex", "资 产 (定 价|价 格)")
    assert hits(pattern, "本文研究資產定價与资产价格。") == ["資產定價", "资产价格"]


def test_an_expression_that_re2_refuses_is_an_error_of_the_contract() -> None:
    with pytest.raises(ContractError) as caught:
        hits(Pattern("regex", r"(a)\1"), "a a")
    assert caught.value.code == "regex_refused"


def test_without_the_canary_every_expression_looks_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    # RE2 answers "no match" when a set runs out of memory; the pattern that always matches tells the two apart.
    import re2

    class Exhausted:
        def Add(self, pattern: object) -> int:
            return 0

        def Compile(self) -> None: ...

        def Match(self, text: object) -> list[int]:
            return []

    class Factory:
        @staticmethod
        def SearchSet(options: object) -> Exhausted:
            return Exhausted()

    monkeypatch.setattr(re2, "Set", Factory)
    assert hits(Pattern("regex", "harbou?r bonds?"), "A harbor bond.") == ["harbor bond"]


def test_a_thousand_expressions_compile_and_none_is_lost() -> None:
    signals = [signal(f"n{number}", Pattern("regex", f"mark{number} (one|two)s?")) for number in range(1_000)]
    index = compile_index([contract(*signals)])
    text = " ".join(f"mark{number} twos" for number in range(0, 1_000, 7))
    assert len(index.detect(read_document(text))) == len(range(0, 1_000, 7))


@given(
    st.sampled_from(["a( b){0,3} c", "a( b)* c", "(a|a b|b c a)", "b{1,2}( [ab]){0,5}", "c a( (b|c))+?"]),
    st.lists(st.sampled_from(["a", "b", "b", "c", "c c a"]), max_size=30),
    st.integers(0, 40),
)
def test_a_regex_finds_in_a_long_text_what_a_search_through_all_of_it_finds(
    expression: str, words: list[str], times: int
) -> None:
    text = " ".join([*words, "d"] * times)
    expected = []
    position = 0
    while (match := re.compile(f" (?:{expression}) ").search(f" {text} ", position)) is not None:
        expected.append(match.group().strip())
        position = match.end() - 1
    assert hits(Pattern("regex", expression), text) == expected


def test_a_match_of_a_regex_has_64_words_at_most() -> None:
    assert hits(Pattern("regex", "x( a)*"), "x" + " a" * 70) == ["x" + " a" * 63]
    assert hits(Pattern("regex", "x( .*y)?"), "x" + " a" * 70 + " y x a y") == ["x", "x a y"]
    assert hits(Pattern("regex", "x( a){65}"), "x" + " a" * 70) == []


def test_a_nested_repetition_takes_no_time() -> None:
    assert hits(Pattern("regex", "(a+ ?)+b"), "a " * 5_000) == []


# --- overlaps, suppressors, disjoint spans ------------------------------------------------------------------------


def detect(text: str, *signals: Signal, suppressors: Sequence[Suppressor] = ()) -> tuple[Evidence, ...]:
    return compile_index([contract(*signals, suppressors=suppressors)]).detect(read_document(text))


def test_all_overlapping_matches_are_found() -> None:
    found = detect(
        "the harbour bond market",
        signal("a", phrase("harbour bond")),
        signal("b", phrase("bond market")),
        signal("c", phrase("harbour bond market")),
        signal("d", phrase("bond")),
    )
    assert [(item.value, item.snippet) for item in found] == [
        ("a", "harbour bond"),
        ("c", "harbour bond market"),
        ("d", "bond"),
        ("b", "bond market"),
    ]


def test_one_pattern_of_two_signals_gives_both() -> None:
    found = detect("a harbour bond", signal("a", phrase("harbour bond")), signal("b", phrase("harbour-bond")))
    assert [item.value for item in found] == ["a", "b"]


GLUE = Suppressor("t.suppressor.glue", (phrase("bond glue"),), Ppm(100_000), (), ())


def test_a_signal_that_a_suppressor_overlaps_is_everyday() -> None:
    found = detect("harbour bond glue and a harbour bond", signal("a", phrase("harbour bond")), suppressors=[GLUE])
    assert [(item.role, item.polarity) for item in found] == [
        ("signal", "everyday"),
        ("suppressor", "asserted"),
        ("signal", "asserted"),
    ]


def test_a_suppressor_of_one_subject_leaves_the_others_signals_alone() -> None:
    other = contract(signal("a", phrase("harbour bond"), subject="u"), subject="u")
    index = compile_index([contract(suppressors=[GLUE]), other])
    found = index.detect(read_document("harbour bond glue"))
    assert [(item.subject, item.polarity) for item in found if item.role == "signal"] == [("u", "asserted")]


def spans(text: str, *signals: Signal) -> list[tuple[str, str]]:
    return [(item.dimension, item.value) for item in select_spans(detect(text, *signals))]


def test_of_overlapping_signals_the_longest_keeps_the_span() -> None:
    assert spans(
        "a harbour bond market",
        signal("short", phrase("harbour bond"), weight=200_000),
        signal("long", phrase("harbour bond market"), dimension="venue", weight=60_000),
    ) == [("venue", "long")]


def test_of_equally_long_ones_the_heavier_then_the_earlier_dimension_then_the_id() -> None:
    text = "a harbour bond"
    light = signal("a", phrase("harbour bond"), weight=60_000)
    heavy = signal("b", phrase("harbour bond"), weight=70_000, dimension="venue")
    assert spans(text, light, heavy) == [("venue", "b")]
    equal = signal("c", phrase("harbour bond"), weight=60_000, dimension="data_or_outcome")
    assert spans(text, equal, light) == [("method", "a")]
    same = signal("b", phrase("harbour bond"), weight=60_000)
    assert spans(text, same, light) == [("method", "a")]


def test_a_signal_that_loses_one_span_keeps_its_others() -> None:
    assert spans(
        "a harbour bond market, and a harbour bond",
        signal("short", phrase("harbour bond")),
        signal("long", phrase("harbour bond market"), dimension="venue"),
    ) == [("venue", "long"), ("method", "short")]


def test_signals_of_two_subjects_may_share_a_span() -> None:
    index = compile_index([contract(signal("a", phrase("bond"), subject=slug), subject=slug) for slug in ("t", "u")])
    assert len(select_spans(index.detect(read_document("bond")))) == 2


def test_a_denied_signal_takes_no_span() -> None:
    found = detect(
        "We do not use a harbour bond market.",
        signal("short", phrase("harbour bond")),
        signal("long", phrase("harbour bond market")),
    )
    assert select_spans(found) == ()


# --- the compiled index -------------------------------------------------------------------------------------------

CONTRACTS = (
    contract(
        signal("a", phrase("harbour bond"), Pattern("acronym", "HB", near=("harbour", "tidal wave"))),
        signal("b", Pattern("regex", "tid(e|al)s?"), dimension="venue"),
        suppressors=[GLUE],
    ),
    contract(
        signal("a", Pattern("phrase", "资产定价", lang="zh"), phrase("R&D"), phrase("C++"), subject="u"),
        signal("b", phrase("money, credit and silt"), subject="u"),
        subject="u",
    ),
)
PARTS = (
    *("harbour bond", "harbour-bonds", "HB", "tidal wave", "tides", "bond glue", "资產定價", "R&D", "R D", "C++", "C"),
    *("money, credit and silt", "do not use", "not a", "“", "”", ".", ";", "\n\n", "References\n", "keep this in u"),
    *("do not treat this as t", "word", "é", "\u200b", "\ud7ff", "`", "(", "按U处理"),
)
texts = st.lists(st.sampled_from(PARTS), max_size=14).map(" ".join)


def as_data(index: SignalIndex, text: str) -> list[dict[str, Any]]:
    return [item.to_packet() for item in index.detect(read_document(text))]


INDEX = compile_index(CONTRACTS)
STORED = index_from_json(index_to_json(INDEX))
TURNED = compile_index(tuple(reversed(CONTRACTS)))


@given(texts)
def test_d1_the_stored_index_and_any_order_of_contracts_detect_the_same(text: str) -> None:
    expected = as_data(INDEX, text)
    assert as_data(STORED, text) == expected
    assert as_data(TURNED, text) == expected


def test_the_stored_form_is_the_same_for_any_order_and_comes_back_whole() -> None:
    assert index_to_json(TURNED) == index_to_json(INDEX) == index_to_json(STORED)
    assert STORED.digest == INDEX.digest
    assert STORED.subjects == ("t", "u")


@pytest.mark.parametrize(
    "stored", ["", "[]", "{}", "null", '{"version": 0}', json.dumps({"version": 99}), index_to_json(INDEX)[:-9]]
)
def test_anything_else_is_no_index(stored: str) -> None:
    with pytest.raises((ValueError, TypeError, KeyError)):
        index_from_json(stored)


@given(texts)
def test_i3_every_piece_of_evidence_points_at_its_original_text(text: str) -> None:
    document = read_document(text)
    fields = {field.name: field for field in document.fields}
    for item in INDEX.detect(document):
        assert fields[item.field].text[item.start : item.end] == item.snippet
        assert normal_form(item.snippet)


@given(texts)
def test_evidence_is_sorted_and_unique(text: str) -> None:
    found = INDEX.detect(read_document(text))
    keys = [(item.start, item.end, item.signal_id, item.role) for item in found]
    assert keys == sorted(keys)
    assert len(set(keys)) == len(keys)
