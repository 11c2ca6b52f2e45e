"""Reading files: text, Markdown, LaTeX, BibTeX, DOCX, PDF and JSON task packets."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Final, TypeVar

from qiongli.errors import EnvironmentBrokenError, InputError

_Result = TypeVar("_Result")

#: Bytes that a file may have.
FILE_LIMIT: Final = 64 * 1_048_576
#: Bytes that a LaTeX or BibTeX source may have: parsing takes seconds a mebibyte, and a packet holds one.
SOURCE_LIMIT: Final = 2 * 1_048_576
#: Characters after which a PDF is not read on: a packet holds a mebibyte.
TEXT_LIMIT: Final = 4 * 1_048_576

#: How files of other kinds begin, and what they are.
_SIGNATURES: Final = (
    (b"%PDF-", "a PDF", ".pdf"),
    (b"PK\x03\x04", "a ZIP archive, such as a DOCX", ".docx"),
    (b"\xd0\xcf\x11\xe0", "an old Word document", "save it as .docx"),
)


def read_file(path: Path, *, limit: int = FILE_LIMIT) -> Mapping[str, object]:
    """The task packet in a file, by its ending; `limit` is in bytes of the file.

    `.md`: front matter is no text, its title is. `.tex`: title, abstract and draft. `.bib`: titles, abstracts,
    keywords and venues. `.docx`: paragraphs and tables in their order. `.pdf`: the text of its pages. `.json`: a task
    packet. Everything else is plain text.

    Raises `InputError` (`file_not_found`, `undecodable`, `input_too_large`, `unreadable_file`,
    `invalid_task_packet`) and `EnvironmentBrokenError` (`missing_extra`) when the library for a format is missing.
    """
    try:
        with path.open("rb") as file:
            data = read_bounded(file, str(path), limit=limit)
    except OSError as error:
        raise InputError(
            f"the file cannot be read: {error.strerror}",
            code="file_not_found",
            place=str(path),
            expected="a file that exists and may be read",
            hint="Check the path",
        ) from None
    ending = path.suffix.casefold()
    if ending == ".docx":
        return {"draft": _parsed("docx", path, lambda: _docx(data, path, limit))}
    if ending == ".pdf":
        return {"draft": _parsed("pdf", path, lambda: _pdf(data, path))}
    for signature, what, instead in _SIGNATURES:
        if data.startswith(signature):
            raise InputError(
                f"the file is {what}, not {ending or 'text'}",
                code="unreadable_file",
                place=str(path),
                hint=f"Give it the right ending: {instead}",
            )
    text = decode(data, str(path))
    if ending in (".tex", ".bib") and len(data) > SOURCE_LIMIT:
        raise _too_large(path, SOURCE_LIMIT)
    if ending in (".tex", ".ltx"):
        return _parsed("latex", path, lambda: _tex(text))
    if ending == ".bib":
        return _parsed("bibtex", path, lambda: _bib(text, path))
    if ending == ".json":
        packet = parse_packet_text(text)
        if packet is None:
            raise InputError("the file holds no task packet", code="invalid_task_packet", place=str(path))
        return packet
    if ending in (".md", ".markdown", ".qmd", ".rmd"):
        return _markdown(text)
    return {"draft": text}


def read_bounded(stream: BinaryIO, place: str, *, limit: int = FILE_LIMIT) -> bytes:
    """All bytes of a stream; raises `InputError` (`input_too_large`) as soon as there are more than the limit.

    What a system says of a size is no bound: pipes and devices have none.
    """
    data = stream.read(limit + 1)
    if len(data) > limit:
        raise _too_large(place, limit)
    return data


def decode(data: bytes, place: str) -> str:
    """UTF-8 with or without a byte order mark, or UTF-16 with one; raises `InputError` (`undecodable`)."""
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise InputError(
            f"the bytes at {error.start} are no UTF-8", code="undecodable", place=place, hint="Save it as UTF-8"
        ) from None


def parse_packet_text(text: str) -> Mapping[str, object] | None:
    """The JSON task packet that a text is, or None when it is none."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        packet = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return packet if isinstance(packet, dict) else None


def _too_large(place: Path | str, limit: int) -> InputError:
    return InputError(
        "there are more bytes than may be read, or it unfolds to more",
        code="input_too_large",
        place=str(place),
        expected=f"at most {limit} bytes",
        hint="Give the abstract only",
    )


def _parsed(extra: str, path: Path, parse: Callable[[], _Result]) -> _Result:
    """What a library makes of a file; a missing library and every fault of a damaged file become errors of ours."""
    try:
        with _quiet():
            return parse()
    except ImportError:
        raise EnvironmentBrokenError(
            f"reading {path.suffix} files needs an extra",
            code="missing_extra",
            place=str(path),
            hint=f'Run: python -m pip install "qiongli-core[{extra}]"',
        ) from None
    except InputError:
        raise
    except Exception as error:  # the libraries raise many kinds on a damaged file
        raise InputError(
            f"no readable {path.suffix} file ({type(error).__name__})", code="unreadable_file", place=str(path)
        ) from None


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the libraries from logging about damaged files; ours is the one error that the user sees."""
    loggers = [logging.getLogger(name) for name in ("pypdf", "pylatexenc", "bibtexparser")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


_FRONT_MATTER: Final = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*\r?$", re.DOTALL | re.MULTILINE)
_FRONT_FIELD: Final = re.compile(r"^(title|abstract|keywords):[ \t]+(?![|>{&*!])(\S.*?)[ \t]*\r?$", re.MULTILINE)


def _markdown(text: str) -> dict[str, str]:
    from qiongli.document._own import is_skill

    matter = _FRONT_MATTER.match(text)
    if matter is None or is_skill(matter.group(1)):
        # Of a skill, the front matter is what tells it.
        return {"draft": text}
    fields = {name: value.strip("\"'[]") for name, value in _FRONT_FIELD.findall(matter.group(1))}
    return {**fields, "draft": text[matter.end() :]}


def _tex(text: str) -> dict[str, str]:
    from qiongli.document._latex import latex_packet

    return latex_packet(text)


def _bib(text: str, path: Path) -> dict[str, list[str]]:
    from qiongli.document._bibtex import bibtex_packet

    packet = bibtex_packet(text)
    if not packet:
        raise InputError("the file holds no readable entry", code="unreadable_file", place=str(path))
    return packet


def _docx(data: bytes, path: Path, limit: int) -> str:
    from zipfile import ZipFile

    import docx
    from docx.table import Table

    # A small archive may unfold to anything; the library reads all of it.
    with ZipFile(BytesIO(data)) as archive:
        if sum(entry.file_size for entry in archive.infolist()) > 2 * limit:
            raise _too_large(path, limit)
    lines: list[str] = []
    for block in docx.Document(BytesIO(data)).iter_inner_content():
        if isinstance(block, Table):
            for row in block.rows:
                # A merged cell is given once for every column that it spans.
                cells = {id(cell._tc): cell.text for cell in row.cells}
                lines.append("\t".join(cells.values()))
        else:
            lines.append(block.text)
    return "\n".join(lines)


def _pdf(data: bytes, path: Path) -> str:
    import pypdf

    pages: list[str] = []
    length = 0
    for page in pypdf.PdfReader(BytesIO(data)).pages:
        pages.append(page.extract_text())
        length += len(pages[-1])
        if length > TEXT_LIMIT:
            raise _too_large(path, TEXT_LIMIT)
    text = "\n".join(pages)
    if not text.strip():
        raise InputError(
            "the PDF holds no text",
            code="unreadable_file",
            place=str(path),
            hint="It may be a scan: recognise its text first, or give the abstract",
        )
    return text
