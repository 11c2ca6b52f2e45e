"""Whether the words around a match assert it, deny it or quote it; in English and Chinese."""

from __future__ import annotations

import re
from typing import Final

_BOUNDARY: Final = re.compile(r"[.;!?。；！？]\s|[;!?。；！？]|\n\s*\n|\.\s*$")
_CONTRAST: Final = re.compile(r"\b(?:but|however|instead|whereas|although|yet)\b|但是|而是|不过|但", re.IGNORECASE)
_NEGATION: Final = re.compile(
    r"\b(?:do|does|did|is|are|was|were|has|have|had|can|could|will|would|should|need)(?:\s+not\b|n['’]t\b)"
    r"|\bcannot\b|\bnot\b|\bno\b|\bnever\b|\bneither\b|\bnor\b|\bwithout\b|\brather than\b|\binstead of\b|\bother than\b"
    r"|\brefrain(?:s|ed)? from\b|\bavoid(?:s|ed|ing)?\b|\black(?:s|ed|ing)?\b|\bfree of\b|\bin place of\b"
    r"|不使用|不采用|未使用|未采用|没有使用|没有采用|并非|不是|没有|无需|而非|不涉及|不属于|不研究",
    re.IGNORECASE,
)
_NO_NEGATION: Final = re.compile(
    r"\bnot only\b|\bno doubt\b|\bnot (?:just|merely|simply|surprisingly|least)\b|\bcannot (?:rule out|reject|exclude)\b"
    r"|\bno longer\b|\bno (?:less|fewer|sooner)\b|不仅|不但|不只",
    re.IGNORECASE,
)
_QUOTE_PAIRS: Final = (("“", "”"), ("「", "」"), ("『", "』"), ("«", "»"))
#: A quotation of fewer words than this is a term in inverted commas, not somebody's speech.
_SPEECH_WORDS: Final = 4


def clause_start(text: str, position: int) -> int:
    """Where the clause that contains the position begins: after a sentence end or a word of contrast."""
    window = max(0, position - 400)
    start = window
    for match in _BOUNDARY.finditer(text, window, position):
        start = match.end()
    for match in _CONTRAST.finditer(text, start, position):
        start = match.end()
    return start


def is_negated(text: str, start: int) -> bool:
    """Whether a negation governs the match that begins at `start`, within its clause."""
    clause = text[clause_start(text, start) : start]
    clause = _NO_NEGATION.sub(lambda match: " " * len(match.group()), clause)
    last = None
    for last in _NEGATION.finditer(clause):  # noqa: B007  # the nearest one governs
        pass
    if last is None:
        return False
    between = clause[last.end() :]
    # A new subject with a verb of its own ends the reach of a negation: "not X, and we estimate Y".
    return (
        re.search(r"[,，:：]\s*(?:and\s+|so\s+|then\s+)?(?:we|this|it|they|i|the paper)\b", between, re.IGNORECASE)
        is None
        and len(between.split()) <= 25
    )


def quoted_ranges(text: str) -> tuple[tuple[int, int], ...]:
    """Ranges of the text that quote somebody: longer than a term, or block quotations of Markdown."""
    ranges = []
    for opening, closing in _QUOTE_PAIRS:
        if opening in text:
            for match in re.finditer(f"{opening}[^{opening}{closing}]{{1,2000}}{closing}", text):
                ranges.append(match.span())
    if '"' in text:
        ranges += [match.span() for match in re.finditer(r'(?<!\w)"[^"]{1,2000}"(?!\w)', text)]
    found = [
        span for span in ranges if len(text[slice(*span)].split()) >= _SPEECH_WORDS or not text[slice(*span)].isascii()
    ]
    if "\n>" in text or text.startswith(">"):
        found += [match.span() for match in re.finditer(r"^>[^\n]*$", text, re.MULTILINE)]
    return tuple(found)
