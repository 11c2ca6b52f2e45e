"""Pinned programs from npm, in a folder of their own; what the machine lacks is said, never passed over in silence."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Final

import attrs

#: npm silently takes an older release where none is named, and these clients move fast. They need Node 22 or newer.
PACKAGES: Final = (
    "node@22",
    "@modelcontextprotocol/inspector@2.12.0",
    "@modelcontextprotocol/conformance@0.2.0-alpha.12",
)


@attrs.frozen
class Programs:
    """The installed programs: run one with `command`."""

    modules: Path

    def command(self, name: str) -> list[str]:
        """How to start the program of that name under the pinned Node."""
        return [str(self.modules / "node" / "bin" / "node"), str(self.modules / ".bin" / name)]


def install(folder: Path) -> Programs | str:
    """Install the programs into an existing folder; a sentence when this machine cannot have them."""
    if shutil.which("npm") is None:
        return "this machine has no npm; install Node.js to run the client checks"
    try:
        done = subprocess.run(
            ["npm", "install", "--no-audit", "--no-fund", *PACKAGES],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
            encoding="utf-8",
        )
    except subprocess.TimeoutExpired:
        return "npm did not finish installing the clients within ten minutes"
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:]
        return f"npm cannot install the clients here: {''.join(last)}"
    programs = Programs(folder / "node_modules")
    # The pinned Node comes by an install script, which npm can be told not to run.
    if not Path(programs.command("")[0]).exists():
        return "npm installed no Node 22 here; allow its install script: npm config set ignore-scripts false"
    return programs
