"""A stretch of a text in one spelling, for patterns that look at the words around a match."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import accumulate

import attrs

from qiongli._value import Value
from qiongli.document import Tokens, is_ideograph, marks_after


@attrs.frozen(repr=False)
class ClauseText(Value):
    """Tokens `low` to `high` with single spaces and the punctuation between them; Han and Kana run on unspaced.

    `places` are the offsets of the tokens in `text`. Case, width, white space, hyphens and invisible characters of
    the original are gone, so that none of them can change what a pattern finds.
    """

    text: str
    low: int
    places: tuple[int, ...]

    def token_at(self, offset: int) -> int:
        """The number of the first token that begins at an offset of the text or after it."""
        return self.low + bisect_left(self.places, offset)


#: What makes the text of the tokens from one up to another.
Spelling = Callable[[int, int], ClauseText]


def clause_text(tokens: Tokens, low: int, high: int) -> ClauseText:
    """The tokens from `low` up to `high`, both cut to what there is."""
    low, high = max(0, low), min(len(tokens.words), high)
    if low >= high:
        return ClauseText("", low, ())
    words = tokens.words[low:high]
    marks = marks_after(tokens, low, high - 1)
    if tokens.text.isascii():
        # Single spaces everywhere; the punctuation behind a word goes with it.
        pieces = [f"{word} {' '.join(mark)}" if mark else word for word, mark in zip(words, (*marks, ""), strict=True)]
        places = accumulate([len(piece) + 1 for piece in pieces[:-1]], initial=0)
        return ClauseText(" ".join(pieces), low, tuple(places))
    return _unspaced(words, marks, low)


def _unspaced(words: Sequence[str], marks: Sequence[str], low: int) -> ClauseText:
    """The same where Han and Kana may stand, which run on without spaces."""
    parts = [words[0]]
    places = [0]
    length = len(words[0])
    for before, word, mark in zip(words, words[1:], marks, strict=False):
        if mark:
            between = f" {' '.join(mark)} "
        elif is_ideograph(word[0]) and is_ideograph(before[-1]):
            between = ""
        else:
            between = " "
        parts += (between, word)
        places.append(length + len(between))
        length = places[-1] + len(word)
    return ClauseText("".join(parts), low, tuple(places))


class ClauseTexts:
    """The same for many stretches of one text, which are then cut from the spelling of all of it."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._whole: ClauseText | None = None

    def between(self, low: int, high: int) -> ClauseText:
        """As `clause_text`."""
        whole = self._whole
        if whole is None:
            whole = self._whole = clause_text(self._tokens, 0, len(self._tokens.words))
        low, high = max(0, low), min(len(whole.places), high)
        if low >= high:
            return ClauseText("", low, ())
        start = whole.places[low]
        end = whole.places[high - 1] + len(self._tokens.words[high - 1])
        return ClauseText(whole.text[start:end], low, tuple([place - start for place in whole.places[low:high]]))
