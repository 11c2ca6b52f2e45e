"""Tools that route a task: for a project or for none."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from qiongli_mcp.edge import folder
from qiongli_mcp.runtime_access import router_for

#: How much a tool tells.
Detail = Literal["short", "full"]

#: What `short` keeps of the longest lists of a packet.
_SIGNALS = 12
_PROTECTIONS = 6


def qiongli_route(
    text: Annotated[str, Field(description="The research task: a sentence, an abstract or a draft.")],
    cwd: Annotated[
        str, Field(max_length=4096, description="Folder of the project whose state takes part; empty for none.")
    ] = "",
    venue: Annotated[str, Field(max_length=500, description="Target journal or conference, if known.")] = "",
    detail: Annotated[Detail, Field(description="full: every score and piece of evidence.")] = "short",
) -> dict[str, Any]:
    """Say which discipline's standards apply to a research task, which single method lenses to borrow, and why."""
    router = router_for(folder(cwd) if cwd else None)
    packet = router.route({"text": text, "venue": venue} if venue else {"text": text}).to_packet()
    return packet if detail == "full" else short_packet(packet)


def short_packet(packet: dict[str, Any]) -> dict[str, Any]:
    """A refinement packet without its arithmetic, the decision and what it says in words first."""
    first = ("decision", "primary_subject", "summary", "prompt", "confidence")
    return {
        **{name: packet[name] for name in first},
        **packet,
        "score_breakdown": [],
        "signals": packet["signals"][:_SIGNALS],
        "near_miss_protections": packet["near_miss_protections"][:_PROTECTIONS],
    }
