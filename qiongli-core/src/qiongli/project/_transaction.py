"""Changing several files at once: staged, announced in an intent, moved into place, and finished after a crash.

The protocol, all of it under the project's lock:

1. every new content is written to `.qiongli/.staging` and synced;
2. the intent, which names what moves where, is written, synced and moved to `intent.json`: from here on the change
   happened, before it did not;
3. each file is moved into place, and the folders are synced;
4. the intent is removed.

Whoever opens the project next finishes a change whose intent is there and sweeps everything else out of the staging
folder. A change of one file needs no intent: its one move is atomic. Readers that meet an intent read the staged files
in place of those that they will replace, so that they see the new state and never a mixture.
"""

# Plain `os` calls throughout: a path object for each step costs more than the step, and loses the error's file name.
# ruff: noqa: PTH112, PTH116, PTH119, PTH120, PTH208

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import attrs

from qiongli.errors import EnvironmentBrokenError, QiongliError, StateCorruptError, StateRefusedError
from qiongli.project._intent import Step, entry, unfinished
from qiongli.project._operations import FileOperations
from qiongli.project.paths import (
    INTENT,
    INTENT_LIMIT,
    MEMORY,
    STAGING,
    Project,
    read_bytes,
)

#: Errors of what is on the disk rather than of its state: no later attempt comes further.
_FOR_EVER: Final = frozenset(
    (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR, errno.EISDIR, errno.EINVAL, errno.ELOOP, errno.ENAMETOOLONG)
)
_RETRIED: Final = 64
#: No file that we replace is larger.
_EDIT_LIMIT: Final = 67_108_864
_TELLING: Final = 65_536


@attrs.define
class Transaction:
    """Changes to be made together; steps happen in the order in which they were added."""

    project: Project
    operations: FileOperations
    #: Called before the first file is staged.
    _begin: Callable[[], None] = lambda: None
    _steps: list[Step] = attrs.field(factory=list)
    #: Names are never used twice, lest an intent that a power failure brought back moves a later file.
    _token: str = attrs.field(factory=lambda: os.urandom(5).hex())
    _staged: int = 0

    def write(self, target: str, data: bytes) -> None:
        """Replace or create a file."""
        self._steps.append(Step("write", target, staged=self._stage(data, target)))

    def write_folder(self, target: str, files: dict[str, bytes]) -> None:
        """Create a folder with files in it; the folder must not exist."""
        name = self._name()
        folder = self._staging / name
        self.operations.make_folder(folder)
        for file_name, data in files.items():
            self._write_synced(folder / file_name, data, None)
        self.operations.sync_folder(folder)
        self._steps.append(Step("write", target, staged=name))

    def put_aside(self, target: str, aside: str) -> None:
        """Give a file that must not be lost another name; `aside` must not exist."""
        self._steps.append(Step("move", target, aside=aside))

    def remove(self, target: str) -> None:
        """Remove a file."""
        self._steps.append(Step("remove", target))

    @property
    def _staging(self) -> Path:
        return self.project.path(STAGING)

    def _name(self) -> str:
        if self._staged == 0:
            self._begin()
        self._staged += 1
        return f"{self._token}-{self._staged}"

    def _stage(self, data: bytes, target: str) -> str:
        name = self._name()
        try:
            found = os.stat(self.project.path(target)).st_mode
            # What is put aside may be a folder; its permissions are no model for a file.
            mode = stat.S_IMODE(found) if stat.S_ISREG(found) else None
        except OSError:
            mode = None
        self._write_synced(self._staging / name, data, mode)
        return name

    def _write_synced(self, path: Path, data: bytes, mode: int | None) -> None:
        descriptor = self.operations.create(path)
        try:
            if mode is not None:
                self.operations.set_mode(descriptor, mode)
            self.operations.write(descriptor, data)
            self.operations.sync(descriptor)
        finally:
            self.operations.close(descriptor)

    def commit(self) -> None:
        """Make all changes; when this returns, they have happened and are on the disk."""
        if not self._steps:
            return
        folders = sorted({os.path.dirname(step.aside or step.target) for step in self._steps})
        for folder in folders:
            make_folders(self.project, folder, self.operations)
        if len(self._steps) > 1:
            # Once it is announced, a change that the system refuses half way would stay half done until it allows it.
            _require_writable(self.project, folders)
            moved = {step.target for step in self._steps if step.kind == "move"}
            steps = [
                step if step.target in moved else attrs.evolve(step, before=_content(self.project, step.target))
                for step in self._steps
            ]
            intent = json.dumps({"schema_version": "1.0", "steps": [attrs.asdict(step) for step in steps]})
            name = self._stage(intent.encode(), INTENT)
            self.operations.sync_folder(self._staging)
            self.operations.rename(self._staging / name, self.project.path(INTENT))
            self.operations.sync_folder(self._staging)
        done: list[Step] = []
        try:
            _finish(self.project, self.operations, self._steps, done)
        except OSError:
            if len(self._steps) > 1 and not done:
                self.operations.remove(self.project.path(INTENT))
                self.operations.sync_folder(self._staging)
            raise


def _require_writable(project: Project, folders: list[str]) -> None:
    for folder in folders:
        path = project.contained(folder or ".")
        if not os.access(path, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), os.fspath(path))


def make_folders(project: Project, name: str, operations: FileOperations) -> None:
    """Create the state folder and a folder in it, each level synced into its parent; a link out is refused."""
    if os.path.isdir(project.contained(name or ".")):
        return
    folder = project.state
    if not folder.is_dir():
        operations.make_folder(folder)
        operations.sync_folder(project.root)
    done = ""
    for part in name.split("/") if name else ():
        parent, done = done, f"{done}/{part}" if done else part
        if not project.contained(done).is_dir():
            operations.make_folder(project.path(done))
            operations.sync_folder(project.path(parent) if parent else folder)


def _finish(project: Project, operations: FileOperations, steps: list[Step], done: list[Step] | None = None) -> None:
    """Do every step that was not done yet; doing this again after a crash changes nothing more.

    Steps that are finished are added to `done`, even if a later one fails.

    A step needs no record of its own: a staged file that is gone was moved, an aside name that is there was moved to.
    """
    unsafe: set[str] = set()
    for step in steps:
        if step.kind != "move" and unsafe:
            # What takes the place of a file must not be on the disk before the file's copy is.
            _sync_folders(project, operations, unsafe)
            unsafe.clear()
        target = project.contained(step.target) if step.kind == "write" else entry(project, step.target)
        if step.kind == "write":
            staged = project.path(STAGING) / step.staged
            if os.path.lexists(staged):
                operations.rename(staged, target)
        elif step.kind == "move":
            aside = entry(project, step.aside)
            if not os.path.lexists(aside) and os.path.lexists(target):
                operations.rename(target, aside)
                unsafe.add(os.path.dirname(step.target))
        else:
            operations.remove(target)
        if done is not None:
            done.append(step)
    _sync_folders(project, operations, {os.path.dirname(step.target) for step in steps})
    if len(steps) > 1:
        operations.remove(project.path(INTENT))
        operations.sync_folder(project.path(STAGING))


def _sync_folders(project: Project, operations: FileOperations, folders: set[str]) -> None:
    for folder in sorted(folders):
        operations.sync_folder(project.path(folder) if folder else project.state)


def _content(project: Project, name: str) -> str:
    """What is under a name now: size and digest of a file, `folder`, or nothing."""
    try:
        path = project.contained(name)
        if path.is_dir():
            return "folder"
        # The beginning of the memory, which is no file of the user's, tells of all the rest.
        data = read_bytes(path, _TELLING if name == MEMORY else _EDIT_LIMIT, name, project)
        return "" if data is None else f"{path.stat().st_size} {hashlib.sha256(data).hexdigest()}"
    except (OSError, QiongliError):
        return ""


def recover(project: Project, operations: FileOperations, time: str) -> tuple[str, ...]:
    """Finish what a crash interrupted, sweep what it left behind, and return warnings; needs the lock.

    An intent that cannot be finished is put aside with everything that is staged.
    """
    staging = project.contained(STAGING)
    try:
        entries = os.listdir(staging)
    except FileNotFoundError:
        return ()
    if not entries:
        return ()
    warnings: list[str] = []
    if os.path.basename(INTENT) in entries:
        try:
            data = project.read(INTENT, INTENT_LIMIT)
            steps = unfinished(project, data or b"")
        except (StateRefusedError, StateCorruptError):
            steps = None
        if steps is None or not _try_to_finish(project, operations, steps, time, warnings):
            return (*warnings, _put_staging_aside(project, operations, time))
    for path in _leftovers(staging):
        if path.is_dir() and not path.is_symlink():
            operations.remove_folder(path)
        else:
            operations.remove(path)
    return tuple(warnings)


def _try_to_finish(
    project: Project, operations: FileOperations, steps: list[Step], time: str, warnings: list[str]
) -> bool:
    """Finish a change; False when what is there forbids it for ever, while a full disk, say, is told as an error."""
    try:
        names = [name for step in steps for name in (step.target, step.aside)]
        for folder in sorted({os.path.dirname(name) for name in names} - {""}):
            make_folders(project, folder, operations)
        warnings += _keep_edits(project, operations, steps, time)
        _finish(project, operations, steps)
    except OSError as error:
        if error.errno not in _FOR_EVER:
            raise
        return False
    return True


def _put_staging_aside(project: Project, operations: FileOperations, time: str) -> str:
    aside = free_name(project, f"{STAGING}.corrupt-{time}")
    operations.rename(project.path(STAGING), project.path(aside))
    operations.make_folder(project.path(STAGING))
    operations.sync_folder(project.state)
    return (
        f"{project.shown(INTENT)} is no change that Qiongli can finish; "
        f"it is kept, with what belongs to it, as {project.shown(aside)}"
    )


def _keep_edits(project: Project, operations: FileOperations, steps: list[Step], time: str) -> list[str]:
    """Put aside what somebody wrote between the crash and now, where finishing the change would replace it."""
    warnings = []
    moved = {step.target for step in steps if step.kind == "move"}
    for step in steps:
        pending = step.kind == "write" and os.path.lexists(project.path(STAGING) / step.staged)
        # After a power failure the new content may stand at its place and be staged as well.
        known = ("", "folder", step.before, _content(project, f"{STAGING}/{step.staged}") if pending else "")
        if not pending or step.target in moved or _content(project, step.target) in known:
            continue
        aside = free_name(project, f"{step.target}.edited-{time}")
        operations.rename(project.contained(step.target), project.path(aside))
        warnings.append(
            f"{project.shown(step.target)} was edited after an action was interrupted; the action is finished now, "
            f"and the edited file is kept as {project.shown(aside)}"
        )
    return warnings


def _leftovers(folder: Path) -> Iterator[Path]:
    """Everything in a folder, contents before their folders, so that it can be removed in that order."""
    with os.scandir(folder) as entries:
        found = sorted((Path(entry.path), entry.is_dir(follow_symlinks=False)) for entry in entries)
    for path, is_folder in found:
        if is_folder:
            yield from _leftovers(path)
        yield path


def free_name(project: Project, name: str) -> str:
    """The name itself, or the name with the first number that makes it new."""
    for number in range(_RETRIED * 1024):
        candidate = f"{name}-{number}" if number else name
        if not os.path.lexists(project.path(candidate)):
            return candidate
    raise StateRefusedError(f"too many files named {name}", code="project_cluttered", hint="Clean up .qiongli by hand")


def refused(project: Project, error: OSError) -> EnvironmentBrokenError:
    """The error for a change that the operating system refused: nothing of it was made, or it is finished later."""
    name = ""
    if error.filename is not None:
        name = os.path.relpath(os.fspath(error.filename), project.root).replace(os.sep, "/")
    in_the_way = project.way_out
    code, hint = {
        errno.ENOSPC: ("disk_full", "Free some space and run the command again"),
        errno.EDQUOT: ("disk_full", "Free some space and run the command again"),
        errno.EROFS: ("read_only", "Edit the manifest where the folder can be written, or see --dry-run"),
        errno.EACCES: ("permission_denied", "Check the owner and the permissions of .qiongli, or see --dry-run"),
        errno.EPERM: ("permission_denied", "Check the owner and the permissions of .qiongli, or see --dry-run"),
        errno.EEXIST: ("write_failed", in_the_way),
        errno.EISDIR: ("write_failed", in_the_way),
        errno.ENOTDIR: ("write_failed", in_the_way),
    }.get(error.errno or 0, ("write_failed", "Run the command again; a change that had begun is finished then"))
    return EnvironmentBrokenError(
        f"the project's state cannot be written: {error.strerror or error}", code=code, place=name, hint=hint
    )


def discard(project: Project, operations: FileOperations, name: str) -> None:
    """Remove a folder of the state in one step, of which a crash leaves no half; needs the lock."""
    staged = project.path(STAGING) / f"{os.urandom(5).hex()}-discarded"
    # Not what a link of that name points to, which is somebody else's.
    operations.rename(entry(project, name), staged)
    if staged.is_symlink():
        operations.remove(staged)
        return
    for path in (*_leftovers(staged), staged):
        if path.is_dir() and not path.is_symlink():
            operations.remove_folder(path)
        else:
            operations.remove(path)
