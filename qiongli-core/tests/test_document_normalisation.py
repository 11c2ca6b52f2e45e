"""Variants of spelling, spacing, case and encoding have one normal form; symbols that matter are kept apart."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiongli.contract.models import Pattern, Signal, SubjectContract
from qiongli.document import normal_form, read_document, tokenise
from qiongli.records._units import Ppm
from qiongli.signals import compile_index


def hits(pattern: str, text: str, kind: str = "phrase") -> list[str]:
    signal = Signal("t.method.x", "t", "method", "x", Ppm(100_000), "subject", (Pattern(kind, pattern),), (), ())
    contract = SubjectContract("1.0", "t", "T", "candidate", signals=(signal,))
    return [found.snippet for found in compile_index([contract]).detect(read_document(text)) if found.role == "signal"]


#: Pattern, text, whether it matches: hand-written equivalents of the cases that decided the design.
CASES = [
    ("board", "the dashboard was red", False),
    ("board", "the board met", True),
    ("board", "board2 was soldered", False),
    ("board", "board_of_directors", True),
    ("board", "a cross-board vote", True),
    ("option", "adoption rates", False),
    ("art", "Ärt ist kein Wort", False),
    ("caf", "café society", False),
    ("café", "CAFÉ SOCIETY", True),
    ("σύνολο", "ΣΎΝΟΛΟ", True),
    ("рынок", "РЫНОК", True),
    ("strasse", "die STRAßE", True),
    ("straße", "DIE STRASSE", True),
    ("kelvin", "\u212aelvin scale", True),
    ("season", "\u017feason ticket", True),
    ("finance", "ﬁnance", True),
    ("istanbul", "ISTANBUL", True),
    ("étude", "e\u0301tude", True),
    ("e\u0301tude", "étude", True),
    ("event study", "event  study", True),
    ("event study", "event\nstudy", True),
    ("event study", "event\u00a0study", True),
    ("event study", "event-study", True),
    ("event study", "event\u2011study", True),
    ("event study", "event\u2013study", True),
    ("event study", "ev\u00adent study", True),
    ("event study", "ev\u200bent study", True),
    ("event study", "EVENT STUDIES", True),
    ("event study", "the event. Study the rest", False),
    ("event study", "the event; study it", False),
    ("money, credit and banking", "Journal of Money, Credit and Banking", True),
    ("betas", "the beta version", False),
    ("beta", "two betas", True),
    ("stock returns", "a stock return", True),
    ("Fama-MacBeth", "fama macbeth", True),
    ("Fama–MacBeth", "Fama-MacBeth", True),
    ("Tobin's q", "Tobin’s Q", True),
    ("differences", "differ-\nences in pay", True),
    ("资产定价", "本文研究资产定价模型", True),
    ("资产定价", "本文研究資產定價模型", True),
    ("python", "用python写", True),
    ("event study", "ｅｖｅｎｔ　ｓｔｕｄｙ", True),
    ("difference in differences", "difference-in-differences", True),
    ("event study", "eventstudy", False),
]


@pytest.mark.parametrize(("pattern", "text", "matches"), CASES, ids=[f"{p!r} in {t!r}" for p, t, _ in CASES])
def test_hand_cases(pattern: str, text: str, matches: bool) -> None:
    assert bool(hits(pattern, text)) is matches


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("C++", "written in C++ for speed", True),
        ("C++", "vitamin C and zinc", False),
        ("R&D", "R&D spending", True),
        ("R&D", "the R D line", False),
        ("S&P 500", "the S&P 500 index", True),
        ("S&P 500", "s p 500", False),
        (".NET", "a .NET service", True),
        (".NET", "the net effect", False),
    ],
)
def test_symbols_of_a_pattern_are_not_lost(pattern: str, text: str, matches: bool) -> None:
    assert bool(hits(pattern, text)) is matches


@given(st.text(max_size=200))
def test_i3_every_token_slice_renormalises_to_the_token(text: str) -> None:
    tokens = tokenise(text)
    for word, start, end in zip(tokens.words, tokens.starts, tokens.ends, strict=True):
        assert "".join(normal_form(text[start:end])) == word


@given(st.text(alphabet="ab é資-\n\u200bﬁ", max_size=40))
def test_k1_case_and_canonical_forms_change_no_token(text: str) -> None:
    forms = {normal_form(unicodedata.normalize(form, text)) for form in ("NFC", "NFD")}
    assert len(forms | {normal_form(text)}) == 1


@given(st.text(max_size=120), st.text(alphabet="xyz ", min_size=1, max_size=30))
def test_k2_a_neutral_sentence_changes_no_evidence(text: str, neutral: str) -> None:
    assert hits("event study", f"{text} an event study.") == hits("event study", f"{text} an event study. {neutral}")


@given(st.text(alphabet="abcdefghij", min_size=1, max_size=10))
def test_k4_inside_a_longer_word_nothing_fires(letters: str) -> None:
    assert hits("bond", f"{letters}bond") == []
    assert hits("bond", f"the bond{letters}x") == []


@given(st.lists(st.sampled_from(["event study", "we", "do", "report", "results"]), max_size=8))
def test_k3_evidence_of_two_texts_is_in_their_concatenation(words: list[str]) -> None:
    text = " ".join(words)
    together = hits("event study", f"{text}\n\n{text}")
    assert len(together) == 2 * len(hits("event study", text))


@given(st.text(alphabet="a\u0301\u0323\u0327\u0345\u1f80é가ﬁ", min_size=300, max_size=400))
def test_k1_a_word_of_countless_marks_has_the_form_that_unicode_gives_it(text: str) -> None:
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", "a" + text).casefold())
    assert normal_form("a" + text) == (folded,)
