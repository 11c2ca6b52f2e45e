"""Invariants B5 to F9 of the heuristics contract on whole decisions; the properties assert that they saw their subject.

The letters are those of the contract. `@covering(generator, label=share)` runs the property over the generator and
fails unless each label makes up its share of the draws.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import attrs
import pytest
from engine_cases import (
    ACTIVE,
    FAILING,
    STRONG,
    SUBJECTS,
    Scene,
    candidate,
    covering,
    each_kind,
    evidence,
    labels_of,
    lens,
    scenes,
    shaped,
    strong_evidence,
    strong_weights,
    view,
    weak_evidence,
)
from hypothesis import given
from hypothesis import strategies as st

from qiongli.clarification import ask, intent_evidence
from qiongli.limits import DEFAULT_LIMITS
from qiongli.records import Evidence
from qiongli.records.evidence import DIMENSIONS
from qiongli.records.packet import DECISIONS, REFUSAL_CODES, Refusal
from qiongli.routing import Routing, Standing, decide, rank, select
from qiongli.safety import Gate, Outcome, lens_gates, subject_gates
from qiongli.scoring import Route, score

AUTOMATIC = ("core", "borrow", "suggest", "ambiguous", "blocked", "repeated")
T = DEFAULT_LIMITS.suggest_threshold


def mentioned(routing: Routing) -> set[str]:
    """Every subject that a routing ranks, scores, suggests or offers."""
    question = ask(routing)
    return {
        *(item.subject for item in (*routing.ranked, *routing.replaced)),
        *([routing.standing.subject] if routing.standing else []),
        *routing.secondaries,
        *(subject for fact in routing.facts for subject in fact.subjects),
        *((option.subject for option in question.options) if question else ()),
    }


def without_question(routing: Routing) -> str:
    """What is decided, apart from what is blocked and why nothing was suggested."""
    shown = json.loads(view(routing))
    del shown["blocked"], shown["reasons"]
    return json.dumps(shown)


def test_every_decision_and_every_question_is_reached_by_the_generator() -> None:
    """Broad random input never reached a clarification, and what is never reached proves nothing."""

    @covering(each_kind(kinds=("core", "borrow", "suggest", "confirm", "lock")), **dict.fromkeys(DECISIONS, 0.1))
    def decisions(scene: Scene) -> set[str]:
        return labels_of(scene.decide())

    questions = dict.fromkeys(("ambiguous", "repeated_failure", "missing_text", "refusal", "blocked"), 0.1)

    @covering(each_kind(kinds=("ambiguous", "repeated", "missing", "refused", "blocked")), **questions)
    def others(scene: Scene) -> set[str]:
        return labels_of(scene.decide())

    decisions()
    others()


# --- B and C on decisions -----------------------------------------------------------------------------------------


@covering(each_kind(kinds=AUTOMATIC), suggest_subject=0.1, ambiguous=0.05, lens=0.1, blocked=0.1)
def test_b5_repeated_evidence_decides_the_same(scene: Scene) -> set[str]:
    doubled = attrs.evolve(
        scene,
        candidates=tuple(attrs.evolve(item, evidence=item.evidence * 2) for item in scene.candidates),
        lenses=tuple(attrs.evolve(item, evidence=item.evidence * 2) for item in scene.lenses),
    )
    routing = scene.decide()
    assert view(doubled.decide()) == view(routing)
    return labels_of(routing)


@given(scenes(AUTOMATIC), st.integers(-50_000, 50_000))
def test_b6_without_evidence_nothing_is_suggested(scene: Scene, session: Any) -> None:
    bare = tuple(attrs.evolve(item, evidence=(), session=session) for item in scene.candidates)
    routing = scene.decide(candidates=bare, lenses=())
    assert (routing.decision, routing.primary) == ("no_subject", "auto")
    assert routing.reasons


near_misses = st.one_of(
    st.builds(
        lambda weight, number: {"role": "suppressor", "weight": weight, "signal_id": f"suppressor.{number}"},
        st.integers(1, 300_000),
        st.integers(1, 3),
    ),
    st.builds(
        lambda weight, polarity, dimension: {"weight": weight, "polarity": polarity, "dimension": dimension},
        strong_weights,
        st.sampled_from(["negated", "quoted", "everyday", "excluded"]),
        st.sampled_from(DIMENSIONS),
    ),
)


@covering(
    each_kind(st.lists(near_misses, min_size=1, max_size=4), kinds=("core", "suggest", "blocked")), no_subject=0.2
)
def test_c5_a_near_miss_never_creates_a_suggestion(example: tuple[Scene, list[dict[str, Any]]]) -> set[str]:
    scene, hits = example
    before = scene.decide()
    for item in scene.candidates:
        more = tuple(
            evidence(
                item.subject, hit.get("dimension", "method"), 70, **{k: v for k, v in hit.items() if k != "dimension"}
            )
            for hit in hits
        )
        after = scene.with_candidate(attrs.evolve(item, evidence=(*item.evidence, *more))).decide()
        if before.decision != "suggest_subject":
            assert after.decision == before.decision
        # It may cost a subject its place, and then another was suggestible before.
        suggestible = {standing.subject for standing in before.ranked if standing.suggestible}
        assert after.primary == "auto" or after.primary in suggestible
    return labels_of(before)


@given(scenes(AUTOMATIC), st.data())
def test_c7_less_specific_text_never_creates_a_suggestion(scene: Scene, data: st.DataObject) -> None:
    kept = []
    for item in scene.candidates:
        positives = [found for found in item.evidence if found.role == "signal"]
        left = data.draw(st.lists(st.sampled_from(positives), unique=True)) if positives else []
        kept.append(attrs.evolve(item, evidence=(*left, *(found for found in item.evidence if found.role != "signal"))))
    before = {item.subject: item.scored.total for item in scene.decide().ranked}
    for standing in scene.decide(candidates=kept).ranked:
        assert standing.scored.total <= before[standing.subject]


# --- D: determinism and order -------------------------------------------------------------------------------------


@covering(each_kind(st.randoms(use_true_random=False)), suggest_subject=0.1, ambiguous=0.05, blocked=0.1)
def test_d1_no_order_of_any_input_changes_a_byte(example: tuple[Scene, Any]) -> set[str]:
    scene, random = example

    def shuffled(items: Any) -> tuple[Any, ...]:
        return tuple(random.sample(list(items), len(items)))

    other = attrs.evolve(
        scene,
        candidates=shuffled([attrs.evolve(item, evidence=shuffled(item.evidence)) for item in scene.candidates]),
        lenses=shuffled([attrs.evolve(item, evidence=shuffled(item.evidence)) for item in scene.lenses]),
    )
    routing = scene.decide()
    assert view(other.decide()) == view(routing)
    return labels_of(routing)


_PROCESS = """
import random, sys
sys.path.insert(0, sys.argv[1])
from engine_cases import ACTIVE, DIMENSIONS, SUBJECTS, Scene, candidate, evidence, lens, view
from qiongli.clarification import ask
from qiongli.diagnostics import Recorder

first, last = int(sys.argv[2]), int(sys.argv[3])
for seed in range(first, last):
    draw = random.Random(seed)
    names = set(SUBJECTS)  # iterated in hash order on purpose
    found = {
        name: tuple(
            evidence(name, draw.choice(DIMENSIONS), number, draw.choice((100_000, 150_000, 200_000)), value="I\u0130i")
            for number in range(6)
        )
        for name in sorted(names)
    }
    gates = {name: ACTIVE[: draw.choice((1, 2, 2, 2))] for name in sorted(names)}
    recorder = Recorder(SUBJECTS)
    scene = Scene(
        tuple(candidate(name, found[name], gates=gates[name]) for name in names),
        tuple(lens(name, "I\u0130i", found[name]) for name in names),
    )
    routing = scene.decide(recorder=recorder)
    print(ascii(view(routing)), ascii(ask(routing)), recorder.to_packet())
"""


def test_d2_two_processes_with_other_hash_seeds_locales_and_zones_print_the_same() -> None:
    def run(first: int, last: int, **environment: str) -> str:
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("PYTHONHASH", "LC_", "LANG", "TZ"))
        }
        folder = str(Path(__file__).parent)
        done = subprocess.run(
            [sys.executable, "-c", _PROCESS, folder, str(first), str(last)],
            env=inherited | environment,
            capture_output=True,
            text=True,
            check=True,
            encoding="utf-8",
        )
        assert done.stdout
        return done.stdout

    plain = run(0, 60, PYTHONHASHSEED="0", LC_ALL="C.UTF-8", TZ="UTC")
    turkish = run(0, 60, PYTHONHASHSEED="4242", LC_ALL="tr_TR.UTF-8", LANG="tr_TR.UTF-8", TZ="Asia/Shanghai")
    assert turkish == plain
    # Split over two workers, the same lines.
    halves = run(0, 30, PYTHONHASHSEED="1") + run(30, 60, PYTHONHASHSEED="2")
    assert halves == plain
    assert "suggest_subject" in plain
    assert "ambiguous" in plain


def test_d2_threads_decide_the_same() -> None:
    scene = Scene(
        tuple(candidate(name, shaped(name, [200_000, 90_000], [200_000])) for name in SUBJECTS),
        tuple(lens(name, "x", [evidence(name, "method", 1, 150_000, value="x")]) for name in SUBJECTS),
    )
    expected = view(scene.decide())
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(lambda _: view(scene.decide()), range(40))) == {expected}


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 2)), min_size=2, max_size=8))
def test_d4_the_order_of_candidates_is_strict_and_total(found: list[tuple[int, int, int]]) -> None:
    scored = [
        score(Route("resource", f"r{index}", "s", priority, prior=500_000 + 50_000 * worth, cost=50_000 * cost))  # type: ignore[arg-type]
        for index, (worth, priority, cost) in enumerate(found)
    ]
    expected = rank(scored)

    def key(item: Any) -> tuple[Any, ...]:
        return (-item.total, item.route.priority, item.cost, item.route.id)

    for first, second in itertools.pairwise(expected):
        assert key(first) < key(second)
    for order in itertools.islice(itertools.permutations(scored), 20):
        assert rank(order) == expected


@covering(each_kind(strong_evidence("newcomer"), st.sampled_from(FAILING)), suggest_subject=0.1, ambiguous=0.05)
def test_d5_an_ineligible_newcomer_changes_nothing(example: tuple[Scene, tuple[Evidence, ...], Any]) -> set[str]:
    scene, found, gates = example
    routing = scene.decide()
    after = scene.with_candidate(candidate("newcomer", found, gates=gates)).decide()
    assert without_question(after) == without_question(routing)
    return labels_of(routing)


@covering(each_kind(weak_evidence("newcomer")), suggest_subject=0.1, ambiguous=0.05)
def test_d5_a_low_scoring_newcomer_does_not_change_who_wins(example: tuple[Scene, tuple[Evidence, ...]]) -> set[str]:
    scene, found = example
    routing = scene.decide()
    after = scene.with_candidate(candidate("newcomer", found)).decide()
    for name in ("decision", "primary", "secondaries", "facts", "confidence"):
        assert getattr(after, name) == getattr(routing, name)
    return labels_of(routing)


#: One subject so far ahead that a newcomer at the threshold is no rival, and one that it rivals.
leaders = [
    st.builds(lambda shape: Scene((candidate("finance", shaped("finance", *shape)),)), st.sampled_from(shapes))
    for shapes in (STRONG[5:], STRONG[1:4])
]


@covering(
    [
        *each_kind(st.integers(0, 40_000), kinds=("suggest",)),
        *(st.tuples(one, st.integers(0, 10_000)) for one in leaders),
    ],
    suggest_subject=0.9,
    asked=0.1,
    not_asked=0.1,
)
def test_d5_a_suggestible_newcomer_that_scores_less_only_ever_adds_a_question(example: tuple[Scene, int]) -> set[str]:
    scene, session = example
    routing = scene.decide()
    newcomer = candidate("newcomer", shaped("newcomer", [200_000], [200_000]), session=session)
    after = scene.with_candidate(newcomer).decide()
    theirs = next(item.scored.total for item in after.ranked if item.subject == "newcomer")
    if theirs >= routing.confidence:
        return labels_of(routing)
    assert (after.decision, after.primary) == (routing.decision, routing.primary)
    asked = routing.confidence - theirs <= DEFAULT_LIMITS.margin
    assert ("newcomer" in after.secondaries) == asked
    return {*labels_of(routing), "asked" if asked else "not_asked"}


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


def test_e8_a_dismissal_is_nothing_that_a_decision_could_see() -> None:
    """Dismissal sets `prompt` only: neither candidates nor the decision have a place for it."""
    seen = {
        field.name
        for kind in (Scene, *(type(item) for item in (candidate("s"), lens("s", "l", ()))))
        for field in attrs.fields(kind)
    }
    assert not {name for name in seen if "dismiss" in name or "prompt" in name or "memory" in name}


@covering(
    st.lists(
        st.tuples(st.sampled_from(DIMENSIONS), strong_weights, st.sampled_from(["method_only", "context_only"])),
        min_size=1,
        max_size=12,
    ),
    borrow_lens=0.1,
    no_subject=0.1,
)
def test_e9_method_and_context_evidence_alone_never_suggest(found: list[tuple[str, int, str]]) -> set[str]:
    items = tuple(
        evidence("finance", dimension, number, weight, activation=activation, value="event-study")
        for number, (dimension, weight, activation) in enumerate(found)
    )
    own = candidate("finance", items, single_dimension_proved=True, session=50_000)
    routing = decide([own], [lens("finance", "event-study", items)])
    assert routing.decision in ("borrow_lens", "no_subject")
    if all(activation == "context_only" for _, _, activation in found):
        assert routing.decision == "no_subject"
        assert routing.lenses == ()
    return labels_of(routing)


one_dimension = st.tuples(st.sampled_from(DIMENSIONS), st.lists(strong_weights, min_size=1, max_size=12))


def alone(found: tuple[str, list[int]], **changes: Any) -> Any:
    dimension, weights = found
    return candidate(
        "finance", [evidence("finance", dimension, number, weight) for number, weight in enumerate(weights)], **changes
    )


class TestSingleDimension:
    """E10 holds twice over: by the gate, and by arithmetic. Each is tested with the other switched off."""

    @given(one_dimension, st.integers(-50_000, 50_000))
    def test_e10_one_dimension_is_never_suggested(self, found: tuple[str, list[int]], session: Any) -> None:
        routing = decide([alone(found, session=session)])
        assert routing.decision == "no_subject"
        assert "one_dimension" in {reason.code for reason in routing.reasons}

    @given(one_dimension)
    def test_e10_the_gate_holds_without_the_arithmetic(self, found: tuple[str, list[int]]) -> None:
        # These limits break (a): one dimension scores enough.
        generous = attrs.evolve(DEFAULT_LIMITS, suggest_threshold=350_000, lens_threshold=350_000)
        routing = decide([alone(found)], limits=generous)
        assert routing.ranked[0].scored.total >= generous.suggest_threshold
        assert routing.decision == "no_subject"

    @given(one_dimension)
    def test_e10_the_arithmetic_holds_without_the_gate(self, found: tuple[str, list[int]]) -> None:
        (standing,) = decide([alone(found)]).ranked
        assert standing.scored.total < T
        assert "below_threshold" in {reason.code for reason in standing.reasons}

    @covering(one_dimension, suggest_subject=0.1, no_subject=0.1)
    def _exempt(found: tuple[str, list[int]]) -> set[str]:  # type: ignore[misc]  # noqa: N805  # a static property
        routing = decide([alone(found, single_dimension_proved=True)])
        two_reach_it = sum(sorted(found[1])[-2:]) if len(found[1]) > 1 else 0
        if routing.decision == "suggest_subject":
            assert len(found[1]) > 1
            assert routing.confidence == T
        if two_reach_it == 400_000:
            assert routing.decision == "suggest_subject"
        return labels_of(routing)

    test_e10_a_proved_exemption_needs_two_full_signals = staticmethod(_exempt)

    @pytest.mark.parametrize("claim", [False, None, 1, "proved"])
    def test_e10_a_claim_that_was_not_proved_is_worth_nothing(self, claim: Any) -> None:
        assert decide([alone(("method", [200_000] * 4), single_dimension_proved=claim)]).decision == "no_subject"


# --- composites ---------------------------------------------------------------------------------------------------

PARTS = ("economics", "accounting")
COMPOSITE = "economics-accounting"


@st.composite
def composite_scenes(draw: st.DrawFn, kind: str) -> Scene:
    """A composite, its parts and a neighbour: carried by its parts, not carried, stopped by a gate, or anything."""
    strengths = {
        "composite": ("strong", "strong"),
        "stopped": ("strong", "strong"),
        "parts": draw(st.permutations(("strong", "none"))),
    }.get(kind) or (
        draw(st.sampled_from(["strong", "weak", "none"])),
        draw(st.sampled_from(["strong", "weak", "none"])),
    )
    found = {"finance": draw(weak_evidence("finance"))}
    for name, strength in zip(PARTS, strengths, strict=True):
        drawn = draw(strong_evidence(name)), draw(weak_evidence(name)), ()
        found[name] = drawn[("strong", "weak", "none").index(strength)]
    own = shaped(COMPOSITE, [draw(strong_weights)], [draw(strong_weights)])
    if kind == "parts" or (kind == "anything" and draw(st.booleans())):
        own = ()
    everything = (*found["economics"], *found["accounting"], *own)
    built = [candidate(name, items) for name, items in found.items()]
    built.append(candidate(COMPOSITE, everything, composes=PARTS, priority=9))
    if kind in ("stopped", "anything"):
        index = draw(st.sampled_from([1, 2, 3]))
        gates = {"gates": draw(st.sampled_from(FAILING))}
        changes = draw(st.sampled_from([gates, {"final_gates": (Gate("last", Outcome.FAIL),)}]))
        built[index] = attrs.evolve(built[index], **changes)
    return Scene(tuple(draw(st.permutations(built))))


@covering(
    [composite_scenes(kind) for kind in ("composite", "parts", "stopped", "anything")],
    composite=0.1,
    parts=0.1,
    stopped=0.1,
)
def test_a_composite_acts_only_with_parts_that_may_act_and_then_in_their_place(scene: Scene) -> set[str]:
    routing = scene.decide()
    by_name = {item.subject: item for item in scene.candidates}
    order = [item.subject for item in routing.ranked]

    def may_act(name: str) -> bool:
        gates = (*by_name[name].gates, *by_name[name].final_gates)
        return len(by_name[name].gates) >= 2 and all(gate.passed for gate in gates)

    assert not {item.subject for item in routing.blocked} & mentioned(routing)
    alone = {name: decide([attrs.evolve(by_name[name], gates=ACTIVE, final_gates=())]).ranked for name in PARTS}
    carried = False
    if all(alone.values()):
        (first,), (second,) = alone.values()
        near = abs(first.scored.total - second.scored.total) <= DEFAULT_LIMITS.margin
        own = any(item.subject == COMPOSITE for item in by_name[COMPOSITE].evidence)
        carried = own or (near and first.suggestible and second.suggestible)
    assert (COMPOSITE in order) == (carried and all(may_act(name) for name in (*PARTS, COMPOSITE)))
    if COMPOSITE in order and routing.ranked[order.index(COMPOSITE)].suggestible:
        assert not set(PARTS) & set(order)
        assert {item.subject for item in routing.replaced} == set(PARTS)
    for shuffled in (scene.candidates[::-1], scene.candidates[2:] + scene.candidates[:2]):
        assert view(scene.decide(candidates=shuffled)) == view(routing)
    labels = {"composite"} if routing.primary == COMPOSITE else set()
    labels |= {"parts"} if routing.primary in PARTS else set()
    return labels | ({"stopped"} if carried and COMPOSITE not in order else set())


# --- F: clarification and refusal ---------------------------------------------------------------------------------


@covering(each_kind(), suggest_subject=0.1, ambiguous=0.05, refusal=0.05, missing_text=0.05, repeated_failure=0.05)
def test_f1_f3_one_decision_and_never_a_question_beside_a_refusal(scene: Scene) -> set[str]:
    routing = scene.decide()
    question = ask(routing)
    assert routing.decision in DECISIONS
    if routing.refusal:
        assert question is None
        assert (routing.decision, routing.ranked, routing.blocked, routing.lenses) == ("no_subject", (), (), ())
    refused = scene.decide(refusal=Refusal("undecodable", "unreadable"))
    assert ask(refused) is None
    assert view(refused) == view(decide((), refusal=Refusal("undecodable", "unreadable")))
    if routing.decision in ("no_subject", "borrow_lens"):
        assert routing.primary == "auto"
        assert routing.reasons
    return labels_of(routing)


@covering(each_kind(kinds=AUTOMATIC), blocked=0.2, lens=0.1)
def test_f2_gated_candidates_are_never_a_refusal(scene: Scene) -> set[str]:
    gates = subject_gates(state="lens_only", excluded=False)
    routing = scene.decide(candidates=[attrs.evolve(item, gates=gates) for item in scene.candidates])
    assert routing.refusal is None
    assert routing.decision in ("no_subject", "borrow_lens")
    with_evidence = {
        item.subject for item in scene.candidates if any(found.role == "signal" for found in item.evidence)
    }
    assert {item.subject for item in routing.blocked} == with_evidence
    return labels_of(routing)


@covering(each_kind(kinds=AUTOMATIC), ambiguous=0.1, suggest_subject=0.2, no_subject=0.1)
def test_f4_an_ambiguous_question_exactly_when_a_suggestible_rival_is_within_the_margin(scene: Scene) -> set[str]:
    routing = scene.decide()
    rivals: list[str] = []
    if routing.decision == "suggest_subject":
        # Recomputed from what a packet shows: score and dimensions of every candidate.
        threshold = scene.limits.suggest_threshold
        for item in routing.ranked:
            near = routing.confidence - item.scored.total <= scene.limits.margin
            may = item.scored.total >= threshold and len(item.scored.dimensions) >= 2
            if item.subject != routing.primary and near and may:
                rivals.append(item.subject)
    assert list(routing.secondaries) == rivals
    question = ask(routing)
    assert (question is not None and question.id.startswith("ambiguous:")) == bool(rivals)
    return labels_of(routing)


@covering(each_kind(kinds=("ambiguous", "repeated", "missing", "blocked")), ambiguous=0.1, repeated_failure=0.1)
def test_f5_options_are_eligible_at_most_three_and_in_rank_order(scene: Scene) -> set[str]:
    routing = scene.decide()
    question = ask(routing)
    if question is not None:
        order = [item.subject for item in routing.ranked]
        offered = [option.subject for option in question.options]
        assert len(offered) <= 3
        assert offered == [subject for subject in order if subject in offered]
        eligible = {
            item.subject
            for item in scene.candidates
            if all(gate.passed for gate in item.gates) and len(item.gates) >= 2
        }
        assert set(offered) <= eligible
        assert all(option.reason for option in question.options)
    return labels_of(routing)


@covering(each_kind(kinds=("ambiguous", "repeated", "missing")), ambiguous=0.1, repeated_failure=0.1, missing_text=0.1)
def test_f6_f7_rounds_end_answers_hold_and_nothing_happens_for_want_of_an_answer(scene: Scene) -> set[str]:
    routing = scene.decide()
    first = ask(routing)
    assert first is not None
    assert (first.round, first.max_rounds) == (1, 2)
    second = ask(routing, asked={first.id: 1})
    assert second is not None
    assert (second.id, second.round) == (first.id, 2)
    for asked in (2, 3, 99):
        third = ask(routing, asked={first.id: asked})
        assert third is None or third.id != first.id
    dropped = ask(routing, answered=[first.id])
    assert dropped is None or dropped.id != first.id
    # How often something was asked is nothing that the decision could see.
    assert view(scene.decide()) == view(routing)
    return labels_of(routing)


@covering(each_kind(kinds=("ambiguous", "suggest", "repeated")), ambiguous=0.1)
def test_f9_an_answer_settles_between_suggestible_ones_and_lifts_no_gate(scene: Scene) -> set[str]:
    routing = scene.decide()
    for fact in routing.facts:
        for answer in fact.subjects:
            settled = scene.decide(answers={fact.id: answer})
            if fact.kind == "ambiguous" and not any(item.repeated_failure for item in scene.candidates):
                assert (settled.decision, settled.primary) == ("suggest_subject", answer)
                assert settled.confidence == next(
                    item.scored.total for item in routing.ranked if item.subject == answer
                )
                assert ask(settled) is None
                assert [item.subject for item in settled.ranked] == [answer]
                excluded = {item.subject for item in routing.ranked} - {answer}
                assert excluded <= {item.subject for item in settled.blocked}
            assert settled.secondaries == () or answer not in settled.secondaries
    # Nobody who was not asked about can be answered into the decision.
    outsiders = {item.subject for item in scene.candidates} - {
        subject for fact in routing.facts for subject in fact.subjects
    }
    for outsider, fact in itertools.product(sorted(outsiders), routing.facts):
        assert view(scene.decide(answers={fact.id: outsider})) == view(routing)
    stale = {"ambiguous:alchemy+astrology": "alchemy", "repeated_failure:alchemy": "alchemy", "nonsense": "finance"}
    assert view(scene.decide(answers=stale)) == view(routing)
    return labels_of(routing)


def test_f9_an_answer_is_evidence_of_the_users_intent_without_weight() -> None:
    found = intent_evidence("ambiguous:economics+finance", "finance")
    assert (found.role, found.source, found.weight, found.activation) == ("keep", "user", 0, "context_only")
    routing = decide([candidate("finance", [found])], [lens("finance", "finance", [found])])
    assert routing.decision == "no_subject"
    blocked = candidate("finance", [*shaped("finance", [200_000], [200_000]), found], gates=ACTIVE[:1])
    assert decide([blocked], answers={"ambiguous:economics+finance": "finance"}).decision == "no_subject"


@covering(
    each_kind(st.lists(st.integers(-(10**6), 10**6), min_size=5, max_size=5), kinds=("suggest", "ambiguous", "core")),
    decisive=0.1,
)
def test_g3_a_session_never_turns_one_decisive_suggestion_into_another(example: tuple[Scene, list[int]]) -> set[str]:
    scene, advisories = example
    plain = tuple(attrs.evolve(item, session=None) for item in scene.candidates)
    advised = tuple(attrs.evolve(item, session=amount) for item, amount in zip(plain, advisories, strict=False))  # type: ignore[arg-type]
    before = scene.decide(candidates=plain)
    after = scene.decide(candidates=advised)
    if before.decision != "suggest_subject":
        return set()
    totals = sorted((item.scored.total for item in before.ranked), reverse=True)
    if len(totals) < 2 or totals[0] - totals[1] > scene.limits.margin:
        assert after.primary in (before.primary, "auto")
        return {"decisive"}
    return set()


def test_refusals_of_the_packet_are_the_closed_list() -> None:
    assert len(REFUSAL_CODES) == 5


def test_select_takes_what_the_standings_say_and_nothing_else() -> None:
    standings = decide([candidate(name, shaped(name, [200_000], [200_000])) for name in SUBJECTS]).ranked
    none: tuple[Standing, ...] = tuple(attrs.evolve(item, suggestible=False) for item in standings)
    assert select(none) == (None, ())
    only = (none[0], standings[1], none[2])
    assert select(only) == (standings[1], ())
