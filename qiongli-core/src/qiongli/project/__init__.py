"""The state of a project: its manifest, evidence memory, guidance, trace and proposals; and every way to change it.

Reading writes nothing; writing goes through one store. Names are imported when they are used, so that a `route` with
`--cwd` does not pay for the editing of YAML. For the same reason the values on the way of reading are named tuples:
making an attrs class takes 0.5 to 1 ms at every start, a named tuple 0.1 ms.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from qiongli.project.actions import apply_action, undo_action
    from qiongli.project.guidance_actions import GuidanceReport, apply_guidance, guidance_report
    from qiongli.project.memory import memory_from_packet
    from qiongli.project.paths import Project, open_project
    from qiongli.project.proposals import Proposal, apply_proposal, list_proposals
    from qiongli.project.sessions import load_session, store_session
    from qiongli.project.settings import change_settings, init_project
    from qiongli.project.status import ProjectReading, read_manifest_state, read_memory, read_project, subject_status
    from qiongli.project.store import Store
    from qiongli.project.trace import Recording, RunSummary, list_runs, prune_runs, read_run, record_refinement

__all__ = [
    "GuidanceReport",
    "Project",
    "ProjectReading",
    "Proposal",
    "Recording",
    "RunSummary",
    "Store",
    "apply_action",
    "apply_guidance",
    "apply_proposal",
    "change_settings",
    "guidance_report",
    "init_project",
    "list_proposals",
    "list_runs",
    "load_session",
    "memory_from_packet",
    "open_project",
    "prune_runs",
    "read_manifest_state",
    "read_memory",
    "read_project",
    "read_run",
    "record_refinement",
    "store_session",
    "subject_status",
    "undo_action",
]

_HOME: Final = {
    "GuidanceReport": "guidance_actions",
    "Project": "paths",
    "ProjectReading": "status",
    "Proposal": "proposals",
    "Recording": "trace",
    "RunSummary": "trace",
    "Store": "store",
    "apply_action": "actions",
    "apply_guidance": "guidance_actions",
    "apply_proposal": "proposals",
    "change_settings": "settings",
    "guidance_report": "guidance_actions",
    "init_project": "settings",
    "list_proposals": "proposals",
    "list_runs": "trace",
    "load_session": "sessions",
    "memory_from_packet": "memory",
    "open_project": "paths",
    "prune_runs": "trace",
    "read_manifest_state": "status",
    "read_memory": "status",
    "read_project": "status",
    "read_run": "trace",
    "record_refinement": "trace",
    "store_session": "sessions",
    "subject_status": "status",
    "undo_action": "actions",
}


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
