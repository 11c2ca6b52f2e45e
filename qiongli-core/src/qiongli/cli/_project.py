"""What the commands on a project share: their options, and how status and action packets read as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from qiongli.errors import InputError
from qiongli.records._units import SCALE
from qiongli.records.lifecycle import ActionPacket, StatusPacket

if TYPE_CHECKING:
    from qiongli.plugins import Catalogue

DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would change; write nothing.")]
Propose = Annotated[bool, typer.Option("--propose", help="Keep the action as a proposal for `qiongli apply`.")]
IfRevision = Annotated[
    int | None, typer.Option("--if-revision", help="Refuse if the project's state has another number by now.")
]
IfState = Annotated[
    str | None, typer.Option("--if-state", help="Refuse if the state has another state_digest by now: stricter.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]

_STATUS_LINES: Final = {
    "applied": "done",
    "unchanged": "nothing to do",
    "dry_run": "dry run, nothing was written",
    "proposed": "proposed, nothing was applied",
}


def subjects() -> Catalogue:
    """The installed subjects, every record verified; found only when a command needs them."""
    from qiongli.gate.admission import installed_catalogue

    return installed_catalogue()


def exclusive(dry_run: bool, propose: bool) -> None:
    """Raise `InputError` when both ways of not writing are asked for."""
    if dry_run and propose:
        raise InputError("--dry-run and --propose exclude each other", code="usage")


def status_text(packet: StatusPacket, option: str) -> str:
    """A status packet for a person; `option` names the project on a command line."""
    subject = "left to the router" if packet.subject_mode == "auto" else packet.active_subject
    lines = [f"subject: {subject} ({packet.subject_mode})", f"strictness: {packet.strictness}"]
    for label, names in (
        ("neighbours", packet.secondary_subjects),
        ("lenses", packet.method_lenses),
        ("venue profiles", packet.venue_profiles),
        ("dismissed", packet.dismissed_subjects),
    ):
        if names:
            lines.append(f"{label}: {', '.join(names)}")
    for suggestion in packet.suggestions:
        advice = "; the project is locked" if packet.locked else "; you may confirm it"
        promotion = {"recommend_confirmation": advice, "suppressed": "; dismissed", "none": ""}
        lines.append(
            f"suggested: {suggestion.subject}, {suggestion.suggestion_count} "
            f"{'task' if suggestion.suggestion_count == 1 else 'tasks'}, last with confidence "
            f"{suggestion.last_confidence / SCALE:.2f}{promotion[suggestion.promotion_status]}"
        )
    if packet.latest_refinement is not None:
        latest = packet.latest_refinement
        lines.append(f"last run: {latest.run_id}, {latest.decision}, {latest.primary_subject}")
    renew = f" (to renew it run: qiongli guidance apply {option})" if packet.guidance == "stale" else ""
    lines.append(f"guidance block: {packet.guidance}{renew}")
    lines.append(f"revision: {packet.revision}")
    lines += [f"warning: {warning}" for warning in packet.warnings]
    return "\n".join(lines)


def action_text(packet: ActionPacket, option: str) -> str:
    """An action packet for a person; `option` names the project on a command line."""
    what = f"{packet.action} {packet.subject}" if packet.subject else packet.action
    lines = [f"{what}: {_STATUS_LINES[packet.status]}"]
    lines += [f"  {note}" for note in packet.notes]
    before, after = _summary(packet.before), _summary(packet.after)
    lines.append(f"  {before} -> {after}" if before != after else f"  {after}")
    for label, old, new in zip(_SETTINGS, _settings(packet.before), _settings(packet.after), strict=True):
        if old != new:
            lines.append(f"  {label}: {old or 'none'} -> {new or 'none'}")
    if packet.proposal is not None:
        lines.append(f"  to apply it run: qiongli apply {packet.proposal} {option}")
    elif packet.status in ("dry_run", "proposed"):
        lines.append(f"  to do it run: {packet.command}")
    # Why there was nothing to do is the result, and no warning.
    unchanged = packet.status == "unchanged"
    lines += [f"  {reason}" for reason in (packet.warnings if unchanged else ())]
    warnings = dict.fromkeys((*(() if unchanged else packet.warnings), *packet.after.warnings))
    lines += [f"warning: {warning}" for warning in warnings]
    return "\n".join(lines)


_SETTINGS: Final = ("strictness", "neighbours", "lenses", "venue profiles", "dismissed", "tasks counted")


def _settings(packet: StatusPacket) -> tuple[str, ...]:
    """What an action may change beside the subject, in the order of `_SETTINGS`."""
    lists = (packet.secondary_subjects, packet.method_lenses, packet.venue_profiles, packet.dismissed_subjects)
    counted = ", ".join(f"{item.subject} {item.suggestion_count}" for item in packet.suggestions)
    return (packet.strictness, *map(", ".join, lists), counted)


def _summary(packet: StatusPacket) -> str:
    return "auto" if packet.subject_mode == "auto" else f"{packet.active_subject} ({packet.subject_mode})"
