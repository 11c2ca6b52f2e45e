"""Denied, quoted and excluded evidence does not count; a finding stated in the negative keeps its topic."""

from __future__ import annotations

import pytest

from qiongli.document import tokenise
from qiongli.signals.polarity import Clauses, quotations

#: Text, and the phrases in it with whether the author denies them.
DENIALS = [
    ("we do not use an event study or stock returns; this is X", {"event study": True, "stock returns": True}),
    ("Not only an event study but also stock returns", {"event study": False, "stock returns": False}),
    ("This is not an event study. We use CRSP.", {"event study": True, "CRSP": False}),
    ("We cannot rule out momentum", {"momentum": False}),
    ("Without an event study, we rely on CRSP", {"event study": True, "CRSP": False}),
    ("We find no evidence of momentum", {"momentum": False}),
    ("The reform does not affect stock returns", {"stock returns": False}),
    ("An event study is not used here", {"event study": True}),
    ("We interview managers rather than run an event study", {"event study": True}),
    ("neither an event study nor stock returns", {"event study": True, "stock returns": True}),
    ("There is no event study in this paper, and we use CRSP", {"event study": True, "CRSP": False}),
    ("We don't use an event study", {"event study": True}),
    ("We don’t use an event study", {"event study": True}),
    ("under no arbitrage pricing kernels exist", {"pricing kernels": False}),
    ("We did not find that stock returns move", {"stock returns": False}),
    ("This is not a paper about asset pricing but about nurses", {"asset pricing": True, "nurses": False}),
    ("We never estimate a factor model", {"factor model": True}),
    ("The event study was not used, but CRSP was", {"event study": True, "CRSP": False}),
    ("本文不使用双重差分，而是采用工具变量", {"双重差分": True, "工具变量": False}),
    ("本文不仅使用双重差分，也使用工具变量", {"双重差分": False, "工具变量": False}),
    ("本文并非研究资产定价", {"资产定价": True}),
    ("我们没有采用事件研究法", {"事件研究": True}),
    ("没有证据表明货币政策有效", {"货币政策": False}),
]


@pytest.mark.parametrize(("text", "phrases"), DENIALS, ids=[text for text, _ in DENIALS])
def test_what_the_author_denies(text: str, phrases: dict[str, bool]) -> None:
    tokens = tokenise(text)
    clauses = Clauses(tokens)
    found = {}
    for phrase in phrases:
        start = text.index(phrase)
        first, last = tokens.starts.index(start), tokens.ends.index(start + len(phrase))
        found[phrase] = clauses.denies(first, last + 1)
    assert found == phrases


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ('He said "we never trade on earnings news" and left', ["we never trade on earnings news"]),
        ("the so-called “event study” approach", []),
        (
            "“Stock prices reflect all available information” was the headline",
            ["Stock prices reflect all available information"],
        ),
        ("> stock returns and more\nour own words", ["> stock returns and more"]),
        ("他说「股票收益率总是会上涨的啊」", ["股票收益率总是会上涨的啊"]),
        ('a 5" pipe and a 6" pipe', []),
        ('an unclosed "quotation goes on', []),
    ],
)
def test_speech_is_quoted_and_a_term_in_inverted_commas_is_not(text: str, quoted: list[str]) -> None:
    marks = '"“”「」'
    assert [text[start:end].strip(marks) for start, end, _ in quotations(tokenise(text))] == quoted
