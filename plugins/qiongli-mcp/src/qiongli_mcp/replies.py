"""Replies: the same facts as structure and as text, small unless asked otherwise, without this machine's folders."""

from __future__ import annotations

import json
from bisect import bisect_right
from typing import Any, Final

from mcp_types import CallToolResult, TextContent

from qiongli_mcp.edge import hidden, mentions_machine

#: Most bytes of a reply's structure, and of its text, as JSON. Clients cut what is longer, each in its own way.
SHORT_LIMIT: Final = 8_192
#: The same with `detail` `full`.
FULL_LIMIT: Final = 40_000
#: Texts that are not longer are never cut: names, codes, messages.
_WHOLE_TEXT: Final = 200
#: Room for the list of what was shortened.
_RESERVE: Final = 600


def reply(packet: dict[str, Any], *, full: bool = False, projects: tuple[str, ...] = ()) -> CallToolResult:
    """The result of a tool: the packet as structure, and the same packet as compact JSON text."""
    packet = bounded(packet, FULL_LIMIT if full else SHORT_LIMIT, full=full)
    text = json.dumps(packet, ensure_ascii=False, separators=(",", ":"))
    if mentions_machine(text, *projects):
        packet = hidden(packet, *projects)
        text = json.dumps(packet, ensure_ascii=False, separators=(",", ":"))
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=packet)


def bounded(packet: dict[str, Any], limit: int, *, full: bool = False) -> dict[str, Any]:
    """The packet within a limit: the longest lists and texts are shortened, and `shortened` says which.

    The shape stays, so that a shortened packet still fits its schema; first items and beginnings are kept.
    """
    if _size(packet) <= limit:
        return packet
    kept: dict[str, Any] = json.loads(json.dumps(packet))
    original: dict[str, int] = {}
    now: dict[str, int] = {}
    while _size(kept) > limit - _RESERVE:
        place = _heaviest(kept)
        if place is None:
            break
        owner, key, path = place
        value = owner[key]
        original.setdefault(path, len(value))
        half = len(value) // 2
        owner[key] = value[:half] + ("\N{HORIZONTAL ELLIPSIS}" if isinstance(value, str) else [])
        now[path] = half
    noun = "detail='full' gives more" if not full else "read the project's files or the CLI's output for the rest"
    kept["shortened"] = [*(f"{path}: {now[path]} of {original[path]}" for path in sorted(now)[:12]), noun]
    return kept


def beginning(text: str, limit: int) -> str:
    """As much of a text as takes at most `limit` bytes in a packet; at least 2, for the quotation marks."""
    return text[: bisect_right(range(len(text) + 1), limit, key=lambda length: _size(text[:length])) - 1]


def _size(value: Any) -> int:
    """Bytes of the JSON text in its longest usual form: escaped and spaced."""
    return len(json.dumps(value))


def _heaviest(packet: dict[str, Any]) -> tuple[Any, Any, str] | None:
    """Where a halving saves most: the heaviest list or text, looked for down the heaviest branches."""
    best: tuple[int, Any, Any, str] | None = None
    waiting: list[tuple[Any, str]] = [(packet, "")]
    while waiting:
        owner, path = waiting.pop()
        items = owner.items() if isinstance(owner, dict) else enumerate(owner)
        for key, value in items:
            name = f"{path}.{key}" if path else str(key)
            if isinstance(value, str) and len(value) > _WHOLE_TEXT:
                weight = _size(value)
            elif isinstance(value, list) and value:
                # A list of one heavy thing is better shortened inside.
                weight = _size(value) - _size(value[0]) if len(value) > 1 else _size(value) // 4
                waiting.append((value, name))
            elif isinstance(value, dict):
                waiting.append((value, name))
                continue
            else:
                continue
            if best is None or weight > best[0]:
                best = (weight, owner, key, name)
    return None if best is None else best[1:]
