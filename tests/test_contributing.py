"""The page for contributors names what there is: every check of tox, files, tools, and numbers to raise."""

from __future__ import annotations

import configparser
import re
import shlex
import tomllib
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def tox() -> configparser.ConfigParser:
    settings = configparser.ConfigParser(interpolation=None)
    settings.read(ROOT / "tox.ini", encoding="utf-8")
    return settings


def commands() -> list[list[str]]:
    blocks = re.findall(r"^```console\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return [shlex.split(line) for block in blocks for line in block.splitlines()]


def test_every_check_has_a_row_and_the_default_ones_come_first() -> None:
    table = PAGE.partition("| environment | how long | when |\n")[2].partition("\n\n")[0]
    rows = [name for row in table.splitlines()[1:] for name in re.findall(r"`(\w+)`", row.split("|")[1])]
    settings = tox()
    default = [name.strip() for name in settings["tox"]["env_list"].split(",")]
    assert rows[: len(default)] == default
    named = [section.removeprefix("testenv:") for section in settings.sections() if section.startswith("testenv:")]
    pythons = {"py311", "py312", "py313"}
    assert {*named} - {"py{311,312,313}"} == {*rows} - pythons - {"py"}
    assert pythons <= {*rows}


def test_what_the_set_up_installs_is_there() -> None:
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]
    installs = [command for command in commands() if command[2:4] == ["pip", "install"]]
    assert len(installs) == 3
    for command in installs:
        for option, value in pairwise(command):
            if option == "--group":
                assert value in groups
            if option == "--editable":
                assert (ROOT / value.partition("[")[0] / "pyproject.toml").is_file()


def test_every_file_tool_and_number_that_the_page_names_is_there() -> None:
    tested = [word for command in commands() for word in command if word.endswith(".py")]
    linked = [name for name in re.findall(r"\]\(([^)]+)\)", PAGE) if "://" not in name]
    named = re.findall(r"\b((?:tools|qiongli-core)/[\w/.-]+\.py)\b", PAGE)
    assert tested
    assert len(named) >= 4
    for name in (*tested, *linked, *named):
        assert (ROOT / name).is_file(), name
    for variable, place in (("INDEX_VERSION", "signals/index.py"), ("POLICY_VERSION", "gate/record.py")):
        assert variable in PAGE
        source = (ROOT / "qiongli-core" / "src" / "qiongli" / place).read_text(encoding="utf-8")
        assert re.search(rf"^{variable}\b", source, re.MULTILINE)
