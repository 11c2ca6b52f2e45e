"""The session: a pure fold over an event log, from which a small advisory and the rounds of questions are read.

Nothing here reads a clock or a file: age is counted in turns, and the state is a value that the caller passes in. Its
fields are identifiers and integers; free text does not fit into it. A session advises, it never decides: its advisory
is capped, and repeated failure can only stop a suggestion.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final, Literal, NewType

import attrs

from qiongli._value import Value
from qiongli.errors import InputError
from qiongli.limits import DEFAULT_LIMITS, Limits

#: A name of something known: a subject, a fact, a digest. No spaces, at most 128 characters.
Identifier = NewType("Identifier", str)

_IDENTIFIER: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:+/-]{0,127}", re.ASCII)

EventKind = Literal["success", "failure", "asked", "answered"]
EVENT_KINDS: Final[tuple[EventKind, ...]] = ("success", "failure", "asked", "answered")


def _check_identifier(_instance: object, attribute: attrs.Attribute[Any], value: object) -> None:
    if type(value) is not str or not _IDENTIFIER.fullmatch(value):
        raise InputError(
            "a field of a session event is no identifier",
            code="invalid_session_event",
            place=attribute.name,
            expected="1 to 128 letters, digits and . _ : + / -",
        )


def _check_turn(_instance: object, attribute: attrs.Attribute[Any], value: object) -> None:
    if type(value) is not int or value < 0:
        raise InputError(
            "a turn or round is a count",
            code="invalid_session_event",
            place=attribute.name,
            expected="an integer from 0",
        )


def _check_kind(_instance: object, attribute: attrs.Attribute[Any], value: object) -> None:
    if value not in EVENT_KINDS:
        raise InputError(
            "unknown kind of session event",
            code="invalid_session_event",
            place=attribute.name,
            available=EVENT_KINDS,
        )


@attrs.frozen(repr=False)
class SessionContext(Value):
    """Where and when something happens: which session, on which task, under which safety context, in which turn.

    `signature` is the task's fingerprint; `safety_context` names the policy in force. Raises `InputError`
    (`invalid_session_event`) when a field is no identifier or the turn is no count.
    """

    session: Identifier = attrs.field(validator=_check_identifier)
    signature: Identifier = attrs.field(validator=_check_identifier)
    safety_context: Identifier = attrs.field(validator=_check_identifier)
    turn: int = attrs.field(validator=_check_turn)


@attrs.frozen(repr=False)
class SessionEvent(Value):
    """One thing that happened: an attempt with a route succeeded or failed, or a fact was asked about or answered.

    `subject` is the id of the route or of the fact. Raises `InputError` (`invalid_session_event`) for a wrong kind or
    a subject that is no identifier.
    """

    kind: EventKind = attrs.field(validator=_check_kind)
    subject: Identifier = attrs.field(validator=_check_identifier)
    context: SessionContext = attrs.field(validator=attrs.validators.instance_of(SessionContext))


def _check_outcomes(_instance: object, attribute: attrs.Attribute[Any], value: object) -> None:
    if type(value) is not tuple or not all(isinstance(item, SessionEvent) for item in value):
        raise InputError(
            "what a session retains are its events",
            code="invalid_session_event",
            place=attribute.name,
            expected="a tuple of session events",
        )


def _check_asked(instance: object, attribute: attrs.Attribute[Any], value: object) -> None:
    if type(value) is not tuple or not all(type(pair) is tuple and len(pair) == 2 for pair in value):
        raise InputError(
            "what a session asked are facts with their rounds",
            code="invalid_session_event",
            place=attribute.name,
            expected="a tuple of pairs of an identifier and a count",
        )
    for fact, rounds in value:
        _check_identifier(instance, attribute, fact)
        _check_turn(instance, attribute, rounds)


@attrs.frozen(repr=False)
class SessionState(Value):
    """What a session remembers; its size does not depend on its length.

    Raises `InputError` (`invalid_session_event`) for anything but identifiers, counts and events.
    """

    session: Identifier = attrs.field(validator=_check_identifier)
    #: The last turn that was seen.
    turn: int = attrs.field(default=0, validator=_check_turn)
    #: The retained successes and failures, oldest first.
    outcomes: tuple[SessionEvent, ...] = attrs.field(default=(), validator=_check_outcomes)
    #: Rounds by fact id, in order of first asking; an answered fact has used up its rounds.
    asked: tuple[tuple[Identifier, int], ...] = attrs.field(default=(), validator=_check_asked)

    def rounds(self) -> dict[str, int]:
        """In how many rounds each fact was asked about, as `clarification.ask` wants it."""
        return dict(self.asked)


def apply(state: SessionState, event: SessionEvent, limits: Limits = DEFAULT_LIMITS) -> SessionState:
    """The state after one more event; an event of another session changes nothing.

    Turns never go back: an event with an earlier turn counts as of the last turn seen.
    """
    if event.context.session != state.session:
        return state
    turn = max(state.turn, event.context.turn)
    state = attrs.evolve(state, turn=turn)
    if event.kind in ("success", "failure"):
        event = attrs.evolve(event, context=attrs.evolve(event.context, turn=turn))
        limit = limits.retained_successes if event.kind == "success" else limits.retained_failures
        outcomes = [*state.outcomes, event]
        alike = [index for index, outcome in enumerate(outcomes) if outcome.kind == event.kind]
        if len(alike) > limit:
            del outcomes[alike[0]]
        return attrs.evolve(state, outcomes=tuple(outcomes))
    rounds = dict(state.asked)
    # Forgetting a fact would ask again: a full list takes no more, and `clarification.ask` stops asking new ones.
    if event.subject in rounds or len(rounds) < limits.clarification_facts:
        more = 1 if event.kind == "asked" else limits.clarification_rounds
        rounds[event.subject] = min(limits.clarification_rounds, rounds.get(event.subject, 0) + more)
    return attrs.evolve(state, asked=tuple(rounds.items()))


def fold(events: Iterable[SessionEvent], session: str, limits: Limits = DEFAULT_LIMITS) -> SessionState:
    """The state of a session from its whole log: replaying gives what was there live."""
    state = SessionState(Identifier(session))
    for event in events:
        state = apply(state, event, limits)
    return state


def _same_task(event: SessionEvent, route: str, context: SessionContext) -> bool:
    return (
        event.subject == route
        and event.context.signature == context.signature
        and event.context.safety_context == context.safety_context
    )


def _fade(balance: int, turns: int, limits: Limits) -> int:
    """Move the balance towards zero by a fixed amount a turn; whatever it was, it is zero after the expiry.

    Fading is additive in turns and keeps order, so that a failure never raises the advisory, now or later.
    """
    # Rounded up: nothing survives the expiry.
    loss = turns * -(-limits.session_cap // limits.session_expiry)
    return max(0, balance - loss) if balance > 0 else min(0, balance + loss)


def advisory(state: SessionState, route: str, context: SessionContext, limits: Limits = DEFAULT_LIMITS) -> int:
    """What the session adds to the route's score, in millionths, within the session cap of each sign.

    Successes and failures of the same route on the same task under the same safety context count, in the order in
    which they happened, each one step; the balance fades by turns. Another session, task or safety context gives 0.
    """
    if state.session != context.session:
        return 0
    balance = 0
    last = 0
    for event in state.outcomes:
        if not _same_task(event, route, context):
            continue
        balance = _fade(balance, event.context.turn - last, limits)
        last = event.context.turn
        balance += limits.session_step if event.kind == "success" else -limits.session_step
        balance = max(-limits.session_cap, min(limits.session_cap, balance))
    return _fade(balance, max(0, context.turn - last), limits)


def repeated_failure(state: SessionState, route: str, context: SessionContext, limits: Limits = DEFAULT_LIMITS) -> bool:
    """Whether the route failed so often on this task, within the expiry, that it must not simply be retried."""
    if state.session != context.session:
        return False
    failures = [
        event
        for event in state.outcomes
        if event.kind == "failure"
        and _same_task(event, route, context)
        and context.turn - event.context.turn < limits.session_expiry
    ]
    return len(failures) >= limits.forced_core_failures
