"""Qiongli's own check of a skill and the Agent Skills format agree; every shipped skill passes it."""

from __future__ import annotations

from pathlib import Path

import pytest
from skill_heads import FOLDER, HEADS, skill

from qiongli.contract.kinds import check_resource
from qiongli.contract.problems import Problems

ROOT = Path(__file__).resolve().parent.parent
SHIPPED = sorted(ROOT.glob("subjects/*/src/**/SKILL.md"))


def faults(text: bytes, path: str) -> list[str]:
    problems = Problems(path)
    check_resource("skill", text, subject="s", name="s", path=path, problems=problems)
    return [str(problem) for problem in problems.in_file_order()]


@pytest.mark.parametrize(("what", "head", "valid"), HEADS, ids=[what for what, *_ in HEADS])
def test_a_head_is_accepted_exactly_when_the_format_allows_it(what: str, head: str, valid: bool) -> None:
    assert (faults(skill(head).encode(), f"skills/{FOLDER}/SKILL.md") == []) == valid


def test_every_subject_ships_a_skill_and_all_are_valid() -> None:
    assert {path.relative_to(ROOT).parts[1] for path in SHIPPED} == {
        folder.name for folder in (ROOT / "subjects").iterdir() if (folder / "pyproject.toml").exists()
    }
    for path in SHIPPED:
        assert faults(path.read_bytes(), path.relative_to(ROOT).as_posix()) == []
