"""What of a field is not subject text: code, addresses, paths, Qiongli's own guidance; references are context.

Masked characters become spaces, so that offsets stay those of the original.
"""

from __future__ import annotations

import re
from typing import Final

from qiongli.patterns import LazyPattern

_MASKED: Final = tuple(
    LazyPattern(pattern, flags)
    for pattern, flags in (
        (r"<!--\s*qiongli:begin.*?(?:<!--\s*qiongli:end.*?-->|\Z)", re.DOTALL | re.IGNORECASE),
        (r"^(`{3,}|~{3,})[^\n]*\n.*?(?:^\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE),
        (r"`[^`\n]{1,200}`", 0),
        (r"\b(?:https?|ftp|file)://[^\s<>\"'）】]+", re.IGNORECASE),
        (r"\bwww\.[^\s<>\"']+", re.IGNORECASE),
        (r"\b10\.\d{4,9}/[^\s<>\"']+", 0),
        (r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+", 0),
        (r"(?<![\w/.])(?:~|\.{1,2})?/(?:[\w.+-]+/)+[\w.+-]*", 0),
        (r"\b[A-Za-z]:\\[^\s\"'<>|]+", 0),
        (r"(?<![\w.])[\w-]+(?:/[\w.-]+)*\.(?:py|csv|tex|pdf|docx?|xlsx?|json|ya?ml|do|dta|rds?|txt|md|bib|ipynb)\b", 0),
    )
)
#: Texts shorter than this that hold none of these characters have nothing to mask.
_HINTS: Final = re.compile(r"[`~/@\\<]|\.\w|://|www")

_REFERENCES: Final = LazyPattern(
    r"^[ \t]*(?:#{1,6}[ \t]*)?(?:\d{1,2}\.?[ \t]+)?(?:\*\*)?"
    r"(?:references|bibliography|works cited|literature cited|reference list|参考文献|參考文獻)(?:\*\*)?[ \t]*:?[ \t]*$"
    r"|\\begin\{thebibliography\}|\\bibliography\{",
    re.IGNORECASE | re.MULTILINE,
)
#: One of these stands in every heading of a reference list.
_REFERENCE_WORDS: Final = ("reference", "bibliography", "works cited", "literature cited", "参考文献", "參考文獻")
_AFTER_REFERENCES: Final = LazyPattern(
    r"^[ \t]*(?:#{1,6}[ \t]*)?(?:appendix|appendices|附录)\b.*$|\\end\{thebibliography\}|\\appendix\b",
    re.IGNORECASE | re.MULTILINE,
)


def mask(text: str) -> str:
    """The text with everything that is not subject text replaced by spaces of the same length."""
    if not _HINTS.search(text):
        return text
    for pattern in _MASKED:
        text = pattern.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)
    return text


def reference_span(text: str) -> tuple[int, int] | None:
    """The half-open range of the reference list, or None; only a heading on a line of its own begins one."""
    lowered = text.casefold()
    if not any(word in lowered for word in _REFERENCE_WORDS):
        return None
    heading = None
    for heading in _REFERENCES.finditer(text):  # noqa: B007  # the last heading is the list
        pass
    if heading is None or heading.start() == 0:
        return None
    after = _AFTER_REFERENCES.search(text, heading.end())
    return heading.start(), after.start() if after else len(text)
