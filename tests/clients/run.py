"""Check the MCP server with independent programs from npm, over both protocol eras.

The Inspector lints and calls every tool; the official conformance suite runs what a server answers for by itself.
Says clearly that nothing was run where the machine cannot have the programs. Ends with 1 when anything was at fault.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from conforming import conform
from inspecting import inspect
from npm import install


def main() -> None:
    """Install the programs in a folder of their own and run both of them."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        programs = install(folder)
        if isinstance(programs, str):
            print(f"SKIPPED: {programs}")
            return
        faults = [*inspect(programs, folder), *conform(programs, folder)]
    if faults:
        sys.exit("\n".join(["FAILED:", *faults]))
    print("the clients found no fault")


if __name__ == "__main__":
    main()
