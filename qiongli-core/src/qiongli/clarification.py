"""Clarification: when a question would settle the decision, which one is asked, how often, and what an answer means.

A question never refuses anything, and nothing happens because its rounds ran out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from qiongli.errors import InputError
from qiongli.limits import DEFAULT_LIMITS, Limits
from qiongli.records._units import Ppm
from qiongli.records.evidence import Evidence
from qiongli.records.packet import Clarification, ClarificationOption
from qiongli.routing import FactKind, Routing, UnresolvedFact

#: The fixed table: of several open facts the first kind is asked about; its question; what an option stands for.
QUESTIONS: Final[tuple[tuple[FactKind, str, str], ...]] = (
    ("missing_text", "What is the research task about? Give a topic, a title or an abstract.", ""),
    (
        "repeated_failure",
        "Earlier attempts with this subject failed repeatedly on this task. Should it be tried again?",
        "Try it once more",
    ),
    (
        "ambiguous",
        "Which subject's standards should this task follow?",
        "Its evidence reaches the suggest threshold, within the margin of the best",
    ),
)

_KINDS: Final = tuple(kind for kind, _, _ in QUESTIONS)


def ask(
    routing: Routing,
    *,
    asked: Mapping[str, int] | None = None,
    answered: Collection[str] = (),
    limits: Limits = DEFAULT_LIMITS,
) -> Clarification | None:
    """The one question of this round, or None.

    `asked` says in how many rounds each fact's question was put before, `answered` which facts are settled. A fact
    whose rounds are used up is dropped, and the decision stands as it is. Options are eligible subjects in rank
    order. Nothing is asked beside a refusal.
    """
    if routing.refusal is not None:
        return None
    asked = asked or {}
    for kind, question, meaning in QUESTIONS:
        for fact in routing.facts:
            if fact.kind != kind or fact.id in answered:
                continue
            before = asked.get(fact.id, 0)
            # An unreadable count is no permission to ask for ever.
            if type(before) is not int or before >= limits.clarification_rounds:
                continue
            if fact.id not in asked and len(asked) >= limits.clarification_facts:
                continue
            eligible = [standing.subject for standing in routing.ranked if standing.subject in fact.subjects]
            options = tuple(
                ClarificationOption(subject, meaning) for subject in eligible[: limits.clarification_options]
            )
            return Clarification(fact.id, question, options, max(0, before) + 1, limits.clarification_rounds)
    return None


def parse_answer(text: str) -> tuple[str, str]:
    """Split an answer `ID=SUBJECT` and check it; raises `InputError` (`invalid_answer`)."""
    fact_id, separator, subject = text.partition("=")
    if not separator:
        raise InputError("an answer needs an id and a subject", code="invalid_answer", expected="ID=SUBJECT")
    check_answer(fact_id, subject)
    return fact_id, subject


def check_answer(fact_id: str, subject: str) -> None:
    """Raise `InputError` (`invalid_answer`) unless the id names a fact and the subject is one of its options."""
    if not isinstance(fact_id, str) or not isinstance(subject, str):
        raise InputError("an answer is no text", code="invalid_answer", expected="texts: the question's id, a subject")
    kind, _, subjects = fact_id.partition(":")
    if kind not in _KINDS or (kind == "missing_text") != (not subjects) or not subject:
        raise InputError(
            "the answer names no question",
            code="invalid_answer",
            expected="the id of a packet's clarification, for instance ambiguous:economics+finance",
        )
    options = tuple(subjects.split("+")) if subjects else ()
    if options and subject not in options:
        raise InputError("the answer is none of the options", code="invalid_answer", available=options)


def intent_evidence(fact_id: str, subject: str) -> Evidence:
    """An answer as evidence of the user's intent: it keeps the task in the subject, weighs nothing and lifts no gate.

    Raises `InputError` (`invalid_answer`) as `check_answer` does.
    """
    check_answer(fact_id, subject)
    return Evidence(
        signal_id=f"intent:{fact_id}",
        subject=subject,
        dimension="method",
        value=subject,
        activation="context_only",
        weight=Ppm(0),
        field="answer",
        source="user",
        role="keep",
    )


__all__ = ["QUESTIONS", "UnresolvedFact", "ask", "check_answer", "intent_evidence", "parse_answer"]
