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
    found: list[tuple[int, int, tuple[int, ...]]] = []
    position = 0
    while (match := expression.search(text, position)) is not None:
        start, end = match.start() + 1, match.end() - 1
        if end > start:
            found.append((bisect_left(starts, start), bisect_left(starts, end), (number,)))
        # The space behind one occurrence may be the one before the next.
        position = max(end, match.start() + 1)
    return found
