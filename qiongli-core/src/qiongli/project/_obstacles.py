"""What stands where a folder of the state or the lock belongs, and how `reset` puts it aside."""

# Plain `os` calls throughout: a path object for each step costs more than the step, and loses the error's file name.
# ruff: noqa: PTH112, PTH113, PTH120

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from qiongli.errors import StateCorruptError, StateRefusedError
from qiongli.project.paths import GUIDANCE, INTENT, LOCK, MEMORY, PROPOSALS, RUNS, STAGING, Project

if TYPE_CHECKING:
    from qiongli.project.store import Store

#: Outer folders before the ones inside them.
_FOLDERS: Final = (STAGING, os.path.dirname(MEMORY), RUNS, os.path.dirname(GUIDANCE), PROPOSALS)
#: Without these no lock is taken; everything else is moved by who holds it.
_FOR_THE_LOCK: Final = (STAGING, LOCK)


def find_obstacles(project: Project) -> tuple[str, ...]:
    """Names under which there is something else than what belongs there, or a link that leaves the project."""
    found: list[str] = []
    for name in (*_FOLDERS, LOCK):
        if not is_below(name, found) and os.path.lexists(project.path(name)) and not _belongs(project, name):
            found.append(name)
    return tuple(found)


def _belongs(project: Project, name: str) -> bool:
    try:
        path = project.contained(name)
        if is_needed_for_the_lock(name):
            project.require_no_link(name)
        return os.path.isdir(path) if name in _FOLDERS else os.path.isfile(path)
    except (StateRefusedError, StateCorruptError):
        return False


def is_needed_for_the_lock(name: str) -> bool:
    """Whether what stands there has to be moved before the lock can be taken."""
    return name in _FOR_THE_LOCK


def is_below(name: str, folders: list[str] | tuple[str, ...]) -> bool:
    """Whether a file or folder is one of those, or inside one."""
    return any(name == folder or name.startswith(f"{folder}/") for folder in folders)


@contextmanager
def cleared(store: Store, names: Sequence[str]) -> Iterator[None]:
    """Give obstacles other names; when what happens then raises, they get their own back and nothing has changed."""
    from qiongli.project._transaction import free_name

    project = store.project
    moved: list[tuple[str, str]] = []
    try:
        for name in names:
            aside = free_name(project, aside_stem(store, name))
            try:
                store.operations.rename(project.path(name), project.path(aside))
            except FileNotFoundError:
                # Another reset was faster.
                continue
            moved.append((name, aside))
            _sync(store, name, aside)
        yield
    except (Exception, KeyboardInterrupt) as error:
        if getattr(error, "code", "") != "project_busy":
            # Whoever is busy there uses what was cleared.
            _put_back(store, moved)
        raise


def _sync(store: Store, *names: str) -> None:
    for folder in sorted(set(map(os.path.dirname, names))):
        store.operations.sync_folder(store.project.path(folder) if folder else store.project.state)


def _put_back(store: Store, moved: list[tuple[str, str]]) -> None:
    """Undo moves, the last first; a name that somebody uses by now, or that an announced change needs, is left."""
    if os.path.lexists(store.project.path(INTENT)):
        return
    for name, aside in reversed(moved):
        try:
            _vacate(store, name)
            if not os.path.lexists(store.project.path(name)):
                store.operations.rename(store.project.path(aside), store.project.path(name))
                _sync(store, aside, name)
        except OSError:
            continue


def _vacate(store: Store, name: str) -> None:
    """Remove the empty folders, and the lock file, that were made in an obstacle's place meanwhile."""
    path = store.project.path(name)
    if name == LOCK:
        store.operations.remove(path)
    elif path.is_symlink():
        return
    for folder, _, _ in os.walk(path, topdown=False):
        store.operations.remove_folder(Path(folder))


def aside_stem(store: Store, name: str) -> str:
    """The name, but for a number, under which something that could not be used is kept."""
    return f"{name}.corrupt-{store.stamp()}"
