"""What a text shows of a subject: the evidence that detectors return and the scorer counts."""

from __future__ import annotations

from typing import Final, Literal

import attrs

from qiongli.records._units import Ppm, Record, ppm_field

Dimension = Literal["method", "data_or_outcome", "venue", "theory_or_construct", "classification", "vocabulary"]

#: All dimensions, in the order that settles which of two overlapping signals keeps a span.
DIMENSIONS: Final[tuple[Dimension, ...]] = (
    "method",
    "data_or_outcome",
    "venue",
    "theory_or_construct",
    "classification",
    "vocabulary",
)

Activation = Literal["subject", "method_only", "context_only"]
ACTIVATIONS: Final[tuple[Activation, ...]] = ("subject", "method_only", "context_only")

Polarity = Literal["asserted", "negated", "excluded", "quoted", "everyday"]

#: What a piece of evidence is: a signal of a subject; a suppressor (an everyday or other-field sense); or a directive
#: of the user ("do not treat as finance" excludes a subject, "keep this in economics" keeps one).
EvidenceRole = Literal["signal", "suppressor", "exclude", "keep"]


@attrs.frozen(repr=False)
class Evidence(Record):
    """One place in the task's text that speaks for, or about, a subject.

    `start` and `end` are offsets in characters into the original text of the field `field`; `snippet` is that slice.
    `weight` is in millionths. Evidence never decides anything: it has no field that could grant or override.
    """

    signal_id: str
    subject: str
    dimension: Dimension
    value: str
    activation: Activation
    weight: Ppm = ppm_field()
    field: str = "text"
    start: int = 0
    end: int = 0
    snippet: str = ""
    polarity: Polarity = "asserted"
    #: Who found it: `text` for the signal index, or the distribution whose hook returned it.
    source: str = "text"
    role: EvidenceRole = "signal"
