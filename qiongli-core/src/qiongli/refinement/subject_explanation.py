"""Why one subject was or was not suggested, read off a packet."""

from __future__ import annotations

from typing import Literal

import attrs

from qiongli.records._units import SCHEMA_VERSION, Record
from qiongli.records.packet import RefinementPacket, WhatWouldChange
from qiongli.records.subjects import Reason

SubjectVerdict = Literal["primary", "secondary", "candidate", "blocked", "no_evidence"]


@attrs.frozen
class SubjectExplanation(Record):
    """The standing of one subject in one packet."""

    subject: str
    verdict: SubjectVerdict
    decision: str
    reasons: tuple[Reason, ...]
    what_would_change: tuple[WhatWouldChange, ...]
    schema_version: str = SCHEMA_VERSION


def explain_subject(subject: str, packet: RefinementPacket) -> SubjectExplanation:
    """Say what became of the subject in the packet, why, and what would change it."""
    reasons: tuple[Reason, ...]
    verdict: SubjectVerdict
    blocked = next((item for item in packet.blocked_candidates if item.subject == subject), None)
    candidate = next((item for item in packet.candidate_subjects if item.subject == subject), None)
    if packet.primary_subject == subject:
        verdict, reasons = "primary", (Reason(packet.decision, packet.summary),)
    elif subject in packet.secondary_subjects:
        verdict = "secondary"
        reasons = (Reason("within_margin", f"{packet.primary_subject} stands before it within the margin"),)
    elif blocked is not None:
        verdict, reasons = "blocked", blocked.reasons
    elif candidate is not None:
        verdict = "candidate"
        reasons = tuple(reason for reason in packet.reasons if reason.message.startswith(f"{subject}: "))
        reasons = reasons or (
            Reason("outranked", f"its score {candidate.score / 1_000_000:.2f} is outranked or outside the decision"),
        )
    else:
        verdict = "no_evidence"
        kept = [item for item in packet.near_miss_protections if item.subject == subject]
        reasons = tuple(Reason(item.polarity, f"«{item.snippet}»: {item.reason}") for item in kept)
        reasons = reasons or (Reason("no_evidence", "nothing in the text speaks for it at subject level"),)
    return SubjectExplanation(
        subject=subject,
        verdict=verdict,
        decision=packet.decision,
        reasons=reasons,
        what_would_change=tuple(item for item in packet.what_would_change if item.subject == subject),
    )
