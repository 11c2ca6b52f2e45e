"""What a match must still show where its normal form does not say all: symbols, punctuation, capitals, context."""

from __future__ import annotations

import unicodedata
from typing import Final

from qiongli.document import PARAGRAPH, Tokens, marks_after, normal_form
from qiongli.signals import _plural

#: Tokens on either side within which an acronym's context word must stand.
ACRONYM_WINDOW: Final = 12
#: Fields in which an acronym needs no context: they hold nothing but names or codes.
NAME_FIELDS: Final = frozenset({"venue", "journal", "jel"})

#: Punctuation that ends a phrase: "life cycle; portfolio" is no life-cycle portfolio, 投资、银行 no 投资银行.
_BREAKS: Final = frozenset(",.;:!?、" + PARAGRAPH)
_SENTENCE_ENDS: Final = frozenset(".!?" + PARAGRAPH)


class Check:
    """A pattern whose hits are looked at twice: an acronym, or one with symbols or punctuation."""

    __slots__ = ("acronym", "near", "owner", "symbols", "text")

    def __init__(self, owner: int, kind: str, text: str, near: str) -> None:
        """`near` holds the normalised context words, tokens separated by spaces and words by semicolons."""
        self.owner = owner
        self.text = text
        self.acronym = kind == "acronym"
        self.symbols = symbols_of(text)
        self.near: dict[str, list[tuple[str, ...]]] = {}
        for word in near.split(";") if near else ():
            tokens = tuple(word.split())
            self.near.setdefault(tokens[0], []).append(tokens)

    def accepts(self, tokens: Tokens, first: int, last: int, field: str) -> bool:
        """Whether the tokens from `first` up to `last` are what the pattern means."""
        if self.symbols[1] and not _has_symbols(tokens, first, last, self.symbols):
            return False
        if not unbroken(tokens, first, last, self.text):
            return False
        if not self.acronym:
            return True
        found = tokens.text[tokens.starts[first] : tokens.ends[last - 1]]
        if found != self.text and _plain(found) != _plain(self.text):
            return False
        return field in NAME_FIELDS or self._in_context(tokens, first, last)

    def _in_context(self, tokens: Tokens, first: int, last: int) -> bool:
        words = tokens.words
        high = min(len(words), last + ACRONYM_WINDOW)
        for index in (*range(max(0, first - ACRONYM_WINDOW), first), *range(last, high)):
            for wanted in self.near.get(words[index], ()):
                end = index + len(wanted)
                if end > (first if index < first else high) or words[index:end] != wanted:
                    continue
                low, high_place = (index, first) if index < first else (last - 1, end - 1)
                if all(_SENTENCE_ENDS.isdisjoint(marks) for marks in marks_after(tokens, low, high_place)):
                    return True
        return False


def unbroken(tokens: Tokens, first: int, last: int, pattern: str = "") -> bool:
    """Whether no punctuation that the pattern itself lacks stands between the tokens from `first` up to `last`."""
    stretch = tokens.text[tokens.starts[first] : tokens.ends[last - 1]]
    if stretch.isascii() and _BREAKS.isdisjoint(stretch):
        return True  # which is what nearly all of them are
    for marks in marks_after(tokens, first, last - 1):
        for mark in marks:
            if mark in _BREAKS and mark not in pattern:
                return False
    return True


def needs_check(kind: str, text: str) -> bool:
    """Whether the hits of a pattern must be looked at twice."""
    return kind == "acronym" or bool(symbols_of(text)[1]) or not _BREAKS.isdisjoint(text)


def phrase_forms(words: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """A phrase with the plural or singular forms of its last word."""
    if not words:
        return ()
    return tuple((*words[:-1], last) for last in _plural.forms(words[-1], alone=len(words) == 1))


def context_words(near: tuple[str, ...]) -> str:
    """The context words of an acronym in all their forms, as `Check` reads them."""
    forms = {" ".join(form) for phrase in near for form in phrase_forms(normal_form(phrase))}
    return ";".join(sorted(forms))


def _plain(text: str) -> str:
    """The text in its compatibility form, without invisible characters; capitals stay."""
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKC", text)
    return "".join(character for character in text if unicodedata.category(character) != "Cf")


#: Symbols that tell terms apart although normalisation drops them: C++ is not C, R&D is not "R D".
_TELLING: Final = frozenset("+&#@%$*")


def symbols_of(pattern: str) -> tuple[int, str, int]:
    """The telling symbols of a pattern: how many stand before its first word, all of them, and how many after its last.

    A dot counts only where it opens the pattern, as in .NET.
    """
    words = [index for index, character in enumerate(pattern) if character.isalnum()]
    if not words:
        return 0, "", 0
    opening = "".join(character for character in pattern[: words[0]] if character in _TELLING or character == ".")
    inside = "".join(character for character in pattern[words[0] : words[-1] + 1] if character in _TELLING)
    closing = "".join(character for character in pattern[words[-1] + 1 :] if character in _TELLING)
    return len(opening), opening + inside + closing, len(closing)


def _has_symbols(tokens: Tokens, first: int, last: int, symbols: tuple[int, str, int]) -> bool:
    """Whether the original characters of a match have the pattern's telling symbols, in order."""
    opening, wanted, closing = symbols
    start, end = tokens.starts[first], tokens.ends[last - 1]
    found = _plain(tokens.text[max(0, start - opening) : end + closing])
    return "".join(sign for sign in found if sign in _TELLING or (sign == "." and sign in wanted)) == wanted
