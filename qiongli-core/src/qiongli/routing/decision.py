"""The whole decision as one pure function of candidates; it weakens no gate and reads nothing else."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import attrs

from qiongli._value import Value
from qiongli.diagnostics import observe
from qiongli.limits import DEFAULT_LIMITS, Limits
from qiongli.records.packet import BlockedCandidate, Decision, Refusal
from qiongli.records.project import AUTO, SubjectMode
from qiongli.records.subjects import Reason
from qiongli.routing.candidates import LensCandidate, RouteCandidate, Routing, Standing, UnresolvedFact
from qiongli.routing.lenses import score_lenses
from qiongli.routing.order import rank, select, unique
from qiongli.routing.subjects import blocked_candidate, counted_evidence, replace_parts, score_subjects
from qiongli.safety import Gate, eligibility, final_gate, run_gate


def ambiguous_fact(subjects: Sequence[str], limits: Limits = DEFAULT_LIMITS) -> UnresolvedFact:
    """The fact that several subjects stand within the margin; its id does not depend on their order."""
    offered = tuple(subjects[: limits.clarification_options])
    return UnresolvedFact("ambiguous", f"ambiguous:{'+'.join(sorted(offered))}", offered)


def _core_reasons(
    ranked: Sequence[Standing],
    blocked: Sequence[BlockedCandidate],
    candidates: Sequence[RouteCandidate],
    withheld: Sequence[tuple[str, tuple[Reason, ...]]],
    has_text: bool,
) -> list[Reason]:
    """Why no subject was suggested; never empty."""
    reasons: list[Reason] = []
    if not has_text:
        reasons.append(
            Reason("no_text", "The task has no text about a subject", "Give a topic, a title or an abstract")
        )
    for standing in ranked:
        reasons.extend(
            Reason(reason.code, f"{standing.subject}: {reason.message}", reason.hint) for reason in standing.reasons
        )
    for candidate in blocked:
        reasons.extend(
            Reason(reason.code, f"{candidate.subject}: {reason.message}", reason.hint) for reason in candidate.reasons
        )
    for lens, lens_reasons in withheld:
        reasons.extend(Reason(reason.code, f"{lens}: {reason.message}", reason.hint) for reason in lens_reasons)
    if not reasons:
        asserted = any(
            item.role == "signal" and item.polarity == "asserted"
            for candidate in candidates
            for item in candidate.evidence
        )
        if asserted:
            reasons.append(Reason("no_subject_evidence", "What was found speaks for no subject by itself"))
        else:
            reasons.append(
                Reason(
                    "no_evidence",
                    "Nothing in the task speaks for an installed subject",
                    "Texts are read in English and Chinese",
                )
            )
    return reasons


@attrs.frozen(repr=False)
class _Field(Value):
    """Who is left in the comparison: standings in rank order, the winner and its rivals, and who was blocked."""

    ranked: tuple[Standing, ...]
    replaced: tuple[Standing, ...]
    winner: Standing | None
    rivals: tuple[Standing, ...]
    #: The standing of the project's subject, if no gate forbids to score it.
    active: Standing | None
    blocked: tuple[BlockedCandidate, ...]

    def without(self, subjects: Sequence[str], blocked: Sequence[BlockedCandidate]) -> _Field:
        """The same field without some subjects. A winner that is removed has no successor, and no rivals."""
        if not subjects and not blocked:
            return self

        def left(standings: tuple[Standing, ...]) -> tuple[Standing, ...]:
            return tuple(standing for standing in standings if standing.subject not in subjects)

        winner = self.winner if self.winner is not None and self.winner.subject not in subjects else None
        return _Field(
            ranked=left(self.ranked),
            replaced=left(self.replaced),
            winner=winner,
            rivals=left(self.rivals) if winner is not None else (),
            active=self.active if self.active is not None and self.active.subject not in subjects else None,
            blocked=(*self.blocked, *blocked),
        )


def _compare(candidates: Sequence[RouteCandidate], active_subject: str, limits: Limits, *, may_suggest: bool) -> _Field:
    """Eligibility, scores, ranking, winner and rivals, and then the final gate, which can only remove."""
    standings, blocked = score_subjects(candidates, limits)
    active = standings.get(active_subject)
    standings, replaced = replace_parts(standings, candidates)
    for candidate in candidates:
        if candidate.only_as_part and candidate.subject in standings:
            del standings[candidate.subject]
            if evidence := counted_evidence(candidate):
                blocked.append(blocked_candidate(candidate.subject, evidence, candidate.only_as_part))
    order = rank(standing.scored for standing in standings.values() if standing.scored.signal_ids)
    ranked = tuple(standings[item.route.id] for item in order)
    winner, rivals = select(ranked, limits)
    field = _Field(ranked, tuple(replaced), winner, rivals, active, tuple(blocked))

    acting = {standing.subject for standing in (winner, *rivals)} if may_suggest and winner is not None else set()
    # A composite acts by its parts.
    acting |= {part for candidate in candidates if candidate.subject in acting for part in candidate.composes}
    own_gates = {candidate.subject: _last_gates(candidate, acting) for candidate in candidates}
    # What may not act by itself may not act as a part either.
    gates = {
        candidate.subject: sum((own_gates.get(part, ()) for part in candidate.composes), own_gates[candidate.subject])
        for candidate in candidates
    }
    survivors = final_gate(tuple(gates), gates)
    removed = [candidate for candidate in candidates if candidate.subject not in survivors]
    scored = {standing.subject for standing in field.ranked}
    return field.without(
        [candidate.subject for candidate in removed],
        [
            blocked_candidate(
                candidate.subject, counted_evidence(candidate), eligibility(gates[candidate.subject], ()).reasons
            )
            for candidate in removed
            if candidate.subject in scored
        ],
    )


def _last_gates(candidate: RouteCandidate, acting: Collection[str]) -> tuple[Gate, ...]:
    """The last gates of a candidate; its checks are run only when it would act."""
    if candidate.subject not in acting or not candidate.final_checks:
        return candidate.final_gates
    return (*candidate.final_gates, *[run_gate(*check) for check in candidate.final_checks])


def _settle_ambiguity(
    field: _Field, candidates: Mapping[str, RouteCandidate], answers: Mapping[str, str], limits: Limits
) -> tuple[_Field, tuple[UnresolvedFact, ...]]:
    """Let the user's answer decide between the winner and its rivals; without one, leave the fact open."""
    if field.winner is None or not field.rivals:
        return field, ()
    fact = ambiguous_fact([field.winner.subject, *(rival.subject for rival in field.rivals)], limits)
    answer = answers.get(fact.id)
    if answer not in fact.subjects:
        return field, (fact,)
    others = [standing.subject for standing in field.ranked if standing.subject != answer]
    why = (Reason("excluded", f"The user's answer keeps this task in {answer}"),)
    blocked = [blocked_candidate(subject, counted_evidence(candidates[subject]), why) for subject in others]
    chosen = next(standing for standing in field.ranked if standing.subject == answer)
    return attrs.evolve(field.without(others, blocked), winner=chosen, rivals=()), ()


def decide(
    candidates: Sequence[RouteCandidate],
    lenses: Sequence[LensCandidate] = (),
    *,
    mode: SubjectMode = "auto",
    active_subject: str = AUTO,
    has_text: bool = True,
    refusal: Refusal | None = None,
    answers: Mapping[str, str] | None = None,
    limits: Limits = DEFAULT_LIMITS,
    recorder: object = None,
) -> Routing:
    """Decide the route of one task.

    A refusal ends everything. A confirmed or locked project keeps its subject, whatever gates and scores say of it;
    only what may be loaded depends on them. Otherwise the best suggestible subject that passes the final gate is
    suggested; when the final gate removes it, nobody takes its place. Lenses are lent in every mode.

    `answers` maps ids of unresolved facts to subjects: what the user answered keeps the task in that subject, and
    excludes every other one, but lifts no gate. A `recorder` of diagnostics is told what happened and changes nothing.
    Raises `QiongliError` (`duplicate_route`) for a repeated candidate.
    """
    if refusal is not None:
        observe(recorder, "precheck", outcome="fail", code=refusal.code)
        return Routing("no_subject", reasons=(Reason(refusal.code, refusal.message, refusal.hint),), refusal=refusal)
    candidates = tuple(sorted(candidates, key=lambda candidate: candidate.subject))
    unique(candidate.subject for candidate in candidates)
    by_subject = {candidate.subject: candidate for candidate in candidates}
    settled = mode in ("confirmed", "locked") and active_subject != AUTO
    field = _compare(candidates, active_subject, limits, may_suggest=not settled)
    lens_standings, withheld = score_lenses(lenses, limits)

    decision: Decision
    primary = AUTO
    standing: Standing | None
    rivals: tuple[Standing, ...] = ()
    facts: tuple[UnresolvedFact, ...] = ()
    reasons: list[Reason] = []
    if settled:
        decision = "confirm_subject" if mode == "confirmed" else "lock_subject"
        primary = active_subject
        standing = field.active
    else:
        answers = answers or {}
        field, facts = _settle_ambiguity(field, by_subject, answers, limits)
        standing, rivals = field.winner, field.rivals
        if standing is not None and by_subject[standing.subject].repeated_failure is not False:
            fact = UnresolvedFact("repeated_failure", f"repeated_failure:{standing.subject}", (standing.subject,))
            if answers.get(fact.id) != standing.subject:
                # Not a retry, and not silently the runner-up either.
                message = f"{standing.subject}: earlier attempts on this task failed repeatedly"
                reasons.append(Reason("repeated_failure", message))
                facts, standing, rivals = (fact,), None, ()
        if not has_text:
            facts = (UnresolvedFact("missing_text", "missing_text"), *facts)
        if standing is not None:
            decision, primary = "suggest_subject", standing.subject
        else:
            decision = "borrow_lens" if any(lens.lent for lens in lens_standings) else "no_subject"
            reasons.extend(_core_reasons(field.ranked, field.blocked, candidates, withheld, has_text))

    routing = Routing(
        decision=decision,
        primary=primary,
        secondaries=tuple(rival.subject for rival in rivals),
        ranked=field.ranked,
        replaced=field.replaced,
        standing=standing,
        blocked=tuple(sorted(field.blocked, key=lambda item: item.subject)),
        lenses=lens_standings,
        withheld_lenses=withheld,
        method_lenses=tuple(lens.lens for lens in lens_standings if lens.lent and lens.subject == primary),
        borrowed_lenses=tuple(lens for lens in lens_standings if lens.lent and lens.subject != primary),
        facts=facts,
        reasons=tuple(reasons),
    )
    _report(routing, mode, recorder)
    return routing


def _report(routing: Routing, mode: str, recorder: object) -> None:
    """Tell the diagnostics, if there are any."""
    if recorder is None:
        return
    for blocked in routing.blocked:
        observe(recorder, "eligibility", subject=blocked.subject, outcome="fail")
    for standing in routing.ranked:
        breakdown = standing.scored.breakdown
        observe(recorder, "score", subject=standing.subject, score=breakdown.total, rejected=breakdown.rejected)
    observe(recorder, "decision", decision=routing.decision, subject=routing.primary, mode=mode)
