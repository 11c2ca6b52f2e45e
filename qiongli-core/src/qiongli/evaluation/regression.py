"""What a newcomer does to the others: fixtures that pass without a subject and fail with it."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from qiongli.evaluation.catalogue import MeasuringRuntime, infer_with, measuring_runtime
from qiongli.evaluation.fixtures import Fixture
from qiongli.evaluation.packs import Pack
from qiongli.evaluation.runner import run_fixture
from qiongli.plugins.catalogue import CatalogueSubject
from qiongli.plugins.hooks import HookCaller
from qiongli.signals import SignalIndex, compile_index


@attrs.frozen
class Regression:
    """A fixture that the newcomer breaks, and how."""

    fixture: str
    message: str

    def __str__(self) -> str:
        return f"{self.fixture} ({self.message})"


@attrs.frozen
class RegressionReport:
    """Regressions among the fixtures of some packs; `affected` are those in which the newcomer has a say at all."""

    regressions: tuple[Regression, ...]
    cases: int
    affected: int


def find_regressions(
    newcomer: CatalogueSubject,
    peers: Sequence[CatalogueSubject],
    packs: Sequence[tuple[Pack, tuple[str, ...]]],
    *,
    runtime: MeasuringRuntime | None = None,
    hooks_without: HookCaller | None = None,
) -> RegressionReport:
    """Run every pack with the newcomer beside its peers and, where that fails, without it.

    `newcomer` and `peers` are switched on; `packs` come with the forbidden subjects of their contracts. `runtime`
    is the one over all of them, if it was made before; where code takes part in it, `hooks_without` is what of that
    code is left without the newcomer. A fixture in which the newcomer has no evidence, and whose project does not name
    it, cannot change: the router takes subjects into account only through these.
    """
    own = compile_index([newcomer.contract])
    runtime = runtime or measuring_runtime((*peers, newcomer))
    together = infer_with(runtime)
    without = None
    found = []
    cases = affected = 0
    for pack, forbidden in packs:
        for fixture in pack.fixtures:
            cases += 1
            # What code may find in a text is not to be foreseen.
            if runtime.hooks is None and not _has_a_say(newcomer, own, fixture):
                continue
            affected += 1
            outcome = run_fixture(fixture, together, forbidden=forbidden)
            if outcome.passed:
                continue
            if without is None:
                without = infer_with(measuring_runtime(tuple(peers), hooks=hooks_without))
            if run_fixture(fixture, without, forbidden=forbidden).passed:
                message = outcome.error or "; ".join(str(mismatch) for mismatch in outcome.mismatches)
                found.append(Regression(fixture.key, message))
    return RegressionReport(tuple(found), cases, affected)


def _has_a_say(newcomer: CatalogueSubject, index: SignalIndex, fixture: Fixture) -> bool:
    slug = newcomer.contract.subject
    if newcomer.contract.composes:
        # A composite acts through the evidence of its parts.
        return True
    manifest = fixture.manifest
    if slug in (manifest.active_subject, *manifest.secondary_subjects) or manifest.method_lenses:
        return True
    if manifest.venue_profiles:
        return True
    return fixture.document is not None and bool(index.detect(fixture.document))
