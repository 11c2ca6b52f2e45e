"""Open reports in headless Chromium from their files, as a reader does, light and dark.

Each must open in under 3 s, ask for nothing, complain of nothing, keep hostile text text, and have no fault that axe
knows of. Says clearly what was not run where the machine has no Chromium, or no npm to get axe-core with.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from devtools import Browser
from pages import CASES, PAGES

#: Seconds in which a page must stand.
OPENS_WITHIN = 3.0

#: The reference checker of accessibility; a page that it finds fault with is not for everybody.
AXE = "axe-core@4"


def axe(folder: Path) -> str:
    """The source of axe-core, or an empty text where it cannot be had."""
    npm = shutil.which("npm")
    if npm is None:
        print("SKIPPED: axe, because this machine has no npm to get axe-core with")
        return ""
    command = [npm, "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--ignore-scripts", AXE]
    done = subprocess.run(command, check=False, capture_output=True, text=True, encoding="utf-8")
    source = folder / "node_modules" / "axe-core" / "axe.min.js"
    if done.returncode or not source.is_file():
        print("SKIPPED: axe, because npm could not install axe-core")
        return ""
    return source.read_text(encoding="utf-8")


def filter_faults(browser: Browser, rows: int) -> list[str]:
    """What is wrong with the filter of the cases: it hides those that pass and says so, and shows them again."""
    found = []
    for result in ("fail", ""):
        browser.evaluate(
            f"(document.getElementById('filter-result').value = '{result}',"
            " document.getElementById('filters').dispatchEvent(new Event('input')),"
            " new Promise(done => setTimeout(done, 400)))"
        )
        wanted = browser.evaluate(f"document.querySelectorAll('tr[data-result{'=fail' if result else ''}]').length")
        shown = browser.evaluate("document.querySelectorAll('tr[data-result]:not([hidden])').length")
        said = browser.evaluate("document.getElementById('filter-count').textContent")
        if shown != wanted or said != f"{wanted} of {rows} cases shown":
            found.append(f"the filter shows {shown} cases, not {wanted}, and says {said!r}")
    return found


def faults_of(browser: Browser, name: str, page: Path, checker: str) -> list[str]:
    """Everything that is wrong with one page."""
    found = []
    seconds = browser.open(page.as_uri())
    rows = browser.evaluate("document.querySelectorAll('tr[data-result]').length")
    print(f"{name}: {page.stat().st_size} bytes, {rows} cases, open after {seconds:.2f} s")
    if seconds > OPENS_WITHIN:
        found.append(f"{name}: opens in {seconds:.1f} s")
    if name.startswith(str(CASES)) and rows != CASES:
        found.append(f"{name}: shows {rows} cases")
    if browser.evaluate("document.querySelectorAll('h1').length") != 1:
        found.append(f"{name}: no heading is shown")
    # Opening the page again asks for its file and nothing else.
    found += [f"{name}: asks for {url}" for url in browser.requests if url != page.as_uri()]
    found += [f"{name}: {complaint}" for complaint in browser.complaints]
    if rows:
        found += [f"{name}: {fault}" for fault in filter_faults(browser, rows)]
    inert = "document.title != 'taken' && document.querySelectorAll('script').length == 1 && !document.images.length"
    if not browser.evaluate(f"{inert} && ![...document.links].some(link => link.protocol == 'javascript:')"):
        found.append(f"{name}: hostile text acts")
    # Axe walks over every element; 5,000 rows of the same kind tell it nothing new and take minutes.
    if not checker or name.startswith(str(CASES)):
        return found
    browser.evaluate(f"{checker}; undefined")
    for scheme in ("light", "dark"):
        browser.prefer(scheme)
        result = json.loads(browser.evaluate("axe.run(document).then(result => JSON.stringify(result))"))
        print(f"  axe, {scheme}: {len(result['passes'])} rules hold, {len(result['violations'])} do not")
        for violation in result["violations"]:
            places = ", ".join(str(node["target"][0]) for node in violation["nodes"][:3])
            found.append(f"{name}, {scheme}: {violation['id']}: {violation['help']} ({places})")
    return found


def main() -> None:
    """Write every page, open it, and end with 1 when anything was at fault."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        print("SKIPPED: this machine has no Chromium; install it to run the browser checks")
        return
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        checker = axe(folder)
        faults = []
        with Browser(program, folder / "profile") as browser:
            for number, (title, make) in enumerate(PAGES.items()):
                page = folder / f"{number}.html"
                page.write_text(make(), encoding="utf-8")
                faults += faults_of(browser, title, page, checker)
    if faults:
        sys.exit("\n".join(["FAILED:", *faults]))
    print("the pages are without fault")


if __name__ == "__main__":
    main()
