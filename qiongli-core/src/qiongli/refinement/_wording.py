"""Packets in words: one sentence for each decision, and snippets in one line."""

from __future__ import annotations

from qiongli.routing import Routing


def one_line(text: str) -> str:
    """A snippet without the line breaks that it may have in its text."""
    return " ".join(text.split())


def summary_of(routing: Routing) -> str:
    """The decision in one sentence."""
    lenses = ", ".join(lens.lens for lens in routing.borrowed_lenses)
    if routing.decision == "suggest_subject":
        dimensions = ", ".join(routing.standing.scored.dimensions) if routing.standing else ""
        text = f"{routing.primary} is suggested on independent evidence ({dimensions})"
        text += "; nothing changes until you confirm it"
    elif routing.decision == "confirm_subject":
        text = f"this project is confirmed as {routing.primary}"
    elif routing.decision == "lock_subject":
        text = f"this project is locked to {routing.primary}"
    elif routing.decision == "borrow_lens":
        return f"only a method is borrowed ({lenses}); the task stays where it is"
    else:
        return "no subject's standards are called for; the task is left alone"
    return f"{text}; borrowed beside it: {lenses}" if lenses else text
