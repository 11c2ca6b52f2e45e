"""A subject's own code at the gate: who may run it to be measured, and what it is measured with.

Nothing here runs when a machine verifies a record: listing and routing import no subject. What runs it are the
commands with which a maintainer measures and promotes, and only for a distribution that is allowed there.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import attrs

from qiongli.plugins.catalogue import Catalogue, CatalogueSubject
from qiongli.plugins.hooks import HookCaller, hook_caller
from qiongli.plugins.permission import AFTER_SUBJECTS, HookModule, hook_modules
from qiongli.plugins.policy import Policy

#: Among the counts of a record: the subject's own code took part when it was measured.
MEASURED_WITH_HOOKS: Final = "measured_with_hooks"


@attrs.frozen
class Detectors:
    """The code of subjects that runs here while one of them is measured."""

    #: The modules, those of the peers and of the candidate.
    modules: tuple[HookModule, ...]
    #: Calls all of them.
    caller: HookCaller
    #: Calls those of the peers alone; None when they have none.
    peers: HookCaller | None = None
    #: Why the candidate's module is not the one that lies in its package; empty when it is.
    problem: str = ""

    @property
    def failures(self) -> tuple[str, ...]:
        """What the code did wrong so far, once each."""
        found = [f"{item.distribution}, {item.hook}: {item.message}" for item in self.caller.failures]
        return tuple(dict.fromkeys([*([self.problem] if self.problem else []), *found]))

    def run_for(self, subject: CatalogueSubject) -> bool:
        """Whether the subject's own code is among what runs."""
        return own_module(subject) in {module.module for module in self.modules}


def own_module(subject: CatalogueSubject) -> str:
    """The full name of the subject's hooks module; empty when it is data only."""
    return f"{subject.root.name}.{subject.contract.hooks}" if subject.contract.hooks else ""


def permitted_detectors(
    candidate: CatalogueSubject, peers: Sequence[CatalogueSubject], *, policy: Policy | None = None
) -> Detectors | None:
    """Import the hooks of the candidate and of its peers that are allowed here; None when that are none.

    The candidate counts as active: whether it may be is about to be measured. `policy` is this machine's when None.
    """
    if not any(subject.contract.hooks for subject in (candidate, *peers)):
        return None
    active = [
        attrs.evolve(subject, listing=attrs.evolve(subject.listing, state="active")) for subject in (*peers, candidate)
    ]
    found = hook_modules(Catalogue(tuple(active)), policy=policy)
    modules = tuple(module for module in found if module.priority < AFTER_SUBJECTS)
    if not modules:
        return None
    own = own_module(candidate)
    before = tuple(module for module in modules if module.module != own)
    caller = hook_caller(Catalogue(), modules)
    problem = "" if len(before) == len(modules) else _elsewhere(own, candidate.root)
    return Detectors(modules, caller, hook_caller(Catalogue(), before) if before else None, problem)


def _elsewhere(name: str, root: Path) -> str:
    """Why what was imported is not the candidate's: it failed, or another copy of the package is installed."""
    file = getattr(sys.modules.get(name), "__file__", None)
    if not file:
        return f"the module {name} cannot be imported"
    if not Path(file).resolve().is_relative_to(root.resolve()):
        return f"the module {name} is imported from another place than the package that is measured"
    return ""
