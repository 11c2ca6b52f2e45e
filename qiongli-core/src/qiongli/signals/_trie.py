"""A trie over tokens: every phrase of every subject, all overlaps, in one pass over the text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

#: The key under which a node keeps the numbers of the phrases that end there; no token is empty.
_END: Final = ""


class TokenTrie:
    """Phrases as sequences of tokens; each phrase carries the numbers of those who declared it.

    What follows a first token is kept as one line of text until a document has that token: most have few of them, so
    that reading an index costs one dictionary. A line holds the continuations, `;` between them, each the remaining
    tokens, `|` and the numbers: for `event` it may be `|7;study|3,9;window|3`. Tokens are letters, digits and marks,
    never these signs.
    """

    def __init__(self, lines: Mapping[str, str]) -> None:
        self.lines = lines
        self._nodes: dict[str, dict[str, Any]] = {}

    @classmethod
    def of(cls, phrases: Iterable[tuple[Sequence[str], int]]) -> TokenTrie:
        """The trie of phrases with their numbers; their order does not matter."""
        found: dict[str, dict[str, set[int]]] = {}
        for words, number in phrases:
            found.setdefault(words[0], {}).setdefault(" ".join(words[1:]), set()).add(number)
        return cls(
            {
                first: ";".join(
                    f"{rest}|{','.join(map(str, sorted(numbers)))}" for rest, numbers in sorted(rests.items())
                )
                for first, rests in sorted(found.items())
            }
        )

    def find(self, words: Sequence[str]) -> list[tuple[int, int, tuple[int, ...]]]:
        """Every occurrence as (first token, one past the last token, numbers)."""
        lines = self.lines
        found = []
        length = len(words)
        for first in [place for place, word in enumerate(words) if word in lines]:
            node: dict[str, Any] | None = self._nodes.get(words[first]) or self._node(words[first])
            position = first + 1
            while node is not None:
                numbers = node.get(_END)
                if numbers is not None:
                    found.append((first, position, numbers))
                if position >= length:
                    break
                node = node.get(words[position])
                position += 1
        return found

    def _node(self, first: str) -> dict[str, Any]:
        root: dict[str, Any] = {}
        for entry in self.lines[first].split(";"):
            rest, _, numbers = entry.partition("|")
            node = root
            for word in rest.split():
                node = node.setdefault(word, {})
            node[_END] = tuple(map(int, numbers.split(",")))
        self._nodes[first] = root
        return root
