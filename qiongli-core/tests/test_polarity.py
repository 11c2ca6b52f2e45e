"""Denied, quoted and excluded evidence does not count; a finding stated in the negative keeps its topic."""

from __future__ import annotations

import pytest

from qiongli.document import tokenise
from qiongli.signals.polarity import Clauses
from qiongli.signals.quotation import block_quotations, quotations

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


#: The same for how far a denial reaches: no further than what it governs.
REACHES = [
    ("Cities that lack a subway have higher house prices.", {"subway": True, "house prices": False}),
    (
        "Traders who do not rely on technical analysis beat those with charts.",
        {"technical analysis": True, "charts": False},
    ),
    ("Without deposit insurance, bank runs occur.", {"deposit insurance": True, "bank runs": False}),
    (
        "Without deposit insurance or capital requirements, bank runs occur.",
        {"deposit insurance": True, "capital requirements": True, "bank runs": False},
    ),
    (
        "Without deposit insurance, liquidity support, and capital requirements, bank runs become likely.",
        {"deposit insurance": True, "liquidity support": True, "capital requirements": True, "bank runs": False},
    ),
    ("In the absence of trade costs, wages converge.", {"trade costs": True, "wages": False}),
    ("Instead of levying taxes, states issue bonds.", {"levying taxes": True, "bonds": False}),
    ("Where there is no central bank, inflation is volatile.", {"central bank": True, "inflation": False}),
    (
        "Although we do not use survey data, our inflation measure is precise.",
        {"survey data": True, "inflation": False},
    ),
    ("Villages not connected to roads remain poor.", {"roads": False}),
    ("Absent of doubt, inflation matters.", {"inflation": False}),
    (
        "We show that countries without capital controls experience larger capital flows.",
        {"capital controls": True, "capital flows": False},
    ),
    ("The model, which does not use sticky prices, explains inflation.", {"sticky prices": True, "inflation": False}),
    (
        "Our approach avoids instrumental variables and uses panel data.",
        {"instrumental variables": True, "panel data": False},
    ),
    ("Our data do not contain wages; we use hours instead.", {"wages": True, "hours": False}),
    ("We do not observe wages before 1990.", {"wages": False}),
    (
        "This paper does not deal with monetary policy, nor does it discuss fiscal policy.",
        {"monetary policy": True, "fiscal policy": True},
    ),
    ("Neither tariffs nor quotas explain trade.", {"tariffs": True, "quotas": True, "trade": False}),
    ("The paper is not about monetary policy.", {"monetary policy": True}),
    ("The effect is not driven by monetary policy.", {"monetary policy": False}),
    (
        "There is no monetary policy in this model, but fiscal policy is rich.",
        {"monetary policy": True, "fiscal policy": False},
    ),
    ("We have nothing to say about monetary policy.", {"monetary policy": False}),
    ("We never study monetary policy or fiscal policy.", {"monetary policy": True, "fiscal policy": True}),
    ("We refrain from using difference in differences.", {"difference in differences": True}),
    (
        "The project eschews structural estimation in favour of experiments.",
        {"structural estimation": True, "experiments": False},
    ),
    ("The study is unrelated to monetary policy.", {"monetary policy": True}),
    ("None of our estimates relies on an instrument.", {"instrument": True}),
    ("We cannot reject that inflation is persistent.", {"inflation": False}),
    ("Without loss of generality, wages are one.", {"wages": False}),
    ("With or without tariffs, trade rises.", {"tariffs": False}),
    ("Employers without unions pay lower wages.", {"unions": True, "wages": False}),
    ("A country without natural resources can grow by exports.", {"natural resources": True, "exports": False}),
    ("Studies without control groups and randomisation are weak.", {"control groups": True, "randomisation": True}),
    ("The authors abandon rational expectations.", {"rational expectations": True}),
    ("Consumers abandon rational expectations.", {"rational expectations": False}),
    ("本文不涉及货币政策和财政政策", {"货币政策": True, "财政政策": True}),
    ("在缺乏抵押品时，信贷收缩", {"信贷": False}),
    ("没有工会的企业工资较低", {"工会": True, "工资": False}),
    ("若政府不使用关税，贸易上升", {"关税": True, "贸易": False}),
    ("本研究不以货币政策为主题", {"货币政策": True}),
    ("该研究与财政政策毫无关系", {"财政政策": True}),
    ("结果与货币政策无关", {"货币政策": False}),
    ("我们放弃使用工具变量，改用双重差分", {"工具变量": True, "双重差分": False}),
    ("没有发现货币政策有效", {"货币政策": False}),
    ("We avoid surveys and use stock returns.", {"surveys": True, "stock returns": False}),
    ("We do not collect surveys and use stock returns.", {"surveys": True, "stock returns": True}),
    ("No chapter of this thesis is an event study.", {"event study": True}),
    ("Neither essay is about asset pricing.", {"asset pricing": True}),
    ("Banks with no branches are an event study in themselves.", {"event study": False}),
    ("We do not use an event study, which is common in asset pricing.", {"event study": True, "asset pricing": False}),
    (
        "We do not use surveys, such as panels of investors, or an event study.",
        {"investors": True, "event study": True},
    ),
    ("本文不使用退市的公司的股票收益率", {"股票收益率": True}),
    ("Banks that do not use derivatives have lower stock returns.", {"derivatives": True, "stock returns": False}),
    (
        "Firms without credit ratings have higher leverage and stock returns.",
        {"credit ratings": True, "stock returns": False},
    ),
    (
        "Without short-sale constraints, stock prices reflect all information.",
        {"short-sale constraints": True, "stock prices": False},
    ),
    ("In the absence of arbitrage, asset pricing models imply a kernel.", {"arbitrage": True, "asset pricing": False}),
    ("Rather than dividends, firms choose share repurchases.", {"dividends": True, "share repurchases": False}),
    ("Without a doubt, asset pricing matters.", {"asset pricing": False}),
    ("企业未使用衍生品时股票收益率更低", {"衍生品": True, "股票收益率": False}),
    ("We are not interested in asset pricing.", {"asset pricing": True}),
    ("It has nothing to do with asset pricing.", {"asset pricing": True}),
    ("This paper has nothing to do with asset pricing or momentum.", {"asset pricing": True, "momentum": True}),
    ("We do not engage in asset pricing.", {"asset pricing": True}),
    ("None of our analyses uses an event study.", {"event study": True}),
    ("None of our analyses is based on an event study.", {"event study": True}),
    ("We eschew an event study.", {"event study": True}),
    ("We forgo an event study and use surveys.", {"event study": True}),
    ("We omit an event study.", {"event study": True}),
    ("本文与资产定价无关", {"资产定价": True}),
    ("本文不以资产定价为研究对象", {"资产定价": True}),
    ("本文放弃了事件研究法", {"事件研究": True}),
    ("We use surveys without controls, fixed effects or an event study.", {"event study": True}),
    ("Without controls, fixed effects or an event study, we have little.", {"event study": True}),
    (
        "Firms without ratings, bonds or bank loans have lower stock returns.",
        {"bonds": True, "bank loans": True, "stock returns": False},
    ),
    (
        "Banks that do not use derivatives or swaps have lower stock returns.",
        {"derivatives": True, "swaps": True, "stock returns": False},
    ),
    ("When banks do not use derivatives, stock returns are lower.", {"derivatives": True, "stock returns": False}),
    ("If there are no derivatives, stock returns rise.", {"derivatives": True, "stock returns": False}),
    ("In markets without derivatives, stock returns rise.", {"derivatives": True, "stock returns": False}),
    (
        "We show that, without short-sale constraints, stock prices reflect all information.",
        {"short-sale constraints": True, "stock prices": False},
    ),
    ("We do not use surveys and our results are based on stock returns.", {"stock returns": False}),
    ("We do not use interviews, which are common, or an event study.", {"event study": True}),
    ("We do not use surveys, relying instead on stock returns.", {"stock returns": False}),
    ("We study firms without credit ratings using stock returns.", {"credit ratings": True, "stock returns": False}),
    (
        "We run interviews rather than an event study to measure stock returns.",
        {"event study": True, "stock returns": False},
    ),
    ("Markets with and without banking panics differ.", {"banking panics": False}),
    ("We find no adverse selection in insurance.", {"adverse selection": False}),
    ("Beta is not a measure of stock returns.", {"stock returns": False}),
    ("This is not the case when ownership is concentrated.", {"ownership": False}),
    ("This paper is not a study of stock returns.", {"stock returns": True}),
    ("Not using derivatives lowers stock returns.", {"derivatives": True, "stock returns": False}),
    ("We do not attempt to explain stock returns.", {"stock returns": True}),
    ("We do not estimate or explain stock returns.", {"stock returns": True}),
    ("No event study is run; CRSP is used.", {"event study": True, "CRSP": False}),
    ("Investor sentiment is unrelated to stock returns.", {"stock returns": False}),
    ("This paper is unrelated to stock returns.", {"stock returns": True}),
    ("The measured portfolio is not mean variance efficient.", {"mean variance efficient": False}),
    ("None of the earlier papers uses an event study; ours does.", {"event study": False}),
    ("We have no interest in asset pricing.", {"asset pricing": True}),
    ("未使用衍生品的企业股票收益率更低", {"衍生品": True, "股票收益率": False}),
    ("本文不使用上市公司的股票收益率", {"股票收益率": True}),
    ("在没有套利的情况下资产定价模型成立", {"套利": True, "资产定价": False}),
    ("投资者情绪与股票收益率无关", {"股票收益率": False}),
    ("本研究与汇率和资产定价无关", {"汇率": True, "资产定价": True}),
    ("不以营利为目的的组织", {"营利": False}),
    ("Countries lacking a central bank have higher inflation.", {"central bank": True, "inflation": False}),
    ("Firms that avoid bank loans issue more corporate bonds.", {"bank loans": True, "corporate bonds": False}),
    ("Without collateral, credit rationing arises.", {"collateral": True, "credit rationing": False}),
    ("Without a central bank, we show that inflation rises.", {"a central bank": True, "inflation": False}),
    ("Instead of tariffs, governments use quotas to protect firms.", {"tariffs": True, "quotas": False}),
    ("In lieu of dividends, managers prefer share repurchases.", {"dividends": True, "share repurchases": False}),
    ("As opposed to dividends, share repurchases are flexible.", {"dividends": True, "share repurchases": False}),
    (
        "If workers do not have health insurance, labour supply falls.",
        {"health insurance": True, "labour supply": False},
    ),
    (
        "Households with no savings have a higher marginal propensity to consume.",
        {"savings": True, "marginal propensity to consume": False},
    ),
    ("Households with no savings face larger consumption risk.", {"savings": True, "consumption risk": False}),
    (
        "Neither dividends nor repurchases affect stock returns.",
        {"dividends": True, "repurchases": True, "stock returns": False},
    ),
    ("Banks do not use derivatives, and their stock returns are lower.", {"derivatives": True, "stock returns": False}),
    ("Models without price rigidity predict no response of inflation.", {"price rigidity": True, "inflation": False}),
    ("Not only stock returns but also bonds matter.", {"stock returns": False}),
    ("The tax applies without exception to dividends.", {"dividends": False}),
    ("Without any doubt asset pricing matters.", {"asset pricing": False}),
    ("We compare villages with and without microcredit.", {"microcredit": False}),
    ("Even without arbitrage, asset prices converge.", {"arbitrage": True, "asset prices": False}),
    ("However, without arbitrage, asset prices converge.", {"arbitrage": True, "asset prices": False}),
    ("We do not study inflation, unemployment, or growth.", {"inflation": True, "unemployment": True, "growth": True}),
    ("We study neither inflation nor unemployment.", {"inflation": True, "unemployment": True}),
    (
        "We do not look at inflation or at unemployment; we study trade.",
        {"inflation": True, "unemployment": True, "trade": False},
    ),
    ("This thesis is not concerned with inflation.", {"inflation": True}),
    ("This project has nothing to do with inflation or trade.", {"inflation": True, "trade": True}),
    ("We are no longer interested in inflation.", {"inflation": True}),
    ("We are not at all interested in inflation.", {"inflation": True}),
    ("We abstract from inflation and trade.", {"inflation": True, "trade": True}),
    ("The authors forgo a difference in differences design.", {"difference in differences": True}),
    ("None of our chapters relies on panel data.", {"panel data": True}),
    ("None of my tests is about inflation.", {"inflation": True}),
    ("We skip the event study.", {"event study": True}),
    ("The paper abandons the event study.", {"event study": True}),
    ("I declined to use an event study.", {"event study": True}),
    ("Firms that omit dividends have lower returns.", {"dividends": False}),
    ("Investors forgo stock returns.", {"stock returns": False}),
    ("Stock returns have nothing to do with dividends.", {"dividends": False}),
    ("We find no effect of inflation on trade.", {"inflation": False}),
    ("We detect no bubbles in housing.", {"bubbles": False}),
    ("It is not a coincidence that inflation rose.", {"inflation": False}),
    ("Ours is not the first event study.", {"event study": False}),
    ("We use surveys, not an event study.", {"event study": True}),
    ("We use an event study, not surveys.", {"event study": False}),
    (
        "The approach needs no instrumental variables, no panel data and no experiments.",
        {"instrumental variables": True, "panel data": True, "experiments": True},
    ),
    (
        "We do not rely on panel data, on experiments or on surveys.",
        {"panel data": True, "experiments": True, "surveys": True},
    ),
    ("We do not use any of the panel data that others have used.", {"panel data": True}),
    ("We do not run an event study because stock returns are noisy.", {"event study": True, "stock returns": False}),
    ("We do not use surveys and instead rely on stock returns.", {"surveys": True, "stock returns": False}),
    ("Firms not covered by analysts are small.", {"analysts": False}),
    (
        "Economies without strong property rights and courts grow more slowly and have low investment.",
        {"property rights": True, "courts": True, "investment": False},
    ),
    ("Firms whose managers do not own shares pay more dividends.", {"shares": False, "dividends": False}),
    (
        "Without the minimum wage, the tax credit, or food stamps, poverty would rise.",
        {"minimum wage": True, "tax credit": True, "food stamps": True, "poverty": False},
    ),
    (
        "The bank lends without collateral, without covenants, and without a rating.",
        {"collateral": True, "covenants": True, "rating": True},
    ),
    ("本文不研究通货膨胀，而研究失业", {"通货膨胀": True, "失业": False}),
    ("本文对资产定价不作讨论", {"资产定价": True}),
    ("我们放弃了双重差分", {"双重差分": True}),
    ("企业放弃现金股利后股价下跌", {"现金股利": False}),
    ("没有信用评级的企业融资成本更高", {"信用评级": True, "融资成本": False}),
    ("未使用衍生品的银行股票收益率较低", {"衍生品": True, "股票收益率": False}),
    ("在不考虑税收的情况下资本结构无关紧要", {"税收": True, "资本结构": False}),
    ("当企业没有抵押品时，信贷配给出现", {"抵押品": True, "信贷配给": False}),
    ("当企业没有抵押品时信贷配给出现", {"抵押品": True, "信贷配给": False}),
    ("本论文与货币政策没有关系", {"货币政策": True}),
    ("本课题不以通货膨胀为研究主题", {"通货膨胀": True}),
    ("货币政策与产出无关", {"产出": False}),
    ("研究表明汇率与贸易无关", {"汇率": False}),
    ("毫无疑问资产定价很重要", {"资产定价": False}),
    ("我们没有使用实时股票收益率", {"股票收益率": True}),
]


@pytest.mark.parametrize(("text", "phrases"), [*DENIALS, *REACHES], ids=[text for text, _ in [*DENIALS, *REACHES]])
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


@pytest.mark.parametrize(("between", "denied"), [(29, True), (30, True), (31, False)])
def test_a_denial_reaches_thirty_words(between: int, denied: bool) -> None:
    tokens = tokenise(f"We do not use {'word ' * between}momentum")
    place = tokens.words.index("momentum")
    assert Clauses(tokens).denies(place, place + 1) is denied


@pytest.mark.parametrize(
    ("text", "first", "last", "quoted"),
    [
        ('He wrote "stock returns are volatile" to us', 2, 4, False),  # two of four words
        ('He wrote "stock returns are very volatile" to us', 2, 4, True),  # two of five
        ('He wrote "excess stock returns are very volatile" to us', 2, 5, False),  # three of six
        ("他写道“货币政策冲击影响很大”", 3, 8, False),  # five of ten
        ("他写道“货币政策冲击的影响很大”", 3, 8, True),  # five of eleven
    ],
)
def test_what_is_half_of_a_quotation_is_the_authors(text: str, first: int, last: int, quoted: bool) -> None:
    clauses = Clauses(tokenise(text))
    assert clauses.quotes(first, last) is quoted
    assert clauses.reports(first, last)


def test_lines_that_quote_are_quoted_whole() -> None:
    text = "> stock returns and more\nour own words\n  > an event study\nprofit > loss"
    assert [text[start:end] for start, end, _ in block_quotations(text)] == [
        "> stock returns and more",
        "  > an event study",
    ]
