"""The refinement packet: the answer to "which discipline's standards apply to this task, and why"."""

from __future__ import annotations

from typing import Any, Final, Literal

import attrs

from qiongli.records._units import SCHEMA_VERSION, Ppm, Record, ppm_field
from qiongli.records.evidence import Evidence
from qiongli.records.resources import ResourceActivationPlan
from qiongli.records.subjects import Reason

Decision = Literal["no_subject", "borrow_lens", "suggest_subject", "confirm_subject", "lock_subject"]
DECISIONS: Final[tuple[Decision, ...]] = (
    "no_subject",
    "borrow_lens",
    "suggest_subject",
    "confirm_subject",
    "lock_subject",
)

RefusalCode = Literal["input_too_large", "undecodable", "path_outside_project", "unauthorised_action", "policy_forbids"]
REFUSAL_CODES: Final[tuple[RefusalCode, ...]] = (
    "input_too_large",
    "undecodable",
    "path_outside_project",
    "unauthorised_action",
    "policy_forbids",
)

RouteKind = Literal["subject", "lens", "resource"]


@attrs.frozen(repr=False)
class CandidateSubject(Record):
    """A subject with asserted evidence that may act."""

    subject: str
    score: Ppm = ppm_field()
    dimensions: tuple[str, ...] = ()
    signal_ids: tuple[str, ...] = ()
    #: Why it may not be suggested, whoever stands beside it: too few dimensions, too low a score; none when it may.
    reasons: tuple[Reason, ...] = ()


@attrs.frozen(repr=False)
class BlockedCandidate(Record):
    """A subject with asserted evidence that a gate, an exclusion or a local setting keeps from acting; never scored."""

    subject: str
    reasons: tuple[Reason, ...] = ()
    dimensions: tuple[str, ...] = ()
    signal_ids: tuple[str, ...] = ()


@attrs.frozen(repr=False)
class BorrowedLens(Record):
    """A single method lens lent by a subject that is not the primary one."""

    subject: str
    lens: str
    reason: str


@attrs.frozen(repr=False)
class Persistence(Record):
    """How firmly the subject is attached to the project."""

    status: Literal["none", "temporary", "proposed", "applied", "locked"] = "none"


@attrs.frozen(repr=False)
class PromotionRecommendation(Record):
    """Whether repeated suggestions are enough to recommend that the user confirms the subject."""

    status: Literal["recommend_confirmation", "suppressed"]
    subject: str
    suggestion_count: int
    reason: str


@attrs.frozen(repr=False)
class ClarificationOption(Record):
    """One possible answer to a clarification."""

    subject: str
    reason: str


@attrs.frozen(repr=False)
class Clarification(Record):
    """A question whose answer would change or settle the decision; `id` names the unresolved fact."""

    id: str
    question: str
    options: tuple[ClarificationOption, ...] = ()
    round: int = 1
    max_rounds: int = 2


@attrs.frozen(repr=False)
class Refusal(Record):
    """Why the task was not routed at all."""

    code: RefusalCode
    message: str
    hint: str = ""


@attrs.frozen(repr=False)
class ScoreShare(Record):
    """What one piece of evidence adds to its dimension: raw weight in, discounted amount out."""

    id: str
    weight: Ppm = ppm_field()
    amount: Ppm = ppm_field()
    source: str = "text"
    role: str = "boost"


@attrs.frozen(repr=False)
class ScoreEntry(Record):
    """One contribution to a score; the amounts of all entries of a breakdown sum to its total exactly.

    `kind` is `prior`, `dimension` (after its discount; `name` is the dimension), `penalty` (negative; `name` is the
    suppressor), `penalty_limit`, `cost` (negative), `session` or `floor` (what lifted a negative sum to zero). The
    `amount`s of a dimension's `shares` sum to the amount of the entry.
    """

    kind: str
    name: str
    amount: Ppm = ppm_field()
    shares: tuple[ScoreShare, ...] = ()


@attrs.frozen(repr=False)
class ScoreBreakdown(Record):
    """How the score of one route came about."""

    route: str
    kind: RouteKind
    subject: str
    total: Ppm = ppm_field()
    entries: tuple[ScoreEntry, ...] = ()
    #: Malformed contributions that were dropped.
    rejected: int = 0


@attrs.frozen(repr=False)
class NearMissProtection(Record):
    """A match that was kept from counting: negated, quoted, excluded, or used in an everyday sense."""

    signal_id: str
    subject: str
    polarity: str
    snippet: str
    reason: str


@attrs.frozen(repr=False)
class LostSpan(Record):
    """A place of an asserted signal that counts nothing: a stronger claim of its subject stands on the same words.

    The longest claim keeps its words, then the heaviest. A signal that has a place of its own elsewhere still counts.
    """

    signal_id: str
    subject: str
    field: str
    start: int
    end: int
    snippet: str
    #: The signal that kept the words.
    kept_by: str
    #: All words that it stands on.
    kept_snippet: str


@attrs.frozen(repr=False)
class WhatWouldChange(Record):
    """A smallest change that would alter the decision."""

    subject: str
    change: str
    effect: str


@attrs.frozen(repr=False)
class EvidenceSources(Record):
    """Which of the possible sources took part in the decision."""

    task_text: bool = False
    manifest_state: bool = False
    trace_memory: bool = False
    user_action: bool = False


@attrs.frozen(repr=False)
class RefinementPacket(Record):
    """The answer of the router to one research task (design: interfaces that others rely on)."""

    decision: Decision
    mode: Literal["auto", "confirmed", "locked", "suggested"] = "auto"
    active_subject: str = "auto"
    primary_subject: str = "auto"
    secondary_subjects: tuple[str, ...] = ()
    candidate_subjects: tuple[CandidateSubject, ...] = ()
    blocked_candidates: tuple[BlockedCandidate, ...] = ()
    method_lenses: tuple[str, ...] = ()
    borrowed_lenses: tuple[BorrowedLens, ...] = ()
    #: `subject/kind/name` of every resource that the task may load now, in order of authority.
    loaded_resources: tuple[str, ...] = ()
    resource_activation_plan: ResourceActivationPlan = ResourceActivationPlan()
    persistence: Persistence = Persistence()
    prompt: bool = False
    promotion_recommendation: PromotionRecommendation | None = None
    clarification: Clarification | None = None
    refusal: Refusal | None = None
    confidence: Ppm = ppm_field(default=Ppm(0))
    score_breakdown: tuple[ScoreBreakdown, ...] = ()
    signals: tuple[Evidence, ...] = ()
    near_miss_protections: tuple[NearMissProtection, ...] = ()
    reasons: tuple[Reason, ...] = ()
    warnings: tuple[str, ...] = ()
    summary: str = ""
    domain: str = "auto"
    evidence_sources: EvidenceSources = EvidenceSources()
    what_would_change: tuple[WhatWouldChange, ...] = ()
    #: Places of signals that lost their words to a longer one of their subject; null unless `--explain` asks for them.
    lost_spans: tuple[LostSpan, ...] | None = None
    #: Redacted, bounded facts for the maintainers of the engine.
    diagnostics: dict[str, Any] = attrs.field(factory=dict)
    #: Fingerprint of the task's text: the same task has the same one.
    fingerprint: str = ""
    schema_version: str = SCHEMA_VERSION


@attrs.frozen(repr=False)
class RoutedPackets(Record):
    """What `qiongli route --json` prints for several inputs."""

    packets: tuple[RefinementPacket, ...] = ()
    schema_version: str = SCHEMA_VERSION
