"""What each form of a pattern matches, which orders direct, and what evidence says of a place in a text."""

from __future__ import annotations

import pytest

from qiongli.contract.models import Pattern, Signal, SubjectContract, Suppressor
from qiongli.document import read_document
from qiongli.records._units import Ppm
from qiongli.records.evidence import Dimension, Evidence
from qiongli.signals import SignalIndex, compile_index, select_spans
from qiongli.signals.index import index_from_json, index_to_json
from qiongli.signals.polarity import Clauses


def signal(subject: str, dimension: Dimension, name: str, *patterns: Pattern, weight: int = 150_000) -> Signal:
    return Signal(f"{subject}.{dimension}.{name}", subject, dimension, name, Ppm(weight), "subject", patterns, (), ())


def phrase(text: str) -> Pattern:
    return Pattern("phrase", text)


def index(*signals: Signal, suppressors: tuple[Suppressor, ...] = ()) -> SignalIndex:
    slugs = sorted({item.subject for item in signals} | {"economics", "finance"})
    return compile_index(
        [
            SubjectContract(
                "1.0",
                slug,
                slug.title(),
                "candidate",
                signals=tuple(item for item in signals if item.subject == slug),
                suppressors=suppressors if slug == "finance" else (),
            )
            for slug in slugs
        ]
    )


def found(of: SignalIndex, packet: str | dict[str, object]) -> list[Evidence]:
    return [item for item in of.detect(read_document(packet)) if item.role == "signal"]


# --- acronyms -----------------------------------------------------------------------------------------------------

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

EMPTY = index()
#: Text, and what it orders.
ORDERS = [
    ("Do not switch to finance.", ["exclude finance"]),
    ("Please don't treat this as finance", ["exclude finance"]),
    ("Do   not\u00a0treat this\nas an Economics paper", ["exclude economics"]),
    ("This is not a finance paper.", ["exclude finance"]),
    ("It should not be treated as finance", ["exclude finance"]),
    ("Never route this to finance", ["exclude finance"]),
    ("Keep this in economics.", ["keep economics"]),
    ("Please keep the paper strictly in economics", ["keep economics"]),
    ("Stay in economics.", ["keep economics"]),
    ("Treat this as economics, not finance.", ["exclude finance", "keep economics"]),
    ("Treat it as finance rather than economics", ["exclude economics", "keep finance"]),
    ("Do not keep this in finance", ["exclude finance"]),
    ("不要切换到金融", ["exclude finance"]),
    ("请勿把本文当作经济学", ["exclude economics"]),
    ("请按经济学处理", ["keep economics"]),
    ("按照金融学的标准", ["keep finance"]),
    ("本文不是金融论文", ["exclude finance"]),
    ("Please do not switch the subject to finance.", ["exclude finance"]),
    ("do not treat as finance", ["exclude finance"]),
    ("We interview nurses, so do not switch to finance", ["exclude finance"]),
    ("I do not want this treated as finance.", ["exclude finance"]),
    ("It should not be routed to finance.", ["exclude finance"]),
    ("Do not load finance.", ["exclude finance"]),
    ("Exclude finance. We interview nurses.", ["exclude finance"]),
    ("We interview nurses. Ignore the finance subject.", ["exclude finance"]),
    ("Leave finance out of it.", ["exclude finance"]),
    ("Please keep finance out of this", ["exclude finance"]),
    ("Not finance, please.", ["exclude finance"]),
    ("I don't want finance here.", ["exclude finance"]),
    # No orders:
    ("Households that do not use finance apps save less", []),
    ("Graduates of physics do not switch to finance", []),
    ("Households avoid finance. They save.", []),
    ("Exclude finance firms from the sample", []),
    ("Do not use finance data", []),
    ("Leave finance to the bankers", []),
    ("Our sample covers manufacturing, not finance", []),
    ("Graduates who remain in finance earn more", []),
    ("This paper studies finance and economics", []),
    ("Policies that keep workers in finance", []),
    ("This is not a finance-only question", []),
    ("Finance does not matter for growth", []),
    ("The firms do not finance their debt", []),
    ("政治经济学不是本文的内容", []),
]

#: More of them, many as users wrote or may write them.
ORDERS += [
    ("Please, do not treat my study as finance.", ["exclude finance"]),
    ("Just don't make it a finance paper.", ["exclude finance"]),
    ("I never want this in finance.", ["exclude finance"]),
    ("We would like this not treated as finance.", ["exclude finance"]),
    ("Make sure you don't classify it as finance.", ["exclude finance"]),
    ("Do not propose finance as the subject.", ["exclude finance"]),
    ("Do not, under any circumstances, switch to finance.", ["exclude finance"]),
    ("Don't you dare treat this as finance.", ["exclude finance"]),
    ("Finance is off the table.", ["exclude finance"]),
    ("Everything except finance.", ["exclude finance"]),
    ("Leave finance alone.", ["exclude finance"]),
    ("Please do not move this over to finance.", ["exclude finance"]),
    ("This abstract should never be routed to finance.", ["exclude finance"]),
    ("Do not assign finance to this task.", ["exclude finance"]),
    ("Do not label this task finance.", ["exclude finance"]),
    ("Don't suggest finance again.", ["exclude finance"]),
    ("Refrain from suggesting finance.", ["exclude finance"]),
    ("I'm not interested in finance here.", ["exclude finance"]),
    ("This must be handled as economics.", ["keep economics"]),
    ("Please assign this to economics.", ["keep economics"]),
    ("Stick with economics.", ["keep economics"]),
    ("Keep it economics.", ["keep economics"]),
    ("Keep this an economics paper.", ["keep economics"]),
    ("I insist on economics.", ["keep economics"]),
    ("Would you keep this under economics, please?", ["keep economics"]),
    ("Go with economics.", ["keep economics"]),
    ("Only use economics.", ["keep economics"]),
    ("The subject should be economics.", ["keep economics"]),
    ("请千万不要归到金融学。", ["exclude finance"]),
    ("不是金融论文，不要切换。", ["exclude finance"]),
    ("此文不是金融学论文。", ["exclude finance"]),
    ("请归入经济学。", ["keep economics"]),
    ("继续按经济学处理。", ["keep economics"]),
    ("Do not recommend finance.", ["exclude finance"]),
    ("I don't want this in finance.", ["exclude finance"]),
    ("Treat this as anything but finance.", ["exclude finance"]),
    ("Exclude finance from consideration.", ["exclude finance"]),
    ("No finance please.", ["exclude finance"]),
    ("Do not switch this task's subject to finance.", ["exclude finance"]),
    ("Don't let this become a finance paper.", ["exclude finance"]),
    ("Keep this in accounting.", ["keep accounting"]),
    ("Keep this in business.", ["keep business"]),
    ("Please treat this as management.", ["keep business"]),
    ("Stay in political economy.", ["keep political-economy"]),
    ("Do not treat this as accounting.", ["exclude accounting"]),
    ("Please keep this task in economics.", ["keep economics"]),
    ("Keep it within economics", ["keep economics"]),
    ("Could you keep this in economics?", ["keep economics"]),
    ("You should stay in economics.", ["keep economics"]),
    ("This paper must stay in economics.", ["keep economics"]),
    ("I want this in economics.", ["keep economics"]),
    ("I'd like this treated as economics.", ["keep economics"]),
    ("Let's keep this in economics.", ["keep economics"]),
    ("Use economics for this task.", ["keep economics"]),
    ("Use economics standards.", ["keep economics"]),
    ("Economics only, please.", ["keep economics"]),
    ("Only economics, please.", ["keep economics"]),
    ("For this task, stay in economics.", ["keep economics"]),
    ("Please review this by economics standards.", ["keep economics"]),
    ("Route this to economics.", ["keep economics"]),
    ("Keep this in economics and do not switch to finance.", ["exclude finance", "keep economics"]),
    ("Keep this in economics, not finance.", ["exclude finance", "keep economics"]),
    ("Please treat this as economics rather than finance.", ["exclude finance", "keep economics"]),
    ("Treat this as sociology, not finance.", ["exclude finance"]),
    ("This is a sociology paper, not finance.", ["exclude finance"]),
    ("This is sociology, not a finance paper.", ["exclude finance"]),
    ("My paper is about nuns rather than finance.", ["exclude finance"]),
    ("This project contributes to history, and not to finance.", ["exclude finance"]),
    ("Our study is in sociology, not in finance.", ["exclude finance"]),
    ("Keep this in economics or finance.", ["keep economics", "keep finance"]),
    ("Exclude finance and economics.", ["exclude economics", "exclude finance"]),
    ("Do not treat this as economics or finance.", ["exclude economics", "exclude finance"]),
    ("This paper is about nurses. Please do not suggest finance.", ["exclude finance"]),
    ("We interview nurses; never treat it as finance.", ["exclude finance"]),
    ("Note: do not route this to finance.", ["exclude finance"]),
    ("Avoid treating this as finance.", ["exclude finance"]),
    ("I do not want finance.", ["exclude finance"]),
    ("I would rather not treat this as finance.", ["exclude finance"]),
    ("You must not classify this as finance.", ["exclude finance"]),
    ("You don't need to switch to finance.", ["exclude finance"]),
    ("Anything but finance, please.", ["exclude finance"]),
    ("Please leave finance out.", ["exclude finance"]),
    ("Rule out finance.", ["exclude finance"]),
    ("Drop the finance subject.", ["exclude finance"]),
    ("Ignore finance for this task.", ["exclude finance"]),
    ("Don't make this a finance paper.", ["exclude finance"]),
    ("Do not drag finance into this.", ["exclude finance"]),
    ("This should not be treated as a finance paper.", ["exclude finance"]),
    ("This task must not go to finance.", ["exclude finance"]),
    ("This project is not about finance.", ["exclude finance"]),
    ("This is not finance.", ["exclude finance"]),
    ("The paper is not a finance paper.", ["exclude finance"]),
    ("Do not use the finance subject here.", ["exclude finance"]),
    ("Please do not apply finance standards.", ["exclude finance"]),
    ("I do not think this is finance.", ["exclude finance"]),
    ("Make sure not to treat this as finance.", ["exclude finance"]),
    ("This is about nurses, so don't treat it as finance.", ["exclude finance"]),
    ("This is about nurses, do not treat this as finance.", ["exclude finance"]),
    ("If in doubt, do not switch to finance.", ["exclude finance"]),
    ("别把这篇文章归到金融。", ["exclude finance"]),
    ("不要推荐金融。", ["exclude finance"]),
    ("这不是金融学论文", ["exclude finance"]),
    ("本文不属于金融学。", ["exclude finance"]),
    ("请不要切换到金融", ["exclude finance"]),
    ("不要当作金融学论文", ["exclude finance"]),
    ("別切換到金融學", ["exclude finance"]),
    ("请勿归入金融", ["exclude finance"]),
    ("本文不应视为金融论文。", ["exclude finance"]),
    ("排除金融。", ["exclude finance"]),
    ("我不想要金融。", ["exclude finance"]),
    ("请保持在经济学", ["keep economics"]),
    ("请把本文归入经济学。", ["keep economics"]),
    ("本文应按经济学标准处理。", ["keep economics"]),
    ("把这篇文章当作经济学论文来写。", ["keep economics"]),
    ("请按会计学处理", ["keep accounting"]),
    ("请按经济学处理，不要切换到金融。", ["exclude finance", "keep economics"]),
    ("不要切换到finance。", ["exclude finance"]),
    ("Please never put this under finance.", ["exclude finance"]),
    ("Do not ever classify this task as finance.", ["exclude finance"]),
    ("I would not call this a finance paper.", ["exclude finance"]),
    ("I don't want it to become a finance paper.", ["exclude finance"]),
    ("I don't want you to suggest finance.", ["exclude finance"]),
    ("Don't consider this a finance project.", ["exclude finance"]),
    ("We do not want this paper treated as finance.", ["exclude finance"]),
    ("Skip finance, please.", ["exclude finance"]),
    ("Remove finance from the candidates.", ["exclude finance"]),
    ("Forget about finance.", ["exclude finance"]),
    ("Disregard finance for this draft.", ["exclude finance"]),
    ("Do not let it drift into finance.", ["exclude finance"]),
    ("Do not turn this into finance.", ["exclude finance"]),
    ("Do not convert my thesis into a finance thesis.", ["exclude finance"]),
    ("Stop treating this as finance.", ["exclude finance"]),
    ("No need to switch to finance.", ["exclude finance"]),
    ("There is no need to load finance.", ["exclude finance"]),
    ("Whatever you do, do not switch to finance.", ["exclude finance"]),
    ("Any subject but finance.", ["exclude finance"]),
    ("Keep finance out of this project.", ["exclude finance"]),
    ("You should not treat the paper as finance.", ["exclude finance"]),
    ("This must not become a finance paper.", ["exclude finance"]),
    ("My thesis is not a finance thesis.", ["exclude finance"]),
    ("This manuscript does not belong in finance.", ["exclude finance"]),
    ("I want no finance here.", ["exclude finance"]),
    ("Not a finance paper.", ["exclude finance"]),
    ("Hi, please do not recommend finance for this.", ["exclude finance"]),
    ("Under no circumstances treat this as finance.", ["exclude finance"]),
    ("Handle this as anything except finance.", ["exclude finance"]),
    ("Don't bring finance into it.", ["exclude finance"]),
    ("Do not answer as if this were finance.", ["exclude finance"]),
    ("Please exclude the subject finance.", ["exclude finance"]),
    ("Neither economics nor finance, please.", ["exclude economics", "exclude finance"]),
    ("No finance or economics please.", ["exclude economics", "exclude finance"]),
    ("Keep my paper in economics, please.", ["keep economics"]),
    ("Please stick to economics.", ["keep economics"]),
    ("Remain strictly within economics.", ["keep economics"]),
    ("Treat my dissertation as an economics dissertation.", ["keep economics"]),
    ("I need this kept in economics.", ["keep economics"]),
    ("Make sure this stays in economics.", ["keep economics"]),
    ("Make sure to keep this in economics.", ["keep economics"]),
    ("Can you treat this as economics?", ["keep economics"]),
    ("The subject must remain economics.", ["keep economics"]),
    ("Set the subject to economics.", ["keep economics"]),
    ("Leave it in economics for now.", ["keep economics"]),
    ("We want this paper to stay in economics.", ["keep economics"]),
    ("Please classify this manuscript under economics.", ["keep economics"]),
    ("Just economics, please.", ["keep economics"]),
    ("My draft should be read as economics.", ["keep economics"]),
    ("Switch to economics, not finance.", ["exclude finance", "keep economics"]),
    ("Treat this as an accounting paper.", ["keep accounting"]),
    ("Keep this in political economy, please.", ["keep political-economy"]),
    ("千万不要切换成金融学。", ["exclude finance"]),
    ("不要用金融学的标准来评审。", ["exclude finance"]),
    ("这个任务不是金融任务。", ["exclude finance"]),
    ("请不要考虑金融。", ["exclude finance"]),
    ("本研究不是金融学研究。", ["exclude finance"]),
    ("请忽略金融学科。", ["exclude finance"]),
    ("别再推荐金融了。", ["exclude finance"]),
    ("我不希望这篇论文被归为金融。", ["exclude finance"]),
    ("请仍按经济学来处理。", ["keep economics"]),
    ("请将此文视为经济学论文。", ["keep economics"]),
    ("本研究应归入经济学。", ["keep economics"]),
    ("请继续留在经济学。", ["keep economics"]),
    ("这篇论文请按照经济学规范评审。", ["keep economics"]),
]
#: Sentences about the world, reports of what others ordered, and questions.
NO_ORDERS = [
    "Keep this in economics?",
    "Do not treat it as finance?",
    "Older analysts prefer to remain in finance.",
    "The IRS does not treat this as finance income.",
    "Auditors regard it as a finance cost.",
    "Corruption is not primarily an economics question.",
    "Do economists remain in economics after tenure?",
    "It pays to stay in finance.",
    "Few graduates go into finance.",
    "Bankers who do not leave finance are rewarded.",
    "The reform moved workers out of finance.",
    "Parents want their children to stay in economics.",
    "Policy makers should not consider finance alone.",
    "Regulators must not let it become finance as usual.",
    "This is a finance paper.",
    "This paper contributes to finance and economics.",
    "In this paper we do not use finance theories.",
    "We do not classify leases as finance.",
    "We do not treat housing as finance.",
    "As a rule, courts do not treat it as finance.",
    "When workers stay in finance, wages rise.",
    "Investors keep it in finance stocks.",
    "A bank can choose finance leases.",
    "Please cite the finance literature.",
    "Please describe the finance data.",
    "Please read the section on finance.",
    "Write the introduction of this economics paper.",
    "Review this economics paper.",
    "Summarise the literature on finance.",
    "Please help me with my finance paper.",
    "Keep the finance section short.",
    "Use economics terms sparingly.",
    "Consider economics students.",
    "Avoid finance jargon.",
    "Do not cite finance journals.",
    "Skip the finance section.",
    "Drop finance firms and utilities.",
    "No finance background is needed.",
    "政策制定者不应把住房当作金融产品。",
    "这篇文章不使用金融数据。",
    "请总结金融文献。",
    "请不要引用金融期刊。",
    "劳动者愿意留在经济发达地区。",
    "请把金融部分写短一些。",
    "This is the case in economics, not finance.",
    "This is a bank, not a finance company.",
    "The paper shows that trust, not finance, drives growth.",
    "It is a matter of law, not finance.",
    "Workers choose to stay in finance after the crisis.",
    "High wages are incentives to remain in finance.",
    "Lessees do not classify it as a finance lease.",
    "危机不是金融问题。",
    "样本按经济标准划分地区。",
    "Women are less likely to stay in economics",
    "Women are less likely to stay in economics.",
    "Religion is not an economics question",
    "Religion is not an economics question.",
    "Courts treat it as finance income",
    "Courts treat it as finance income.",
    "不能用金融手段解决",
    "这个问题不能用金融手段解决。",
    "Regulators treat it as a finance company.",
    "The law does not treat it as finance.",
    "Judges should not treat this as finance.",
    "Firms that keep everything in finance fail.",
    "The committee decided to keep this in economics.",
    "Many physicists switch to finance.",
    "Physicists earn little and do not switch to finance.",
    "Economists do not consider it finance.",
    "Students avoid economics.",
    "Graduates leave economics for finance.",
    "Graduates study physics, do not switch to finance, and retire early.",
    "He was told to stay in finance.",
    "Those who never apply to finance jobs earn less.",
    "It is not finance that drives growth.",
    "The question is not finance but politics.",
    "Growth is not finance.",
    "Do not firms turn to finance?",
    "Is this not a finance paper?",
    "This is not only a finance paper.",
    "We use economics textbooks rather than finance textbooks.",
    "Households keep savings in finance companies.",
    "Keep in mind that firms in finance are levered.",
    "Read this economics textbook.",
    "Treat this finance lease as debt.",
    "Consider this finance problem.",
    "Consider a finance firm.",
    "Use finance data from CRSP.",
    "Exclude finance firms.",
    "We exclude finance.",
    "We exclude finance and utilities.",
    "Excluding finance, growth is slow.",
    "There is no trade, no law, no finance.",
    "There is no finance.",
    "Without finance, growth stops.",
    "The reform did not let it become a finance hub.",
    "Voters do not want this in finance ministries.",
    "The editor told us to keep this in economics.",
    "Reviewer 2 wrote: do not treat this as finance.",
    "If firms do not switch to finance, they fail.",
    "Unless you keep this in economics, nobody reads it.",
    "The task of the bank is to keep it in finance.",
    "Should I stay in economics?",
    "You can find it in economics.",
    "Management should keep this in business units.",
    "Firms stay in business.",
    "To stay in business, firms cut costs.",
    "We want to stay in business.",
    "This paper is not a finance lease study.",
    "Why should it not be treated as finance?",
    "The loan should be treated as finance income.",
    "It should be classified as a finance lease.",
    "学生不愿留在金融。",
    "毕业生留在金融行业。",
    "政府不要把它当作金融问题。",
    "监管者应把它归入金融机构。",
    "按经济标准划分地区。",
    "不要使用金融数据。",
    "企业不应视为金融机构。",
    "请按经济标准划分地区。",
    "这不是金融危机。",
    "本文不是金融危机的研究。",
    "审稿人说：不要当作金融论文。",
    "排除金融企业后结果不变。",
    "使用经济标准衡量贫困。",
    "Many women choose to remain in economics because of mentors.",
    "The Basel accord classifies this as finance risk.",
    "Tax courts do not regard it as a finance charge.",
    "Their aim is to stick with finance.",
    "Poverty is not an economics problem alone.",
    "Migration is not just an economics topic.",
    "Inequality is not a finance question.",
    "Climate change should not be treated as an economics problem.",
    "It must not be treated as a finance lease under IFRS 16.",
    "Accountants must not classify this as a finance lease.",
    "Teachers keep economics out of the curriculum.",
    "Ministers leave finance to the technocrats.",
    "Investors avoid finance stocks.",
    "Do not treat the finance lease as debt.",
    "Do not classify leases as finance leases.",
    "Stay-at-home mothers in finance earn less.",
    "To remain in finance, workers accept low wages.",
    "The decision not to switch to finance is costly.",
    "It is optimal not to go into finance.",
    "Talented graduates go into finance.",
    "The ban made banks turn to finance companies.",
    "They were advised to avoid finance.",
    "Our colleagues suggested that we treat this as finance.",
    "The referee asked us to treat this as an economics paper.",
    "A teacher told me to never go into finance.",
    "How should we treat this in economics?",
    "We read this in economics journals.",
    "We keep this in economics terms.",
    "Why do women not remain in finance?",
    "The survey asks whether people want to stay in finance.",
    "I study why workers remain in finance.",
    "I left finance for nursing.",
    "Not finance but trade drives growth.",
    "No finance theory explains this.",
    "No economics course covers it.",
    "Only finance explains this.",
    "Use of finance grew.",
    "Choose finance or marketing: a model of majors.",
    "Students choose economics.",
    "Please see the finance section.",
    "Please read the economics literature.",
    "We ignore finance here.",
    "Ignoring finance, we study trade.",
    "This is not finance capitalism.",
    "This paper does not belong to finance theory.",
    "The students prefer economics only.",
    "They do not want this in finance committees.",
    "Banks do not want it treated as finance income.",
    "We consider finance and economics.",
    "Finance should not be ignored.",
    "Economics is not physics, and physics is not economics.",
    "Do nurses stay in accounting?",
    "Management must not use accounting tricks.",
    "Keep accounting simple.",
    "Firms keep this in accounting records.",
    "经济学不是物理学。",
    "贫困不是经济问题。",
    "他们不要把金融当作赌场。",
    "不少毕业生选择留在金融业。",
    "女性不愿选择经济学。",
    "银行不能使用会计手段。",
    "审计师按会计标准编制报表。",
    "按会计标准编制报表。",
    "我们按照经济发展水平划分样本。",
    "国家应把金融作为核心。",
    "教育不应视为经济投资。",
    "不能把教育当作经济问题来研究的观点很常见。",
    "我们不考虑金融摩擦。",
]


@pytest.mark.parametrize(("text", "orders"), ORDERS, ids=[text for text, _ in ORDERS])
def test_what_is_an_order(text: str, orders: list[str]) -> None:
    evidence = EMPTY.detect(read_document(text))
    assert sorted(f"{item.role} {item.subject}" for item in evidence) == orders
    for item in evidence:
        assert item.polarity == ("excluded" if item.role == "exclude" else "asserted")
        assert (item.weight, item.activation) == (0, "context_only")


@pytest.mark.parametrize("text", NO_ORDERS)
def test_what_is_no_order(text: str) -> None:
    assert [item for item in EMPTY.detect(read_document(text)) if item.polarity != "quoted"] == []


@pytest.mark.parametrize(
    "text",
    [
        "Reviewer 2 wrote: do not treat this as finance.",
        "She told us: please do not treat this as finance.",
        "审稿人说：不要当作金融论文。",
    ],
)
def test_an_order_of_somebody_else_is_a_quotation(text: str) -> None:
    assert [(item.role, item.polarity) for item in EMPTY.detect(read_document(text))] == [("exclude", "quoted")]


def test_a_subject_that_is_not_installed_can_be_kept_too() -> None:
    (item,) = EMPTY.detect(read_document("Keep this in accounting."))
    assert (item.role, item.subject, item.value, item.signal_id) == (
        "keep",
        "accounting",
        "accounting",
        "accounting.directive.keep",
    )


def test_a_subject_has_the_name_that_its_own_package_gives_it() -> None:
    """Management is another name of business, unless a subject is called that."""
    made = compile_index([SubjectContract("1.0", "people", "Management", "candidate")])
    assert [item.subject for item in made.detect(read_document("Keep this in management."))] == ["people"]
    assert [item.subject for item in EMPTY.detect(read_document("Keep this in management."))] == ["business"]


def test_the_names_survive_in_the_stored_index() -> None:
    stored = index_from_json(index_to_json(EMPTY))
    text = read_document("Keep this in accounting. Do not recommend finance.")
    assert stored.detect(text) == EMPTY.detect(text)
    assert [item.subject for item in stored.detect(text)] == ["accounting", "finance"]


def test_an_order_in_a_list_of_references_orders_nothing() -> None:
    order = "Do not switch to finance."
    text = f"We interview nurses.\n\nReferences\n\nDoe, J. (2001). Nurses. {order}\nRoe, R. (2002). Wards.\n"
    assert EMPTY.detect(read_document(text)) == ()
    assert len(EMPTY.detect(read_document(f"{order}\n\n{text}"))) == 1


def test_an_order_whose_sentence_begins_out_of_sight_is_none() -> None:
    assert EMPTY.detect(read_document(f"A {'very ' * 40}do not switch to finance.")) == ()
    for words in range(8, 24):
        assert EMPTY.detect(read_document(f"They keep this {'a ' * words}not finance.")) == ()


def test_a_quoted_order_is_evidence_of_nothing() -> None:
    (item,) = EMPTY.detect(read_document('She said "please do not treat this as finance" and left'))
    assert (item.role, item.polarity) == ("exclude", "quoted")


def test_the_words_of_an_order_speak_for_no_subject() -> None:
    made = index(signal("finance", "theory_or_construct", "finance", phrase("finance")))
    assert [item.polarity for item in found(made, "Do not treat this as finance. It is finance.")] == [
        "excluded",
        "asserted",
    ]


def test_an_order_in_code_is_none() -> None:
    assert EMPTY.detect(read_document("```\nkeep this in economics\n```\nand `do not switch to finance`")) == ()


# --- spans --------------------------------------------------------------------------------------------------------


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
