"""Invariants E1 to E7 of the heuristics contract: no evidence and no score gets past a gate.

The letters are those of the contract. `@covering(generator, label=share)` runs the property over the generator and
fails unless each label makes up its share of the draws.
"""

from __future__ import annotations

from typing import Any

import attrs
from engine_cases import (
    ACTIVE,
    AUTOMATIC,
    FAILING,
    LENDABLE,
    SUBJECTS,
    Scene,
    covering,
    each_kind,
    garbage,
    labels_of,
    mentioned,
    scenes,
    view,
)
from hypothesis import given
from hypothesis import strategies as st

from qiongli.records import Evidence
from qiongli.safety import Gate, Outcome, lens_gates, run_gate, subject_gates

# --- E: gates outrank scores --------------------------------------------------------------------------------------


@covering(
    each_kind(st.sampled_from(FAILING), st.integers(0, 3), st.booleans()),
    suggest_subject=0.1,
    ambiguous=0.05,
    was_mentioned=0.2,
)
def test_e1_what_a_gate_stops_is_neither_ranked_nor_scored_nor_offered(
    example: tuple[Scene, Any, int, bool],
) -> set[str]:
    scene, gates, index, final = example
    stopped = scene.candidates[index % len(scene.candidates)]
    before = scene.decide()
    if final:
        stopped = attrs.evolve(stopped, final_gates=(Gate("last", None),), session=50_000)  # type: ignore[arg-type]
    else:
        stopped = attrs.evolve(stopped, gates=gates, session=50_000)  # type: ignore[arg-type]
    after = scene.with_candidate(stopped).decide()
    assert stopped.subject not in mentioned(after)
    # Only a project's own decision names it still, and then without a score.
    if after.primary == stopped.subject:
        assert after.decision in ("confirm_subject", "lock_subject")
        assert after.confidence == 0
    labels = labels_of(before)
    return labels | {"was_mentioned"} if stopped.subject in mentioned(before) else labels


FAILING_LENS_GATES = (
    lens_gates(state="inactive", pack_resolves=True),
    lens_gates(state="active", pack_resolves=False),
    (*LENDABLE, Gate("veto", Outcome.FAIL)),
    (*LENDABLE, Gate("veto", None)),
    (*LENDABLE, Gate("veto", True)),
    LENDABLE[:1],
    (),
)


@covering(
    each_kind(st.sampled_from(FAILING_LENS_GATES), st.integers(0, 2), kinds=("borrow", "suggest", "lock")),
    was_lent=0.2,
    was_scored=0.3,
)
def test_e1_a_lens_that_a_gate_stops_is_neither_scored_nor_lent(example: tuple[Scene, Any, int]) -> set[str]:
    scene, gates, index = example
    stopped = attrs.evolve(scene.lenses[index % len(scene.lenses)], gates=gates)
    others = tuple(item for item in scene.lenses if item.id != stopped.id)
    before, after = scene.decide(), scene.decide(lenses=(*others, stopped))
    apart = scene.decide(lenses=others)
    assert (after.lenses, after.borrowed_lenses, after.method_lenses) == (
        apart.lenses,
        apart.borrowed_lenses,
        apart.method_lenses,
    )
    assert (after.decision, after.primary) == (apart.decision, apart.primary)
    own = [item for item in before.lenses if (item.subject, item.lens) == (stopped.subject, stopped.lens)]
    assert stopped.id in {name for name, _ in after.withheld_lenses}
    return {"was_scored" if own else "", "was_lent" if any(item.lent for item in own) else ""}


@covering(each_kind(st.sampled_from(["pass", "fail"]), st.data(), kinds=AUTOMATIC), blocked=0.2)
def test_e2_neither_more_gates_nor_less_evidence_allow_what_was_refused(example: tuple[Scene, str, Any]) -> set[str]:
    scene, outcome, data = example
    before = scene.decide()
    blocked = {item.subject for item in before.blocked}
    more = Gate("more", Outcome(outcome))
    gated = tuple(attrs.evolve(item, gates=(*item.gates, more)) for item in scene.candidates)
    assert not blocked & mentioned(scene.decide(candidates=gated))
    fewer = tuple(
        attrs.evolve(item, evidence=item.evidence[: data.draw(st.integers(0, len(item.evidence)))])
        for item in scene.candidates
    )
    assert not blocked & mentioned(scene.decide(candidates=fewer))
    return labels_of(before)


class Agreeable:
    """Something that says yes to every comparison."""

    passed = True
    outcome = Outcome.PASS
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return True

    def __bool__(self) -> bool:
        return True


#: What a gate may do instead of passing: raise, run out of time, answer nothing or something else.
no_passes = st.one_of(
    st.builds(
        lambda kind, words: kind(words),
        st.sampled_from([ValueError, TimeoutError, MemoryError, RecursionError, KeyError, OSError, StopIteration]),
        st.text(max_size=20),
    ),
    st.sampled_from([None, Outcome.FAIL, True, 1, "pass", "PASS", Outcome, ACTIVE[0], (Outcome.PASS,), Agreeable()]),
    garbage,
)


@covering(
    each_kind(no_passes, st.integers(0, 3), st.sampled_from(["outcome", "check", "final check"]), kinds=AUTOMATIC),
    raised=0.1,
    was_mentioned=0.3,
    had_won=0.1,
)
def test_e3_a2_a_gate_that_raises_or_answers_anything_but_the_pass_has_failed(
    example: tuple[Scene, Any, int, str],
) -> set[str]:
    scene, answer, index, place = example
    victim = scene.candidates[index % len(scene.candidates)]

    def failing() -> object:
        if isinstance(answer, Exception):
            raise answer
        return answer

    def gated(outcome: object, check: Any) -> Scene:
        if place == "final check":
            return scene.with_candidate(attrs.evolve(victim, final_checks=(("more", check, ()),)))
        gate = Gate("more", outcome) if place == "outcome" else run_gate("more", check)
        return scene.with_candidate(attrs.evolve(victim, gates=(*victim.gates, gate)))

    before = scene.decide()
    # The pass itself changes nothing, so that it is the answer that stops the victim.
    assert view(gated(Outcome.PASS, lambda: Outcome.PASS).decide()) == view(before)
    after = gated(answer, failing).decide()
    shown = victim.subject in mentioned(before)
    asked_about = {name for fact in before.facts for name in fact.subjects}
    acts = victim.subject in {before.primary, *before.secondaries, *asked_about}
    if place != "final check" or acts:
        assert victim.subject not in mentioned(after)
        assert after.primary != victim.subject
        assert not shown or victim.subject in {item.subject for item in after.blocked}
        assert not isinstance(answer, Exception) or str(answer) not in view(after) or len(str(answer)) < 8
    labels = {"was_mentioned"} if shown else set()
    labels |= {"raised"} if isinstance(answer, Exception) and shown else set()
    return labels | ({"had_won"} if before.primary == victim.subject else set())


@covering(each_kind(), suggest_subject=0.1, lens=0.1)
def test_e4_the_final_gate_only_removes(scene: Scene) -> set[str]:
    before = scene.decide()
    for item in scene.candidates:
        after = scene.with_candidate(attrs.evolve(item, final_gates=(Gate("last", Outcome.FAIL),))).decide()
        assert mentioned(after) <= mentioned(before) - {item.subject}
        assert {found.subject for found in after.ranked} == {found.subject for found in before.ranked} - {item.subject}
        if before.decision == "suggest_subject":
            # Not silently the runner-up.
            assert after.primary == ("auto" if before.primary == item.subject else before.primary)
    return labels_of(before)


@attrs.frozen
class Grabbing(Evidence):
    """Evidence of a plugin that would like to decide."""

    override: bool = True
    force: bool = True
    eligible: bool = True
    score: int = 1_000_000


@covering(each_kind(), suggest_subject=0.1, blocked=0.1, lens=0.1)
def test_e5_flags_on_evidence_are_inert(scene: Scene) -> set[str]:
    def grabbing(items: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
        names = [field.name for field in attrs.fields(Evidence)]
        return tuple(Grabbing(**{name: getattr(item, name) for name in names}) for item in items)

    routing = scene.decide()
    grabbed = attrs.evolve(
        scene,
        candidates=tuple(attrs.evolve(item, evidence=grabbing(item.evidence)) for item in scene.candidates),
        lenses=tuple(attrs.evolve(item, evidence=grabbing(item.evidence)) for item in scene.lenses),
    )
    assert view(grabbed.decide()) == view(routing)
    return labels_of(routing)


@covering(
    each_kind(
        st.sampled_from(["locked", "confirmed"]),
        st.sampled_from(SUBJECTS),
        kinds=("suggest", "ambiguous", "lock", "confirm"),
    ),
    rivalled=0.3,
    lens=0.1,
)
def test_e6_a_settled_project_keeps_its_subject_and_may_borrow(example: tuple[Scene, Any, str]) -> set[str]:
    scene, mode, subject = example
    routing = scene.decide(mode=mode, active_subject=subject)
    assert routing.primary == subject
    assert routing.decision == {"locked": "lock_subject", "confirmed": "confirm_subject"}[mode]
    assert (routing.secondaries, routing.facts) == ((), ())
    automatic = scene.decide(mode="auto", active_subject="auto")
    assert routing.lenses == automatic.lenses
    assert {item.lens for item in routing.lenses if item.lent} == {
        *routing.method_lenses,
        *(item.lens for item in routing.borrowed_lenses),
    }
    labels = labels_of(routing)
    return labels | {"rivalled"} if automatic.decision == "suggest_subject" and automatic.primary != subject else labels


@given(scenes(AUTOMATIC), st.sampled_from(["lens_only", "inactive", "invalid", "broken", "", None]))
def test_e7_below_active_nothing_is_suggested(scene: Scene, state: Any) -> None:
    gates = subject_gates(state=state, excluded=False)
    lendable = lens_gates(state=state, pack_resolves=True)
    routing = scene.decide(
        candidates=[attrs.evolve(item, gates=gates) for item in scene.candidates],
        lenses=[attrs.evolve(item, gates=lendable) for item in scene.lenses],
    )
    assert routing.decision in ("no_subject", "borrow_lens")
    if state != "lens_only":
        assert routing.decision == "no_subject"
        assert routing.borrowed_lenses == ()


@covering(each_kind(kinds=AUTOMATIC), borrow_lens=0.1)
def test_e7_nothing_is_borrowed_without_its_pack(scene: Scene) -> set[str]:
    before = scene.decide()
    gates = lens_gates(state="active", pack_resolves=False)
    after = scene.decide(lenses=[attrs.evolve(item, gates=gates) for item in scene.lenses])
    assert (after.borrowed_lenses, after.method_lenses, after.lenses) == ((), (), ())
    assert after.primary == before.primary
    return labels_of(before)
