"""A trie over tokens: every phrase of every subject, all overlaps, in one pass over the text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

_END: Final = ""


class TokenTrie:
    """Phrases as sequences of tokens; each phrase carries the numbers of those who declared it."""

    def __init__(self, root: dict[str, Any] | None = None) -> None:
        #: Nested by token; plain data, so that it can be stored and read back as it is.
        self.root: dict[str, Any] = {} if root is None else root

    def add(self, words: Sequence[str], number: int) -> None:
        """Add a phrase under a number; the same phrase may have many."""
        node = self.root
        for word in words:
            node = node.setdefault(word, {})
        node[_END] = [*node.get(_END, ()), number]

    def find(self, words: Sequence[str]) -> Iterator[tuple[int, int, Sequence[int]]]:
        """Every occurrence as (first token, one past the last token, numbers)."""
        root = self.root
        length = len(words)
        for first, word in enumerate(words):
            node = root.get(word)
            if node is None:
                continue
            position = first + 1
            while True:
                numbers = node.get(_END)
                if numbers is not None:
                    yield first, position, numbers
                if position >= length:
                    break
                node = node.get(words[position])
                if node is None:
                    break
                position += 1
