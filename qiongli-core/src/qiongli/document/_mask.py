"""What of a field is not subject text: code, addresses, paths, and what Qiongli itself wrote.

Masked characters become spaces, so that offsets stay those of the original. What a text holds nothing of costs it
nothing, not even the import of who knows it: most texts are a paragraph of prose.
"""

from __future__ import annotations

from typing import Final

from qiongli.patterns import LazyPattern

#: A stop within a word, which names of files, of sites and of signals have.
_STOP_WITHIN: Final = LazyPattern(r"\.[A-Za-z]")


def mask(text: str) -> str:
    """The text with everything that is not subject text replaced by spaces of the same length."""
    several_lines = "\n" in text
    if "`" in text or "~" in text:
        # Fences end what is cut off within them; other marks may be part of a packet and would tear it.
        from qiongli.document._code import without_fences

        text = without_fences(text)
    if several_lines or "_" in text or "{" in text or "<" in text or "«" in text:
        from qiongli.document._own import without_own_words

        text = without_own_words(text)
    if several_lines or "`" in text or "<" in text or "\\" in text or text.startswith(("    ", "\t")):
        from qiongli.document._code import without_code

        text = without_code(text)
    if "/" in text or "@" in text or "\\" in text or ("." in text and _STOP_WITHIN.search(text) is not None):
        from qiongli.document._addresses import without_addresses

        text = without_addresses(text)
    return text


def reference_spans(text: str) -> tuple[tuple[int, int], ...]:
    """The half-open ranges of the reference lists of a masked text."""
    one_line = not ("\n" in text or "\r" in text or "\f" in text or "\v" in text or "\\" in text)
    if one_line and text.isascii() and "eferences" not in text and "EFERENCES" not in text:
        # In a single line no heading stands but one that runs on.
        return ()
    from qiongli.document._references import find_lists

    return find_lists(text, one_line=one_line)
