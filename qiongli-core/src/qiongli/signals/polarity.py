"""Whether the words around a match assert it, deny it or quote it; in English and Chinese.

Denied is what the author says not to do or not to be about: "we do not use an event study", "without stock returns",
"an event study is not used". A finding stated in the negative keeps its topic: "we find no evidence of momentum" is
about momentum. A negation reaches through an enumeration ("no X, Y or Z") to the end of its clause.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final

from qiongli.document import Tokens
from qiongli.patterns import LazyPattern

_USING: Final = (
    r"use|uses|employ|employs|apply|applies|adopt|adopts|run|conduct|conducts|perform|performs|implement|implements|rely|"
    r"relies|draw|draws|exploit|exploits|estimate|study|studies|examine|examines|analy[sz]e|analy[sz]es|investigate|"
    r"investigates|consider|considers|address|addresses|concern|concerns|involve|involves|discuss|discusses|cover|covers|"
    r"include|includes|need|needs|require|requires|have|contain|contains|look|want|plan|intend|attempt|aim|deal|"
    r"belong|belongs|focus|focuses|report|reports|compute|computes|make|invoke|invokes"
)
_AUXILIARY: Final = r"(?:do|does|did|will|would|can|could|should|shall|may|might|need)"
_NOT: Final = r"(?:\s+not|n['’]t)"
_NEGATION: Final = LazyPattern(
    rf"\b{_AUXILIARY}{_NOT}\s+(?:\w+ly\s+|also\s+)?(?:{_USING})\b"
    rf"|\b(?:is|are|was|were|be|being|am){_NOT}\s+(?=(?:an?|the|about|based|concerned|related|using|any|in|for|meant|our)\b)"
    rf"|\b(?:has|have|had){_NOT}\s+(?:been\s+)?(?:used|employed|applied|run|estimated|studied|considered)\b"
    r"|\bnot\s+(?=(?:an?|the|using|about|based|via|through|with|any|another)\b)"
    rf"|\bnever\s+(?:{_USING})\b"
    r"|\b(?:rather\s+than|instead\s+of|as\s+opposed\s+to|in\s+place\s+of|other\s+than)\b"
    r"|\bwithout\b|\bneither\b|\bnor\b"
    r"|\b(?:avoid|avoids|avoided|avoiding|(?:refrain|refrains|refrained|abstain|abstained)\s+from|devoid\s+of|free\s+of)\b"
    r"|\b(?:no|not\s+any)\s+(?!doubt\b|longer\b|evidence\b|effect\b|effects\b|significant\b|statistically\b|relation\b|"
    r"relationship\b|difference\b|differences\b|impact\b|association\b|systematic\b|clear\b|change\b|changes\b|less\b|"
    r"fewer\b|sooner\b|matter\b|one\b|other\b|more\b|better\b|support\b|response\b|role\b|correlation\b|arbitrage\b)"
    r"|(?:并?不(?:再)?|未(?:曾)?|没有?|无需|毋须)(?:使用|采用|运用|利用|应用|依赖|涉及|讨论|研究|考虑|关注|构建|估计|属于|包含|做|用)"
    r"|并非|不是|而非|不属|无关",
    re.IGNORECASE,
)
_EXCEPTION: Final = LazyPattern(
    r"\bnot\s+(?:only|just|merely|simply|least|surprisingly|to\s+mention)\b|\bcannot\s+(?:rule\s+out|reject|exclude)\b|"
    r"\bnot\s+without\b|\bwithout\s+(?:loss|doubt)\b|不仅|不但|不只|不得不|不无",
    re.IGNORECASE,
)
#: What ends the reach of a negation before the match: a clause's end, a contrast, a new subject with its verb.
_END_OF_REACH: Final = LazyPattern(
    r"[;!?。；！？，]|[.:]\s|\n\s*\n|[()]"
    r"|\b(?:but|however|yet|whereas|although|though|while|because|instead(?!\s+of)|rather(?!\s+than))\b"
    r"|,\s*(?:and\s+|so\s+|then\s+)?(?:we|this|it|they|i|our|the\s+(?:paper|study|authors?))\b"
    r"|\band\s+(?:we|this|it|they|i)\b"
    r"|但|而是|不过|然而",
    re.IGNORECASE,
)
#: How far, in characters, a negation may stand before what it denies.
_REACH: Final = 200

_DENIED_AFTER: Final = LazyPattern(
    rf"\s*(?:\w+\s+){{0,3}}?(?:is|are|was|were|has|have|will|would|can|could|should){_NOT}\s+(?:be\s+|been\s+)?"
    r"(?:used|employed|applied|needed|required|considered|studied|run|conducted|estimated|performed|involved|relevant|part|"
    r"our|the\s+(?:topic|subject|focus|method|point|question)|what)\b"
    r"|\s*(?:is|are|was|were)\s+never\s+(?:used|employed|applied|run|conducted)\b"
    r"|\s*(?:plays?|has|have)\s+no\s+(?:place|part)\b"
    r"|(?:方法|法|模型|数据)?(?:未被|没有被|并未|不被)(?:使用|采用)|(?:不是|并非)(?:本文|我们)",
    re.IGNORECASE,
)

_QUOTATION_PAIRS: Final = (("“", "”"), ("「", "」"), ("『", "』"), ("«", "»"))
#: A quotation of fewer words than this is a term in inverted commas, not somebody's speech.
_SPEECH_WORDS: Final = 4
#: The same in Chinese, in characters.
_SPEECH_CHARACTERS: Final = 10
_LONGEST_QUOTATION: Final = 2_000


class Clauses:
    """The denials and quotations of one text, found once for all matches in it."""

    def __init__(self, text: str, tokens: Tokens) -> None:
        self._text = text
        self._negations = _negations(text, tokens)
        self._starts = [start for start, _ in self._negations]
        self._quotations = quotations(text)

    def denies(self, start: int, end: int) -> bool:
        """Whether the author denies what stands between two offsets."""
        for index in range(bisect_right(self._starts, start) - 1, -1, -1):
            opened = self._negations[index][1]
            if opened > start:
                continue
            if start - opened > _REACH:
                break
            if not _END_OF_REACH.search(self._text, opened, start):
                return True
            break
        return _DENIED_AFTER.match(self._text, end) is not None

    def quotes(self, start: int, end: int) -> bool:
        """Whether what stands between two offsets is somebody else's speech."""
        return any(low <= start and end <= high for low, high in self._quotations)


#: Words of which every English negation has one, and characters of which every Chinese one has one.
_TRIGGERS: Final = frozenset(
    {
        *("not", "t", "no", "never", "without", "neither", "nor", "than", "instead", "opposed", "place"),
        *("avoid", "avoids", "avoided", "avoiding", "from", "devoid", "free"),
    }
)
_CHINESE_TRIGGERS: Final = frozenset("不未没无毋并而")


def _negations(text: str, tokens: Tokens) -> list[tuple[int, int]]:
    """The spans of all negations; only the surroundings of words that can be part of one are looked at."""
    words = tokens.words
    if _TRIGGERS.isdisjoint(words) and (text.isascii() or _CHINESE_TRIGGERS.isdisjoint(words)):
        return []
    found: dict[tuple[int, int], None] = {}
    for index, word in enumerate(words):
        if word in _TRIGGERS or word in _CHINESE_TRIGGERS:
            # Two words before (an auxiliary, and "n't" that was split) and four after (adverb, verb, exception).
            low = tokens.starts[max(0, index - 2)]
            high = tokens.ends[min(len(words) - 1, index + 4)]
            if not text.isascii():
                high = min(len(text), high + 8)
            readable = _EXCEPTION.sub(lambda match: "_" * len(match.group()), text[low:high])
            for match in _NEGATION.finditer(readable):
                found[(low + match.start(), low + match.end())] = None
    return sorted(found)


def quotations(text: str) -> tuple[tuple[int, int], ...]:
    """Ranges of the text that quote somebody: speech longer than a term, and block quotations of Markdown."""
    spans: list[tuple[int, int]] = []
    for opening, closing in _QUOTATION_PAIRS:
        start = text.find(opening)
        while start != -1:
            end = text.find(closing, start + 1)
            if end == -1:
                break
            if end - start <= _LONGEST_QUOTATION:
                spans.append((start, end + 1))
            start = text.find(opening, end + 1)
    if '"' in text:
        marks = [match.start() for match in re.finditer('"', text)]
        index = 0
        while index + 1 < len(marks):
            start, end = marks[index], marks[index + 1]
            opens = start == 0 or not text[start - 1].isalnum()
            if opens and end - start <= _LONGEST_QUOTATION and "\n\n" not in text[start:end]:
                spans.append((start, end + 1))
                index += 2
            else:
                index += 1
    found = [span for span in spans if _is_speech(text[span[0] + 1 : span[1] - 1])]
    if text.startswith(">") or "\n>" in text:
        found += [match.span() for match in re.finditer(r"^>[^\n]*$", text, re.MULTILINE)]
    return tuple(found)


def _is_speech(inside: str) -> bool:
    if inside.isascii():
        return len(inside.split()) >= _SPEECH_WORDS
    return len(inside.split()) >= _SPEECH_WORDS or (
        any("\u4e00" <= character <= "\u9fff" for character in inside) and len(inside) >= _SPEECH_CHARACTERS
    )
