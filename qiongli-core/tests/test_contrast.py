"""What authors set their own work apart from is denied; a finding that compares two things is about both of them."""

from __future__ import annotations

import pytest

from qiongli.document import tokenise
from qiongli.signals.polarity import Clauses

#: Text, and the phrases in it with whether the author sets the work apart from them.
SET_APART = [
    (
        "Unlike asset pricing papers that rely on CRSP and Fama-French factors, our ethnography observes traders.",
        {"asset pricing": True, "CRSP": True, "Fama-French factors": True, "traders": False},
    ),
    (
        "Unlike the finance literature, which uses CRSP and abnormal returns, we conduct "
        "in-depth interviews and build grounded theory.",
        {"CRSP": True, "abnormal returns": True, "grounded theory": False},
    ),
    (
        "In contrast to asset pricing studies of CRSP abnormal returns, we study bees.",
        {"asset pricing": True, "CRSP": True, "abnormal returns": True, "bees": False},
    ),
    (
        "Our bees differ from asset pricing models, CRSP and abnormal returns, which are unrelated to this study.",
        {"asset pricing": True, "CRSP": True, "abnormal returns": True},
    ),
    (
        "We depart from the asset pricing literature and CRSP-based studies of abnormal returns; our case is bees.",
        {"asset pricing": True, "CRSP": True, "abnormal returns": True, "bees": False},
    ),
    (
        "The asset pricing literature has long used CRSP and abnormal returns. We study bees.",
        {"asset pricing": False, "CRSP": False},
    ),
    (
        "Unlike prior asset pricing studies, we use daily stock returns.",
        {"asset pricing": True, "stock returns": False},
    ),
    ("Realised returns differ from expected returns.", {"expected returns": False}),
    ("In contrast to bonds, stocks earn a premium.", {"bonds": False, "stocks": False}),
    (
        "Our fieldwork, unlike the literature on asset pricing and market liquidity, "
        "follows brokers through their working day.",
        {"asset pricing": True, "market liquidity": True, "brokers": False},
    ),
    (
        "We follow nurses on night shifts, in contrast to economists who estimate labour supply with panel data.",
        {"nurses": False, "labour supply": True, "panel data": True},
    ),
    (
        "Contrary to research on corporate governance, this thesis reads the diaries of founders.",
        {"corporate governance": True, "diaries": False},
    ),
    (
        "This essay departs from the tradition of monetary economics, and asks how money was painted.",
        {"monetary economics": True, "painted": False},
    ),
    (
        "Departing from scholarship on stock returns and dividend policy, we read novels about clerks.",
        {"stock returns": True, "dividend policy": True, "novels": False},
    ),
    (
        "In contrast with event studies and regressions on stock returns, our project listens to auditors.",
        {"event studies": True, "stock returns": True, "auditors": False},
    ),
    (
        "Our topic is completely unrelated to asset pricing or corporate finance.",
        {"asset pricing": True, "corporate finance": True},
    ),
    ("Our study has little to do with stock returns.", {"stock returns": True}),
    (
        "This work has no bearing on asset pricing or on monetary policy.",
        {"asset pricing": True, "monetary policy": True},
    ),
    (
        "Our inquiry lies outside the realm of asset pricing and portfolio choice.",
        {"asset pricing": True, "portfolio choice": True},
    ),
    (
        "Beyond the realm of corporate finance, we examine how rumours travel among monks.",
        {"corporate finance": True, "rumours": False},
    ),
    (
        "The yield of a hive, not to be confused with bond yields, is measured in grams.",
        {"bond yields": True, "grams": False},
    ),
    (
        "We study ritual exchange as distinct from international trade.",
        {"ritual exchange": False, "international trade": True},
    ),
    (
        "Different from the empirical literature on inflation and unemployment, this article analyses sermons.",
        {"inflation": True, "unemployment": True, "sermons": False},
    ),
    (
        "Unlike corporate finance, we look at families who lend to each other.",
        {"corporate finance": True, "families": False},
    ),
    ("Stock returns and market liquidity have no bearing on this study.", {"market liquidity": True}),
    (
        "Unlike most work on inflation expectations, the diaries we read were never meant for print.",
        {"inflation expectations": True, "diaries": False},
    ),
    (
        "This monograph, unlike studies of the minimum wage (Card and Krueger 1994), dwells on pride at work.",
        {"minimum wage": True, "pride": False},
    ),
    ("As a contrast to papers with CRSP data, this chapter works with letters.", {"CRSP": True, "letters": False}),
    (
        "Unlike scholars of corporate finance, I watch how treasurers talk.",
        {"corporate finance": True, "treasurers": False},
    ),
    (
        "In sharp contrast to the voluminous literature on stock returns, momentum and "
        "liquidity, this article treats markets as theatre.",
        {"stock returns": True, "momentum": True, "liquidity": True, "theatre": False},
    ),
    (
        "We interviewed forty monks; contrary to studies of household finance, we asked them about silence.",
        {"household finance": True, "silence": False},
    ),
    (
        "Our ethnography differs from quantitative studies of monetary policy and inflation expectations.",
        {"monetary policy": True, "inflation expectations": True},
    ),
    ("The present thesis departs sharply from research on asset pricing.", {"asset pricing": True}),
    (
        "I deviate from economists who run difference-in-differences on administrative data.",
        {"difference-in-differences": True},
    ),
    ("Ours is entirely unrelated to asset pricing.", {"asset pricing": True}),
    (
        "This has little to do with corporate bonds or credit spreads.",
        {"corporate bonds": True, "credit spreads": True},
    ),
    ("It should not be confused with an event study of stock returns.", {"event study": True, "stock returns": True}),
    ("The poems are read, as distinct from studies of stock returns, for their metre.", {"stock returns": True}),
    (
        "Moving outside the confines of labour economics, we describe how cooks rest.",
        {"labour economics": True, "cooks": False},
    ),
    ("This study falls outside the realm of corporate finance.", {"corporate finance": True}),
    (
        "Our work has little bearing on exchange rates and monetary policy.",
        {"exchange rates": True, "monetary policy": True},
    ),
    (
        "We read sermons and hymns, unlike historians and economists who estimate vector "
        "autoregressions on price series.",
        {"sermons": False, "vector autoregressions": True},
    ),
    (
        "In a departure from the literature on dividends and share repurchases, we photograph shop windows.",
        {"dividends": True, "share repurchases": True, "shop windows": False},
    ),
    (
        "Different from previous research that regresses stock returns on sentiment, this paper describes a carnival.",
        {"stock returns": True, "carnival": False},
    ),
    (
        "Unlike papers in which stock returns are explained by factor models, the essay "
        "dwells on the floor of the exchange.",
        {"stock returns": True, "factor models": True, "exchange": False},
    ),
    ("The event study and the factor model have nothing to do with our work.", {"factor model": True}),
    (
        "Contrasting with econometric studies of unemployment insurance, our interviews dwell on shame.",
        {"unemployment insurance": True, "shame": False},
    ),
]

#: The same where things are compared, or others are contradicted about the same matter.
COMPARED = [
    (
        "Unlike value stocks, growth stocks earn low average returns.",
        {"value stocks": False, "growth stocks": False, "average returns": False},
    ),
    (
        "In contrast to monetary policy, fiscal policy acts with a lag.",
        {"monetary policy": False, "fiscal policy": False},
    ),
    (
        "Contrary to the pecking order theory, equity issues follow the deficit.",
        {"pecking order": False, "equity issues": False},
    ),
    (
        "We find that implied volatility differs from realised volatility.",
        {"implied volatility": False, "realised volatility": False},
    ),
    ("Our estimates differ from those of earlier papers on the minimum wage.", {"minimum wage": False}),
    ("Firms that depart from their target leverage issue equity.", {"target leverage": False, "equity": False}),
    ("Investor sentiment has little to do with stock returns.", {"stock returns": False}),
    ("Trading costs are unrelated to market liquidity.", {"market liquidity": False}),
    ("Prices deviate from fundamental value during bubbles.", {"fundamental value": False, "bubbles": False}),
    (
        "In contrast to the long-run results, short-run stock returns show momentum.",
        {"stock returns": False, "momentum": False},
    ),
    (
        "We show that, in contrast to dividends, share repurchases are flexible.",
        {"dividends": False, "share repurchases": False},
    ),
    (
        "Contrary to efficient markets, we find momentum in bond returns.",
        {"efficient markets": False, "momentum": False, "bond returns": False},
    ),
    (
        "We study how mutual funds, unlike hedge funds, respond to flows.",
        {"mutual funds": False, "hedge funds": False, "flows": False},
    ),
    ("The announcement has no bearing on bond yields.", {"bond yields": False}),
    ("Women's wages differ from men's wages even within occupations.", {"wages even": False}),
    ("Unlike tariffs, quotas create rents, and we measure them.", {"tariffs": False, "quotas": False}),
    ("Inflation that is different from target erodes credibility.", {"target": False}),
    (
        "Unlike a tax on labour, a tax on capital lowers investment.",
        {"labour": False, "capital": False, "investment": False},
    ),
    ("Expected returns are distinct from realised returns in this model.", {"realised returns": False}),
    ("The effect of the minimum wage is not unlike that of a payroll tax.", {"payroll tax": False}),
    (
        "Unlike short-term interest rates, long-term interest rates barely moved.",
        {"short-term interest rates": False, "long-term interest rates": False},
    ),
    ("In contrast with public firms, private firms smooth dividends.", {"public firms": False, "dividends": False}),
    (
        "Contrary to conventional wisdom, inflation fell while unemployment fell.",
        {"inflation": False, "unemployment": False},
    ),
    (
        "Loan rates depart from marginal cost when banks have market power.",
        {"marginal cost": False, "market power": False},
    ),
    (
        "We document that bond returns differ sharply from stock returns.",
        {"bond returns": False, "stock returns": False},
    ),
    ("The exchange rate deviates from purchasing power parity for years.", {"purchasing power parity": False}),
    (
        "Unlike standard asset pricing models, our model allows for rare disasters.",
        {"asset pricing": False, "rare disasters": False},
    ),
    ("Our findings differ from the literature on monetary policy shocks.", {"monetary policy shocks": False}),
    ("Contrary to the literature on momentum, we find that losers recover.", {"momentum": False}),
    ("Stock returns in winter are distinct from stock returns in summer.", {"stock returns in summer": False}),
    ("Volatility is unrelated to expected returns in our sample.", {"expected returns": False}),
    (
        "Index funds, unlike active funds, hold the market portfolio.",
        {"active funds": False, "market portfolio": False},
    ),
    (
        "Managers whose incentives differ from those of shareholders pay lower dividends.",
        {"shareholders": False, "dividends": False},
    ),
    ("In contrast to the first experiment, stock prices fell in the second.", {"stock prices": False}),
    (
        "Unlike in the United States, European banks finance mortgages with covered bonds.",
        {"mortgages": False, "covered bonds": False},
    ),
    ("The reform has little bearing on labour supply.", {"labour supply": False}),
    ("This ratio is different from the price earnings ratio.", {"price earnings ratio": False}),
    ("These results are in contrast to studies of the equity premium.", {"equity premium": False}),
    (
        "Unlike difference-in-differences, our estimator allows for heterogeneous treatment effects.",
        {"difference-in-differences": False, "treatment effects": False},
    ),
    (
        "Because wages differ from marginal products, labour supply is distorted.",
        {"marginal products": False, "labour supply": False},
    ),
    (
        "Our approach is distinct from that of instrumental variables and panel data.",
        {"instrumental variables": False, "panel data": False},
    ),
    (
        "We depart from asset pricing studies in that we let rare disasters move stock returns.",
        {"asset pricing": True, "stock returns": False},
    ),
]

#: The same in Chinese.
IN_CHINESE = [
    ("与资产定价文献不同，本文观察蜂群的行为", {"资产定价": True, "蜂群": False}),
    ("不同于关注股票收益率的研究，本文使用访谈", {"股票收益率": True, "访谈": False}),
    ("有别于货币政策的既有文献，我们考察宗教仪式", {"货币政策": True, "仪式": False}),
    ("本文区别于资产定价模型，关注护士的日常", {"资产定价": True, "护士": False}),
    ("与以往双重差分研究截然不同的是，本文采用民族志", {"双重差分": True, "民族志": False}),
    ("本研究不同于公司金融，讨论的是绘画", {"公司金融": True, "绘画": False}),
    ("和通货膨胀的研究不同，我们记录市场上的闲谈", {"通货膨胀": True, "闲谈": False}),
    ("与股票收益率不同，本文考察蜜蜂", {"股票收益率": True, "蜜蜂": False}),
    ("债券收益率与股票收益率不同", {"股票收益率": False}),
    ("与债券不同，股票的风险溢价较高", {"债券": False, "风险溢价": False}),
    ("财政政策有别于货币政策", {"货币政策": False}),
    ("城市失业率不同于农村失业率", {"农村失业率": False}),
    ("研究货币政策与财政政策的不同影响", {"财政政策": False}),
    ("汇率与利率对不同企业的影响", {"利率": False}),
    ("资产定价与公司金融在不同市场的表现", {"公司金融": False}),
    ("本文分析通货膨胀与失业的关系", {"失业": False}),
    ("本文分析工资与不同行业就业的关系", {"就业": False}),
    ("大企业和小企业的融资约束不同", {"融资约束": False}),
    ("本文与公司治理文献不同，着眼于祭祀", {"公司治理": True, "祭祀": False}),
    ("我们的研究有别于通货膨胀预期的文献", {"通货膨胀预期": True}),
    ("与既有的货币政策研究不同，本研究考察茶馆", {"货币政策": True, "茶馆": False}),
    ("不同于以股票收益率为核心的文献，本文分析戏曲", {"股票收益率": True, "戏曲": False}),
    ("本文有别于以往关于汇率的论文", {"汇率": True}),
    ("区别于公司治理学者的做法，笔者走访寺庙", {"公司治理": True, "寺庙": False}),
    ("与资产定价传统不同，笔者描述市集", {"资产定价": True, "市集": False}),
    ("与国有企业不同，民营企业面临融资约束", {"国有企业": False, "融资约束": False}),
    ("股票市场不同于债券市场", {"债券市场": False}),
    ("货币政策与不同银行的信贷供给有关", {"信贷供给": False}),
    ("出口企业有别于非出口企业，其工资较高", {"工资": False}),
    ("这与理论预期不同，通货膨胀下降", {"通货膨胀": False}),
]


_ALL = [*SET_APART, *COMPARED, *IN_CHINESE]


@pytest.mark.parametrize(("text", "phrases"), _ALL, ids=[text for text, _ in _ALL])
def test_what_the_work_is_set_apart_from_is_denied(text: str, phrases: dict[str, bool]) -> None:
    tokens = tokenise(text)
    clauses = Clauses(tokens)
    found = {}
    for phrase in phrases:
        start = text.index(phrase)
        first, last = tokens.starts.index(start), tokens.ends.index(start + len(phrase))
        found[phrase] = clauses.denies(first, last + 1)
    assert found == phrases


def test_a_denial_before_a_contrast_reaches_beyond_it() -> None:
    text = "We do not use, unlike studies of inflation, an event study."
    tokens = tokenise(text)
    place = tokens.words.index("event")
    assert Clauses(tokens).denies(place, place + 2)


def test_what_others_have_done_is_not_denied() -> None:
    tokens = tokenise("The asset pricing literature has long used CRSP and abnormal returns. We study bees.")
    place = tokens.words.index("crsp")
    assert not Clauses(tokens).denies(place, place + 1)
