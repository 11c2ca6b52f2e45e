"""What the checks of the gate rest on, measured once and only when a check asks for it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import attrs

from qiongli.errors import QiongliError
from qiongli.evaluation.catalogue import MeasuringRuntime, infer_with, measuring_runtime, switched_on
from qiongli.evaluation.determinism import DeterminismReport, check_determinism
from qiongli.evaluation.documents import ReadFixture, read_fixtures
from qiongli.evaluation.metamorphic import MetamorphicReport, run_metamorphic
from qiongli.evaluation.mutation import MutationReport, run_mutation
from qiongli.evaluation.outcomes import Outcome
from qiongli.evaluation.packs import Pack, load_legacy_pack, load_subject_pack, with_missing
from qiongli.evaluation.quality import PackQuality, examine_pack
from qiongli.evaluation.regression import RegressionReport, find_regressions
from qiongli.evaluation.runner import Measures, measure, run_fixtures
from qiongli.evaluation.thresholds import Thresholds, gate_thresholds
from qiongli.gate.detectors import Detectors
from qiongli.plugins.catalogue import CatalogueSubject
from qiongli.plugins.hooks import HookCaller
from qiongli.records.gate import ActivationRecord
from qiongli.records.project import AUTO
from qiongli.signals.auditing import audit_contract

PackLoader = Callable[[CatalogueSubject], Pack]


@attrs.frozen(slots=False)
class Measured:
    """One subject at the gate: who it is, who stands beside it, and everything measured of it so far."""

    candidate: CatalogueSubject
    peers: tuple[CatalogueSubject, ...]
    #: What is wrong with the package: contract, resources, documentation.
    problems: tuple[QiongliError, ...] = ()
    record: ActivationRecord | None = None
    pack_of: PackLoader = load_subject_pack
    legacy_of: Callable[[], Pack] = load_legacy_pack
    jobs: int = 1
    #: Another router, `module:attribute`, for the repetition in other processes.
    router: str = ""
    #: Whether only what every machine repeats is measured; no code of a subject runs then.
    fast: bool = False
    #: The code of subjects that runs here, and whether it takes part in this measurement.
    detectors: Detectors | None = None
    with_code: bool = False
    progress: Callable[[int, int], None] | None = None

    @property
    def slug(self) -> str:
        """The subject's slug."""
        return self.candidate.contract.subject

    @cached_property
    def audit(self) -> tuple[QiongliError, ...]:
        """Examples that miss their signal, near misses that trigger it, patterns that collide."""
        return audit_contract(self.candidate.contract)

    @cached_property
    def subject(self) -> CatalogueSubject:
        """The candidate, switched on."""
        return switched_on(self.candidate)

    @cached_property
    def pack(self) -> Pack:
        """The subject's own pack, with the names that its record knows and the pack lacks."""
        return with_missing(self.pack_of(self.candidate), self.record.cases if self.record is not None else ())

    @cached_property
    def legacy(self) -> Pack:
        """The legacy core pack."""
        return self.legacy_of()

    @cached_property
    def runtime(self) -> MeasuringRuntime:
        """The candidate beside its peers, and nobody else."""
        return measuring_runtime((*self.peers, self.subject), hooks=self.hooks)

    @property
    def absent(self) -> tuple[str, ...]:
        """Subjects that the pack expects answers of, and that do not take part here, by slug."""
        here = {subject.contract.subject for subject in self.runtime.catalogue.subjects}
        named: set[str] = set()
        for fixture in self.pack.fixtures:
            expected = fixture.expected
            named.update(expected.suggest_subjects or (), expected.secondary_subjects or ())
            named.update(lens.subject for lens in expected.borrowed_lenses or () if lens.subject)
            if expected.primary_subject not in (None, AUTO):
                named.add(str(expected.primary_subject))
        return tuple(sorted(named - here))

    @property
    def hooks(self) -> HookCaller | None:
        """The code that takes part in this measurement."""
        return self.detectors.caller if self.with_code and self.detectors is not None else None

    @cached_property
    def cases(self) -> tuple[ReadFixture, ...]:
        """The pack's fixtures, read and matched."""
        return read_fixtures(self.pack.fixtures, self.runtime)

    @cached_property
    def outcomes(self) -> tuple[Outcome, ...]:
        """The answers to the pack beside the peers."""
        return run_fixtures(self.pack.fixtures, infer_with(self.runtime), forbidden=self.forbidden)

    @property
    def forbidden(self) -> dict[str, tuple[str, ...]]:
        """The contract's forbidden subjects under the pack's label."""
        return {self.pack.label: self.candidate.contract.forbidden_subjects}

    @cached_property
    def alone(self) -> tuple[Outcome, ...]:
        """The answers to those fixtures that fail beside the peers, with the candidate by itself."""
        failing = [outcome.fixture for outcome in self.outcomes if not outcome.passed]
        if not failing or not self.peers:
            return ()
        return run_fixtures(failing, infer_with(measuring_runtime((self.subject,))), forbidden=self.forbidden)

    @cached_property
    def quality(self) -> PackQuality:
        """What is suspicious in the pack."""
        return examine_pack(self.cases, self.candidate.contract)

    @cached_property
    def measures(self) -> Measures:
        """The numbers over all fixtures of the pack."""
        return measure(self.outcomes)

    @cached_property
    def counted(self) -> Measures:
        """The numbers over the fixtures that count as evidence: no repetitions, no far near misses."""
        return measure([item for item in self.outcomes if item.fixture.name not in self.quality.uncounted])

    @property
    def thresholds(self) -> Thresholds:
        """What the gate asks of this subject."""
        return gate_thresholds(self.candidate.contract.activation_gate.required_metrics)

    @cached_property
    def regressions(self) -> RegressionReport:
        """What the candidate breaks in the legacy core pack and in the packs of its peers."""
        packs = [(self.legacy, ())] + [(self.pack_of(peer), peer.contract.forbidden_subjects) for peer in self.peers]
        left = self.detectors.peers if self.with_code and self.detectors is not None else None
        return find_regressions(self.subject, self.peers, packs, runtime=self.runtime, hooks_without=left)

    @cached_property
    def mutation(self) -> MutationReport:
        """The strength of the pack."""
        return run_mutation(
            self.runtime.catalogue.subjects,
            self.slug,
            self.pack.fixtures,
            forbidden=self.candidate.contract.forbidden_subjects,
            jobs=self.jobs,
            progress=self.progress,
        )

    @cached_property
    def metamorphic(self) -> MetamorphicReport:
        """Answers to changed texts."""
        passing = {outcome.fixture.name for outcome in self.outcomes if outcome.passed}
        cases = [case for case in self.cases if case.fixture.name in passing]
        return run_metamorphic(cases, infer_with(self.runtime), self.runtime)

    @cached_property
    def determinism(self) -> DeterminismReport:
        """Answers of two further processes."""
        modules = self.detectors.modules if self.with_code and self.detectors is not None else ()
        return check_determinism(self.runtime.catalogue.subjects, self.slug, router=self.router, modules=modules)
