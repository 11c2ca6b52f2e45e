"""Builders, generators and an exact reference for the tests of the engine."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import attrs
from hypothesis import given, settings
from hypothesis import strategies as st

from qiongli.clarification import ask
from qiongli.limits import DEFAULT_LIMITS, Limits
from qiongli.records import SCALE, Evidence, Ppm
from qiongli.records.evidence import DIMENSIONS
from qiongli.records.packet import Refusal
from qiongli.routing import LensCandidate, RouteCandidate, Routing, decide
from qiongli.safety import Gate, Outcome, lens_gates, subject_gates
from qiongli.scoring import Contribution, Route

#: What may turn up where a number should be.
GARBAGE: tuple[Any, ...] = (
    float("nan"),
    float("inf"),
    float("-inf"),
    -0.0,
    5e-324,
    1e308,
    True,
    False,
    "0.3",
    "",
    None,
    Decimal("sNaN"),
    Decimal("NaN"),
    Decimal("Infinity"),
    Decimal("1e999999"),
    Decimal("-1e-999999"),
    10**400,
    -(10**400),
    -1,
    0.2,
    Fraction(1, 3),
    1j,
    b"1",
    [],
    {},
    object(),
)

garbage = st.one_of(
    st.sampled_from(GARBAGE), st.floats(allow_nan=True, allow_infinity=True), st.integers(), st.text(max_size=4)
)
weights = st.integers(60_000, 200_000)
#: Evidence of every strength, with the corners where thresholds lie.
strong_weights = st.one_of(st.sampled_from([60_000, 100_000, 133_334, 150_000, 199_999, 200_000]), weights)
penalty_weights = st.integers(1, 300_000)


def contribution(dimension: str, number: int, weight: Any, source: str = "text") -> Contribution:
    """A contribution whose id belongs to one dimension, as in a registry."""
    return Contribution(f"s.{dimension}.{number}", dimension, weight, source)


def contributions(
    max_size: int = 12, dimensions: Sequence[str] = DIMENSIONS
) -> st.SearchStrategy[tuple[Contribution, ...]]:
    """Positive evidence; ids repeat now and then, with different weights."""
    one = st.builds(contribution, st.sampled_from(dimensions), st.integers(0, 5), strong_weights)
    return st.lists(one, max_size=max_size).map(tuple)


def penalties(max_size: int = 6) -> st.SearchStrategy[tuple[Contribution, ...]]:
    """Negative evidence."""
    one = st.builds(
        lambda number, weight: Contribution(f"s.suppressor.{number}", "method", weight),
        st.integers(0, 6),
        penalty_weights,
    )
    return st.lists(one, max_size=max_size).map(tuple)


def subject_routes(**fixed: Any) -> st.SearchStrategy[Route]:
    """Well-formed subject routes of every strength."""
    fields: dict[str, Any] = {
        "kind": st.just("subject"),
        "id": st.just("s"),
        "subject": st.just("s"),
        "priority": st.integers(0, 5),
        "prior": st.just(300_000),
        "boosts": contributions(),
        "penalties": penalties(),
        "session": st.one_of(st.none(), st.integers(-50_000, 50_000)),
        "single_dimension": st.booleans(),
    }
    fields.update(
        {name: value if isinstance(value, st.SearchStrategy) else st.just(value) for name, value in fixed.items()}
    )
    return st.builds(Route, **fields)


def resource_routes(**fixed: Any) -> st.SearchStrategy[Route]:
    """Well-formed resource routes."""
    fields: dict[str, Any] = {
        "kind": st.just("resource"),
        "id": st.just("s/overlay/s"),
        "subject": st.just("s"),
        "priority": st.integers(0, 5),
        "prior": st.one_of(st.none(), st.integers(0, SCALE)),
        "boosts": contributions(4),
        "penalties": penalties(3),
        "cost": st.one_of(st.none(), st.integers(0, 200_000)),
        "risk": st.one_of(st.none(), st.integers(1_000_000, 2_000_000)),
        "session": st.one_of(st.none(), st.integers(-50_000, 50_000)),
    }
    fields.update(
        {name: value if isinstance(value, st.SearchStrategy) else st.just(value) for name, value in fixed.items()}
    )
    return st.builds(Route, **fields)


# --- the exact reference ------------------------------------------------------------------------------------------


def _dimension_sums(boosts: Iterable[Contribution], divisor: int) -> dict[str, int]:
    heaviest: dict[tuple[str, str], int] = {}
    for item in boosts:
        key = (item.dimension, item.id)
        heaviest[key] = max(heaviest.get(key, 0), item.weight)
    grouped: dict[str, list[int]] = {}
    for (dimension, _), weight in heaviest.items():
        grouped.setdefault(dimension, []).append(weight)
    return {
        dimension: sum(
            Fraction(weight, divisor**rank).__floor__() for rank, weight in enumerate(sorted(found, reverse=True))
        )
        for dimension, found in grouped.items()
    }


def reference_score(route: Route, limits: Limits = DEFAULT_LIMITS) -> int:
    """The score of a well-formed route by the contract's text, over `fractions.Fraction`, in millionths."""
    total = Fraction(limits.default_prior if route.prior is None else route.prior)
    boosts = sum(
        (
            Fraction(Fraction(amount, 2**rank).__floor__())
            for rank, amount in enumerate(sorted(_dimension_sums(route.boosts, 3).values(), reverse=True))
        ),
        Fraction(0),
    )
    if route.single_dimension and route.kind == "subject":
        alone = max((min(300_000, amount) for amount in _dimension_sums(route.boosts, 2).values()), default=0)
        boosts = max(boosts, Fraction(alone))
    total += boosts
    if route.kind != "lens":
        negatives: dict[str, int] = {}
        for item in route.penalties:
            negatives[item.id] = max(negatives.get(item.id, 0), item.weight)
        total -= min(600_000, sum(negatives.values()))
    if route.kind == "resource":
        cost = Fraction(200_000 if route.cost is None else route.cost)
        risk = Fraction(1_000_000 if route.risk is None else route.risk, SCALE)
        total -= min(Fraction(200_000), Fraction((cost * risk).__floor__()))
    if route.kind != "lens" and route.session is not None:
        total += route.session
    result = min(Fraction(SCALE), max(Fraction(0), total))
    assert result.denominator == 1
    return int(result)


# --- scenes: whole decisions without text -------------------------------------------------------------------------

#: In the order of their priority.
SUBJECTS = ("economics", "finance", "accounting", "business")


def evidence(subject: str, dimension: str, number: int, weight: Any, **changes: Any) -> Evidence:
    """One asserted subject-level signal, unless changed."""
    fields: dict[str, Any] = {
        "signal_id": f"{subject}.{dimension}.{number}",
        "subject": subject,
        "dimension": dimension,
        "value": f"{subject}-{number}",
        "activation": "subject",
        "weight": weight,
    }
    return Evidence(**(fields | changes))


def shaped(subject: str, *dimensions: Sequence[int]) -> tuple[Evidence, ...]:
    """Evidence with these weights, in millionths, dimension by dimension."""
    return tuple(
        evidence(subject, name, number, weight)
        for name, found in zip(DIMENSIONS, dimensions, strict=False)
        for number, weight in enumerate(found)
    )


ACTIVE = subject_gates(state="active", excluded=False)
LENDABLE = lens_gates(state="active", pack_resolves=True)
FAILING: tuple[tuple[Gate, ...], ...] = (
    subject_gates(state="lens_only", excluded=False),
    subject_gates(state="inactive", excluded=False),
    subject_gates(state="active", excluded=True),
    (*ACTIVE, Gate("veto", Outcome.FAIL)),
    (*ACTIVE, Gate("veto", None)),
    (*ACTIVE, Gate("veto", True)),
    (*ACTIVE, Gate("veto", "pass")),
    ACTIVE[:1],
    ACTIVE[1:],
    (),
)


def candidate(subject: str, found: Iterable[Evidence] = (), **changes: Any) -> RouteCandidate:
    """An active subject with its evidence, unless changed."""
    fields: dict[str, Any] = {
        "subject": subject,
        "priority": SUBJECTS.index(subject) if subject in SUBJECTS else 9,
        "evidence": tuple(found),
        "gates": ACTIVE,
    }
    return RouteCandidate(**(fields | changes))


def lens(subject: str, slug: str, found: Iterable[Evidence], gates: tuple[Gate, ...] = LENDABLE) -> LensCandidate:
    """A lens that may be lent, with its subject's evidence."""
    return LensCandidate(subject, slug, 0, tuple(found), gates)


@attrs.frozen
class Scene:
    """All that a decision depends on."""

    candidates: tuple[RouteCandidate, ...]
    lenses: tuple[LensCandidate, ...] = ()
    mode: Any = "auto"
    active_subject: str = "auto"
    has_text: bool = True
    refusal: Refusal | None = None
    answers: Mapping[str, str] = attrs.field(factory=dict)
    limits: Limits = DEFAULT_LIMITS

    def decide(self, **changes: Any) -> Routing:
        """The routing of this scene."""
        fields = {field.name: getattr(self, field.name) for field in attrs.fields(Scene)} | changes
        return decide(fields.pop("candidates"), fields.pop("lenses"), **fields)

    def with_candidate(self, new: RouteCandidate) -> Scene:
        """The scene with one candidate replaced, or added."""
        others = tuple(item for item in self.candidates if item.subject != new.subject)
        return attrs.evolve(self, candidates=(*others, new))


def view(routing: Routing) -> str:
    """Canonical JSON of everything that a packet shows of a routing."""
    return json.dumps(
        {
            "decision": routing.decision,
            "primary": routing.primary,
            "secondaries": routing.secondaries,
            "confidence": routing.confidence,
            "ranked": [
                [
                    item.subject,
                    item.suggestible,
                    item.scored.breakdown.to_packet(),
                    item.scored.dimensions,
                    item.scored.signal_ids,
                ]
                for item in routing.ranked
            ],
            "replaced": [item.subject for item in routing.replaced],
            "blocked": [item.to_packet() for item in routing.blocked],
            "lenses": [
                [item.subject, item.lens, item.lent, item.scored.breakdown.to_packet()] for item in routing.lenses
            ],
            "withheld": [[name, [reason.code for reason in reasons]] for name, reasons in routing.withheld_lenses],
            "method_lenses": routing.method_lenses,
            "borrowed": [[item.subject, item.lens] for item in routing.borrowed_lenses],
            "facts": [[fact.kind, fact.id, fact.subjects] for fact in routing.facts],
            "reasons": [reason.to_packet() for reason in routing.reasons],
            "refusal": routing.refusal.to_packet() if routing.refusal else None,
        },
        allow_nan=False,
    )


#: Shapes around the thresholds, weights in millionths, with the score that the contract gives them.
STRONG: tuple[tuple[tuple[int, ...], ...], ...] = (
    ((200_000,), (200_000,)),  # 600000
    ((200_000,), (200_000,), (60_000,)),  # 615000
    ((200_000,), (200_000,), (120_000,)),  # 630000
    ((200_000, 200_000), (150_000,)),  # 641666
    ((200_000, 200_000), (200_000, 200_000)),  # 699999
    ((200_000, 200_000), (200_000, 200_000), (200_000, 200_000)),  # 766665
)
WEAK: tuple[tuple[tuple[int, ...], ...], ...] = (
    (),
    ((60_000,),),
    ((200_000,) * 4,),  # 596295: one dimension
    ((200_000,), (199_999,)),  # 599999
    ((200_000,), (150_000,)),  # 575000
    ((100_000,), (100_000,), (100_000,)),
)


@st.composite
def strong_evidence(draw: st.DrawFn, subject: str) -> tuple[Evidence, ...]:
    """Enough evidence for a suggestion; two dimensions at full weight at least."""
    if draw(st.booleans()):
        return shaped(subject, *draw(st.sampled_from(STRONG)))
    extra = draw(st.lists(st.tuples(st.sampled_from(DIMENSIONS), strong_weights), max_size=5))
    more = tuple(evidence(subject, dimension, 10 + number, weight) for number, (dimension, weight) in enumerate(extra))
    return (*shaped(subject, (200_000,), (200_000,)), *more)


@st.composite
def weak_evidence(draw: st.DrawFn, subject: str) -> tuple[Evidence, ...]:
    """Not enough for a suggestion."""
    if draw(st.booleans()):
        return shaped(subject, *draw(st.sampled_from(WEAK)))
    number = draw(st.integers(0, 6))
    return shaped(subject, tuple(draw(st.lists(strong_weights, min_size=number, max_size=number))))


@st.composite
def lens_candidates(draw: st.DrawFn, subject: str, *, lent: bool) -> LensCandidate:
    """A lens that is lent, or one that is not: too weak, without its pack, or of a subject that may not lend."""
    slug = f"{subject}-lens"
    activation = draw(st.sampled_from(["method_only", "subject"]))
    if lent:
        weight, gates = (
            draw(st.integers(100_000, 200_000)),
            draw(st.sampled_from([LENDABLE, lens_gates(state="lens_only", pack_resolves=True)])),
        )
    else:
        weight, gates = draw(
            st.sampled_from(
                [
                    (99_999, LENDABLE),
                    (200_000, lens_gates(state="active", pack_resolves=False)),
                    (200_000, lens_gates(state="inactive", pack_resolves=True)),
                    (200_000, LENDABLE[:1]),
                    (200_000, ()),
                ]
            )
        )
    return lens(subject, slug, [evidence(subject, "method", 99, weight, value=slug, activation=activation)], gates)


KINDS = ("core", "borrow", "suggest", "ambiguous", "confirm", "lock", "blocked", "repeated", "missing", "refused")
#: Kinds of scenes that no manifest and no refusal decides.
AUTOMATIC = ("core", "borrow", "suggest", "ambiguous", "blocked", "repeated")


@st.composite
def scenes(draw: st.DrawFn, kinds: Sequence[str] = KINDS) -> Scene:
    """Scenes built for every decision: strong candidates near the threshold, and a blocked one beside them.

    The contract's measurement: broad random input never reached a clarification. So the kind is drawn first.
    """
    kind = draw(st.sampled_from(list(kinds)))
    names = draw(st.permutations(SUBJECTS))
    blocked_name, *rest = names
    strong: dict[str, int] = {"suggest": 1, "ambiguous": draw(st.integers(2, 3)), "repeated": draw(st.integers(1, 2))}
    number = strong.get(kind, draw(st.integers(0, 3)) if kind in ("confirm", "lock", "refused") else 0)
    built: list[RouteCandidate] = []
    shape = draw(st.sampled_from(STRONG[:4]))
    for index, name in enumerate(rest):
        if index < number:
            # Shapes of one scene lie within the margin of each other, unless a single one is wanted.
            found = (
                shaped(name, *(shape if index else draw(st.sampled_from(STRONG[:4]))))
                if kind == "ambiguous"
                else draw(strong_evidence(name))
            )
        else:
            found = draw(weak_evidence(name))
        suppressors: tuple[Evidence, ...] = ()
        if kind in ("core", "confirm", "lock") and draw(st.booleans()):
            suppressors = (
                evidence(name, "method", 1, draw(penalty_weights), signal_id=f"{name}.suppressor.1", role="suppressor"),
            )
        # A session must not push the strong ones out of the scene that was asked for.
        lowest = 0 if kind in ("suggest", "ambiguous", "repeated") else -50_000
        session = draw(st.one_of(st.none(), st.integers(lowest, 50_000)))
        built.append(candidate(name, (*found, *suppressors), session=session))
    if kind == "repeated":
        built = [
            attrs.evolve(item, repeated_failure=True) if index < number else item for index, item in enumerate(built)
        ]
    if draw(st.booleans()) or kind == "blocked":
        built.append(candidate(blocked_name, draw(strong_evidence(blocked_name)), gates=draw(st.sampled_from(FAILING))))
    lent = kind == "borrow" or (kind in ("suggest", "ambiguous", "confirm", "lock") and draw(st.booleans()))
    lenses = tuple(
        draw(lens_candidates(name, lent=lent and index == 0))
        for index, name in enumerate(draw(st.permutations(SUBJECTS))[: draw(st.integers(1, 3))])
    )
    mode = {"confirm": "confirmed", "lock": "locked"}.get(kind, "auto")
    return Scene(
        candidates=tuple(draw(st.permutations(built))),
        lenses=lenses,
        mode=mode,
        active_subject=draw(st.sampled_from(SUBJECTS)) if mode != "auto" else "auto",
        has_text=kind != "missing",
        refusal=Refusal("policy_forbids", "forbidden") if kind == "refused" else None,
        limits=DEFAULT_LIMITS.strict()
        if kind in ("core", "confirm", "lock") and draw(st.booleans())
        else DEFAULT_LIMITS,
    )


def labels_of(routing: Routing) -> set[str]:
    """What kinds of results a routing shows, for counting coverage."""
    labels: set[str] = {routing.decision, *(fact.kind for fact in routing.facts)}
    if routing.refusal:
        labels.add("refusal")
    if routing.blocked:
        labels.add("blocked")
    if routing.borrowed_lenses or routing.method_lenses:
        labels.add("lens")
    return labels


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


def each_kind(*others: st.SearchStrategy[Any], kinds: Sequence[str] = KINDS) -> tuple[st.SearchStrategy[Any], ...]:
    """One generator for each kind of scene, with further parts of an example; `covering` runs them in turn."""
    if others:
        return tuple(st.tuples(scenes((kind,)), *others) for kind in kinds)
    return tuple(scenes((kind,)) for kind in kinds)


def covering(
    strategies: st.SearchStrategy[Any] | Sequence[st.SearchStrategy[Any]], **needs: float
) -> Callable[[Callable[[Any], set[str]]], Callable[[], None]]:
    """Run a property over generators, and fail unless each label makes up its share of all draws.

    The property returns the labels of its example. A property that never saw what it is about proves nothing. Several
    generators share the examples of the profile evenly, so that the shares do not hang on luck.
    """
    generators = [strategies] if isinstance(strategies, st.SearchStrategy) else list(strategies)

    def decorate(prove: Callable[[Any], set[str]]) -> Callable[[], None]:
        def test() -> None:
            counts: Counter[str] = Counter()
            examples = max(5, settings.default.max_examples // len(generators))  # type: ignore[union-attr]
            for generator in generators:

                @settings(max_examples=examples)
                @given(generator)
                def run(example: Any) -> None:
                    counts["_total"] += 1
                    counts.update(prove(example))

                run()
            for label, share in needs.items():
                assert counts[label] >= share * counts["_total"], (
                    f"{label}: {counts[label]} of {counts['_total']} draws"
                )

        test.__name__ = prove.__name__
        test.__doc__ = prove.__doc__
        test.__module__ = prove.__module__
        return test

    return decorate


def ppm(value: int) -> Ppm:
    """An int as millionths, for the type checker."""
    return Ppm(value)
