"""The preview of a task: a pure reading of its packet, of the project's manifest and of what is installed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from qiongli.contract.files import resource_state
from qiongli.limits import DEFAULT_LIMITS, Limits
from qiongli.records.packet import RefinementPacket
from qiongli.records.project import AUTO, ManifestState
from qiongli.records.subjects import Reason
from qiongli.records.task import (
    BorrowedInstead,
    ContextBundle,
    LaunchVerdict,
    MissingTaskResource,
    PlanStep,
    SuggestedSubject,
    TaskRun,
)
from qiongli.refinement.subject_explanation import explain_subject
from qiongli.resources import SUBJECT_KINDS
from qiongli.task.bundle import SETTLED, make_bundle

if TYPE_CHECKING:
    from qiongli.plugins import Catalogue
    from qiongli.project.paths import Project


def preview_task(
    packet: RefinementPacket,
    manifest_state: ManifestState,
    catalogue: Catalogue,
    *,
    launch: LaunchVerdict,
    budget: int | None = None,
    limits: Limits = DEFAULT_LIMITS,
    project: Project | None = None,
) -> TaskRun:
    """The preview of a routed task; nothing is written or started, and `launch` is only shown.

    `project` is the one that the commands of a suggestion name; without one they leave the folder open.

    Raises `InputError` (`budget_too_small`) as `make_bundle` does.
    """
    bundle = make_bundle(packet, manifest_state, catalogue, budget=budget, limits=limits)
    missing = tuple(_missing(packet, manifest_state, catalogue, bundle))
    suggestion = _suggestion(packet, project)
    return TaskRun(
        mode="preview",
        summary=packet.summary,
        domain=packet.domain,
        suggestion=suggestion,
        plan=tuple(_plan(packet, bundle, suggestion, missing)),
        context_bundle=bundle,
        blocked_candidates=packet.blocked_candidates,
        missing_resources=missing,
        near_miss_protections=packet.near_miss_protections,
        borrowed_instead_of_suggested=_borrowed_instead(packet),
        launch=launch,
        refinement=packet,
        warnings=packet.warnings,
    )


def _suggestion(packet: RefinementPacket, project: Project | None) -> SuggestedSubject | None:
    if packet.decision != "suggest_subject":
        return None
    subject = packet.primary_subject
    confirm, dismiss = (
        f"qiongli {words} --cwd DIR" if project is None else project.command(words)
        for words in (f"subject confirm {subject}", f"subject dismiss {subject}")
    )
    return SuggestedSubject(
        subject=subject,
        status="unconfirmed" if packet.prompt else "dismissed",
        prompt=packet.prompt,
        confirm=confirm,
        dismiss=dismiss,
    )


def _borrowed_instead(packet: RefinementPacket) -> tuple[BorrowedInstead, ...]:
    """Why the subject of each borrowed lens is not the primary one."""
    return tuple(
        BorrowedInstead(lens.subject, lens.lens, _why_not(packet, lens.subject)) for lens in packet.borrowed_lenses
    )


def _why_not(packet: RefinementPacket, subject: str) -> tuple[Reason, ...]:
    if packet.decision in SETTLED:
        return (Reason(packet.decision, packet.summary.partition(";")[0]),)
    return explain_subject(subject, packet).reasons


def _missing(
    packet: RefinementPacket, manifest_state: ManifestState, catalogue: Catalogue, bundle: ContextBundle
) -> Iterator[MissingTaskResource]:
    """What the task, or a candidate that a gate blocks, would need and cannot load."""
    subjects = [packet.primary_subject] if packet.primary_subject != AUTO else []
    subjects += [blocked.subject for blocked in packet.blocked_candidates]
    for slug in dict.fromkeys(subjects):
        installed = catalogue.get(slug)
        if installed is None:
            message = f"the subject {slug} is not installed or cannot be read"
            yield MissingTaskResource("subject", slug, slug, "not_installed", message)
            continue
        if slug == packet.primary_subject and installed.listing.state != "active":
            for kind in ("overlay", "skill"):
                message = f"the {kind} of {slug} is not loaded while the subject is {installed.listing.state}"
                yield MissingTaskResource(kind, slug, slug, "not_active", message)
        for item in resource_state(installed.contract, installed.root).missing:
            if item.kind in SUBJECT_KINDS:
                yield MissingTaskResource(item.kind, slug, item.name, "missing", item.reason)
    for withheld in packet.diagnostics.get("withheld_lenses", ()):
        slug, _, lens = str(withheld["lens"]).rpartition("/")
        why = " and ".join(str(code) for code in withheld["reasons"])
        yield MissingTaskResource("method_pack", slug, lens, "not_available", f"the lens cannot be borrowed: {why}")
    given = [(part.kind, part.subject, part.name) for part in bundle.parts]
    given += [(part.kind, part.subject, part.name) for part in bundle.left_out]
    planned = {(kind, pin) for kind, subject, name in given for pin in (name, f"{subject}/{name}")}
    for kind, names in (
        ("method_pack", manifest_state.method_lenses),
        ("venue_profile", manifest_state.venue_profiles),
    ):
        for name in names:
            if packet.refusal is None and (kind, name) not in planned:
                message = f"the project pins it, and no installed subject can give the {kind.replace('_', ' ')}"
                yield MissingTaskResource(kind, "", name, "not_available", message)
    for part in bundle.left_out:
        if part.code == "missing":
            yield MissingTaskResource(part.kind, part.subject, part.name, "missing", part.message)


def _plan(
    packet: RefinementPacket,
    bundle: ContextBundle,
    suggestion: SuggestedSubject | None,
    missing: tuple[MissingTaskResource, ...],
) -> Iterator[PlanStep]:
    """What to do, in order; every step names the parts of the bundle that it rests on."""
    if packet.refusal is not None:
        yield PlanStep("stop", f"The task was refused: {packet.refusal.message} {packet.refusal.hint}".strip())
        return
    parts = {f"{part.subject}/{part.kind}/{part.name}": part for part in bundle.parts}

    def named(*kinds: str) -> tuple[str, ...]:
        return tuple(name for name, part in parts.items() if part.kind in kinds)

    if packet.clarification is not None:
        question = packet.clarification
        options = ", ".join(option.subject for option in question.options)
        answer = f" Possible answers: {options}." if options else ""
        yield PlanStep("ask", f"Ask the user: {question.question}{answer} [{question.id}]")
    yield PlanStep("follow_core", "Work by the core guidance.", parts=named("core"))
    if packet.decision in SETTLED:
        held = "locked to" if packet.decision == "lock_subject" else "confirmed as"
        instruction = f"Apply the standards of {packet.primary_subject}: this project is {held} it."
        beside = [item.kind for item in bundle.left_out if item.code == "over_budget" and item.kind in SUBJECT_KINDS]
        if beside:
            shown = " and ".join(f"`qiongli resource show {packet.primary_subject} {kind}`" for kind in beside)
            instruction += f" What the budget left out is read with {shown}."
        yield PlanStep(
            "apply_subject",
            instruction,
            packet.primary_subject,
            named(*SUBJECT_KINDS),
        )
    if suggestion is not None and suggestion.prompt:
        yield PlanStep(
            "propose_subject",
            f"Ask the user whether {suggestion.subject} should set the standards here. Until they confirm it, nothing "
            f"of it but single lenses is used.",
            suggestion.subject,
        )
    for name, part in parts.items():
        if part.kind == "method_pack":
            instruction = f"Use {part.name} of {part.subject} for that method only."
            yield PlanStep("use_lens", instruction, part.subject, (name,))
        elif part.kind == "venue_profile":
            yield PlanStep("fit_venue", f"Write for {part.name}.", part.subject, (name,))
    if missing:
        what = ", ".join(
            f"{item.subject}/{item.kind}/{item.name}" if item.subject else f"{item.kind} {item.name}"
            for item in missing
        )
        yield PlanStep("report_missing", f"Tell the user what could not be loaded: {what}.")
