"""Build the wheel of every distribution of the workspace into `dist/`, replacing what was there."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    """Empty `dist/` and build everything anew, so that no test ever meets a stale wheel."""
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    subprocess.run(["uv", "build", "--quiet", "--all-packages", "--wheel", "--out-dir", "dist"], cwd=ROOT, check=True)
    for wheel in sorted((ROOT / "dist").glob("*.whl")):
        print(wheel.name)


if __name__ == "__main__":
    main()
