"""`qiongli plugins`: which distributions take part here, and whose code may run."""

from __future__ import annotations

from typing import Annotated

import attrs
import typer

from qiongli.cli._output import emit, table
from qiongli.errors import InputError
from qiongli.records._units import SCHEMA_VERSION

app = typer.Typer(help="List, allow and block plugin distributions.", no_args_is_help=True)

_JSON = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
_NAME = Annotated[str, typer.Argument(help="A distribution, in any spelling, or the slug of its subject.")]


@app.command("list")
def list_plugins(as_json: _JSON = False) -> None:
    """List the distributions that touch Qiongli's entry points; nothing is imported."""
    import os

    from qiongli.plugins._distributions import installed
    from qiongli.plugins.policy import PluginList, PluginListing, load_policy, plugin_filter

    policy = load_policy()
    permitted = plugin_filter(os.environ, policy)
    rows = [
        PluginListing(
            distribution.name,
            distribution.version,
            str(distribution.folder.parent),
            tuple(f"{entry.group.rpartition('.')[2]}:{entry.name}" for entry in distribution.entry_points),
            policy.setting(distribution.key),
            permitted(distribution.name),
            distribution.problem,
        )
        for distribution in installed()[0]
        if distribution.entry_points or distribution.problem
    ]
    lines = [(row.distribution, row.version, row.setting, ", ".join(row.entry_points) or row.problem) for row in rows]
    shown = table(("distribution", "version", "setting", "provides"), lines)
    emit(PluginList(tuple(rows)).to_packet(), shown, as_json)


@app.command()
def allow(
    name: _NAME,
    pin: Annotated[str | None, typer.Option("--pin", help="Slug that this distribution owns here.")] = None,
    as_json: _JSON = False,
) -> None:
    """Let a subject's hooks run here, once it is active; --pin settles who owns a slug."""
    _change(name, allowed=True, pin=pin, as_json=as_json)


@app.command()
def block(name: _NAME, as_json: _JSON = False) -> None:
    """Keep a distribution from taking part here."""
    _change(name, allowed=False, pin=None, as_json=as_json)


def _change(name: str, *, allowed: bool, pin: str | None, as_json: bool) -> None:
    from difflib import get_close_matches

    from qiongli.plugins._distributions import canonical, installed
    from qiongli.plugins.policy import load_policy, save_policy

    policy = load_policy()
    if policy.problem:
        raise InputError(policy.problem, code="policy_malformed", hint="Correct or remove the file first")
    keys = {distribution.key: distribution.key for distribution in installed()[0]}
    for distribution in installed()[0]:
        keys.update({canonical(entry.name): distribution.key for entry in distribution.entry_points})
    key = keys.get(canonical(name))
    if key is None:
        available = tuple(sorted(set(keys.values())))
        near = get_close_matches(canonical(name), keys, n=1)
        raise InputError(
            f"no distribution {name!r} takes part in Qiongli",
            code="unknown_distribution",
            available=available,
            hint=f"Did you mean {near[0]}?" if near else "Run: qiongli plugins list",
        )
    changed = attrs.evolve(
        policy,
        allowed=(policy.allowed | {key}) if allowed else (policy.allowed - {key}),
        blocked=(policy.blocked - {key}) if allowed else (policy.blocked | {key}),
        pinned={**policy.pinned, pin: key} if pin else policy.pinned,
    )
    path = save_policy(changed)
    packet = {"schema_version": SCHEMA_VERSION, "distribution": key, "allowed": allowed, "policy": str(path)}
    emit(packet, f"{key} is {'allowed' if allowed else 'blocked'} here ({path})", as_json)
