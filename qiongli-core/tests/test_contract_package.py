"""Validating a whole subject package: its contract, every file that it names, and nothing outside of it."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from contract_cases import FILE, RESOURCES, SOURCES, VALID, changed, contract_of, write_package

from qiongli.contract import resource_state, validate_package
from qiongli.contract.packaging import check_portability, restate_status, stated_statuses


def faults(root: Path) -> list[tuple[str, str]]:
    """Code and place, relative to the package, of every fault."""
    return [(error.code, error.place.removeprefix(f"{root}/")) for error in validate_package(root)[1]]


class TestValid:
    def test_a_whole_package_has_no_fault(self, tmp_path: Path) -> None:
        contract, problems = validate_package(write_package(tmp_path))
        assert problems == ()
        assert contract == contract_of()

    def test_a_missing_optional_pack_is_no_fault(self, tmp_path: Path) -> None:
        write_package(tmp_path, **{"method-packs/grafting.yaml": None})
        assert faults(tmp_path) == []

    def test_links_inside_the_package_are_fine(self, tmp_path: Path) -> None:
        write_package(tmp_path, **{"overlays/botany.yaml": None})
        (tmp_path / "real.yaml").write_text(RESOURCES["overlays/botany.yaml"], "utf-8")
        (tmp_path / "overlays").mkdir()
        (tmp_path / "overlays/botany.yaml").symlink_to("../real.yaml")
        assert faults(tmp_path) == []

    def test_a_package_behind_a_link_is_judged_like_any_other(self, tmp_path: Path) -> None:
        write_package(tmp_path / "real")
        (tmp_path / "link").symlink_to("real")
        assert faults(tmp_path / "link") == []


class TestMissing:
    @pytest.mark.parametrize(
        ("file", "place"),
        [
            ("README.md", f"{FILE}:7: documentation"),
            ("domain-profile.yaml", f"{FILE}:8: domain_profile"),
            ("overlays/botany.yaml", f"{FILE}:9: overlay"),
            ("skills/botany/SKILL.md", f"{FILE}:10: subject_skill"),
            ("venue-profiles/annals.yaml", f"{FILE}:11: venue_profiles.annals"),
            ("evaluation/one.json", f"{FILE}:47: evaluation_pack"),
        ],
    )
    def test_a_missing_file_is_reported_where_the_contract_names_it(
        self, tmp_path: Path, file: str, place: str
    ) -> None:
        write_package(tmp_path, **{file: None})
        assert faults(tmp_path) == [("missing_resource", place)]

    def test_a_missing_pack_that_is_not_optional_is_a_fault(self, tmp_path: Path) -> None:
        write_package(tmp_path, changed("optional: true", "optional: false"), **{"method-packs/grafting.yaml": None})
        assert faults(tmp_path) == [("missing_resource", f"{FILE}:46: method_lenses.grafting")]

    def test_a_folder_in_the_place_of_a_file_is_missing(self, tmp_path: Path) -> None:
        write_package(tmp_path, **{"overlays/botany.yaml": None})
        (tmp_path / "overlays/botany.yaml").mkdir(parents=True)
        assert faults(tmp_path) == [("missing_resource", f"{FILE}:9: overlay")]

    def test_an_evaluation_folder_without_fixtures_is_missing(self, tmp_path: Path) -> None:
        write_package(tmp_path, **{"evaluation/one.json": None, "evaluation/notes.txt": "x"})
        assert faults(tmp_path) == [("missing_resource", f"{FILE}:47: evaluation_pack")]

    def test_capitals_that_only_some_systems_ignore_are_a_fault(self, tmp_path: Path) -> None:
        write_package(tmp_path, changed("documentation: README.md", "documentation: ReadMe.md"))
        assert [code for code, _ in faults(tmp_path)] == ["missing_resource"]

    def test_hooks_must_be_a_module_of_the_package(self, tmp_path: Path) -> None:
        write_package(tmp_path, changed("hooks: null", "hooks: checks.hooks"))
        assert faults(tmp_path) == [("missing_resource", f"{FILE}:53: hooks")]
        (tmp_path / "checks").mkdir()
        (tmp_path / "checks/hooks.py").write_text("raise SystemExit('never imported')\n", "utf-8")
        assert faults(tmp_path) == []

    def test_the_range_of_core_versions_must_be_stated(self, tmp_path: Path) -> None:
        write_package(tmp_path, changed('requires_qiongli: ">=0.1,<0.2"\n', ""))
        assert [code for code, _ in faults(tmp_path)] == ["missing_key"]

    def test_no_contract_at_all_is_one_fault(self, tmp_path: Path) -> None:
        assert faults(tmp_path) == [("unreadable", FILE)]


class TestEscapes:
    def test_a_link_out_of_the_package_is_refused_even_for_an_optional_pack(self, tmp_path: Path) -> None:
        root = write_package(tmp_path / "package", **{"method-packs/grafting.yaml": None})
        outside = tmp_path / "outside.yaml"
        outside.write_text(RESOURCES["method-packs/grafting.yaml"], "utf-8")
        (root / "method-packs").mkdir()
        (root / "method-packs/grafting.yaml").symlink_to(outside)
        assert ("path_escapes", f"{FILE}:46: method_lenses.grafting") in faults(root)
        assert resource_state(contract_of(), root).available_lenses == frozenset()

    def test_a_folder_that_is_a_link_out_of_the_package_is_refused(self, tmp_path: Path) -> None:
        root = write_package(tmp_path / "package", **{"overlays/botany.yaml": None})
        write_package(tmp_path / "other")
        (root / "overlays").symlink_to(tmp_path / "other/overlays")
        assert ("path_escapes", f"{FILE}:9: overlay") in faults(root)

    def test_a_link_that_the_contract_does_not_name_is_refused_too(self, tmp_path: Path) -> None:
        root = write_package(tmp_path / "package")
        (root / "evaluation/secret.json").symlink_to("/etc/hostname")
        (root / "evaluation/circle.json").symlink_to("circle.json")
        assert faults(root) == [("path_escapes", "evaluation/secret.json")]

    def test_a_neighbour_whose_name_begins_like_the_package_is_outside(self, tmp_path: Path) -> None:
        root = write_package(tmp_path / "package", **{"overlays/botany.yaml": None})
        write_package(tmp_path / "package-two")
        (root / "overlays").mkdir()
        (root / "overlays/botany.yaml").symlink_to(tmp_path / "package-two/overlays/botany.yaml")
        assert resource_state(contract_of(), root).missing[0].escapes


class TestContents:
    @pytest.mark.parametrize(
        ("file", "old", "new", "fault"),
        [
            ("overlays/botany.yaml", "kind: overlay", "kind: method_pack", ("invalid_value", "1: kind")),
            ("overlays/botany.yaml", "subject: botany", "subject: zoology", ("invalid_resource", "3: subject")),
            ("overlays/botany.yaml", "review_questions:", "questions:", ("unknown_key", "6: questions")),
            ("overlays/botany.yaml", '"1.0"', '"2.0"', ("newer_schema", "2: schema_version")),
            (
                "overlays/botany.yaml",
                "guidance: Deposit one.",
                "guidance: [x]",
                ("wrong_type", "5: standards[0].guidance"),
            ),
            ("domain-profile.yaml", "outcomes: [Yield]", "outcomes: []", ("invalid_value", "8: outcomes")),
            ("method-packs/grafting.yaml", "slug: grafting", "slug: budding", ("invalid_resource", "3: slug")),
            ("method-packs/grafting.yaml", "steps: [Cut]", "steps: [{Cut: twice}]", ("wrong_type", "9: steps[0]")),
            ("method-packs/grafting.yaml", "year: 2001", "year: soon", ("wrong_type", "13: sources[0].year")),
            ("venue-profiles/annals.yaml", "slug: annals", "slug: other", ("invalid_resource", "3: slug")),
            ("skills/botany/SKILL.md", "name: botany", "name: zoology", ("invalid_resource", "2: name")),
            ("skills/botany/SKILL.md", "name: botany", "name: Botany", ("invalid_value", "2: name")),
            ("skills/botany/SKILL.md", "name: botany", "name: bot--any", ("invalid_value", "2: name")),
            ("skills/botany/SKILL.md", "name: botany", "title: botany", ("unknown_key", "2: title")),
            ("skills/botany/SKILL.md", "Plan work on plants.", "Plan: plants.", ("yaml_syntax", "3")),
            ("skills/botany/SKILL.md", "---\nname", "name", ("invalid_resource", "1")),
            ("skills/botany/SKILL.md", "\n# Botany\n\nLook at plants.\n", "", ("invalid_resource", "4")),
        ],
    )
    def test_a_resource_is_checked_against_its_kind(
        self, tmp_path: Path, file: str, old: str, new: str, fault: tuple[str, str]
    ) -> None:
        write_package(tmp_path, **{file: changed(old, new, RESOURCES[file])})
        assert (fault[0], f"{file}:{fault[1]}") in faults(tmp_path)

    def test_a_skill_whose_description_is_too_long_is_refused(self, tmp_path: Path) -> None:
        text = changed("Plan work on plants.", "x" * 1025, RESOURCES["skills/botany/SKILL.md"])
        write_package(tmp_path, **{"skills/botany/SKILL.md": text})
        assert faults(tmp_path) == [("invalid_value", "skills/botany/SKILL.md:3: description")]

    def test_a_head_without_an_end_is_refused(self, tmp_path: Path) -> None:
        write_package(tmp_path, **{"skills/botany/SKILL.md": "---\nname: botany\n"})
        assert faults(tmp_path) == [("invalid_resource", "skills/botany/SKILL.md:1")]

    def test_a_skill_is_called_skill_md(self, tmp_path: Path) -> None:
        write_package(
            tmp_path,
            changed("skills/botany/SKILL.md", "skills/botany/skill.md"),
            **{"skills/botany/skill.md": RESOURCES["skills/botany/SKILL.md"]},
        )
        assert faults(tmp_path) == [("invalid_resource", "skills/botany/skill.md")]

    def test_too_large_a_resource_is_missing(self, tmp_path: Path) -> None:
        write_package(tmp_path, **{"overlays/botany.yaml": RESOURCES["overlays/botany.yaml"] + "#" * 300_000})
        assert faults(tmp_path) == [("missing_resource", f"{FILE}:9: overlay")]

    def test_two_standards_of_one_id_are_refused(self, tmp_path: Path) -> None:
        text = changed(
            "standards: [", "standards: [{id: vouchers, title: X, guidance: Y}, ", RESOURCES["overlays/botany.yaml"]
        )
        write_package(tmp_path, **{"overlays/botany.yaml": text})
        assert faults(tmp_path) == [("duplicate_id", "overlays/botany.yaml:5: standards[1].id")]

    def test_faults_of_all_files_come_at_once(self, tmp_path: Path) -> None:
        write_package(
            tmp_path,
            **{
                "README.md": None,
                "overlays/botany.yaml": "kind: overlay\n",
                "method-packs/grafting.yaml": "\xff",
            },
        )
        assert {code for code, _ in faults(tmp_path)} >= {"missing_resource", "missing_key", "wrong_type"}

    def test_sources_have_the_form_of_a_reference(self) -> None:
        assert "author" in SOURCES


class TestDocumentation:
    @pytest.mark.parametrize(
        "text",
        [
            "Activation status: candidate",
            "**Activation status: `candidate`.**",
            "activation_status is candidate",
            "| activation status | candidate |",
        ],
    )
    def test_a_line_that_states_the_status_is_enough(self, tmp_path: Path, text: str) -> None:
        write_package(tmp_path, **{"README.md": f"# Botany\n\n{text}\n"})
        assert faults(tmp_path) == []

    @pytest.mark.parametrize("text", ["", "A candidate.", "Activation status: runtime_enabled", "Activation status"])
    def test_another_status_or_none_is_a_fault(self, tmp_path: Path, text: str) -> None:
        write_package(tmp_path, **{"README.md": text})
        assert faults(tmp_path) == [("invalid_resource", "README.md")]

    def test_restating_changes_the_status_in_those_lines_only(self) -> None:
        text = "Activation status: `candidate`\nA candidate is listed.\n"
        assert (
            restate_status(text, "runtime_enabled") == "Activation status: `runtime_enabled`\nA candidate is listed.\n"
        )
        assert stated_statuses(restate_status(text, "eval_ready")) == ("eval_ready",)


class TestResourceState:
    def test_everything_there_lends_every_lens_and_can_be_active(self, tmp_path: Path) -> None:
        state = resource_state(contract_of(), write_package(tmp_path))
        assert state.available_lenses == {"grafting"}
        assert state.missing == ()
        assert state.can_be_active

    @pytest.mark.parametrize("file", ["overlays/botany.yaml", "skills/botany/SKILL.md"])
    def test_a_missing_overlay_or_skill_lowers_the_subject_and_keeps_its_lenses(
        self, tmp_path: Path, file: str
    ) -> None:
        state = resource_state(contract_of(), write_package(tmp_path, **{file: None}))
        assert not state.can_be_active
        assert [(missing.path, missing.lowers) for missing in state.missing] == [(file, True)]
        assert state.available_lenses == {"grafting"}

    def test_an_undeclared_overlay_lowers_the_subject_too(self, tmp_path: Path) -> None:
        contract = contract_of(changed("overlay: overlays/botany.yaml\n", ""))
        state = resource_state(contract, write_package(tmp_path))
        assert not state.can_be_active
        assert [(missing.kind, missing.path) for missing in state.missing] == [("overlay", "")]

    @pytest.mark.parametrize("optional", ["true", "false"])
    def test_a_missing_pack_disables_its_lens_with_a_note_and_lowers_nothing(
        self, tmp_path: Path, optional: str
    ) -> None:
        contract = contract_of(changed("optional: true", f"optional: {optional}"))
        state = resource_state(contract, write_package(tmp_path, **{"method-packs/grafting.yaml": None}))
        assert state.available_lenses == frozenset()
        assert state.can_be_active
        assert len(state.notes) == 1
        assert "grafting" in state.notes[0]

    def test_a_missing_profile_lowers_nothing(self, tmp_path: Path) -> None:
        state = resource_state(contract_of(), write_package(tmp_path, **{"domain-profile.yaml": None}))
        assert state.can_be_active
        assert [missing.kind for missing in state.missing] == ["domain_profile"]

    def test_no_file_is_read(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        write_package(tmp_path)

        def refuse(*_: object, **__: object) -> None:
            raise AssertionError("a file was opened")

        contract = contract_of()
        monkeypatch.setattr("builtins.open", refuse)
        monkeypatch.setattr(Path, "open", refuse)
        assert resource_state(contract, tmp_path).can_be_active


class TestPortability:
    def test_a_valid_package_is_read_alike_by_both_parsers(self, tmp_path: Path) -> None:
        assert check_portability(write_package(tmp_path)) == ()

    def test_what_only_the_c_parser_reads_is_reported_with_its_line(self, tmp_path: Path) -> None:
        if not hasattr(yaml, "CSafeLoader"):
            pytest.skip("PyYAML has no C extension on this machine")
        text = changed('["Where are the vouchers?"]', "[Where are the vouchers?]", RESOURCES["overlays/botany.yaml"])
        write_package(tmp_path, **{"overlays/botany.yaml": text})
        assert faults(tmp_path) == []
        found = check_portability(tmp_path)
        assert [(error.code, error.place) for error in found] == [
            ("yaml_syntax", f"{tmp_path / 'overlays/botany.yaml'}:6")
        ]


def test_importing_the_package_is_never_needed(tmp_path: Path) -> None:
    root = write_package(tmp_path, VALID)
    (root / "__init__.py").write_text("raise SystemExit('imported')\n", "utf-8")
    assert faults(root) == []
