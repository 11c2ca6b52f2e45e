"""Routers with faults, for the repetition of an evaluation in other processes."""

from __future__ import annotations

from typing import Any

from qiongli.records.packet import RefinementPacket


def by_set_order(task_packet: Any, **_: Any) -> RefinementPacket:
    """Answers with whatever comes first out of a set of words: another word with every hash seed."""
    words = set(str(task_packet["context"]).split())
    return RefinementPacket("suggest_subject", primary_subject=next(iter(words)))
