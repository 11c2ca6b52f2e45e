"""Whose code may run here: decided by metadata and policy alone, before anything is imported."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Final

import attrs

from qiongli._value import Value
from qiongli.plugins._distributions import PLUGINS_GROUP, Distribution, canonical, scan
from qiongli.plugins.catalogue import Catalogue
from qiongli.plugins.policy import PLUGINS_VARIABLE, Policy, Switches, load_policy, read_switches
from qiongli.records.subjects import Reason

#: A module, or an object in it, as the value of an entry point; extras are an old form that some tools still write.
TARGET: Final = r"(?P<module>[A-Za-z_]\w*(\.[A-Za-z_]\w*)*)\s*(:\s*(?P<attribute>[A-Za-z_][\w.]*))?\s*(\[.*\])?"

#: Plugins that are no subjects are called after all subjects.
AFTER_SUBJECTS: Final = 1_000_000


@attrs.frozen(repr=False)
class HookModule(Value):
    """A module with hooks that may be imported, its distribution, and its place in the order of calls.

    `attribute` is empty when the module itself is the plugin; `name` tells several plugins of a distribution apart.
    """

    module: str
    distribution: str
    priority: int
    attribute: str = ""
    name: str = ""


def objection(distribution: Distribution, policy: Policy, switches: Switches) -> Reason | None:
    """Why the code of a distribution in `qiongli.plugins` or `qiongli.commands` does not run here, or None."""
    name = distribution.name
    if distribution.problem is not None:
        return distribution.problem
    if policy.problem:
        return Reason("policy_unreadable", f"the local policy cannot be read: {policy.problem}", "Correct the file")
    if distribution.key in policy.blocked:
        return Reason("blocked", f"{name} is blocked here", f"Run: qiongli plugins allow {name}")
    if not switches.lists(name, *(entry.name for entry in distribution.entry_points)):
        return Reason(
            "not_listed",
            f"{PLUGINS_VARIABLE} (or --no-plugins) leaves {name} out",
            f"Unset {PLUGINS_VARIABLE}, or add {name} to it",
        )
    return None


def hook_modules(
    catalogue: Catalogue,
    *,
    environment: Mapping[str, str] | None = None,
    policy: Policy | None = None,
    distributions: Sequence[Distribution] | None = None,
) -> tuple[HookModule, ...]:
    """Every module that may be imported for its hooks, in the order in which they are called.

    Distributions in `qiongli.plugins` run once installed, unless they are blocked or outside `QIONGLI_PLUGINS`. A
    subject's `hooks` module runs only when its distribution is allowed here and the subject is active.
    """
    policy = load_policy() if policy is None else policy
    switches = read_switches(os.environ if environment is None else environment)
    if distributions is None:
        distributions = scan().distributions if catalogue.distributions is None else catalogue.distributions
    modules = []
    for subject in catalogue.subjects:
        key = canonical(subject.listing.distribution)
        owner = next((item for item in distributions if item.key == key), None)
        if owner is None:
            owner = Distribution(subject.listing.distribution, subject.listing.version, subject.root)
        if (
            subject.contract.hooks
            and subject.listing.state == "active"
            and key in policy.allowed
            and objection(owner, policy, switches) is None
        ):
            module = f"{subject.root.name}.{subject.contract.hooks}"
            modules.append(HookModule(module, owner.name, subject.priority, name=subject.contract.subject))
    for distribution in distributions:
        entries = distribution.in_group(PLUGINS_GROUP)
        if not entries or objection(distribution, policy, switches) is not None:
            continue
        for entry in entries:
            target = re.fullmatch(TARGET, entry.value, re.ASCII)
            # A value that names no module is imported as it stands, so that the failure is reported by its name.
            module = target["module"] if target else entry.value
            attribute = (target["attribute"] or "") if target else ""
            modules.append(HookModule(module, distribution.name, AFTER_SUBJECTS, attribute, entry.name))
    return tuple(sorted(modules, key=lambda item: (item.priority, canonical(item.distribution), item.name)))
