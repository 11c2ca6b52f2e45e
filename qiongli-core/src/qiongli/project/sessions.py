"""Keeping what a session reinforced: `.qiongli/trace/session.json`, ids and counters only."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

import attrs

from qiongli.errors import QiongliError
from qiongli.project.paths import SESSION, Folder, Project, open_project
from qiongli.project.store import Store
from qiongli.records._units import SCHEMA_VERSION
from qiongli.session import Identifier, SessionContext, SessionEvent, SessionState, apply

#: How many sessions are kept, newest last.
RETAINED_SESSIONS: Final = 8
_LIMIT: Final = 1_048_576


def load_session(project: Project, session: str) -> SessionState | None:
    """The stored state of a session; None when there is none, or when what is there is not one.

    A session only advises, so a malformed file is as good as none.
    """
    data = project.read(SESSION, _LIMIT)
    entry = (_sessions(data) or {}).get(session)
    return None if entry is None else _from_packet(session, entry)


def store_session(
    cwd: Folder, session: str, events: Iterable[SessionEvent], *, turn: int = 0, store: Store | None = None
) -> SessionState:
    """Fold events into the stored state of a session and return it; the oldest of more than eight sessions goes.

    `turn` is the turn that the session has reached, with or without an event in it. Reading, folding and writing
    happen under the project's lock, so that no event of another process is lost. Events of another session change
    nothing. A file that is none of ours, or holds more than we write, is kept under another name, for it may be a link
    to something else. Raises the errors of the project's state when it cannot be written.
    """
    store = store or Store(open_project(cwd))
    with store.writing() as change:
        data = store.project.read(SESSION, _LIMIT)
        found = _sessions(data)
        known = {name: _from_packet(name, entry) for name, entry in (found or {}).items()}
        sessions = {name: _to_packet(state) for name, state in known.items() if state is not None}
        if data is not None and (found is None or len(sessions) < len(known)):
            from qiongli.project._transaction import free_name

            change.transaction.put_aside(SESSION, free_name(store.project, f"{SESSION}.corrupt-{store.stamp()}"))
        state = known.get(session) or SessionState(Identifier(session))
        sessions.pop(session, None)
        for event in events:
            state = apply(state, event)
        state = attrs.evolve(state, turn=max(state.turn, turn))
        sessions[session] = _to_packet(state)
        kept = dict(list(sessions.items())[-RETAINED_SESSIONS:])
        text = json.dumps({"schema_version": SCHEMA_VERSION, "sessions": kept}, indent=1)
        change.transaction.write(SESSION, f"{text}\n".encode())
        change.transaction.commit()
    return state


def _sessions(data: bytes | None) -> dict[str, Any] | None:
    """The entries of a file by the names of their sessions; None for a file that is not ours."""
    if data is None:
        return {}
    try:
        content = json.loads(data) if len(data) <= _LIMIT else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(content, dict) or content.get("schema_version") != SCHEMA_VERSION:
        return None
    sessions = content.get("sessions")
    return sessions if isinstance(sessions, dict) else None


def _to_packet(state: SessionState) -> dict[str, Any]:
    return {
        "turn": state.turn,
        "outcomes": [
            {
                "kind": event.kind,
                "subject": event.subject,
                "signature": event.context.signature,
                "safety_context": event.context.safety_context,
                "turn": event.context.turn,
            }
            for event in state.outcomes
        ],
        "asked": [[fact, rounds] for fact, rounds in state.asked],
    }


def _from_packet(session: str, entry: Any) -> SessionState | None:
    """A state from what was stored; every field goes through the validators of the session's own classes."""
    try:
        name = Identifier(session)
        outcomes = tuple(
            SessionEvent(
                event["kind"],
                event["subject"],
                SessionContext(name, event["signature"], event["safety_context"], event["turn"]),
            )
            for event in entry["outcomes"]
        )
        asked = tuple((_counted(fact, rounds)) for fact, rounds in entry["asked"])
        return SessionState(name, _counted(session, entry["turn"])[1], outcomes, asked)
    except (QiongliError, KeyError, TypeError, ValueError):
        return None


def _counted(name: Any, count: Any) -> tuple[Identifier, int]:
    # A context checks both an identifier and a count.
    checked = SessionContext(name, name, name, count)
    return checked.session, checked.turn
