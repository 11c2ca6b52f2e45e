"""Safety: the precheck, eligibility and the final gate. Its word outranks every score, and no score reaches it.

Gates are conjunctive. Whatever is not an explicit pass is a fail: False, None, a text, an exception, a time-out, or a
required gate that nobody ran. Refusals come from one closed list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from typing import Final

import attrs

from qiongli._value import Value
from qiongli.records.evidence import DIMENSIONS
from qiongli.records.packet import REFUSAL_CODES, Refusal, RefusalCode
from qiongli.records.subjects import Reason


class Outcome(Enum):
    """What a gate said. Only `Outcome.PASS` itself is a pass."""

    PASS = "pass"  # noqa: S105  # not a password
    FAIL = "fail"


@attrs.frozen(repr=False)
class Gate(Value):
    """One gate that was run for a candidate: its name, its outcome, and reasons when it did not pass."""

    name: str
    outcome: object
    reasons: tuple[Reason, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the outcome is an explicit pass."""
        return self.outcome is Outcome.PASS


@attrs.frozen(repr=False)
class Eligibility(Value):
    """Whether a candidate may be scored at all, and why not."""

    eligible: bool
    reasons: tuple[Reason, ...] = ()


_ELIGIBLE: Final = Eligibility(True)


@attrs.frozen(repr=False)
class RequestFacts(Value):
    """What the precheck may know of a request: sizes in characters and plain facts, never its text.

    Every fact is hostile until stated otherwise: a caller that does not know says so with the default.
    """

    size: int
    limit: int
    decodable: bool = False
    inside_project: bool = False
    authorised: bool = False


#: A subject acts only when its effective state is active and the user did not exclude it for this task.
SUBJECT_GATES: Final = ("state", "exclusion")

#: A lens is lent only when its subject's state allows lending and its method pack resolves inside the package.
LENS_GATES: Final = ("state", "pack")

_REFUSAL_MESSAGES: Final[Mapping[str, tuple[str, str]]] = {
    "input_too_large": ("The task is larger than the limit for one packet", "Split the task, or raise the limit"),
    "undecodable": ("The task cannot be read as text", "Give the task as UTF-8 text or as one of the listed formats"),
    "path_outside_project": ("A path leaves the project", "Name a path inside the project"),
    "unauthorised_action": ("The action is not authorised here", "Ask for an action that the user has allowed"),
    "policy_forbids": ("A policy of this installation forbids the request", "See `qiongli plugins list`"),
}


def refuse(code: object, message: str = "", hint: str = "") -> Refusal:
    """A refusal from the closed list; a code that is not on it is refused as `policy_forbids`."""
    known: RefusalCode = next((item for item in REFUSAL_CODES if item == code), "policy_forbids")
    usual_message, usual_hint = _REFUSAL_MESSAGES[known]
    return Refusal(known, message or usual_message, hint or usual_hint)


def precheck(facts: object, vetoes: object = ()) -> Refusal | None:
    """Refuse a request before anything reads it, or answer None.

    The conditions are looked at in the order of the closed list. A fact that is missing or of a wrong type counts
    against the request. Every element of `vetoes` is a veto, whatever it says; only None is no say.
    """
    if not isinstance(facts, RequestFacts) or type(facts.size) is not int or facts.size < 0:
        return refuse("undecodable")
    if type(facts.limit) is not int or facts.size > facts.limit:
        return refuse("input_too_large")
    if facts.decodable is not True:
        return refuse("undecodable")
    if facts.inside_project is not True:
        return refuse("path_outside_project")
    if facts.authorised is not True:
        return refuse("unauthorised_action")
    if not isinstance(vetoes, tuple | list):
        return refuse("policy_forbids")
    for veto in vetoes:
        if veto is not None:
            message = getattr(veto, "message", "")
            return refuse("policy_forbids", message if isinstance(message, str) else "")
    return None


def run_gate(name: str, check: Callable[[], object], reasons: tuple[Reason, ...] = ()) -> Gate:
    """Run a check as a gate; what it raises, a time-out included, is a fail. `reasons` are those of a fail."""
    try:
        outcome = check()
    except Exception as error:  # a gate that cannot answer has not passed
        reason = Reason("gate_raised", f"The gate {name!r} could not be run ({type(error).__name__})")
        return Gate(name, Outcome.FAIL, (reason,))
    # Whatever it answered: only the pass itself is one.
    return Gate(name, outcome, () if outcome is Outcome.PASS else reasons)


#: Gates that were passed, by name: the reasons of one that was not are nobody's business.
_PASSED: Final = {name: Gate(name, Outcome.PASS) for name in (*SUBJECT_GATES, *LENS_GATES, "two_dimensions")}


def _gate(name: str, passed: object, reasons: tuple[Reason, ...]) -> Gate:
    return _PASSED[name] if passed is True else Gate(name, Outcome.FAIL, reasons)


_NOT_ACTIVE: Final = (Reason("not_active", "The subject is not active here", "See `qiongli subject list`"),)
_EXCLUDED: Final = (Reason("excluded", "The task excludes this subject"),)
_NOT_LENDABLE: Final = (Reason("not_lendable", "The subject may not lend lenses"),)
_PACK_MISSING: Final = (Reason("method_pack_missing", "The lens's method pack is missing"),)


def subject_gates(
    *, state: object, excluded: object, state_reasons: tuple[Reason, ...] = (), exclusion_reason: str = ""
) -> tuple[Gate, ...]:
    """The required gates of a subject: its effective state, and the user's own words about it."""
    why_excluded = (Reason("excluded", exclusion_reason),) if exclusion_reason else _EXCLUDED
    return (
        _gate("state", state == "active", state_reasons or _NOT_ACTIVE),
        _gate("exclusion", excluded is False, why_excluded),
    )


def lens_gates(*, state: object, pack_resolves: object) -> tuple[Gate, ...]:
    """The required gates of a lens: its subject may lend, and its pack resolves. Exclusion concerns subjects only."""
    return (
        _gate("state", state in ("active", "lens_only"), _NOT_LENDABLE),
        _gate("pack", pack_resolves is True, _PACK_MISSING),
    )


def eligibility(gates: object, required: Sequence[str] = SUBJECT_GATES) -> Eligibility:
    """Whether all gates passed; a required gate that is not among them has not.

    Only eligible candidates are scored, ranked, or offered in a question.
    """
    if not isinstance(gates, tuple | list):
        return Eligibility(False, (Reason("gate_malformed", "The candidate's gates cannot be read"),))
    reasons: list[Reason] = []
    eligible = True
    seen = set()
    for gate in gates:
        if not isinstance(gate, Gate):
            eligible = False
            reasons.append(Reason("gate_malformed", "A gate of the candidate cannot be read"))
            continue
        seen.add(gate.name)
        if not gate.passed:
            eligible = False
            reasons.extend(gate.reasons or (Reason(f"gate_{gate.name}", f"The gate {gate.name!r} did not pass"),))
    for name in required:
        if name not in seen:
            eligible = False
            reasons.append(Reason(f"gate_{name}", f"The gate {name!r} was not run"))
    return Eligibility(eligible, tuple(reasons)) if reasons or not eligible else _ELIGIBLE


_TWO_DIMENSIONS: Final = "A suggestion needs subject-level evidence of two independent dimensions"
_ONE_DIMENSION: Final = (Reason("one_dimension", _TWO_DIMENSIONS),)
_NO_DIMENSION: Final = (Reason("no_dimension", _TWO_DIMENSIONS),)


def two_dimension_gate(dimensions: Iterable[str], single_dimension_proved: object = False) -> Gate:
    """At least two independent dimensions hold subject-level evidence, or the proved exemption and one of them."""
    held = {name for name in dimensions if name in DIMENSIONS}
    needed = 1 if single_dimension_proved is True else 2
    return _gate("two_dimensions", len(held) >= needed, _ONE_DIMENSION if held else _NO_DIMENSION)


def final_gate(candidates: Sequence[str], gates: Mapping[str, Sequence[Gate]]) -> tuple[str, ...]:
    """The candidates that may act, in their given order; it can only remove.

    A candidate whose last gates are missing from `gates`, or any of which did not pass, is removed.
    """
    return tuple(name for name in candidates if name in gates and eligibility(gates[name], ()).eligible)
