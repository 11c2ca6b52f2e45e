"""Regular expressions of contracts, through RE2: linear in the text whatever the expression.

They see the normalised text, tokens with single spaces, and match whole tokens only.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, Final

from qiongli.document import Tokens
from qiongli.errors import ContractError, EnvironmentBrokenError

#: Memory that RE2 may use, in bytes, for all expressions together and for each.
_SET_MEMORY: Final = 256 << 20
_MEMORY: Final = 8 << 20
#: Words that a match of an expression may have.
LONGEST_MATCH: Final = 64
#: Words in which a match may begin before the window moves on.
_WINDOW: Final = 192


class RegexSet:
    """Expressions with a number each; RE2 is imported when they are first used."""

    def __init__(self, expressions: Sequence[tuple[int, str]]) -> None:
        self._expressions = tuple(expressions)
        self._ready: tuple[Any, list[Any]] | None = None

    def find(self, tokens: Tokens) -> list[tuple[int, int, tuple[int, ...]]]:
        """Every occurrence as (first token, one past the last token, the number)."""
        if not self._expressions or not tokens.words:
            return []
        candidates, compiled = self._ready or self._compile()
        words = [word.encode("utf-8") for word in tokens.words]
        text = b" " + b" ".join(words) + b" "
        starts = list(accumulate((len(word) + 1 for word in words[:-1]), initial=1))
        found: list[tuple[int, int, tuple[int, ...]]] = []
        fired = candidates.Match(text)
        # The first expression always matches. When it is absent, the set ran out of memory, and each looks for itself.
        places = [place - 1 for place in fired if place] if 0 in fired else list(range(len(compiled)))
        for place in sorted(places):
            found += _occurrences(compiled[place], self._expressions[place][0], text, starts)
        return found

    def _compile(self) -> tuple[Any, list[Any]]:
        try:
            import re2
        except ImportError:
            raise EnvironmentBrokenError(
                "a subject has a regular expression, and google-re2 is not installed",
                code="missing_dependency",
                hint='Run: python -m pip install "google-re2>=1.1"',
            ) from None
        options = re2.Options()
        options.case_sensitive = False
        options.log_errors = False
        options.max_mem = _SET_MEMORY
        candidates = re2.Set.SearchSet(options)
        candidates.Add("^")
        options.max_mem = _MEMORY
        compiled = []
        for _, text in self._expressions:
            # Spaces on both sides make whole tokens of it.
            whole = f" (?:{text}) ".encode()
            try:
                compiled.append(re2.compile(whole, options))
                candidates.Add(whole)
            except re2.error:
                raise ContractError(
                    f"RE2 refuses the regular expression {text!r}", code="regex_refused", place=text
                ) from None
        candidates.Compile()
        self._ready = candidates, compiled
        return self._ready


def _occurrences(
    expression: Any, number: int, text: bytes, starts: list[int]
) -> list[tuple[int, int, tuple[int, ...]]]:
    """All occurrences from left to right that share no word, each of at most `LONGEST_MATCH` words.

    A search that may run to the end of the text takes a time that grows with its square: after each occurrence of
    `x( .*y)?`, the rest would be looked through for a `y`. So each search sees a window of the text only.
    """
    found: list[tuple[int, int, tuple[int, ...]]] = []
    count = len(starts)

    def search(first: int, last: int) -> tuple[int, int] | None:
        match = expression.search(text, starts[first] - 1, starts[last] if last < count else len(text))
        if match is None:
            return None
        return bisect_left(starts, match.start() + 1), bisect_left(starts, match.end() - 1)

    position = 0
    while position < count:
        place = search(position, position + _WINDOW + LONGEST_MATCH)
        if place is None:
            # What begins beyond the window has not been seen whole.
            position += _WINDOW
            continue
        first, last = place
        if first - position >= _WINDOW:
            position = first
            continue
        if last - first > LONGEST_MATCH:
            shorter = search(first, first + LONGEST_MATCH)
            if shorter is None or shorter[0] != first:
                position = first + 1
                continue
            last = shorter[1]
        if last > first:
            found.append((first, last, (number,)))
        # The space behind one occurrence may be the one before the next.
        position = max(last, first + 1)
    return found
