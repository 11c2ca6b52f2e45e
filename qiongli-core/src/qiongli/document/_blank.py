"""Blanking: characters that are no subject text become spaces, so that offsets stay those of the original."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from qiongli.patterns import LazyPattern


def blank(text: str) -> str:
    """As many spaces, with the line breaks kept."""
    return "\n".join([" " * len(line) for line in text.split("\n")]) if "\n" in text else " " * len(text)


def blank_match(match: re.Match[str]) -> str:
    """What replaces a match."""
    return blank(match.group())


def without_spans(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """The text with half-open ranges blanked; of ranges that overlap, the one that begins first counts."""
    parts: list[str] = []
    kept = 0
    for start, end in sorted(spans):
        if start >= kept:
            parts += (text[kept:start], blank(text[start:end]))
            kept = end
    return "".join((*parts, text[kept:])) if parts else text


def without_pairs(text: str, opening: LazyPattern, closing: Callable[[str], re.Pattern[str]], unclosed: int) -> str:
    """The text without what stands between marks, the marks included.

    The first group of `opening` tells which `closing` belongs to it. What is never closed is blanked for `unclosed`
    characters, or not at all.
    """
    spans: list[tuple[int, int]] = []
    done = 0
    #: Kinds of marks that no longer close: looking for each of them again would take quadratic time.
    open_ended: set[str] = set()
    for match in opening.finditer(text):
        if match.start() < done:
            continue
        kind = match.group(1)
        end = None if kind in open_ended else closing(kind).search(text, match.end())
        if end is not None:
            done = end.end()
        else:
            open_ended.add(kind)
            if not unclosed:
                continue
            done = min(len(text), match.start() + unclosed)
        spans.append((match.start(), done))
    return without_spans(text, spans)
