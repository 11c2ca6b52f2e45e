"""`infer_subject_refinement()`: calls the owners in their order and fills the packet. It does no work of theirs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from qiongli.clarification import ask, intent_evidence
from qiongli.diagnostics import observe
from qiongli.document import read_document
from qiongli.errors import InputError
from qiongli.limits import DEFAULT_LIMITS, Limits
from qiongli.prompting import prompt_state
from qiongli.records._units import Ppm
from qiongli.records.packet import (
    BorrowedLens,
    CandidateSubject,
    EvidenceSources,
    Persistence,
    RefinementPacket,
    Refusal,
    ScoreBreakdown,
)
from qiongli.records.project import AUTO, EvidenceMemory, ManifestState
from qiongli.refinement._assembly import (
    counted_by_subject,
    lens_candidates,
    near_miss_protections,
    project_warnings,
    read_directives,
    route_candidates,
)
from qiongli.refinement._counterfactuals import what_would_change
from qiongli.refinement._diagnosis import diagnose, recorded, recorder_for, report
from qiongli.refinement._planning import check_budget, plan_for
from qiongli.refinement._session import advice
from qiongli.refinement._wording import summary_of
from qiongli.routing import Routing, decide
from qiongli.safety import RequestFacts, precheck, refuse

if TYPE_CHECKING:
    from qiongli.plugins import Catalogue, HookCaller
    from qiongli.session import SessionState
    from qiongli.signals import SignalIndex

__all__ = ["RefinementRuntime", "infer_subject_refinement", "recorder_for"]


class RefinementRuntime(Protocol):
    """What an inference needs besides the task."""

    @property
    def catalogue(self) -> Catalogue:
        """The subjects with their states."""
        ...

    @property
    def index(self) -> SignalIndex:
        """The compiled index of their signals."""
        ...

    @property
    def hooks(self) -> HookCaller | None:
        """The hooks that may run, or None."""
        ...

    @property
    def limits(self) -> Limits:
        """The numbers of the scorer."""
        ...


_PERSISTENCE: dict[str, Persistence] = {
    "no_subject": Persistence("none"),
    "borrow_lens": Persistence("temporary"),
    "suggest_subject": Persistence("proposed"),
    "confirm_subject": Persistence("applied"),
    "lock_subject": Persistence("locked"),
}


def infer_subject_refinement(
    task_packet: Mapping[str, object] | str,
    *,
    manifest_state: ManifestState,
    memory: EvidenceMemory | None = None,
    session: SessionState | None = None,
    runtime: RefinementRuntime,
    answers: Mapping[str, str] | None = None,
    budget: int | None = None,
    recorder: object = None,
) -> RefinementPacket:
    """Answer for one task; see `qiongli.runtime.infer_subject_refinement` for the public door."""
    limits = runtime.limits.strict() if manifest_state.strictness == "strict" else runtime.limits
    # Made first, because that checks the answers; only checked ids can be put in order.
    intents = [intent_evidence(fact_id, subject) for fact_id, subject in (answers or {}).items()]
    intents.sort(key=lambda intent: intent.signal_id)
    check_budget(budget)
    try:
        document = read_document(task_packet, limit=limits.input_size)
    except InputError as error:
        if error.code not in ("input_too_large", "undecodable"):
            raise
        return _refused(
            refuse(error.code, error.message, error.hint), manifest_state, runtime.catalogue, budget, recorder=recorder
        )
    facts = RequestFacts(document.size, limits.input_size, decodable=True, inside_project=True, authorised=True)
    vetoes = runtime.hooks.request_vetoes(document) if runtime.hooks is not None else ()
    refusal = precheck(facts, vetoes)
    if refusal is not None:
        return _refused(refusal, manifest_state, runtime.catalogue, budget, document.fingerprint, recorder=recorder)
    observe(recorder, "precheck", outcome="pass")
    observe(recorder, "document", size=document.size, count=len(document.fields))

    found = runtime.index.detect(document)
    if runtime.hooks is not None:
        found = (*found, *runtime.hooks.detect(document))
    if intents:
        found = (*found, *intents)
    counted = counted_by_subject(found)
    directives = read_directives(found)
    advised = advice(session, document, limits)
    candidates = route_candidates(
        runtime.catalogue,
        counted,
        directives,
        advisories=advised.advisories,
        failures=advised.failures,
        active_subject=manifest_state.active_subject,
    )
    routing = decide(
        candidates,
        lens_candidates(runtime.catalogue, counted),
        mode=manifest_state.subject_mode,
        active_subject=manifest_state.active_subject,
        has_text=document.has_text,
        answers=answers,
        limits=limits,
        recorder=recorder,
    )
    plan, loaded, plan_warnings = plan_for(routing, manifest_state, runtime.catalogue, budget, limits)
    prompt, promotion = False, None
    if routing.decision == "suggest_subject":
        prompt, promotion = prompt_state(memory, routing.primary, document.fingerprint)
    clarification = ask(routing, asked=advised.asked, answered=tuple(answers or ()), limits=limits)
    if recorder is not None:
        report(recorder, routing, found, clarification, plan)
    settled = routing.decision in ("confirm_subject", "lock_subject")
    warnings = project_warnings(runtime.catalogue, routing.primary, directives) if settled else ()
    return RefinementPacket(
        decision=routing.decision,
        mode="suggested" if routing.decision == "suggest_subject" else manifest_state.subject_mode,
        active_subject=manifest_state.active_subject,
        primary_subject=routing.primary,
        # The neighbours that a settled project names are never primary; suggested rivals stand within the margin.
        secondary_subjects=manifest_state.secondary_subjects if settled else routing.secondaries,
        candidate_subjects=tuple(
            CandidateSubject(
                standing.subject,
                Ppm(standing.scored.total),
                standing.scored.dimensions,
                standing.scored.signal_ids,
                standing.reasons,
            )
            for standing in routing.ranked
        ),
        blocked_candidates=routing.blocked,
        method_lenses=routing.method_lenses,
        borrowed_lenses=tuple(
            BorrowedLens(
                lens.subject, lens.lens, f"the text uses {', '.join(lens.scored.signal_ids)} without its subject"
            )
            for lens in routing.borrowed_lenses
        ),
        loaded_resources=loaded,
        resource_activation_plan=plan,
        persistence=_PERSISTENCE[routing.decision],
        prompt=prompt,
        promotion_recommendation=promotion,
        clarification=clarification,
        confidence=Ppm(routing.confidence),
        score_breakdown=_breakdowns(routing),
        signals=found,
        near_miss_protections=near_miss_protections(found),
        reasons=routing.reasons,
        warnings=(*warnings, *plan_warnings),
        summary=summary_of(routing),
        domain=routing.primary if settled else AUTO,
        evidence_sources=EvidenceSources(
            task_text=any(item.source != "user" for item in found),
            manifest_state=manifest_state != ManifestState(),
            trace_memory=memory is not None and bool(memory.suggestions or memory.dismissed_subjects),
            user_action=bool(answers) or bool(directives.excluded or directives.kept),
        ),
        what_would_change=what_would_change(routing, limits, found, document, advised.failures),
        diagnostics=diagnose(routing) | recorded(recorder),
        fingerprint=document.fingerprint,
    )


def _breakdowns(routing: Routing) -> tuple[ScoreBreakdown, ...]:
    """The scores of all subjects that were ranked, of the primary if it was not, and of all lenses."""
    standings = list(routing.ranked)
    if routing.standing is not None and routing.standing.subject not in {item.subject for item in standings}:
        standings.append(routing.standing)
    scored = [standing.scored for standing in standings] + [lens.scored for lens in routing.lenses]
    return tuple([item.breakdown for item in scored])


def _refused(
    refusal: Refusal,
    manifest_state: ManifestState,
    catalogue: Catalogue,
    budget: int | None,
    fingerprint: str = "",
    *,
    recorder: object = None,
) -> RefinementPacket:
    """A packet without a route; it still carries the project's state, and what the project pins."""
    routing = decide((), refusal=refusal, recorder=recorder)
    plan, loaded, warnings = plan_for(routing, manifest_state, catalogue, budget, DEFAULT_LIMITS)
    return RefinementPacket(
        decision=routing.decision,
        mode=manifest_state.subject_mode,
        active_subject=manifest_state.active_subject,
        secondary_subjects=manifest_state.secondary_subjects if manifest_state.subject_mode != "auto" else (),
        refusal=refusal,
        loaded_resources=loaded,
        warnings=warnings,
        reasons=routing.reasons,
        summary=f"refused: {refusal.message}",
        resource_activation_plan=plan,
        evidence_sources=EvidenceSources(manifest_state=manifest_state != ManifestState()),
        diagnostics=recorded(recorder),
        fingerprint=fingerprint,
    )
