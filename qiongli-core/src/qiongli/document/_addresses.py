"""Addresses in a text: of the web, of mail, of files, and the names that things have in programs and citations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from qiongli.document._blank import blank_match, without_spans
from qiongli.patterns import LazyPattern

#: What no address goes on with: white space, quotation marks, brackets, and Chinese, which runs on without a space.
_BEYOND: Final = r"\s<>\"'）】”\u3000-\u9fff\uff00-\uffef"
#: For each kind of address, a sign and a text without which it does not occur, and its pattern. All of them run in
#: linear time: they begin at the start of a run of characters or at a mark, and look no further than they then blank.
_ADDRESSES: Final = tuple(
    (hint[0], hint, LazyPattern(pattern, re.IGNORECASE | re.ASCII))
    for hint, pattern in (
        ("://", rf"\b(?:https?|ftps?|file|git|ssh|s3|doi)://[^{_BEYOND}]+"),
        ("10.", rf"\b10\.\d{{4,9}}/[^{_BEYOND}]+"),
        ("@", r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+"),
        # A key of a citation in Markdown.
        ("@", r"(?<![\w.+-])@[a-z][\w:.#$%&+?~/-]{0,127}"),
        ("\\", r"\b[a-z]:\\[^\s\"'<>|\u3000-\u9fff\uff00-\uffef]+"),
        # A share, a path from here, and one of three names or more.
        ("\\", r"(?<![\w\\])\\\\\w[\w.$-]*+(?:\\[\w.$-]++)++\\?"),
        ("\\", r"(?<![\w.\\])\.{1,2}(?:\\\w[\w.-]*+)++\\?"),
        ("\\", r"(?<![\w\\])\w[\w-]{0,127}(?:\\\w[\w.-]*+){2,}+\\?"),
    )
)
_WWW: Final = LazyPattern(rf"\bwww\.[^{_BEYOND}]+", re.IGNORECASE | re.ASCII)
_ENDINGS: Final = r"\.(?:py|csv|tex|pdf|docx?|xlsx?|json|ya?ml|do|dta|rds?|txt|md|bib|ipynb)(?![A-Za-z0-9_])"
_FILE_ENDING: Final = LazyPattern(_ENDINGS)
#: A name of letters, or one of Han; a sentence of Han may stand before a name of letters.
_LETTER: Final = r"[^\W\u3040-\u9fff]"
_FILE: Final = LazyPattern(
    rf"(?:(?<!{_LETTER})(?<![./-])(?:{_LETTER}|-){{1,128}}(?:/(?:{_LETTER}|[.-]){{1,128}}){{0,16}}"
    rf"|(?<![\u4e00-\u9fff])[\u4e00-\u9fff]{{1,30}}){_ENDINGS}"
)

_DIMENSION: Final = (
    r"\.(?:method|data-or-outcome|venue|theory-or-construct|classification|vocabulary|suppressor)\.[a-z0-9][a-z0-9-]*"
)
#: The ids of signals, which packets and explanations name.
_SIGNAL_ID_END: Final = LazyPattern(_DIMENSION)
_SIGNAL_ID: Final = LazyPattern(rf"\b[a-z][a-z0-9-]*{_DIMENSION}", re.ASCII)

#: Characters of the names in a path; Han would run into the sentence around it.
_PATH_CHARACTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-+~%$")
_SLASHED: Final = LazyPattern(r"(?:/[A-Za-z0-9_.+~%$-]*)+(?:[?#][^\s\"'<>()\u3000-\u9fff\uff00-\uffef]*)?")
#: Characters before a slash that are looked at.
_LONGEST_NAME: Final = 128
_HOST: Final = LazyPattern(
    r"(?:[A-Za-z0-9-]{1,63}\.){1,5}(?:com|org|net|edu|gov|int|info|io|ai|dev|app|me|co|eu|uk|de|fr|nl|be|it|es|ch|at|se"
    r"|no|dk|fi|pl|ru|cn|hk|tw|jp|kr|in|sg|au|nz|ca|us|br|mx|za)(?::\d{1,5})?\Z",
    re.IGNORECASE,
)
#: Names that only folders have, and names that folders often have: one of the first or two of the second, or one of
#: them and a number, make what slashes join a path and no enumeration.
_FOLDERS: Final = frozenset(
    {
        *("src", "lib", "bin", "dist", "dataset", "datasets", "cleaned", "processed", "interim"),
        *("fig", "figs", "docs", "script", "scripts", "notebooks", "logs", "tmp", "temp", "usr", "var", "opt"),
        *("mnt", "downloads", "desktop", "dropbox", "config"),
    }
)
_PERHAPS_FOLDERS: Final = frozenset(
    {
        *("data", "clean", "input", "inputs", "output", "outputs", "out", "result", "results", "figure", "figures"),
        *("table", "tables", "doc", "test", "tests", "code", "log", "home", "users", "user", "drive", "documents"),
        *("projects", "project", "papers", "drafts", "draft", "appendix", "replication", "archive", "models"),
        *("static", "raw", "root", "build"),
    }
)


def without_addresses(text: str) -> str:
    """The text without addresses, paths, names of files, and ids of signals."""
    for sign, hint, pattern in _ADDRESSES:
        if sign in text and hint in text:
            text = pattern.sub(blank_match, text)
    if "www." in text:
        text = _WWW.sub(blank_match, text)
    if "/" in text:
        text = without_spans(text, _paths(text))
    if "." in text:
        if _FILE_ENDING.search(text):
            text = _FILE.sub(blank_match, text)
        if _SIGNAL_ID_END.search(text):
            text = _SIGNAL_ID.sub(blank_match, text)
    return text


def _paths(text: str) -> Iterator[tuple[int, int]]:
    """What slashes join and is a path or an address; "and/or" and "stocks/bonds" are neither."""
    place = text.find("/")
    while place >= 0:
        start = place
        lowest = max(0, place - _LONGEST_NAME)
        while start > lowest and text[start - 1] in _PATH_CHARACTERS:
            start -= 1
            # The number of a port stands behind the name of a host.
            if text[start - 1 : start] == ":" and text[start:place].isdigit():
                start -= 1
        match = _SLASHED.match(text, place)
        assert match is not None
        end = match.end()
        if _is_path(text[start:place], text[place:end]):
            yield start, end
        place = text.find("/", end)


def _is_path(first: str, rest: str) -> bool:
    """Whether what stands before the first slash and what begins with it are a path or an address."""
    names = rest.rstrip(".,;:").split("/")[1:]
    if first.lstrip(".~") == "":
        # From the root, from home or from here; "/or" alone is neither.
        return bool(first) or len(names) > 1
    if "." in first and _HOST.match(first):
        return True
    if "_" in first or "_" in rest:
        return True
    if len(names) < 2:
        return False
    plain = [name.casefold() for name in (first, *names)]
    if not _FOLDERS.isdisjoint(plain):
        return True
    perhaps = sum(name in _PERHAPS_FOLDERS for name in plain)
    return perhaps > 1 or (perhaps == 1 and any(name.isdigit() for name in plain))
