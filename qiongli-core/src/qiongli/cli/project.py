"""`qiongli project init|show|set`: the manifest and its settings beside the subject."""

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
from qiongli.errors import InputError

app = typer.Typer(help="Create, show and edit a project's manifest.", no_args_is_help=True)


@app.command()
def init(cwd: Cwd, dry_run: DryRun = False, as_json: AsJson = False) -> None:
    """Give a project a manifest with the defaults; an existing one stays as it is."""
    from qiongli.project import init_project

    packet = init_project(cwd, dry_run=dry_run, catalogue=subjects)
    emit(packet.to_packet(), action_text(packet, cwd_option(cwd)), as_json)


@app.command()
def show(cwd: Cwd, find_project: FindProject = False, as_json: AsJson = False) -> None:
    """Show what the manifest and the memory of a project say, as `qiongli subject status` does."""
    from qiongli.project import subject_status

    look_above(cwd, find_project)
    packet = subject_status(cwd, find_project=find_project, catalogue=subjects)
    emit(packet.to_packet(), status_text(packet, cwd_option(cwd, find_project)), as_json)


@app.command(name="set")
def set_(
    cwd: Cwd,
    secondary_subject: Annotated[
        list[str] | None, typer.Option("--secondary-subject", help="A neighbouring subject; may be repeated.")
    ] = None,
    venue_profile: Annotated[
        list[str] | None, typer.Option("--venue-profile", help="A venue profile; may be repeated.")
    ] = None,
    method_lens: Annotated[
        list[str] | None, typer.Option("--method-lens", help="A method lens; may be repeated.")
    ] = None,
    strictness: Annotated[str | None, typer.Option("--strictness", help="standard or strict.")] = None,
    clear: Annotated[
        list[str] | None, typer.Option("--clear", help="Empty a list: secondary_subjects, venue_profiles, ...")
    ] = None,
    dry_run: DryRun = False,
    propose: Propose = False,
    if_revision: IfRevision = None,
    if_state: IfState = None,
    find_project: FindProject = False,
    as_json: AsJson = False,
) -> None:
    """Replace settings of a project; what is not named stays."""
    from qiongli.project import change_settings
    from qiongli.project.manifest import LIST_KEYS

    exclusive(dry_run, propose)
    look_above(cwd, find_project)
    settings: dict[str, str | tuple[str, ...]] = {}
    for key in clear or ():
        if key not in LIST_KEYS:
            raise InputError(f"{key!r} is no list", code="unknown_setting", place="--clear", available=LIST_KEYS)
        settings[key] = ()
    given = {"secondary_subjects": secondary_subject, "venue_profiles": venue_profile, "method_lenses": method_lens}
    settings |= {key: tuple(names) for key, names in given.items() if names}
    if strictness is not None:
        settings["strictness"] = strictness
    packet = change_settings(
        cwd,
        settings,
        dry_run=dry_run,
        propose=propose,
        if_revision=if_revision,
        if_digest=if_state,
        find_project=find_project,
        catalogue=subjects,
    )
    emit(packet.to_packet(), action_text(packet, cwd_option(cwd, find_project)), as_json)
