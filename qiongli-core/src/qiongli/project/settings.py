"""The settings beside the subject: neighbours, venue profiles, lenses and strictness; and the making of a manifest."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final

import attrs

from qiongli.errors import InputError
from qiongli.project.actions import carry_out
from qiongli.project.lifecycle import Plan, Request, require_unlocked
from qiongli.project.manifest import LIST_KEYS, Value
from qiongli.project.paths import MANIFEST, STATE_FOLDER, Folder, open_project
from qiongli.project.status import resolve_catalogue
from qiongli.project.store import Snapshot, Store
from qiongli.project.subjects import find_lender, find_venue_holder, require_known
from qiongli.records.lifecycle import ActionPacket
from qiongli.records.project import STRICTNESSES, ManifestState

if TYPE_CHECKING:
    from qiongli.plugins import Catalogue
    from qiongli.project.status import Subjects

#: What `project set` may change; the subject and its mode have actions of their own.
SETTINGS: Final = (*LIST_KEYS, "strictness")


def init_project(
    cwd: Folder, *, catalogue: Subjects | None = None, dry_run: bool = False, store: Store | None = None
) -> ActionPacket:
    """Give a project a manifest with the defaults; one that has a manifest keeps it. Raises the errors of the state."""
    store = store or Store(open_project(cwd))
    subjects = resolve_catalogue(catalogue)
    return carry_out(store, _plan_init, subjects, dry_run=dry_run)


def _plan_init(snapshot: Snapshot) -> Plan:
    snapshot.require_readable()
    if snapshot.manifest.data is not None:
        warning = f"{STATE_FOLDER}/{MANIFEST} is there already; nothing was written"
        return Plan(Request("init"), warnings=(warning,), writes=False)
    return Plan(Request("init"), state=ManifestState())


def change_settings(
    cwd: Folder,
    settings: Mapping[str, Value],
    *,
    catalogue: Subjects | None = None,
    source: str = "user",
    if_revision: int | None = None,
    if_digest: str | None = None,
    dry_run: bool = False,
    propose: bool = False,
    find_project: bool = False,
    store: Store | None = None,
) -> ActionPacket:
    """Replace settings of a project: `secondary_subjects`, `venue_profiles`, `method_lenses`, `strictness`.

    Raises `InputError` for a setting or a name that does not exist, `UnknownSubjectError` for a neighbour that is not
    installed, `StateRefusedError` (`project_locked`) while the project is locked.
    """
    store = store or Store(open_project(cwd, find_project=find_project))
    subjects = resolve_catalogue(catalogue)
    request = Request("set", source=source, settings=tuple(sorted(settings.items())))
    return carry_out(
        store,
        lambda snapshot: plan_settings(snapshot, request, subjects),
        subjects,
        if_revision=if_revision,
        if_digest=if_digest,
        dry_run=dry_run,
        propose=propose,
    )


def plan_settings(snapshot: Snapshot, request: Request, catalogue: Catalogue) -> Plan:
    """Say what changing settings would do, or raise why it may not be done."""
    snapshot.require_readable()
    state = snapshot.manifest.state
    require_unlocked(snapshot, "changing its settings")
    values: dict[str, Any] = {key: _checked(key, value, state, catalogue) for key, value in request.settings}
    if not values:
        raise InputError("no setting was named", code="usage", available=SETTINGS)
    new = attrs.evolve(state, **values)
    if new == state and snapshot.manifest.data is not None:
        return Plan(request, warnings=("the settings are so already; nothing was written",), writes=False)
    return Plan(request, state=new)


def _checked(key: str, value: Value, state: ManifestState, catalogue: Catalogue) -> Value:
    if key not in SETTINGS:
        raise InputError(f"no such setting: {key!r}", code="unknown_setting", available=SETTINGS)
    if key == "strictness":
        if value not in STRICTNESSES:
            message = f"no such strictness: {value!r}"
            raise InputError(message, code="invalid_setting", place=key, available=STRICTNESSES)
        return value
    if isinstance(value, str):
        raise InputError("a list is needed", code="invalid_setting", place=key)
    names = tuple(dict.fromkeys(value))
    if key == "secondary_subjects":
        for name in names:
            require_known(catalogue, name, place=key)
            if name == state.active_subject:
                raise InputError(f"{name} is the project's subject, not a neighbour", code="invalid_setting", place=key)
        return names
    if key == "venue_profiles":
        available = {venue for found in catalogue.subjects for venue in found.contract.venue_profiles}
    else:
        available = {lens for found in catalogue.subjects for lens in found.available_lenses}
    for name in names:
        find = find_venue_holder if key == "venue_profiles" else find_lender
        if find(catalogue.subjects, name) is None and name not in getattr(state, key):
            near = get_close_matches(name, available, n=1)
            raise InputError(
                f"nothing installed provides {name[:80]!r}",
                code="invalid_setting",
                place=key,
                available=tuple(sorted(available)),
                hint=f"Did you mean {near[0]}?" if near else "Run: qiongli resource list",
            )
    return names
