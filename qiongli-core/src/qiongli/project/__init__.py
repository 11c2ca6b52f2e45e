"""The state of a project: its manifest, evidence memory, guidance, trace and proposals; and every way to change it.

Reading writes nothing; writing goes through one store. Names are imported when they are used, so that a `route` with
`--cwd` does not pay for the editing of YAML.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from qiongli.project.actions import apply_action, undo_action
    from qiongli.project.memory import memory_from_packet
    from qiongli.project.paths import Project, open_project
    from qiongli.project.status import (
        ProjectReading,
        read_manifest_state,
        read_memory,
        read_project,
        subject_status,
    )
    from qiongli.project.store import Store
    from qiongli.project.trace import Recording, list_runs, prune_runs, read_run, record_refinement

__all__ = [
    "Project",
    "ProjectReading",
    "Recording",
    "Store",
    "apply_action",
    "list_runs",
    "memory_from_packet",
    "open_project",
    "prune_runs",
    "read_manifest_state",
    "read_memory",
    "read_project",
    "read_run",
    "record_refinement",
    "subject_status",
    "undo_action",
]

_HOME: Final = {
    "Project": "paths",
    "ProjectReading": "status",
    "Store": "store",
    "Recording": "trace",
    "apply_action": "actions",
    "list_runs": "trace",
    "memory_from_packet": "memory",
    "open_project": "paths",
    "read_manifest_state": "status",
    "read_memory": "status",
    "prune_runs": "trace",
    "read_project": "status",
    "read_run": "trace",
    "record_refinement": "trace",
    "subject_status": "status",
    "undo_action": "actions",
}


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
