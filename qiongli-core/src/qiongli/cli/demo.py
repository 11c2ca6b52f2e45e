"""`qiongli demo`: eight shipped example tasks and what becomes of them."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Annotated, Any

import typer

from qiongli.cli._output import emit, table
from qiongli.records._units import SCHEMA_VERSION


def demo(as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False) -> None:
    """Route eight example tasks and show the table."""
    from qiongli.runtime import open_router

    text = files("qiongli.examples").joinpath("tasks.json").read_text(encoding="utf-8")
    tasks: list[dict[str, Any]] = json.loads(text)
    router = open_router(None)
    rows = []
    packets = []
    for task in tasks:
        packet = router.route({key: value for key, value in task.items() if key != "title_of_example"})
        packets.append(packet.to_packet())
        lenses = [*packet.method_lenses, *(f"{lens.subject}/{lens.lens}" for lens in packet.borrowed_lenses)]
        rows.append(
            (
                task["title_of_example"],
                packet.decision,
                packet.primary_subject if packet.primary_subject != "auto" else "-",
                ", ".join(lenses) or "-",
                f"{packet.confidence / 1_000_000:.2f}" if packet.confidence else "-",
            )
        )
    shown = table(("task", "decision", "subject", "lenses", "score"), rows)
    emit({"schema_version": SCHEMA_VERSION, "packets": packets}, shown, as_json)
