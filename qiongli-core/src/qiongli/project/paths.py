"""Where a project's state lives, and the refusal to follow it out of the project."""

# Plain `os` calls throughout: a path object for each step costs more than the step, and loses the error's file name.
# ruff: noqa: PTH110, PTH114, PTH118, PTH208

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final, NamedTuple

from qiongli.errors import EnvironmentBrokenError, InputError, StateCorruptError, StateRefusedError

STATE_FOLDER: Final = ".qiongli"
MANIFEST: Final = "guidance_manifest.yaml"
MEMORY: Final = "trace/subject_evidence.json"
SESSION: Final = "trace/session.json"
RUNS: Final = "trace/runs"
GUIDANCE: Final = "guidance.d/subject-runtime.md"
PROPOSALS: Final = "proposals"
LOCK: Final = ".lock"
#: Everything unfinished is in this folder, so that one listing finds all that a crash left behind.
STAGING: Final = ".staging"
INTENT: Final = ".staging/intent.json"
INTENT_LIMIT: Final = 1_048_576
_PART: Final = 65_536


class Project(NamedTuple):
    """An existing folder whose state may be read and written; `root` is resolved.

    `given` is how the caller named the folder, and `searched` whether the project may lie above it: a command that a
    message names must act on the project that the message is about.
    """

    root: Path
    given: str = "."
    searched: bool = False

    def command(self, words: str) -> str:
        """The command line that does what `words` say, such as `subject unlock`, to this project."""
        return f"qiongli {words} {cwd_option(self.given, self.searched)}"

    @property
    def way_out(self) -> str:
        """The hint for what stands where it does not belong."""
        return f"Move it away, or run: {self.command('subject reset')} (it keeps it under another name)"

    @property
    def state(self) -> Path:
        """The folder of the state, which need not exist."""
        return self.root / STATE_FOLDER

    def path(self, name: str) -> Path:
        """A file or folder of the state by its name inside `.qiongli`."""
        return Path(self.root, STATE_FOLDER, name)

    def shown(self, name: str) -> str:
        """A file of the state as messages show it: relative to the project, with forward slashes."""
        return STATE_FOLDER if name == "." else f"{STATE_FOLDER}/{name}"

    @property
    def exists(self) -> bool:
        """Whether the project has any state yet."""
        return os.path.lexists(self.state)

    def contained(self, name: str) -> Path:
        """The real path of a file or folder of the state, which need not exist.

        A symbolic link that stays inside the project is followed; one that leaves it, or that leads nowhere, raises
        `StateRefusedError` with the code `path_outside_project`.
        """
        return Path(self._contained(name))

    def _contained(self, name: str) -> str:
        path = os.path.join(self.root, STATE_FOLDER)
        linked = _is_link(path)
        for part in name.split("/"):
            if part != ".":
                path = f"{path}{os.sep}{part}"
                linked = linked or _is_link(path)
        if not linked:
            # The root is resolved, and so is what has no link below it.
            return path
        real = os.path.realpath(path)
        root = os.path.join(self.root, "")
        if not real.startswith(root) or (os.path.islink(path) and not os.path.exists(path)):
            raise StateRefusedError(
                f"{self.shown(name)} is a symbolic link that leaves the project or leads nowhere",
                code="path_outside_project",
                place=self.shown(name),
                hint="Remove the link; Qiongli neither reads nor writes through it",
            )
        return real

    def require_no_link(self, name: str) -> None:
        """Raise `StateCorruptError` (`not_a_file`) for a name that is a symbolic link, wherever it leads."""
        if _is_link(os.path.join(self.root, STATE_FOLDER, name)):
            raise StateCorruptError(
                f"{self.shown(name)} is a symbolic link",
                code="not_a_file",
                place=self.shown(name),
                hint=self.way_out,
            )

    def read(self, name: str, limit: int) -> bytes | None:
        """The bytes of a file of the state, None when there is none, and at most `limit + 1` of them.

        Raises `StateRefusedError` for a link out of the project, `EnvironmentBrokenError` when the system refuses.
        """
        return read_bytes(self._contained(name), limit, self.shown(name), self)


#: Stands for a project whose folder is not known: the one where the reader of a message is.
HERE: Final = Project(Path())


def cwd_option(given: str, searched: bool = False) -> str:
    """The options that name a folder on a command line as the caller named it, quoted for the shell."""
    return f"--cwd {_quoted(given)}{' --find-project' if searched else ''}"


def _quoted(name: str) -> str:
    if (name.isascii() and name.translate(_WITHOUT_SAFE_MARKS).isalnum()) or name == ".":
        return name
    if os.name == "nt":
        # No name of a file holds a quotation mark there.
        return f'"{name}"'
    from shlex import quote

    return quote(name)


#: What means nothing to a shell; a backslash only where it separates folders.
_WITHOUT_SAFE_MARKS: Final = str.maketrans("", "", "/:._-" + ("\\" if os.name == "nt" else ""))


def _is_link(path: str) -> bool:
    # As `os.path.islink`, which is called so often that its own call shows.
    try:
        return stat.S_ISLNK(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False


def read_bytes(path: str | Path, limit: int, shown: str, project: Project) -> bytes | None:
    """At most `limit + 1` bytes of a regular file, or None when there is none; never waits for a pipe's writer."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise unreadable(shown, error) from error
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise StateCorruptError(
                f"{shown} is not a regular file",
                code="not_a_file",
                place=shown,
                hint=project.way_out,
            )
        # One byte more than there should be tells a file that has grown meanwhile.
        data = os.read(descriptor, min(found.st_size, limit) + 1)
        rest = []
        left = limit + 1 - len(data)
        while left > 0 and (part := os.read(descriptor, min(left, _PART))):
            rest.append(part)
            left -= len(part)
        return b"".join((data, *rest)) if rest else data
    except OSError as error:
        raise unreadable(shown, error) from error
    finally:
        os.close(descriptor)


def list_names(project: Project, folder: str) -> list[str]:
    """The names in a folder of the state, in no order; none where there is no folder.

    Raises `StateRefusedError` for a link out of the project, `EnvironmentBrokenError` when the system refuses.
    """
    try:
        return os.listdir(project.contained(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise unreadable(project.shown(folder), error) from error


def unreadable(shown: str, error: OSError) -> EnvironmentBrokenError:
    """The error for a file that the operating system does not let us read."""
    return EnvironmentBrokenError(
        f"{shown} cannot be read: {error.strerror or error}",
        code="state_unreadable",
        place=shown,
        hint="Check the owner and the permissions of the .qiongli folder",
    )


def escaped(text: str) -> str:
    """A text of a file that anybody may have written, for a terminal: no control or format character is left in it."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode() for character in text
    )


#: How callers name a project: by its folder, or by what `open_project` made of it.
Folder = Path | str | Project


def open_project(cwd: Folder, *, find_project: bool = False, shown: str = "") -> Project:
    """The project of a folder that must exist; nothing is created. One that is open already is returned as it is.

    With `find_project` the nearest folder upwards that holds `.qiongli` is the project. `shown` is what messages call
    the folder, where that is not its name as given. Raises `InputError` with the codes `folder_not_found`,
    `not_a_folder`, `no_project_found`; `StateRefusedError` when `.qiongli` leaves it.
    """
    if isinstance(cwd, Project):
        return cwd
    given = os.fspath(cwd)
    try:
        if not given:
            # An unset variable of somebody's script rather than the folder where it runs.
            raise ValueError
        root = Path(given).resolve(strict=True)
        is_folder = root.is_dir()
    except (FileNotFoundError, NotADirectoryError, ValueError):
        raise InputError(
            f"the folder {given!r} does not exist",
            code="folder_not_found",
            place="cwd",
            expected="an existing folder; Qiongli creates none",
            hint="Check the path",
        ) from None
    except (OSError, RuntimeError) as error:
        # A loop of links, or a folder on the way that may not be entered.
        raise InputError(
            f"the folder {given!r} cannot be opened: {error}", code="folder_not_found", place="cwd"
        ) from None
    if not is_folder:
        raise InputError(f"{given!r} is a file", code="not_a_folder", place="cwd", expected="the folder of the project")
    searched = False
    if find_project:
        for folder in (root, *root.parents):
            if (folder / STATE_FOLDER).is_dir():
                root, searched = folder, folder != root
                break
        else:
            raise InputError(
                f"neither {given!r} nor a folder above it holds {STATE_FOLDER}",
                code="no_project_found",
                place="cwd",
                hint=f"Run: qiongli project init {cwd_option(shown or given)}",
            )
    project = Project(root, shown or given, searched)
    state = project.contained(".")
    if os.path.lexists(state) and not state.is_dir():
        raise EnvironmentBrokenError(
            f"{STATE_FOLDER} is not a folder",
            code="state_unreadable",
            place=STATE_FOLDER,
            hint="Move it away; Qiongli makes a new one",
        )
    return project
