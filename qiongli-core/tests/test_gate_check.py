"""The gate: what each check stops, that none stops another, and what a newcomer may not do to those before it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest
from gate_cases import TOPICS, fixture, pack, write_pack, write_package

from qiongli.contract import load_contract
from qiongli.errors import InputError
from qiongli.evaluation.catalogue import as_subject, switched_on
from qiongli.evaluation.packs import Pack, load_legacy_pack
from qiongli.gate._checks import ALL_CHECKS, FULL_CHECKS
from qiongli.gate.check import check_gate_name, check_subject, unavailable, verdict_of
from qiongli.hookspecs import BlockingFailure
from qiongli.plugins.catalogue import Catalogue, CatalogueSubject
from qiongli.records.gate import ActivationRecord, GateCheck, GateReport

WORD = "zorblat"
Fixtures = list[dict[str, Any]]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_package(tmp_path_factory.mktemp("original") / "package", WORD)


@pytest.fixture
def root(original: Path, tmp_path: Path) -> Path:
    """A package of one's own to break."""
    return Path(shutil.copytree(original, tmp_path / "package"))


def subject_in(root: Path) -> CatalogueSubject:
    return as_subject(load_contract(root), root, distribution=f"dist-{root.name}", version="1.0")


def checked(root: Path, *peers: CatalogueSubject, **options: Any) -> GateReport:
    options.setdefault("depth", "fast")
    return check_subject(subject_in(root), peers, **options).report


def outcome(report: GateReport, name: str) -> GateCheck:
    return next(check for check in report.checks if check.name == name)


def failing(report: GateReport) -> set[str]:
    return {check.name for check in report.checks if check.outcome != "pass"}


def edit(root: Path, old: str, new: str, name: str = "runtime-subject.yaml") -> None:
    path = root / name
    text = path.read_text(encoding="utf-8")
    assert old in text, old
    path.write_text(text.replace(old, new), encoding="utf-8")


def also(root: Path, term: str, pattern: str) -> None:
    """Give the signal of a term one more pattern."""
    edit(root, f"patterns: [{WORD} {term}]", f"patterns: [{WORD} {term}, {pattern}]")


def change_pack(root: Path, change: Callable[[Fixtures], Fixtures], word: str = WORD) -> None:
    write_pack(root, change(pack(word)))


class TestReport:
    def test_a_subject_that_passes_everything_is_eligible(self, root: Path) -> None:
        report = checked(root, depth="full")
        assert failing(report) == set()
        assert (report.verdict, report.eligible_for_runtime_enabled) == ("pass", True)
        assert report.blocking_failures == ()
        assert report.activation_status == "eval_ready"
        assert {check.name for check in report.checks} == {name for name, _ in ALL_CHECKS}

    def test_the_known_metrics_come_first(self, root: Path) -> None:
        metrics = checked(root).to_packet()["metrics"]
        assert list(metrics)[:4] == [
            "primary_subject_accuracy", "suggest_subject_precision", "near_miss_false_positives",
            "legacy_regression_failures",
        ]  # fmt: skip
        assert metrics["primary_subject_accuracy"] == 1.0

    def test_the_fast_gate_leaves_out_what_takes_long(self, root: Path) -> None:
        names = {check.name for check in checked(root).checks}
        assert names.isdisjoint(FULL_CHECKS)

    def test_what_was_left_out_on_request_makes_not_eligible(self, root: Path) -> None:
        report = checked(root, left_out="report")
        assert {outcome(report, name).outcome for name in FULL_CHECKS} == {"not_checked"}
        assert not report.eligible_for_runtime_enabled

    def test_no_check_stops_another(self, root: Path) -> None:
        """A candidate whose skill is gone, whose pack is broken and whose lock does not hold: all three are named."""
        edit(root, "eval_ready", "candidate")
        (root / "skills" / WORD / "SKILL.md").unlink()
        write_pack(root, [item for item in pack(WORD) if item["category"] != "clear_positive"])
        (root / "evaluation" / "broken.json").write_text("{", encoding="utf-8")
        report = checked(root)
        assert {"activation_status", "resources", "documentation", "fixtures", "fixture_categories"} <= failing(report)
        assert "subject activation_status is candidate" in report.blocking_failures
        assert "missing clear_positive fixtures" in report.blocking_failures

    def test_a_check_that_cannot_be_made_is_no_pass(self, root: Path) -> None:
        def broken(subject: CatalogueSubject) -> Pack:
            raise OSError("gone")

        report = check_subject(subject_in(root), (), depth="fast", pack_of=broken).report
        assert outcome(report, "fixtures").outcome == "not_checked"
        assert outcome(report, "contract").outcome == "pass"
        assert report.verdict == "fail"

    def test_a_contract_that_cannot_be_read_leaves_nothing_to_check(self, root: Path) -> None:
        subject = subject_in(root)
        edit(root, "subject: zorblat\n", "")
        report = check_subject(subject, (), depth="full").report
        assert outcome(report, "contract").outcome == "fail"
        assert {check.outcome for check in report.checks[1:]} == {"not_checked"}

    def test_the_contract_is_read_anew_whatever_was_passed_in(self, root: Path) -> None:
        subject = subject_in(root)
        edit(root, "weight: 0.20", "weight: 0.10")
        assert not check_subject(subject, (), depth="fast").report.eligible_for_runtime_enabled

    def test_an_unknown_subject_gets_the_same_report(self) -> None:
        report = unavailable("nope", Catalogue()).report
        assert report.activation_status == "unavailable"
        assert not report.eligible_for_runtime_enabled
        assert report.blocking_failures == ("no subject 'nope' is installed; installed are: none",)
        assert list(report.metrics)[:1] == ["primary_subject_accuracy"]

    def test_there_is_one_gate(self) -> None:
        check_gate_name("runtime-enabled")
        check_gate_name("runtime_enabled")
        with pytest.raises(InputError) as unknown:
            check_gate_name("candidate")
        assert unknown.value.available == ("runtime-enabled",)

    def test_no_finding_is_no_pass(self) -> None:
        assert verdict_of([]) == "fail"


class TestPackageChecks:
    def test_resources_must_be_there(self, root: Path) -> None:
        (root / "overlays" / f"{WORD}.yaml").unlink()
        report = checked(root)
        assert "resources" in failing(report)
        assert f"overlays/{WORD}.yaml" in " ".join(outcome(report, "resources").details)

    def test_a_missing_optional_method_pack_is_no_failure_by_itself(self, root: Path) -> None:
        (root / "method-packs" / "kernel-estimator.yaml").unlink()
        assert "resources" not in failing(checked(root))

    def test_a_resource_outside_the_package_is_one(self, root: Path, tmp_path: Path) -> None:
        target = root / "overlays" / f"{WORD}.yaml"
        outside = tmp_path / "outside.yaml"
        outside.write_bytes(target.read_bytes())
        target.unlink()
        target.symlink_to(outside)
        assert "resources" in failing(checked(root))

    def test_the_documentation_states_the_status(self, root: Path) -> None:
        edit(root, "eval_ready", "candidate", "README.md")
        assert failing(checked(root)) == {"documentation"}

    def test_examples_are_executed(self, root: Path) -> None:
        edit(root, "Counts come from the zorblat specimen ledger.", "Counts come from elsewhere.")
        assert "examples" in failing(checked(root))

    def test_near_misses_are_executed(self, root: Path) -> None:
        edit(root, "The specimen ledger of the shop was lost.", "The zorblat specimen ledger of the shop was lost.")
        assert "examples" in failing(checked(root))

    def test_a_method_that_is_lent_alone_needs_its_lens(self, root: Path) -> None:
        edit(root, "  transect-protocol: {pack: method-packs/transect-protocol.yaml, optional: true}\n", "")
        report = checked(root)
        assert "resources" in failing(report)
        assert "no method lens is declared for the method-only value 'transect-protocol'" in report.blocking_failures

    def test_a_loosened_threshold_is_refused(self, root: Path) -> None:
        gate = "activation_gate: {required_metrics: {primary_subject_accuracy: 0.5}}\n"
        with (root / "runtime-subject.yaml").open("a", encoding="utf-8") as stream:
            stream.write(gate)
        subject = attrs.evolve(subject_in(write_package(root.parent / "other", WORD)), root=root)
        report = check_subject(subject, (), depth="fast").report
        assert "contract" in failing(report)


class TestPackChecks:
    @pytest.mark.parametrize(
        "category", ["method_only_borrow", "mixed_subject", "locked_subject", "confirmed_subject", "dismissed_subject"]
    )
    def test_every_category_is_required(self, root: Path, category: str) -> None:
        change_pack(root, lambda cases: [case for case in cases if case["category"] != category])
        assert f"missing {category} fixtures" in checked(root).blocking_failures

    def test_a_case_that_once_was_measured_must_still_be_there(self, root: Path) -> None:
        record = ActivationRecord(WORD, "d", "1", "", "", 1, {}, {}, {}, {}, ("long-gone",))
        report = checked(root, record=record)
        assert failing(report) == {"fixtures"}
        assert report.blocking_failures == ("case missing since the record: long-gone",)

    def test_a_case_under_a_second_name_fails(self, root: Path) -> None:
        def twice(cases: Fixtures) -> Fixtures:
            return [*cases, {**cases[0], "id": "once-more"}]

        change_pack(root, twice)
        report = checked(root)
        assert failing(report) == {"pack_quality"}
        assert "once-more repeats" in report.blocking_failures[0] or "repeats once-more" in report.blocking_failures[0]

    def test_one_failing_lock_is_not_outweighed_by_a_hundred_cases(self, root: Path) -> None:
        def unlock(cases: Fixtures) -> Fixtures:
            lock = next(case for case in cases if case["category"] == "locked_subject")
            lock["expected"] = {"decision": "no_subject"}
            return cases

        change_pack(root, unlock)
        assert failing(checked(root)) == {"locked_subject"}

    def test_a_method_only_case_must_not_suggest(self, root: Path) -> None:
        def suggesting(cases: Fixtures) -> Fixtures:
            case = next(case for case in cases if case["category"] == "method_only_borrow")
            case["task_packet"]["context"] += f" The {WORD} specimen ledger and the {WORD} drift conjecture."
            return cases

        change_pack(root, suggesting)
        assert "method_only" in failing(checked(root))

    def test_a_single_false_positive_fails(self, root: Path) -> None:
        def wrong(cases: Fixtures) -> Fixtures:
            near = next(case for case in cases if case["category"] == "near_miss")
            near["task_packet"]["context"] = f"The {WORD} specimen ledger and the {WORD} drift conjecture of our house."
            return cases

        change_pack(root, wrong)
        report = checked(root)
        assert "near_miss_false_positives" in failing(report)
        assert report.metrics["near_miss_false_positives"] == 1
        assert f"{WORD}-near-miss-1" in " ".join(outcome(report, "near_miss_false_positives").details)

    def test_too_few_near_misses_are_too_little_evidence(self, root: Path) -> None:
        def fewer(cases: Fixtures) -> Fixtures:
            near = [case for case in cases if case["category"] == "near_miss"]
            return [case for case in cases if case not in near[40:]]

        change_pack(root, fewer)
        report = checked(root)
        assert report.verdict == "insufficient_evidence"
        assert not report.eligible_for_runtime_enabled
        assert "19 further ones are missing" in outcome(report, "enough_near_misses").message

    def test_near_misses_that_are_not_near_are_no_evidence(self, root: Path) -> None:
        def far(cases: Fixtures) -> Fixtures:
            near = [case for case in cases if case["category"] == "near_miss"]
            for case, topic in zip(near, TOPICS[:5], strict=False):
                case["task_packet"]["context"] = f"Rain and {topic} were all that anybody wanted to talk about."
                case["expected"] = {"decision": "core_only", "primary_subject": "auto"}
            return cases

        change_pack(root, far)
        report = checked(root)
        assert failing(report) == {"enough_near_misses"}
        assert "touches no signal" in " ".join(outcome(report, "pack_quality").details)

    def test_too_few_other_cases_are_too_little_evidence(self, root: Path) -> None:
        """46 cases that count; without 20 of them 26 are left, and 35 are needed."""

        def fewer(cases: Fixtures) -> Fixtures:
            positive = [case for case in cases if case["category"] == "clear_positive"]
            return [case for case in cases if case not in positive[:20]]

        change_pack(root, fewer)
        report = checked(root)
        assert report.verdict == "insufficient_evidence"
        assert "9 further cases" in outcome(report, "enough_cases").message

    def test_cases_that_nearly_repeat_others_are_no_evidence(self, root: Path) -> None:
        """46 cases that are counted are 11 more than needed; 12 of them now say nearly the same as another."""

        def alike(cases: Fixtures) -> Fixtures:
            positive = [case for case in cases if case["category"] == "clear_positive"][:25]
            text = "A long report on the mending of church organs in five villages, with photographs and a map of each,"
            for number, case in enumerate(positive):
                ending = f" and note {number}. We use the {WORD} specimen ledger and the {WORD} drift conjecture."
                case["task_packet"]["context"] = text + ending
                case["expected"].pop("method_lenses", None)
            return cases

        change_pack(root, alike)
        report = checked(root)
        assert report.verdict == "insufficient_evidence"
        assert "further cases" in outcome(report, "enough_cases").message
        assert "says nearly the same as" in " ".join(outcome(report, "pack_quality").details)

    def test_a_regression_case_of_its_own_that_fails_blocks(self, root: Path) -> None:
        def failing_one(cases: Fixtures) -> Fixtures:
            case = next(case for case in cases if case["category"] == "legacy_regression")
            case["expected"] = {"decision": "confirm_subject"}
            return cases

        change_pack(root, failing_one)
        report = checked(root)
        assert failing(report) == {"legacy_regression"}
        assert f"{WORD}-legacy-regression-1" in " ".join(outcome(report, "legacy_regression").details)

    def test_one_core_only_task_that_gets_a_subject_fails(self, root: Path) -> None:
        """One wrong case of 47 is within the thresholds of accuracy and precision; it is a false positive anyway."""

        def taken(cases: Fixtures) -> Fixtures:
            text = f"Sailors count. The {WORD} specimen ledger and the {WORD} drift conjecture are toys of the house."
            return [*cases, fixture("toys", "mixed_subject", WORD, text, "core_only")]

        change_pack(root, taken)
        report = checked(root)
        assert "core_only" in failing(report)
        assert failing(report).isdisjoint({"primary_subject_accuracy", "suggest_subject_precision"})
        assert "toys" in " ".join(outcome(report, "core_only").details)

    def test_a_case_on_which_the_router_breaks_fails(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        from qiongli.evaluation import catalogue

        true = catalogue.infer_subject_refinement

        def breaking(task_packet: Any, **options: Any) -> Any:
            if isinstance(task_packet, dict) and task_packet.get("task_id") == f"{WORD}-near-miss-1":
                raise ZeroDivisionError
            return true(task_packet, **options)

        monkeypatch.setattr(catalogue, "infer_subject_refinement", breaking)
        report = checked(root)
        assert "fixtures" in failing(report)
        assert f"{WORD}-near-miss-1: ZeroDivisionError" in " ".join(report.blocking_failures)

    def test_a_weak_pack_is_found_out(self, root: Path) -> None:
        """In every positive all three signals stand together, so that none of them decides anything."""
        kernel = f"We use the {WORD} kernel estimator."

        def weak(cases: Fixtures) -> Fixtures:
            for case in cases:
                context = case["task_packet"]["context"]
                if case["expected"]["decision"] == "recommend":
                    terms = f"The {WORD} specimen ledger, the {WORD} drift conjecture."
                    case["task_packet"]["context"] = f"{context.split('.')[0]}. {terms} {kernel}"
                    case["expected"].pop("method_lenses", None)
            return [case for case in cases if "annals" not in json.dumps(case).lower()]

        change_pack(root, weak)
        report = checked(root, depth="full")
        assert "pack_strength" in failing(report)
        assert any("kernel-estimator:flip" in line for line in outcome(report, "pack_strength").details)


class TestSingleDimension:
    def test_an_exemption_is_proved_by_precise_suggestions(self, root: Path) -> None:
        """33 right suggestions have the lower bound 0.896; four more lift it above 0.90."""
        with (root / "runtime-subject.yaml").open("a", encoding="utf-8") as stream:
            stream.write("activation_gate: {single_dimension: true}\n")
        assert outcome(checked(root), "single_dimension").outcome != "pass"

    def test_without_a_claim_there_is_nothing_to_prove(self, root: Path) -> None:
        assert outcome(checked(root), "single_dimension").message == "no exemption is claimed"


class TestOthers:
    @pytest.fixture
    def peer(self, tmp_path: Path) -> CatalogueSubject:
        return switched_on(subject_in(write_package(tmp_path / "peer", "quimbly", status="runtime_enabled")))

    def test_a_newcomer_beside_a_peer_passes_when_it_keeps_to_itself(self, root: Path, peer: CatalogueSubject) -> None:
        report = checked(root, peer)
        assert failing(report) == set()
        assert "quimbly" in outcome(report, "composition").message

    def test_a_newcomer_that_takes_over_the_cases_of_a_peer_is_blocked(
        self, root: Path, peer: CatalogueSubject
    ) -> None:
        """It passes alone; beside the peer it claims the peer's terms with more weight, and its own name besides."""
        edit(
            root, "patterns: [zorblat specimen ledger]", "patterns: [zorblat specimen ledger, quimbly specimen ledger]"
        )
        edit(
            root,
            "patterns: [zorblat drift conjecture]",
            "patterns: [zorblat drift conjecture, quimbly drift conjecture]",
        )
        assert failing(checked(root)) == set()
        report = checked(root, peer)
        assert "legacy_regression" in failing(report)
        assert report.metrics["legacy_regression_failures"] > 0
        assert any(line.startswith("quimbly/") for line in outcome(report, "legacy_regression").details)

    def test_a_peer_that_takes_over_the_newcomers_cases_keeps_it_out(self, tmp_path: Path, root: Path) -> None:
        greedy = write_package(
            tmp_path / "greedy",
            "quimbly",
            changes={
                f"patterns: [quimbly {term}]": f"patterns: [quimbly {term}, {WORD} {term}]"
                for term in ("specimen ledger", "drift conjecture")
            },
        )
        report = checked(root, switched_on(subject_in(greedy)))
        assert "composition" in failing(report)
        assert "pass alone and fail beside quimbly" in outcome(report, "composition").message

    def test_a_case_that_fails_without_the_newcomer_too_is_no_regression(
        self, root: Path, peer: CatalogueSubject
    ) -> None:
        wrong = fixture("wrong", "clear_positive", "quimbly", f"The {WORD} specimen ledger.", "recommend")
        cases = pack("quimbly")
        write_pack(peer.root, [*cases, wrong])
        assert "legacy_regression" not in failing(checked(root, peer))

    def test_the_legacy_core_pack_protects_economics_and_finance(self, root: Path) -> None:
        """A subject that takes tagged fish for its data and stock assessment for its theory claims a core-only case."""
        from qiongli.plugins import discover

        finance = discover(environment={}).get("finance")
        assert finance is not None
        also(root, "specimen ledger", "tagged fish")
        also(root, "drift conjecture", "stock assessment")
        report = checked(root, switched_on(finance))
        lost = outcome(report, "legacy_regression").details
        assert "legacy_regression" in failing(report)
        assert any(line.startswith("legacy/") for line in lost)

    def test_without_the_legacy_pack_nothing_is_proved(self, root: Path) -> None:
        report = checked(root, legacy_of=lambda: Pack("legacy"))
        assert outcome(report, "legacy_regression").outcome == "not_checked"

    def test_a_case_removed_from_the_legacy_pack_is_noticed(self, root: Path) -> None:
        report = checked(root, legacy_of=lambda: attrs.evolve(load_legacy_pack(), missing=("gone",)))
        assert "case missing from the legacy core pack: gone" in outcome(report, "legacy_regression").details

    def test_a_composite_needs_its_parts(self, root: Path) -> None:
        with (root / "runtime-subject.yaml").open("a", encoding="utf-8") as stream:
            stream.write("composes: [quimbly, fendrax]\n")
        report = checked(root)
        assert outcome(report, "composition").outcome == "fail"
        assert outcome(report, "composition").details == ("quimbly", "fendrax")

    def test_the_shortcut_over_evidence_misses_no_regression(self, root: Path, peer: CatalogueSubject) -> None:
        """Every case of the peer, run with the newcomer, against what the gate reports as affected."""
        from qiongli.evaluation.catalogue import infer_with, measuring_runtime
        from qiongli.evaluation.packs import load_subject_pack
        from qiongli.evaluation.runner import run_fixtures

        edit(
            root,
            "patterns: [zorblat drift conjecture]",
            "patterns: [zorblat drift conjecture, quimbly drift conjecture]",
        )
        newcomer = switched_on(subject_in(root))
        cases = load_subject_pack(peer).fixtures
        alone = run_fixtures(cases, infer_with(measuring_runtime([peer])))
        beside = run_fixtures(cases, infer_with(measuring_runtime([peer, newcomer])))
        lost = {a.fixture.key for a, b in zip(alone, beside, strict=True) if a.passed and not b.passed}
        details = run_report(root, peer)
        assert {line.split(" (")[0] for line in details if line.startswith("quimbly/")} == lost


def run_report(root: Path, peer: CatalogueSubject) -> list[str]:
    measured = check_subject(subject_in(root), [peer], depth="fast").measured
    assert measured is not None
    return [str(regression) for regression in measured.regressions.regressions]


class TestPlugins:
    def test_a_plugin_may_add_a_failure(self, root: Path) -> None:
        class Hooks:
            def gate_checks(self, subject: str, report: GateReport) -> tuple[BlockingFailure, ...]:
                assert report.eligible_for_runtime_enabled
                return (BlockingFailure("house_rule", f"not {subject}"),)

        report = checked(root, hooks=Hooks())
        assert failing(report) == {"plugin_checks"}
        assert report.blocking_failures == (f"house_rule: not {WORD}",)

    def test_the_silence_of_a_plugin_takes_nothing_away(self, root: Path) -> None:
        class Hooks:
            def gate_checks(self, subject: str, report: GateReport) -> tuple[BlockingFailure, ...]:
                return ()

        edit(root, "eval_ready", "candidate")
        edit(root, "eval_ready", "candidate", "README.md")
        report = checked(root, hooks=Hooks())
        assert failing(report) == {"activation_status"}


class TestDeterminism:
    def test_a_router_that_depends_on_the_order_of_a_set_is_named(self, root: Path) -> None:
        report = check_subject(subject_in(root), (), depth="full", router="gate_routers:by_set_order").report
        found = outcome(report, "determinism")
        assert found.outcome == "fail"
        assert found.message.startswith("non-deterministic")
        assert found.details

    def test_the_repetition_runs_in_other_processes(self, root: Path) -> None:
        import os

        from qiongli.evaluation.determinism import check_determinism

        report = check_determinism([switched_on(subject_in(root))], WORD)
        assert report.deterministic
        assert len({*report.processes, os.getpid()}) == 3

    def test_a_process_that_fails_is_no_pass(self, root: Path) -> None:
        report = check_subject(subject_in(root), (), depth="full", router="gate_routers:missing").report
        assert outcome(report, "determinism").outcome == "not_checked"


def test_a_signal_broadened_to_a_common_word_names_all_who_noticed(root: Path, tmp_path: Path) -> None:
    """`ledger` alone: the subject's near misses, and the cases of a neighbour, notice it by name."""
    peer = switched_on(subject_in(write_package(tmp_path / "peer", "quimbly", status="runtime_enabled")))
    edit(root, "patterns: [zorblat specimen ledger]", "patterns: [{phrase: ledger, justification: careless}]")
    edit(root, "patterns: [zorblat drift conjecture]", "patterns: [{phrase: conjecture, justification: careless}]")
    report = checked(root, peer)
    assert not report.eligible_for_runtime_enabled
    assert {"examples", "near_miss_false_positives", "legacy_regression"} <= failing(report)
    assert any(line.startswith(f"{WORD}-near-miss") for line in outcome(report, "near_miss_false_positives").details)
    assert any(line.startswith("quimbly/") for line in outcome(report, "legacy_regression").details)
