"""The page on architecture names the modules that there are, in the order that the linter enforces."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "qiongli-core" / "src" / "qiongli"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def table(heading: str) -> list[tuple[str, ...]]:
    """The first column of the first table with that heading: the names in each row."""
    rows = PAGE.partition(f"{heading}\n")[2].partition("\n\n")[0].splitlines()[1:]
    assert rows
    return [tuple(re.findall(r"`([^`]+)`", row.split("|")[1])) for row in rows]


def layers() -> list[tuple[str, ...]]:
    """The linter's layers, the highest first; siblings are separated by a bar or a colon."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    (contract,) = [item for item in settings["contracts"] if item["type"] == "layers"]
    return [
        tuple(name.strip().removeprefix("qiongli.") for name in re.split("[|:]", layer)) for layer in contract["layers"]
    ]


def test_the_rows_stand_in_the_order_of_the_linter() -> None:
    assert table("| module | owns | must not |") == layers()


def test_every_module_has_a_row() -> None:
    """A package may have a row for each of its parts instead."""
    named = {name for row in (*layers(), *table("| module | owns | used by |")) for name in row}
    packages = {name.partition(".")[0] for name in named}
    found = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    assert {name for name in found if not name.startswith("_")} == packages


def test_every_file_that_the_page_names_is_there() -> None:
    folders = (PACKAGE, ROOT / "plugins" / "qiongli-mcp" / "src")
    named = re.findall(r"`([\w/]+\.(?:py|md))`", PAGE)
    assert len(named) >= 12
    for name in named:
        assert any((folder / name).is_file() for folder in folders), name
    for name in re.findall(r"`(\w+)/`", PAGE.partition("### Where to look")[2]):
        assert any(path.is_dir() for path in (PACKAGE / name, ROOT / name)), name


def test_every_part_of_a_module_that_a_row_names_is_there() -> None:
    for row in PAGE.partition("| module | owns | must not |\n")[2].partition("\n\n")[0].splitlines()[1:]:
        _, module, owns, _, _ = row.split("|")
        packages = [name for name in re.findall(r"`([^`]+)`", module) if (PACKAGE / name).is_dir()]
        for part in re.findall(r"`([\w.]+)`", owns):
            if part.endswith((".yaml", ".py")):
                continue
            places = [PACKAGE / package / f"{part}.py" for package in packages]
            places.append(PACKAGE / f"{part.replace('.', '/')}.py")
            assert any(place.is_file() for place in places), part
