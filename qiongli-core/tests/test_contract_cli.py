"""`qiongli contract` and `qiongli resource` as a person and a program meet them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from contract_cases import FILE, VALID, changed, write_package

from qiongli.cli import run


def ask(capfd: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of one command."""
    code = run([str(argument) for argument in arguments])
    captured = capfd.readouterr()
    return code, captured.out, captured.err


def packet(capfd: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, dict[str, Any]]:
    """Exit code and the one JSON document on standard output, with nothing on standard error."""
    code, out, err = ask(capfd, *arguments, "--json")
    assert err == ""
    document: dict[str, Any] = json.loads(out)
    return code, document


class TestValidate:
    def test_a_valid_package_is_one_line_and_exit_code_0(
        self, capfd: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        write_package(tmp_path)
        code, out, err = ask(capfd, "contract", "validate", tmp_path)
        assert (code, err) == (0, "")
        assert out.startswith("botany is valid (candidate): 2 signals, 1 suppressor")

    def test_contract_package_and_source_tree_may_be_named(
        self, capfd: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        package = write_package(tmp_path / "tree/src/qiongli_subject_botany")
        for path in (package / FILE, package, tmp_path / "tree", tmp_path / "tree/src"):
            code, document = packet(capfd, "contract", "validate", path)
            assert (code, document["valid"], document["subject"]) == (0, True, "botany")
            assert document["path"] == str(package)

    def test_problems_of_files_and_of_examples_come_together_with_exit_code_2(
        self, capfd: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        text = changed('["Forty herbarium sheets were read."]', '["Forty sheets were read."]')
        write_package(tmp_path, text, **{"overlays/botany.yaml": None})
        code, document = packet(capfd, "contract", "validate", tmp_path)
        assert code == 2
        assert document["error"]["code"] == "invalid_contract"
        found = {problem["code"]: problem["place"] for problem in document["problems"]}
        assert found["missing_resource"] == f"{tmp_path / FILE}:9: overlay"
        assert found["example_misses"].startswith(f"{tmp_path / FILE}:29")

    def test_text_names_every_problem_on_standard_error(
        self, capfd: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        write_package(tmp_path, changed("hooks: null", "hoooks: null"))
        code, out, err = ask(capfd, "contract", "validate", tmp_path)
        assert (code, out) == (2, "")
        assert f"{tmp_path / FILE}:53: hoooks: unknown key 'hoooks'" in err

    def test_a_disabled_lens_is_a_note(self, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        write_package(tmp_path, **{"method-packs/grafting.yaml": None})
        code, document = packet(capfd, "contract", "validate", tmp_path)
        assert code == 0
        assert "grafting" in document["notes"][0]

    def test_what_holds_no_contract_or_several_is_refused(
        self, capfd: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        (tmp_path / "empty").mkdir()
        (tmp_path / "other.yaml").write_text(VALID, "utf-8")
        for path in (tmp_path / "empty", tmp_path / "none", tmp_path / "other.yaml"):
            code, document = packet(capfd, "contract", "validate", path)
            assert (code, document["error"]["code"]) == (2, "no_contract")
        write_package(tmp_path / "two/src/one")
        write_package(tmp_path / "two/src/other")
        code, document = packet(capfd, "contract", "validate", tmp_path / "two")
        assert (code, document["error"]["code"]) == (2, "several_contracts")

    def test_the_package_is_never_imported(
        self, capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        package = write_package(tmp_path / "qiongli_subject_botany", changed("hooks: null", "hooks: hooks"))
        trap = f"import pathlib\npathlib.Path({str(tmp_path / 'ran')!r}).write_text('x')\n"
        for name in ("__init__.py", "hooks.py"):
            (package / name).write_text(trap, "utf-8")
        monkeypatch.syspath_prepend(tmp_path)
        assert ask(capfd, "contract", "validate", package)[0] == 0
        assert not (tmp_path / "ran").exists()


class TestOthers:
    def test_schema_prints_the_schema_of_the_contract_and_of_each_kind(self, capfd: pytest.CaptureFixture[str]) -> None:
        assert packet(capfd, "contract", "schema")[1]["$id"] == "urn:qiongli:schema:contract:1.0"
        assert packet(capfd, "contract", "schema", "overlay")[1]["$id"] == "urn:qiongli:schema:overlay:1.0"
        code, document = packet(capfd, "contract", "schema", "recipe")
        assert (code, document["error"]["code"]) == (2, "unknown_document")

    def test_new_then_validate_then_diff(self, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        code, document = packet(capfd, "contract", "new", "botany", "--dir", tmp_path)
        assert code == 0
        assert "src/qiongli_subject_botany/runtime-subject.yaml" in document["files"]
        assert packet(capfd, "contract", "validate", document["path"])[0] == 0
        code, document = packet(capfd, "contract", "diff", document["path"], document["path"])
        assert (code, document["same"], document["changes"]) == (0, True, [])
        code, document = packet(capfd, "contract", "new", "botany", "--dir", tmp_path)
        assert (code, document["error"]["code"]) == (2, "already_exists")

    def test_diff_of_a_broken_contract_names_its_problems(
        self, capfd: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        old, new = tmp_path / "old.yaml", tmp_path / "new.yaml"
        old.write_text(VALID, "utf-8")
        new.write_text(changed("      weight: 0.20", "      weight: 2"), "utf-8")
        code, document = packet(capfd, "contract", "diff", old, new)
        assert (code, document["problems"][0]["code"]) == (2, "invalid_weight")
        new.write_text(changed("      weight: 0.20", "      weight: 0.18"), "utf-8")
        code, out, _ = ask(capfd, "contract", "diff", old, new)
        assert (code, out) == (0, "~ signal botany.data-or-outcome.herbarium weight: 0.2 -> 0.18\n")


class TestResource:
    @pytest.fixture(autouse=True)
    def installed(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        from contract_cases import contract_of

        from qiongli.gate import admission
        from qiongli.plugins.catalogue import Catalogue, CatalogueSubject
        from qiongli.records.subjects import SubjectListing

        listing = SubjectListing("botany", "Botany", "qiongli-subject-botany", "1", "", "candidate", "lens_only")
        item = CatalogueSubject(contract_of(), listing, write_package(tmp_path), 2)
        monkeypatch.setattr(admission, "installed_catalogue", lambda: Catalogue((item,), (listing,)))

    def test_list_says_what_may_be_loaded(self, capfd: pytest.CaptureFixture[str]) -> None:
        code, document = packet(capfd, "resource", "list")
        assert code == 0
        assert [(row["kind"], row["loadable"]) for row in document["resources"]] == [
            ("overlay", False),
            ("skill", False),
            ("domain_profile", False),
            ("method_pack", True),
            ("venue_profile", True),
        ]
        assert document["missing"] == []
        assert ask(capfd, "resource", "list", "botany")[0] == 0

    def test_show_prints_a_pack_and_refuses_an_overlay(self, capfd: pytest.CaptureFixture[str]) -> None:
        code, out, _ = ask(capfd, "resource", "show", "botany", "method_pack", "grafting")
        assert (code, out.splitlines()[0]) == (0, "kind: method_pack")
        code, document = packet(capfd, "resource", "show", "botany", "overlay")
        assert (code, document["error"]["code"]) == (3, "resource_not_active")

    def test_an_unknown_subject_names_the_known_ones(self, capfd: pytest.CaptureFixture[str]) -> None:
        code, document = packet(capfd, "resource", "list", "botanny")
        assert (code, document["error"]["available"]) == (2, ["botany"])
