"""Every field of every published structure says what it means, in its schema and on the page of packets."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from qiongli.schemas import schema_names, schema_text

ROOT = Path(__file__).parents[2]


def module_of(path: Path) -> ModuleType:
    """A module that is no part of a package."""
    specification = importlib.util.spec_from_file_location(path.stem, path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[path.stem] = module  # where `inspect` looks for the file of a class
    specification.loader.exec_module(module)
    return module


def structures(schema: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The structures of a schema by name, the whole first."""
    return [("", schema), *schema.get("$defs", {}).items()]


@pytest.mark.parametrize("name", schema_names())
def test_every_field_of_a_schema_has_a_meaning(name: str) -> None:
    for title, structure in structures(json.loads(schema_text(name))):
        for field, value in structure.get("properties", {}).items():
            meaning = value.get("description", "")
            assert len(meaning) > 10, f"{name}: {title}: {field}"
            assert meaning.endswith("."), f"{name}: {title}: {field}"
            assert meaning.strip(".").casefold().replace(" ", "_") != field


def test_no_cell_of_the_page_is_empty() -> None:
    page = (ROOT / "docs" / "reference" / "packet.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \|.*\|(.*)\|$", page, re.MULTILINE)
    assert len(rows) > 700
    assert [name for name, meaning in rows if not meaning.strip()] == []


def written(folder: Path, body: str) -> type:
    """The class `Shown` of a module with that body."""
    path = folder / "shown.py"
    path.write_text(f"import attrs\n\n\n@attrs.frozen\nclass Shown:\n{body}", encoding="utf-8")
    found: type = module_of(path).Shown
    return found


@pytest.fixture(scope="module")
def reader() -> ModuleType:
    return module_of(ROOT / "tools" / "field_meanings.py")


def test_the_comment_above_a_field_is_its_meaning(reader: ModuleType, tmp_path: Path) -> None:
    shown = written(tmp_path, "    #: One line.\n    one: int\n    #: Two\n    #: lines.\n    two: int = 2\n")
    assert reader.meanings_of(shown) == {"one": "One line.", "two": "Two lines."}


@pytest.mark.parametrize(
    ("body", "names"),
    [("    one: int\n", "one"), ("    #: Said.\n    one: int\n    two: int\n    # Not so.\n    x: int\n", "two, x")],
)
def test_a_field_of_which_nothing_is_said_stops_the_generator(
    reader: ModuleType, tmp_path: Path, body: str, names: str
) -> None:
    with pytest.raises(ValueError, match=f"Shown: nothing is said of {names};"):
        reader.meanings_of(written(tmp_path, body))
