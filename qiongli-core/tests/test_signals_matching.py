"""What each form of a pattern matches, which orders direct, and what evidence says of a place in a text."""

from __future__ import annotations

import pytest
from signal_cases import found, index, phrase, signal

from qiongli.contract.models import Pattern, Suppressor
from qiongli.document import read_document
from qiongli.records._units import Ppm
from qiongli.signals import select_spans
from qiongli.signals.polarity import Clauses

JF = index(signal("finance", "venue", "jf", Pattern("acronym", "JF", near=("journal", "submit", "期刊"))))


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("We submit it to the JF next week.", True),
        ("JF is the journal.", True),
        ("The jf journal", False),
        ("JFs and journals", False),
        ("Meet JF at noon. The journal is ready.", False),
        ("The journal is ready\n\nJF", False),
        ("journal " + "one two three four five six seven eight nine ten eleven JF", True),
        ("journal " + "one two three four five six seven eight nine ten eleven twelve JF", False),
        ("投稿到期刊JF的文章", True),
        ("ＪＦ is the journal", True),
    ],
)
def test_an_acronym_needs_its_capitals_and_a_context_word_of_its_sentence(text: str, matches: bool) -> None:
    assert bool(found(JF, text)) is matches


@pytest.mark.parametrize("field", ["venue", "Venue", "journal", "jel"])
def test_a_field_of_names_is_context_enough(field: str) -> None:
    assert found(JF, {field: "JF"})
    assert not found(JF, {"title": "JF"})


# --- regular expressions ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "text", "snippets"),
    [
        (
            "(three|five) factor models?",
            "A Three-Factor\u00a0model and five factor models",
            ["Three-Factor\u00a0model", "five factor models"],
        ),
        ("bond", "bonds vagabond bond", ["bond"]),
        ("a b", "a b a b a b", ["a b", "a b", "a b"]),
        ("garch( m)?", "GARCH-M, garch", ["GARCH-M", "garch"]),
        ("收益 率?", "股票收益 率", []),
        ("收 益 率", "股票收益率", ["收益率"]),
    ],
)
def test_an_expression_sees_whole_normalised_tokens(expression: str, text: str, snippets: list[str]) -> None:
    made = index(signal("finance", "method", "x", Pattern("regex", expression)))
    assert [item.snippet for item in found(made, text)] == snippets


def test_several_expressions_and_phrases_are_found_together() -> None:
    made = index(
        signal("finance", "method", "a", Pattern("regex", "alpha \\d+")),
        signal("finance", "method", "b", Pattern("regex", "beta.{1,3}gamma")),
        signal("finance", "venue", "c", phrase("alpha 7")),
    )
    text = "alpha 7 with beta & gamma"
    assert [item.signal_id for item in found(made, text)] == [
        "finance.method.a",
        "finance.venue.c",
        "finance.method.b",
    ]


def test_an_expression_that_backtracks_elsewhere_takes_no_time_here() -> None:
    made = index(signal("finance", "method", "x", Pattern("regex", "(a+)+b")))
    assert found(made, "a" * 50_000) == []


# --- phrases ------------------------------------------------------------------------------------------------------


def test_all_overlaps_are_found_and_every_owner_of_a_phrase() -> None:
    made = index(
        signal("finance", "method", "a", phrase("event study")),
        signal("finance", "method", "b", phrase("event study window")),
        signal("finance", "method", "c", phrase("study window")),
        signal("economics", "method", "d", phrase("event study")),
    )
    assert [item.signal_id for item in found(made, "an event study window")] == [
        "economics.method.d",
        "finance.method.a",
        "finance.method.b",
        "finance.method.c",
    ]


def test_a_hyphen_at_a_line_end_is_read_both_ways() -> None:
    made = index(
        signal("finance", "method", "a", phrase("difference-in-differences")),
        signal("finance", "method", "b", phrase("heteroskedasticity")),
    )
    text = "a difference-in-\ndifferences design with heterosked-\nasticity"
    assert [item.snippet for item in found(made, text)] == ["difference-in-\ndifferences", "heterosked-\nasticity"]


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("本文研究投资银行的声誉", True),
        ("本文研究投资、银行与保险", False),
        ("本文研究投资，银行随后跟进", False),
        ("本文研究投资。银行随后跟进", False),
        ("本文研究投资；银行随后跟进", False),
    ],
)
def test_a_mark_between_its_words_ends_a_chinese_phrase(text: str, matches: bool) -> None:
    bank = index(signal("finance", "data_or_outcome", "bank", phrase("投资银行")))
    assert bool(found(bank, text)) is matches


def test_traditional_and_full_width_forms_are_the_same_words() -> None:
    made = index(signal("finance", "method", "a", Pattern("phrase", "货币政策冲击", lang="zh")))
    assert [item.snippet for item in found(made, "研究貨幣政策衝擊的影響")] == ["貨幣政策衝擊"]


# --- which senses count -------------------------------------------------------------------------------------------


GLUE = Suppressor("finance.suppressor.glue", (phrase("bond strength"),), Ppm(90_000), (), ())


def test_an_everyday_sense_takes_the_span_and_its_dimension() -> None:
    made = index(
        signal("finance", "theory_or_construct", "bond", phrase("bond")),
        signal("economics", "method", "bond", phrase("bond")),
        suppressors=(GLUE,),
    )
    evidence = made.detect(read_document("The bond strength of glue and a bond."))
    assert [(item.signal_id, item.start, item.polarity, item.role, item.dimension) for item in evidence] == [
        ("economics.method.bond", 4, "asserted", "signal", "method"),
        ("finance.theory_or_construct.bond", 4, "everyday", "signal", "theory_or_construct"),
        ("finance.suppressor.glue", 4, "asserted", "suppressor", "theory_or_construct"),
        ("economics.method.bond", 32, "asserted", "signal", "method"),
        ("finance.theory_or_construct.bond", 32, "asserted", "signal", "theory_or_construct"),
    ]


def test_references_are_context_and_suppress_nothing() -> None:
    made = index(signal("finance", "venue", "bond", phrase("bond")), suppressors=(GLUE,))
    text = "A bond.\n\nReferences\n\nDoe, J. (2001). Bond strength. Bond Journal."
    evidence = made.detect(read_document(text))
    assert [(item.snippet, item.activation, item.polarity) for item in evidence] == [
        ("bond", "subject", "asserted"),
        ("Bond", "context_only", "asserted"),
        ("Bond", "context_only", "asserted"),
    ]


@pytest.mark.parametrize(
    ("text", "polarity"),
    [
        ('He wrote "we always trust a stock return in spring" to us', "quoted"),
        ('the "stock return" of a farm', "asserted"),
        ("> a stock return and more words", "quoted"),
        ("《股票收益率与宏观经济波动的关系研究》stock return", "asserted"),
        ("We do not use a stock return.", "negated"),
        ("The stock return (SR) is not used.", "negated"),
        ("This is not stock return research.", "negated"),
        ("Whether or not stock returns rise", "asserted"),
        ("We no longer use stock returns", "negated"),
        ("We cannot rule out stock returns", "asserted"),
        ("We do not ignore stock returns", "asserted"),
        ("We do not use U.S. stock returns", "negated"),
        ("We use no survey. Stock returns are used", "asserted"),
        ("我们没有stock return", "negated"),
        ("WE DO NOT USE STOCK RETURNS", "negated"),
        ("We don\u2019t use stock returns", "negated"),
    ],
)
def test_polarity_of_a_place(text: str, polarity: str) -> None:
    made = index(signal("finance", "data_or_outcome", "r", phrase("stock return")))
    assert [item.polarity for item in found(made, text)] == [polarity]


# --- directives ---------------------------------------------------------------------------------------------------


def test_a_span_goes_to_the_longest_then_the_heaviest_then_by_dimension_then_by_id() -> None:
    made = index(
        signal("finance", "theory_or_construct", "long", phrase("bond market")),
        signal("finance", "method", "short", phrase("bond")),
        signal("finance", "venue", "heavy", phrase("repo rate"), weight=200_000),
        signal("finance", "method", "light", phrase("repo rate"), weight=100_000),
        signal("finance", "venue", "b", phrase("swap")),
        signal("finance", "method", "z", phrase("swap")),
        signal("finance", "method", "y", phrase("swap")),
    )
    kept = select_spans(made.detect(read_document("The bond market, a repo rate and a swap; a bond.")))
    assert [item.signal_id for item in kept] == [
        "finance.theory_or_construct.long",
        "finance.venue.heavy",
        "finance.method.y",
        "finance.method.short",
    ]


def test_a_text_without_words_of_denial_is_not_looked_at_twice() -> None:
    document = read_document("An event study of stock returns")
    assert not Clauses(document.fields[0].tokens).denies(1, 3)
