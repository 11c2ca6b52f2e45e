"""The guide for integrators, run to the letter: every block, what it prints, and the program at its end."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

GUIDE = (Path(__file__).resolve().parent.parent / "docs/guide/library.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A user without settings, and without anything measured before."""
    folder = tmp_path_factory.mktemp("home")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("QIONGLI_")}
    return {
        **kept,
        "QIONGLI_CONFIG_DIR": str(folder / "configuration"),
        "QIONGLI_CACHE_DIR": str(folder / "cache"),
        "PYTHONIOENCODING": "utf-8",
    }


def program(
    source: str, *arguments: str, cwd: Path, home: dict[str, str], typed: str = ""
) -> subprocess.CompletedProcess[str]:
    (cwd / "review.py").write_text(source, encoding="utf-8")
    return subprocess.run(
        [sys.executable, "-W", "error", "review.py", *arguments],
        cwd=cwd,
        env=home,
        input=typed,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )


def test_every_block_prints_what_stands_below_it(tmp_path: Path, home: dict[str, str]) -> None:
    (tmp_path / "my-paper").mkdir()
    *parts, _ = blocks("python")
    assert len(parts) == len(blocks("text")) == 7
    done = program("\nprint('-')\n".join(parts), cwd=tmp_path, home=home)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("-\n") == blocks("text")


def test_the_program_asks_once_two_drafts_speak_for_a_subject(tmp_path: Path, home: dict[str, str]) -> None:
    (tmp_path / "my-project").mkdir()
    (tmp_path / "draft-1.txt").write_text("An event study of CRSP abnormal returns.", encoding="utf-8")
    (tmp_path / "draft-2.md").write_text("# Returns\n\nStock returns and the CAPM.", encoding="utf-8")
    call = re.search(r"^`python review.py (.*?)`", GUIDE, re.MULTILINE)
    assert call is not None
    source = blocks("python")[-1]
    compile(source, "review.py", "exec")
    done = program(source, *call[1].split(), cwd=tmp_path, home=home, typed="y\n")
    assert done.returncode == 0, done.stderr
    assert "'CRSP' speaks for finance (0.20)" in done.stdout
    assert "Follow the standards of finance? [y/N] finance is confirmed" in done.stdout

    wrong = program(source, "no-such-folder", cwd=tmp_path, home=home)
    assert wrong.returncode == 2
    assert "does not exist" in wrong.stderr
    assert "Traceback" not in wrong.stderr
