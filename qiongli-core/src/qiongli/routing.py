"""The route selector: who may be compared, who wins, which rivals stand beside the winner, which lenses are lent.

`decide` is the whole decision as one pure function of candidates; it weakens no gate and reads nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal

import attrs

from qiongli.errors import QiongliError
from qiongli.limits import DEFAULT_LIMITS, Limits
from qiongli.records._units import Ppm
from qiongli.records.evidence import DIMENSIONS, Evidence
from qiongli.records.packet import BlockedCandidate, Decision, Refusal
from qiongli.records.project import AUTO, SubjectMode
from qiongli.records.subjects import Reason
from qiongli.safety import (
    LENS_GATES,
    SUBJECT_GATES,
    Gate,
    eligibility,
    final_gate,
    two_dimension_gate,
)
from qiongli.scoring import ScoredRoute, counts_for_lens, counts_for_subject, lens_route, score, subject_route

#: The priority of a route whose own cannot be read: after all others.
_LAST_PRIORITY: Final = 1 << 62

FactKind = Literal["missing_text", "repeated_failure", "ambiguous"]


@attrs.frozen
class RouteCandidate:
    """A subject that might act, with the evidence on which the disjoint-span rule has been applied.

    `gates` must hold the required gates of `qiongli.safety.SUBJECT_GATES`; `final_gates` are asked once more about
    what would act. `session` is the session's advisory in millionths; `repeated_failure` forbids a retry. For a
    composite, `composes` names its parts and `evidence` holds its own and its parts' evidence.
    """

    subject: str
    priority: int
    evidence: tuple[Evidence, ...] = ()
    gates: tuple[Gate, ...] = ()
    final_gates: tuple[Gate, ...] = ()
    single_dimension_proved: bool = False
    session: Ppm | None = None
    repeated_failure: bool = False
    composes: tuple[str, ...] = ()


@attrs.frozen
class LensCandidate:
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


@attrs.frozen
class Standing:
    """A scored subject and whether it may be suggested; `reasons` say why not."""

    subject: str
    scored: ScoredRoute
    suggestible: bool
    reasons: tuple[Reason, ...] = ()


@attrs.frozen
class LensStanding:
    """A scored lens and whether it is lent."""

    subject: str
    lens: str
    scored: ScoredRoute
    lent: bool


@attrs.frozen
class UnresolvedFact:
    """Something that the task leaves open; `subjects` are the possible answers, in rank order."""

    kind: FactKind
    id: str
    subjects: tuple[str, ...] = ()


@attrs.frozen
class Routing:
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


def _rank_key(item: ScoredRoute) -> tuple[int, int, int, str]:
    priority = item.route.priority
    return (-item.total, priority if type(priority) is int else _LAST_PRIORITY, item.cost, item.route.id)


def rank(scored: Iterable[ScoredRoute]) -> tuple[ScoredRoute, ...]:
    """The one order of routes: score, then lowest priority, then lowest cost, then id by code point.

    Ids are unique, so the order is total and never depends on the order of the input. Raises `QiongliError`
    (`duplicate_route`) when an id occurs twice.
    """
    routes = tuple(scored)
    _unique(item.route.id for item in routes)
    return tuple(sorted(routes, key=_rank_key))


def _unique(ids: Iterable[str]) -> None:
    seen: set[str] = set()
    for id_ in ids:
        if id_ in seen:
            raise QiongliError(f"the route {id_!r} occurs twice", code="duplicate_route")
        seen.add(id_)


def select(
    standings: Sequence[Standing], limits: Limits = DEFAULT_LIMITS
) -> tuple[Standing | None, tuple[Standing, ...]]:
    """The winner and its rivals: the best suggestible one, and the suggestible ones within the margin, inclusive.

    `standings` are in rank order, and so are the rivals.
    """
    suggestible = [standing for standing in standings if standing.suggestible]
    if not suggestible:
        return None, ()
    winner = suggestible[0]
    lowest = winner.scored.total - limits.margin
    return winner, tuple(standing for standing in suggestible[1:] if standing.scored.total >= lowest)


def _counted(candidate: RouteCandidate) -> tuple[Evidence, ...]:
    owners = {candidate.subject, *candidate.composes}
    return tuple(item for item in candidate.evidence if item.subject in owners and counts_for_subject(item))


def _blocked(subject: str, counted: Iterable[Evidence], reasons: tuple[Reason, ...]) -> BlockedCandidate:
    counted = tuple(counted)
    dimensions = {item.dimension for item in counted}
    return BlockedCandidate(
        subject=subject,
        reasons=reasons,
        dimensions=tuple(name for name in DIMENSIONS if name in dimensions),
        signal_ids=tuple(sorted({item.signal_id for item in counted})),
    )


def _standing(candidate: RouteCandidate, limits: Limits) -> Standing:
    route = subject_route(
        candidate.subject,
        candidate.priority,
        candidate.evidence,
        parts=candidate.composes,
        session=candidate.session,
        single_dimension_proved=candidate.single_dimension_proved,
        limits=limits,
    )
    scored = score(route, limits)
    gate = two_dimension_gate(scored.dimensions, candidate.single_dimension_proved)
    reasons = () if gate.passed else gate.reasons
    if scored.total < limits.suggest_threshold:
        reasons += (Reason("below_threshold", "The score is below the suggest threshold"),)
    return Standing(candidate.subject, scored, not reasons, reasons)


def _composition_holds(
    candidate: RouteCandidate,
    standings: Mapping[str, Standing],
    counted: Mapping[str, tuple[Evidence, ...]],
    limits: Limits,
) -> bool:
    """Whether the parts, all of them eligible, carry their composite."""
    parts = [standings[part] for part in candidate.composes]
    totals = [part.scored.total for part in parts]
    if all(part.suggestible for part in parts) and max(totals) - min(totals) <= limits.margin:
        return True
    own = any(item.subject == candidate.subject for item in counted[candidate.subject])
    return own and all(counted[part] for part in candidate.composes)


def _score_subjects(
    candidates: Sequence[RouteCandidate], limits: Limits
) -> tuple[dict[str, Standing], list[BlockedCandidate]]:
    """Standings of the eligible candidates by subject, and those that a gate blocked although they have evidence."""
    counted = {candidate.subject: _counted(candidate) for candidate in candidates}
    standings: dict[str, Standing] = {}
    blocked: list[BlockedCandidate] = []

    def admit(candidate: RouteCandidate, reasons: tuple[Reason, ...], eligible: bool) -> None:
        if eligible:
            standings[candidate.subject] = _standing(candidate, limits)
        elif counted[candidate.subject]:
            blocked.append(_blocked(candidate.subject, counted[candidate.subject], reasons))

    simple = [candidate for candidate in candidates if not candidate.composes]
    for candidate in simple:
        verdict = eligibility(candidate.gates, SUBJECT_GATES)
        admit(candidate, verdict.reasons, verdict.eligible)
    for candidate in candidates:
        if not candidate.composes:
            continue
        verdict = eligibility(candidate.gates, SUBJECT_GATES)
        missing = tuple(part for part in candidate.composes if part not in standings)
        if missing:
            part_reason = Reason("part_not_active", f"A part of the composite may not act: {', '.join(missing)}")
            if any(item.subject == candidate.subject for item in counted[candidate.subject]):
                admit(candidate, (*verdict.reasons, part_reason), False)
        elif not verdict.eligible:
            admit(candidate, verdict.reasons, False)
        elif _composition_holds(candidate, standings, counted, limits):
            admit(candidate, (), True)
    return standings, blocked


def _replace_parts(
    standings: dict[str, Standing], candidates: Sequence[RouteCandidate]
) -> tuple[dict[str, Standing], list[Standing]]:
    """A composite that is itself suggestible replaces its parts in the ranking."""
    replaced = {
        part
        for candidate in candidates
        if candidate.composes and candidate.subject in standings and standings[candidate.subject].suggestible
        for part in candidate.composes
    }
    left = {subject: standing for subject, standing in standings.items() if subject not in replaced}
    return left, [standings[subject] for subject in sorted(replaced)]


def _score_lenses(
    lenses: Sequence[LensCandidate], limits: Limits
) -> tuple[tuple[LensStanding, ...], tuple[tuple[str, tuple[Reason, ...]], ...]]:
    owners: dict[str, LensCandidate] = {}
    scored: list[ScoredRoute] = []
    withheld = []
    _unique(lens.id for lens in lenses)
    for lens in lenses:
        if not any(item.subject == lens.subject and counts_for_lens(item, lens.lens) for item in lens.evidence):
            continue
        verdict = eligibility(lens.gates, LENS_GATES)
        if not verdict.eligible:
            withheld.append((lens.id, verdict.reasons))
            continue
        owners[lens.id] = lens
        scored.append(score(lens_route(lens.subject, lens.lens, lens.priority, lens.evidence, limits=limits), limits))
    standings = tuple(
        LensStanding(
            owners[item.route.id].subject,
            owners[item.route.id].lens,
            item,
            # Malformed evidence adds nothing, and a lens is not lent for its prior alone.
            bool(item.dimensions) and item.total >= limits.lens_threshold,
        )
        for item in rank(scored)
    )
    return standings, tuple(sorted(withheld))


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
            reasons.append(Reason("no_evidence", "Nothing in the task speaks for an installed subject"))
    return reasons


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
) -> Routing:
    """Decide the route of one task.

    A refusal ends everything. A confirmed or locked project keeps its subject, whatever gates and scores say of it;
    only what may be loaded depends on them. Otherwise the best suggestible subject that passes the final gate is
    suggested; when the final gate removes it, nobody takes its place. Lenses are lent in every mode.

    `answers` maps ids of unresolved facts to subjects: what the user answered keeps the task in that subject, and
    excludes every other one, but lifts no gate. Raises `QiongliError` (`duplicate_route`) for a repeated candidate.
    """
    if refusal is not None:
        return Routing("no_subject", reasons=(Reason(refusal.code, refusal.message, refusal.hint),), refusal=refusal)
    answers = answers or {}
    candidates = tuple(sorted(candidates, key=lambda candidate: candidate.subject))
    _unique(candidate.subject for candidate in candidates)
    by_subject = {candidate.subject: candidate for candidate in candidates}

    standings, blocked = _score_subjects(candidates, limits)
    active = standings.get(active_subject)
    standings, replaced = _replace_parts(standings, candidates)
    with_evidence = [standing for standing in standings.values() if standing.scored.signal_ids]
    order = rank(standing.scored for standing in with_evidence)
    ranked = tuple(standings[item.route.id] for item in order)
    lens_standings, withheld = _score_lenses(lenses, limits)
    facts: list[UnresolvedFact] = []
    reasons: list[Reason] = []

    def drop(subject: str, why: tuple[Reason, ...]) -> None:
        nonlocal ranked
        ranked = tuple(standing for standing in ranked if standing.subject != subject)
        blocked.append(_blocked(subject, _counted(by_subject[subject]), why))

    decision: Decision
    standing: Standing | None = None
    secondaries: tuple[str, ...] = ()
    if mode in ("confirmed", "locked") and active_subject != AUTO:
        decision = "confirm_subject" if mode == "confirmed" else "lock_subject"
        primary = active_subject
        standing = active
    else:
        winner, rivals = select(ranked, limits)
        survivors = final_gate(
            [standing.subject for standing in ranked],
            {standing.subject: by_subject[standing.subject].final_gates for standing in ranked},
        )
        for removed in [item for item in ranked if item.subject not in survivors]:
            drop(removed.subject, eligibility(by_subject[removed.subject].final_gates, ()).reasons)
        rivals = tuple(rival for rival in rivals if rival.subject in survivors)
        if winner is not None and winner.subject not in survivors:
            # Not silently the runner-up: what was chosen may not act, so nobody does.
            winner, rivals = None, ()

        if winner is not None and rivals:
            fact = ambiguous_fact([winner.subject, *(rival.subject for rival in rivals)], limits)
            answer = answers.get(fact.id)
            if answer in fact.subjects:
                for other in [item for item in ranked if item.subject != answer]:
                    drop(other.subject, (Reason("excluded", f"Your answer keeps this task in {answer}"),))
                winner, rivals = standings[answer], ()
            else:
                facts.append(fact)
        if winner is not None and by_subject[winner.subject].repeated_failure is not False:
            fact = UnresolvedFact("repeated_failure", f"repeated_failure:{winner.subject}", (winner.subject,))
            if answers.get(fact.id) != winner.subject:
                reasons.append(
                    Reason("repeated_failure", f"{winner.subject}: earlier attempts on this task failed repeatedly")
                )
                facts = [fact]
                winner, rivals = None, ()
        if not has_text:
            facts.insert(0, UnresolvedFact("missing_text", "missing_text"))

        if winner is not None:
            decision, primary, standing = "suggest_subject", winner.subject, winner
            secondaries = tuple(rival.subject for rival in rivals)
        else:
            lent = any(lens.lent for lens in lens_standings)
            decision, primary = ("borrow_lens" if lent else "no_subject"), AUTO
            reasons.extend(_core_reasons(ranked, blocked, candidates, withheld, has_text))

    return Routing(
        decision=decision,
        primary=primary,
        secondaries=secondaries,
        ranked=ranked,
        replaced=tuple(replaced),
        standing=standing,
        blocked=tuple(sorted(blocked, key=lambda item: item.subject)),
        lenses=lens_standings,
        withheld_lenses=withheld,
        method_lenses=tuple(lens.lens for lens in lens_standings if lens.lent and lens.subject == primary),
        borrowed_lenses=tuple(lens for lens in lens_standings if lens.lent and lens.subject != primary),
        facts=tuple(facts),
        reasons=tuple(reasons),
    )
