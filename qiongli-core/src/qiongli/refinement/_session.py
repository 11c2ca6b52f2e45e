"""What a session advises on this task: small amounts, failures that stop a retry, and questions already asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import attrs

from qiongli._value import Value
from qiongli.document import Document
from qiongli.errors import InputError
from qiongli.limits import Limits
from qiongli.session import Identifier, SessionContext, SessionState, advisory, repeated_failure

#: The policy under which routes are tried today; outcomes under another one advise nothing.
SAFETY_CONTEXT: Final = Identifier("policy:1")


@attrs.frozen(repr=False)
class Advice(Value):
    """The session's advisories in millionths by subject, subjects that failed repeatedly, rounds by fact."""

    advisories: Mapping[str, int] = attrs.field(factory=dict)
    failures: frozenset[str] = frozenset()
    asked: Mapping[str, int] = attrs.field(factory=dict)


def advice(session: SessionState | None, document: Document, limits: Limits) -> Advice:
    """Read the advice of a session; none without a session, or for a document without text.

    Raises `InputError` (`invalid_session_event`) for what is no session.
    """
    if session is None:
        return Advice()
    if not isinstance(session, SessionState):
        raise InputError(
            "the session is no state of a session",
            code="invalid_session_event",
            place="session",
            expected="what qiongli.session.fold returns",
        )
    if not document.fingerprint:
        return Advice()
    context = task_context(session, document.fingerprint)
    subjects = sorted({outcome.subject for outcome in session.outcomes})
    return Advice(
        advisories={
            subject: amount for subject in subjects if (amount := advisory(session, subject, context, limits)) != 0
        },
        failures=frozenset(subject for subject in subjects if repeated_failure(session, subject, context, limits)),
        asked=session.rounds(),
    )


def task_context(session: SessionState, fingerprint: str) -> SessionContext:
    """The context of a task in its session's present turn."""
    return SessionContext(session.session, Identifier(fingerprint), SAFETY_CONTEXT, session.turn)
