"""The guide for authors of subjects, followed to the letter."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from qiongli.cli import run

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "writing-a-subject.md"
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_guide_leads_from_nothing_to_a_valid_candidate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "work").mkdir()
    text = GUIDE.read_text("utf-8")
    contract = Path("work/qiongli-subject-marine-ecology/src/qiongli_subject_marine_ecology/runtime-subject.yaml")
    output, codes = "", []
    for block in _BLOCK.finditer(text):
        language, body = block.groups()
        if language == "console":
            for line in body.splitlines():
                program, *arguments = line.split()
                assert program == "qiongli"
                codes.append(run(arguments))
                captured = capfd.readouterr()
                output = captured.out + captured.err
            if not Path("work/before.yaml").exists():
                shutil.copy(contract, "work/before.yaml")
            # A command that the guide announces as failing fails, and no other.
            announced = text[block.end() :].lstrip().startswith("This fails, with exit code 2")
            assert codes[-1] == (2 if announced else 0), output
        elif language == "yaml":
            contract.write_text(_edited(contract.read_text("utf-8"), body), "utf-8")
        else:
            for line in body.splitlines():
                assert line in output
    assert codes == [0, 0, 2, 0, 0]


def _edited(contract: str, block: str) -> str:
    """The contract with a signal in the place of the sample of its group, or with one more suppressor."""
    if block.startswith("    - id: "):
        start = contract.index("    - id: marine-ecology.data-or-outcome")
        return contract[:start] + block + contract[contract.index("  venue:\n") :]
    assert block.startswith("  - id: ")
    place = contract.index("suppressors:\n") + len("suppressors:\n")
    return contract[:place] + block + contract[place:]
