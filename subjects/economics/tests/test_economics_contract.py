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

    def test_a_strict_project_still_lends_every_lens(self) -> None:
        """A lens needs a signal of 0.15 where the project's strictness is strict."""
        lent = {
            signal.value for signal in contract().signals if signal.dimension == "method" and signal.weight >= 150_000
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

    @pytest.mark.parametrize(
        ("text", "lens"),
        [
            ("I run a regression with two-way fixed effects.", "difference-in-differences"),
            ("We test for parallel trends before the reform.", "difference-in-differences"),
            ("We use the Callaway and Sant'Anna estimator.", "difference-in-differences"),
            ("We use the Callaway–Sant’Anna (2021) estimator.", "difference-in-differences"),
            ("Sun and Abraham (2021) is the estimator that I know.", "difference-in-differences"),
            ("The estimator of de Chaisemartin and D'Haultfœuille", "difference-in-differences"),
            ("Imputation as in Borusyak, Jaravel and Spiess", "difference-in-differences"),
            ("Pre-trends are flat, and the event-study plot is in the appendix.", "difference-in-differences"),
            ("Leads and lags of the treatment", "difference-in-differences"),
            (
                "TWFE with staggered timing is biased: report the Goodman-Bacon decomposition, and parallel trends.",
                "difference-in-differences",
            ),
            ("Synthetic difference-in-differences for one canton", "synthetic-control"),
            ("2SLS with a first-stage F-statistic of nine", "instrumental-variables"),
            ("A judge leniency design for custody", "instrumental-variables"),
            ("We use a Bartik instrument.", "instrumental-variables"),
            ("A shift-share design", "instrumental-variables"),
            ("The exclusion restriction is doubtful.", "instrumental-variables"),
            ("Age is the running variable; the bandwidth at the cutoff is a month.", "regression-discontinuity"),
            ("A fuzzy RDD around the cutoff", "regression-discontinuity"),
            ("A sharp RD design", "regression-discontinuity"),
        ],
    )
    def test_the_words_of_the_newer_literature_lend_their_lens(self, text: str, lens: str) -> None:
        packet = route(text)
        assert packet.decision == "borrow_lens"
        assert lens in {item.lens for item in packet.borrowed_lenses if item.subject == "economics"}

    @pytest.mark.parametrize(
        "text",
        [
            "The two movements show parallel trends in dress.",
            "Between the sun and Abraham stands a tree.",
            "Running variables such as cadence were recorded; the bandwidth of the sensor has a cutoff.",
            "The synthetic control of gene expression",
            "IV fluids in the first stage of labour",
            "Weak instruments spoiled the quartet, and the judge praised the leniency of the jury.",
            "Two-way traffic, a fixed bridge and its effects",
            "The staggered rollout of a vaccine",
        ],
    )
    def test_the_same_words_of_other_fields_lend_nothing(self, text: str) -> None:
        assert route(text).decision == "no_subject"

    @pytest.mark.parametrize(
        "text",
        [
            "Two-way fixed effects with staggered adoption of minimum wage laws, and teen employment from the CPS",
            "The effect of central bank digital currency on bank deposits: a DSGE model.",
        ],
    )
    def test_a_task_in_one_line_is_economics(self, text: str) -> None:
        assert route(text).primary_subject == "economics"
