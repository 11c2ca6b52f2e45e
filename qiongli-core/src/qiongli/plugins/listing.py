"""What `qiongli plugins list` shows: every distribution that touches our groups, and whether its code may run."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Final, Literal

import attrs

from qiongli.plugins._distributions import COMMANDS_GROUP, PLUGINS_GROUP, SUBJECTS_GROUP, Distribution, scan
from qiongli.plugins.permission import objection
from qiongli.plugins.policy import Policy, Setting, Switches, load_policy, read_switches
from qiongli.records._units import SCHEMA_VERSION, Record
from qiongli.records.subjects import Reason

#: `runs`: its plugins or commands run. `data_only`: it holds subjects, whose files are read and whose code does not
#: run. `allowed`: subjects whose hooks may run once they are active. `kept_out`: nothing of it runs, and why.
Permission = Literal["runs", "allowed", "data_only", "kept_out"]

_KINDS: Final = {SUBJECTS_GROUP: "subject", PLUGINS_GROUP: "plugin", COMMANDS_GROUP: "command"}


@attrs.frozen
class Provided(Record):
    """One entry point of a distribution: `kind` is `subject`, `plugin` or `command`, `target` what it names."""

    #: `subject`, `plugin` or `command`.
    kind: str
    #: Name of the entry point.
    name: str
    #: The module or attribute that it names; it is not imported for the list.
    target: str


@attrs.frozen
class PluginListing(Record):
    """One row of `qiongli plugins list`; `reasons` say what keeps its code out, and what to do about that."""

    #: Name of the distribution.
    distribution: str
    #: Its version.
    version: str
    #: The folder that it is installed in.
    location: str
    #: Its entry points in our groups.
    provides: tuple[Provided, ...]
    #: What the local policy says of it.
    setting: Setting
    #: Whether its code runs, is allowed for its subjects, is none but data, or is kept out.
    permission: Permission
    #: What keeps its code out, and what to do about that.
    reasons: tuple[Reason, ...] = ()
    #: Metadata folders of the same distribution that do not count.
    shadows: tuple[str, ...] = ()
    #: Entry-point groups that resemble ours and that nobody reads.
    unknown_groups: tuple[str, ...] = ()


@attrs.frozen
class PluginList(Record):
    """What `qiongli plugins list --json` prints; `interpreter` is the one whose path was searched."""

    #: Every distribution that touches our groups, by name.
    plugins: tuple[PluginListing, ...]
    #: The interpreter whose path was searched.
    interpreter: str = ""
    #: Version of this structure, `major.minor`; fields may be added within a major version.
    schema_version: str = SCHEMA_VERSION


def list_plugins(
    distributions: Sequence[Distribution] | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    policy: Policy | None = None,
) -> tuple[PluginListing, ...]:
    """A row for every distribution that touches our groups, sorted by name; nothing is imported."""
    policy = load_policy() if policy is None else policy
    switches = read_switches(os.environ if environment is None else environment)
    found = scan().distributions if distributions is None else distributions
    return tuple(_row(distribution, policy, switches) for distribution in found)


def _row(distribution: Distribution, policy: Policy, switches: Switches) -> PluginListing:
    against = objection(distribution, policy, switches)
    runs = any(entry.group != SUBJECTS_GROUP for entry in distribution.entry_points)
    setting = policy.setting(distribution.key)
    permission: Permission = "runs" if runs else "allowed" if setting == "allowed" else "data_only"
    return PluginListing(
        distribution=distribution.name,
        version=distribution.version,
        location=str(distribution.folder),
        provides=tuple(Provided(_KINDS[entry.group], entry.name, entry.value) for entry in distribution.entry_points),
        setting=setting,
        permission="kept_out" if against else permission,
        reasons=(against,) if against else (),
        shadows=tuple(str(folder) for folder in distribution.shadows),
        unknown_groups=distribution.misspelt,
    )
