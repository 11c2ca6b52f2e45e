"""Clarification: one question by a fixed table, bounded options and rounds, and answers that are checked."""

from __future__ import annotations

from typing import Any

import pytest
from engine_cases import candidate, shaped

from qiongli.clarification import QUESTIONS, ask, check_answer, intent_evidence, parse_answer
from qiongli.errors import InputError
from qiongli.limits import DEFAULT_LIMITS
from qiongli.records.packet import Refusal
from qiongli.routing import FactKind, Routing, UnresolvedFact, decide

ENOUGH = ([200_000], [200_000])


def routing(*facts: UnresolvedFact, refusal: Refusal | None = None) -> Routing:
    """A routing with these open facts; economics and finance are ranked, in this order."""
    ranked = decide([candidate(name, shaped(name, *ENOUGH)) for name in ("finance", "economics")]).ranked
    return Routing("no_subject", ranked=ranked, facts=facts, refusal=refusal)


MISSING = UnresolvedFact("missing_text", "missing_text")
FAILED = UnresolvedFact("repeated_failure", "repeated_failure:finance", ("finance",))
AMBIGUOUS = UnresolvedFact("ambiguous", "ambiguous:economics+finance", ("finance", "economics"))


class TestTable:
    """F8: one question a round, chosen by a fixed table."""

    @pytest.mark.parametrize(
        ("facts", "asked"),
        [
            ((), None),
            ((MISSING,), "missing_text"),
            ((FAILED,), "repeated_failure:finance"),
            ((AMBIGUOUS,), "ambiguous:economics+finance"),
            ((AMBIGUOUS, FAILED), "repeated_failure:finance"),
            ((AMBIGUOUS, MISSING), "missing_text"),
            ((FAILED, MISSING), "missing_text"),
            ((AMBIGUOUS, FAILED, MISSING), "missing_text"),
        ],
    )
    def test_f8_missing_before_failed_before_ambiguous(
        self, facts: tuple[UnresolvedFact, ...], asked: str | None
    ) -> None:
        for order in (facts, facts[::-1]):
            question = ask(routing(*order))
            assert (question.id if question else None) == asked

    def test_the_table_has_one_row_for_each_kind_of_fact(self) -> None:
        assert [kind for kind, _, _ in QUESTIONS] == ["missing_text", "repeated_failure", "ambiguous"]
        assert set(FactKind.__args__) == {kind for kind, _, _ in QUESTIONS}  # type: ignore[attr-defined]
        assert all(question.endswith(("?", ".")) for _, question, _ in QUESTIONS)

    def test_f3_nothing_is_asked_beside_a_refusal(self) -> None:
        assert ask(routing(AMBIGUOUS, refusal=Refusal("policy_forbids", "No."))) is None

    def test_f7_an_answered_question_is_not_put_again(self) -> None:
        assert ask(routing(AMBIGUOUS), answered=[AMBIGUOUS.id]) is None
        assert ask(routing(AMBIGUOUS), answered=["ambiguous:economics+law"]) is not None

    def test_a_question_whose_rounds_are_used_up_makes_room_for_the_next(self) -> None:
        question = ask(routing(MISSING, AMBIGUOUS), asked={"missing_text": 2})
        assert question is not None
        assert (question.id, question.round, question.max_rounds) == ("ambiguous:economics+finance", 1, 2)

    @pytest.mark.parametrize("count", [2.0, None, "1", True, float("nan")])
    def test_f6_a_count_that_cannot_be_read_is_no_permission_to_ask_for_ever(self, count: Any) -> None:
        assert ask(routing(AMBIGUOUS), asked={AMBIGUOUS.id: count}) is None

    def test_f6_a_count_below_zero_starts_at_one(self) -> None:
        question = ask(routing(AMBIGUOUS), asked={AMBIGUOUS.id: -5})
        assert question is not None
        assert question.round == 1


class TestOptions:
    """F5: eligible, in rank order, three at most."""

    def test_f5_options_come_in_rank_order_whatever_the_fact_says(self) -> None:
        question = ask(routing(AMBIGUOUS))
        assert question is not None
        assert [option.subject for option in question.options] == ["economics", "finance"]

    def test_f5_what_is_not_ranked_is_not_offered(self) -> None:
        fact = UnresolvedFact("ambiguous", "ambiguous:alchemy+finance", ("alchemy", "finance"))
        question = ask(routing(fact))
        assert question is not None
        assert [option.subject for option in question.options] == ["finance"]

    def test_f5_what_a_gate_blocked_is_not_offered(self) -> None:
        found = [candidate(name, shaped(name, *ENOUGH)) for name in ("economics", "finance")]
        stopped = candidate("accounting", shaped("accounting", *ENOUGH), gates=())
        question = ask(decide([*found, stopped]))
        assert question is not None
        assert [option.subject for option in question.options] == ["economics", "finance"]

    def test_f5_three_are_offered_at_most(self) -> None:
        names = ("economics", "finance", "accounting", "business")
        ranked = decide([candidate(name, shaped(name, *ENOUGH)) for name in names]).ranked
        everyone = UnresolvedFact("ambiguous", "ambiguous:all", names)
        question = ask(Routing("suggest_subject", ranked=ranked, facts=(everyone,)))
        assert question is not None
        assert [option.subject for option in question.options] == list(names[:3])

    def test_a_missing_text_offers_no_subject(self) -> None:
        question = ask(routing(MISSING))
        assert question is not None
        assert question.options == ()


class TestAnswers:
    """`--answer ID=SUBJECT`."""

    @pytest.mark.parametrize(
        ("text", "parsed"),
        [
            ("ambiguous:economics+finance=finance", ("ambiguous:economics+finance", "finance")),
            ("repeated_failure:finance=finance", ("repeated_failure:finance", "finance")),
            ("missing_text=finance", ("missing_text", "finance")),
        ],
    )
    def test_an_answer_names_a_fact_and_one_of_its_options(self, text: str, parsed: tuple[str, str]) -> None:
        assert parse_answer(text) == parsed
        assert intent_evidence(*parsed).signal_id == f"intent:{parsed[0]}"

    @pytest.mark.parametrize(
        "text",
        [
            *("", "finance", "=finance", "ambiguous=finance", "ambiguous:=finance", "ambiguous:economics+finance="),
            *("ambiguous:economics+finance=law", "missing_text:finance=finance", "whatever:finance=finance"),
            "missing_text=",
        ],
    )
    def test_anything_else_is_an_error_with_a_code(self, text: str) -> None:
        with pytest.raises(InputError) as caught:
            parse_answer(text)
        assert caught.value.code == "invalid_answer"

    def test_a_wrong_option_is_told_the_right_ones(self) -> None:
        with pytest.raises(InputError) as caught:
            check_answer("ambiguous:economics+finance", "law")
        assert caught.value.available == ("economics", "finance")

    def test_composite_slugs_keep_their_hyphens(self) -> None:
        assert parse_answer("ambiguous:economics-accounting+finance=economics-accounting")[1] == "economics-accounting"


def test_limits_of_a_policy_are_followed() -> None:
    import attrs

    tight = attrs.evolve(DEFAULT_LIMITS, clarification_rounds=1, clarification_options=1)
    question = ask(routing(AMBIGUOUS), limits=tight)
    assert question is not None
    assert (len(question.options), question.max_rounds) == (1, 1)
    assert ask(routing(AMBIGUOUS), asked={AMBIGUOUS.id: 1}, limits=tight) is None
