"""Carrying out actions: preview, proposal or change, and the undoing of the last one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

import attrs

from qiongli.errors import QiongliError
from qiongli.project._memory_file import lines_from
from qiongli.project._memory_writing import undo_lines, written_memory
from qiongli.project.guidance import parse_guidance, put_block, render_block, require_sound, take_block_out
from qiongli.project.lifecycle import Plan, Request, check_form, plan
from qiongli.project.manifest import parse_manifest
from qiongli.project.memory import UNDO_DEPTH, MemoryDocument
from qiongli.project.paths import GUIDANCE, MANIFEST, MEMORY, Folder, Project, open_project
from qiongli.project.status import describe, resolve_catalogue
from qiongli.project.store import Change, Snapshot, Store, digest, require
from qiongli.records._units import SCHEMA_VERSION
from qiongli.records.lifecycle import ActionPacket, ActionStatus
from qiongli.records.project import LifecycleEvent, ManifestState

if TYPE_CHECKING:
    from qiongli.plugins import Catalogue
    from qiongli.project.status import Subjects

Planner = Callable[[Snapshot], Plan]


@attrs.frozen
class Prepared:
    """A plan turned into the bytes of every file, before any of them is written."""

    plan: Plan
    after: Snapshot
    #: File to its new bytes, None to remove it; in the order in which they are put in place.
    files: tuple[tuple[str, bytes | None], ...]
    #: File to the stem of the name under which it is kept.
    aside: tuple[tuple[str, str], ...]
    changed: bool


def apply_action(
    action: str,
    cwd: Folder,
    subject: str | None = None,
    *,
    catalogue: Subjects | None = None,
    source: str = "user",
    run_id: str = "",
    fingerprint: str = "",
    if_revision: int | None = None,
    if_digest: str | None = None,
    dry_run: bool = False,
    propose: bool = False,
    find_project: bool = False,
    store: Store | None = None,
) -> ActionPacket:
    """Carry out `confirm`, `dismiss`, `reset`, `lock` or `unlock` on a project, and return before and after.

    `dry_run` only says what would happen; `propose` keeps it as a proposal. `if_revision` demands that nobody wrote
    through Qiongli since the caller looked, and that the manifest was not edited by hand if it was not then;
    `if_digest` (the `state_digest` of a status) that not a byte of the state differs, whoever wrote it. `run_id` and
    `fingerprint` name the run and the task of the suggestion that the user reacts to. `store` replaces the project's
    own, for tests.

    Raises `InputError`, `UnknownSubjectError`, `StateRefusedError`, `StateCorruptError` or `EnvironmentBrokenError`;
    then nothing was changed.
    """
    store = store or Store(open_project(cwd, find_project=find_project))
    check_form(action, subject, store.project)
    subjects = resolve_catalogue(catalogue)
    request = Request(action, subject, source=source, run_id=run_id, fingerprint=fingerprint)
    return carry_out(
        store,
        lambda snapshot: plan(snapshot, request, subjects),
        subjects,
        if_revision=if_revision,
        if_digest=if_digest,
        dry_run=dry_run,
        propose=propose,
    )


def carry_out(
    store: Store,
    planner: Planner,
    catalogue: Catalogue,
    *,
    if_revision: int | None = None,
    if_digest: str | None = None,
    dry_run: bool = False,
    propose: bool = False,
    extra: Callable[[Change], None] | None = None,
) -> ActionPacket:
    """Plan and write under the lock; a refusal touches nothing.

    Where the lock is not free, or taking it would create files, the plan is made without it first, and again under it.

    `extra` may add to the transaction, such as the removal of the proposal that is being applied.
    """
    failure: QiongliError | None = None
    recovered: tuple[str, ...] = ()
    if not (dry_run or propose) and store.is_set_up:
        held = False
        try:
            with store.writing(if_revision=if_revision, if_digest=if_digest, at_once=True) as change:
                held, recovered = True, change.recovered
                planned = planner(change.snapshot)
                if not planned.obstacles:
                    return _write(change, planned, catalogue, extra)
        except QiongliError as error:
            # Others are writing, or nobody can: look without the lock, so that a refusal is told all the same.
            if held and recovered:
                raise _with_warnings(error, recovered) from error
            if held:
                raise
            failure = error
    before = store.read()
    require(before, if_revision, if_digest)
    planned = planner(before)
    if dry_run or propose or not planned.writes:
        return _without_writing(store, before, planned, catalogue, dry_run=dry_run, propose=propose)
    if failure is not None and failure.code != "project_busy" and not planned.obstacles:
        raise failure
    told = (*recovered, *_kept_as(store, planned))
    try:
        with (
            _cleared(store, planned.obstacles, needed_for_the_lock=True),
            store.writing(if_revision=if_revision, if_digest=if_digest, seen=before) as change,
            _cleared(store, planned.obstacles, needed_for_the_lock=False),
        ):
            if planned.obstacles:
                change = change.looked_again()
            return _write(change, planner(change.snapshot), catalogue, extra, told)
    except OSError as error:
        from qiongli.project._transaction import refused

        raise refused(store.project, error) from error


def _with_warnings(error: QiongliError, warnings: tuple[str, ...]) -> QiongliError:
    """A refusal that also tells what was found and put aside before it: nobody else would."""
    return type(error)(
        error.message,
        code=error.code,
        place=error.place,
        expected=error.expected,
        hint="; ".join((*((error.hint,) if error.hint else ()), *warnings)),
        available=error.available,
    )


def _cleared(store: Store, obstacles: tuple[str, ...], *, needed_for_the_lock: bool) -> AbstractContextManager[None]:
    """The way is clear of obstacles, of those without which no lock can be taken or of the others."""
    if not obstacles:
        return nullcontext()
    from qiongli.project._obstacles import cleared, is_needed_for_the_lock

    return cleared(store, [name for name in obstacles if is_needed_for_the_lock(name) == needed_for_the_lock])


def _write(
    change: Change,
    planned: Plan,
    catalogue: Catalogue,
    extra: Callable[[Change], None] | None,
    told: tuple[str, ...] = (),
) -> ActionPacket:
    """Write a plan; `told` are the warnings about what was put aside before."""
    store, snapshot, transaction = change.store, change.snapshot, change.transaction
    if told or change.recovered:
        planned = attrs.evolve(planned, warnings=(*told, *change.recovered, *planned.warnings))
    if not planned.writes:
        return packet(snapshot, Prepared(planned, snapshot, (), (), changed=False), catalogue, "unchanged")
    prepared = prepare(store, snapshot, planned, catalogue)
    for name, stem in prepared.aside:
        from qiongli.project._transaction import free_name

        transaction.put_aside(name, free_name(store.project, stem))
    for name, data in prepared.files:
        if data is None:
            transaction.remove(name)
        else:
            transaction.write(name, data)
    if extra is not None:
        extra(change)
    transaction.commit()
    if told:
        prepared = attrs.evolve(prepared, changed=True)
    return packet(snapshot, prepared, catalogue, "applied")


def _kept_as(store: Store, planned: Plan) -> tuple[str, ...]:
    """A warning for each obstacle that is put aside."""
    if not planned.obstacles:
        return ()
    from qiongli.project._obstacles import aside_stem

    return tuple(_kept(store, name, aside_stem(store, name)) for name in planned.obstacles)


def _kept(store: Store, name: str, stem: str) -> str:
    text = f"{store.project.shown(name)} could not be used and is kept as {stem}"
    if f"{MEMORY}/".startswith(f"{name}/"):
        text += "; suggestions, dismissals, events and what could be undone start anew"
    return text


def _without_writing(
    store: Store, before: Snapshot, planned: Plan, catalogue: Catalogue, *, dry_run: bool, propose: bool
) -> ActionPacket:
    if not planned.writes:
        return packet(before, Prepared(planned, before, (), (), changed=False), catalogue, "unchanged")
    planned = attrs.evolve(planned, warnings=(*_kept_as(store, planned), *planned.warnings))
    prepared = prepare(store, before, planned, catalogue)
    if dry_run or not propose:
        return packet(before, prepared, catalogue, "dry_run")
    from qiongli.project.proposals import propose_action

    proposal, warnings = propose_action(store, before, planned.request)
    packed = packet(before, prepared, catalogue, "proposed")
    return attrs.evolve(packed, proposal=proposal, warnings=(*packed.warnings, *warnings))


def packet(before: Snapshot, prepared: Prepared, catalogue: Catalogue, status: ActionStatus) -> ActionPacket:
    """The action packet: what was, what is (or would be), and what the user should know."""
    request = prepared.plan.request
    was = describe(before, catalogue)
    # Finding out what the block should say takes as long as all the rest, and a dismissal does not touch it.
    same = prepared.after.manifest is before.manifest and prepared.after.guidance == before.guidance
    return ActionPacket(
        schema_version=SCHEMA_VERSION,
        action=request.action,
        subject=request.subject,
        changed=prepared.changed,
        before=was,
        after=describe(prepared.after, catalogue, guidance=was.guidance if same else None),
        warnings=prepared.plan.warnings,
        notes=prepared.plan.notes,
        status=status,
        command=command_line(request, before.project),
    )


def command_line(request: Request, project: Project) -> str:
    """The command that does to a project what is asked, for a person to run where they named the project."""
    group = "project" if request.action in ("init", "set") else "subject"
    if request.action in ("undo", "guidance"):
        return project.command("undo" if request.action == "undo" else "guidance apply")
    options = {"secondary_subjects": "--secondary-subject", "venue_profiles": "--venue-profile"}
    options |= {"method_lenses": "--method-lens", "strictness": "--strictness"}
    parts = [project.command(" ".join((group, request.action, *([request.subject] if request.subject else []))))]
    for key, value in request.settings:
        option = options.get(key, key)
        if isinstance(value, str):
            parts += [option, value]
        elif value:
            for item in value:
                parts += [option, item]
        else:
            parts += ["--clear", key]
    return " ".join(parts)


def prepare(store: Store, before: Snapshot, planned: Plan, catalogue: Catalogue) -> Prepared:
    """Work out the bytes of every file that a plan changes; raises what stands in the way, and writes nothing."""
    from qiongli.project._manifest_edit import edit_manifest, new_manifest

    request = planned.request
    aside = list(planned.aside)
    if before.memory.error is not None and MEMORY not in aside:
        aside.append(MEMORY)
    elif before.memory.error is None and MEMORY in aside:
        # What is put aside is not carried over.
        unused = MemoryDocument(before.memory.data, revision=before.memory.revision, telling=before.memory.telling)
        before = before._replace(memory=unused)
    files: list[tuple[str, bytes | None]] = []
    manifest = before.manifest.data
    if planned.restore is not None:
        manifest = planned.restore.manifest
        if manifest != before.manifest.data:
            files.append((MANIFEST, manifest))
    elif planned.state is not None:
        usable = manifest if manifest is not None and MANIFEST not in aside else None
        manifest = (
            new_manifest(planned.state) if usable is None else edit_manifest(usable, planned.state, before.project)
        )
        files.append((MANIFEST, manifest))
    state = planned.state if planned.state is not None else before.manifest.state
    guidance = before.guidance
    if request.action != "dismiss" and (planned.restore is None or planned.restore.touches_guidance):
        document = parse_guidance(None if GUIDANCE in aside else guidance)
        require_sound(document, before.project)
        wanted = document.span is not None or state != ManifestState() or request.action == "guidance"
        new_guidance = document.data
        if planned.restore is not None and not planned.restore.had_block:
            new_guidance = take_block_out(document)
            if new_guidance is None and planned.restore.had_guidance:
                new_guidance = b""
        elif wanted:
            new_guidance = put_block(document, render_block(state, catalogue))
        if new_guidance != document.data:
            files.append((GUIDANCE, new_guidance))
        guidance = new_guidance
    changed = (
        manifest != before.manifest.data
        or guidance != before.guidance
        or (planned.dismissed is not None and planned.dismissed != before.memory.dismissed)
        or (planned.suggestions is not None and planned.suggestions != before.memory.suggestions)
        or bool(aside or planned.obstacles)
    )
    event = LifecycleEvent(
        event=request.action,
        subject=request.subject,
        source=request.source,
        write_manifest=manifest != before.manifest.data or (planned.state is not None and planned.restore is None),
        run_id=request.run_id,
        time=store.now(),
        revision=before.revision + 1,
        proposal=request.proposal,
    )
    if planned.restore is not None:
        undo = lines_from(before.memory.undo.parse()[: planned.restore.depth], UNDO_DEPTH)
    else:
        undo = undo_lines(before, planned, manifest, aside, changed)
    memory = written_memory(before, planned, event, digest(manifest), undo)
    files.append((MEMORY, memory.data))
    after_manifest = before.manifest if manifest == before.manifest.data else parse_manifest(manifest, before.project)
    after = Snapshot(before.project, after_manifest, memory, guidance)
    after = after._replace(warnings=after.manifest.warnings)
    kind = {error.code for error in (before.manifest.error, before.memory.error) if error is not None}
    suffix = "newer" if kind == {"newer_schema"} else "corrupt"
    stamped = tuple((name, f"{name}.{suffix}-{store.stamp()}") for name in aside)
    warnings = tuple(_kept(store, name, stem) for name, stem in stamped)
    planned = attrs.evolve(planned, warnings=(*planned.warnings, *warnings))
    return Prepared(planned, after, tuple(files), stamped, changed)


def undo_action(
    cwd: Folder,
    *,
    catalogue: Subjects | None = None,
    dry_run: bool = False,
    find_project: bool = False,
    store: Store | None = None,
) -> ActionPacket:
    """Revert the last action on a project; what was recorded since stays."""
    from qiongli.project._undo import undo

    store = store or Store(open_project(cwd, find_project=find_project))
    return undo(store, resolve_catalogue(catalogue), dry_run=dry_run)
