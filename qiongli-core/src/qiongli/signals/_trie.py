"""A trie over tokens: every phrase of every subject, all overlaps, in one pass over the text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

#: Comes after the last token of a text; no token is empty.
_END: Final = ""

#: The numbers of the phrases that end at a node, and what may follow it.
_Node = tuple[tuple[int, ...], "dict[str, _Node]"]


class TokenTrie:
    """Phrases as sequences of tokens; each phrase carries the numbers of those who declared it.

    What follows a first token is kept as one line of text until a document has that token: most have few of them, so
    that reading an index costs one dictionary. A line holds the continuations, `;` between them, each the remaining
    tokens, `|` and the numbers: for `event` it may be `|7;study|3,9;window|3`. Tokens are letters, digits and marks,
    never these signs.
    """

    def __init__(self, lines: Mapping[str, str]) -> None:
        self.lines = lines
        self._nodes: dict[str, _Node] = {}

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
        if lines.keys().isdisjoint(words):
            return []
        found = []
        nodes = self._nodes
        words = (*words, _END)
        for first in [place for place, word in enumerate(words) if word in lines]:
            node: _Node | None = nodes.get(words[first]) or self._node(words[first])
            position = first + 1
            while node is not None:
                numbers, following = node
                if numbers:
                    found.append((first, position, numbers))
                node = following.get(words[position])
                position += 1
        return found

    def _node(self, first: str) -> _Node:
        """The node of a first token; what two threads make of a line at the same time is the same."""
        made = self._nodes[first] = _node_of([entry.partition("|") for entry in self.lines[first].split(";")])
        return made


def _node_of(entries: Iterable[tuple[str, str, str]]) -> _Node:
    """The node from which some entries go on, each (remaining tokens, `|`, numbers)."""
    numbers: tuple[int, ...] = ()
    following: dict[str, list[tuple[str, str, str]]] = {}
    for rest, bar, listed in entries:
        if rest:
            word, _, further = rest.partition(" ")
            following.setdefault(word, []).append((further, bar, listed))
        else:
            numbers = tuple(map(int, listed.split(",")))
    return numbers, {word: _node_of(further) for word, further in following.items()}
