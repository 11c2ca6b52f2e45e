"""What a pack is worth: near misses that are near, no repetitions, signals that decide, texts that may be changed."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from gate_cases import fixture, pack, write_package

from qiongli.contract import load_contract
from qiongli.contract.models import Pattern
from qiongli.evaluation.catalogue import as_subject, infer_with, measuring_runtime, switched_on
from qiongli.evaluation.coverage import coverage_packet, signal_coverage
from qiongli.evaluation.documents import read_fixtures
from qiongli.evaluation.fixtures import Fixture, read_fixture
from qiongli.evaluation.metamorphic import run_metamorphic
from qiongli.evaluation.mutation import broadened, mutants, run_mutation
from qiongli.evaluation.quality import examine_pack, missing_categories
from qiongli.plugins.catalogue import CatalogueSubject

WORD = "zorblat"


@pytest.fixture(scope="module")
def subject(tmp_path_factory: pytest.TempPathFactory) -> CatalogueSubject:
    root = write_package(tmp_path_factory.mktemp("subject") / "package", WORD)
    return switched_on(as_subject(load_contract(root), root))


def fixtures(raw: list[dict[str, Any]]) -> list[Fixture]:
    found = []
    for item in raw:
        read, problems = read_fixture(item, place=item["id"], pack=WORD)
        assert read is not None, problems
        found.append(read)
    return found


def examined(subject: CatalogueSubject, raw: list[dict[str, Any]]) -> Any:
    runtime = measuring_runtime([subject])
    return examine_pack(read_fixtures(fixtures(raw), runtime.index), subject.contract)


class TestQuality:
    def near(self, name: str, text: str, **more: Any) -> dict[str, Any]:
        return fixture(name, "near_miss", WORD, text, "core_only", **more)

    def test_the_made_up_pack_is_beyond_suspicion(self, subject: CatalogueSubject) -> None:
        quality = examined(subject, pack(WORD))
        assert quality.uncounted == frozenset()
        assert quality.copied_positives == ()
        assert missing_categories(fixtures(pack(WORD)), quality) == ()

    def test_a_near_miss_must_be_near(self, subject: CatalogueSubject) -> None:
        quality = examined(
            subject,
            [
                self.near("far", "The weather in the mountains was mild."),
                self.near("shares-a-word", "A ledger was found in the attic."),
                self.near("denied", f"We do not use the {WORD} specimen ledger."),
            ],
        )
        assert quality.far_near_misses == ("far",)

    def test_a_near_miss_says_what_makes_it_near(self, subject: CatalogueSubject) -> None:
        quality = examined(subject, [self.near("a", "A ledger.", description=""), self.near("b", "Two ledgers.")])
        assert quality.undescribed_near_misses == ("a",)

    def test_a_case_under_a_new_name_is_a_repetition(self, subject: CatalogueSubject) -> None:
        text = f"A page of the {WORD} specimen ledger was framed and shown in the hall of the museum."
        quality = examined(subject, [self.near("a", text), self.near("b", text.replace("framed", "FRAMED"))])
        assert quality.exact_duplicates == (("b", "a"),)

    def test_a_case_with_one_word_changed_is_nearly_one(self, subject: CatalogueSubject) -> None:
        text = f"A page of the {WORD} specimen ledger was framed and shown in the hall of the old museum by the river"
        quality = examined(subject, [self.near("a", f"{text} today."), self.near("b", f"{text} yesterday.")])
        assert quality.near_duplicates == (("b", "a"),)
        assert quality.uncounted == {"b"}

    def test_the_same_text_in_another_project_is_another_case(self, subject: CatalogueSubject) -> None:
        locked = {"active_subject": WORD, "subject_mode": "locked"}
        quality = examined(subject, [self.near("a", "A ledger."), self.near("b", "A ledger.", manifest=locked)])
        assert quality.exact_duplicates == ()

    def test_a_positive_copied_from_the_contract_is_flagged(self, subject: CatalogueSubject) -> None:
        text = f"Counts come from the {WORD} specimen ledger. It speaks to the {WORD} drift conjecture."
        quality = examined(subject, [fixture("a", "clear_positive", WORD, text, "recommend")])
        assert quality.copied_positives == (("a", f"{WORD}.data-or-outcome.specimen-ledger"),)

    def test_a_case_that_is_not_what_its_category_says_does_not_fill_it(self, subject: CatalogueSubject) -> None:
        raw = [fixture("a", "locked_subject", WORD, "Shorten it.", "core_only")]
        quality = examined(subject, raw)
        assert quality.mislabelled == (("a", "its manifest has the mode 'auto', not 'locked'"),)
        assert "locked_subject" in missing_categories(fixtures(raw), quality)

    @pytest.mark.parametrize("primary", [WORD, "auto"])
    def test_a_near_miss_that_expects_a_suggestion_says_of_which_other_subject(
        self, subject: CatalogueSubject, primary: str
    ) -> None:
        text = f"A page of the {WORD} specimen ledger was framed."
        quality = examined(subject, [fixture("a", "near_miss", WORD, text, "recommend", primary_subject=primary)])
        assert [name for name, _ in quality.mislabelled] == ["a"]
        other = [fixture("a", "near_miss", WORD, text, "recommend", primary_subject="quimbly")]
        assert examined(subject, other).mislabelled == ()


class TestCoverage:
    def test_a_signal_without_a_case_of_either_kind_is_listed(self, subject: CatalogueSubject) -> None:
        both = f"The {WORD} specimen ledger and the {WORD} drift conjecture."
        raw = [
            fixture("a", "clear_positive", WORD, both, "recommend"),
            fixture("b", "near_miss", WORD, f"We do not use the {WORD} specimen ledger.", "core_only"),
        ]
        cases = read_fixtures(fixtures(raw), measuring_runtime([subject]).index)
        found = coverage_packet(signal_coverage(cases, subject.contract))
        assert found["covered"] == 1
        assert f"{WORD}.theory-or-construct.drift-conjecture" in found["without_near_miss"]
        assert f"{WORD}.theory-or-construct.drift-conjecture" not in found["without_positive"]
        assert f"{WORD}.method.kernel-estimator" in found["without_positive"]


class TestMutation:
    def test_three_mutants_of_every_signal(self, subject: CatalogueSubject) -> None:
        found = mutants(subject.contract)
        assert len(found) == 3 * len(subject.contract.signals)
        assert {mutant.operator for mutant in found} == {"drop", "broaden", "flip"}

    def test_a_flip_silences_what_acts_and_lets_act_what_does_not(self, subject: CatalogueSubject) -> None:
        flips = {
            mutant.signal.activation: mutant.changed.activation
            for mutant in mutants(subject.contract)
            if mutant.operator == "flip" and mutant.changed is not None
        }
        assert flips == {"subject": "context_only", "method_only": "subject", "context_only": "subject"}

    @pytest.mark.parametrize(
        ("pattern", "broader"),
        [
            (Pattern("phrase", "event study"), Pattern("phrase", "study")),
            (Pattern("phrase", "annals of finance"), Pattern("phrase", "finance")),
            (Pattern("phrase", "双重差分", lang="zh"), Pattern("phrase", "重差分", lang="zh")),
            (Pattern("acronym", "JF", near=("journal",)), Pattern("phrase", "JF")),
            (Pattern("phrase", "garch"), None),
            (Pattern("regex", "a+b"), None),
        ],
    )
    def test_what_broadening_means(self, pattern: Pattern, broader: Pattern | None) -> None:
        assert broadened(pattern) == broader

    def test_a_pack_in_which_every_signal_decides_is_strong(self, subject: CatalogueSubject) -> None:
        report = run_mutation([subject], WORD, fixtures(pack(WORD)))
        assert report.score.value >= 0.9
        assert 0 < report.fixture_score.value <= report.score.value

    def test_a_pack_that_tests_nothing_leaves_survivors(self, subject: CatalogueSubject) -> None:
        """Without fixtures only examples notice: every drop, every broadened pattern, and no change of activation."""
        report = run_mutation([subject], WORD, [])
        assert report.fixture_score.successes == 0
        assert {result.operator for result in report.survivors} == {"flip"}
        assert len(report.survivors) == len(subject.contract.signals)

    def test_the_shortcut_over_evidence_gives_what_a_whole_new_index_gives(self, subject: CatalogueSubject) -> None:
        """Each mutant judged anew, by compiling the changed contract and running every fixture."""
        cases = [item for item in fixtures(pack(WORD))[:70] if item.category != "dismissed_subject"]
        fast = {result.name: bool(result.fixture) for result in run_mutation([subject], WORD, cases).results}
        slow = {}
        from qiongli.evaluation.runner import run_fixtures

        for mutant in mutants(subject.contract):
            signals = tuple(
                changed
                for signal in subject.contract.signals
                if (changed := mutant.changed if signal.id == mutant.signal.id else signal) is not None
            )
            contract = attrs.evolve(subject.contract, signals=signals, digest=mutant.name)
            runtime = measuring_runtime([attrs.evolve(subject, contract=contract)])
            slow[mutant.name] = any(not outcome.passed for outcome in run_fixtures(cases, infer_with(runtime)))
        assert fast == slow

    def test_the_number_of_processes_does_not_show(self, subject: CatalogueSubject) -> None:
        seen: list[tuple[int, int]] = []
        cases = fixtures(pack(WORD))
        alone = run_mutation([subject], WORD, cases)
        shared = run_mutation([subject], WORD, cases, jobs=2, progress=lambda done, total: seen.append((done, total)))
        assert shared == alone
        assert seen[-1] == (15, 15)


class TestChangedTexts:
    def test_form_does_not_matter_and_evidence_does(self, subject: CatalogueSubject) -> None:
        runtime = measuring_runtime([subject])
        report = run_metamorphic(read_fixtures(fixtures(pack(WORD)), runtime.index), infer_with(runtime), runtime.index)
        assert report.failures == ()
        assert all(count > 0 for count in report.tried.values()), report.tried

    def test_a_router_that_likes_capitals_is_found_out(self, subject: CatalogueSubject) -> None:
        runtime = measuring_runtime([subject])
        infer = infer_with(runtime)

        def shouting(task_packet: Any, **state: Any) -> Any:
            text = str(task_packet["context"])
            return infer({"context": "nothing"} if "Use" in text else task_packet, **state)

        report = run_metamorphic(read_fixtures(fixtures(pack(WORD)), runtime.index), shouting, runtime.index)
        assert {failure.change for failure in report.failures} == {"letter_case"}

    def test_a_router_that_answers_without_evidence_is_found_out(self, subject: CatalogueSubject) -> None:
        """It remembers cases by how their texts begin, whatever is left of the terms in them."""
        runtime = measuring_runtime([subject])
        infer = infer_with(runtime)
        cases = read_fixtures(fixtures(pack(WORD)), runtime.index)
        known = {str(case.fixture.task_packet["context"])[:20]: case.fixture.task_packet for case in cases}  # type: ignore[index]

        def remembering(task_packet: Any, **state: Any) -> Any:
            return infer(known.get(str(task_packet["context"])[:20], task_packet), **state)

        report = run_metamorphic(cases, remembering, runtime.index)
        assert {failure.change for failure in report.failures} >= {"no_evidence"}

    def test_a_router_that_overhears_denials_is_found_out(self, subject: CatalogueSubject) -> None:
        runtime = measuring_runtime([subject])
        infer = infer_with(runtime)

        def deaf(task_packet: Any, **state: Any) -> Any:
            text = str(task_packet["context"]).replace("do not use", "use")
            return infer({**task_packet, "context": text}, **state)

        report = run_metamorphic(read_fixtures(fixtures(pack(WORD)), runtime.index), deaf, runtime.index)
        assert {failure.change for failure in report.failures} == {"denied"}
        assert all(failure.expected == "no suggestion" for failure in report.failures)
