"""What goes into the decision and what comes out of it: candidates, standings, open facts, the routing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import attrs

from qiongli._value import Value
from qiongli.records._units import Ppm
from qiongli.records.evidence import Evidence
from qiongli.records.packet import BlockedCandidate, Decision, Refusal
from qiongli.records.project import AUTO
from qiongli.records.subjects import Reason
from qiongli.safety import Gate
from qiongli.scoring import ScoredRoute

FactKind = Literal["missing_text", "repeated_failure", "ambiguous"]


@attrs.frozen(repr=False)
class RouteCandidate(Value):
    """A subject that might act, with the evidence on which the disjoint-span rule has been applied.

    `gates` must hold the required gates of `qiongli.safety.SUBJECT_GATES`; `final_gates` are asked once more about
    what would act, and so are `final_checks`, which run only then: each a name, what answers `Outcome.PASS`, and the
    reasons when it answers anything else. `only_as_part` says why the subject may not act by itself, although a
    composite may rest on it. `session` is the session's advisory in millionths; `repeated_failure` forbids a retry.
    For a composite, `composes` names its parts and `evidence` holds its own and its parts' evidence.
    """

    subject: str
    priority: int
    evidence: tuple[Evidence, ...] = ()
    gates: tuple[Gate, ...] = ()
    final_gates: tuple[Gate, ...] = ()
    final_checks: tuple[tuple[str, Callable[[], object], tuple[Reason, ...]], ...] = ()
    only_as_part: tuple[Reason, ...] = ()
    single_dimension_proved: bool = False
    session: Ppm | None = None
    repeated_failure: bool = False
    composes: tuple[str, ...] = ()


@attrs.frozen(repr=False)
class LensCandidate(Value):
    """A method lens that a subject might lend, with the subject's evidence."""

    subject: str
    lens: str
    priority: int
    evidence: tuple[Evidence, ...] = ()
    gates: tuple[Gate, ...] = ()

    @property
    def id(self) -> str:
        """The id of the lens's route."""
        return f"{self.subject}/{self.lens}"


@attrs.frozen(repr=False)
class Standing(Value):
    """A scored subject and whether it may be suggested; `reasons` say why not."""

    subject: str
    scored: ScoredRoute
    suggestible: bool
    reasons: tuple[Reason, ...] = ()


@attrs.frozen(repr=False)
class LensStanding(Value):
    """A scored lens and whether it is lent."""

    subject: str
    lens: str
    scored: ScoredRoute
    lent: bool


@attrs.frozen(repr=False)
class UnresolvedFact(Value):
    """Something that the task leaves open; `subjects` are the possible answers, in rank order."""

    kind: FactKind
    id: str
    subjects: tuple[str, ...] = ()


@attrs.frozen(repr=False)
class Routing(Value):
    """What the selector decided; only the packet is left to be written."""

    decision: Decision
    #: `auto` without a primary subject.
    primary: str = AUTO
    #: Rivals of a suggested primary that are suggestible within the margin, in rank order.
    secondaries: tuple[str, ...] = ()
    #: Every eligible subject with evidence that counts, in rank order.
    ranked: tuple[Standing, ...] = ()
    #: Parts that a composite subject replaced in the ranking.
    replaced: tuple[Standing, ...] = ()
    #: The primary's standing; it is scored even without evidence, unless a gate forbids that.
    standing: Standing | None = None
    blocked: tuple[BlockedCandidate, ...] = ()
    #: Every lens that was scored, in rank order.
    lenses: tuple[LensStanding, ...] = ()
    #: Lenses with evidence that may not be lent: candidate id, and why.
    withheld_lenses: tuple[tuple[str, tuple[Reason, ...]], ...] = ()
    #: Lent lenses of the primary.
    method_lenses: tuple[str, ...] = ()
    #: Lent lenses of other subjects.
    borrowed_lenses: tuple[LensStanding, ...] = ()
    facts: tuple[UnresolvedFact, ...] = ()
    reasons: tuple[Reason, ...] = ()
    refusal: Refusal | None = None

    @property
    def confidence(self) -> int:
        """The score of the primary in millionths, 0 if there is none."""
        return self.standing.scored.total if self.standing else 0
