"""`qiongli plugins`: which distributions take part here, and whose code may run."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from qiongli.cli._output import emit, table

if TYPE_CHECKING:
    from qiongli.plugins.settings import PolicyPacket

app = typer.Typer(help="List, allow and block plugin distributions.", no_args_is_help=True)

_JSON = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
_NAME = Annotated[str, typer.Argument(help="A distribution in any spelling, or a name that it provides.")]


@app.command("list")
def list_plugins(as_json: _JSON = False) -> None:
    """List the distributions that touch Qiongli's entry points; nothing is imported."""
    from qiongli.plugins.listing import PluginList
    from qiongli.plugins.listing import list_plugins as listed

    plugins = listed()
    rows = [
        (
            row.distribution,
            row.version,
            row.permission,
            row.setting,
            ", ".join(f"{item.kind} {item.name}" for item in row.provides) or "-",
        )
        for row in plugins
    ]
    headings = ("distribution", "version", "permission", "setting", "provides")
    lines = [table(headings, rows)] if rows else ["no distribution takes part in Qiongli"]
    for row in plugins:
        for reason in row.reasons:
            lines.append(f"{row.distribution}: {reason.message} [{reason.code}]. {reason.hint}".rstrip(". "))
        lines += [f"{row.distribution}: {folder} is ignored as an older copy" for folder in row.shadows]
        lines += [f"{row.distribution}: nobody reads the entry-point group {group!r}" for group in row.unknown_groups]
    lines.append(f"searched the path of {sys.executable}")
    emit(PluginList(plugins, sys.executable).to_packet(), "\n".join(lines), as_json)


@app.command()
def allow(
    name: _NAME,
    pin: Annotated[str | None, typer.Option("--pin", help="Slug that this distribution owns here.")] = None,
    as_json: _JSON = False,
) -> None:
    """Let a subject's hooks run here once it is active, and lift a block; --pin settles who owns a slug."""
    from qiongli.plugins import settings

    _show(settings.allow(name, pin=pin), f"allowed here{f', and owns {pin}' if pin else ''}", as_json)


@app.command()
def block(name: _NAME, as_json: _JSON = False) -> None:
    """Keep a distribution out: its subjects are inactive and none of its code runs."""
    from qiongli.plugins import settings

    _show(settings.block(name), "blocked here", as_json)


@app.command()
def forget(name: _NAME, as_json: _JSON = False) -> None:
    """Take back whatever was allowed, blocked or pinned for a distribution."""
    from qiongli.plugins import settings

    _show(settings.forget(name), "neither allowed nor blocked here", as_json)


@app.command("candidate-only")
def candidate_only(
    state: Annotated[Literal["on", "off"], typer.Argument(help="on or off.")], as_json: _JSON = False
) -> None:
    """Lower all subjects but economics and finance to candidates on this machine, or stop doing so."""
    from qiongli.plugins import settings

    packet = settings.set_candidate_only(state == "on")
    emit(packet.to_packet(), f"candidate-only is {state} ({packet.path})", as_json)


def _show(packet: PolicyPacket, what: str, as_json: bool) -> None:
    unchanged = "" if packet.changed else "; nothing had to be changed"
    emit(packet.to_packet(), f"{packet.distribution} is {what} ({packet.path}){unchanged}", as_json)
