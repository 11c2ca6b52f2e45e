"""What the subjects of this workspace must reach beyond the gate's floors."""

from __future__ import annotations

from pathlib import Path

import pytest

from qiongli.contract import load_contract
from qiongli.evaluation.catalogue import as_subject, measuring_runtime, switched_on
from qiongli.evaluation.coverage import coverage_packet, signal_coverage
from qiongli.evaluation.documents import read_fixtures
from qiongli.evaluation.fixtures import REQUIRED_CATEGORIES
from qiongli.evaluation.mutation import run_mutation
from qiongli.evaluation.packs import load_subject_pack
from qiongli.evaluation.quality import examine_pack
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
