"""Made-up subjects with round weights, so that the packet of a text can be worked out by hand.

Three simple subjects and one composite. Every signal shows as a phrase of two invented words; see `SIGNALS` for the
weights, in millionths. Alpha and beta are active, gamma is a candidate that may lend.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import attrs
import jsonschema

from qiongli.contract.models import MethodLens, Pattern, Signal, SubjectContract, Suppressor
from qiongli.evaluation.catalogue import as_subject, measuring_runtime, switched_on
from qiongli.records import Ppm
from qiongli.records.packet import RefinementPacket
from qiongli.records.project import EvidenceMemory, ManifestState
from qiongli.records.subjects import Reason
from qiongli.refinement import RefinementRuntime, infer_subject_refinement
from qiongli.schemas import schema_text
from qiongli.session import SessionState

FULL = 200_000

#: Subject, dimension, value, weight, activation, phrase.
SIGNALS: tuple[tuple[str, str, str, int, str, str], ...] = (
    ("alpha", "method", "kriging", FULL, "subject", "quorl kriging"),
    ("alpha", "method", "weighting", FULL, "subject", "quorl weighting"),
    ("alpha", "method", "loan", 100_000, "method_only", "quorl loaner"),
    ("alpha", "method", "absent", FULL, "method_only", "quorl absentee"),
    ("alpha", "data_or_outcome", "ledger", FULL, "subject", "quorl ledger"),
    ("alpha", "data_or_outcome", "survey", 150_000, "subject", "quorl survey"),
    ("alpha", "data_or_outcome", "sketch", 75_000, "subject", "quorl sketch"),
    ("alpha", "venue", "journal", FULL, "subject", "Journal of Quorl"),
    ("alpha", "theory_or_construct", "conjecture", FULL, "subject", "quorl conjecture"),
    ("alpha", "theory_or_construct", "lemma", 120_000, "subject", "quorl lemma"),
    ("alpha", "theory_or_construct", "world", FULL, "context_only", "quorl world"),
    ("alpha", "method", "weighting-zh", FULL, "subject", "阔尔加权"),
    ("alpha", "data_or_outcome", "ledger-zh", FULL, "subject", "阔尔账簿"),
    ("beta", "method", "splicing", FULL, "subject", "brindle splicing"),
    ("beta", "method", "grafting", FULL, "subject", "brindle grafting"),
    ("beta", "data_or_outcome", "register", FULL, "subject", "brindle register"),
    ("gamma", "method", "gauging", FULL, "subject", "gnarl gauging"),
    ("gamma", "data_or_outcome", "gazette", FULL, "subject", "gnarl gazette"),
    ("gamma", "method", "tool", 100_000, "method_only", "gnarl tool"),
    ("alpha-beta", "theory_or_construct", "bridge", FULL, "subject", "quindle bridge"),
)

#: Lens by subject; the pack of `absent` does not exist.
LENSES = {"alpha": ("kriging", "loan", "absent"), "beta": ("splicing",), "gamma": ("tool",)}

SUPPRESSORS = {
    "alpha": (
        Suppressor("alpha.suppressor.cake", (Pattern("phrase", "quorl ledger cake"),), Ppm(100_000), (), ()),
        Suppressor("alpha.suppressor.toy", (Pattern("phrase", "toy quorl"),), Ppm(100_000), (), ()),
    )
}

#: The size of every resource file but the method packs, in bytes; four bytes are one token.
RESOURCE_BYTES = 400
PACK_BYTES = 200


def contract(slug: str) -> SubjectContract:
    """The contract of one of the subjects."""
    signals = tuple(
        Signal(
            id=f"{subject}.{dimension.replace('_', '-')}.{value}",
            subject=subject,
            dimension=dimension,  # type: ignore[arg-type]
            value=value,
            weight=Ppm(weight),
            activation=activation,  # type: ignore[arg-type]
            patterns=(Pattern("phrase", phrase, lang="" if phrase.isascii() else "zh"),),
            examples=(),
            near_misses=(),
        )
        for subject, dimension, value, weight, activation, phrase in SIGNALS
        if subject == slug
    )
    return SubjectContract(
        schema_version="1.0",
        subject=slug,
        display_name=slug.title(),
        activation_status="candidate" if slug == "gamma" else "runtime_enabled",
        domain_profile="domain-profile.yaml",
        overlay=f"overlays/{slug}.yaml",
        subject_skill=f"skills/{slug}/SKILL.md",
        signals=signals,
        suppressors=SUPPRESSORS.get(slug, ()),
        method_lenses=tuple(MethodLens(name, f"method-packs/{name}.yaml", True) for name in LENSES.get(slug, ())),
        composes=("alpha", "beta") if slug == "alpha-beta" else (),
        digest=slug,
    )


def write_packages(folder: Path) -> None:
    """The resource files of all subjects, each in a folder with the subject's name."""
    for slug in ("alpha", "beta", "gamma", "alpha-beta"):
        root = folder / slug
        made = contract(slug)
        sizes = {made.domain_profile: RESOURCE_BYTES, made.overlay: RESOURCE_BYTES, made.subject_skill: RESOURCE_BYTES}
        sizes |= {lens.pack: PACK_BYTES for lens in made.method_lenses if lens.slug != "absent"}
        for path, size in sizes.items():
            assert path is not None
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(b"x" * size)


@attrs.frozen
class Desk:
    """A router over some of the subjects; every packet that it hands out fits the published schema."""

    folder: Path
    subjects: tuple[str, ...] = ("alpha", "beta", "gamma")
    #: Subjects that the gate keeps from acting.
    blocked: tuple[str, ...] = ("gamma",)

    def route(
        self,
        task: Mapping[str, object] | str,
        state: ManifestState | None = None,
        *,
        memory: EvidenceMemory | None = None,
        answers: Mapping[str, str] | None = None,
        budget: int | None = None,
        session: SessionState | None = None,
    ) -> RefinementPacket:
        """The packet of a task."""
        packet = infer_subject_refinement(
            task,
            manifest_state=state or ManifestState(),
            memory=memory,
            session=session,
            answers=answers,
            budget=budget,
            runtime=self.runtime(),
        )
        validator().validate(json.loads(json.dumps(packet.to_packet())))
        return packet

    def runtime(self) -> RefinementRuntime:
        """The subjects as they are found now."""
        rows = []
        for slug in self.subjects:
            row = as_subject(contract(slug), self.folder / slug)
            if slug in self.blocked:
                why = (Reason("below_runtime_enabled", "the subject is a candidate"),)
                row = attrs.evolve(row, listing=attrs.evolve(row.listing, reasons=why))
            else:
                row = switched_on(row)
            rows.append(row)
        return measuring_runtime(rows)


@lru_cache(maxsize=1)
def validator() -> Any:
    """The validator of the published packet schema."""
    return jsonschema.Draft202012Validator(json.loads(schema_text("packet")))


def scores(packet: RefinementPacket) -> dict[str, int]:
    """The candidates' scores, in millionths."""
    return {item.subject: item.score for item in packet.candidate_subjects}


def lent(packet: RefinementPacket) -> list[str]:
    """The borrowed lenses as `subject/lens`."""
    return [f"{item.subject}/{item.lens}" for item in packet.borrowed_lenses]
