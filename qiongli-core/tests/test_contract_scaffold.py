"""`qiongli contract new`: a whole package that is valid at once, and never written over anything."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from qiongli.contract import load_contract, validate_package
from qiongli.contract.scaffold import new_package
from qiongli.errors import InputError
from qiongli.signals.auditing import audit_contract

SLUGS = ["botany", "marine-ecology", "law2", "a", "x" * 40]


@pytest.mark.parametrize("slug", SLUGS)
def test_the_new_package_is_valid_and_its_examples_hold(slug: str, tmp_path: Path) -> None:
    root, written = new_package(slug, tmp_path)
    assert root == tmp_path / f"qiongli-subject-{slug}"
    assert sorted(path for path in root.rglob("*") if path.is_file()) == sorted(root / path for path in written)
    package = root / "src" / f"qiongli_subject_{slug.replace('-', '_')}"
    contract, problems = validate_package(package)
    assert [str(problem) for problem in problems] == []
    assert contract is not None
    assert (contract.subject, contract.activation_status) == (slug, "candidate")
    assert [str(problem) for problem in audit_contract(contract)] == []


def test_it_lends_its_lens_and_shows_two_subject_dimensions(tmp_path: Path) -> None:
    root, _ = new_package("botany", tmp_path)
    contract = load_contract(root / "src/qiongli_subject_botany")
    assert [lens.slug for lens in contract.method_lenses] == ["transect-protocol"]
    assert {signal.dimension for signal in contract.signals if signal.activation == "subject"} == {
        "data_or_outcome",
        "theory_or_construct",
    }


def test_the_distribution_names_one_entry_point_and_an_upper_bound_of_core(tmp_path: Path) -> None:
    root, _ = new_package("marine-ecology", tmp_path)
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["name"] == "qiongli-subject-marine-ecology"
    assert project["entry-points"] == {"qiongli.subjects": {"marine-ecology": "qiongli_subject_marine_ecology"}}
    assert project["dependencies"] == ["qiongli-core>=0.1,<0.2"]


@pytest.mark.parametrize("name", ['Botany: "the" science #1', "植物学", "R&D \\ law", "@slug@"])
def test_any_display_name_survives_yaml(name: str, tmp_path: Path) -> None:
    root, _ = new_package("botany", tmp_path, display_name=name)
    package = root / "src/qiongli_subject_botany"
    assert validate_package(package)[1] == ()
    assert load_contract(package).display_name == name
    assert yaml.safe_load((package / "domain-profile.yaml").read_text("utf-8"))["display_name"] == name


def test_its_own_tests_pass_at_once(tmp_path: Path) -> None:
    root, _ = new_package("marine-ecology", tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-W", "error"],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root / "src")},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_nothing_is_ever_overwritten(tmp_path: Path) -> None:
    (tmp_path / "qiongli-subject-botany").mkdir()
    (tmp_path / "qiongli-subject-botany/mine.txt").write_text("mine", "utf-8")
    with pytest.raises(InputError) as caught:
        new_package("botany", tmp_path)
    assert caught.value.code == "already_exists"
    assert [path.name for path in (tmp_path / "qiongli-subject-botany").iterdir()] == ["mine.txt"]


@pytest.mark.parametrize(
    "slug",
    [
        "",
        "Botany",
        "bot any",
        "bot_any",
        "-botany",
        "botany-",
        "bo--tany",
        "1botany",
        "../x",
        "auto",
        "core",
        "植物",
        "x" * 41,
    ],
)
def test_a_slug_that_no_contract_could_have_is_refused(slug: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        new_package(slug, tmp_path)
    assert caught.value.code == "invalid_slug"
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_and_an_unprintable_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        new_package("botany", tmp_path / "none")
    assert caught.value.code == "missing_folder"
    with pytest.raises(InputError) as caught:
        new_package("botany", tmp_path, display_name="Bot\nany")
    assert caught.value.code == "invalid_display_name"
