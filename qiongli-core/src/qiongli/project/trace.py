"""The trace: what was asked and answered, kept for people and for evolution, redacted, and never evidence again."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import attrs

from qiongli.diagnostics import is_secret_name, redact_text
from qiongli.errors import InputError, QiongliError, StateCorruptError
from qiongli.project._memory_file import parse_json
from qiongli.project.lifecycle import Plan, Request
from qiongli.project.memory import Suggested
from qiongli.project.paths import MEMORY, RUNS, Folder, Project, escaped, list_names, open_project
from qiongli.project.store import Snapshot, Store, digest
from qiongli.records._units import SCHEMA_VERSION, to_json, to_packet
from qiongli.records.lifecycle import LatestRefinement

if TYPE_CHECKING:
    from qiongli.records.packet import RefinementPacket

#: How many runs are kept; recording now and then drops the oldest beyond it.
RETAINED_RUNS: Final = 10_000
#: Recording looks for runs beyond the limit only every that many states, for looking takes time.
_PRUNE_EVERY: Final = 256
#: Longest text that a trace keeps of one field, in characters.
TEXT_LIMIT: Final = 65_536
_FILE_LIMIT: Final = 8_388_608
_DEPTH_LIMIT: Final = 32
_RUN_ID: Final = re.compile(r"run-(0|[1-9][0-9]{0,14})\Z")
_FILES: Final = ("packet", "refinement", "plan", "guidance_context", "proposal")


@attrs.frozen
class Recording:
    """What recording a run came to."""

    run_id: str
    #: Whether the run counted as a new suggestion of its primary subject.
    counted: bool
    revision: int
    warnings: tuple[str, ...] = ()


@attrs.frozen
class RunSummary:
    """One run in a list."""

    run_id: str
    time: str
    decision: str
    primary_subject: str
    confidence: float
    fingerprint: str


def record_refinement(
    cwd: Folder,
    packet: RefinementPacket,
    *,
    task_packet: Mapping[str, object] | str | None = None,
    proposal: Mapping[str, object] | None = None,
    source: str = "router",
    store: Store | None = None,
) -> Recording:
    """Write a run to the trace, and count its suggestion once for its task's fingerprint.

    `task_packet` is what was routed, kept redacted; `proposal` what the host proposed after it. Nothing is confirmed,
    and nothing of the texts is read as an instruction. Raises the errors of the project's state.
    """
    store = store or Store(open_project(cwd))
    with store.writing() as change:
        before = change.snapshot
        before.require_readable()
        memory = before.memory.checked()
        if memory is not before.memory:
            before = before._replace(memory=memory, warnings=(*before.warnings, *memory.warnings))
        run_id = _free_run_id(store.project, before.revision + 1)
        counted, suggestions = _count(before, packet, run_id)
        files = _run_files(store, before, packet, run_id, task_packet, proposal, source)
        from qiongli.project._memory_writing import written_memory

        plan = Plan(Request("record"), suggestions=suggestions)
        latest = LatestRefinement(run_id, packet.decision, packet.primary_subject, packet.confidence)
        memory = written_memory(before, plan, None, digest(before.manifest.data), latest=latest)
        if before.memory.error is not None:
            from qiongli.project._transaction import free_name

            change.transaction.put_aside(MEMORY, free_name(store.project, f"{MEMORY}.corrupt-{store.stamp()}"))
        change.transaction.write_folder(f"{RUNS}/{run_id}", files)
        change.transaction.write(MEMORY, memory.data or b"")
        change.transaction.commit()
        if (before.revision + 1) % _PRUNE_EVERY == 0:
            _prune(store, RETAINED_RUNS)
        return Recording(run_id, counted, before.revision + 1, before.warnings)


def _free_run_id(project: Project, number: int) -> str:
    """`run-` and the number of the state; the next free one where the memory was lost and counts anew."""
    while os.path.lexists(project.path(f"{RUNS}/run-{number}")):
        number += 1
    return f"run-{number}"


def _count(before: Snapshot, packet: RefinementPacket, run_id: str) -> tuple[bool, dict[str, Suggested] | None]:
    if packet.decision != "suggest_subject" or packet.refusal is not None:
        return False, None
    old = before.memory.suggestions.get(packet.primary_subject, Suggested())
    counted = bool(packet.fingerprint) and not old.counts(packet.fingerprint)
    new = old.with_task(packet.fingerprint) if counted else old
    summary = attrs.evolve(
        new.summary, last_confidence=packet.confidence, last_decision=packet.decision, last_run_id=run_id
    )
    return counted, {**before.memory.suggestions, packet.primary_subject: new._replace(summary=summary)}


def _run_files(
    store: Store,
    before: Snapshot,
    packet: RefinementPacket,
    run_id: str,
    task_packet: Mapping[str, object] | str | None,
    proposal: Mapping[str, object] | None,
    source: str,
) -> dict[str, bytes]:
    refinement = packet.to_packet()
    task: object = {"text": task_packet} if isinstance(task_packet, str) else task_packet
    contents: dict[str, object] = {
        "packet": {
            "schema_version": SCHEMA_VERSION,
            "run_id": run_id,
            "time": store.now(),
            "source": source,
            "fingerprint": packet.fingerprint,
            "task_packet": task,
        },
        "refinement": refinement,
        "plan": refinement["resource_activation_plan"],
        "guidance_context": {
            "manifest": to_packet(before.manifest.state),
            "dismissed_subjects": sorted(before.memory.dismissed),
            "guidance_digest": "" if before.guidance is None else f"sha256:{digest(before.guidance)}",
            "revision": before.revision,
        },
    }
    if proposal is not None:
        contents["proposal"] = proposal
    return {f"{name}.json": _encoded(redacted(content)) for name, content in contents.items()}


def _encoded(content: Any) -> bytes:
    """The bytes of one file of a run; of one that nobody could read again, what is large is left out."""
    data = to_json(content).encode("utf-8", "backslashreplace")
    if len(data) > _FILE_LIMIT and isinstance(content, dict):
        sizes = {key: len(to_json(value)) for key, value in content.items()}
        kept = {key: value if sizes[key] <= TEXT_LIMIT else "[too large]" for key, value in content.items()}
        data = to_json(kept).encode("utf-8", "backslashreplace")
    return data if len(data) <= _FILE_LIMIT else b"{}"


#: Fields that say what a resource or a file was, and the one form in which they do; elsewhere it might be a token.
_DIGEST_FIELDS: Final = ("checksum", "digest")
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}\Z")


def redacted(value: object, depth: int = 0, *, secret: bool = False) -> Any:
    """A JSON-ready copy with every text masked and bounded; what is no JSON value becomes the name of its type.

    A field whose name says that it holds a secret keeps nothing of its value, of whatever form, which `secret` stands
    for. The checksums and digests of files stay what they are.
    """
    if depth > _DEPTH_LIMIT:
        return "[too deep]"
    if secret and not (value is None or isinstance(value, bool | Mapping | list | tuple)):
        return "[redacted:secret]"
    if isinstance(value, str):
        text = redact_text(value[: 2 * TEXT_LIMIT])
        return text if len(text) <= TEXT_LIMIT else f"{text[:TEXT_LIMIT]} [cut after {TEXT_LIMIT} characters]"
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else str(value)
    if isinstance(value, Mapping):
        return {
            redact_text(str(key)[:200]): (
                item
                if _is_digest(key, item) and not secret
                else redacted(item, depth + 1, secret=secret or is_secret_name(str(key)))
            )
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [redacted(item, depth + 1, secret=secret) for item in value]
    return f"[{type(value).__name__}]"


def _is_digest(key: object, value: object) -> bool:
    name = str(key).rpartition("_")[2]
    return name in _DIGEST_FIELDS and isinstance(value, str) and _DIGEST.match(value) is not None


def run_ids(project: Project) -> list[str]:
    """The ids of all recorded runs, oldest first."""
    numbers = [int(match[1]) for match in map(_RUN_ID.match, list_names(project, RUNS)) if match]
    return [f"run-{number}" for number in sorted(numbers)]


def list_runs(cwd: Folder, *, limit: int = 20, find_project: bool = False) -> tuple[tuple[RunSummary, ...], int]:
    """The newest runs, newest first, and how many there are in all.

    A run that cannot be read has the decision `unreadable`. Raises `StateRefusedError` when the folder of the runs
    leaves the project, `EnvironmentBrokenError` when the system refuses to list it.
    """
    project = open_project(cwd, find_project=find_project)
    found = run_ids(project)
    return tuple(_summary(project, run_id) for run_id in reversed(found[-limit:])), len(found)


def _summary(project: Project, run_id: str) -> RunSummary:
    packet, refinement = (_read(project, run_id, name) for name in ("packet", "refinement"))
    if packet is None or refinement is None:
        return RunSummary(run_id, "", "unreadable", "", 0.0, "")
    texts = [packet.get("time", ""), packet.get("fingerprint", "")]
    texts += [refinement.get("decision"), refinement.get("primary_subject", "")]
    confidence = refinement.get("confidence", 0)
    if not all(type(text) is str for text in texts) or type(confidence) not in (int, float) or not 0 <= confidence <= 1:
        return RunSummary(run_id, "", "unreadable", "", 0.0, "")
    time, fingerprint, decision, subject = map(escaped, texts)
    return RunSummary(run_id, time, decision, subject, float(confidence), fingerprint)


def _read(project: Project, run_id: str, name: str) -> dict[str, Any] | None:
    """One file of a run; None for one that is missing, is no JSON object, or leads out of the project."""
    try:
        data = project.read(f"{RUNS}/{run_id}/{name}.json", _FILE_LIMIT)
        content = parse_json(data) if data is not None and len(data) <= _FILE_LIMIT else None
    except (QiongliError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def read_run(cwd: Folder, run_id: str, *, find_project: bool = False) -> dict[str, Any]:
    """Everything that was kept of a run, as one JSON-ready document. Raises `InputError` for an unknown run."""
    project = open_project(cwd, find_project=find_project)
    found = run_ids(project)
    if run_id not in found:
        raise InputError(
            f"no run {run_id[:40]!r} is recorded",
            code="unknown_run",
            place="run",
            available=tuple(reversed(found[-10:])),
            hint=f"Run: {project.command('trace list')}",
        )
    parts = {name: _read(project, run_id, name) for name in _FILES}
    if parts["refinement"] is None:
        raise StateCorruptError(
            f"the run {run_id} cannot be read",
            code="trace_malformed",
            place=project.shown(f"{RUNS}/{run_id}/refinement.json"),
            expected="a JSON object in a file of this project",
        )
    return {"schema_version": SCHEMA_VERSION, "run_id": run_id, **parts}


def prune_runs(
    cwd: Folder, *, keep: int, dry_run: bool = False, find_project: bool = False, store: Store | None = None
) -> tuple[str, ...]:
    """Remove all but the newest `keep` runs and return their ids; evidence memory and events stay."""
    if keep < 0:
        raise InputError("a number of runs cannot be negative", code="usage", place="keep")
    store = store or Store(open_project(cwd, find_project=find_project))
    if dry_run or len(run_ids(store.project)) <= keep:
        found = run_ids(store.project)
        return tuple(found[: max(0, len(found) - keep)])
    with store.writing():
        return _prune(store, keep)


def _prune(store: Store, keep: int) -> tuple[str, ...]:
    """Move each old run into the staging folder, from where the next writer sweeps it; needs the lock."""
    from qiongli.project._transaction import discard

    found = run_ids(store.project)
    gone = found[: max(0, len(found) - keep)]
    for run_id in gone:
        discard(store.project, store.operations, f"{RUNS}/{run_id}")
    return tuple(gone)
