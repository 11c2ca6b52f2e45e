"""Which parts of a text are somebody else's speech: what stands in quotation marks, and quoted lines of Markdown."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Any, Final

from qiongli.document import Tokens, is_ideograph
from qiongli.patterns import LazyPattern
from qiongli.signals._intervals import Intervals

_PAIRS: Final = (("“", "”"), ("「", "」"), ("『", "』"), ("«", "»"), ("《", "》"), ("〈", "〉"), ("``", "''"))
_LOW_QUOTATION: Final = LazyPattern(r"„([^„“”]{0,2000})[“”]")
_BLOCK: Final = LazyPattern(r"^ {0,3}>[^\n]*$", re.MULTILINE)
#: Single marks are apostrophes too: what opens stands before a word and not behind one, what closes behind and not
#: before. The runs end at the next opening mark, so that they take linear time.
_SINGLE: Final = tuple(
    (
        opening,
        LazyPattern(
            rf"(?<![^\s(\[“\"—–-]){opening}(?=\w)(?!\d\ds\b)"
            rf"(?:[^{opening}{closing}\n]|\n(?![^\S\n]*\n)|(?<=\w){closing}(?=(?:s|t|re|ve|ll|d|m)\b|[A-Z])){{1,1998}}+"
            rf"(?<!\s){closing}(?!\w)"
        ),
    )
    for opening, closing in (("‘", "’"), ("'", "'"))
)
#: A quotation of fewer words than this is a term in inverted commas, not somebody's speech.
_SPEECH_WORDS: Final = 4
#: The same in Chinese, in characters.
_SPEECH_CHARACTERS: Final = 10
#: Characters beyond which an opening mark has no closing one.
_LONGEST_QUOTATION: Final = 2_000

#: What holds nothing.
_NOWHERE: Final = Intervals[Any](())


def quotations(tokens: Tokens) -> Intervals[int]:
    """Ranges of the text in quotation marks that are speech, longer than a term, each with its number of tokens."""
    text = tokens.text
    spans: list[tuple[int, int]] = []
    if text.isascii() and '"' not in text and "'" not in text and "``" not in text:
        return _NOWHERE
    if "„" in text:
        # German quotations end with the mark that opens English ones, other languages' with the English closing one.
        text = _LOW_QUOTATION.sub(lambda match: f"“{match.group(1)}”", text)
    for opening, closing in _PAIRS:
        start = text.find(opening)
        while start != -1:
            end = text.find(closing, start + len(opening), start + _LONGEST_QUOTATION)
            if end != -1:
                spans.append((start, end + len(closing)))
            start = text.find(opening, start + 1 if end == -1 else end + 1)
    for mark, pattern in _SINGLE:
        if mark in text:
            spans += [match.span() for match in pattern.finditer(text)]
    for mark in ('"', "＂"):
        if mark in text:
            spans += _straight(text, mark)
    found = []
    for start, end in spans:
        first, last = bisect_right(tokens.starts, start - 1), bisect_right(tokens.starts, end - 1)
        if _is_speech(tokens.words[first:last]):
            found.append((start, end, last - first))
    return Intervals(found)


def block_quotations(text: str) -> Intervals[None]:
    """The lines of the block quotations of Markdown; they are quoted whole, whatever they say."""
    if ">" not in text:
        return _NOWHERE
    return Intervals((*match.span(), None) for match in _BLOCK.finditer(text))


def _straight(text: str, mark: str) -> list[tuple[int, int]]:
    """Pairs of straight marks; the first of a pair follows no letter or digit, as the sign for inches does."""
    spans = []
    marks = [match.start() for match in re.finditer(mark, text)]
    index = 0
    while index + 1 < len(marks):
        start, end = marks[index], marks[index + 1]
        opens = start == 0 or not text[start - 1].isalnum()
        if opens and end - start <= _LONGEST_QUOTATION and "\n\n" not in text[start:end]:
            spans.append((start, end + 1))
            index += 2
        else:
            index += 1
    return spans


def _is_speech(words: tuple[str, ...]) -> bool:
    characters = sum(1 for word in words if is_ideograph(word[0]))
    return len(words) - characters >= _SPEECH_WORDS or characters >= _SPEECH_CHARACTERS
