"""Consent: whom we ask before anything changes, and plans that wait for the user's word where nobody can be asked.

The verdict rests on what the person answered, or on a plan that was handed out and comes back in time; nothing that
the router thinks, no score, packet or session, takes part in it. When in doubt, nothing is done.
"""

from __future__ import annotations

import os
import secrets
import threading
import time
from collections.abc import Callable
from typing import Any, Final, Literal

import attrs
from mcp.server.mcpserver import AcceptedElicitation, Context, ElicitationResult
from mcp_types import ClientCapabilities
from pydantic import BaseModel, ConfigDict

from qiongli.errors import StateRefusedError

READ_ONLY_VARIABLE: Final = "QIONGLI_MCP_READ_ONLY"
#: Seconds that a plan waits for the user's word.
PLAN_SECONDS: Final = 600
#: Most plans that wait at once; the oldest gives way.
_MAXIMUM_PLANS: Final = 100


def _bare(schema: dict[str, Any]) -> None:
    # Codex refuses a form with a title, and then asks nobody; what it makes of other words is not worth finding out.
    schema.pop("title", None)
    schema.pop("description", None)


class Ask(BaseModel):
    """An empty form: accepting it is the consent."""

    model_config = ConfigDict(json_schema_extra=_bare)


class NotAsked(Ask):
    """Nobody could be asked; never counts as consent."""


def read_only() -> bool:
    """Whether this server may write; any value of the variable but an empty one and 0 forbids it."""
    return os.environ.get(READ_ONLY_VARIABLE, "") not in ("", "0")


def can_ask(ctx: Context) -> bool:
    """Whether the client can show a form to a person; one that can only open addresses cannot."""
    capabilities: ClientCapabilities | None = ctx.client_capabilities
    elicitation = None if capabilities is None else capabilities.elicitation
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)


def consent(answer: ElicitationResult[Ask]) -> Literal["given", "refused", "not_asked"]:
    """What the person said: only an accepted form that a person could see is consent."""
    if not isinstance(answer, AcceptedElicitation):
        return "refused"
    return "given" if type(answer.data) is Ask else "not_asked"


@attrs.frozen
class PendingPlan:
    """One wish that waits for the user's word; `choice` is the digest of the state that it was made on."""

    #: What would be done, in full: a plan holds for exactly this.
    wish: tuple[str, ...]
    choice: str
    expires: float


class PlanBook:
    """The plans that this process handed out; nothing of them is written anywhere.

    An id is random, holds once, for one wish and for `seconds`. Another process, another wish, a second use and a
    restart all find no plan.
    """

    def __init__(self, seconds: float = PLAN_SECONDS, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds: Final = seconds
        self._clock = clock
        self._plans: dict[str, PendingPlan] = {}
        self._lock = threading.Lock()

    def keep(self, wish: tuple[str, ...], choice: str) -> str:
        """Keep a wish, and return the id under which it can be had once."""
        identifier = f"plan-{secrets.token_hex(16)}"
        with self._lock:
            now = self._clock()
            self._plans = {name: plan for name, plan in self._plans.items() if plan.expires > now}
            while len(self._plans) >= _MAXIMUM_PLANS:
                del self._plans[next(iter(self._plans))]
            self._plans[identifier] = PendingPlan(wish, choice, now + self.seconds)
        return identifier

    def take(self, identifier: str, wish: tuple[str, ...]) -> PendingPlan:
        """The plan of that id, which is void from now on.

        Raises `StateRefusedError`: `unknown_plan` for an id that was never handed out here, was used or has expired;
        `plan_of_another_action` when it was made for another wish or project, and then it stays.
        """
        with self._lock:
            plan = self._plans.get(identifier)
            if plan is not None and plan.expires > self._clock():
                if plan.wish != wish:
                    raise StateRefusedError(
                        "the plan was made for another action, subject or project",
                        code="plan_of_another_action",
                        hint="Give the action, subject and cwd that the plan was made for",
                    )
                return self._plans.pop(identifier)
            self._plans.pop(identifier, None)
        raise StateRefusedError(
            "there is no such plan here; a plan is used once and expires after a few minutes",
            code="unknown_plan",
            hint="Call again without plan_id, and ask the user again",
        )


class Agreements:
    """How often a user agreed to a wish through a form of this server.

    A client could send an old answer again after the user took the action back. The count is part of the question, so
    that an answer to the earlier one is none to this one, and the user is asked anew.
    """

    def __init__(self) -> None:
        self._counts: dict[tuple[str, ...], int] = {}
        self._lock = threading.Lock()

    def count(self, wish: tuple[str, ...]) -> int:
        """How often the user agreed to the wish."""
        return self._counts.get(wish, 0)

    def add(self, wish: tuple[str, ...], asked: int) -> None:
        """Use up the answer to the question that was asked after `asked` agreements.

        Raises `StateRefusedError` (`answer_used`) when another call has used it meanwhile.
        """
        with self._lock:
            if self._counts.get(wish, 0) != asked:
                raise StateRefusedError(
                    "this answer of the user was acted upon already",
                    code="answer_used",
                    hint="Call again without it, and ask the user again",
                )
            self._counts[wish] = asked + 1


#: The plans of this server.
PLANS: Final = PlanBook()
#: What users agreed to in forms of this server.
AGREEMENTS: Final = Agreements()
