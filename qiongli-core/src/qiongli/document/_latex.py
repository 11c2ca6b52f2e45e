"""LaTeX as plain text: title, abstract, body; the bibliography keeps a heading, so that it is known for what it is."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from qiongli.document._code import VERB

_VERBATIM: Final = re.compile(
    r"\\begin\{(verbatim\*?|lstlisting|minted|Verbatim|alltt|comment|tikzpicture|filecontents\*?)\}.*?(?:\\end\{\1\}|\Z)",
    re.DOTALL,
)
_COMMENT: Final = re.compile(r"(?<!\\)((?:\\\\)*)%[^\n]*")
#: Names and dates are no subject text; a page's date would even be today's.
_FRONT: Final = ("author", "date", "thanks", "affil", "address", "email", "institute")
_FRONT_COMMAND: Final = re.compile(r"\\(" + "|".join(_FRONT) + r")\s*(?:\[[^\]\n]{0,200}\])?\s*\{")
_TITLE: Final = re.compile(r"\\title\s*(?:\[[^\]\n]{0,200}\])?\s*\{")
_ABSTRACT: Final = re.compile(r"\\begin\{abstract\}(.*?)(?:\\end\{abstract\}|\Z)", re.DOTALL)
_KEYWORDS: Final = re.compile(r"\\(?:keywords|kwd)\s*\{|\\begin\{keywords?\}")
_BODY: Final = re.compile(r"\\begin\{document\}(.*?)(?:\\end\{document\}|\Z)", re.DOTALL)
_REFERENCES: Final = re.compile(
    r"\\begin\{(thebibliography|references\*?)\}(?:\{[^}\n]{0,200}\})?(.*?)(?:\\end\{\1\}|\Z)", re.DOTALL
)
_LINES: Final = re.compile(
    r"\\(?:maketitle|tableofcontents|bibliographystyle\{[^}\n]{0,200}\}|bibliography\{[^}\n]{0,400}\})"
)

_ACCENT: Final = re.compile(r"\\([`'^\"~=.uvHcr])\s*(?:\{\s*\\?([A-Za-z])\s*\}|\\?([A-Za-z])(?![A-Za-z]{2}))")
_MARKS: Final = {
    "`": "\u0300",
    "'": "\u0301",
    "^": "\u0302",
    '"': "\u0308",
    "~": "\u0303",
    "=": "\u0304",
    ".": "\u0307",
    "u": "\u0306",
    "v": "\u030c",
    "H": "\u030b",
    "c": "\u0327",
    "r": "\u030a",
}


def latex_packet(source: str) -> dict[str, str]:
    """The task packet in a LaTeX source: `title`, `abstract` and `keywords` when they are marked, and `draft`.

    Needs pylatexenc; ImportError without it. Comments, listings, authors and dates are dropped, files that the source
    would include are not read. A bibliography follows a heading `References`, and what follows it `Appendix`.
    """
    from pylatexenc.latex2text import LatexNodes2Text

    def plain(text: str) -> str:
        converted: str = LatexNodes2Text(keep_comments=False).latex_to_text(text)
        return re.sub(r"\n{3,}", "\n\n", converted.replace("<cit.>", "")).strip()

    source = _COMMENT.sub(r"\1", VERB.sub(" ", _VERBATIM.sub("\n\n", source)))
    packet: dict[str, str] = {}
    title = _TITLE.search(source)
    if title:
        inside, source = _argument(source, title.start(), title.end())
        packet["title"] = plain(_without_front(inside))
    source = _without_front(source)
    keywords = _KEYWORDS.search(source)
    if keywords and keywords.group().endswith("{"):
        inside, source = _argument(source, keywords.start(), keywords.end())
        packet["keywords"] = plain(inside)
    abstract = _ABSTRACT.search(source)
    if abstract:
        packet["abstract"] = plain(abstract.group(1))
        source = source[: abstract.start()] + source[abstract.end() :]
    body = _BODY.search(source)
    text = _LINES.sub("", body.group(1) if body else source)
    text = text.replace("\\appendix", "\n\nAppendix\n\n")
    references = _REFERENCES.search(text)
    if references:
        parts = [plain(text[: references.start()]), "References", plain(references.group(2))]
        after = plain(text[references.end() :])
        packet["draft"] = "\n\n".join([*parts, *(("Appendix", after) if after else ())])
    else:
        packet["draft"] = plain(text)
    return {name: value for name, value in packet.items() if value}


def _without_front(source: str) -> str:
    """The source without its authors' names, thanks and dates."""
    pieces: list[str] = []
    done = 0
    for match in _FRONT_COMMAND.finditer(source):
        if match.start() >= done:
            pieces.append(source[done : match.start()])
            done = _closing(source, match.end())
    return "".join((*pieces, source[done:]))


def _argument(source: str, start: int, inside: int) -> tuple[str, str]:
    """The argument whose inside begins there, and the source without the command that begins at `start`."""
    end = _closing(source, inside)
    return source[inside : end - 1], source[:start] + source[end:]


_BRACE: Final = re.compile(r"\\.|[{}]", re.DOTALL)


def _closing(source: str, inside: int) -> int:
    """One past the brace that closes the group whose inside begins there; the end of the source when none does."""
    depth = 1
    for match in _BRACE.finditer(source, inside):
        depth += {"{": 1, "}": -1}.get(match.group(), 0)
        if depth == 0:
            return match.end()
    return len(source)


def plain_value(value: str) -> str:
    """A short LaTeX value, such as a title in BibTeX, as plain text: accents composed, commands and braces gone."""
    value = _ACCENT.sub(lambda match: (match.group(2) or match.group(3)) + _MARKS[match.group(1)], value)
    value = re.sub(r"\\([&%$#_{}])", r"\1", value)
    value = re.sub(r"\\[A-Za-z]+\s*", "", value)
    value = re.sub(r"(?<!\\)[{}]", "", value.replace("~", " ").replace("---", "—").replace("--", "–"))
    return unicodedata.normalize("NFC", " ".join(value.split()))
