"""How commands print: one JSON document on standard output, or plain text; messages go to standard error."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from qiongli.errors import QiongliError
from qiongli.records._units import to_json

if TYPE_CHECKING:
    from qiongli.plugins import HookCaller


#: What a terminal acts upon rather than shows: control characters but for line ends and tabs, and marks that turn the
#: direction of writing. Their escapes are, inside a JSON string, the same characters.
_ACTED_UPON: Final = {
    code: f"\\u{code:04x}"
    for code in (*range(9), 11, 12, *range(14, 32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
}


def harmless(text: str) -> str:
    """The text with everything escaped that would act upon the terminal: a file of a project may hold anything."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\\u000d")
    return text.translate(_ACTED_UPON)


def write(text: str) -> None:
    """Write text and a newline to standard output in UTF-8, whatever the locale.

    A lone surrogate is written as its backslash escape, which inside a JSON string is the same character.
    """
    if not text.endswith("\n"):
        text += "\n"
    data = harmless(text).encode("utf-8", "backslashreplace")
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:
        sys.stdout.write(data.decode("utf-8"))
    else:
        sys.stdout.flush()
        buffer.write(data)
    sys.stdout.flush()


def message(text: str) -> None:
    """Write a line for the person at the terminal to standard error."""
    data = (harmless(text.rstrip("\n")) + "\n").encode("utf-8", "backslashreplace")
    buffer = getattr(sys.stderr, "buffer", None)
    if buffer is None:
        sys.stderr.write(data.decode("utf-8"))
    else:
        sys.stderr.flush()
        buffer.write(data)
    sys.stderr.flush()


def emit(packet: Mapping[str, object], text: str, as_json: bool) -> None:
    """Print the packet as one JSON document, or the text."""
    write(to_json(packet) if as_json else text)


#: Arguments of the library that are flags here: an error about one names it as its caller gave it.
_FLAGS: Final = frozenset({"cwd", "keep", "budget"})


def emit_error(error: QiongliError, as_json: bool) -> None:
    """Print an error: JSON on standard output under `--json`, else text on standard error."""
    place = f"--{error.place}" if error.place in _FLAGS else error.place
    if as_json:
        packet = error.to_packet()
        if isinstance(facts := packet["error"], dict):
            facts["place"] = place
        write(to_json(packet))
        return
    lines = [f"error[{error.code}]: {place + ': ' if place else ''}{error.message}"]
    if error.expected:
        lines.append(f"  expected: {error.expected}")
    if error.available:
        lines.append(f"  available: {', '.join(error.available)}")
    for problem in getattr(error, "problems", ()):
        lines.append(f"  {problem.place + ': ' if problem.place else ''}{problem.message} [{problem.code}]")
        if problem.expected:
            lines.append(f"    expected: {problem.expected}")
        if problem.hint:
            lines.append(f"    hint: {problem.hint}")
    if error.hint:
        lines.append(f"  hint: {error.hint}")
    message("\n".join(lines))


def say_what_failed(hooks: HookCaller | None) -> None:
    """Name every plugin that failed, on standard error: the packet is the same whatever failed."""
    for failure in hooks.failures if hooks is not None else ():
        message(
            f"warning: a plugin of {failure.distribution} failed ({failure.hook}): {failure.message}. "
            f"To keep it out: qiongli plugins block {failure.distribution}"
        )


def table(headings: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """Lay out rows under headings in columns; double-width characters count as two."""
    cells = [headings, *rows]
    widths = [max(_width(row[column]) for row in cells) for column in range(len(headings))]
    lines = []
    for row in cells:
        padded = (cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=True))
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    from unicodedata import east_asian_width

    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)
