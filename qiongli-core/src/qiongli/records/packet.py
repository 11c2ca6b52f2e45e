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

    #: Slug of the subject.
    subject: str
    #: How well the task fits it, 0 to 1.
    score: Ppm = ppm_field()
    #: The dimensions that hold evidence for it, in their fixed order.
    dimensions: tuple[str, ...] = ()
    #: Ids of the signals that counted, sorted.
    signal_ids: tuple[str, ...] = ()
    #: Why it may not be suggested, whoever stands beside it: too few dimensions, too low a score; none when it may.
    reasons: tuple[Reason, ...] = ()


@attrs.frozen(repr=False)
class BlockedCandidate(Record):
    """A subject with asserted evidence that a gate, an exclusion or a local setting keeps from acting; never scored."""

    #: Slug of the subject.
    subject: str
    #: Everything that keeps it from acting.
    reasons: tuple[Reason, ...] = ()
    #: The dimensions that hold evidence for it, in their fixed order.
    dimensions: tuple[str, ...] = ()
    #: Ids of the signals that would have counted, sorted.
    signal_ids: tuple[str, ...] = ()


@attrs.frozen(repr=False)
class BorrowedLens(Record):
    """A single method lens lent by a subject that is not the primary one."""

    #: Slug of the subject that lends it.
    subject: str
    #: Slug of the lens.
    lens: str
    #: Which signals called for it.
    reason: str


@attrs.frozen(repr=False)
class Persistence(Record):
    """How firmly the subject is attached to the project."""

    #: `proposed` waits for the user; `applied` and `locked` are the project's own; `temporary` ends with the task.
    status: Literal["none", "temporary", "proposed", "applied", "locked"] = "none"


@attrs.frozen(repr=False)
class PromotionRecommendation(Record):
    """Whether repeated suggestions are enough to recommend that the user confirms the subject."""

    #: `suppressed` when the user turned the subject down and was not given more reason since.
    status: Literal["recommend_confirmation", "suppressed"]
    #: Slug of the subject.
    subject: str
    #: For how many different tasks it was suggested, this one included.
    suggestion_count: int
    #: The same in words.
    reason: str


@attrs.frozen(repr=False)
class ClarificationOption(Record):
    """One possible answer to a clarification."""

    #: Slug of the subject that the answer stands for.
    subject: str
    #: Why it is offered.
    reason: str


@attrs.frozen(repr=False)
class Clarification(Record):
    """A question whose answer would change or settle the decision; `id` names the unresolved fact."""

    #: Name of the open fact, which an answer repeats: `--answer ID=SUBJECT`.
    id: str
    #: The question for the user.
    question: str
    #: The possible answers in rank order, at most three; empty when it asks for text.
    options: tuple[ClarificationOption, ...] = ()
    #: Which round of this question it is, from 1.
    round: int = 1
    #: How many rounds there are at most; then the decision stands as it is.
    max_rounds: int = 2


@attrs.frozen(repr=False)
class Refusal(Record):
    """Why the task was not routed at all."""

    #: Why, from the closed list of refusals.
    code: RefusalCode
    #: The same for a person.
    message: str
    #: What would be accepted.
    hint: str = ""


@attrs.frozen(repr=False)
class ScoreShare(Record):
    """What one piece of evidence adds to its dimension: raw weight in, discounted amount out."""

    #: Id of the signal or suppressor.
    id: str
    #: What it weighs before any discount.
    weight: Ppm = ppm_field()
    #: What of that counts, after the discounts; negative for a suppressor.
    amount: Ppm = ppm_field()
    #: Who found it: `text` for the signal index, or a distribution whose hook did.
    source: str = "text"
    #: `boost` or `penalty`.
    role: str = "boost"


@attrs.frozen(repr=False)
class ScoreEntry(Record):
    """One contribution to a score; the amounts of all entries of a breakdown sum to its total exactly.

    `kind` is `prior`, `dimension` (after its discount; `name` is the dimension), `penalty` (negative; `name` is the
    suppressor), `penalty_limit`, `cost` (negative), `session` or `floor` (what lifted a negative sum to zero). The
    `amount`s of a dimension's `shares` sum to the amount of the entry.
    """

    #: Which part of the sum it is; see above.
    kind: str
    #: The dimension, the suppressor, or how the part came about.
    name: str
    #: What it adds; negative for what it takes.
    amount: Ppm = ppm_field()
    #: The single pieces of evidence in it, strongest first; empty where it has none.
    shares: tuple[ScoreShare, ...] = ()


@attrs.frozen(repr=False)
class ScoreBreakdown(Record):
    """How the score of one route came about."""

    #: Id of the route: a subject's slug, or `subject/lens`.
    route: str
    #: What kind of route it is.
    kind: RouteKind
    #: Slug of the subject that it belongs to.
    subject: str
    #: The score, 0 to 1; the sum of the entries.
    total: Ppm = ppm_field()
    #: The contributions, in the order in which they are added.
    entries: tuple[ScoreEntry, ...] = ()
    #: Malformed contributions that were dropped.
    rejected: int = 0


@attrs.frozen(repr=False)
class NearMissProtection(Record):
    """A match that was kept from counting: negated, quoted, excluded, or used in an everyday sense."""

    #: Id of the signal, suppressor or directive that matched.
    signal_id: str
    #: Slug of the subject that it belongs to.
    subject: str
    #: How the text says it: `negated`, `excluded`, `quoted` or `everyday`.
    polarity: str
    #: The words, as they stand in the text.
    snippet: str
    #: Why it counts nothing; for an everyday sense, which suppressors stand on the same words.
    reason: str


@attrs.frozen(repr=False)
class LostSpan(Record):
    """A place of an asserted signal that counts nothing: a stronger claim of its subject stands on the same words.

    The longest claim keeps its words, then the heaviest. A signal that has a place of its own elsewhere still counts.
    """

    #: Id of the signal that lost its words.
    signal_id: str
    #: Slug of the subject of both signals.
    subject: str
    #: Name of the task's field.
    field: str
    #: Offset of the first lost character in that field's original text, from 0.
    start: int
    #: Offset one past the last one.
    end: int
    #: The original text between both.
    snippet: str
    #: The signal that kept the words.
    kept_by: str
    #: All words that it stands on.
    kept_snippet: str


@attrs.frozen(repr=False)
class WhatWouldChange(Record):
    """A smallest change that would alter the decision."""

    #: Slug of the subject that the change is about.
    subject: str
    #: What would have to be different; where several things would, all of them are named.
    change: str
    #: What would become of the subject then.
    effect: str


@attrs.frozen(repr=False)
class EvidenceSources(Record):
    """Which of the possible sources took part in the decision."""

    #: Whether anything was found in the task's text.
    task_text: bool = False
    #: Whether the project's manifest says anything of a subject.
    manifest_state: bool = False
    #: Whether the project remembers suggestions or dismissals.
    trace_memory: bool = False
    #: Whether the user's own words or answer direct the task.
    user_action: bool = False


@attrs.frozen(repr=False)
class RefinementPacket(Record):
    """The answer of the router to one research task (design: interfaces that others rely on)."""

    #: What the router decided.
    decision: Decision
    #: The project's mode, or `suggested` while a suggestion waits for the user.
    mode: Literal["auto", "confirmed", "locked", "suggested"] = "auto"
    #: Slug of the project's subject before this task; `auto` while it is left to the router.
    active_subject: str = "auto"
    #: Slug of the subject that is suggested or in force; `auto` without one.
    primary_subject: str = "auto"
    #: Rivals of a suggestion within the margin; in a settled project the neighbours that it names.
    secondary_subjects: tuple[str, ...] = ()
    #: Subjects with evidence that may act, best first.
    candidate_subjects: tuple[CandidateSubject, ...] = ()
    #: Subjects with evidence that may not act, by slug.
    blocked_candidates: tuple[BlockedCandidate, ...] = ()
    #: Slugs of the primary subject's own lenses that the task uses.
    method_lenses: tuple[str, ...] = ()
    #: Lenses that other subjects lend to the task.
    borrowed_lenses: tuple[BorrowedLens, ...] = ()
    #: `subject/kind/name` of every resource that the task may load now, in order of authority.
    loaded_resources: tuple[str, ...] = ()
    #: Every resource that the task activates, those that wait for the user included.
    resource_activation_plan: ResourceActivationPlan = ResourceActivationPlan()
    #: How firmly the subject is attached to the project.
    persistence: Persistence = Persistence()
    #: Whether the user should be asked about the suggestion now.
    prompt: bool = False
    #: Whether suggestions were frequent enough to recommend confirming; null without one.
    promotion_recommendation: PromotionRecommendation | None = None
    #: A question whose answer would settle the decision; null when nothing is open.
    clarification: Clarification | None = None
    #: Why the task was not routed; null when it was.
    refusal: Refusal | None = None
    #: Score of the primary subject, 0 to 1; 0 without one.
    confidence: Ppm = ppm_field(default=Ppm(0))
    #: How each score came about: candidates first, then lenses.
    score_breakdown: tuple[ScoreBreakdown, ...] = ()
    #: Everything that was found in the text, in the order of fields and places.
    signals: tuple[Evidence, ...] = ()
    #: Matches that were kept from counting, and why.
    near_miss_protections: tuple[NearMissProtection, ...] = ()
    #: Why no subject is suggested; never empty with `no_subject`.
    reasons: tuple[Reason, ...] = ()
    #: What the user should know, such as resources that are missing.
    warnings: tuple[str, ...] = ()
    #: The decision in one sentence.
    summary: str = ""
    #: Slug of the subject in force, or `auto`; an unconfirmed suggestion does not change it.
    domain: str = "auto"
    #: Which sources took part in the decision.
    evidence_sources: EvidenceSources = EvidenceSources()
    #: The smallest changes that would alter the decision.
    what_would_change: tuple[WhatWouldChange, ...] = ()
    #: Places of signals that lost their words to a longer one of their subject; null unless `--explain` asks for them.
    lost_spans: tuple[LostSpan, ...] | None = None
    #: Redacted, bounded facts for the maintainers of the engine.
    diagnostics: dict[str, Any] = attrs.field(factory=dict)
    #: Fingerprint of the task's text: the same task has the same one.
    fingerprint: str = ""
    #: Version of this structure, `major.minor`; fields may be added within a major version.
    schema_version: str = SCHEMA_VERSION


@attrs.frozen(repr=False)
class RoutedPackets(Record):
    """What `qiongli route --json` prints for several inputs."""

    #: One packet for each input, in their order.
    packets: tuple[RefinementPacket, ...] = ()
    #: Version of this structure, `major.minor`; fields may be added within a major version.
    schema_version: str = SCHEMA_VERSION
