"""A progress bar on standard error: only for a terminal, and only while there is something to wait for."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from time import monotonic
from typing import Final

_WIDTH: Final = 24
_EVERY_SECONDS: Final = 0.1


class ProgressBar:
    """Draws `done` of `total` on one line, and clears it at the end; nothing at all where nobody watches."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._shown = sys.stderr.isatty() and os.environ.get("TERM") != "dumb" and not os.environ.get("CI")
        self._last = 0.0
        self._drawn = False

    def __call__(self, done: int, total: int) -> None:
        """Draw, at most ten times a second."""
        self.draw(done, total, f"{done}/{total}")

    def draw(self, done: int, total: int, text: str) -> None:
        """Draw a share with a text beside it."""
        now = monotonic()
        if not self._shown or (now - self._last < _EVERY_SECONDS and done < total):
            return
        self._last = now
        filled = _WIDTH * done // total if total else _WIDTH
        sys.stderr.write(f"\r\033[K{self._label} [{'#' * filled}{'.' * (_WIDTH - filled)}] {text}")
        sys.stderr.flush()
        self._drawn = True

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._drawn:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()

    def rows(self) -> Callable[[int, int, int], None]:
        """The form that a corpus tells: rows, bytes read, bytes in all."""
        started = monotonic()

        def tell(rows: int, done: int, total: int) -> None:
            seconds = monotonic() - started
            self.draw(done, total, f"{rows} rows, {rows / seconds:.0f} a second" if seconds > 0 else f"{rows} rows")

        return tell
