"""Install every wheel of `dist/` into the environment of the running Python.

The wheels are named one by one, so that a distribution of ours can never come from an index.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    """Install the wheels and their third-party requirements; say what to run when there are no wheels."""
    wheels = sorted((ROOT / "dist").glob("*.whl"))
    if not wheels:
        sys.exit("dist/ holds no wheels; run: tox -e wheels")
    arguments = [f"{wheel}[formats]" if wheel.name.startswith("qiongli_core-") else str(wheel) for wheel in wheels]
    command = ["uv", "pip", "install", "--quiet", "--python", sys.executable, *arguments]
    for wheel in wheels:
        command += ["--reinstall-package", wheel.name.split("-")[0].replace("_", "-")]
    subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
