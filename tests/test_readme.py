"""The first page keeps its word: its call prints what it shows, its figures were measured, its links lead somewhere."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "README.md").read_text(encoding="utf-8")


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


def answer(arguments: list[str], home: dict[str, str]) -> str:
    command = [sys.executable, "-m", "qiongli", *arguments]
    done = subprocess.run(command, env=home, capture_output=True, encoding="utf-8", timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_call_prints_what_the_page_shows_and_less_without_explain(home: dict[str, str]) -> None:
    (call,) = [block for block in blocks("console") if block.startswith("qiongli route")]
    (shown,) = blocks("text")
    program, *arguments = shlex.split(call)
    assert program == "qiongli"
    printed = answer(arguments, home)
    assert printed.startswith(shown)
    score = re.search(r"^  subject: finance \(score (0\.\d+)\)$", shown, re.MULTILINE)
    assert score is not None
    assert re.search(rf"^  total +={re.escape(f' {score[1]}')}$", printed, re.MULTILINE)
    short = answer([argument for argument in arguments if argument != "--explain"], home)
    assert "Without `--explain` the first three lines are all" in " ".join(PAGE.split())
    assert short == "".join(f"{line}\n" for line in shown.splitlines()[:3])


@pytest.mark.parametrize(
    "text",
    [
        "Wir untersuchen abnormale Renditen um Gewinnmeldungen mit einer Ereignisstudie und Daten der Börse.",
        "Nous estimons l'effet du salaire minimum sur l'emploi par la méthode des doubles différences.",
        "最低賃金が雇用に与える影響を差の差法で推定する。",
    ],
)
def test_a_text_in_another_language_gets_no_subject(text: str, home: dict[str, str]) -> None:
    assert answer(["route", "--text", text], home).startswith("no_subject")


def test_the_figures_are_those_that_were_measured() -> None:
    scoring = (ROOT / "docs" / "reference" / "scoring.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (.*?) \| ([\d,]+) of ([\d,]+) \| ([\d.]+) \|", scoring, re.MULTILINE)
    measured = {name: (hits, of, float(share)) for name, hits, of, share in rows}
    economics, finance = (measured[f"right subject, abstracts of {subject}"] for subject in ("economics", "finance"))
    words = " ".join(PAGE.split())
    assert f"Of {int(economics[1].replace(',', '')) + int(finance[1]):,} real abstracts" in words
    assert f"about half ({economics[2]:.2f} and {finance[2]:.2f})" in words
    assert f"nine times in ten ({measured['precision of all suggestions'][2]:.2f})" in words
    false_positives = measured["false positives, all texts of no subject"]
    assert false_positives[0] == "1"
    assert f"Of {false_positives[1]} texts that belong to neither, one got a suggestion" in words


def test_every_link_of_the_page_leads_to_a_file() -> None:
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", PAGE)
    assert len(links) >= 10
    for link in links:
        assert (ROOT / link).is_file(), link


def test_everybody_is_told_the_same_installation() -> None:
    pages = ("README.md", "docs/guide/first-steps.md", "docs/reference/mcp.md", "plugins/qiongli-mcp/README.md")
    lines = {}
    for name in pages:
        text = (ROOT / name).read_text(encoding="utf-8")
        (lines[name],) = re.findall(r'^python -m pip install "\./qiongli-core\[formats\]"[^&\n]*', text, re.MULTILINE)
    assert len({line.strip() for line in lines.values()}) == 1, lines
