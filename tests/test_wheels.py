"""Every wheel carries what its source tree has: data files, entry points and the paths that its contract names."""

from __future__ import annotations

import configparser
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
DISTRIBUTIONS = sorted(
    path.parent
    for pattern in ("qiongli-core", "subjects/*", "plugins/*")
    for path in ROOT.glob(f"{pattern}/pyproject.toml")
)
pytestmark = pytest.mark.wheels


def project(folder: Path) -> dict:
    return tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def wheel_of(folder: Path) -> zipfile.ZipFile:
    stem = project(folder)["name"].replace("-", "_")
    found = sorted((ROOT / "dist").glob(f"{stem}-*.whl"))
    assert len(found) == 1, f"dist/ holds {len(found)} wheels of {stem}; run: tox -e wheels"
    return zipfile.ZipFile(found[0])


def source_files(folder: Path) -> set[str]:
    return {
        path.relative_to(folder / "src").as_posix()
        for path in (folder / "src").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc"
    }


@pytest.mark.parametrize("folder", DISTRIBUTIONS, ids=lambda folder: folder.name)
def test_the_wheel_holds_exactly_the_source_files(folder: Path) -> None:
    with wheel_of(folder) as wheel:
        inside = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert inside == source_files(folder)
    assert any(name.endswith("/py.typed") for name in inside)


@pytest.mark.parametrize("folder", DISTRIBUTIONS, ids=lambda folder: folder.name)
def test_the_wheel_declares_the_entry_points_and_version_of_its_project(folder: Path) -> None:
    declared = project(folder)
    wanted = {
        **declared.get("entry-points", {}),
        **({"console_scripts": declared["scripts"]} if "scripts" in declared else {}),
    }
    with wheel_of(folder) as wheel:
        files = {name: name for name in wheel.namelist() if ".dist-info/" in name}
        entry_points = next((name for name in files if name.endswith("/entry_points.txt")), None)
        parser = configparser.ConfigParser(delimiters=("=",))
        parser.optionxform = str  # type: ignore[assignment,method-assign]
        if entry_points:
            parser.read_string(wheel.read(entry_points).decode())
        metadata = wheel.read(next(name for name in files if name.endswith("/METADATA"))).decode()
    assert {section: dict(parser[section]) for section in parser.sections()} == wanted
    assert f"\nVersion: {declared['version']}\n" in metadata
    if declared["name"] != "qiongli-core":
        ours = [line for line in metadata.splitlines() if line.startswith("Requires-Dist: qiongli")]
        assert ours
        assert all("<" in line for line in ours), "a requirement on another part of Qiongli needs an upper bound"


@pytest.mark.parametrize("folder", sorted(ROOT.glob("subjects/*")), ids=lambda folder: folder.name)
def test_a_subject_wheel_holds_every_path_that_its_contract_names(folder: Path) -> None:
    entries = project(folder)["entry-points"]["qiongli.subjects"]
    assert len(entries) == 1
    ((slug, package),) = entries.items()
    assert package.isidentifier()
    with wheel_of(folder) as wheel:
        names = set(wheel.namelist())
        contract = yaml.safe_load(wheel.read(f"{package}/runtime-subject.yaml"))
    assert contract["subject"] == slug
    named = [contract[key] for key in ("domain_profile", "overlay", "subject_skill", "documentation")]
    named += [lens["pack"] if isinstance(lens, dict) else lens for lens in contract["method_lenses"].values()]
    named += list(contract["venue_profiles"].values())
    missing = [path for path in named if f"{package}/{path}" not in names]
    assert not missing
    pack = f"{package}/{contract['evaluation_pack'].strip('/')}/"
    assert any(name.startswith(pack) for name in names)


def test_tests_run_against_the_installed_wheels() -> None:
    import qiongli
    import qiongli_subject_finance

    for module in (qiongli, qiongli_subject_finance):
        assert "site-packages" in str(module.__file__), "install the wheels: python tools/install_wheels.py"


def test_versions_agree() -> None:
    from qiongli._version import VERSION

    assert {project(folder)["version"] for folder in DISTRIBUTIONS} == {VERSION}
