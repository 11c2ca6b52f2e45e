"""Invariants B5 to D5 of the heuristics contract on whole decisions; the properties assert that they saw their subject.

The letters are those of the contract. `@covering(generator, label=share)` runs the property over the generator and
fails unless each label makes up its share of the draws.
"""

from __future__ import annotations

import itertools
import json
from typing import Any

import attrs
from engine_cases import (
    AUTOMATIC,
    FAILING,
    STRONG,
    SUBJECTS,
    Scene,
    candidate,
    covering,
    each_kind,
    evidence,
    garbage,
    labels_of,
    lens,
    resource_routes,
    scenes,
    shaped,
    strong_evidence,
    strong_weights,
    view,
    weak_evidence,
)
from hypothesis import given
from hypothesis import strategies as st

from qiongli.limits import DEFAULT_LIMITS
from qiongli.records import SCALE, Evidence, Ppm
from qiongli.records.evidence import DIMENSIONS
from qiongli.records.packet import DECISIONS
from qiongli.routing import Routing, rank
from qiongli.scoring import Route, score


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


# --- A on decisions -----------------------------------------------------------------------------------------------


@covering(
    each_kind(st.lists(garbage, min_size=6, max_size=6), st.integers(0, 3), kinds=AUTOMATIC),
    suggest_subject=0.1,
    rejected=0.2,
)
def test_a1_a2_garbage_in_any_slot_of_a_candidate_raises_nothing_and_wins_nothing(
    example: tuple[Scene, list[Any], int],
) -> set[str]:
    scene, (weight, penalty, priority, session, proved, start), index = example
    victim = scene.candidates[index % len(scene.candidates)]
    name = victim.subject
    more = (
        evidence(name, "classification", 80, weight, start=start),
        evidence(name, "method", 81, penalty, role="suppressor"),
    )
    spoilt = attrs.evolve(
        victim,
        evidence=(*victim.evidence, *more),
        priority=priority,
        session=session,
        single_dimension_proved=proved,
    )
    after = scene.with_candidate(spoilt).decide()
    json.loads(view(after))
    totals = {item.subject: item.scored.total for item in after.ranked}
    assert all(type(total) is int and 0 <= total <= SCALE for total in totals.values())
    if any(type(value) is int for value in (weight, penalty, session)) or proved is True:
        return labels_of(after)
    # Nothing of it can be read, so that it adds nothing and takes nothing.
    clean = scene.with_candidate(attrs.evolve(victim, session=None)).decide()
    assert totals == {item.subject: item.scored.total for item in clean.ranked}
    rejected = sum(item.scored.breakdown.rejected for item in after.ranked)
    return labels_of(after) | ({"rejected"} if rejected else set())


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


@st.composite
def dearer_resources(draw: st.DrawFn, priors: st.SearchStrategy[int]) -> tuple[Route, int, list[Route]]:
    """A resource, by how much it gets dearer, and others that score about as much."""
    own = draw(resource_routes(id="own", prior=priors, cost=st.integers(0, 150_000)))
    near = st.integers(max(0, score(own).total - 60_000), score(own).total + 10_000)
    others = draw(st.lists(st.tuples(near, st.integers(0, 100_000), st.integers(0, 5)), min_size=1, max_size=6))
    built = [
        Route("resource", f"other.{number}", "s", priority, prior=Ppm(min(1_000_000, total + cost)), cost=Ppm(cost))
        for number, (total, cost, priority) in enumerate(others)
    ]
    # It differs by its id only: cheaper than the dearer resource, and tied with it where both score 0.
    twin = attrs.evolve(own, id=draw(st.sampled_from(["a", "z"])))
    return own, draw(st.sampled_from([0, 1, 20_000, 50_000, 100_000])), [*built, twin]


@covering([dearer_resources(st.integers(400_000, 600_000)), dearer_resources(st.just(0))], worse=0.15, kept=0.15)
def test_c1_more_cost_never_improves_the_rank(example: tuple[Route, int, list[Route]]) -> set[str]:
    own, more, others = example
    dearer = attrs.evolve(own, cost=Ppm((own.cost or 0) + more))

    def place(route: Route) -> int:
        return [item.route.id for item in rank(score(found) for found in (route, *others))].index("own")

    before, after = place(own), place(dearer)
    assert after >= before
    return {"worse" if after > before else "kept"}


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


@covering(each_kind(st.data(), kinds=AUTOMATIC), fewer=0.3, suggest_subject=0.1, withdrawn=0.05)
def test_c7_less_specific_text_never_creates_a_suggestion(example: tuple[Scene, st.DataObject]) -> set[str]:
    scene, data = example
    kept = []
    for item in scene.candidates:
        positives = [found for found in item.evidence if found.role == "signal"]
        left = data.draw(st.lists(st.sampled_from(positives), unique=True)) if positives else []
        kept.append(attrs.evolve(item, evidence=(*left, *(found for found in item.evidence if found.role != "signal"))))
    before, after = scene.decide(), scene.decide(candidates=kept)
    full = {item.subject: item for item in before.ranked}
    for standing in after.ranked:
        assert standing.scored.total <= full[standing.subject].scored.total
        assert full[standing.subject].suggestible or not standing.suggestible
    labels = labels_of(before)
    if after.decision != "suggest_subject" and before.decision == "suggest_subject":
        labels.add("withdrawn")
    return labels | ({"fewer"} if tuple(kept) != scene.candidates else set())


# --- D: determinism and order -------------------------------------------------------------------------------------


@covering(each_kind(st.randoms(use_true_random=False)), suggest_subject=0.1, ambiguous=0.05, blocked=0.1)
def test_d1_no_order_of_any_input_changes_a_byte(example: tuple[Scene, Any]) -> set[str]:
    scene, random = example
    # Ties of score and priority, which only ids break.
    scene = attrs.evolve(
        scene,
        candidates=tuple(attrs.evolve(item, priority=0) for item in scene.candidates),
        lenses=(
            *scene.lenses,
            *(lens(name, "twin", [evidence(name, "method", 5, 150_000, value="twin")]) for name in SUBJECTS),
        ),
    )

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
