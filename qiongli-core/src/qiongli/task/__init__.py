"""A task, from its text to a preview: plan, guidance within a budget, what is missing; on two words, an agent's run."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from qiongli.task.bundle import core_part, make_bundle
    from qiongli.task.preview import preview_task
    from qiongli.task.running import Launching, run_task, verdict_on

__all__ = ["Launching", "core_part", "make_bundle", "preview_task", "run_task", "verdict_on"]

_HOME: Final = {
    "Launching": "running",
    "core_part": "bundle",
    "make_bundle": "bundle",
    "preview_task": "preview",
    "run_task": "running",
    "verdict_on": "running",
}


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
