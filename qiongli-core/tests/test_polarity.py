"""Denied, quoted and excluded evidence does not count; a finding stated in the negative keeps its topic."""

from __future__ import annotations

import pytest

from qiongli.document import tokenise
from qiongli.signals.polarity import Clauses, block_quotations, quotations

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
    ("we do not, in this paper, use an event study or stock returns", {"event study": True, "stock returns": True}),
    ("We do not, however, use an event study", {"event study": True}),
    ("We do not therefore use an event study", {"event study": True}),
    ("we never used an event study or stock returns", {"event study": True, "stock returns": True}),
    ("We have never run an event study", {"event study": True}),
    ("We will not be using an event study", {"event study": True}),
    ("We are not going to run an event study, but CRSP is used", {"event study": True, "CRSP": False}),
    ("We decided not to use an event study", {"event study": True}),
    ("We decided against an event study", {"event study": True}),
    ("We steer clear of stock returns", {"stock returns": True}),
    ("Nowhere do we use an event study", {"event study": True}),
    ("An event study is deliberately not used", {"event study": True}),
    ("An event study is beyond the scope of this paper", {"event study": True}),
    ("An event study of such firms lies squarely out of the scope", {"event study": True}),
    ("An event study of such firms was considered but eventually rejected", {"event study": True}),
    ("An event study is left for future work", {"event study": True}),
    ("These incentives are avoided by contract", {"incentives": False}),
    ("Investors do not engage in hedging", {"hedging": False}),
    ("whether or not to use an event study is our question", {"event study": False}),
    ("No prior work has run an event study; ours is the first", {"event study": False}),
    ("We argue against the view that stock returns are random", {"stock returns": False}),
    ("The firms never left the stock returns to chance", {"stock returns": False}),
    ("An event study was considered but not used, CRSP was", {"event study": True, "CRSP": False}),
    ("Event studies are not applicable", {"Event studies": True}),
    ("There was never an event study", {"event study": True}),
    ("An event study is not only used but extended", {"event study": False}),
    ("Without controls, the event study shows a jump", {"event study": False}),
    ("Without controls, the event study, or CRSP, we have little", {"event study": True, "CRSP": True}),
    ("We do not use interviews, an event study, or stock returns", {"event study": True, "stock returns": True}),
    ("We don't use surveys—we run an event study", {"event study": False}),
    ("We do not use what we call an event study", {"event study": True}),
    ("本文无意使用事件研究法", {"事件研究": True}),
    ("本文非事件研究", {"事件研究": True}),
    ("本文不采取事件研究法", {"事件研究": True}),
    ("本文拒绝使用事件研究法", {"事件研究": True}),
    ("事件研究法不在本文研究范围内", {"事件研究": True}),
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
        ("他说「股票收益率总是会上涨的啊」", ["股票收益率总是会上涨的啊"]),
        ('a 5" pipe and a 6" pipe', []),
        ('an unclosed "quotation goes on', []),
        ("She said ‘we never trade on earnings news’ of firms’ news", ["we never trade on earnings news"]),
        ("She said 'we don't trade on earnings news' of firms' news", ["we don't trade on earnings news"]),
        ("the firms' stock returns and the banks' lending and the investors' beliefs", []),
        ("Doe et al.'s search model of asset markets' liquidity and depth", []),
        ("the ‘transfer problem’using a model of firms’ debt and of trade", []),
        ("since the '90s many stock returns and firms' earnings", []),
        ("since the ’90s many stock returns and firms’ earnings", []),
        ("the ‘event study’ of firms’ stock returns and the banks’ lending", []),
        ("er schrieb „wir handeln nie nach Meldungen“ und ging", ["wir handeln nie nach Meldungen"]),
        ("„Erst dies und dann jenes“ und unsere eigenen Worte und “Dies”", ["Erst dies und dann jenes"]),
        ("il dit « nous ne faisons jamais cela » et nos mots à nous « puis ceci »", [" nous ne faisons jamais cela "]),
        ("she said ``we never trade on earnings news'' and left", ["we never trade on earnings news"]),
    ],
)
def test_speech_is_quoted_and_a_term_in_inverted_commas_is_not(text: str, quoted: list[str]) -> None:
    marks = "\"“”„「」‘’«»`'"
    assert [text[start:end].strip(marks) for start, end, _ in quotations(tokenise(text))] == quoted


def test_lines_that_quote_are_quoted_whole() -> None:
    text = "> stock returns and more\nour own words\n  > an event study\nprofit > loss"
    assert [text[start:end] for start, end, _ in block_quotations(text)] == [
        "> stock returns and more",
        "  > an event study",
    ]
