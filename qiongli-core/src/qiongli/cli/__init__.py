"""The command line: parses, calls, prints. It holds no logic of its own."""

from __future__ import annotations

__all__ = ["run"]


def run(arguments: list[str]) -> int:
    """Run one command line and return the exit code of the process; nothing but an interrupt escapes."""
    from qiongli.cli._app import run_application

    return run_application(arguments)
