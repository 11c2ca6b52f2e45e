"""What stands between two tokens, in one spelling: full-width, Chinese and typographic marks as their plain forms."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Final

from qiongli.document._normalise import Tokens, is_ideograph

#: Marks that are kept, in their plain spelling; everything else between words counts as a space.
_KEPT: Final = {
    **{mark: mark for mark in ".,;:!?()[]、"},
    **dict(zip("。｡…【】〔〕‽", "...()()?", strict=True)),
}
#: A paragraph's end.
PARAGRAPH: Final = "\n"
#: Single tokens after which a full stop ends no sentence; single letters are among them too.
_ABBREVIATIONS: Final = frozenset(
    {"al", "vs", "cf", "fig", "figs", "eq", "eqs", "dr", "prof", "mr", "mrs", "approx", "resp"}
)
#: Characters between two words beyond which the middle is not looked at.
_LONGEST: Final = 512
_PLAIN: Final = frozenset({" ", "-", "\n", "’", "'", "–", "—", "/", "\u00a0"})


def marks_after(tokens: Tokens, first: int, last: int) -> list[str]:
    """The punctuation behind each of the tokens from `first` up to `last`, as `marks_between` gives it.

    One call for a stretch of tokens is much quicker than one for each of them. `last` is below the number of tokens.
    """
    text, ends = tokens.text, tokens.ends
    starts = tokens.starts
    found = []
    for index in range(first, last):
        between = text[ends[index] : starts[index + 1]]
        found.append("" if between in _PLAIN else _spelled(between, tokens.words[index], tokens.words[index + 1]))
    return found


def marks_between(tokens: Tokens, index: int) -> str:
    """The punctuation between token `index` and the next one; of white space only a paragraph's end is left.

    A full stop or comma counts when white space follows it, or when Chinese stands beside it: `U.S.`, `1,000` and
    `e.g.` have none.
    """
    return marks_after(tokens, index, index + 1)[0]


def _spelled(between: str, before: str, after: str) -> str:
    """The marks of what stands between two words, however long it is."""
    if len(between) > _LONGEST:
        between = f"{between[: _LONGEST // 2]}{between[-_LONGEST // 2 :]}"
    return _marks(between, before, after)


@lru_cache(maxsize=4_096)
def _marks(between: str, before: str, after: str) -> str:
    """The marks between two words."""
    if not between.isascii():
        between = "".join(
            character for character in unicodedata.normalize("NFKC", between) if unicodedata.category(character) != "Cf"
        )
    chinese = is_ideograph(before[-1]) or is_ideograph(after[0])
    abbreviated = not chinese and (len(before) == 1 or before in _ABBREVIATIONS)
    found = ""
    for place, character in enumerate(between):
        mark = _KEPT.get(character, "")
        # Directly before the next word it is part of a number or an abbreviation, as in 1,000 or e.g.
        inside = character in ".,:" and not chinese and place == len(between) - 1
        if not inside and not (character == "." and place == 0 and abbreviated):
            found += mark
    if any(not line.strip() for line in between.split("\n")[1:-1]):
        found += PARAGRAPH
    return found
