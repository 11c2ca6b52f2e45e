"""Reading files: text, Markdown, LaTeX, BibTeX, DOCX, PDF and JSON task packets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from qiongli.errors import EnvironmentBrokenError, InputError


def read_file(path: Path, *, limit: int = 64 * 1_048_576) -> Mapping[str, object]:
    """The task packet in a file, by its ending; `limit` is in bytes of the file.

    Raises `InputError` (`file_not_found`, `undecodable`, `input_too_large`, `unreadable_file`) and
    `EnvironmentBrokenError` (`missing_extra`) when the library for a format is not installed.
    """
    try:
        data = path.read_bytes() if path.stat().st_size <= limit else None
    except OSError as error:
        raise InputError(f"the file cannot be read: {error.strerror}", code="file_not_found", place=str(path)) from None
    if data is None:
        raise InputError("the file is too large", code="input_too_large", place=str(path), expected=f"{limit} bytes")
    ending = path.suffix.casefold()
    if ending == ".docx":
        return {"draft": _docx(path)}
    if ending == ".pdf":
        return {"draft": _pdf(path)}
    text = decode(data, str(path))
    if ending == ".json":
        packet = parse_packet_text(text)
        if packet is None:
            raise InputError("the file holds no task packet", code="invalid_task_packet", place=str(path))
        return packet
    return {"draft": text}


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


def _missing(extra: str, place: Path) -> EnvironmentBrokenError:
    return EnvironmentBrokenError(
        f"reading {extra} files needs an extra",
        code="missing_extra",
        place=str(place),
        hint=f'Run: python -m pip install "qiongli-core[{extra}]"',
    )


def _docx(path: Path) -> str:
    try:
        import docx
    except ImportError:
        raise _missing("docx", path) from None
    try:
        return "\n".join(paragraph.text for paragraph in docx.Document(str(path)).paragraphs)
    except Exception as error:  # the library raises many kinds on a damaged file
        raise InputError(f"no readable DOCX: {error}", code="unreadable_file", place=str(path)) from None


def _pdf(path: Path) -> str:
    try:
        import pypdf
    except ImportError:
        raise _missing("pdf", path) from None
    try:
        return "\n".join(page.extract_text() for page in pypdf.PdfReader(path).pages)
    except Exception as error:  # the library raises many kinds on a damaged file
        raise InputError(f"no readable PDF: {error}", code="unreadable_file", place=str(path)) from None
