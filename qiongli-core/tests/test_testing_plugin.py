"""The pytest plugin for authors of subjects: cheap, isolating, and strict about imports."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from qiongli.plugins import discover
from qiongli.plugins.policy import policy_path
from qiongli.testing import FakeDistributions, check_package, example_contract, imports_nothing_from


def test_loading_it_imports_nothing_of_qiongli_and_nothing_heavy() -> None:
    code = (
        "import sys, pytest; before = set(sys.modules); import qiongli.testing; "
        "print(sorted(set(sys.modules) - before))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert result.stdout.strip() == "['qiongli', 'qiongli.testing']"


def test_pytest_offers_the_fixtures_wherever_core_is_installed(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "def test_it(fake_distributions):\n"
        "    fake_distributions.add_subject('law', code='raise SystemExit')\n"
        "    assert [row.subject for row in fake_distributions.discover().listings] == ['law']\n",
        encoding="utf-8",
    )
    arguments = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", str(tmp_path)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    result = subprocess.run(
        arguments, cwd=tmp_path, env=environment, capture_output=True, encoding="utf-8", timeout=60, check=False
    )
    assert result.returncode == 0, result.stdout
    assert "1 passed" in result.stdout


class TestIsolation:
    def test_nothing_that_is_installed_is_discovered(self, isolated_qiongli: Path) -> None:
        catalogue = discover()
        assert catalogue.listings == ()
        assert catalogue.distributions == ()

    def test_the_user_s_folders_are_not_touched(self, isolated_qiongli: Path) -> None:
        from qiongli.folders import cache_folder

        assert cache_folder().is_relative_to(isolated_qiongli)
        assert policy_path().is_relative_to(isolated_qiongli)

    def test_switches_of_the_machine_do_not_decide(
        self, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
    ) -> None:
        monkeypatch.setenv("QIONGLI_SUBJECTS_DISABLED", "1")
        request.getfixturevalue("isolated_qiongli")
        assert "QIONGLI_SUBJECTS_DISABLED" not in os.environ

    def test_only_the_fake_distributions_are_discovered(self, fake_distributions: FakeDistributions) -> None:
        fake_distributions.add_subject("law")
        assert [row.subject for row in discover().listings] == ["law"]

    def test_what_a_test_imported_is_forgotten_after_it(self, request: pytest.FixtureRequest, tmp_path: Path) -> None:
        # The fixture's own ending is what is tested, so it is run as the generator that it is.
        from qiongli.plugins._distributions import search_path

        before = search_path()
        fake = request.getfixturevalue("fake_distributions")
        fake.add_subject("law")
        importlib.import_module("fake_subject_law")
        assert fake.imported() == ["fake_subject_law"]
        assert search_path() == [str(fake.folder)] != before


def test_no_module_of_the_test_before_is_left() -> None:
    assert "fake_subject_law" not in sys.modules


class TestImports:
    def test_an_import_from_the_folder_fails_the_test(self, fake_distributions: FakeDistributions) -> None:
        fake_distributions.add_subject("law")
        with (
            pytest.raises(AssertionError, match="fake_subject_law"),
            imports_nothing_from(fake_distributions.folder),
        ):
            importlib.import_module("fake_subject_law")

    def test_an_import_from_elsewhere_does_not(self, tmp_path: Path) -> None:
        with imports_nothing_from(tmp_path):
            importlib.import_module("this")


class TestPackages:
    @pytest.mark.parametrize("status", ["candidate", "eval_ready", "runtime_enabled", "disabled"])
    def test_the_example_package_has_no_fault(self, fake_distributions: FakeDistributions, status: str) -> None:
        assert check_package(fake_distributions.add_subject("marine-ecology", status=status)) == ()

    def test_faults_of_contract_resources_and_examples_are_all_found(
        self, fake_distributions: FakeDistributions
    ) -> None:
        malformed = fake_distributions.add_subject("one", example_contract("one", extra="unknown: 1\n"))
        assert [problem.code for problem in check_package(malformed)] == ["unknown_key"]
        bare = fake_distributions.add_subject("two", example_contract("two"))
        assert "missing_resource" in {problem.code for problem in check_package(bare)}
        text = example_contract("three").replace("We ran a three trial design.", "We ran nothing of the kind.")
        silent = fake_distributions.add_subject("three", files={"runtime-subject.yaml": text})
        (problem,) = check_package(silent)
        assert "three.method.example" in str(problem)
