"""Normalisation: one sequence of tokens from any spelling, and the way back to the original characters.

NFKC, case folding and NFKC again; format characters dropped; dashes and white space equal; a hyphen at a line break
joined; Han and Kana one character a token, traditional forms folded.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import accumulate, chain, compress, count
from operator import add
from typing import Final

_Spans = tuple[tuple[int, ...], tuple[int, ...]]

_ASCII_TABLE: Final = bytes(
    (ord(chr(code).lower()) if chr(code).isalnum() else 32) if code < 128 else 32 for code in range(256)
)
#: ASCII letters and digits, and everything beyond ASCII: what lies between two runs separates words. Sets that are
#: negated and in ASCII compile at once; a range up to the last character takes milliseconds at every start.
_RUN: Final = re.compile(r"[^\x00-/:-@\[-`{-\x7f]+")
_BEYOND_ASCII: Final = re.compile(r"[^\x00-\x7f]")
#: Different characters beyond ASCII up to which it pays to see whether all are dashes, quotation marks and such.
_FEW: Final = 12
#: Characters of a word beyond which its marks are put in order before it is normalised.
_LONG_WORD: Final = 256
#: A paragraph's end is no line break within a word.
_LINE_BREAK_HYPHEN: Final = re.compile(r"[-\u2010\u00ad][^\S\n]*\n[^\S\n]*(?=[^\W\d_])")


class Tokens:
    """Normalised tokens and, for each, the half-open range of original characters that it came from.

    The places are worked out when they are first asked for: a text in which nothing matches needs none.
    """

    __slots__ = ("_spaced", "_spans", "apart", "text", "words")

    def __init__(
        self,
        text: str,
        words: tuple[str, ...],
        spans: _Spans | None = None,
        apart: Tokens | None = None,
        spaced: str = "",
    ) -> None:
        """Without `spans`, the words stand in `spaced` as in the text, with spaces for everything else."""
        self.text = text
        self.words = words
        self._spaced = spaced
        #: The tokens when words hyphenated at line ends are not joined; None when there are none.
        self.apart = apart
        self._spans = spans

    @property
    def starts(self) -> tuple[int, ...]:
        """Where each token begins."""
        if self._spans is None:
            self._spans = _places(self._spaced)
        return self._spans[0]

    @property
    def ends(self) -> tuple[int, ...]:
        """One past where each token ends."""
        if self._spans is None:
            self._spans = _places(self._spaced)
        return self._spans[1]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tokens) and self.text == other.text and self.words == other.words

    def __hash__(self) -> int:
        return hash((self.text, self.words))

    def __repr__(self) -> str:
        return f"Tokens({self.words!r})"


def is_ideograph(character: str) -> bool:
    """Whether a character of Han or Kana, which is a token by itself."""
    code = ord(character)
    return (
        0x3400 <= code <= 0x9FFF or 0xF900 <= code <= 0xFAFF or 0x20000 <= code <= 0x3FFFF or 0x3040 <= code <= 0x30FF
    )


def tokenise(text: str) -> Tokens:
    """The tokens of a text with their places in it."""
    joins = _line_break_hyphens(text)
    if not joins:
        return _tokens(text)
    apart = _tokens(text)
    joined: list[list[str]] = []
    starts: list[int] = []
    ends: list[int] = []
    for word, start, end in zip(apart.words, apart.starts, apart.ends, strict=True):
        if ends and joins.get(ends[-1]) == start:
            joined[-1].append(word)
            ends[-1] = end
        else:
            joined.append([word])
            starts.append(start)
            ends.append(end)
    words = ["".join(parts) for parts in joined]
    spans = (tuple(starts), tuple(ends))
    return Tokens(text, tuple(words), spans, apart)


def _line_break_hyphens(text: str) -> dict[int, int]:
    """Where a hyphen at the end of a line follows a letter: its place, and where the next line's first letter is."""
    if "\n" not in text or not ("-" in text or "\u2010" in text or "\u00ad" in text):
        return {}
    return {
        match.start(): match.end()
        for match in _LINE_BREAK_HYPHEN.finditer(text)
        if _ends_word(text[max(0, match.start() - 1) : match.start()])
    }


def _ends_word(character: str) -> bool:
    """Whether it is a letter, or the mark above one."""
    return character.isalpha() or (bool(character) and bool(unicodedata.combining(character)))


def _tokens(text: str) -> Tokens:
    plain = text if text.isascii() else _without_separators(text)
    if plain is not None:
        spaced = _spaced(plain)
        return Tokens(text, tuple(spaced.split()), spaced=spaced)
    collector = _Collector()
    for match in _RUN.finditer(text):
        run = match.group()
        if run.isascii():
            collector.add(run.lower(), *match.span())
        else:
            _tokenise_run(run, match.start(), collector)
    spans = (tuple(collector.starts), tuple(collector.ends))
    return Tokens(text, tuple(collector.words), spans)


def _without_separators(text: str) -> str | None:
    """The text with a space for every character beyond ASCII that separates words, if there are no others."""
    characters = set(_BEYOND_ASCII.findall(text))
    if len(characters) > _FEW or any(_classify(character)[0] != "separator" for character in characters):
        return None
    for character in characters:
        text = text.replace(character, " ")
    return text


def _spaced(text: str) -> str:
    """An ASCII text in lower case, with a space for every character that is no letter or digit."""
    return text.encode("ascii").translate(_ASCII_TABLE).decode("ascii")


def _places(spaced: str) -> _Spans:
    """The places of the words of a text that is nothing but words and spaces."""
    lengths = list(map(len, spaced.split(" ")))
    # Before each piece stand all earlier ones and as many spaces; the empty pieces lie between two of these.
    places = map(add, accumulate(lengths, initial=0), count())
    starts = tuple(compress(places, lengths))
    return starts, tuple(map(add, starts, filter(None, lengths)))


class _Collector:
    """Tokens in the making."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.starts: list[int] = []
        self.ends: list[int] = []

    def add(self, word: str, start: int, end: int) -> None:
        """Append a token."""
        self.words.append(word)
        self.starts.append(start)
        self.ends.append(end)


def _tokenise_run(run: str, offset: int, collector: _Collector) -> None:
    """Split a run of characters that are letters, digits or beyond ASCII."""
    current: list[str] = []
    start = end = 0
    for index, character in enumerate(run, offset):
        kind, folded = _classify(character)
        if kind == "word" or (kind == "mark" and current):
            if not current:
                start = index
            current.append(character)
            end = index + 1
            continue
        if kind == "format":
            continue
        if current:
            _add_word(current, start, end, collector)
        if kind == "ideograph":
            collector.add(folded, index, index + 1)
    if current:
        _add_word(current, start, end, collector)


def _add_word(characters: list[str], start: int, end: int, collector: _Collector) -> None:
    """Fold the characters of a word, and empty the list for the next one."""
    word = "".join(characters)
    if len(word) > _LONG_WORD:
        word = _with_marks_in_order(word)
    word = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", word).casefold())
    characters.clear()
    if not word.isalnum():
        word = "".join(part for part in word if part.isalnum() or unicodedata.combining(part))
    if word:
        collector.add(word, start, end)


def _with_marks_in_order(word: str) -> str:
    """The word decomposed, with the marks behind each letter in canonical order.

    Normalisation puts them in order too, in a time that grows with the square of their number.
    """
    parts: list[str] = []
    marks: list[str] = []
    for part in chain.from_iterable(unicodedata.normalize("NFKD", character) for character in word):
        if unicodedata.combining(part):
            marks.append(part)
            continue
        parts += sorted(marks, key=unicodedata.combining)
        marks.clear()
        parts.append(part)
    parts += sorted(marks, key=unicodedata.combining)
    return "".join(parts)


@lru_cache(maxsize=8_192)
def _classify(character: str) -> tuple[str, str]:
    """What a character is to the tokeniser, and its folded form if it is a token by itself."""
    category = unicodedata.category(character)
    if category == "Cf":
        return "format", ""
    folded = unicodedata.normalize("NFKC", character)
    if len(folded) == 1 and is_ideograph(folded):
        # The table costs a millisecond, which texts without an ideograph need not pay.
        from qiongli.document._han import SIMPLIFIED

        return "ideograph", SIMPLIFIED.get(folded, folded)
    if any(part.isalnum() for part in folded):
        return "word", ""
    return ("mark" if category[0] == "M" else "separator"), ""


def normal_form(text: str) -> tuple[str, ...]:
    """The tokens of a text without their places: equal forms match equal texts."""
    return tokenise(text).words
