"""The pages that are made from the contract's description are current, and complete."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from qiongli.contract.format import CONTRACT, SIGNAL, SUPPRESSOR
from qiongli.contract.problems import PROBLEM_CODES

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "contract.md"


def test_the_reference_is_what_the_generator_writes() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "generate_contract_reference.py"), "--check"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_the_reference_names_every_key_and_every_code() -> None:
    text = PAGE.read_text("utf-8")
    for structure in (CONTRACT, SIGNAL, SUPPRESSOR):
        for field in structure.fields:
            assert f"| `{field.name}` |" in text
    for code in PROBLEM_CODES:
        assert f"| `{code}` |" in text


@pytest.mark.parametrize("code", sorted(PROBLEM_CODES))
def test_every_documented_code_is_reported_somewhere(code: str) -> None:
    sources = (ROOT / "qiongli-core" / "src" / "qiongli" / "contract").glob("*.py")
    uses = sum(path.read_text("utf-8").count(f'"{code}"') for path in sources)
    assert uses > 1
