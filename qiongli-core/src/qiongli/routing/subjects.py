"""Standings of subjects: eligibility first, then the score, then whether one may be suggested; composites last."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from qiongli.limits import Limits
from qiongli.records.evidence import DIMENSIONS, Evidence
from qiongli.records.packet import BlockedCandidate
from qiongli.records.subjects import Reason
from qiongli.routing.candidates import RouteCandidate, Standing
from qiongli.safety import SUBJECT_GATES, eligibility, two_dimension_gate
from qiongli.scoring import counts_for_subject, score, subject_route


def counted_evidence(candidate: RouteCandidate) -> tuple[Evidence, ...]:
    """The evidence that counts for the candidate: asserted, at subject level, its own or its parts'."""
    owners = {candidate.subject, *candidate.composes}
    return tuple(item for item in candidate.evidence if item.subject in owners and counts_for_subject(item))


def blocked_candidate(subject: str, counted: Iterable[Evidence], reasons: tuple[Reason, ...]) -> BlockedCandidate:
    """A candidate that may not act, with what it has and why it may not; never with a score."""
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


def _composition_problem(
    candidate: RouteCandidate,
    parts: Mapping[str, Standing],
    counted: Callable[[str], tuple[Evidence, ...]],
    limits: Limits,
) -> Reason | None:
    """Why the composite's parts do not carry it, or None when they do; `parts` are the eligible simple subjects."""
    missing = [part for part in candidate.composes if part not in parts]
    if missing:
        return Reason("part_not_active", f"A part of the composite may not act: {', '.join(missing)}")
    standings = [parts[part] for part in candidate.composes]
    totals = [standing.scored.total for standing in standings]
    if all(standing.suggestible for standing in standings) and max(totals) - min(totals) <= limits.margin:
        return None
    own = any(item.subject == candidate.subject for item in counted(candidate.subject))
    if own and all(counted(part) for part in candidate.composes):
        return None
    return Reason("parts_without_evidence", "The composite's parts do not stand together, and not each has evidence")


def score_subjects(
    candidates: Sequence[RouteCandidate], limits: Limits
) -> tuple[dict[str, Standing], list[BlockedCandidate]]:
    """Standings of the eligible candidates by subject, and those that a gate blocked although they have evidence."""
    by_subject = {candidate.subject: candidate for candidate in candidates}

    def counted(subject: str) -> tuple[Evidence, ...]:
        return counted_evidence(by_subject[subject])

    standings: dict[str, Standing] = {}
    blocked: list[BlockedCandidate] = []
    for candidate in candidates:
        if candidate.composes:
            continue
        verdict = eligibility(candidate.gates, SUBJECT_GATES)
        if verdict.eligible:
            standings[candidate.subject] = _standing(candidate, limits)
        elif evidence := counted(candidate.subject):
            blocked.append(blocked_candidate(candidate.subject, evidence, verdict.reasons))
    composites: dict[str, Standing] = {}
    for candidate in candidates:
        if not candidate.composes:
            continue
        verdict = eligibility(candidate.gates, SUBJECT_GATES)
        problem = _composition_problem(candidate, standings, counted, limits)
        evidence = counted(candidate.subject)
        own = [item for item in evidence if item.subject == candidate.subject]
        if problem is None and verdict.eligible:
            composites[candidate.subject] = _standing(candidate, limits)
        elif problem is None:
            blocked.append(blocked_candidate(candidate.subject, evidence, verdict.reasons))
        elif own:
            # Without evidence of its own, and without parts that carry it, nobody would have thought of it.
            blocked.append(blocked_candidate(candidate.subject, own, (*verdict.reasons, problem)))
    return standings | composites, blocked


def replace_parts(
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
