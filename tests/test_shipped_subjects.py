"""What the subjects of this workspace must reach beyond the gate's floors."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

import attrs
import pytest
from packaging.requirements import Requirement

from qiongli.contract import load_contract
from qiongli.contract.models import Pattern
from qiongli.evaluation.catalogue import as_subject, infer_with, measuring_runtime, switched_on
from qiongli.evaluation.coverage import coverage_packet, signal_coverage
from qiongli.evaluation.documents import read_fixtures
from qiongli.evaluation.fixtures import REQUIRED_CATEGORIES
from qiongli.evaluation.mutation import run_mutation
from qiongli.evaluation.packs import load_subject_pack
from qiongli.evaluation.quality import examine_pack
from qiongli.evaluation.runner import run_fixtures
from qiongli.gate.check import check_subject
from qiongli.gate.record import content_digest, read_record
from qiongli.plugins.catalogue import CORE_ORDER, CatalogueSubject

SUBJECTS = Path(__file__).parents[1] / "subjects"


def subject(slug: str) -> CatalogueSubject:
    root = SUBJECTS / slug / "src" / f"qiongli_subject_{slug}"
    return switched_on(as_subject(load_contract(root), root, distribution=f"qiongli-subject-{slug}"))


@pytest.fixture(scope="module")
def shipped() -> dict[str, CatalogueSubject]:
    """The subjects of core's own makers, in the order of admission."""
    return {slug: subject(slug) for slug in CORE_ORDER}


@pytest.mark.parametrize("slug", CORE_ORDER)
class TestPacks:
    def test_the_record_fits_the_files(self, shipped: dict[str, CatalogueSubject], slug: str) -> None:
        """A stale one is renewed by: python tools/check_gates.py --promote."""
        stored = read_record(shipped[slug].root)
        assert stored is not None
        assert stored.record.content_digest == content_digest(shipped[slug].root)
        assert stored.record.subject == slug

    def test_sixty_near_misses_and_forty_others_over_all_categories(
        self, shipped: dict[str, CatalogueSubject], slug: str
    ) -> None:
        pack = load_subject_pack(shipped[slug])
        assert pack.problems == ()
        near = sum(fixture.near_miss for fixture in pack.fixtures)
        assert near >= 60
        assert len(pack.fixtures) - near >= 40
        assert {fixture.category for fixture in pack.fixtures} >= {*REQUIRED_CATEGORIES}

    def test_nothing_in_the_pack_is_suspicious_and_every_signal_is_covered(
        self, shipped: dict[str, CatalogueSubject], slug: str
    ) -> None:
        found = shipped[slug]
        cases = read_fixtures(load_subject_pack(found).fixtures, measuring_runtime([found]).index)
        quality = examine_pack(cases, found.contract)
        assert quality.uncounted == frozenset()
        assert quality.copied_positives == ()
        coverage = coverage_packet(signal_coverage(cases, found.contract))
        assert coverage["without_positive"] == []
        assert coverage["without_near_miss"] == []

    def test_the_pack_notices_nine_of_ten_changed_signals(
        self, shipped: dict[str, CatalogueSubject], slug: str
    ) -> None:
        found = shipped[slug]
        beside = [shipped[other] for other in CORE_ORDER[: CORE_ORDER.index(slug) + 1]]
        pack = load_subject_pack(found)
        report = run_mutation(beside, slug, pack.fixtures, forbidden=found.contract.forbidden_subjects)
        assert report.score.value >= 0.90, [result.name for result in report.survivors]

    def test_near_misses_notice_any_signal_that_is_loosened_to_a_common_word(
        self, shipped: dict[str, CatalogueSubject], slug: str
    ) -> None:
        """The lightest signal of every dimension is the hardest to notice."""
        found = shipped[slug]
        beside = [shipped[other] for other in CORE_ORDER[: CORE_ORDER.index(slug)]]
        near_misses = [fixture for fixture in load_subject_pack(found).fixtures if fixture.near_miss]
        forbidden = {slug: found.contract.forbidden_subjects}
        unnoticed = []
        for dimension in dict.fromkeys(signal.dimension for signal in found.contract.signals):
            able = [s for s in found.contract.signals if s.dimension == dimension and s.activation == "subject"]
            lightest = min(able, key=lambda signal: (signal.weight, signal.id))
            for word, lang in (("study", ""), ("market", ""), ("data", ""), ("研究", "zh"), ("市场", "zh")):
                loosened = loosen(found, lightest.id, Pattern("phrase", word, lang=lang))
                outcomes = run_fixtures(
                    near_misses, infer_with(measuring_runtime([*beside, loosened])), forbidden=forbidden
                )
                if not any(outcome.false_positive for outcome in outcomes):
                    unnoticed.append((lightest.id, word))
        assert unnoticed == []


def loosen(subject: CatalogueSubject, signal_id: str, pattern: Pattern) -> CatalogueSubject:
    """The subject with one more pattern in one signal."""
    signals = tuple(
        attrs.evolve(signal, patterns=(*signal.patterns, pattern)) if signal.id == signal_id else signal
        for signal in subject.contract.signals
    )
    return attrs.evolve(subject, contract=attrs.evolve(subject.contract, signals=signals))


@pytest.mark.parametrize(
    ("signal", "word", "noticed"),
    [
        ("finance.data-or-outcome.stock-prices", "market", "plain_words_constructs"),
        ("finance.theory-or-construct.shareholders", "study", "plain_words_outcomes"),
    ],
)
def test_one_signal_of_finance_loosened_to_a_common_word_fails_the_gate_which_names_who_noticed(
    shipped: dict[str, CatalogueSubject], tmp_path: Path, signal: str, word: str, noticed: str
) -> None:
    root = tmp_path / "qiongli_subject_finance"
    shutil.copytree(shipped["finance"].root, root, ignore=shutil.ignore_patterns("__pycache__"))
    contract = root / "runtime-subject.yaml"
    before, _, after = contract.read_text(encoding="utf-8").partition(f"- id: {signal}\n")
    place = after.index("patterns:\n") + len("patterns:\n")
    pattern = f'        - {{phrase: {word}, justification: "careless"}}\n'
    contract.write_text(f"{before}- id: {signal}\n{after[:place]}{pattern}{after[place:]}", encoding="utf-8")
    loosened = as_subject(load_contract(root), root, distribution="qiongli-subject-finance")
    report = check_subject(loosened, [shipped["economics"]], depth="fast").report
    assert not report.eligible_for_runtime_enabled
    details = {check.name: " ".join(check.details) for check in report.checks if check.outcome == "fail"}
    assert f"finance_near_miss_{noticed}" in details["near_miss_false_positives"]
    assert "economics/economics_near_miss_plain_words_of_a_neighbour" in details["legacy_regression"]
    assert any("economics/" in line for line in report.blocking_failures)


@pytest.mark.parametrize("slug", CORE_ORDER)
def test_a_subject_requires_what_its_pack_expects_answers_of(shipped: dict[str, CatalogueSubject], slug: str) -> None:
    """Installed without a neighbour that its cases name, a subject could not pass its own gate."""
    run = check_subject(shipped[slug], (), depth="fast")
    told = [item for item in run.report.checks if "does not take part here" in item.message]
    project = tomllib.loads((SUBJECTS / slug / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    required = {Requirement(text).name for text in project["dependencies"]}
    if told:
        assert "expects answers of economics" in told[0].message
        assert "qiongli-subject-economics" in required
    else:
        assert run.report.eligible_for_runtime_enabled
