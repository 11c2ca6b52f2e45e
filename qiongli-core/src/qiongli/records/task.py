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

    kind: PartKind
    subject: str
    name: str
    #: The distribution, then the path inside its package: `qiongli-subject-finance/overlays/finance.yaml`.
    source: str
    #: `sha256:` and 64 hexadecimal digits of the file's bytes.
    checksum: str
    #: Estimated size in tokens of a language model, as the budget counts it.
    tokens: int
    #: `always` for the core guidance; else why the resource takes part.
    activation: Literal["always"] | ResourceActivation
    text: str


@attrs.frozen
class LeftOutPart(Record):
    """A text that the task asks for and that is not in the bundle.

    `code` is `unconfirmed` (it waits until the user confirms its subject), `over_budget` or `missing`.
    """

    kind: PartKind
    subject: str
    name: str
    code: Literal["unconfirmed", "over_budget", "missing"]
    message: str
    tokens: int | None = None


@attrs.frozen
class ContextBundle(Record):
    """The guidance for a task in order of authority: where two parts disagree, the earlier one holds."""

    #: The most tokens that the parts may take together; null when there is no limit.
    budget: int | None
    tokens: int
    parts: tuple[BundlePart, ...]
    left_out: tuple[LeftOutPart, ...] = ()


@attrs.frozen
class PlanStep(Record):
    """One thing to do, in order; `parts` names what of the bundle it rests on, as `subject/kind/name`."""

    action: Literal[
        "stop", "ask", "follow_core", "apply_subject", "propose_subject", "use_lens", "fit_venue", "report_missing"
    ]
    instruction: str
    subject: str = ""
    parts: tuple[str, ...] = ()


@attrs.frozen
class SuggestedSubject(Record):
    """A subject that the router suggests and nobody has confirmed; it changes nothing until the user applies it."""

    subject: str
    #: `unconfirmed`, or `dismissed` while the user's dismissal keeps it from prompting.
    status: Literal["unconfirmed", "dismissed"]
    prompt: bool
    #: The command lines with which the user accepts it or turns it down; both need the project's folder.
    confirm: str
    dismiss: str


@attrs.frozen
class BorrowedInstead(Record):
    """A method lens that is borrowed where its subject could have been suggested, and why that was not done."""

    subject: str
    lens: str
    reasons: tuple[Reason, ...]


@attrs.frozen
class MissingTaskResource(Record):
    """A resource that the task would use and that cannot be loaded.

    `code` is `not_installed`, `not_active`, `missing` or `not_available`.
    """

    kind: str
    subject: str
    name: str
    code: Literal["not_installed", "not_active", "missing", "not_available"]
    message: str


@attrs.frozen
class LaunchVerdict(Record):
    """Whether an agent may be started: on the caller's flag and the user's setting, and on nothing else."""

    requested: bool
    allowed: bool
    agent: str = ""
    reasons: tuple[Reason, ...] = ()


@attrs.frozen
class AgentOutcome(Record):
    """What became of a launched agent; both texts are redacted and cut to their last characters."""

    agent: str
    status: Literal["finished", "failed", "timed_out", "stopped"]
    #: The agent's own exit code; null when it was ended from outside.
    exit_code: int | None
    output: str = ""
    errors: str = ""


@attrs.frozen
class TaskRecording(Record):
    """Where a recorded run is kept; `session` is the session whose counters it moved."""

    run_id: str
    session: str
    turn: int


@attrs.frozen
class TaskRun(Record):
    """What `qiongli task run --json` prints: a preview, unless an agent was launched on the user's word."""

    mode: Literal["preview", "launched"]
    summary: str
    #: The domain in force; an unconfirmed suggestion does not change it.
    domain: str
    suggestion: SuggestedSubject | None
    plan: tuple[PlanStep, ...]
    context_bundle: ContextBundle
    blocked_candidates: tuple[BlockedCandidate, ...]
    missing_resources: tuple[MissingTaskResource, ...]
    near_miss_protections: tuple[NearMissProtection, ...]
    borrowed_instead_of_suggested: tuple[BorrowedInstead, ...]
    launch: LaunchVerdict
    refinement: RefinementPacket
    #: What became of the agent, when one was launched.
    agent: AgentOutcome | None = None
    recording: TaskRecording | None = None
    warnings: tuple[str, ...] = ()
    schema_version: str = SCHEMA_VERSION
