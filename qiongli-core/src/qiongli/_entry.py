"""The console script: answers `--version` before anything is imported, then hands over to the command line."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and leave the process with its exit code."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        from qiongli._version import VERSION

        sys.stdout.write(f"qiongli {VERSION}\n")
        return
    import gc

    # A command makes many objects that live until it ends; looking for cycles among them is a tenth of its time.
    gc.set_threshold(200_000)
    from qiongli.cli import run

    code = run(sys.argv[1:])
    # Python looks once more before it ends; what is left then goes with the process anyway.
    gc.disable()
    sys.exit(code)
