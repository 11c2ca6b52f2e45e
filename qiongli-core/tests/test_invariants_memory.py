"""Invariants E8, F6 and K5 of the heuristics contract on whole tasks: dismissals, used-up questions, long texts.

The letters are those of the contract. Each property fails unless it saw what it is about.
"""

from __future__ import annotations

import attrs
import pytest
from engine_cases import covering
from hypothesis import strategies as st
from packet_cases import write_packages
from text_tasks import Task, answer, for_each_kind, labels_of, runtime_in

from qiongli.limits import DEFAULT_LIMITS
from qiongli.records import Ppm
from qiongli.records.project import Dismissal, EvidenceMemory, SuggestionMemory
from qiongli.runtime import Runtime
from qiongli.session import Identifier, SessionContext, SessionEvent, fold


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Runtime:
    folder = tmp_path_factory.mktemp("packages")
    write_packages(folder)
    return runtime_in(folder)


# --- E8, F6: what the user did before -----------------------------------------------------------------------------


#: How often a subject was suggested, and whether for this very task too; and its count when it was dismissed.
suggestions = st.sampled_from([None, (1, True), (1, False), (2, True), (2, False), (4, False)])
dismissals = st.sampled_from([None, None, 0, 1, 2, 4])
memories = st.fixed_dictionaries(
    {subject: st.tuples(suggestions, dismissals) for subject in ("alpha", "beta", "gamma")}
)


def test_e8_a_dismissal_never_changes_the_decision_and_silences_until_distinct_evidence(runtime: Runtime) -> None:
    @covering(
        for_each_kind(memories, kinds=("suggest", "suggest", "suggest", "ambiguous", "lock", "mixed")),
        silent=0.15,
        prompts_again=0.05,
        suggest_subject=0.5,
        lock_subject=0.1,
    )
    def prove(example: tuple[Task, dict[str, tuple[tuple[int, bool] | None, int | None]]]) -> set[str]:
        task, known = example
        before = answer(runtime, task)
        memory = EvidenceMemory(
            dismissed_subjects={
                name: Dismissal(1, "run", last_suggestion_count=count)
                for name, (_, count) in known.items()
                if count is not None
            },
            suggestions={
                name: SuggestionMemory(
                    found[0], Ppm(600_000), fingerprints=("0" * 32, *([before.fingerprint] if found[1] else []))
                )
                for name, (found, _) in known.items()
                if found is not None
            },
        )
        after = answer(runtime, task, memory=memory)
        assert after == attrs.evolve(
            before,
            prompt=after.prompt,
            promotion_recommendation=after.promotion_recommendation,
            evidence_sources=after.evidence_sources,
        )
        labels = labels_of(after)
        if after.decision != "suggest_subject":
            assert not after.prompt
            assert after.promotion_recommendation is None
            return labels
        found, dismissed = known[after.primary_subject]
        count, counted = found or (0, False)
        with_this = count if counted else count + 1
        silenced = dismissed is not None and (counted or with_this <= dismissed)
        assert after.prompt != silenced
        assert before.prompt
        status = after.promotion_recommendation and after.promotion_recommendation.status
        assert status == ("suppressed" if silenced else "recommend_confirmation" if with_this >= 2 else None)
        return labels | ({"silent"} if silenced else {"prompts_again"} if dismissed is not None else set())

    prove()


def test_f6_rounds_that_ran_out_end_the_question_and_change_nothing_else(runtime: Runtime) -> None:
    @covering(
        for_each_kind(st.sampled_from([0, 1, 1, 2, 3]), kinds=("ambiguous", "ambiguous", "suggest")),
        asked_again=0.04,
        dropped=0.15,
    )
    def prove(example: tuple[Task, int]) -> set[str]:
        task, rounds = example
        before = answer(runtime, task)
        question = before.clarification
        fact = question.id if question else "ambiguous:alpha+gamma"
        where = SessionContext(Identifier("s"), Identifier(before.fingerprint), Identifier("policy:1"), 3)
        log = [SessionEvent("asked", Identifier(fact), where)] * rounds
        after = answer(runtime, task, session=fold(log, "s"))
        assert attrs.evolve(after, clarification=None) == attrs.evolve(before, clarification=None)
        if question is None:
            assert after.clarification is None
            return set()
        if rounds >= 2:
            assert after.clarification is None
            return {"dropped"}
        assert after.clarification == attrs.evolve(question, round=rounds + 1)
        return {"asked_again"} if rounds else set()

    prove()


# --- K5: a text that is too long ----------------------------------------------------------------------------------


def test_k5_a_text_is_read_whole_or_refused_and_never_cut_in_silence(runtime: Runtime) -> None:
    @covering(
        for_each_kind(
            st.integers(-60, 60), st.sampled_from(["", " 阔", " é"]), kinds=("suggest", "ambiguous", "lock", "borrow")
        ),
        refused=0.25,
        suggest_subject=0.1,
        would_have_been_suggested=0.1,
    )
    def prove(example: tuple[Task, int, str]) -> set[str]:
        (task, state), beyond, tail = example
        fields = {"text": task + tail} if isinstance(task, str) else {**task, "draft": tail}
        size = sum(
            len(("; ".join(value) if isinstance(value, list) else str(value)).encode()) for value in fields.values()
        )
        limit = max(1, size - beyond)
        small = attrs.evolve(runtime, limits=attrs.evolve(DEFAULT_LIMITS, input_size=limit))
        whole, packet = answer(runtime, (fields, state)), answer(small, (fields, state))
        if size <= limit:
            assert packet == whole
            return {packet.decision}
        assert packet.refusal is not None
        assert packet.refusal.code == "input_too_large"
        assert (packet.decision, packet.primary_subject, packet.confidence) == ("no_subject", "auto", 0)
        assert (packet.signals, packet.candidate_subjects, packet.borrowed_lenses) == ((), (), ())
        assert packet.clarification is None
        return {"refused", "would_have_been_suggested" if whole.decision == "suggest_subject" else ""}

    prove()
