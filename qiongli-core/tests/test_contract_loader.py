"""Loading `runtime-subject.yaml`: what is accepted, and what is refused with its exact place."""

from __future__ import annotations

from pathlib import Path

import pytest
from contract_cases import FILE, VALID, changed, contract_of, read, summary

from qiongli.contract import load_contract
from qiongli.contract.models import MethodLens, Pattern, RequiredMetrics
from qiongli.errors import ContractError


class TestAccepted:
    def test_every_key_of_a_valid_contract_reaches_the_model(self) -> None:
        contract = contract_of()
        assert contract.schema_version == "1.0"
        assert (contract.subject, contract.display_name) == ("botany", "Botany")
        assert contract.activation_status == "candidate"
        assert contract.requires_qiongli == ">=0.1,<0.2"
        assert contract.venue_profiles == {"annals": "venue-profiles/annals.yaml"}
        assert contract.method_lenses == (MethodLens("grafting", "method-packs/grafting.yaml", optional=True),)
        assert contract.evaluation_pack == "evaluation/"
        assert contract.forbidden_subjects == ("zoology",)
        assert contract.activation_gate.required_metrics == RequiredMetrics(0.95, 0.95, 0)
        assert contract.hooks is None
        method, data = contract.signals
        assert (method.id, method.dimension, method.weight, method.line) == (
            "botany.method.grafting",
            "method",
            100_000,
            14,
        )
        assert method.patterns == (
            Pattern("phrase", "grafting trial", line=21),
            Pattern("acronym", "GT", near=("graft", "scion"), line=22),
            Pattern("regex", "graft(ed|ing) onto", line=23),
            Pattern("phrase", "嫁接", lang="zh", line=24),
            Pattern("phrase", "scion", justification="no everyday sense", line=25),
        )
        assert (data.subject, data.dimension, data.weight) == ("botany", "data_or_outcome", 200_000)
        assert contract.suppressors[0].weight == 100_000

    def test_the_digest_is_sha256_of_the_bytes(self) -> None:
        from hashlib import sha256

        assert contract_of().digest == sha256(VALID.encode()).hexdigest()

    @pytest.mark.parametrize("version", ["1.0", '"1.0"', "'1.0'", "1"])
    def test_the_schema_version_is_read_as_text(self, version: str) -> None:
        text = changed('schema_version: "1.0"', f"schema_version: {version}")
        assert contract_of(text).schema_version == "1.0"

    def test_only_five_keys_are_needed_by_a_candidate_that_lends_nothing(self) -> None:
        contract = contract_of(
            'schema_version: "1.0"\nsubject: botany\ndisplay_name: Botany\n'
            "activation_status: candidate\nsignal_groups: {}\n"
        )
        assert contract.signals == ()
        assert contract.documentation == "README.md"
        assert contract.overlay is None

    def test_a_lens_may_be_only_the_path_of_its_pack(self) -> None:
        text = changed("{pack: method-packs/grafting.yaml, optional: true}", "method-packs/grafting.yaml")
        assert contract_of(text).method_lenses == (MethodLens("grafting", "method-packs/grafting.yaml"),)

    @pytest.mark.parametrize("segment", ["data_or_outcome", "data-or-outcome"])
    def test_an_id_names_its_dimension_as_it_is_or_with_hyphens(self, segment: str) -> None:
        text = changed("id: botany.data-or-outcome.herbarium", f"id: botany.{segment}.herbarium")
        assert contract_of(text).signals[1].id == f"botany.{segment}.herbarium"

    def test_the_example_of_the_requirements_loads(self) -> None:
        text = """
schema_version: 1.0
subject: accounting
display_name: Accounting
activation_status: candidate
extends: core
domain_profile: content/skills/domain-profiles/accounting.yaml
overlay: overlays/accounting.yaml
subject_skill: skills/accounting/SKILL.md
signal_groups:
  method: []
  data_or_outcome: []
  venue: []
  theory_or_construct: []
method_lenses: {}
evaluation_pack: tests/fixtures/subject_router_eval/accounting/
near_miss_policy:
  forbidden_subjects:
    - finance
    - economics
activation_gate:
  required_metrics:
    primary_subject_accuracy: 0.95
    suggest_subject_precision: 0.95
    near_miss_false_positives: 0
"""
        assert contract_of(text).forbidden_subjects == ("finance", "economics")

    def test_a_composite_names_two_other_subjects(self) -> None:
        assert contract_of(changed("composes: []", "composes: [zoology, ecology]")).composes == ("zoology", "ecology")

    def test_thresholds_may_be_tightened(self) -> None:
        text = changed("primary_subject_accuracy: 0.95", "primary_subject_accuracy: 0.99")
        assert contract_of(text).activation_gate.required_metrics.primary_subject_accuracy == 0.99

    def test_a_veto_with_a_reason_is_accepted(self) -> None:
        text = changed("    weight: 0.10\n    examples", "    weight: 0.30\n    reason: a surgeon's word\n    examples")
        assert contract_of(text).suppressors[0].reason == "a surgeon's word"


#: What is changed; into what; the code, line and field of the one problem that this makes.
REFUSED = [
    # Keys
    ("display_name: Botany", "displayname: Botany", ("unknown_key", 3, "displayname")),
    (
        "  single_dimension: false",
        "  single_dimensions: false",
        ("unknown_key", 51, "activation_gate.single_dimensions"),
    ),
    ("      value: herbarium", "      valeu: herbarium", ("unknown_key", 30, "signal_groups.data_or_outcome[0].valeu")),
    ("  venue: []", "  venues: []", ("unknown_dimension", 36, "signal_groups.venues")),
    ("optional: true", "optionnal: true", ("unknown_key", 46, "method_lenses.grafting.optionnal")),
    ("hooks: null", "hooks: null\nhooks: null", ("duplicate_key", 54, "")),
    ("subject: botany\ndisplay", "display", ("missing_key", 1, "subject")),
    ("      activation: subject\n", "", ("missing_key", 29, "signal_groups.data_or_outcome[0].activation")),
    # Values
    ("activation_status: candidate", "activation_status: enabled", ("invalid_status", 4, "activation_status")),
    ("activation_status: candidate", "activation_status: [candidate]", ("wrong_type", 4, "activation_status")),
    ("  venue: []", "  method_or_tool: []", ("unknown_dimension", 36, "signal_groups.method_or_tool")),
    (
        "      dimension: method",
        "      dimension: methods",
        ("unknown_dimension", 16, "signal_groups.method[0].dimension"),
    ),
    (
        "      dimension: method",
        "      dimension: vocabulary",
        ("unknown_dimension", 16, "signal_groups.method[0].dimension"),
    ),
    ("      dimension: method", "      dimension: venue", ("invalid_value", 16, "signal_groups.method[0].dimension")),
    ("      subject: botany", "      subject: zoology", ("invalid_value", 15, "signal_groups.method[0].subject")),
    (
        "      activation: subject",
        "      activation: always",
        ("invalid_value", 32, "signal_groups.data_or_outcome[0].activation"),
    ),
    ("subject: botany\ndisplay", "subject: Botany\ndisplay", ("invalid_value", 2, "subject")),
    ("subject: botany\ndisplay", "subject: auto\ndisplay", ("invalid_value", 2, "subject")),
    ("subject: botany\ndisplay", "subject: core\ndisplay", ("invalid_value", 2, "subject")),
    ("extends: core", "extends: zoology", ("invalid_value", 5, "extends")),
    ('">=0.1,<0.2"', '"about 1"', ("invalid_specifier", 6, "requires_qiongli")),
    ("[zoology]", "[zoology, zoology]", ("invalid_value", 48, "near_miss_policy.forbidden_subjects[1]")),
    ("[zoology]", "[botany]", ("invalid_value", 48, "near_miss_policy.forbidden_subjects")),
    ("composes: []", "composes: [zoology]", ("invalid_composite", 52, "composes")),
    ("composes: []", "composes: [botany, zoology]", ("invalid_composite", 52, "composes")),
    ("hooks: null", 'hooks: "../evil"', ("invalid_value", 53, "hooks")),
    ("hooks: null", "hooks: os.import", ("invalid_value", 53, "hooks")),
    ("single_dimension: false", "single_dimension: yes", ("wrong_type", 51, "activation_gate.single_dimension")),
    ("single_dimension: false", 'single_dimension: "false"', ("wrong_type", 51, "activation_gate.single_dimension")),
    (
        "primary_subject_accuracy: 0.95",
        "primary_subject_accuracy: 0.94",
        ("threshold_loosened", 50, "activation_gate.required_metrics.primary_subject_accuracy"),
    ),
    (
        "near_miss_false_positives: 0",
        "near_miss_false_positives: 1",
        ("threshold_loosened", 50, "activation_gate.required_metrics.near_miss_false_positives"),
    ),
    # Ids
    (
        "id: botany.data-or-outcome.herbarium",
        "id: zoology.data-or-outcome.herbarium",
        ("invalid_id", 29, "signal_groups.data_or_outcome[0].id"),
    ),
    (
        "id: botany.data-or-outcome.herbarium",
        "id: botany.method.herbarium",
        ("invalid_id", 29, "signal_groups.data_or_outcome[0].id"),
    ),
    (
        "id: botany.data-or-outcome.herbarium",
        "id: botany.herbarium",
        ("invalid_id", 29, "signal_groups.data_or_outcome[0].id"),
    ),
    (
        "id: botany.data-or-outcome.herbarium",
        "id: botany.data-or-outcome.Her barium",
        ("invalid_id", 29, "signal_groups.data_or_outcome[0].id"),
    ),
    ("id: botany.suppressor.skin", "id: botany.method.skin", ("invalid_id", 40, "suppressors[0].id")),
    # Method signals
    ("      value: grafting", "      value: Grafting trials", ("invalid_value", 17, "signal_groups.method[0].value")),
    (
        "      weight: 0.10\n      activation",
        "      weight: 0.09\n      activation",
        ("invalid_weight", 18, "signal_groups.method[0].weight"),
    ),
    (
        "      activation: subject",
        "      activation: method_only",
        ("invalid_value", 32, "signal_groups.data_or_outcome[0].activation"),
    ),
    (
        "    weight: 0.10\n    examples",
        "    weight: 0.11\n    examples",
        ("invalid_weight", 42, "suppressors[0].weight"),
    ),
    # Patterns
    ("- grafting trial", '- ""', ("invalid_pattern", 21, "signal_groups.method[0].patterns[0]")),
    ("- grafting trial", '- "—"', ("invalid_pattern", 21, "signal_groups.method[0].patterns[0]")),
    ("- grafting trial", "- 2008", ("wrong_type", 21, "signal_groups.method[0].patterns[0]")),
    ("- grafting trial", "- no", ("wrong_type", 21, "signal_groups.method[0].patterns[0]")),
    ("- grafting trial", "- [grafting, trial]", ("wrong_type", 21, "signal_groups.method[0].patterns[0]")),
    ("- grafting trial", "- {near: [x]}", ("invalid_pattern", 21, "signal_groups.method[0].patterns[0]")),
    ("- grafting trial", "- {phrase: a b, regex: a}", ("invalid_pattern", 21, "signal_groups.method[0].patterns[0]")),
    ("- grafting trial", "- {phrase: a b, near: [x]}", ("unknown_key", 21, "signal_groups.method[0].patterns[0].near")),
    (
        "- grafting trial",
        "- {phrase: a b, lang: fr}",
        ("invalid_pattern", 21, "signal_groups.method[0].patterns[0].lang"),
    ),
    (
        "- grafting trial",
        "- {phrase: a b, lang: zh}",
        ("invalid_pattern", 21, "signal_groups.method[0].patterns[0].lang"),
    ),
    ("- grafting trial", "- {phrase: SCION}", ("invalid_pattern", 25, "signal_groups.method[0].patterns")),
    (
        "{acronym: GT, near: [graft, scion]}",
        "{acronym: GT}",
        ("missing_key", 22, "signal_groups.method[0].patterns[1].near"),
    ),
    (
        "{acronym: GT, near: [graft, scion]}",
        "{acronym: GT, near: []}",
        ("invalid_value", 22, "signal_groups.method[0].patterns[1].near"),
    ),
    (
        "{acronym: GT, near: [graft, scion]}",
        "{acronym: G T, near: [x]}",
        ("invalid_pattern", 22, "signal_groups.method[0].patterns[1].acronym"),
    ),
    (
        "{acronym: GT, near: [graft, scion]}",
        "{acronym: gt, near: [x]}",
        ("invalid_pattern", 22, "signal_groups.method[0].patterns[1].acronym"),
    ),
    (
        "{acronym: GT, near: [graft, scion]}",
        "{acronym: GT, near: [two words]}",
        ("invalid_pattern", 22, "signal_groups.method[0].patterns[1].near[0]"),
    ),
    ("graft(ed|ing) onto", "graft(ed", ("regex_refused", 23, "signal_groups.method[0].patterns[2].regex")),
    ("graft(ed|ing) onto", "(?<=a)graft", ("regex_refused", 23, "signal_groups.method[0].patterns[2].regex")),
    ("graft(ed|ing) onto", "(g)\\\\1", ("regex_refused", 23, "signal_groups.method[0].patterns[2].regex")),
    ("graft(ed|ing) onto", "(graft)*", ("regex_refused", 23, "signal_groups.method[0].patterns[2].regex")),
    (
        "graft(ed|ing) onto",
        "((a{1,100}){1,100}){1,100}",
        ("regex_refused", 23, "signal_groups.method[0].patterns[2].regex"),
    ),
    (
        "      patterns: [herbarium sheet]",
        "      patterns: []",
        ("invalid_value", 33, "signal_groups.data_or_outcome[0].patterns"),
    ),
    # Snippets
    (
        '      near_misses: ["A sheet of paper."]',
        "      near_misses: []",
        ("invalid_value", 35, "signal_groups.data_or_outcome[0].near_misses"),
    ),
    ("display_name: Botany", 'display_name: "Bot\\u202eany"', ("invalid_value", 3, "display_name")),
    ("display_name: Botany", 'display_name: "Bot\\nany"', ("invalid_value", 3, "display_name")),
    ("display_name: Botany", "display_name:", ("wrong_type", 3, "display_name")),
]


@pytest.mark.parametrize(("old", "new", "problem"), REFUSED, ids=[f"{case[1].strip()[:40]}" for case in REFUSED])
def test_a_fault_is_refused_with_its_line_and_dotted_field(old: str, new: str, problem: tuple[str, int, str]) -> None:
    found = summary(changed(old, new))
    assert problem in found
    # A misspelt key is also a missing one where the key is required; nothing else may be reported.
    assert {code for code, _, _ in found} <= {problem[0], "missing_key"}


WEIGHTS = [
    ".nan",
    ".inf",
    "-.inf",
    "1e999",
    "1e999999999",
    "-1e-999999999",
    "true",
    '"0.2"',
    "0x1",
    "0.05",
    "0.0599999",
    "0.2000001",
    "-0.2",
    "null",
    "[0.2]",
    "{a: 1}",
    "0.2.0",
    "1_0",
    "0.2 # fine",
    "12:30",
    "٠.٢",
    "1/5",
]


@pytest.mark.parametrize("weight", WEIGHTS)
def test_a_weight_is_a_finite_decimal_number_in_its_range(weight: str) -> None:
    text = changed("      weight: 0.20", f"      weight: {weight}")
    expected = [] if "#" in weight else [("invalid_weight", 31, "signal_groups.data_or_outcome[0].weight")]
    assert summary(text) == expected


@pytest.mark.parametrize(
    ("weight", "ppm"), [("0.06", 60_000), (".2", 200_000), ("2e-1", 200_000), ("0.1234565", 123_456), ("+0.1", 100_000)]
)
def test_a_weight_becomes_millionths_exactly_rounded_half_to_even(weight: str, ppm: int) -> None:
    assert contract_of(changed("      weight: 0.20", f"      weight: {weight}")).signals[1].weight == ppm


@pytest.mark.parametrize("weight", ["0", "0.0", "-0.0", "0.31", ".nan"])
def test_a_suppressor_weighs_above_0_and_at_most_0_30(weight: str) -> None:
    text = changed("    weight: 0.10\n    examples", f"    weight: {weight}\n    reason: r\n    examples")
    assert summary(text) == [("invalid_weight", 42, "suppressors[0].weight")]


PATHS = [
    "../x.yaml",
    "a/../../x.yaml",
    "/etc/passwd",
    "//host/share/x",
    "C:/x.yaml",
    "c:x.yaml",
    "a\\\\b.yaml",
    "\\\\\\\\host\\\\x",
    "~/x.yaml",
    "~root/x",
    "./x.yaml",
    "a//b.yaml",
    "a/./b",
    "a/",
    "a?.yaml",
    "a*.yaml",
    "a\\u0000.yaml",
    "a\\nb",
    "nul",
    "a/CON.yaml",
    "a./b.yaml",
    "a /b.yaml",
    "a|b",
    "x" * 201,
]


@pytest.mark.parametrize("path", PATHS)
def test_a_path_that_could_leave_the_package_or_is_not_portable_is_refused(path: str) -> None:
    found = summary(changed("overlay: overlays/botany.yaml", f'overlay: "{path}"'))
    assert found == [("invalid_path", 9, "overlay")]


@pytest.mark.parametrize(
    "key",
    [
        "documentation: README.md",
        "domain_profile: domain-profile.yaml",
        "subject_skill: skills/botany/SKILL.md",
        "evaluation_pack: evaluation/",
    ],
)
def test_every_path_of_the_contract_is_checked(key: str) -> None:
    name = key.split(":")[0]
    assert [(code, field) for code, _, field in summary(changed(key, f"{name}: ../x"))] == [("invalid_path", name)]


def test_paths_of_lenses_and_venues_are_checked_too() -> None:
    text = changed("{annals: venue-profiles/annals.yaml}", "{annals: ../a}")
    text = changed("pack: method-packs/grafting.yaml", "pack: ../b", text)
    assert summary(text) == [
        ("invalid_path", 11, "venue_profiles.annals"),
        ("invalid_path", 46, "method_lenses.grafting.pack"),
    ]


class TestSchemaVersion:
    @pytest.mark.parametrize("version", ["2.0", '"2.0"', "1.1", "10.0", "2"])
    def test_a_newer_schema_is_refused_with_the_advice_to_upgrade_core_and_nothing_else(self, version: str) -> None:
        text = changed('schema_version: "1.0"', f"schema_version: {version}\nunheard_of: 1")
        _, problems = read(text)
        assert [(problem.code, problem.line) for problem in problems] == [("newer_schema", 1)]
        assert "Upgrade core" in problems[0].hint

    @pytest.mark.parametrize("version", ["0.9", "new", "[1]", "", "1.0.0"])
    def test_what_is_no_known_version_is_refused(self, version: str) -> None:
        assert [problem[2] for problem in summary(changed('"1.0"', version))] == ["schema_version"]


class TestStatusAndReferences:
    @pytest.mark.parametrize("status", ["eval_ready", "runtime_enabled"])
    @pytest.mark.parametrize(
        "line",
        [
            "domain_profile: domain-profile.yaml",
            "overlay: overlays/botany.yaml",
            "subject_skill: skills/botany/SKILL.md",
            "evaluation_pack: evaluation/",
        ],
    )
    def test_a_status_above_candidate_needs_every_reference(self, status: str, line: str) -> None:
        key = line.split(":")[0]
        text = changed("status: candidate", f"status: {status}")
        assert [(code, field) for code, _, field in summary(changed(line + "\n", "", text))] == [
            ("missing_reference", key)
        ]
        assert [(code, field) for code, _, field in summary(changed(line, f"{key}: null", text))] == [
            ("missing_reference", key)
        ]

    def test_a_candidate_may_lack_them(self) -> None:
        assert contract_of(changed("overlay: overlays/botany.yaml\n", "")).overlay is None


class TestAllAtOnce:
    def test_problems_all_appear_in_file_order_each_with_file_line_and_field(self) -> None:
        text = VALID
        for old, new in (
            ("hooks: null", "hoooks: null"),
            ("activation_status: candidate", "activation_status: on"),
            ("      weight: 0.20", "      weight: .nan"),
            ("overlay: overlays/botany.yaml", "overlay: ../x"),
            ("id: botany.data-or-outcome.herbarium", "id: botany.method.grafting"),
        ):
            text = changed(old, new, text)
        _, problems = read(text)
        assert [(problem.code, problem.place) for problem in problems] == [
            ("invalid_status", f"{FILE}:4: activation_status"),
            ("invalid_path", f"{FILE}:9: overlay"),
            ("invalid_id", f"{FILE}:29: signal_groups.data_or_outcome[0].id"),
            ("duplicate_id", f"{FILE}:29: signal_groups.data_or_outcome[0].id"),
            ("invalid_weight", f"{FILE}:31: signal_groups.data_or_outcome[0].weight"),
            ("unknown_key", f"{FILE}:53: hoooks"),
        ]

    def test_the_index_of_a_signal_is_its_place_in_the_file_even_after_a_faulty_one(self) -> None:
        text = changed("  venue: []", "  venue:\n    - 7\n    - {id: x}\n")
        fields = [field for _, _, field in summary(text)]
        assert "signal_groups.venue[0]" in fields
        assert "signal_groups.venue[1].id" in fields

    def test_an_unknown_key_is_answered_with_the_nearest_known_one(self) -> None:
        _, problems = read(changed("hooks: null", "hoook: null"))
        assert problems[0].hint == "did you mean 'hooks'?"
        assert "composes" in problems[0].available

    def test_an_unknown_status_lists_the_four(self) -> None:
        _, problems = read(changed("activation_status: candidate", "activation_status: runtime-enabled"))
        assert problems[0].available == ("candidate", "eval_ready", "runtime_enabled", "disabled")
        assert problems[0].hint == "did you mean 'runtime_enabled'?"

    def test_a_file_full_of_faults_is_reported_in_bounded_length(self) -> None:
        text = VALID + "".join(f"key{number}: 1\n" for number in range(5_000))
        _, problems = read(text)
        assert len(problems) == 201
        assert problems[-1].message == "4800 further problems are not listed"


class TestLoadContract:
    def test_a_file_or_its_folder_may_be_named(self, tmp_path: Path) -> None:
        (tmp_path / FILE).write_text(VALID, encoding="utf-8")
        assert load_contract(tmp_path) == load_contract(tmp_path / FILE) == contract_of()

    def test_faults_come_as_one_error_with_all_problems(self, tmp_path: Path) -> None:
        path = tmp_path / FILE
        path.write_text(changed("      weight: 0.20", "      weight: 2", changed("hooks: null", "hook: 1")), "utf-8")
        with pytest.raises(ContractError) as caught:
            load_contract(path)
        assert caught.value.code == "invalid_contract"
        assert [problem.code for problem in caught.value.problems] == ["invalid_weight", "unknown_key"]
        assert caught.value.problems[0].place == f"{path}:31: signal_groups.data_or_outcome[0].weight"

    def test_a_sole_fault_gives_the_error_its_code(self, tmp_path: Path) -> None:
        (tmp_path / FILE).write_text(changed('"1.0"', '"3.0"'), "utf-8")
        with pytest.raises(ContractError) as caught:
            load_contract(tmp_path)
        assert caught.value.code == "newer_schema"

    def test_a_missing_file_a_folder_and_a_pipe_are_errors_and_never_hang(self, tmp_path: Path) -> None:
        import os

        os.mkfifo(tmp_path / "pipe.yaml")
        (tmp_path / FILE).mkdir()
        for path in (tmp_path / "none.yaml", tmp_path / FILE / FILE, tmp_path / "pipe.yaml"):
            with pytest.raises(ContractError) as caught:
                load_contract(path)
            assert caught.value.code == "unreadable"

    def test_a_link_that_leaves_the_folder_is_refused(self, tmp_path: Path) -> None:
        outside = tmp_path / "outside.yaml"
        outside.write_text(VALID, "utf-8")
        home = tmp_path / "package"
        home.mkdir()
        (home / FILE).symlink_to(outside)
        with pytest.raises(ContractError) as caught:
            load_contract(home)
        assert caught.value.code == "path_escapes"

    def test_links_in_a_circle_are_an_error(self, tmp_path: Path) -> None:
        (tmp_path / FILE).symlink_to(tmp_path / FILE)
        with pytest.raises(ContractError):
            load_contract(tmp_path)
