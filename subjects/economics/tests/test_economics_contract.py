"""The economics subject holds what its contract claims: schema, resources, examples, near misses and its own pack."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import pytest

from qiongli.contract import load_contract, validate_package
from qiongli.contract.models import SubjectContract
from qiongli.evaluation.catalogue import MeasuringRuntime, as_subject, infer_with, measuring_runtime, switched_on
from qiongli.evaluation.coverage import signal_coverage
from qiongli.evaluation.documents import ReadFixture, read_fixtures
from qiongli.evaluation.fixtures import REQUIRED_CATEGORIES
from qiongli.evaluation.packs import Pack, load_pack
from qiongli.evaluation.quality import PackQuality, examine_pack
from qiongli.evaluation.runner import run_fixture
from qiongli.plugins.catalogue import CatalogueSubject
from qiongli.records.packet import RefinementPacket
from qiongli.records.project import ManifestState
from qiongli.signals.auditing import audit_contract

PACKAGE = Path(__file__).parents[1] / "src" / "qiongli_subject_economics"


@lru_cache(maxsize=1)
def contract() -> SubjectContract:
    return load_contract(PACKAGE / "runtime-subject.yaml")


@lru_cache(maxsize=1)
def pack() -> Pack:
    return load_pack(PACKAGE / "evaluation", label="economics")


@lru_cache(maxsize=1)
def subjects() -> tuple[CatalogueSubject, ...]:
    """Economics and, where it is installed, finance, both switched on, in their order of admission."""
    found = [as_subject(contract(), PACKAGE)]
    # The spec of a top-level package is found without importing it.
    finance = find_spec("qiongli_subject_finance")
    if finance is not None and finance.submodule_search_locations:
        root = Path(next(iter(finance.submodule_search_locations)))
        found.append(as_subject(load_contract(root / "runtime-subject.yaml"), root))
    return tuple(switched_on(subject) for subject in found)


@lru_cache(maxsize=1)
def runtime() -> MeasuringRuntime:
    return measuring_runtime(subjects())


@lru_cache(maxsize=1)
def cases() -> tuple[ReadFixture, ...]:
    return read_fixtures(pack().fixtures, runtime().index)


def route(text: str) -> RefinementPacket:
    return infer_with(runtime())(text, manifest_state=ManifestState(), memory=None)


class TestContract:
    def test_the_contract_and_every_resource_that_it_names_are_valid(self) -> None:
        loaded, problems = validate_package(PACKAGE)
        assert loaded is not None
        assert [str(problem) for problem in problems] == []

    def test_every_example_triggers_its_signal_and_no_near_miss_does(self) -> None:
        assert [str(problem) for problem in audit_contract(contract())] == []

    def test_there_are_enough_signals_in_every_dimension_and_in_two_languages(self) -> None:
        dimensions = Counter(signal.dimension for signal in contract().signals)
        assert len(contract().signals) >= 120
        assert set(dimensions) == {"method", "data_or_outcome", "venue", "theory_or_construct", "classification"}
        chinese = [s for s in contract().signals if any(pattern.lang == "zh" for pattern in s.patterns)]
        assert len(chinese) >= 80

    def test_every_lens_is_lent_by_a_method_signal_that_is_heavy_enough(self) -> None:
        lent = {
            signal.value for signal in contract().signals if signal.dimension == "method" and signal.weight >= 100_000
        }
        assert {lens.slug for lens in contract().method_lenses} <= lent

    def test_a_suppressor_is_never_a_veto(self) -> None:
        assert max(suppressor.weight for suppressor in contract().suppressors) <= 100_000

    def test_the_readme_states_the_activation_status(self) -> None:
        readme = (PACKAGE / "README.md").read_text(encoding="utf-8")
        assert f"activation_status: {contract().activation_status}" in readme


class TestPack:
    def test_it_is_readable_and_has_enough_cases_of_every_category(self) -> None:
        assert [str(problem) for problem in pack().problems] == []
        categories = Counter(fixture.category for fixture in pack().fixtures)
        assert set(categories) == set(REQUIRED_CATEGORIES)
        assert categories["near_miss"] >= 60
        assert sum(categories.values()) - categories["near_miss"] >= 40
        assert all(fixture.description and fixture.subject_under_test == "economics" for fixture in pack().fixtures)

    @pytest.mark.parametrize("category", REQUIRED_CATEGORIES)
    @pytest.mark.parametrize("peers", ["alone", "beside finance"])
    def test_the_router_answers_every_case_as_expected_whoever_is_admitted(self, category: str, peers: str) -> None:
        # The gate measures economics before finance is admitted, and finance against this very pack.
        infer = infer_with(measuring_runtime(subjects()[:1]) if peers == "alone" else runtime())
        outcomes = [
            run_fixture(fixture, infer, forbidden=contract().forbidden_subjects)
            for fixture in pack().fixtures
            if fixture.category == category
        ]
        wrong = {
            outcome.fixture.name: [outcome.error, *map(str, outcome.mismatches)]
            for outcome in outcomes
            if not outcome.passed or outcome.false_positive
        }
        assert wrong == {}

    def test_every_signal_meets_a_positive_and_a_near_miss(self) -> None:
        gaps = [row for row in signal_coverage(cases(), contract()) if not row.covered]
        assert gaps == []

    def test_near_misses_are_near_and_no_case_repeats_another_or_the_contract(self) -> None:
        assert examine_pack(cases(), contract()) == PackQuality()


class TestMustRoute:
    def test_a_design_for_another_field_is_lent(self) -> None:
        packet = route(
            "a staggered difference-in-differences design for a school-meals reform, for a public-health journal"
        )
        assert packet.decision == "borrow_lens"
        assert [(item.subject, item.lens) for item in packet.borrowed_lenses] == [
            ("economics", "difference-in-differences")
        ]

    def test_a_verb_in_capitals_is_no_acronym(self) -> None:
        assert route("WHAT DID THE PARTICIPANTS SAY?").decision == "no_subject"

    def test_two_independent_dimensions_suggest_economics_with_its_lens(self) -> None:
        packet = route("We structurally estimate labor supply near retirement.")
        assert (packet.decision, packet.primary_subject) == ("suggest_subject", "economics")
        assert list(packet.method_lenses) == ["structural-estimation"]

    def test_a_classification_code_needs_the_letters_jel(self) -> None:
        with_code = route("Unemployment insurance for fishermen. JEL: J65")
        without = route("Unemployment insurance for fishermen. Room J65")
        assert (with_code.decision, without.decision) == ("suggest_subject", "no_subject")
