"""Code in a text: fenced, indented, between backticks, in HTML and in LaTeX."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from qiongli.document._blank import blank_match, without_pairs, without_spans
from qiongli.patterns import LazyPattern

#: A fence may stand in an item of a list or in a quotation.
_FENCES: Final = tuple(
    (
        sign,
        LazyPattern(
            rf"^[ \t]*+(?:(?:[-*+>]|\d{{1,3}}[.)])[ \t]*+){{0,4}}({sign}{{3,}}+)[^\n]*+\n"
            rf".*?(?:^[ \t>]*+\1{sign}*[ \t]*$|\Z)",
            re.DOTALL | re.MULTILINE,
        ),
    )
    for sign in "`~"
)
#: In ``quotation marks of LaTeX'' and ``others'', what stands between the two is no code.
_BACKTICKS: Final = LazyPattern(
    r"(`{1,2})(?!`)(?: (?:(?!'')[^`\n]){1,198} |(?:(?!'')[^`\n]){1,200}(?<![\s(\[-]))\1(?!`)"
)
_HTML: Final = LazyPattern(r"<(code|pre|samp|kbd|tt|script|style)(?:\s[^<>]{0,300})?>", re.IGNORECASE)
_LISTING: Final = LazyPattern(
    r"\\begin\{(verbatim\*?|Verbatim|lstlisting|minted|alltt|comment|tikzpicture|filecontents\*?)\}"
)
#: Code within a line of LaTeX.
VERB: Final = LazyPattern(
    r"\\(?:verb\*?|(?:lstinline|mintinline(?:\{\w{1,30}\})?)(?:\[[^\]\n]{0,100}\])?)"
    r"(?:([^\w\s{*])[^\n]{0,300}?\1|\{[^}\n]{0,300}\})"
)
#: What LaTeX refers to by a key or a file name; Markdown does so with an @.
_KEY: Final = LazyPattern(
    r"\\(?:label|[a-z]{0,8}ref\*?|[A-Z]ref|[a-z]{0,10}cite[a-z]{0,10}\*?|input|include|includegraphics|path|url)"
    r"(?:\[[^\]\n]{0,100}\]){0,2}\{[^}\n]{0,300}\}"
)
#: A line of code: a comment or a prompt; an assignment, a call, a brace or semicolon at its end; a keyword.
_CODE_LINE: Final = LazyPattern(
    r"\s*(?:[$>#%]|//)\s?\S"
    r"|(?!(?:[^\n]*?[ (])??(?:[a-z]{2,} ){4,})(?:"
    r"[^\n]*?(?:[\w\])]\s?(?:<-|:=|[-+*/|&]?=(?![=>])|==|=>|->|%>%|\|>)\s?[\w\"'(\[{-]|[A-Za-z_]\((?!\d{4})[^\n]{0,200}\)"
    r"|[;{}]\s*$)"
    r"|\s*(?:import|from)\s+[\w.]+\s*(?:$|import\b)"
    r"|\s*(?:import|from|def|class|return|for|while|if|elif|else|print|library|require|use|gen|replace|reg|xtreg|reghdfe"
    r"|areg|ivreg2?|merge|collapse|keep|drop|sort|by|egen|foreach|forvalues|local|global|select|pip|git|cd|sudo|python3?"
    r"|Rscript|stata|function|const|let|var|end)\b(?=[^\n]*[_(\[{=:;/\"'*%~]|\s*$))"
)
#: Lines indented by four columns after a blank line.
_INDENTED: Final = LazyPattern(r"(?:(?<=\n)[ \t\r]*\n|\A)((?:(?: {4}|\t)[^\n]*(?:\n|\Z))++)")


def without_fences(text: str) -> str:
    """The text without fenced code."""
    for sign, fence in _FENCES:
        if sign in text and sign * 3 in text:
            text = fence.sub(blank_match, text)
    return text


def without_code(text: str) -> str:
    """The text without all other code, and without the keys of LaTeX."""
    if "<" in text and ">" in text:
        text = without_pairs(text, _HTML, _html_end, 0)
    if "\\" in text:
        if "\\begin{" in text:
            text = without_pairs(text, _LISTING, _listing_end, len(text))
        text = _KEY.sub(blank_match, VERB.sub(blank_match, text))
    if text.startswith(("    ", "\t")) or ("\n" in text and ("\n    " in text or "\n\t" in text)):
        text = without_spans(text, _indented_code(text))
    if "`" in text:
        text = _BACKTICKS.sub(blank_match, text)
    return text


def _html_end(tag: str) -> re.Pattern[str]:
    return re.compile(rf"</{tag}\s{{0,9}}>", re.IGNORECASE)


def _listing_end(environment: str) -> re.Pattern[str]:
    return re.compile(re.escape(f"\\end{{{environment}}}"))


def _indented_code(text: str) -> Iterator[tuple[int, int]]:
    """The blocks indented by four columns after a blank line that are code by what stands in them.

    A paragraph may be indented, and so is what continues an item of a list: at least half of the lines, and the first
    of them, must look like code.
    """
    for match in _INDENTED.finditer(text):
        lines = [line for line in match.group(1).split("\n") if line.strip()]
        looks = [_CODE_LINE.match(line) is not None for line in lines]
        if looks and looks[0] and 2 * sum(looks) >= len(looks):
            yield match.span(1)
