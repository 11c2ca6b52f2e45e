"""Run the generators of pages and schemas; `--check` makes them compare instead of write and fails if one would change.

`generate_han.py` is run by hand: its table changes with a release of OpenCC, which nothing else here needs.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
BY_HAND = {"generate_docs.py", "generate_han.py"}


def main() -> None:
    """Run them all, so that every stale page is named at once."""
    scripts = sorted(path for path in FOLDER.glob("generate_*.py") if path.name not in BY_HAND)
    results = [subprocess.run([sys.executable, str(path), *sys.argv[1:]], check=False).returncode for path in scripts]
    sys.exit(1 if any(results) else 0)


if __name__ == "__main__":
    main()
