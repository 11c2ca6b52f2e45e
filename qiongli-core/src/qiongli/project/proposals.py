"""Proposals: actions that were asked for but not carried out, for the user to apply or to let expire.

A proposal is structured from the start: it is never read out of a text. Its id is a digest of its content, and it
holds the digest of the choice that it was made on, so neither can change without the proposal becoming void.
"""

from __future__ import annotations

import json
import os
import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import attrs

from qiongli.errors import EnvironmentBrokenError, InputError, StateCorruptError, StateRefusedError
from qiongli.project.lifecycle import Plan, Request, plan
from qiongli.project.manifest import Value, is_slug
from qiongli.project.paths import PROPOSALS, Folder, Project, list_names, open_project
from qiongli.project.store import Change, Clock, Snapshot, Store, digest, system_clock
from qiongli.records._units import SCHEMA_VERSION, to_packet
from qiongli.records.lifecycle import ActionPacket
from qiongli.records.project import ACTIONS

if TYPE_CHECKING:
    from qiongli.project.status import Subjects

#: How long a proposal can be applied.
LIFETIME: Final = timedelta(hours=24)
#: A proposal that was made later than that ahead of now was made by a clock that has since gone backwards.
_CLOCK_TOLERANCE: Final = timedelta(minutes=5)
RETAINED_PROPOSALS: Final = 100
_LIMIT: Final = 65_536
#: Longest id, fingerprint or source of a proposal, in characters.
_TEXT_LIMIT: Final = 1_000
_ID: Final = re.compile(r"p-[0-9a-f]{24}\Z")
_TIME: Final = "%Y-%m-%dT%H:%M:%SZ"


@attrs.frozen
class Proposal:
    """One proposed action."""

    action: str
    subject: str | None
    settings: tuple[tuple[str, Value], ...]
    run_id: str
    fingerprint: str
    source: str
    #: Digest of the project's path: a proposal holds in the project that it was made in.
    project: str
    #: Digest of the user's choice that the proposal was made on.
    choice: str
    #: UTC, ISO 8601.
    created: str
    expires: str

    @property
    def id(self) -> str:
        """`p-` and 24 hexadecimal digits, a digest of everything else."""
        return "p-" + digest(json.dumps(to_packet(self), sort_keys=True).encode())[:24]

    def request(self) -> Request:
        """The action, as somebody who applies the proposal asks for it."""
        return Request(
            self.action, self.subject, self.source, self.run_id, self.fingerprint, self.id, settings=self.settings
        )


def choice_digest(snapshot: Snapshot) -> str:
    """Digest of what the user has chosen: the manifest and the dismissals. Recorded runs do not change it."""
    dismissed = {name: to_packet(entry) for name, entry in sorted(snapshot.memory.dismissed.items())}
    return digest(f"{digest(snapshot.manifest.data)} {json.dumps(dismissed, sort_keys=True)}".encode())


def _project_digest(project: Project) -> str:
    return digest(os.fsencode(project.root))


def propose_action(store: Store, before: Snapshot, request: Request) -> tuple[str | None, tuple[str, ...]]:
    """Keep an action as a proposal, and return its id; None, with a warning, where nothing can be written."""
    created = store.clock().astimezone(UTC).replace(microsecond=0)
    proposal = Proposal(
        action=request.action,
        subject=request.subject,
        settings=request.settings,
        run_id=request.run_id,
        fingerprint=request.fingerprint,
        source=request.source,
        project=_project_digest(store.project),
        choice=choice_digest(before),
        created=created.strftime(_TIME),
        expires=(created + LIFETIME).strftime(_TIME),
    )
    content = {"schema_version": SCHEMA_VERSION, "id": proposal.id, **to_packet(proposal)}
    try:
        with store.writing() as change:
            for name in _expired(store, created):
                change.transaction.remove(name)
            data = json.dumps(content, indent=1, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"
            change.transaction.write(f"{PROPOSALS}/{proposal.id}.json", data)
            change.transaction.commit()
            recovered = change.recovered
    except EnvironmentBrokenError as error:
        return None, (f"the proposal could not be kept ({error.message}); run the command where you can write",)
    return proposal.id, recovered


def _expired(store: Store, now: datetime) -> list[str]:
    """Names of the proposals to remove: those past their time, and the oldest beyond the limit."""
    found = _kept(store.project)
    expired = [proposal for proposal in found if _parse_time(proposal.expires) <= now]
    # Oldest first, as they are listed.
    alive = [proposal for proposal in found if proposal not in expired]
    surplus = alive[: max(0, len(alive) - RETAINED_PROPOSALS + 1)]
    return [f"{PROPOSALS}/{proposal.id}.json" for proposal in (*expired, *surplus)]


def list_proposals(project: Project, *, clock: Clock = system_clock) -> tuple[Proposal, ...]:
    """The proposals of a project that can be applied by now, oldest first.

    One that has expired, or that cannot be read, is passed over. Raises `StateRefusedError` when their folder leaves
    the project, `EnvironmentBrokenError` when the system refuses to list it.
    """
    now = clock().astimezone(UTC)
    return tuple(proposal for proposal in _kept(project) if _is_good(proposal, now))


def _kept(project: Project) -> tuple[Proposal, ...]:
    """All readable proposals, oldest first."""
    found = []
    for name in sorted(list_names(project, PROPOSALS)):
        identifier = name.removesuffix(".json")
        if _ID.match(identifier):
            try:
                found.append(read_proposal(project, identifier))
            except (InputError, StateCorruptError, StateRefusedError, EnvironmentBrokenError):
                # One that is a link or is gone by now is no reason not to show the others.
                continue
    return tuple(sorted(found, key=lambda proposal: (proposal.created, proposal.id)))


def read_proposal(project: Project, identifier: str, *, clock: Clock = system_clock) -> Proposal:
    """A proposal of this project by its id, expired or not.

    Raises `InputError` (`unknown_proposal`), or `StateCorruptError` (`proposal_malformed`) when its content is not
    what its id says.
    """
    data = project.read(f"{PROPOSALS}/{identifier}.json", _LIMIT) if _ID.match(identifier) else None
    if data is None:
        raise InputError(
            f"this project has no proposal {identifier[:40]!r}",
            code="unknown_proposal",
            place="proposal",
            available=tuple(proposal.id for proposal in list_proposals(project, clock=clock)),
            hint="A proposal is applied once, and expires after 24 hours",
        )
    try:
        proposal = _from_packet(json.loads(data))
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        proposal = None
    if proposal is None or proposal.id != identifier:
        raise StateCorruptError(
            f"the proposal {identifier} was changed after it was made, so it is void",
            code="proposal_malformed",
            place=project.shown(f"{PROPOSALS}/{identifier}.json"),
            hint="Ask for the action anew",
        )
    return proposal


def _from_packet(content: dict[str, Any]) -> Proposal:
    settings = tuple((key, value if isinstance(value, str) else tuple(value)) for key, value in content["settings"])
    texts = {name: content[name] for name in ("action", "run_id", "fingerprint", "source", "project", "choice")}
    texts |= {name: content[name] for name in ("created", "expires")}
    subject = content["subject"]
    named = [name for key, value in settings for name in (key, *((value,) if isinstance(value, str) else value))]
    if not all(isinstance(text, str) for text in (*texts.values(), *named, "" if subject is None else subject)):
        raise TypeError
    if not (subject is None or is_slug(subject)) or any(len(text) > _TEXT_LIMIT for text in texts.values()):
        raise ValueError("no proposal of ours")
    if _parse_time(texts["expires"]) - _parse_time(texts["created"]) != LIFETIME:
        raise ValueError("a proposal lives for a fixed time")
    return Proposal(subject=subject, settings=settings, **texts)


def _parse_time(text: str) -> datetime:
    """A time as we write it; raises `ValueError` for anything else."""
    time = datetime.strptime(text, _TIME).replace(tzinfo=UTC)
    if time.strftime(_TIME) != text:
        raise ValueError("not written as we do")
    return time


def _is_good(proposal: Proposal, now: datetime) -> bool:
    return _parse_time(proposal.created) <= now + _CLOCK_TOLERANCE and now < _parse_time(proposal.expires)


def apply_proposal(
    identifier: str,
    cwd: Folder,
    *,
    catalogue: Subjects | None = None,
    dry_run: bool = False,
    find_project: bool = False,
    store: Store | None = None,
) -> ActionPacket:
    """Carry out a proposal of this project, once.

    Raises `InputError` (`unknown_proposal`), `StateCorruptError` (`proposal_malformed`), `StateRefusedError`
    (`proposal_of_another_project`, `proposal_expired`, `changed_since`), and whatever the action itself raises.
    """
    from qiongli.project.actions import carry_out
    from qiongli.project.settings import plan_settings
    from qiongli.project.status import resolve_catalogue

    store = store or Store(open_project(cwd, find_project=find_project))
    subjects = resolve_catalogue(catalogue)
    proposal = read_proposal(store.project, identifier, clock=store.clock)
    request = proposal.request()

    def planner(snapshot: Snapshot) -> Plan:
        _require_valid(store, snapshot, proposal)
        if request.action == "set":
            return plan_settings(snapshot, request, subjects)
        return plan(snapshot, request, subjects)

    def used(change: Change) -> None:
        # Another process may have applied it while this one waited for the lock.
        read_proposal(store.project, identifier)
        change.transaction.remove(f"{PROPOSALS}/{identifier}.json")

    return carry_out(store, planner, subjects, dry_run=dry_run, extra=used)


def _require_valid(store: Store, snapshot: Snapshot, proposal: Proposal) -> None:
    now = store.clock().astimezone(UTC)
    from qiongli.project.actions import command_line

    if proposal.action not in (*ACTIONS, "set"):
        message = f"no such action: {proposal.action[:40]!r}"
        raise StateCorruptError(message, code="proposal_malformed", hint="Ask for the action anew")
    again = f"Ask anew: {command_line(proposal.request(), store.project)}"
    if proposal.project != _project_digest(store.project):
        raise StateRefusedError(
            "the proposal was made in another project, or in this one before it moved",
            code="proposal_of_another_project",
            place="proposal",
            hint=again,
        )
    if not _is_good(proposal, now):
        raise StateRefusedError(
            f"the proposal was good from {proposal.created} to {proposal.expires}",
            code="proposal_expired",
            place="proposal",
            hint=again,
        )
    if proposal.choice != choice_digest(snapshot):
        raise StateRefusedError(
            "the project's subject was changed after the proposal was made",
            code="changed_since",
            place="proposal",
            hint=again,
        )
