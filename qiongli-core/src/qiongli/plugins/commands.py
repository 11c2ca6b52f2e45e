"""Commands that distributions add to the command line: listed by metadata, imported one at a time."""

from __future__ import annotations

import os
import re
from importlib import import_module

import attrs

from qiongli.errors import EnvironmentBrokenError
from qiongli.plugins._distributions import COMMANDS_GROUP, Distribution, scan
from qiongli.plugins.permission import TARGET, objection
from qiongli.plugins.policy import load_policy, read_switches


@attrs.frozen
class PluginCommand:
    """A command of a distribution: its name, and where its object is."""

    name: str
    distribution: str
    value: str


def permitted_commands() -> tuple[PluginCommand, ...]:
    """Every command that may run here, sorted by name and distribution; two with one name are both listed."""
    policy, switches = load_policy(), read_switches(os.environ)

    def commands(distribution: Distribution) -> list[PluginCommand]:
        entries = distribution.in_group(COMMANDS_GROUP)
        if not entries or objection(distribution, policy, switches) is not None:
            return []
        return [PluginCommand(entry.name, distribution.name, entry.value) for entry in entries]

    return tuple(
        sorted(
            (item for found in scan().distributions for item in commands(found)), key=lambda item: attrs.astuple(item)
        )
    )


def list_commands() -> tuple[tuple[str, str], ...]:
    """Name and distribution of every plugin command; nothing is imported. A name that two claim belongs to neither."""
    commands = permitted_commands()
    names = [command.name for command in commands]
    return tuple((command.name, command.distribution) for command in commands if names.count(command.name) == 1)


def load_command(name: str) -> object | None:
    """The object behind a plugin command, or None when there is no such command.

    Raises `EnvironmentBrokenError`: `command_claimed_twice` when two distributions provide it, `plugin_broken` when
    it cannot be imported. Only this command suffers from either.
    """
    found = [command for command in permitted_commands() if command.name == name]
    if not found:
        return None
    if len(found) > 1:
        claimants = tuple(command.distribution for command in found)
        raise EnvironmentBrokenError(
            f"the command {name!r} is provided by {' and by '.join(claimants)}",
            code="command_claimed_twice",
            hint=f"Run: qiongli plugins block {claimants[-1]}",
        )
    command = found[0]
    target = re.fullmatch(TARGET, command.value, re.ASCII)
    if target is None or not target["attribute"]:
        raise _broken(command, f"is declared as {command.value!r}, which is not `module:attribute`")
    try:
        loaded: object = import_module(target["module"])
        for attribute in target["attribute"].split("."):
            loaded = getattr(loaded, attribute)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # what a plugin raises, SystemExit included, must not end the host
        from qiongli.plugins._isolation import describe

        raise _broken(command, describe(error)) from None
    return loaded


def _broken(command: PluginCommand, what: str) -> EnvironmentBrokenError:
    return EnvironmentBrokenError(
        f"the command {command.name!r} of {command.distribution} {what}",
        code="plugin_broken",
        place=command.value,
        hint=f"Reinstall {command.distribution}, or run: qiongli plugins block {command.distribution}",
    )
