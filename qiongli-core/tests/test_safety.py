"""Safety: closed refusals, conjunctive gates, nothing but an explicit pass, and no score anywhere near."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from typing import Any

import pytest
from engine_cases import ACTIVE, FAILING, GARBAGE, LENDABLE, covering, garbage
from hypothesis import given
from hypothesis import strategies as st

from qiongli import safety
from qiongli.hookspecs import Veto
from qiongli.records.evidence import DIMENSIONS
from qiongli.records.packet import REFUSAL_CODES
from qiongli.records.subjects import SUBJECT_STATES, Reason
from qiongli.safety import (
    LENS_GATES,
    Gate,
    Outcome,
    RequestFacts,
    eligibility,
    final_gate,
    lens_gates,
    precheck,
    refuse,
    run_gate,
    subject_gates,
    two_dimension_gate,
)

FINE = RequestFacts(size=10, limit=100, decodable=True, inside_project=True, authorised=True)

#: What is not a pass, however much it looks like one.
NO_PASSES: tuple[Any, ...] = (Outcome.FAIL, None, True, 1, "pass", "PASS", [], object(), Outcome, *GARBAGE)

outcomes = st.one_of(st.just(Outcome.PASS), st.sampled_from(NO_PASSES))
gates = st.builds(Gate, st.sampled_from(["state", "exclusion", "veto", "resources"]), outcomes)


class TestPrecheck:
    """Refusals come from the closed list, in its order, before anything is read."""

    def test_a_fine_request_is_not_refused(self) -> None:
        assert precheck(FINE) is None
        assert precheck(FINE, (None, None)) is None
        assert precheck(RequestFacts(100, 100, decodable=True, inside_project=True, authorised=True)) is None

    @pytest.mark.parametrize(
        ("facts", "code"),
        [
            (RequestFacts(101, 100, decodable=True, inside_project=True, authorised=True), "input_too_large"),
            (RequestFacts(10, 100, inside_project=True, authorised=True), "undecodable"),
            (RequestFacts(10, 100, decodable=True, authorised=True), "path_outside_project"),
            (RequestFacts(10, 100, decodable=True, inside_project=True), "unauthorised_action"),
            (RequestFacts(101, 100), "input_too_large"),
            (RequestFacts(10, 100), "undecodable"),
            (RequestFacts(-1, 100, decodable=True, inside_project=True, authorised=True), "undecodable"),
            (RequestFacts(10, None, decodable=True, inside_project=True, authorised=True), "input_too_large"),  # type: ignore[arg-type]
            (RequestFacts(True, 100, decodable=True, inside_project=True, authorised=True), "undecodable"),
            (RequestFacts(10, 100, decodable=1, inside_project=True, authorised=True), "undecodable"),  # type: ignore[arg-type]
            (None, "undecodable"),
        ],
    )
    def test_each_condition_has_its_code(self, facts: Any, code: str) -> None:
        refusal = precheck(facts)
        assert refusal is not None
        assert refusal.code == code
        assert refusal.message
        assert refusal.hint

    def test_any_veto_refuses_with_its_words(self) -> None:
        refusal = precheck(FINE, (None, Veto("no_drafts", "Drafts stay on this machine")))
        assert refusal is not None
        assert (refusal.code, refusal.message) == ("policy_forbids", "Drafts stay on this machine")

    @pytest.mark.parametrize("vetoes", [(False,), (0,), ("",), None, "none", {}])
    def test_a_veto_that_cannot_be_read_is_a_veto(self, vetoes: Any) -> None:
        refusal = precheck(FINE, vetoes)
        assert refusal is not None
        assert refusal.code == "policy_forbids"

    @pytest.mark.parametrize("code", [*REFUSAL_CODES, "made_up", None, 7])
    def test_a_code_that_is_not_on_the_list_is_a_policy(self, code: Any) -> None:
        assert refuse(code).code == (code if code in REFUSAL_CODES else "policy_forbids")


#: What looks like a word in favour, or like none against.
lookalikes = st.one_of(st.sampled_from([1, "yes", 1.0, [True], Outcome.PASS]), garbage)
nothings = st.sampled_from([False, 0, "", (), {}, []])


@st.composite
def requests(draw: st.DrawFn, spoilt: int | None) -> tuple[tuple[Any, ...], Any]:
    """A fine request, of which one fact, by its place, or the vetoes (5) are spoilt."""
    limit = draw(st.integers(0, 50))
    facts: list[Any] = [draw(st.sampled_from([0, limit, max(0, limit - 1)])), limit, True, True, True]
    vetoes: Any = draw(st.sampled_from([(), (None,), [None, None]]))
    if spoilt == 5:
        veto = draw(st.one_of(nothings, st.builds(Veto, st.text(max_size=9), st.text(max_size=9)), garbage))
        vetoes = draw(st.sampled_from([(veto,), (None, veto), veto]))
    elif spoilt == 0:
        facts[0] = draw(st.one_of(st.just(limit + 1), garbage))
    elif spoilt is not None:
        facts[spoilt] = draw(st.one_of(st.just(False), lookalikes))
    return tuple(facts), vetoes


@covering(
    [*(requests(spoilt) for spoilt in (None, 0, 1, 2, 3, 4, 5)), requests(5), requests(4)],
    passed=0.1,
    policy_forbids=0.1,
    undecodable=0.1,
    input_too_large=0.05,
    path_outside_project=0.05,
    unauthorised_action=0.1,
)
def test_f2_a2_a_refusal_is_of_the_closed_list_and_whatever_cannot_be_read_is_refused(
    example: tuple[tuple[Any, ...], Any],
) -> set[str]:
    facts, vetoes = example
    refusal = precheck(RequestFacts(*facts), vetoes)
    size, limit, *plain = facts
    readable = type(size) is int and size >= 0 and type(limit) is int
    fine = readable and size <= limit and all(fact is True for fact in plain)
    nobody_objects = isinstance(vetoes, tuple | list) and all(veto is None for veto in vetoes)
    assert (refusal is None) == (fine and nobody_objects)
    if refusal is None:
        return {"passed"}
    assert refusal.code in REFUSAL_CODES
    assert refusal.message
    if fine:
        assert refusal.code == "policy_forbids"
    return {refusal.code}


class TestGates:
    """Anything but an explicit pass is a fail."""

    @pytest.mark.parametrize("outcome", NO_PASSES, ids=[str(number) for number in range(len(NO_PASSES))])
    def test_e3_only_the_pass_itself_passes(self, outcome: Any) -> None:
        assert not eligibility((*ACTIVE, Gate("more", outcome))).eligible

    @pytest.mark.parametrize("error", [ValueError, TimeoutError, MemoryError, RecursionError, KeyError])
    def test_e3_a_check_that_raises_has_failed(self, error: type[Exception]) -> None:
        def check() -> object:
            raise error("a secret")

        gate = run_gate("more", check)
        assert not gate.passed
        assert "secret" not in repr(gate)
        assert not eligibility((*ACTIVE, gate)).eligible

    @pytest.mark.parametrize("answer", [None, True, "pass", 1, Outcome.FAIL])
    def test_e3_a_check_that_answers_anything_else_has_failed(self, answer: Any) -> None:
        assert not run_gate("more", lambda: answer).passed
        assert run_gate("more", lambda: Outcome.PASS).passed

    @pytest.mark.parametrize("value", [None, "gates", 1, {}, (None,), ("state",), [Outcome.PASS], object()])
    def test_e3_gates_that_cannot_be_read_have_failed(self, value: Any) -> None:
        verdict = eligibility(value)
        assert not verdict.eligible
        assert verdict.reasons

    @pytest.mark.parametrize("value", [None, "state", True, Outcome.PASS, object()])
    def test_e3_one_unreadable_gate_among_passes_fails(self, value: Any) -> None:
        assert not eligibility((*ACTIVE, value)).eligible
        assert not eligibility((value, *ACTIVE)).eligible

    def test_a_required_gate_that_was_not_run_has_failed(self) -> None:
        assert eligibility(ACTIVE).eligible
        for index in range(len(ACTIVE)):
            verdict = eligibility(ACTIVE[:index] + ACTIVE[index + 1 :])
            assert not verdict.eligible
            assert verdict.reasons[0].code == f"gate_{ACTIVE[index].name}"
        assert not eligibility(()).eligible
        assert eligibility((), ()).eligible

    def test_every_failing_combination_of_the_generators_fails(self) -> None:
        assert not any(eligibility(failing).eligible for failing in FAILING)

    @given(st.lists(gates, max_size=6), gates)
    def test_e2_adding_a_gate_never_makes_a_refused_candidate_allowed(
        self, given_gates: list[Gate], more: Gate
    ) -> None:
        before = eligibility((*ACTIVE, *given_gates))
        after = eligibility((*ACTIVE, *given_gates, more))
        assert before.eligible or not after.eligible
        assert after.eligible == all(gate.outcome is Outcome.PASS for gate in (*given_gates, more))

    def test_failing_gates_give_their_reasons(self) -> None:
        why = Reason("content_changed", "The package was changed since the gate")
        verdict = eligibility(subject_gates(state="lens_only", excluded=False, state_reasons=(why,)))
        assert verdict.reasons == (why,)
        excluded = eligibility(subject_gates(state="active", excluded=True, exclusion_reason="by your own words"))
        assert [(reason.code, reason.message) for reason in excluded.reasons] == [("excluded", "by your own words")]
        assert [reason.code for reason in eligibility((*ACTIVE, Gate("odd", None))).reasons] == ["gate_odd"]

    @pytest.mark.parametrize("state", [*SUBJECT_STATES, None, "ACTIVE", 1, True])
    def test_e7_only_an_active_subject_acts_and_only_a_lending_one_lends(self, state: Any) -> None:
        assert eligibility(subject_gates(state=state, excluded=False)).eligible == (state == "active")
        lends = eligibility(lens_gates(state=state, pack_resolves=True), LENS_GATES).eligible
        assert lends == (state in ("active", "lens_only"))

    @pytest.mark.parametrize("excluded", [True, None, 0, "", "no"])
    def test_whoever_may_be_excluded_is(self, excluded: Any) -> None:
        assert not eligibility(subject_gates(state="active", excluded=excluded)).eligible

    @pytest.mark.parametrize("resolves", [False, None, 1, "yes"])
    def test_e7_a_lens_needs_its_pack(self, resolves: Any) -> None:
        assert eligibility(LENDABLE, LENS_GATES).eligible
        assert not eligibility(lens_gates(state="active", pack_resolves=resolves), LENS_GATES).eligible


class TestTwoDimensions:
    """E10, as a gate of its own."""

    @given(
        st.lists(st.sampled_from([*DIMENSIONS, "astrology", ""]), max_size=6),
        st.sampled_from([True, False, None, 1, "yes"]),
    )
    def test_e10_two_known_dimensions_or_a_proved_exemption(self, held: list[str], proved: Any) -> None:
        known = {name for name in held if name in DIMENSIONS}
        expected = len(known) >= 2 or (len(known) == 1 and proved is True)
        assert two_dimension_gate(held, proved).passed == expected


class TestFinalGate:
    """E4: it can only remove."""

    @given(
        st.lists(st.sampled_from("abcdef"), unique=True),
        st.dictionaries(st.sampled_from("abcdef"), st.lists(gates, max_size=3)),
    )
    def test_e4_the_final_gate_only_removes_and_keeps_the_order(
        self, candidates: list[str], final: dict[str, list[Gate]]
    ) -> None:
        left = final_gate(candidates, final)
        assert list(left) == [name for name in candidates if name in left]
        for name in candidates:
            fine = name in final and all(gate.outcome is Outcome.PASS for gate in final[name])
            assert (name in left) == fine


class TestNoScore:
    """Gate functions do not receive a score: by signature, and by what the module can see."""

    def test_no_signature_takes_a_score(self) -> None:
        functions = [
            value for _, value in inspect.getmembers(safety, inspect.isfunction) if value.__module__ == safety.__name__
        ]
        assert len(functions) >= 8
        forbidden = ("score", "total", "confidence", "standing", "route", "weight", "ppm", "evidence", "limits")
        for function in functions:
            for parameter in inspect.signature(function).parameters.values():
                described = f"{parameter.name} {parameter.annotation}".lower()
                assert not any(word in described for word in forbidden), f"{function.__name__}({described})"
                assert parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)

    def test_the_module_cannot_reach_the_composer(self) -> None:
        tree = ast.parse(Path(inspect.getfile(safety)).read_text(encoding="utf-8"))
        imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        imported |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
        own = {name for name in imported if name and name.startswith("qiongli")}
        assert own == {
            "qiongli._value",
            "qiongli.records.evidence",
            "qiongli.records.packet",
            "qiongli.records.subjects",
        }

    def test_no_gate_carries_a_number(self) -> None:
        assert {field.name for field in Gate.__attrs_attrs__} == {"name", "outcome", "reasons"}
