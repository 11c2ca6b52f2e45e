"""Heads of made-up skills, and whether the Agent Skills format allows each; the folder is called `fern-survey`.

`tests/test_skill_heads.py` holds Qiongli's own check to this table, `tox -e skills` the reference validator.
"""

from __future__ import annotations

from typing import Final

FOLDER: Final = "fern-survey"
GOOD: Final = "name: fern-survey\ndescription: Count ferns. Use it for surveys.\n"
LONG: Final = "Count ferns with great care. " * 40

#: What the case shows, the head between the lines of `---`, whether it is valid.
HEADS: Final[tuple[tuple[str, str, bool], ...]] = (
    ("only what is required", GOOD, True),
    (
        "every field",
        f"{GOOD}license: MIT\ncompatibility: Python 3\nallowed-tools: Read\nmetadata:\n  author: us\n",
        True,
    ),
    ("a quoted value with a colon", 'name: fern-survey\ndescription: "Count: ferns."\n', True),
    ("a folded text", "name: fern-survey\ndescription: >\n  Count\n  ferns.\n", True),
    ("1024 characters", f"name: fern-survey\ndescription: {LONG[:1023]}x\n", True),
    ("three hyphens inside a text", "name: fern-survey\ndescription: Count --- ferns.\n", True),
    ("no name", "description: Count ferns.\n", False),
    ("no description", "name: fern-survey\n", False),
    ("an empty description", 'name: fern-survey\ndescription: ""\n', False),
    ("1025 characters", f"name: fern-survey\ndescription: {LONG[:1024]}x\n", False),
    ("501 characters", f"{GOOD}compatibility: {LONG[:500]}x\n", False),
    ("another name than the folder's", "name: moss-survey\ndescription: Count ferns.\n", False),
    ("a capital", "name: Fern-survey\ndescription: Count ferns.\n", False),
    ("a double hyphen", "name: fern--survey\ndescription: Count ferns.\n", False),
    ("a hyphen at the edge", "name: fern-survey-\ndescription: Count ferns.\n", False),
    ("an underscore", "name: fern_survey\ndescription: Count ferns.\n", False),
    ("an unknown field", f"{GOOD}version: 1\n", False),
    ("a bare value with a colon", "name: fern-survey\ndescription: Count: ferns.\n", False),
    ("a key twice", f"{GOOD}description: Count again.\n", False),
    ("an anchor", "name: &n fern-survey\ndescription: Count ferns.\n", False),
    ("a tag", "name: !!str fern-survey\ndescription: Count ferns.\n", False),
    ("a list in place of a mapping", "- name\n- description\n", False),
)


def skill(head: str) -> str:
    """The whole file."""
    return f"---\n{head}---\n\n# Ferns\n\nLook under the trees.\n"
