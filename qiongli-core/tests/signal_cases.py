"""Builders of signals, of an index over them, and of what it finds in a text."""

from __future__ import annotations

from qiongli.contract.models import Pattern, Signal, SubjectContract, Suppressor
from qiongli.document import read_document
from qiongli.records._units import Ppm
from qiongli.records.evidence import Dimension, Evidence
from qiongli.signals import SignalIndex, compile_index


def signal(subject: str, dimension: Dimension, name: str, *patterns: Pattern, weight: int = 150_000) -> Signal:
    return Signal(f"{subject}.{dimension}.{name}", subject, dimension, name, Ppm(weight), "subject", patterns, (), ())


def phrase(text: str) -> Pattern:
    return Pattern("phrase", text)


def index(*signals: Signal, suppressors: tuple[Suppressor, ...] = ()) -> SignalIndex:
    slugs = sorted({item.subject for item in signals} | {"economics", "finance"})
    return compile_index(
        [
            SubjectContract(
                "1.0",
                slug,
                slug.title(),
                "candidate",
                signals=tuple(item for item in signals if item.subject == slug),
                suppressors=suppressors if slug == "finance" else (),
            )
            for slug in slugs
        ]
    )


def found(of: SignalIndex, packet: str | dict[str, object]) -> list[Evidence]:
    return [item for item in of.detect(read_document(packet)) if item.role == "signal"]


# --- acronyms -----------------------------------------------------------------------------------------------------
