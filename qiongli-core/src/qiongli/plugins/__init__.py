"""Plugins: finding distributions, isolating them, the states of subjects, and calling hooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qiongli.plugins.catalogue import Catalogue, CatalogueSubject
from qiongli.plugins.discovery import discover

if TYPE_CHECKING:
    from qiongli.plugins.hooks import HookCaller, HookFailure, load_hooks

__all__ = ["Catalogue", "CatalogueSubject", "HookCaller", "HookFailure", "discover", "load_hooks"]


def __getattr__(name: str) -> Any:
    """Import the hook caller, and pluggy with it, only when it is asked for."""
    if name in ("HookCaller", "HookFailure", "load_hooks"):
        from qiongli.plugins import hooks

        return getattr(hooks, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
