"""What a packet says would change its decision is true: the change is made, and the decision asked for again."""

from __future__ import annotations

import re
from collections.abc import Iterable

from engine_cases import ACTIVE, Scene, candidate, evidence, strong_weights
from hypothesis import example, given
from hypothesis import strategies as st

from qiongli.limits import DEFAULT_LIMITS
from qiongli.records.evidence import DIMENSIONS, Evidence
from qiongli.records.packet import WhatWouldChange
from qiongli.refinement._counterfactuals import what_would_change
from qiongli.routing import Routing

Found = list[tuple[str, int, int]]
found = st.lists(
    st.tuples(st.sampled_from(DIMENSIONS[:5]), st.integers(0, 5), strong_weights),
    max_size=10,
    unique_by=lambda item: item[:2],
)
suppressed = st.lists(st.integers(1, 300_000), max_size=2)


def routed(signals: Iterable[Evidence], penalties: list[int], *, proved: bool = False) -> Routing:
    against = [
        evidence("finance", "method", 90 + number, weight, role="suppressor") for number, weight in enumerate(penalties)
    ]
    scene = Scene((candidate("finance", (*signals, *against), gates=ACTIVE, single_dimension_proved=proved),), ())
    return scene.decide()


def evidence_of(items: Found) -> list[Evidence]:
    return [evidence("finance", dimension, number, weight) for dimension, number, weight in items]


def only(changes: tuple[WhatWouldChange, ...]) -> WhatWouldChange:
    assert len(changes) == 1
    return changes[0]


@given(found, suppressed, st.booleans())
@example([("method", 0, 200_000), ("data_or_outcome", 0, 200_000)], [], False)
@example([("method", 0, 200_000), ("data_or_outcome", 0, 200_000), ("venue", 0, 200_000)], [], False)
@example([("method", number, 200_000) for number in range(3)], [], True)
def test_the_support_that_is_named_is_the_lightest_that_the_suggestion_rests_on(
    items: Found, penalties: list[int], proved: bool
) -> None:
    signals = evidence_of(items)
    routing = routed(signals, penalties, proved=proved)
    if routing.decision != "suggest_subject":
        return
    change = only(what_would_change(routing, DEFAULT_LIMITS))
    assert routing.standing is not None
    entries = [entry for entry in routing.standing.scored.breakdown.entries if entry.kind == "dimension"]
    named = re.match(r"without any (\w+) signal", change.change)
    for entry in sorted(entries, key=lambda entry: (entry.amount, entry.name)):
        left = [item for item in signals if item.dimension != entry.name]
        stands = routed(left, penalties, proved=proved).decision == "suggest_subject"
        if named is not None and entry.name == named[1]:
            assert not stands
            return
        assert stands
    assert named is None
    assert change.change == "no single dimension decides"


@given(found, suppressed)
@example([("method", 0, 200_000)], [])
@example([("method", 0, 200_000), ("method", 1, 200_000)], [])
@example([("method", 0, 60_000), ("data_or_outcome", 0, 60_000)], [])
def test_the_signal_that_is_missing_would_make_the_suggestion(items: Found, penalties: list[int]) -> None:
    signals = evidence_of(items)
    routing = routed(signals, penalties)
    if routing.decision != "no_subject" or not routing.ranked:
        return
    change = only(what_would_change(routing, DEFAULT_LIMITS)).change

    def suggested_with(dimension: str) -> bool:
        further = evidence("finance", dimension, 50, DEFAULT_LIMITS.weight_cap)
        return routed([*signals, further], penalties).decision == "suggest_subject"

    held = routing.ranked[0].scored.dimensions
    if change.startswith("one more dimension"):
        names = change.partition("a strong signal in ")[2].split(" or ")
        assert not set(names) & set(held)
        assert all(suggested_with(name) for name in names)
    elif change.startswith("one more strong signal in "):
        name = change.removeprefix("one more strong signal in ")
        assert name in held
        assert suggested_with(name)
    else:
        assert change.startswith("more than one further signal")
        assert not any(suggested_with(name) for name in DIMENSIONS[:5] if name not in held)
