"""Call the MCP server with the Inspector's command line, an independent client from npm, over both protocol eras.

Says clearly that nothing was run where the machine lacks npm. Versions are pinned, because a client moves fast.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PACKAGES = ("node@22", "@modelcontextprotocol/inspector@2.12.0")


def main() -> None:
    """Install the client in a folder of its own, list the tools in both eras, and route one task."""
    if shutil.which("npm") is None:
        print("SKIPPED: this machine has no npm; install Node.js to run the client checks")
        return
    with tempfile.TemporaryDirectory() as folder:
        installed = subprocess.run(
            ["npm", "install", "--no-audit", "--no-fund", *PACKAGES],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            encoding="utf-8",
        )
        if installed.returncode:
            print("SKIPPED: the client cannot be installed here:", installed.stderr.strip().splitlines()[-1:])
            return
        modules = Path(folder) / "node_modules"
        inspector = [str(modules / "node" / "bin" / "node"), str(modules / ".bin" / "mcp-inspector"), "--cli"]
        server = [sys.executable, "-m", "qiongli", "mcp", "serve"]
        for era in ("legacy", "modern"):
            listed = call([*inspector, *server, "--method", "tools/list", "--strict", "--protocol-era", era])
            document = json.loads(listed)
            tools = document.get("tools") or document.get("result", {}).get("tools")
            names = [tool["name"] for tool in tools]
            print(f"{era}: {len(names)} tools, schemas accepted by --strict")
        text = "text=We use CRSP abnormal returns in an event study for the Journal of Finance"
        answer = call(
            [*inspector, *server, "--method", "tools/call", "--tool-name", "qiongli_route", "--tool-arg", text]
        )
        if "suggest_subject" not in answer:
            sys.exit(f"the client got no suggestion: {answer[:400]}")
        print("qiongli_route answers suggest_subject")


def call(command: list[str]) -> str:
    """Run the client once, and end with what it said when it fails."""
    done = subprocess.run(
        [*command, "--format", "json", "-q"], capture_output=True, text=True, check=False, timeout=120, encoding="utf-8"
    )
    if done.returncode:
        sys.exit(f"exit {done.returncode}: {done.stdout[-600:]}{done.stderr[-600:]}")
    return done.stdout


if __name__ == "__main__":
    main()
