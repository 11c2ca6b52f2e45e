"""Whose code may run here: decided by metadata and policy alone, before anything is imported."""

from __future__ import annotations

import os
from collections.abc import Mapping

import attrs

from qiongli.plugins._distributions import PLUGINS_GROUP, canonical, installed
from qiongli.plugins.catalogue import Catalogue
from qiongli.plugins.policy import Policy, load_policy, plugin_filter


@attrs.frozen
class HookModule:
    """A module with hooks that may be imported, its distribution, and its place in the order of calls."""

    module: str
    distribution: str
    priority: int


#: Plugins that are no subjects are called after all subjects.
_AFTER_SUBJECTS = 1_000


def hook_modules(
    catalogue: Catalogue, *, environment: Mapping[str, str] | None = None, policy: Policy | None = None
) -> tuple[HookModule, ...]:
    """Every module that may be imported for its hooks.

    Distributions in `qiongli.plugins` run once installed, unless they are blocked or outside `QIONGLI_PLUGINS`. A
    subject's `hooks` module runs only when its distribution is allowed here and the subject is active.
    """
    environment = os.environ if environment is None else environment
    policy = load_policy() if policy is None else policy
    permitted = plugin_filter(environment, policy)
    modules = []
    for subject in catalogue.subjects:
        name = subject.listing.distribution
        allowed = canonical(name) in policy.allowed and permitted(name)
        if subject.contract.hooks and allowed and subject.listing.state == "active":
            modules.append(HookModule(f"{subject.root.name}.{subject.contract.hooks}", name, subject.priority))
    if not policy.problem:
        for distribution in catalogue.distributions if catalogue.distributions is not None else installed()[0]:
            if permitted(distribution.name):
                modules += [
                    HookModule(entry.value, distribution.name, _AFTER_SUBJECTS)
                    for entry in distribution.entry_points
                    if entry.group == PLUGINS_GROUP
                ]
    return tuple(modules)
