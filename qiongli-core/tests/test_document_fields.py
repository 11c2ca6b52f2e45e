"""Which fields of a packet are subject text, and what within them is not."""

from __future__ import annotations

import json

import pytest

from qiongli.document import normal_form, read_document, tokenise
from qiongli.document._han import SIMPLIFIED
from qiongli.document._mask import mask
from qiongli.errors import InputError


def words(packet: str | dict[str, object]) -> dict[str, str]:
    return {field.name: " ".join(field.tokens.words) for field in read_document(packet).fields}


def test_texts_and_lists_of_texts_are_fields_and_identifiers_are_not() -> None:
    packet: dict[str, object] = {
        "task_id": "event-study-1",
        "paper_type": "empirical",
        "path": "bond.tex",
        "Dataset_ID": "bond",
        "pdf_url": "bond",
        "keywords": ["stock returns", "bonds"],
        "title": "A title",
        "anything_else": "counts",
        "empty": "",
        "nothing": None,
        "year": 2020,
    }
    assert words(packet) == {"title": "a title", "keywords": "stock returns bonds", "anything_else": "counts"}
    assert read_document(packet).task_id == "event-study-1"


def test_known_fields_come_in_reading_order_and_others_by_name() -> None:
    packet = dict.fromkeys(("zeta", "draft", "abstract", "alpha", "title"), "x")
    assert [field.name for field in read_document(packet).fields] == ["title", "abstract", "draft", "alpha", "zeta"]


@pytest.mark.parametrize(
    "packet", [{"title": object()}, {1: "x"}, {"resource_activation_plan": {}}, {"title": ["a", 2]}, ["x"], 3, None]
)
def test_a_packet_of_wrong_types_is_invalid(packet: object) -> None:
    with pytest.raises(InputError) as caught:
        read_document(packet)  # type: ignore[arg-type]  # that is the point
    assert caught.value.code == "invalid_task_packet"


def test_the_fingerprint_is_of_the_subject_text_and_not_of_its_spelling() -> None:
    def fingerprint(packet: str | dict[str, object]) -> str:
        return read_document(packet).fingerprint

    assert fingerprint("Event  Study") == fingerprint("event-study") == fingerprint({"text": "ＥＶＥＮＴ study"})
    assert fingerprint({"task_id": "1", "text": "event study"}) == fingerprint({"task_id": "2", "text": "event study"})
    assert fingerprint("event studies") != fingerprint("event study")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("see https://x.org/bond/event-study?a=b now", "see now"),
        ("see www.bond.com now", "see now"),
        ("doi 10.1111/jofi.bond now", "doi now"),
        ("mail bond@example.org now", "mail now"),
        ("in /home/bond/data.csv now", "in now"),
        ("in ./src/bond/ now", "in now"),
        (r"in C:\bond\data now", "in now"),
        ("run bond_study.py now", "run now"),
        ("run sub/bond.ipynb now", "run now"),
        ("the `bond` code", "the code"),
        ("the ``bond`` code", "the code"),
        ("the `` bond `` code", "the code"),
        ("so-called ``event studies'' and ``stock returns''", "so called event studies and stock returns"),
        ("``event studies'' (``ES'')", "event studies es"),
        ("`event studies' and `stock returns'", "event studies and stock returns"),
        ("a\n```python\nbond\n```\nb", "a b"),
        ("a\n~~~\nbond\n~~~~\nb", "a b"),
        ("a\n```\nbond", "a"),
        ("a <!-- qiongli:managed:begin x -->bond<!-- qiongli:managed:end x --> b", "a b"),
        ("a <!-- qiongli:managed:begin x -->bond", "a"),
        ('a {"schema_version": "1.0", "reasons": ["bond {"]} b', "a b"),
        ('a {"schema_version": "1.0", "cut', "a"),
        ("and/or a bond", "and or a bond"),
        ("a <!-- comment --> bond", "a comment bond"),
        ("a bond. The end", "a bond the end"),
    ],
)
def test_what_is_no_subject_text(text: str, left: str) -> None:
    assert " ".join(normal_form(mask(text))) == left
    assert len(mask(text)) == len(text)


def test_a_pasted_packet_is_masked_whole() -> None:
    own = json.dumps({"schema_version": "1.0", "signals": [{"snippet": "bond"}], "nested": {"a": [1, {"b": "bond"}]}})
    assert words(f"before {own} after") == {"text": "before after"}


@pytest.mark.parametrize(
    ("pasted", "left"),
    [
        (json.dumps({"decision": "borrow_lens", "mode": "auto", "signals": [{"snippet": "a } bond"}]}), "after"),
        (json.dumps({"text": json.dumps({"decision": "no_subject", "signals": [{"snippet": "bond"}]})}), "text after"),
        (repr({"decision": "no_subject", "signals": [{"snippet": "bond's bond"}]}), "after"),
        # Cut off: what follows cannot be told from it.
        ('{"decision": "suggest_subject", "signals": [{"snippet": "bond"}', ""),
        # Somebody else's.
        (json.dumps({"decision": "accept", "review": "bond"}), "decision accept review bond after"),
        (json.dumps({"subject": "bond"}) + " lock_subject", "subject bond lock subject after"),
    ],
)
def test_a_packet_is_known_however_it_was_printed(pasted: str, left: str) -> None:
    assert words(f"before {pasted} after") == {"text": f"before {left}".strip()}


def test_every_folded_character_is_a_token_by_itself() -> None:
    for traditional, simplified in SIMPLIFIED.items():
        assert tokenise(f"{traditional}x").words == (simplified, "x")
        assert simplified not in SIMPLIFIED


#: Terms of economics and finance as Taiwan or Hong Kong write them, and as the mainland does.
BOTH_SPELLINGS = """
財務槓桿 财务杠杆 | 帳面市值比 账面市值比 | 賬面價值 账面价值 | 復甦 复苏
景氣週期 景气周期 | 高頻時鐘 高频时钟 | 聯繫匯率 联系汇率 | 一隻股票 一只股票
支付意願 支付意愿 | 脫歐 脱欧 | 衆籌 众筹 | 啟動資金 启动资金
均綫 均线 | 生産要素 生产要素 | 人爲 人为 | 恆生指數 恒生指数
人羣 人群 | 價格戰鬥 价格战斗 | 麵粉期貨 面粉期货 | 闡釋 阐释
資產定價 资产定价 | 貨幣政策 货币政策 | 勞動供給 劳动供给 | 國際貿易 国际贸易
雙重差分 双重差分 | 斷點回歸 断点回归 | 工具變數 工具变数 | 內生性 内生性
通貨膨脹 通货膨胀 | 實際匯率 实际汇率 | 證券交易 证券交易 | 併購 并购
槓桿收購 杠杆收购 | 股東權益 股东权益 | 應計項目 应计项目 | 風險溢酬 风险溢酬
選擇權 选择权 | 違約機率 违约机率 | 帳户 账户 | 諮詢 咨询
""".replace("\n", "|").split("|")


@pytest.mark.parametrize("pair", [pair.strip() for pair in BOTH_SPELLINGS if pair.strip()])
def test_traditional_and_simplified_spellings_of_a_term_are_one(pair: str) -> None:
    traditional, simplified = pair.split()
    assert normal_form(traditional) == normal_form(simplified) == tuple(simplified)


@pytest.mark.parametrize("text", ["么 干 后 台 周 面 只 系 云 里 松 征 谷", "账面 账户 余额"])
def test_simplified_characters_stand_for_themselves(text: str) -> None:
    assert "".join(normal_form(text)) == text.replace(" ", "")


def test_a_paragraph_ends_a_word() -> None:
    assert normal_form("differ-\nences") == ("differences",)
    assert normal_form("differ-\n\nences") == ("differ", "ences")
