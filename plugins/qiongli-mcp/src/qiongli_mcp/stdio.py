"""Serving on standard input and output, where nothing but the protocol may be written to standard output."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


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
    server.run("stdio")
