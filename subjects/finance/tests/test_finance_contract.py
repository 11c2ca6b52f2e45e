"""The finance subject holds what its contract claims: schema, resources, examples, near misses and its own pack."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import attrs
import pytest

from qiongli.contract import load_contract
from qiongli.evaluation.fixtures import REQUIRED_CATEGORIES, Fixture
from qiongli.evaluation.packs import Pack, load_pack
from qiongli.plugins import Catalogue, discover
from qiongli.records.packet import RefinementPacket
from qiongli.records.project import ManifestState
from qiongli.runtime import Runtime, build_runtime, infer_subject_refinement
from qiongli.testing import FakeDistributions, check_package

PACKAGE = Path(__file__).parents[1] / "src" / "qiongli_subject_finance"


@lru_cache(maxsize=1)
def pack() -> Pack:
    return load_pack(PACKAGE / "evaluation", label="finance")


@lru_cache(maxsize=1)
def runtime() -> Runtime:
    """Finance and economics as installed, both switched on: what the gate measures, whatever their records say."""
    found = discover(environment={})
    subjects = tuple(
        attrs.evolve(
            subject,
            listing=attrs.evolve(subject.listing, state="active", reasons=()),
            available_lenses=frozenset(
                lens.slug for lens in subject.contract.method_lenses if (subject.root / lens.pack).is_file()
            ),
        )
        for subject in found.subjects
        if subject.contract.subject in ("economics", "finance")
    )
    return build_runtime(Catalogue(subjects))


def route(task: dict[str, object] | str) -> RefinementPacket:
    return infer_subject_refinement(task, manifest_state=ManifestState(), runtime=runtime())


def differences(fixture: Fixture) -> list[str]:
    """What the packet says otherwise than the fixture expects."""
    packet = infer_subject_refinement(
        fixture.task_packet, manifest_state=fixture.manifest, memory=fixture.memory, runtime=runtime()
    )
    expected = fixture.expected
    lenses = None if expected.borrowed_lenses is None else {item.lens for item in expected.borrowed_lenses}
    named = {packet.primary_subject, *packet.secondary_subjects}
    neighbours = expected.allowed_neighbor_subjects
    found: Sequence[tuple[str, object, object]] = (
        ("decision", expected.decision, packet.decision),
        ("primary", expected.primary_subject, packet.primary_subject),
        ("method lenses", expected.method_lenses, frozenset(packet.method_lenses)),
        ("borrowed lenses", lenses, {item.lens for item in packet.borrowed_lenses}),
        ("prompt", expected.prompt, packet.prompt),
        ("forbidden", frozenset(), expected.forbidden_subjects & named),
        ("neighbours", None if neighbours is None else set(), set(packet.secondary_subjects) - (neighbours or set())),
    )
    return [f"{name}: {want} but {got}" for name, want, got in found if want is not None and want != got]


def test_contract_resources_examples_and_near_misses_hold() -> None:
    assert [str(problem) for problem in check_package(PACKAGE)] == []


def test_the_contract_has_signals_in_every_dimension_and_in_both_languages() -> None:
    contract = load_contract(PACKAGE / "runtime-subject.yaml")
    dimensions = Counter(signal.dimension for signal in contract.signals)
    assert len(contract.signals) >= 120
    assert set(dimensions) == {"method", "data_or_outcome", "venue", "theory_or_construct", "classification"}
    bilingual = [s for s in contract.signals if any(pattern.lang == "zh" for pattern in s.patterns)]
    assert len(bilingual) >= 100


def test_every_method_signal_lends_a_lens_that_exists_but_the_bare_name_of_the_event_study() -> None:
    """Leads and lags of a policy are called an event study as well, and their lens is a neighbour's."""
    contract = load_contract(PACKAGE / "runtime-subject.yaml")
    slugs = {lens.slug for lens in contract.method_lenses}
    values = {signal.value for signal in contract.signals if signal.dimension == "method"}
    assert values - slugs == {"event-study-by-name"}
    assert slugs - values == set()


@pytest.mark.parametrize(
    "text",
    [
        "Event study of hospital readmission around a policy change, using Medicare claims and two-way fixed effects",
        "An event study of school closures and the sleep of twins",
        "Event-study plots show dynamic treatment effects of the homework rule",
        "A time-to-event study of hip implants",
    ],
)
def test_an_event_study_without_returns_prices_or_announcements_is_lent_nothing_of_finance(text: str) -> None:
    packet = route(text)
    assert [item.lens for item in packet.borrowed_lenses if item.subject == "finance"] == []
    assert packet.primary_subject != "finance"


@pytest.mark.parametrize(
    "text",
    [
        "An event study of stock prices on the day of the verdict",
        "An event study of announcements of mergers",
        "We cumulate abnormal returns over three days",
        "CARs of acquirers, by size of the deal",
        "Returns around the announcement, with an estimation window of a year",
    ],
)
def test_an_event_study_in_its_own_context_is_lent_its_lens(text: str) -> None:
    packet = route(text)
    assert "event-study" in {*packet.method_lenses, *(item.lens for item in packet.borrowed_lenses)}


@pytest.mark.parametrize(
    "text",
    [
        "Do momentum strategies work in crypto markets?",
        "An analysis of mutual fund flows and performance using Morningstar data.",
    ],
)
def test_a_question_in_one_line_is_finance(text: str) -> None:
    assert route(text).primary_subject == "finance"


def test_a_strict_project_still_lends_every_lens() -> None:
    """A lens needs a signal of 0.15 where the project's strictness is strict."""
    contract = load_contract(PACKAGE / "runtime-subject.yaml")
    heavy = {signal.value for signal in contract.signals if signal.dimension == "method" and signal.weight >= 150_000}
    assert {lens.slug for lens in contract.method_lenses} <= heavy


def test_the_subject_is_listed_without_being_imported(fake_distributions: FakeDistributions) -> None:
    shutil.copytree(PACKAGE, fake_distributions.folder / PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__"))
    fake_distributions.add(
        "qiongli-subject-finance", entry_points="[qiongli.subjects]\nfinance = qiongli_subject_finance\n"
    )
    (listing,) = fake_distributions.discover().listings
    assert listing.subject == "finance"
    assert listing.activation_status == "runtime_enabled"


def test_the_readme_states_the_activation_status() -> None:
    assert "runtime_enabled" in (PACKAGE / "README.md").read_text(encoding="utf-8")


def test_the_pack_is_readable_and_covers_all_categories_with_enough_cases() -> None:
    assert pack().problems == ()
    categories = Counter(fixture.category for fixture in pack().fixtures)
    assert set(categories) == set(REQUIRED_CATEGORIES)
    assert categories["near_miss"] >= 60
    assert sum(categories.values()) - categories["near_miss"] >= 40
    assert all(fixture.subject_under_test == "finance" and fixture.description for fixture in pack().fixtures)


def test_no_positive_fixture_is_copied_from_the_contract() -> None:
    contract = load_contract(PACKAGE / "runtime-subject.yaml")
    examples = {example.casefold().strip(" .") for signal in contract.signals for example in signal.examples}
    texts = [str(value) for f in pack().fixtures for value in dict(f.raw["task_packet"]).values()]
    assert [
        text for text in texts if any(example in text.casefold() for example in examples if len(example) > 20)
    ] == []


@pytest.mark.parametrize("category", REQUIRED_CATEGORIES)
def test_the_router_answers_every_fixture_as_expected(category: str) -> None:
    wrong = {f.name: differences(f) for f in pack().fixtures if f.category == category}
    assert {name: why for name, why in wrong.items() if why} == {}


def test_every_signal_is_hit_by_a_positive_and_by_a_near_miss() -> None:
    from qiongli.document import read_document

    hit: dict[bool, set[str]] = {True: set(), False: set()}
    for fixture in pack().fixtures:
        found = runtime().index.detect(read_document(fixture.task_packet))
        assert found or not fixture.near_miss, f"{fixture.name} touches nothing"
        hit[fixture.near_miss] |= {item.signal_id for item in found if item.role == "signal"}
    signals = {signal.id for signal in load_contract(PACKAGE / "runtime-subject.yaml").signals}
    assert signals - hit[True] == set()
    assert signals - hit[False] == set()


NEIGHBOURS = (
    "accounting-research",
    "management-scholarship",
    "monetary-economics",
    "macroeconomics",
    "public-economics",
    "international-economics",
    "economic-theory",
)


@pytest.mark.parametrize("neighbour", NEIGHBOURS)
def test_without_the_words_of_a_neighbouring_field_a_case_of_that_field_would_be_taken_for_finance(
    neighbour: str,
) -> None:
    loosened = []
    for subject in runtime().catalogue.subjects:
        contract = subject.contract
        kept = tuple(item for item in contract.suppressors if item.id != f"finance.suppressor.{neighbour}")
        loosened.append(attrs.evolve(subject, contract=attrs.evolve(contract, suppressors=kept)))
    other = build_runtime(Catalogue(tuple(loosened)))
    taken = []
    for fixture in pack().fixtures:
        if "other-field" in fixture.tags:
            packet = infer_subject_refinement(fixture.task_packet, manifest_state=ManifestState(), runtime=other)
            named = (packet.primary_subject, *packet.secondary_subjects)
            taken += [fixture.name] if "finance" in named else []
    assert taken


def test_an_event_study_of_announcements_is_finance_with_its_lens() -> None:
    packet = route(
        "We use CRSP daily abnormal returns around earnings announcements in an event study, for the Journal of Finance"
    )
    assert packet.decision == "suggest_subject"
    assert packet.primary_subject == "finance"
    assert packet.method_lenses == ("event-study",)


def test_the_same_words_denied_are_no_subject() -> None:
    packet = route("We do not use an event study or stock returns; this is an ethnography of nurses")
    assert packet.decision == "no_subject"
    assert packet.primary_subject == "auto"
