"""What stands where a folder of the state, the lock or the intent belongs, and how `reset` puts it aside."""

# Plain `os` calls throughout: a path object for each step costs more than the step, and loses the error's file name.
# ruff: noqa: PTH112, PTH113, PTH119, PTH120

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from qiongli.errors import StateCorruptError, StateRefusedError
from qiongli.project.paths import GUIDANCE, INTENT, INTENT_LIMIT, LOCK, MEMORY, PROPOSALS, RUNS, STAGING, Project

if TYPE_CHECKING:
    from qiongli.project.store import Store

#: Outer folders before the ones inside them.
_FOLDERS: Final = (STAGING, os.path.dirname(MEMORY), RUNS, os.path.dirname(GUIDANCE), PROPOSALS)
_FILES: Final = (LOCK, INTENT)


def find_obstacles(project: Project) -> tuple[str, ...]:
    """Names under which there is something else than what belongs there, or a link that leaves the project."""
    found: list[str] = []
    for name in (*_FOLDERS, *_FILES):
        if not is_below(name, found) and os.path.lexists(project.path(name)) and not _belongs(project, name):
            found.append(name)
    return tuple(found)


def _belongs(project: Project, name: str) -> bool:
    try:
        path = project.contained(name)
        if name in (STAGING, LOCK):
            project.require_no_link(name)
        if name in _FOLDERS:
            return os.path.isdir(path)
        return os.path.isfile(path) and (name != INTENT or _can_be_finished(project))
    except (StateRefusedError, StateCorruptError):
        return False


def _can_be_finished(project: Project) -> bool:
    """Whether what an intent moves lies in the project; the links of a copied folder may lead elsewhere."""
    from qiongli.project._transaction import parse_intent

    for step in parse_intent(project.read(INTENT, INTENT_LIMIT) or b"") or ():
        for moved in (step.target, step.aside):
            project.contained(os.path.dirname(moved) or ".")
    return True


def is_below(name: str, folders: list[str] | tuple[str, ...]) -> bool:
    """Whether a file or folder is one of those, or inside one."""
    return any(name == folder or name.startswith(f"{folder}/") for folder in folders)


def clear_way(store: Store, names: tuple[str, ...]) -> None:
    """Give obstacles other names. This happens before the lock is taken, which may be one of them."""
    from qiongli.project._transaction import free_name, refused

    project = store.project
    try:
        for name in names:
            aside = free_name(project, aside_stem(store, name))
            store.operations.rename(project.path(name), project.path(aside))
            for folder in sorted({os.path.dirname(name), os.path.dirname(aside)}):
                store.operations.sync_folder(project.path(folder) if folder else project.state)
    except FileNotFoundError:
        # Another reset was faster.
        return
    except OSError as error:
        raise refused(project, error) from error


def aside_stem(store: Store, name: str) -> str:
    """The name, but for a number, under which something that could not be used is kept."""
    # Not inside the staging folder, which is swept.
    kept = os.path.basename(name) if name == INTENT else name
    return f"{kept}.corrupt-{store.stamp()}"
