"""`python -m qiongli.smoke.guard REPORT ARGUMENTS...`: run a command of Qiongli that can start no process.

Every attempt is refused, and written to the report before, so that one whose refusal somebody swallows is seen, too.
"""

from __future__ import annotations

import os
import runpy
import sys
from typing import Any, Final

#: Audit events that announce a new process, or this one becoming another.
EVENTS: Final = frozenset(
    {
        *("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty"),
        *("os.startfile", "os.startfile/2", "pty.spawn", "_winapi.CreateProcess"),
    }
)


class ProcessForbiddenError(RuntimeError):
    """Something tried to start a process where none may be started."""


def forbid_processes(report: int) -> None:
    """From now on this process starts no other; attempts are written to the descriptor `report`, one a line."""

    def refuse(event: str) -> None:
        os.write(report, f"{event}\n".encode())
        raise ProcessForbiddenError(f"{event}: no process may be started here")

    def hook(event: str, _arguments: tuple[Any, ...]) -> None:
        if event in EVENTS:
            refuse(event)

    sys.addaudithook(hook)
    try:
        import _posixsubprocess
    except ImportError:  # there is none on Windows, where the audit event of CreateProcess serves
        return

    def forbidden(*_arguments: Any) -> int:
        refuse("_posixsubprocess.fork_exec")
        return -1

    # multiprocessing calls it directly, and no audit event announces that.
    _posixsubprocess.fork_exec = forbidden


def main() -> None:
    """Open the report, forbid processes, and run the command line with the other arguments."""
    report = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    del sys.argv[1]
    forbid_processes(report)
    # As `python -m qiongli` does; the command line stands to the right of this package, and is not imported by name.
    runpy.run_module("qiongli", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
