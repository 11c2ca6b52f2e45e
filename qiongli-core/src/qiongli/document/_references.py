"""Reference lists: where in a text they stand, by their headings and by what follows these."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import islice
from typing import Final

from qiongli.patterns import LazyPattern

_NAMES: Final = (
    r"(?:(?:(?:selected|key|main|additional|literature|bibliographic(?:al)?|cited|works?)[ ]+)?"
    r"(?:references|r[ ]eferences|r[ ]e[ ]f[ ]e[ ]r[ ]e[ ]n[ ]c[ ]e[ ]s)"
    r"(?:[ ]+(?:(?:and|&)[ ]+(?:notes|further[ ]+reading)|cited|list|\(?cont(?:inued|['’]d|\.)\)?))?"
    r"|notes[ ]+(?:and|&)[ ]+references|(?:selected[ ]+|annotated[ ]+)?bibliography|works[ ]+(?:cited|consulted)"
    r"|literature[ ]+cited|cited[ ]+(?:literature|works)|reference[ ]+list|list[ ]+of[ ]+references"
    r"|(?:主[ ]*要[ ]*)?(?:[参參][ ]*考|引[ ]*用)[ ]*文[ ]*[献獻](?:[ ]+references)?|[参參]考[书書]目)"
)
_NUMBER: Final = (
    r"(?:(?:\d{1,2}(?:\.\d{1,2})?|[ivx]{1,5}|[a-z])[.)]?[ ]+|\([一二三四五六七八九十\d]{1,3}\)[ ]*"
    r"|第?[ ]*[一二三四五六七八九十\d]{1,3}(?:[ ]*[章节節、.]|[ ])[ ]*)?"
)
#: A heading on a line of its own, numbered or marked up. A page's number behind it is that of a table of contents, or
#: of the page itself.
_HEADING: Final = LazyPattern(
    r"[ ]*(?:>[ ]?)?(?:\#{1,6}[ ]*|§(?:\.§)*[ ]*|chapter:?[ ]+|<h[1-6][^<>\n]{0,100}>[ ]*)?"
    r"(?:\\(?:(?:sub){0,2}section|chapter|part|(?:sub)?paragraph)\*?[ ]*(?:\[[^\]\n]{0,80}\])?\{[ ]*)?"
    rf"(?:[*_]{{1,3}}|[【〔\[])?[ ]*{_NUMBER}(?:[*_]{{1,3}}|[【〔\[])?[ ]*{_NAMES}[ ]*[:.]?[ ]*"
    r"(?:[*_]{1,3}|[】〕\]])?[ ]*\}?[ ]*[:.]?[ ]*(?:\\[a-z]{1,30}\*?(?:\{[^}\n]{0,80}\}){0,3}[ ]*){0,4}"
    r"(?:\{[^}\n]{0,80}\})?[ ]*\#*(?:</h[1-6]>)?(?:[ .…·]*\d{1,4})?[ ]*(?=\n|\Z)",
    re.IGNORECASE,
)
#: A heading that runs on into the first entry, as extracted text has it; and what LaTeX writes for one.
_RUN_ON: Final = LazyPattern(
    r"(?:REFERENCES|References)[ ]*:?[ ]+(?=\[1\]|1\.[ ]|[A-Z][\w’'-]{1,40},[ ]+[A-Z][\w.]"
    r"|[A-Z][\w’'-]{1,40}[ ]+[A-Z]{1,3}[,.]?[ ][^\n]{0,200}?(?<!\d)(?:19|20)\d\d(?!\d))"
    r"|[参參]考文[献獻][ ]*:?[ ]*(?=\[1\])"
)
_COMMAND: Final = LazyPattern(r"\\begin\{(?:thebibliography|references\*?)\}|\\bibliography\{|\\printbibliography\b")
#: What stands before a heading that runs on: the beginning of a line or the end of a sentence.
_BEFORE: Final = LazyPattern(r"(?:\n|[.!?][ ]|。)[ ]*(?:\d{1,2}\.?[ ]+)?\Z")
#: Letters of every heading, in lower case, and how far before them a heading may begin that does not begin its line.
_LETTERS: Final[tuple[tuple[str, tuple[int, ...]], ...]] = (
    ("eference", (1, len("\\begin{r"))),
    ("bibliography", (len("\\"), len("\\print"), len("\\begin{the"))),
    ("cited", ()),
    ("consulted", ()),
    ("r e f e", ()),
)
_CHINESE: Final[tuple[tuple[str, tuple[int, ...]], ...]] = (
    ("献", (len("参考文"),)),
    ("獻", (len("参考文"),)),
    ("书目", ()),
    ("書目", ()),
)
#: What these are in full width.
_WIDE: Final = ("ｅ", "Ｅ")
#: Characters of a line before that word, and of those between a sentence's end and a heading that runs on.
_LONGEST_HEADING: Final = 120
_SHORT: Final = 8

#: What is no reference list any more: a heading in Markdown, LaTeX or HTML, an appendix, a part that papers have
#: behind their references. Ordinary words must be all that stands in their line.
_AFTER: Final = LazyPattern(
    r"^[ ]*(?:\#{1,6}[ ]+\S[^\n]*|§[^\n]*|chapter:[^\n]*|<h[1-6][^\n]*"
    r"|(?:\*\*)?(?:[a-z\d]\.?[ ]+)?(?:(?:online|internet|supplementary|technical|data)[ ]+)?"
    r"(?:appendix|appendices|supplementary[ ]+(?:materials?|information|notes?)|supporting[ ]+information)\b[^\n]{0,80}"
    r"|(?:\*\*)?(?:\d{1,2}(?:\.\d{1,2})?\.?[ ]+)?(?:(?:online|materials[ ]+and|data[ ]+and)[ ]+)?"
    r"(?:methods?|methodology|introduction|conclusions?|abstract|data[ ]+availability(?:[ ]+statement)?"
    r"|acknowledge?ments?|author[ ]+contributions|about[ ]+the[ ]+authors?|competing[ ]+interests|"
    r"tables?[ ]+and[ ]+figures|figures?[ ]+and[ ]+tables|tables|figures|endnotes|footnotes)[:.]?(?:\*\*)?"
    r"|(?:chapter|part)[ ]+(?:\d{1,2}|[ivx]{1,5})\b[^\n]{0,80}"
    r"|第[ ]*[一二三四五六七八九十\d]{1,3}[ ]*[章编編部][^\n]{0,40}"
    r"|附[ ]*[录錄件][^\n]{0,40}|致[ ]*[谢謝]|作者[简簡]介[^\n]{0,40})[ ]*$"
    r"|\\end\{(?:thebibliography|references\*?)\}|\\appendix\b|\\(?:(?:sub){0,2}section|chapter|part)\*?\{",
    re.IGNORECASE | re.MULTILINE,
)
_LASTING: Final = LazyPattern(r"[^\n]{0,30}(?:appendi|supplement|supporting|附)|\\end", re.IGNORECASE)
_YEAR: Final = LazyPattern(r"(?<!\d)(?:1[89]|20)\d\d[a-z]?(?![\da-z])")
#: How an entry begins: a mark in brackets, or perhaps another mark and an author; a year follows soon.
_ENTRY: Final = LazyPattern(
    r"[ ]*(?:\[[\w+, -]{1,30}\]|\\bibitem|@\w{1,20}\{|(?:[-*•–·][ ]+|\(?\d{1,3}[.)、][ ]*)?(?:"
    r"(?:[^\W\da-z_]\.[ -]?){1,3}[ ]?[^\W\da-z_]\w"
    r"|(?:(?:de|da|van|von|der|den|del|la|le|al|el)[ -]){0,2}[^\W\da-z_][\w’'-]{1,40}"
    r"(?:,[ ]+[^\W\da-z_]|[ ]+[A-Z]{1,3}[,.( ]|(?:[ -](?:(?:of|for|and|the|on)[ ])?[^\W\da-z_][\w’'-]{1,40}){0,5}"
    r"(?:,?[ ]*\((?=\d{4})|,[ ]+(?=\d{4})|\.[ ]))"
    r"|[\u4e00-\u9fff]{2,4}(?:[,、 ]+[\u4e00-\u9fff]{2,4}){0,5},?(?:[ ]?等)?[ ]*[.(:]))"
)
#: Characters from the beginning of an entry within which its year stands.
_ENTRY_LENGTH: Final = 300
_CONTENTS: Final = LazyPattern(r"(?:[^\n]{0,80}(?:[ ]{2,}|[.…·]{2,}[ ]*)|\d[^\n]{2,60}[ ])\d{1,3}\Z")
_PARAGRAPH: Final = LazyPattern(r"\n[ ]*\n\s*")
#: Words that sentences have and titles hardly: three of them for each entry make a paragraph prose.
_SENTENCE_WORD: Final = LazyPattern(
    r"\b(?:we|our|is|are|was|were|has|have|that|this|which|these|not|it|they)\b", re.IGNORECASE
)
_PROSE_WORDS: Final = 3
#: How somebody begins who speaks to the reader: one such paragraph is prose, however short.
_SPEECH: Final = LazyPattern(
    r"(?:please|keep|do|don['’]t|treat|stay|leave|note|now|i|we|this|the[ ]above)\b|[请請不勿别別以我本]", re.IGNORECASE
)

#: White space that lines hold, marks in full width, and the ends of lines, as a character each.
_PLAIN: Final = {
    **dict.fromkeys((9, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000), " "),
    **dict.fromkeys((0x0B, 0x0C, 0x0D, 0x1C, 0x1D, 0x1E, 0x85, 0x2028, 0x2029), "\n"),
    **{code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},
    **dict.fromkeys((0x3002, 0xFF61), "。"),
}
_NOT_PLAIN: Final = LazyPattern(
    "[\t\v\f\r\x1c-\x1e\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\uff01-\uff5e\uff61]"
)
#: Characters that no reader sees.
_INVISIBLE: Final = LazyPattern("[\xad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")


def find_lists(text: str, *, one_line: bool = False) -> tuple[tuple[int, int], ...]:
    """The half-open ranges of the reference lists, in their order; in one line, only a heading that runs on counts.

    Every heading counts that entries follow, and the last one also without them, unless prose follows it or it stands
    in a table of contents. A text that begins with the heading is a list only if years follow, since a task may be
    about references. A list ends at an appendix, at another heading, and at a paragraph of prose behind its last entry.
    """
    ascii_only = text.isascii()
    lowered = (text if ascii_only else text.encode("ascii", "ignore").decode("ascii")).lower()
    # What economists are fond of is no heading.
    named = lowered.count("eference") > lowered.count("preference")
    named = named or (not (one_line and ascii_only) and any(letters in lowered for letters, _ in _LETTERS[1:]))
    if not named and (ascii_only or not any(letters in text for letters in (*dict(_CHINESE), *_WIDE))):
        return ()
    removed: list[int] = []
    if not ascii_only:
        removed = [match.start() for match in _INVISIBLE.finditer(text)]
        if removed:
            text = _INVISIBLE.sub("", text)
    if _NOT_PLAIN.search(text) is not None:
        text = text.translate(_PLAIN)
    spans: list[tuple[int, int]] = []
    for start, end in _lists(text):
        if spans and spans[-1][1] == start:
            start = spans.pop()[0]
        spans.append((start, end))
    if not removed:
        return tuple(spans)
    # Where each invisible character stood, in the text without them.
    places = [place - number for number, place in enumerate(removed)]
    return tuple((start + bisect_left(places, start), end + bisect_left(places, end)) for start, end in spans)


def _lists(text: str) -> Iterator[tuple[int, int]]:
    """The lists of a text in plain characters; one that goes on under another heading is given in parts."""
    headings = list(_headings(text))
    if not headings:
        return
    places = [match.start() for match in _AFTER.finditer(text, headings[0][1]) if _ends_list(text, match)]
    beginning = len(text) - len(text.lstrip())
    done = -1
    for number, (start, stop, sure) in enumerate(headings):
        following = headings[number + 1][0] if number + 1 < len(headings) else len(text)
        place = bisect_left(places, stop)
        end = min(following, places[place]) if place < len(places) else following
        # Where a list reaches up to a heading, this is the head of its next page.
        if start != done and not sure:
            if start <= beginning < stop:
                years = islice(_YEAR.compiled.finditer(text, stop, end), 2)
                sure = sum(1 for _ in years) == 2
            else:
                last = number + 1 == len(headings) and not _in_contents(text, start, stop)
                sure = _begins_entry(text, stop, end) or (last and _may_be_list(text, stop, end))
            if not sure:
                continue
        done = _end(text, stop, end)
        yield start, done


def _headings(text: str) -> Iterator[tuple[int, int, bool]]:
    """Where headings begin and end, and whether they are sure to begin a list."""
    done = 0
    for place, back in _places(text):
        if place < done:
            continue
        lowest = max(0, place - _LONGEST_HEADING)
        line = text.rfind("\n", lowest, place) + 1
        match = _HEADING.match(text, line) if line or not lowest else None
        if match is not None and match.end() > place:
            done = match.end()
            yield line, done, False
            continue
        for start in [place - number for number in back if number <= place]:
            match = _COMMAND.match(text, start)
            if match is None and (match := _RUN_ON.match(text, start)) is not None:
                before = text[max(0, start - _SHORT) : start]
                if _BEFORE.search(before if start > _SHORT else f"\n{before}") is None:
                    continue
            if match is not None:
                done = match.end()
                yield start, done, True
                break


def _places(text: str) -> list[tuple[int, tuple[int, ...]]]:
    """Where the letters of headings stand, in order, and how far before them headings may begin."""
    lowered = text.lower()
    if len(lowered) != len(text):
        # A letter of another alphabet has a longer small form.
        lowered = "".join(letter.lower() if letter.isascii() else letter for letter in text)
    found = []
    for letters, back in _LETTERS if text.isascii() else _LETTERS + _CHINESE:
        place = lowered.find(letters)
        while place >= 0:
            found.append((place, back))
            place = lowered.find(letters, place + len(letters))
    found.sort()
    return found


def _ends_list(text: str, match: re.Match[str]) -> bool:
    """Whether no list goes on below a heading: one of its parts may have a heading, too."""
    return _LASTING.match(text, match.start()) is not None or not _begins_entry(text, match.end(), len(text), lines=1)


def _begins_entry(text: str, place: int, end: int, lines: int = 3) -> bool:
    """Whether an entry begins in one of the first lines that are not blank."""
    end = min(end, place + 1_000)
    for _ in range(lines):
        while place < end and text[place].isspace():
            place += 1
        if _is_entry(text, place, end):
            return True
        place = text.find("\n", place, end)
        if place < 0:
            return False
    return False


def _is_entry(text: str, place: int, end: int) -> bool:
    """Whether what begins there is an entry."""
    return _ENTRY.match(text, place) is not None and (
        _YEAR.search(text, place, min(end, place + _ENTRY_LENGTH)) is not None
    )


def _in_contents(text: str, start: int, stop: int) -> bool:
    """Whether a heading, or the line before or behind it, ends in the number of a page."""
    before = text[max(0, start - 200) : start].rstrip().rpartition("\n")[2]
    behind = text[stop : stop + 200].lstrip().partition("\n")[0]
    heading = text[start:stop].rstrip()
    return heading[-1:].isdigit() or any(_CONTENTS.match(line.rstrip()) is not None for line in (before, behind))


def _may_be_list(text: str, start: int, end: int) -> bool:
    """Whether entries stand somewhere, or if there are none that we know, whether there are years or no sentences."""
    if _count_entries(text, start, end):
        return True
    years = sum(1 for _ in _YEAR.compiled.finditer(text, start, end))
    return (years > 1 and years * _ENTRY_LENGTH >= end - start) or not _is_prose(text[start:end], 0)


def _end(text: str, start: int, end: int) -> int:
    """Where a list ends that may reach to `end`: before the first prose that no entry follows."""
    prose = end
    entries = False
    place = start
    while place < end:
        gap = _PARAGRAPH.search(text, place, end)
        stop = gap.start() if gap is not None else end
        number = _count_entries(text, place, stop)
        if _is_prose(text[place:stop], number):
            prose = min(prose, place) if entries else prose
        elif number:
            entries, prose = True, end
        place = gap.end() if gap is not None else end
    return prose


def _count_entries(text: str, place: int, stop: int) -> int:
    """The lines of a paragraph that begin an entry."""
    number = 0
    while place < stop:
        number += _is_entry(text, place, stop)
        line = text.find("\n", place, stop)
        if line < 0:
            break
        place = line + 1
    return number


def _is_prose(paragraph: str, entries: int) -> bool:
    """Whether a paragraph in which so many lines begin like entries has sentences rather than these."""
    enough = _PROSE_WORDS * max(entries, 1)
    words = sum(1 for _ in islice(_SENTENCE_WORD.finditer(paragraph), enough))
    if words == enough or paragraph.count("。") > max(enough * bool(entries), 1):
        return True
    return not entries and _SPEECH.match(paragraph.lstrip()) is not None
