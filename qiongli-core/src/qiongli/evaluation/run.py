"""One evaluation from packs to report: choosing fixtures, running them, and what is added on request."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from typing import Any

import attrs

from qiongli.errors import InputError
from qiongli.evaluation.catalogue import MeasuringRuntime, infer_with, switched_on
from qiongli.evaluation.coverage import coverage_packet, signal_coverage
from qiongli.evaluation.documents import read_fixtures
from qiongli.evaluation.fixtures import Fixture
from qiongli.evaluation.metamorphic import run_metamorphic
from qiongli.evaluation.mutation import run_mutation
from qiongli.evaluation.outcomes import Outcome
from qiongli.evaluation.packs import Pack, load_legacy_pack, load_subject_pack
from qiongli.evaluation.quality import examine_pack
from qiongli.evaluation.report import build_report
from qiongli.evaluation.runner import Infer, run_fixtures
from qiongli.evaluation.thresholds import RUNNER_THRESHOLDS, Thresholds
from qiongli.plugins.catalogue import Catalogue, CatalogueSubject
from qiongli.records.evaluation import EvaluationFailure, EvaluationReport


@attrs.frozen
class Evaluation:
    """A report with the outcomes that it rests on."""

    report: EvaluationReport
    outcomes: tuple[Outcome, ...]


def default_packs(catalogue: Catalogue) -> tuple[Pack, ...]:
    """The legacy core pack, and the pack of every active subject that has one."""
    active = [subject for subject in catalogue.subjects if subject.listing.state == "active"]
    packs = [load_subject_pack(subject) for subject in active if subject.contract.evaluation_pack is not None]
    return (load_legacy_pack(), *packs)


def select(packs: Sequence[Pack], only: Sequence[str]) -> tuple[Pack, ...]:
    """The packs with those fixtures alone whose name, or `pack/name`, fits one of the patterns.

    Raises `InputError` (`no_such_fixture`) when a pattern fits none.
    """
    if not only:
        return tuple(packs)
    found = dict.fromkeys(only, False)
    selected = []
    for pack in packs:
        fixtures = []
        for fixture in pack.fixtures:
            fitting = [item for item in only if fnmatchcase(fixture.name, item) or fnmatchcase(fixture.key, item)]
            found |= dict.fromkeys(fitting, True)
            if fitting:
                fixtures.append(fixture)
        selected.append(attrs.evolve(pack, fixtures=tuple(fixtures), missing=()))
    for pattern, fits in found.items():
        if not fits:
            raise _no_such_fixture(pattern, packs)
    return tuple(selected)


def _no_such_fixture(pattern: str, packs: Sequence[Pack]) -> InputError:
    from difflib import get_close_matches

    names = sorted(fixture.name for pack in packs for fixture in pack.fixtures)
    near = get_close_matches(pattern, names, n=3)
    return InputError(
        f"no fixture fits {pattern!r}",
        code="no_such_fixture",
        available=tuple(near) or tuple(names[:20]),
        hint="Give a name, or a pattern such as 'finance_near_miss_*'",
    )


def evaluate(
    runtime: MeasuringRuntime,
    packs: Sequence[Pack],
    *,
    only: Sequence[str] = (),
    thresholds: Thresholds = RUNNER_THRESHOLDS,
    infer: Infer | None = None,
    further: Sequence[EvaluationFailure] = (),
    details: dict[str, Any] | None = None,
) -> Evaluation:
    """Run the fixtures of some packs with the subjects as they stand in the runtime, and sum up.

    With `only`, all of the chosen fixtures must pass; the thresholds are for whole packs. `infer` stands in for the
    router in tests.
    """
    chosen = select(packs, only)
    forbidden = {item.contract.subject: item.contract.forbidden_subjects for item in runtime.catalogue.subjects}
    fixtures: list[Fixture] = [fixture for pack in chosen for fixture in pack.fixtures]
    outcomes = run_fixtures(fixtures, infer or infer_with(runtime), forbidden=forbidden)
    report = build_report(
        outcomes,
        chosen,
        thresholds=None if only else thresholds,
        catalogue=runtime.catalogue,
        further=further,
        details=details,
    )
    return Evaluation(report, outcomes)


def pack_details(
    runtime: MeasuringRuntime,
    subject: CatalogueSubject,
    pack: Pack,
    *,
    jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[dict[str, Any], tuple[EvaluationFailure, ...]]:
    """Pack strength, coverage, flags and changed texts of a subject's pack: details of the report, and failures.

    The other subjects of the runtime stand beside it as they are.
    """
    candidate = switched_on(subject)
    slug = subject.contract.subject
    subjects = [candidate if item.contract.subject == slug else item for item in runtime.catalogue.subjects]
    forbidden = subject.contract.forbidden_subjects
    mutation = run_mutation(subjects, slug, pack.fixtures, forbidden=forbidden, jobs=jobs, progress=progress)
    cases = read_fixtures(pack.fixtures, runtime.index)
    infer = infer_with(runtime)
    outcomes = run_fixtures(pack.fixtures, infer, forbidden={pack.label: forbidden})
    passing = {outcome.fixture.name for outcome in outcomes if outcome.passed}
    changed = run_metamorphic([case for case in cases if case.fixture.name in passing], infer, runtime.index)
    details = {
        "mutation": mutation.to_packet(),
        "coverage": coverage_packet(signal_coverage(cases, subject.contract)),
        "quality": examine_pack(cases, subject.contract).to_packet(),
        "metamorphic": changed.to_packet(),
    }
    failures = tuple(
        EvaluationFailure(
            name=failure.fixture,
            kind="metamorphic",
            message=f"{failure.change}: expected {failure.expected}, got {failure.actual}",
        )
        for failure in changed.failures
    )
    return details, failures
