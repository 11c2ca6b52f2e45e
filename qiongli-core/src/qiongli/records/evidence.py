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

    #: Id of the signal, suppressor or directive that matched.
    signal_id: str
    #: Slug of the subject that it speaks for, or about.
    subject: str
    #: Which kind of sign it is; only different dimensions count as independent.
    dimension: Dimension
    #: What the signal stands for; for a method that can be lent, the slug of its lens.
    value: str
    #: What it may count for: the subject, its method lens only, or nothing but context.
    activation: Activation
    #: What it weighs before any discount, 0.06 to 0.20 for a signal and up to 0.30 for a suppressor.
    weight: Ppm = ppm_field()
    #: Name of the task's field that it stands in.
    field: str = "text"
    #: Offset of its first character in that field's original text, from 0.
    start: int = 0
    #: Offset one past its last character.
    end: int = 0
    #: The original text between both.
    snippet: str = ""
    #: How the text says it; only what is asserted counts.
    polarity: Polarity = "asserted"
    #: Who found it: `text` for the signal index, or the distribution whose hook returned it.
    source: str = "text"
    #: Whether it is a signal, a suppressor, or the user's words that exclude or keep a subject.
    role: EvidenceRole = "signal"
