"""What of a field is not subject text: code, addresses, paths, Qiongli's own guidance; references are context.

Masked characters become spaces, so that offsets stay those of the original.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import islice
from typing import Final

from qiongli.patterns import LazyPattern

#: For each kind of text that is masked, a text without which it does not occur, and its pattern. All run in linear
#: time: they begin at the start of a run of characters or at a mark, and never look further than they then mask.
_MASKED: Final = tuple(
    (hint, LazyPattern(pattern, flags))
    for hint, pattern, flags in (
        # Guidance that Qiongli itself put there; an unclosed block reaches to the end.
        ("<!--", r"<!--\s*qiongli:begin.*?(?:<!--\s*qiongli:end.*?-->|\Z)", re.DOTALL | re.IGNORECASE),
        ("```", r"^ {0,3}(`{3,}+)[^\n]*+\n.*?(?:^ {0,3}\1`*[ \t]*$|\Z)", re.DOTALL | re.MULTILINE),
        ("~~~", r"^ {0,3}(~{3,}+)[^\n]*+\n.*?(?:^ {0,3}\1~*[ \t]*$|\Z)", re.DOTALL | re.MULTILINE),
        # In ``quotation marks of LaTeX'' and ``others'', what stands between the two is no code.
        ("`", r"(`{1,2})(?!`)(?: (?:(?!'')[^`\n]){1,198} |(?:(?!'')[^`\n]){1,200}(?<![\s(\[-]))\1(?!`)", 0),
        ("://", r"\b(?:https?|ftps?|file|git|ssh|s3|doi)://[^\s<>\"'）】”]+", re.IGNORECASE),
        ("www.", r"\bwww\.[^\s<>\"'）】”]+", re.IGNORECASE),
        ("10.", r"\b10\.\d{4,9}/[^\s<>\"']+", 0),
        ("@", r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+", 0),
        ("/", r"(?<![\w/.])(?:~|\.{1,2})?/(?:[\w.+-]+/)+[\w.+-]*", 0),
        ("\\", r"\b[A-Za-z]:\\[^\s\"'<>|]+", 0),
    )
)

_ENDINGS: Final = r"\.(?:py|csv|tex|pdf|docx?|xlsx?|json|ya?ml|do|dta|rds?|txt|md|bib|ipynb)\b"
_FILE_ENDING: Final = LazyPattern(_ENDINGS)
_FILE: Final = LazyPattern(rf"(?<![\w./-])[\w-]{{1,128}}(?:/[\w.-]{{1,128}}){{0,16}}{_ENDINGS}")

#: How a packet of Qiongli's own begins, in its own order of keys or sorted, when a user pastes one: as JSON, as JSON
#: within a JSON text, or as Python prints it.
_OWN_PACKET: Final = LazyPattern(
    r"\{(?:\s|\\n)*\\*[\"'](?:schema_version|decision|active_subject|packets|action|after|subjects?)\\*[\"']\s*:"
)
#: What tells it from somebody else's.
_OWN_MARK: Final = LazyPattern(
    r"[\"']schema_version\\*[\"']"
    r"|[\"']decision\\*[\"']\s*:\s*\\*[\"'](?:no_subject|borrow_lens|suggest_subject|confirm_subject|lock_subject)"
)
_STRUCTURE: Final = LazyPattern(r"\\.|[\"{}]", re.DOTALL)

_HEADING: Final = (
    r"(?:references(?:[ \t]+(?:and[ \t]+notes|cited))?|bibliography|selected[ \t]+bibliography|works[ \t]+cited|"
    r"literature[ \t]+cited|cited[ \t]+literature|reference[ \t]+list|list[ \t]+of[ \t]+references|"
    r"r[ \t]eferences|主?要?[参參]考文[献獻])"
)
#: A heading on a line of its own, numbered or marked up; or, as extracted PDF text has it, one that runs on into the
#: first entry; or the environment and the command of LaTeX.
_REFERENCES: Final = LazyPattern(
    r"^[ \t]*(?:#{1,6}[ \t]*)?(?:\\(?:sub)?section\*?\{)?(?:(?:\d{1,2}(?:\.\d{1,2})?|[ivx]{1,5}|[a-z])[.)]?[ \t]+)?"
    rf"(?:\*\*|__|【)?{_HEADING}(?:\*\*|__|】)?\}}?[ \t]*:?[ \t]*#*[ \t]*(?=$|\r)"
    r"|^[ \t]*(?:\d{1,2}\.?[ \t]+)?(?-i:REFERENCES|References)[ \t]+"
    r"(?=\[1\]|1\.[ \t]|(?-i:[A-Z])[\w’'-]{1,40},[ \t]+(?-i:[A-Z])[\w.])"
    r"|\\begin\{thebibliography\}|\\bibliography\{|\\printbibliography\b",
    re.IGNORECASE | re.MULTILINE,
)
#: One of these stands in every heading of a reference list.
_REFERENCE_WORDS: Final = (
    *("eferences", "bibliography", "works cited", "works\tcited", "literature", "reference list"),
    *("考文献", "考文獻"),
)
_AFTER_REFERENCES: Final = LazyPattern(
    r"^[ \t]*(?:#{1,6}[ \t]+\S.*|(?:\*\*)?(?:(?:online|internet|supplementary)[ \t]+)?"
    r"(?:appendix|appendices|supplementary[ \t]+materials?)\b.{0,80}|附[录錄].{0,40})$"
    r"|\\end\{thebibliography\}|\\appendix\b|\\(?:sub)?section\*?\{",
    re.IGNORECASE | re.MULTILINE,
)
_YEAR: Final = LazyPattern(r"\b(?:19|20)\d\d[a-z]?\b")


def mask(text: str) -> str:
    """The text with everything that is not subject text replaced by spaces of the same length."""
    for hint, pattern in _MASKED:
        if hint in text:
            text = pattern.sub(_blank, text)
    if "." in text and _FILE_ENDING.search(text):
        text = _FILE.sub(_blank, text)
    if "schema_version" in text or "_subject" in text or "borrow_lens" in text:
        text = _without_packets(text)
    return text


def _blank(match: re.Match[str]) -> str:
    return "\n".join(" " * len(line) for line in match.group().split("\n"))


def _without_packets(text: str) -> str:
    """The text without Qiongli's own packets: the router must not convince itself."""
    marks = [match.start() for match in _OWN_MARK.finditer(text)]
    if not marks:
        return text
    parts: list[str] = []
    kept = done = 0
    for match in _OWN_PACKET.finditer(text):
        start = match.start()
        if start < done:
            continue
        done = _closing_brace(text, start)
        place = bisect_left(marks, start)
        if place == len(marks) or marks[place] >= done:
            # Somebody else's, and so is all that it holds.
            continue
        parts += (text[kept:start], "\n".join(" " * len(line) for line in text[start:done].split("\n")))
        kept = done
    return "".join((*parts, text[kept:]))


def _closing_brace(text: str, start: int) -> int:
    """One past the brace that closes the one at `start`, those within strings apart.

    In what is cut off none does: what follows cannot be told from the packet, and all of it counts as such. A decoder
    would count the lines up to each error that it meets, in a time that grows with the square of the text.
    """
    depth = 0
    in_string = False
    for match in _STRUCTURE.finditer(text, start):
        sign = match.group()
        if sign == '"':
            in_string = not in_string
        elif not in_string and sign in "{}":
            depth += 1 if sign == "{" else -1
            if depth == 0:
                return match.end()
    return len(text)


def reference_span(text: str) -> tuple[int, int] | None:
    """The half-open range of the reference list, or None.

    The last heading counts: an earlier one is a table of contents. A text that begins with the heading is a list only
    if years follow, since a task may be about references.
    """
    lowered = text.casefold()
    for word in _REFERENCE_WORDS:
        if word in lowered:
            break
    else:
        return None
    heading = None
    for heading in _REFERENCES.finditer(text):  # noqa: B007  # the last heading is the list
        pass
    if heading is None:
        return None
    after = _AFTER_REFERENCES.search(text, heading.end())
    end = after.start() if after else len(text)
    if not text[: heading.start()].strip() and sum(1 for _ in islice(_YEAR.finditer(text, heading.end()), 2)) < 2:
        return None
    return heading.start(), end
