"""The preview of a task: what would be done, with which guidance, what stands in the way, and what was run of it."""

from __future__ import annotations

from typing import Literal

import attrs

from qiongli.records._units import SCHEMA_VERSION, Record
from qiongli.records.packet import BlockedCandidate, NearMissProtection, RefinementPacket
from qiongli.records.resources import ResourceActivation
from qiongli.records.subjects import Reason

#: Kinds of the parts of a context bundle, in order of authority: an earlier one outranks a later one.
PartKind = Literal["core", "overlay", "skill", "domain_profile", "method_pack", "venue_profile"]


@attrs.frozen
class BundlePart(Record):
    """One text that guides the task, whole and as its distribution ships it."""

    #: Which kind of text it is.
    kind: PartKind
    #: Slug of the subject that ships it; `core` for the core guidance.
    subject: str
    #: Name among those of its kind.
    name: str
    #: The distribution, then the path inside its package: `qiongli-subject-finance/overlays/finance.yaml`.
    source: str
    #: `sha256:` and 64 hexadecimal digits of the file's bytes.
    checksum: str
    #: Estimated size in tokens of a language model, as the budget counts it.
    tokens: int
    #: `always` for the core guidance; else why the resource takes part.
    activation: Literal["always"] | ResourceActivation
    #: The whole text.
    text: str


@attrs.frozen
class LeftOutPart(Record):
    """A text that the task asks for and that is not in the bundle.

    `code` is `unconfirmed` (it waits until the user confirms its subject), `over_budget` or `missing`.
    """

    #: Which kind of text it is.
    kind: PartKind
    #: Slug of the subject that ships it.
    subject: str
    #: Name among those of its kind.
    name: str
    #: Why it is left out; see above.
    code: Literal["unconfirmed", "over_budget", "missing"]
    #: The same for a person.
    message: str
    #: Estimated size in tokens of a language model; null when it was not measured.
    tokens: int | None = None


@attrs.frozen
class ContextBundle(Record):
    """The guidance for a task in order of authority: where two parts disagree, the earlier one holds."""

    #: The most tokens that the parts may take together; null when there is no limit.
    budget: int | None
    #: What the parts take together, in tokens of a language model.
    tokens: int
    #: The texts, in order of authority.
    parts: tuple[BundlePart, ...]
    #: What the task asks for and what is not among them.
    left_out: tuple[LeftOutPart, ...] = ()


@attrs.frozen
class PlanStep(Record):
    """One thing to do, in order; `parts` names what of the bundle it rests on, as `subject/kind/name`."""

    #: What to do.
    action: Literal[
        "stop", "ask", "follow_core", "apply_subject", "propose_subject", "use_lens", "fit_venue", "report_missing"
    ]
    #: The same as a sentence for whoever does it.
    instruction: str
    #: Slug of the subject that it is about; empty when it is about none.
    subject: str = ""
    #: What of the bundle it rests on, as `subject/kind/name`.
    parts: tuple[str, ...] = ()


@attrs.frozen
class SuggestedSubject(Record):
    """A subject that the router suggests and nobody has confirmed; it changes nothing until the user applies it."""

    #: Slug of the subject.
    subject: str
    #: `unconfirmed`, or `dismissed` while the user's dismissal keeps it from prompting.
    status: Literal["unconfirmed", "dismissed"]
    #: Whether the user should be asked about it now.
    prompt: bool
    #: The command line with which the user accepts it, in the project's folder.
    confirm: str
    #: The command line with which the user turns it down, in the project's folder.
    dismiss: str


@attrs.frozen
class BorrowedInstead(Record):
    """A method lens that is borrowed where its subject could have been suggested, and why that was not done."""

    #: Slug of the subject that lends the lens.
    subject: str
    #: Slug of the lens.
    lens: str
    #: Why the subject itself is not suggested.
    reasons: tuple[Reason, ...]


@attrs.frozen
class MissingTaskResource(Record):
    """A resource that the task would use and that cannot be loaded.

    `code` is `not_installed`, `not_active`, `missing` or `not_available`.
    """

    #: Kind of the resource, or `subject` when the whole subject is missing.
    kind: str
    #: Slug of the subject that would ship it; empty when none is named.
    subject: str
    #: Name among those of its kind.
    name: str
    #: Why it cannot be loaded; see above.
    code: Literal["not_installed", "not_active", "missing", "not_available"]
    #: The same for a person.
    message: str


@attrs.frozen
class LaunchVerdict(Record):
    """Whether an agent may be started: on the caller's flag and the user's setting, and on nothing else."""

    #: Whether the caller asked to start an agent.
    requested: bool
    #: Whether it may be started.
    allowed: bool
    #: Name of the agent; empty when none was asked for.
    agent: str = ""
    #: What stands in the way, and what would allow it.
    reasons: tuple[Reason, ...] = ()


@attrs.frozen
class AgentOutcome(Record):
    """What became of a launched agent; both texts are redacted and cut to their last characters."""

    #: Name of the agent.
    agent: str
    #: How it ended; `stopped` when the user interrupted it.
    status: Literal["finished", "failed", "timed_out", "stopped"]
    #: The agent's own exit code; null when it was ended from outside.
    exit_code: int | None
    #: The last characters of its standard output, redacted.
    output: str = ""
    #: The last characters of its standard error, redacted.
    errors: str = ""


@attrs.frozen
class TaskRecording(Record):
    """Where a recorded run is kept; `session` is the session whose counters it moved."""

    #: Id of the run in the project's trace.
    run_id: str
    #: Name of the session.
    session: str
    #: Number of the session's turn, from 0.
    turn: int


@attrs.frozen
class TaskRun(Record):
    """What `qiongli task run --json` prints: a preview, unless an agent was launched on the user's word."""

    #: Whether the task was only previewed, or an agent was started.
    mode: Literal["preview", "launched"]
    #: The router's decision in one sentence.
    summary: str
    #: The domain in force; an unconfirmed suggestion does not change it.
    domain: str
    #: The subject that is suggested; null when none is.
    suggestion: SuggestedSubject | None
    #: What to do, in order.
    plan: tuple[PlanStep, ...]
    #: The guidance to do it with.
    context_bundle: ContextBundle
    #: Subjects with evidence that may not act, as in the packet.
    blocked_candidates: tuple[BlockedCandidate, ...]
    #: What the task would use and what cannot be loaded.
    missing_resources: tuple[MissingTaskResource, ...]
    #: Matches that were kept from counting, as in the packet.
    near_miss_protections: tuple[NearMissProtection, ...]
    #: Lenses that are borrowed without their subject, and why.
    borrowed_instead_of_suggested: tuple[BorrowedInstead, ...]
    #: Whether an agent may be started.
    launch: LaunchVerdict
    #: The router's whole packet.
    refinement: RefinementPacket
    #: What became of the agent, when one was launched.
    agent: AgentOutcome | None = None
    #: Where the run is kept; null when it was not recorded.
    recording: TaskRecording | None = None
    #: What the user should know, as in the packet.
    warnings: tuple[str, ...] = ()
    #: Version of this structure, `major.minor`; fields may be added within a major version.
    schema_version: str = SCHEMA_VERSION
