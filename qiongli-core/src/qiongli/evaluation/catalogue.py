"""Explicit catalogues to measure with: the candidate switched on beside the subjects admitted before it.

Nothing on the command line or in the MCP server leads here; only the runner and the gate build such catalogues.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import attrs

from qiongli.contract.files import resource_state
from qiongli.contract.models import SubjectContract
from qiongli.document import Document
from qiongli.evaluation.runner import Infer
from qiongli.limits import DEFAULT_LIMITS, Limits
from qiongli.plugins.catalogue import Catalogue, CatalogueSubject
from qiongli.plugins.hooks import HookCaller
from qiongli.records.evidence import Evidence
from qiongli.records.packet import RefinementPacket
from qiongli.records.project import EvidenceMemory, ManifestState
from qiongli.records.subjects import SubjectListing
from qiongli.refinement import infer_subject_refinement
from qiongli.signals import SignalIndex, compile_index


@attrs.frozen
class MeasuringRuntime:
    """What an inference needs besides the task, without anything of this machine."""

    catalogue: Catalogue
    index: SignalIndex
    hooks: HookCaller | None = None
    limits: Limits = DEFAULT_LIMITS

    def detect(self, document: Document) -> tuple[Evidence, ...]:
        """All evidence that an inference starts from: that of the contracts, and that of detectors."""
        found = self.index.detect(document)
        return found if self.hooks is None else (*found, *self.hooks.detect(document))


def switched_on(subject: CatalogueSubject) -> CatalogueSubject:
    """The subject as it would be if the gate let it act; a claimed single-dimension exemption is tried out."""
    return attrs.evolve(
        subject,
        listing=attrs.evolve(subject.listing, state="active", reasons=()),
        available_lenses=resource_state(subject.contract, subject.root).available_lenses,
        single_dimension_proved=subject.contract.activation_gate.single_dimension,
    )


def as_subject(
    contract: SubjectContract, root: Path, *, distribution: str = "", version: str = "", priority: int = 0
) -> CatalogueSubject:
    """A contract and its package as a row of a catalogue, lens-only until it is switched on."""
    listing = SubjectListing(
        subject=contract.subject,
        display_name=contract.display_name,
        distribution=distribution,
        version=version,
        location=str(root),
        activation_status=contract.activation_status,
        state="lens_only",
    )
    lenses = resource_state(contract, root).available_lenses
    return CatalogueSubject(contract, listing, root, priority, lenses)


def catalogue_of(subjects: Sequence[CatalogueSubject]) -> Catalogue:
    """A catalogue of exactly these subjects, in this order of admission."""
    ordered = tuple(attrs.evolve(subject, priority=priority) for priority, subject in enumerate(subjects))
    return Catalogue(ordered, tuple(subject.listing for subject in ordered))


def measuring_runtime(
    subjects: Sequence[CatalogueSubject],
    *,
    index: SignalIndex | None = None,
    hooks: HookCaller | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> MeasuringRuntime:
    """A runtime over these subjects alone; `index` when it was compiled before, `hooks` when their code takes part."""
    contracts = [subject.contract for subject in subjects]
    return MeasuringRuntime(catalogue_of(subjects), index or compile_index(contracts), hooks, limits)


def infer_with(runtime: MeasuringRuntime) -> Infer:
    """The router over a runtime, as the runner calls it."""

    def infer(
        task_packet: Mapping[str, object] | str, *, manifest_state: ManifestState, memory: EvidenceMemory | None
    ) -> RefinementPacket:
        return infer_subject_refinement(task_packet, manifest_state=manifest_state, memory=memory, runtime=runtime)

    return infer
