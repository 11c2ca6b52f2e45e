"""Regular expressions that are compiled when they are first needed: compiling them all would be felt at every start."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator


class LazyPattern:
    """A regular expression like `re.compile(pattern, flags)`, compiled at its first use."""

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self._source = pattern
        self._flags = flags
        self._compiled: re.Pattern[str] | None = None

    @property
    def compiled(self) -> re.Pattern[str]:
        """The compiled expression."""
        if self._compiled is None:
            self._compiled = re.compile(self._source, self._flags)
        return self._compiled

    def search(self, text: str, start: int = 0, end: int | None = None) -> re.Match[str] | None:
        """As `re.Pattern.search`."""
        return self.compiled.search(text, start, len(text) if end is None else end)

    def match(self, text: str, start: int = 0) -> re.Match[str] | None:
        """As `re.Pattern.match`."""
        return self.compiled.match(text, start)

    def finditer(self, text: str, start: int = 0) -> Iterator[re.Match[str]]:
        """As `re.Pattern.finditer`."""
        return self.compiled.finditer(text, start)

    def sub(self, replacement: str | Callable[[re.Match[str]], str], text: str) -> str:
        """As `re.Pattern.sub`."""
        return self.compiled.sub(replacement, text)
