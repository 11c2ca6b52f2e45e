"""The guide to promotion, followed to the letter on a made-up subject."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from gate_cases import pack, write_pack, write_source_tree

from qiongli.cli import run
from qiongli.evaluation.fixtures import REQUIRED_CATEGORIES, read_fixture
from qiongli.gate import admission
from qiongli.gate.sources import package_root
from qiongli.plugins.catalogue import Catalogue

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "promoting-a-subject.md"
WORD = "bellfounding"
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def _few(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The pack of a beginner: some positives, a dozen near misses, nothing else."""
    near = [case for case in cases if case["category"] == "near_miss"]
    return [case for case in cases if case["category"] == "clear_positive"][:3] + near[:12]


def test_the_guide_leads_from_a_valid_candidate_to_promoted_and_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], isolated_qiongli: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(admission, "installed_catalogue", lambda **_: Catalogue())
    monkeypatch.setattr("qiongli.plugins.discover", lambda **_: Catalogue())
    tree = write_source_tree(tmp_path / "work", WORD, status="candidate", change_pack=_few)
    root = package_root(tree)
    text = GUIDE.read_text("utf-8")
    output = ""
    commands = 0
    for block in _BLOCK.finditer(text):
        language, body = block.groups()
        if language == "json":
            fixture, problems = read_fixture(json.loads(body), place="guide")
            assert problems == ()
            assert fixture is not None
            write_pack(root, pack(WORD))
        elif language == "yaml":
            for name, old in (("runtime-subject.yaml", "activation_status: candidate"), ("README.md", "candidate")):
                path = root / name
                content = path.read_text("utf-8")
                assert old in content
                path.write_text(content.replace(old, old.replace("candidate", "eval_ready")), "utf-8")
        elif language == "console":
            for line in body.splitlines():
                program, *arguments = line.split()
                assert program == "qiongli"
                code = run(arguments)
                captured = capfd.readouterr()
                output = captured.out + captured.err
                commands += 1
            announced = text[block.end() :].lstrip().startswith("This exits with 1")
            assert code == (1 if announced else 0), output
        elif language == "text":
            for line in body.splitlines():
                assert line in output, line
    assert commands == 7
    assert not (root / "activation.json").exists()


def test_the_guide_names_every_required_category() -> None:
    text = GUIDE.read_text("utf-8")
    assert all(f"| `{category}` |" in text for category in REQUIRED_CATEGORIES)
