"""Commands that distributions add to the command line: listed by metadata, imported one at a time."""

from __future__ import annotations

import importlib
import os

from qiongli.errors import EnvironmentBrokenError
from qiongli.plugins._distributions import COMMANDS_GROUP, installed
from qiongli.plugins.policy import load_policy, plugin_filter


def _entries() -> list[tuple[str, str, str]]:
    policy = load_policy()
    permitted = plugin_filter(os.environ, policy)
    found, _ = installed()
    entries = [
        (entry.name, distribution.name, entry.value)
        for distribution in found
        if permitted(distribution.name)
        for entry in distribution.entry_points
        if entry.group == COMMANDS_GROUP
    ]
    names = [name for name, _, _ in entries]
    # A name that two distributions claim belongs to neither.
    return sorted(entry for entry in entries if names.count(entry[0]) == 1)


def list_commands() -> tuple[tuple[str, str], ...]:
    """Name and distribution of every plugin command; nothing is imported."""
    return tuple((name, distribution) for name, distribution, _ in _entries())


def load_command(name: str) -> object | None:
    """The object behind a plugin command, or None; raises `EnvironmentBrokenError` when its import fails."""
    for command, distribution, value in _entries():
        if command != name:
            continue
        module, _, attribute = value.partition(":")
        try:
            loaded: object = getattr(importlib.import_module(module), attribute)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # what a plugin raises, SystemExit included, must not end the host
            needs = f" needs {error.name}, which is not installed" if isinstance(error, ModuleNotFoundError) else ""
            raise EnvironmentBrokenError(
                f"the command {name!r} of {distribution}{needs or f' cannot be imported: {type(error).__name__}'}",
                code="plugin_broken",
                place=value,
                hint=f"Reinstall {distribution}, or run: qiongli plugins block {distribution}",
            ) from None
        return loaded
    return None
