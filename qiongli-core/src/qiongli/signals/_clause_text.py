"""A stretch of a text in one spelling, for patterns that look at the words around a match."""

from __future__ import annotations

from bisect import bisect_left

import attrs

from qiongli._value import Value
from qiongli.document import Tokens, is_ideograph, marks_between


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


def clause_text(tokens: Tokens, low: int, high: int) -> ClauseText:
    """The tokens from `low` up to `high`, both cut to what there is."""
    low, high = max(0, low), min(len(tokens.words), high)
    parts: list[str] = []
    places: list[int] = []
    length = 0
    for index in range(low, high):
        word = tokens.words[index]
        if index > low:
            marks = marks_between(tokens, index - 1)
            if marks:
                between = f" {' '.join(marks)} "
            elif is_ideograph(word[0]) and is_ideograph(tokens.words[index - 1][-1]):
                between = ""
            else:
                between = " "
            parts.append(between)
            length += len(between)
        places.append(length)
        parts.append(word)
        length += len(word)
    return ClauseText("".join(parts), low, tuple(places))
