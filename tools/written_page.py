"""Writing a generated page, or with `--check` saying that it is not current."""

from __future__ import annotations

import sys
from pathlib import Path


def publish(page: Path, text: str, script: str) -> None:
    """Write a page; with `--check` among the arguments, exit with what to run when it would change."""
    if page.is_file() and page.read_text(encoding="utf-8") == text:
        return
    if "--check" in sys.argv[1:]:
        sys.exit(f"{page.name} is not current; run: python tools/{Path(script).name}")
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(text, encoding="utf-8", newline="\n")
