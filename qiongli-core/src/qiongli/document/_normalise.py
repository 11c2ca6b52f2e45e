"""Normalisation: one sequence of tokens from any spelling, and the way back to the original characters.

NFKC, case folding and NFKC again; format characters dropped; dashes and white space equal; a hyphen at a line break
joined; Han and Kana one character a token, traditional forms folded.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

import attrs

#: Traditional forms to simplified ones, for the characters of the fields' vocabulary.
_TRADITIONAL: Final = dict(
    zip(
        "經濟學資產價場險業務會計財貨幣銀運營報酬債權證責稅勞動產量貿際關係變數據實驗設計與論績創進資訊機構組織應對雙實證檢驗顯選擇單國"
        "區發開環總體個體約當為這種們說時間問題處長層間隨機無條樣員農業鄉負屬異質穩衝擊預測評獎勵監審債務歸結構圍擴張緊縮匯率儲蓄",
        "经济学资产价场险业务会计财货币银运营报酬债权证责税劳动产量贸际关系变数据实验设计与论绩创进资讯机构组织应对双实证检验显选择单国"
        "区发开环总体个体约当为这种们说时间问题处长层间随机无条样员农业乡负属异质稳冲击预测评奖励监审债务归结构围扩张紧缩汇率储蓄",
        strict=True,
    )
)
_ASCII_TABLE: Final = bytes(
    (ord(chr(code).lower()) if chr(code).isalnum() else 32) if code < 128 else 32 for code in range(256)
)
_WORD: Final = re.compile(rb"[A-Za-z0-9]+")
#: ASCII letters and digits, and everything beyond ASCII: what lies between two runs separates words.
_RUN: Final = re.compile(r"[A-Za-z0-9\u0080-\U0010ffff]+")
_LINE_BREAK_HYPHEN: Final = re.compile(r"(?<=[^\W\d_])[-\u2010\u00ad]\s*\n\s*(?=[^\W\d_])")


@attrs.frozen
class Tokens:
    """Normalised tokens and, for each, the half-open range of original characters that it came from."""

    words: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]


def _is_ideograph(character: str) -> bool:
    code = ord(character)
    return (
        0x3400 <= code <= 0x9FFF or 0xF900 <= code <= 0xFAFF or 0x20000 <= code <= 0x3FFFF or 0x3040 <= code <= 0x30FF
    )


def tokenise(text: str) -> Tokens:
    """The tokens of a text with their places in it."""
    if text.isascii():
        return _tokenise_ascii(text)
    return _tokenise_unicode(text)


def _tokenise_ascii(text: str) -> Tokens:
    data = text.encode("ascii")
    words: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    if b"-" in data and b"\n" in data:
        joins = {match.start(): match.end() for match in _LINE_BREAK_HYPHEN.finditer(text)}
    else:
        joins = {}
    lowered = data.translate(_ASCII_TABLE).decode("ascii")
    if not joins:
        for match in _WORD.finditer(data):
            start, end = match.span()
            starts.append(start)
            ends.append(end)
        words = lowered.split()
        return Tokens(tuple(words), tuple(starts), tuple(ends))
    for match in _WORD.finditer(data):
        start, end = match.span()
        if ends and joins.get(ends[-1]) == start:
            words[-1] += lowered[start:end]
            ends[-1] = end
        else:
            words.append(lowered[start:end])
            starts.append(start)
            ends.append(end)
    return Tokens(tuple(words), tuple(starts), tuple(ends))


def _tokenise_unicode(text: str) -> Tokens:
    """The slow path is taken only by the runs of characters that hold something beyond ASCII."""
    joins = {match.start(): match.end() for match in _LINE_BREAK_HYPHEN.finditer(text)}
    collector = _Collector()
    for match in _RUN.finditer(text):
        start, end = match.span()
        run = match.group()
        joined = bool(collector.ends) and joins.get(collector.ends[-1]) == start
        if run.isascii():
            collector.add(run.lower(), start, end, joined)
        else:
            _tokenise_run(run, start, joined, collector)
    return Tokens(tuple(collector.words), tuple(collector.starts), tuple(collector.ends))


class _Collector:
    """Tokens in the making."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.starts: list[int] = []
        self.ends: list[int] = []

    def add(self, word: str, start: int, end: int, joined: bool) -> None:
        """Append a token, or lengthen the last one across a line-break hyphen."""
        if joined:
            self.words[-1] += word
            self.ends[-1] = end
        else:
            self.words.append(word)
            self.starts.append(start)
            self.ends.append(end)


def _tokenise_run(run: str, offset: int, joined: bool, collector: _Collector) -> None:
    """Split a run of word-like and non-ASCII characters; `joined` says that its first token continues the last."""
    current: list[str] = []
    start = end = 0

    def flush() -> None:
        nonlocal joined
        if not current:
            return
        word = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", "".join(current)).casefold())
        word = "".join(part for part in word if part.isalnum() or unicodedata.combining(part))
        if word:
            collector.add(word, start, end, joined)
            joined = False
        current.clear()

    for index, character in enumerate(run, offset):
        kind, folded = _classify(character)
        if kind == "ideograph":
            flush()
            collector.add(folded, index, index + 1, False)
            joined = False
        elif kind == "word" or (kind == "mark" and current):
            if not current:
                start = index
            current.append(character)
            end = index + 1
        elif kind != "format":
            flush()
            joined = False
    flush()


@lru_cache(maxsize=8_192)
def _classify(character: str) -> tuple[str, str]:
    """What a character is to the tokeniser, and its folded form if it is a token by itself."""
    category = unicodedata.category(character)
    if category == "Cf":
        return "format", ""
    folded = unicodedata.normalize("NFKC", character)
    if len(folded) == 1 and _is_ideograph(folded):
        return "ideograph", _TRADITIONAL.get(folded, folded)
    if any(part.isalnum() for part in folded):
        return "word", ""
    return ("mark" if category[0] == "M" else "separator"), ""


def normal_form(text: str) -> tuple[str, ...]:
    """The tokens of a text without their places: equal forms match equal texts."""
    return tokenise(text).words
