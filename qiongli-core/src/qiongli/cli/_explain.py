"""How a packet is shown to a person: a few lines, or the whole explanation."""

from __future__ import annotations

from qiongli.records.packet import RefinementPacket, ScoreBreakdown
from qiongli.refinement._wording import one_line


def _number(ppm: int) -> str:
    return f"{ppm / 1_000_000:.6f}".rstrip("0").rstrip(".") if ppm % 10_000 else f"{ppm / 1_000_000:.2f}"


def summary(packet: RefinementPacket) -> str:
    """The decision and why, in a few lines."""
    lines = [f"{packet.decision}: {packet.summary}"]
    if packet.primary_subject != "auto":
        lines.append(f"  subject: {packet.primary_subject} (score {_number(packet.confidence)})")
    if packet.secondary_subjects:
        lines.append(f"  near it: {', '.join(packet.secondary_subjects)}")
    if packet.method_lenses:
        lines.append(f"  method lenses: {', '.join(packet.method_lenses)}")
    lines += [f"  borrowed lens: {lens.lens} from {lens.subject} ({lens.reason})" for lens in packet.borrowed_lenses]
    lines += [f"  because: {reason.message}" for reason in packet.reasons]
    for blocked in packet.blocked_candidates:
        lines.append(f"  blocked: {blocked.subject}: {'; '.join(reason.message for reason in blocked.reasons)}")
    if packet.clarification:
        lines.append(f"  question [{packet.clarification.id}]: {packet.clarification.question}")
        lines += [f"    - {option.subject}: {option.reason}" for option in packet.clarification.options]
    if packet.refusal:
        lines.append(f"  refused [{packet.refusal.code}]: {packet.refusal.message}. {packet.refusal.hint}".rstrip(". "))
    if packet.promotion_recommendation:
        lines.append(f"  {packet.promotion_recommendation.status}: {packet.promotion_recommendation.reason}")
    lines += [f"  warning: {warning}" for warning in packet.warnings]
    return "\n".join(lines)


def events(packet: RefinementPacket) -> str:
    """The events of the engine that a recorder kept, a line each."""
    lines = ["\ndiagnostics"]
    for event in packet.diagnostics.get("events", ()):
        fields = ", ".join(f"{name} {value}" for name, value in event.items() if name != "event")
        lines.append(f"  {event['event']}: {fields}")
    lines += [f"  {dropped} events were dropped" for dropped in (packet.diagnostics.get("dropped"),) if dropped]
    return "\n".join(lines)


def explanation(packet: RefinementPacket) -> str:
    """The summary, the evidence in its places, the sum of every score, and what would change the decision."""
    lines = [summary(packet)]
    if packet.signals:
        lines.append("\nevidence")
        lost = {(item.signal_id, item.field, item.start, item.end): item for item in packet.lost_spans or ()}
        for found in packet.signals:
            mark = "" if found.polarity == "asserted" else f" [{found.polarity}]"
            taken = lost.get((found.signal_id, found.field, found.start, found.end))
            if taken is not None:
                mark += f" [lost its words to «{one_line(taken.kept_snippet)}» of {taken.kept_by}]"
            role = "" if found.role == "signal" else f" ({found.role})"
            lines.append(
                f"  {found.field}:{found.start}-{found.end} «{one_line(found.snippet)}»{mark} -> "
                f"{found.signal_id}{role}, {found.dimension}, {found.activation}, weight {_number(found.weight)}"
            )
    for breakdown in packet.score_breakdown:
        lines.append("")
        lines += _waterfall(breakdown)
    if packet.near_miss_protections:
        lines.append("\nkept from counting")
        lines += [
            f"  «{one_line(kept.snippet)}» {kept.signal_id}: {kept.reason}" for kept in packet.near_miss_protections
        ]
    if packet.what_would_change:
        lines.append("\nwhat would change it")
        lines += [f"  {change.subject}: {change.change} -> {change.effect}" for change in packet.what_would_change]
    if packet.resource_activation_plan.resources:
        lines.append("\nresources")
        lines += [
            f"  {resource.activation}: {resource.subject}/{resource.kind}/{resource.name}"
            + (f" ({resource.tokens} tokens)" if resource.tokens is not None else "")
            for resource in packet.resource_activation_plan.resources
        ]
    return "\n".join(lines)


def _waterfall(breakdown: ScoreBreakdown) -> list[str]:
    lines = [f"score of {breakdown.kind} {breakdown.route}"]
    running = 0
    for entry in breakdown.entries:
        running += entry.amount
        lines.append(f"  {entry.kind:<10} {entry.name:<24} {_number(entry.amount):>10}  = {_number(running)}")
        lines += [
            f"             {share.id}: weight {_number(share.weight)} counts {_number(share.amount)}"
            for share in entry.shares
        ]
    lines.append(f"  {'total':<10} {'':<24} {'':>10}  = {_number(breakdown.total)}")
    if breakdown.rejected:
        lines.append(f"  {breakdown.rejected} malformed contributions were dropped")
    return lines
