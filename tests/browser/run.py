"""Open an evaluation report in headless Chromium, from its file, and read the page that the browser made of it.

Says clearly that nothing was run where the machine has no Chromium.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def main() -> None:
    """Render the report of the finance pack, load it, and look for its heading in the browser's own document."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        print("SKIPPED: this machine has no Chromium; install it to run the browser checks")
        return
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        command = [sys.executable, "-m", "qiongli", "evaluate", "--subject", "finance", "--html", str(page)]
        subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
        switches = ["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", f"--user-data-dir={folder}/profile"]
        shown = subprocess.run(
            [browser, *switches, page.as_uri()],
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=True,
            timeout=60,
        ).stdout
        if "<h1" not in shown or "finance" not in shown:
            sys.exit("the browser shows no report")
        print(f"the report of {page.stat().st_size} bytes is shown by {Path(browser).name}")


if __name__ == "__main__":
    main()
