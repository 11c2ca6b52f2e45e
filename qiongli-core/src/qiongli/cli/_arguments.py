"""What an argument of `qiongli route` or `qiongli task run` is: a text, a file, standard input, or a wrong name."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import Any, Final

from qiongli.errors import InputError

#: Endings of the files that are read, and of others that a task may be in: what ends so is the name of a file.
_ENDINGS: Final = frozenset(
    {
        *("txt", "md", "markdown", "qmd", "rmd", "rst", "tex", "ltx", "bib", "docx", "pdf", "json"),
        *("doc", "rtf", "odt", "htm", "html", "xml", "jsonl", "yaml", "yml", "csv", "tsv", "ipynb", "epub", "ps"),
    }
)
#: Most characters of a path and of one name in it.
_LONGEST_PATH: Final = 4096
_LONGEST_NAME: Final = 255
#: From here on are scripts that write no spaces between words, so that their prose may be one token.
_WITHOUT_SPACES: Final = "\N{THAI CHARACTER KO KAI}"
_NEVER_IN_NAMES: Final = frozenset('<>|"{}\0')


def tasks_of(
    inputs: list[str], texts: list[str], files: list[Path], cwd: Path | None = None
) -> list[dict[str, Any] | str]:
    """The tasks of a command line, in the order: arguments, texts, files.

    `cwd` is the project's folder, for the hint when a file lies there and not where the shell is. Raises `InputError`
    (`file_not_found`) for an argument that is the name of no file, and as reading files does.
    """
    if not inputs and not texts and not files:
        raise InputError(
            "nothing to route",
            code="usage",
            expected="a text, a file, or - for standard input",
            hint='Try: qiongli route "..."',
        )
    return [*(_task(argument, cwd) for argument in inputs), *texts, *(_read(path) for path in files)]


def read_task(argument: str | None, file: Path | None, text: str | None, cwd: Path | None) -> dict[str, Any] | str:
    """One task: an argument as `tasks_of` reads it, a file or a text; nothing at all stands for standard input."""
    if sum(given is not None for given in (argument, file, text)) > 1:
        raise InputError("give one task: an argument, --file or --text", code="usage")
    if file is not None:
        return _read(file)
    if text is not None:
        return text
    if argument is None and sys.stdin.isatty():
        raise InputError("no task is given", code="usage", expected="a text, a file, or a task on standard input")
    return _standard_input() if argument is None else _task(argument, cwd)


def _task(argument: str, cwd: Path | None) -> dict[str, Any] | str:
    if argument == "-":
        return _standard_input()
    kind = _kind(argument)
    if kind == "file":
        return _read(Path(argument))
    if kind == "folder" or looks_like_file(argument):
        raise _no_file(argument, cwd, is_folder=kind == "folder")
    return argument


def _kind(argument: str) -> str:
    """`file` for what can be read, `folder`, or nothing."""
    if len(argument) >= _LONGEST_PATH or "\n" in argument:
        return ""
    try:
        mode = os.stat(argument).st_mode  # noqa: PTH116  # a path object would drop the slash at the end
    except (OSError, ValueError):
        # A text that is no possible path, such as one with a null character, is no file either.
        return ""
    # A pipe is what a shell makes of <(command).
    return "file" if stat.S_ISREG(mode) or stat.S_ISFIFO(mode) else "folder" if stat.S_ISDIR(mode) else ""


def looks_like_file(text: str) -> bool:
    """Whether a text that names no file is more likely a mistaken name than words to route.

    That is: it ends as files do; or it is a single token with a separator in it; or it begins as paths do, or with a
    folder that exists. Words that end in an address of the web are words.
    """
    text = text.strip()
    separators = {os.sep, os.altsep or os.sep}
    several = len(text.split()) > 1
    if not text or len(text) >= _LONGEST_PATH or "\n" in text or len(os.path.basename(text)) > _LONGEST_NAME:  # noqa: PTH119
        return False
    if several and ("://" in text or len(text) > _LONGEST_NAME):
        return False
    name, dot, ending = text.rpartition(".")
    if dot and ending.casefold() in _ENDINGS and not name[-1:].isspace():
        return True
    if not separators.intersection(text) or _NEVER_IN_NAMES.intersection(text):
        return False
    if text.startswith(tuple(f"{dots}{separator}" for dots in (".", "..", "~") for separator in separators)):
        return True
    if not several and max(text) < _WITHOUT_SPACES:
        return True
    parent = os.path.dirname(text.rstrip("".join(separators)))  # noqa: PTH120
    return parent.strip("".join(separators)) != "" and os.path.isdir(parent)  # noqa: PTH112


def _no_file(argument: str, cwd: Path | None, *, is_folder: bool) -> InputError:
    if is_folder:
        message, hint = f"{argument!r} is a folder, not a file", "Name a file in it, or the project with --cwd"
    else:
        near = _near(argument, cwd)
        message = f"there is no file {argument!r} here"
        hint = f"Did you mean {near}? Names" if near else "Names"
        hint += " count from the folder of the shell"
    return InputError(
        message,
        code="file_not_found",
        expected="a file, a text, or - for standard input",
        hint=f"{hint}; to route the words themselves use --text",
    )


def _near(argument: str, cwd: Path | None) -> str:
    """A file that may have been meant: of that name in the project, or of a like name in the same folder."""
    from difflib import get_close_matches
    from itertools import islice

    path = Path(argument)
    try:
        if cwd is not None and (cwd / path).is_file():
            return str(cwd / path)
        names = sorted(entry.name for entry in islice(path.parent.iterdir(), 1000) if entry.is_file())
    except (OSError, ValueError):
        return ""
    return next((str(path.with_name(name)) for name in get_close_matches(path.name, names, n=1)), "")


def _read(path: Path) -> dict[str, Any]:
    from qiongli.document.formats import read_file

    return dict(read_file(path))


def _standard_input() -> dict[str, Any] | str:
    from qiongli.document.formats import decode, parse_packet_text, read_bounded

    buffer = getattr(sys.stdin, "buffer", None)
    place = "standard input"
    text = decode(read_bounded(buffer, place), place) if buffer is not None else sys.stdin.read()
    parsed = parse_packet_text(text)
    return text if parsed is None else dict(parsed)
