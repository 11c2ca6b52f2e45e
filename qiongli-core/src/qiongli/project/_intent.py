"""The intent that announces a change of several files: its steps, which of them we write, and what can be finished."""

# Plain `os` calls throughout: a path object for each step costs more than the step, and loses the error's file name.

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any, Final, Literal

import attrs

from qiongli.errors import StateRefusedError
from qiongli.project.paths import GUIDANCE, MANIFEST, MEMORY, PROPOSALS, RUNS, SESSION, STAGING, Project

#: `write`: replace `target` by the staged file or folder; `move`: put the file `target` aside as `aside`; `remove`.
StepKind = Literal["write", "move", "remove"]

#: What the steps of our own intents name: files of the state, the folder of a run, a proposal, and copies of them.
_TARGET: Final = re.compile(
    "|".join(
        (
            *map(re.escape, (MANIFEST, MEMORY, GUIDANCE, SESSION)),
            rf"{RUNS}/run-[0-9]{{1,16}}",
            rf"{PROPOSALS}/p-[0-9a-f]{{24}}\.json",
        )
    )
)
_STAGED: Final = re.compile(r"[0-9A-Za-z]{1,32}-[0-9]{1,9}")
_ASIDE: Final = re.compile(r"\.(?:corrupt|newer|edited)-[0-9TZ]{1,32}(?:-[0-9]{1,9})?")


@attrs.frozen
class Step:
    """One change of one file; names are relative to `.qiongli`, with forward slashes."""

    kind: StepKind
    target: str
    #: For `write`: name of the staged file or folder, inside the staging folder.
    staged: str = ""
    #: For `move`: the new name.
    aside: str = ""
    #: For `write`: size and digest of what the file is to replace, `folder` for a folder, empty where there is nothing.
    before: str = ""


def entry(project: Project, name: str) -> Path:
    """A name itself, which may be that of a link, in a folder that does not lead out of the project."""
    folder, _, last = name.rpartition("/")
    return project.contained(folder or ".") / last


def parse_intent(data: bytes) -> list[Step] | None:
    """The steps of an intent; None when the bytes are no intent of ours, which only a person can have done.

    An intent that came with a copied project may say anything: only what our own changes consist of is taken for one.
    """
    try:
        content: Any = json.loads(data)
        if content["schema_version"].split(".")[0] != "1":
            return None
        steps = [Step(**step) for step in content["steps"]]
        return steps if all(map(_is_ours, steps)) and _is_one_change(steps) else None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _is_one_change(steps: list[Step]) -> bool:
    """Whether copies are put aside first, and then each file is changed once.

    In any other order nobody could tell from what is on the disk which steps were done.
    """
    moved = [step.target for step in steps if step.kind == "move"]
    changed = [step.target for step in steps if step.kind != "move"]
    staged = [step.staged for step in steps if step.kind == "write"]
    in_order = all(step.kind == "move" for step in steps[: len(moved)])
    return in_order and all(len(set(names)) == len(names) for names in (moved, changed, staged))


def _is_ours(step: Step) -> bool:
    """Whether a step does what an action, a recording or a proposal does; raises `TypeError` for what is no text."""
    if type(step.before) is not str or not _TARGET.fullmatch(step.target):
        return False
    if step.kind == "write":
        return _STAGED.fullmatch(step.staged) is not None and not step.aside
    if step.kind == "move":
        suffix = step.aside.removeprefix(step.target)
        return suffix != step.aside and _ASIDE.fullmatch(suffix) is not None
    return step.kind == "remove"


def unfinished(project: Project, data: bytes) -> list[Step] | None:
    """The steps of an intent; None when it is none, or when something stands where its files belong.

    The answer is right for a reader, too, while a writer goes through the steps: a staged file is gone before anything
    that was not there stands in its place.
    """
    steps = parse_intent(data)
    try:
        return steps if steps is not None and _can_be_finished(project, steps) else None
    except (StateRefusedError, ValueError):
        return None


def _can_be_finished(project: Project, steps: list[Step]) -> bool:
    """Whether every step is done or can be; raises `StateRefusedError` for a link that leaves the project."""
    cleared = set()
    for step in steps:
        # What is put aside stays in its folder.
        for at in (index for index, character in enumerate(step.target) if character == "/"):
            path = project.contained(step.target[:at])
            if os.path.lexists(path) and not path.is_dir():
                return False
        if step.kind == "move":
            if not os.path.lexists(entry(project, step.aside)):
                cleared.add(step.target)
            continue
        if step.kind == "remove":
            path = entry(project, step.target)
            if path.is_dir() and not path.is_symlink():
                return False
            continue
        if step.target in cleared:
            continue
        path = project.contained(step.target)
        is_folder, taken = path.is_dir(), os.path.lexists(path)
        staged = project.path(STAGING) / step.staged
        if not os.path.lexists(staged):
            continue
        runs = step.target.startswith(f"{RUNS}/")
        misplaced = staged.is_symlink() or staged.is_dir() != runs or is_folder or (runs and taken)
        # The staged file may have been moved since it was looked for.
        if misplaced and os.path.lexists(staged):
            return False
    return True
