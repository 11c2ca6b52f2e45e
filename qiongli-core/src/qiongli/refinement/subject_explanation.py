"""Why one subject was or was not suggested, read off a packet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import attrs

from qiongli.records._units import SCHEMA_VERSION, Record
from qiongli.records.packet import BlockedCandidate, CandidateSubject, RefinementPacket, WhatWouldChange
from qiongli.records.subjects import Reason
from qiongli.refinement._counterfactuals import RESET, unblocked
from qiongli.refinement._wording import one_line
from qiongli.refinement.explanation import lost_spans

SubjectVerdict = Literal["primary", "secondary", "candidate", "blocked", "no_evidence"]


@attrs.frozen
class SubjectExplanation(Record):
    """The standing of one subject in one packet."""

    #: Slug of the subject that was asked about.
    subject: str
    #: What became of it: `primary` and `secondary` are named by the packet, `candidate` was scored, `blocked` was not.
    verdict: SubjectVerdict
    #: The packet's decision.
    decision: str
    #: Why, the weightiest reason first; then what was kept from counting for it.
    reasons: tuple[Reason, ...]
    #: The smallest changes that would alter what became of it.
    what_would_change: tuple[WhatWouldChange, ...]
    #: Version of this structure.
    schema_version: str = SCHEMA_VERSION


def explain_subject(subject: str, packet: RefinementPacket, *, options: str = "--cwd DIR") -> SubjectExplanation:
    """Say what became of the subject in the packet, why, and what would change it.

    `options` name the packet's project on a command line, for the hints.
    """
    settled = packet.decision in ("confirm_subject", "lock_subject")
    changes = [item for item in packet.what_would_change if item.subject == subject]
    blocked = next((item for item in packet.blocked_candidates if item.subject == subject), None)
    candidate = next((item for item in packet.candidate_subjects if item.subject == subject), None)
    verdict: SubjectVerdict
    reasons: list[Reason] = []
    if packet.primary_subject == subject:
        verdict = "primary"
        reasons.append(Reason(packet.decision, packet.summary))
    else:
        if settled:
            reasons.append(_settled(packet, options))
        if blocked is not None:
            verdict = "blocked"
            reasons += blocked.reasons
            if not any(item.subject == subject for item in changes):
                changes.append(unblocked(blocked, *([RESET] if settled else [])))
        elif subject in packet.secondary_subjects:
            verdict = "secondary"
            reasons.append(_named_beside(packet, settled=settled))
        else:
            verdict = "no_evidence" if candidate is None else "candidate"
        if candidate is not None and verdict != "secondary":
            reasons += _standing(candidate, packet)
        # The same words may stand in a long text many times.
        reasons += dict.fromkeys(_kept_from_counting(subject, packet))
        if candidate is None and blocked is None and all(reason.code in _OF_THE_PROJECT for reason in reasons):
            reasons.append(Reason("no_evidence", "nothing in the text speaks for it at subject level"))
    return SubjectExplanation(
        subject=subject,
        verdict=verdict,
        decision=packet.decision,
        reasons=tuple(reasons),
        what_would_change=tuple(changes),
    )


#: Codes of reasons that speak of the project and not of the text.
_OF_THE_PROJECT = ("project_locked", "project_confirmed", "neighbour")


def _settled(packet: RefinementPacket, options: str) -> Reason:
    """Why the text of a task decides nothing in a project with a subject."""
    if packet.decision == "lock_subject":
        code, word, hint = "project_locked", "locked", f"Run: qiongli subject unlock {options}"
    else:
        code, word, hint = "project_confirmed", "confirmed", f"Run: {RESET} {options}"
    return Reason(
        code, f"this project is {word} to {packet.primary_subject}, and no text makes it suggest another subject", hint
    )


def _named_beside(packet: RefinementPacket, *, settled: bool) -> Reason:
    if settled:
        return Reason("neighbour", "the project names it as a neighbour, which is never the primary subject")
    return Reason("within_margin", f"{packet.primary_subject} stands before it within the margin")


def _standing(candidate: CandidateSubject, packet: RefinementPacket) -> Iterator[Reason]:
    """Why a scored subject is not the suggested one."""
    subject = candidate.subject
    of_packet = [reason for reason in packet.reasons if reason.message.startswith(f"{subject}: ")]
    if of_packet or candidate.reasons:
        yield from of_packet or candidate.reasons
    elif packet.decision == "suggest_subject":
        yield Reason(
            "outranked",
            f"{packet.primary_subject} stands before it with a score of {_decimal(packet.confidence)}; "
            f"its own is {_decimal(candidate.score)}",
        )
    elif packet.decision in ("no_subject", "borrow_lens"):
        yield Reason("not_first", "the subject before it may not act, and nobody takes its place")
    else:
        yield Reason("suggestible", f"by itself it would be suggested, with a score of {_decimal(candidate.score)}")


def _kept_from_counting(subject: str, packet: RefinementPacket) -> Iterator[Reason]:
    """What lowers the subject's score or was kept out of it: suppressors, near misses, words lost to longer signals."""
    words = {item.signal_id: one_line(item.snippet) for item in reversed(packet.signals) if item.role == "suppressor"}
    for breakdown in packet.score_breakdown:
        if breakdown.kind == "subject" and breakdown.route == subject:
            for entry in breakdown.entries:
                if entry.kind == "penalty":
                    where = f" («{words[entry.name]}»)" if entry.name in words else ""
                    message = f"the suppressor {entry.name}{where} takes {_decimal(-entry.amount)} from its score"
                    yield Reason("suppressed", message)
    for kept in packet.near_miss_protections:
        if kept.subject == subject:
            yield Reason(kept.polarity, f"«{one_line(kept.snippet)}» ({kept.signal_id}): {kept.reason}")
    told: tuple[CandidateSubject | BlockedCandidate, ...] = (*packet.candidate_subjects, *packet.blocked_candidates)
    counting = {identifier for item in told if item.subject == subject for identifier in item.signal_ids}
    for lost in lost_spans([item for item in packet.signals if item.subject == subject]):
        if lost.signal_id in counting:
            continue  # it lost one place of several, and nothing of its weight
        yield Reason(
            "lost_span",
            f"«{one_line(lost.snippet)}» ({lost.signal_id}) lost its words to «{one_line(lost.kept_snippet)}» "
            f"({lost.kept_by})",
        )


def _decimal(ppm: int) -> str:
    return f"{ppm / 1_000_000:.2f}"
