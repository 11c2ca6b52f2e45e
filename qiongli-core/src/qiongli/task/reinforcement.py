"""What a recorded run teaches its session: which question was put or answered, and how an attempt ended.

Identifiers and counters only. A session advises the score by a little and keeps questions from being repeated; it
confirms nothing, and no verdict on starting an agent or on a project's subject sees it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from qiongli.document import read_document
from qiongli.errors import QiongliError
from qiongli.records.packet import RefinementPacket
from qiongli.records.project import AUTO
from qiongli.refinement._session import task_context
from qiongli.session import EventKind, Identifier, SessionEvent, SessionState

if TYPE_CHECKING:
    from qiongli.session import SessionContext

#: How an attempt to work under the packet's primary subject ended; None when there was no attempt.
Attempt = Literal["success", "failure"]


def session_of(task: Mapping[str, object] | str, session: str = "") -> Identifier | None:
    """The session that a task belongs to: the one that the caller names, else the task's own; None without text.

    Raises `InputError` (`invalid_session_event`) when the named one is no identifier.
    """
    if session:
        return SessionState(Identifier(session)).session
    try:
        document = read_document(task)
    except QiongliError:
        # The router says what is wrong with it.
        return None
    return Identifier(f"task:{document.fingerprint}") if document.has_text else None


def events_of(
    packet: RefinementPacket,
    state: SessionState,
    *,
    answers: Mapping[str, str] | None = None,
    attempt: Attempt | None = None,
) -> tuple[SessionEvent, ...]:
    """The events of one recorded run, all in the turn after the last one that the session saw."""
    if not packet.fingerprint:
        return ()
    seen = task_context(state, packet.fingerprint)
    context: SessionContext = type(seen)(seen.session, seen.signature, seen.safety_context, state.turn + 1)
    happened: list[tuple[EventKind, str]] = [("answered", fact) for fact in sorted(answers or {})]
    if packet.clarification is not None:
        happened.append(("asked", packet.clarification.id))
    if attempt is not None and packet.primary_subject != AUTO:
        happened.append((attempt, packet.primary_subject))
    return tuple(SessionEvent(kind, Identifier(name), context) for kind, name in happened)
