"""`qiongli subject status|confirm|dismiss|reset|lock|unlock`: the user's word on the subject of a project."""

from __future__ import annotations

from typing import Annotated

import typer

from qiongli.cli._folder import Cwd, FindProject, cwd_option, look_above
from qiongli.cli._output import emit
from qiongli.cli._project import (
    AsJson,
    DryRun,
    IfRevision,
    IfState,
    Propose,
    action_text,
    exclusive,
    status_text,
    subjects,
)

_Subject = Annotated[str, typer.Argument(help="Slug of the subject.")]


def status(cwd: Cwd, find_project: FindProject = False, as_json: AsJson = False) -> None:
    """Show the subject of a project, what was suggested and what was turned down."""
    from qiongli.project import subject_status

    look_above(cwd, find_project)
    packet = subject_status(cwd, find_project=find_project, catalogue=subjects)
    emit(packet.to_packet(), status_text(packet, cwd_option(cwd, find_project)), as_json)


def confirm(
    subject: _Subject,
    cwd: Cwd,
    dry_run: DryRun = False,
    propose: Propose = False,
    if_revision: IfRevision = None,
    if_state: IfState = None,
    find_project: FindProject = False,
    as_json: AsJson = False,
) -> None:
    """Confirm a subject for a project: its standards apply from now on."""
    _act("confirm", subject, cwd, dry_run, propose, if_revision, if_state, find_project, as_json)


def dismiss(
    subject: _Subject,
    cwd: Cwd,
    dry_run: DryRun = False,
    propose: Propose = False,
    if_revision: IfRevision = None,
    if_state: IfState = None,
    find_project: FindProject = False,
    as_json: AsJson = False,
) -> None:
    """Turn a suggested subject down: it stays silent until a new task speaks for it."""
    _act("dismiss", subject, cwd, dry_run, propose, if_revision, if_state, find_project, as_json)


def reset(
    cwd: Cwd,
    dry_run: DryRun = False,
    propose: Propose = False,
    if_revision: IfRevision = None,
    if_state: IfState = None,
    find_project: FindProject = False,
    as_json: AsJson = False,
) -> None:
    """Return a project to the adaptive core; works in any state, keeps traces and copies of broken files."""
    _act("reset", None, cwd, dry_run, propose, if_revision, if_state, find_project, as_json)


def lock(
    subject: _Subject,
    cwd: Cwd,
    dry_run: DryRun = False,
    propose: Propose = False,
    if_revision: IfRevision = None,
    if_state: IfState = None,
    find_project: FindProject = False,
    as_json: AsJson = False,
) -> None:
    """Lock a project to a subject: nothing replaces it until it is unlocked."""
    _act("lock", subject, cwd, dry_run, propose, if_revision, if_state, find_project, as_json)


def unlock(
    cwd: Cwd,
    dry_run: DryRun = False,
    propose: Propose = False,
    if_revision: IfRevision = None,
    if_state: IfState = None,
    find_project: FindProject = False,
    as_json: AsJson = False,
) -> None:
    """Turn a lock into a confirmation."""
    _act("unlock", None, cwd, dry_run, propose, if_revision, if_state, find_project, as_json)


def _act(
    action: str,
    subject: str | None,
    cwd: Cwd,
    dry_run: bool,
    propose: bool,
    if_revision: int | None,
    if_state: str | None,
    find_project: bool,
    as_json: bool,
) -> None:
    from qiongli.project import apply_action

    exclusive(dry_run, propose)
    look_above(cwd, find_project)
    packet = apply_action(
        action,
        cwd,
        subject,
        dry_run=dry_run,
        propose=propose,
        if_revision=if_revision,
        if_digest=if_state,
        find_project=find_project,
        catalogue=subjects,
    )
    emit(packet.to_packet(), action_text(packet, cwd_option(cwd, find_project)), as_json)
