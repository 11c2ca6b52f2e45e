"""Serving on standard input and output, where nothing but the protocol may be written to standard output."""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast


@contextmanager
def _nothing_printed() -> Iterator[None]:
    """Send to standard error whatever is written to standard output, by whomever, until the server takes over."""
    sys.stdout.flush()
    kept = os.dup(1)
    try:
        os.dup2(2, 1)
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)


def serve_stdio(profile: str) -> None:
    """Serve until standard input ends."""
    # Looking for garbage among classes that all stay costs a tenth of the start, and clients wait for it.
    gc.disable()
    with _nothing_printed():
        from qiongli_mcp.server import served

        server = served(profile)
    gc.freeze()
    gc.enable()
    run(server)


def _whole(value: Any) -> Any:
    """A JSON value whose texts hold no half characters."""
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, list):
        return [_whole(item) for item in value]
    if isinstance(value, dict):
        return {_whole(key): _whole(item) for key, item in value.items()}
    return value


class Requests:
    """Standard input as the SDK reads it, line by line, without the half characters of texts that were cut.

    Clients written in JavaScript send them as escapes, which JSON allows and the SDK's parser does not: it would drop
    the request, and the client would wait for ever.
    """

    def __init__(self, lines: TextIO) -> None:
        self._lines = lines

    def readline(self) -> str:
        """The next line; empty at the end."""
        line = self._lines.readline()
        if "\\ud" not in line and "\\uD" not in line:
            return line
        try:
            return json.dumps(_whole(json.loads(line)), ensure_ascii=False) + "\n"
        except (ValueError, RecursionError):
            return line  # no JSON: the SDK has its own way with that


def _own_input() -> Requests:
    """Standard input for this server alone: descriptor 0 is empty for whatever it starts, as the SDK has it."""
    kept = os.dup(0)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    # The thread that reads may outlive everything else, so nobody closes what it reads from.
    return Requests(open(kept, encoding="utf-8", errors="replace", closefd=False))


def run(server: Any) -> None:
    """Serve on standard input and output, with requests read by `Requests`."""
    import anyio
    from mcp.server.stdio import stdio_server

    # Otherwise Ctrl-C waits for the thread that reads standard input; every write is whole or not there.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # The SDK has no public way to give its server another input; should it move its own, requests come unmended.
    inner = getattr(server, "_lowlevel_server", None)
    if inner is None:
        server.run("stdio")
        return

    async def serve() -> None:
        async with stdio_server(stdin=anyio.wrap_file(cast("TextIO", _own_input()))) as (reading, writing):
            await inner.run(reading, writing, inner.create_initialization_options())

    anyio.run(serve)
