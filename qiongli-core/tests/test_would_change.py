"""What a packet says would change its decision is true: the change is made, and the decision asked for again."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import attrs
import packet_cases
import pytest
from engine_cases import ACTIVE, Scene, candidate, evidence, strong_weights
from hypothesis import example, given
from hypothesis import strategies as st
from packet_cases import Desk, write_packages

from qiongli.contract.models import Pattern
from qiongli.limits import DEFAULT_LIMITS
from qiongli.records.evidence import DIMENSIONS, Evidence
from qiongli.records.packet import RefinementPacket, WhatWouldChange
from qiongli.records.project import ManifestState
from qiongli.refinement._counterfactuals import what_would_change
from qiongli.routing import Routing
from qiongli.session import Identifier, SessionContext, SessionEvent, SessionState, fold

#: How a change begins that takes suppressors away.
SUPPRESSOR = "without the suppressor"

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
    change = only(
        tuple(item for item in what_would_change(routing, DEFAULT_LIMITS) if not item.change.startswith(SUPPRESSOR))
    ).change

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


# --- suppressors --------------------------------------------------------------------------------------------------


@given(found, st.lists(st.integers(1, 300_000), max_size=3))
@example([("method", 0, 200_000), ("data_or_outcome", 0, 200_000), ("venue", 0, 120_000)], [50_000])
@example([("method", 0, 200_000), ("data_or_outcome", 0, 200_000)], [50_000, 60_000])
@example([("method", 0, 200_000), ("data_or_outcome", 0, 200_000), ("venue", 0, 200_000)], [50_000, 40_000, 10_000])
@example([(name, 0, 200_000) for name in DIMENSIONS[:4]], [60_000, 50_000])
def test_the_suppressor_that_is_named_is_the_lightest_that_alone_stands_in_the_way(
    items: Found, penalties: list[int]
) -> None:
    signals = evidence_of(items)
    routing = routed(signals, penalties)
    if routing.decision != "no_subject" or not routing.ranked:
        return
    changes = [item for item in what_would_change(routing, DEFAULT_LIMITS) if item.change.startswith(SUPPRESSOR)]
    ids = [evidence("finance", "method", 90 + number, 0, role="suppressor").signal_id for number in range(3)]

    def suggested_without(gone: Iterable[int]) -> bool:
        against = [
            evidence("finance", "method", 90 + number, weight, role="suppressor")
            for number, weight in enumerate(penalties)
            if number not in set(gone)
        ]
        candidates = (candidate("finance", (*signals, *against), gates=ACTIVE),)
        return Scene(candidates, ()).decide().decision == "suggest_subject"

    enough = [number for number in range(len(penalties)) if suggested_without([number])]
    if enough:
        lightest = min(enough, key=lambda number: (penalties[number], [-ord(sign) for sign in ids[number]]))
        assert [item.change for item in changes] == [f"{SUPPRESSOR} {ids[lightest]}"]
    elif penalties and suggested_without(range(len(penalties))):
        assert len(changes) == 1
        assert all(ids[number] in changes[0].change for number in range(len(penalties)))
    else:
        assert changes == []
    assert {item.effect for item in changes} <= {"it would be suggested"}


WEIGHTING = "We apply quorl weighting."


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    folder = tmp_path_factory.mktemp("packages")
    write_packages(folder)
    return Desk(folder)


def told(packet: RefinementPacket, subject: str) -> list[str]:
    """What would change a subject's standing, each as change and effect."""
    return [f"{item.change} -> {item.effect}" for item in packet.what_would_change if item.subject == subject]


TOY, CAKE = "alpha.suppressor.toy", "alpha.suppressor.cake"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        # 0.60 - 0.10
        pytest.param(f"{WEIGHTING} The quorl ledger. A toy quorl.", (TOY,), id="it only subtracts"),
        # 0.30 + 0.20 - 0.10, and without it 0.30 + 0.20 + 0.20 / 2
        pytest.param(f"{WEIGHTING} A quorl ledger cake.", (CAKE,), id="it also took the second dimension"),
        # Without it the ledger is denied.
        pytest.param(f"{WEIGHTING} We do not use a quorl ledger cake.", (), id="what it took is denied"),
        pytest.param(
            f'{WEIGHTING} "We all ate of that quorl ledger cake last year," she said.', (), id="what it took is quoted"
        ),
        # 0.60 - 0.20; without either 0.50
        pytest.param(
            f"{WEIGHTING} The quorl ledger. A toy quorl. A quorl ledger cake.", (CAKE, TOY), id="both together"
        ),
        # 0.30 + 0.20 - 0.10; without it still one dimension
        pytest.param("The quorl ledger. A toy quorl.", (), id="one dimension without it, too"),
        pytest.param(f"{WEIGHTING} The quorl ledger. A toy brindle.", (), id="no suppressor at all"),
    ],
)
def test_without_the_suppressors_that_are_named_and_no_others_the_same_text_is_suggested(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, text: str, named: tuple[str, ...]
) -> None:
    changes = [change for change in told(desk.route(text), "alpha") if change.startswith(SUPPRESSOR)]
    words = f"{SUPPRESSOR}{'s' if len(named) > 1 else ''} {', '.join(named)}"
    assert changes == ([f"{words} -> it would be suggested"] if named else [])
    every = packet_cases.SUPPRESSORS["alpha"]
    suggested = desk.route(text).primary_subject == "alpha"
    for gone in ((CAKE,), (TOY,), (CAKE, TOY)):
        left = tuple(item for item in every if item.id not in gone)
        monkeypatch.setattr(packet_cases, "SUPPRESSORS", {"alpha": left})
        assert (desk.route(text).primary_subject == "alpha") == (suggested or (bool(named) and {*named} <= {*gone}))


def test_words_of_a_directive_speak_for_no_subject_without_the_suppressor_either(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_name = ("alpha", "data_or_outcome", "name", packet_cases.FULL, "subject", "alpha")
    monkeypatch.setattr(packet_cases, "SIGNALS", (*packet_cases.SIGNALS, own_name))
    cake = packet_cases.SUPPRESSORS["alpha"][0]
    taking = attrs.evolve(cake, patterns=(Pattern("phrase", "in alpha"),))
    monkeypatch.setattr(packet_cases, "SUPPRESSORS", {"alpha": (taking,)})
    text = f"Keep this in alpha. {WEIGHTING}"
    packet = desk.route(text)
    assert [item.polarity for item in packet.signals if item.signal_id == "alpha.data-or-outcome.name"] == ["everyday"]
    assert not [change for change in told(packet, "alpha") if change.startswith(SUPPRESSOR)]
    monkeypatch.setattr(packet_cases, "SUPPRESSORS", {})
    assert desk.route(text).primary_subject == "auto"


def test_a_suppressor_that_keeps_a_subject_from_standing_beside_the_suggested_one_is_named(desk: Desk) -> None:
    beside = "Brindle grafting, the brindle register, quorl weighting, the quorl ledger, a toy quorl."
    packet = desk.route(beside)  # beta 0.60, alpha 0.50; without the toy they tie, and alpha goes first
    assert packet.primary_subject == "beta"
    assert told(packet, "alpha") == [f"{SUPPRESSOR} {TOY} -> it would be suggested instead"]
    assert desk.route(beside.replace(", a toy quorl", "")).primary_subject == "alpha"
    # beta 0.30 + 0.2666 + 0.10, so that alpha would come second, within the margin.
    packet = desk.route(f"Brindle splicing. {beside}")
    assert told(packet, "alpha") == [f"{SUPPRESSOR} {TOY} -> it would stand beside beta, within the margin"]
    packet = desk.route(f"Brindle splicing. {beside}".replace(", a toy quorl", ""))
    assert (packet.primary_subject, packet.secondary_subjects) == ("beta", ("alpha",))


# --- what is blocked, settled, or has failed ----------------------------------------------------------------------

GAMMA = "We apply gnarl gauging to the gnarl gazette."


@pytest.mark.parametrize(
    ("text", "change"),
    [
        (GAMMA, "state active"),
        (f"Do not treat this as gamma. {GAMMA}", "state active and without the words that exclude it"),
        (f"Keep this in beta. {GAMMA}", "state active and without the words that exclude it"),
    ],
)
def test_all_that_a_blocked_subject_lacks_is_named(desk: Desk, text: str, change: str) -> None:
    packet = desk.route(text)
    assert told(packet, "gamma") == [f"{change} -> it would be considered"]
    free = Desk(desk.folder, blocked=())
    considered = [item.subject for item in free.route(GAMMA).candidate_subjects]
    assert considered == ["gamma"]
    # One of them alone is not enough.
    assert [item.subject for item in desk.route(GAMMA).candidate_subjects] == []
    if text != GAMMA:
        assert [item.subject for item in free.route(text).candidate_subjects] == []


def test_an_answer_that_excludes_is_not_called_words_of_the_task(desk: Desk) -> None:
    packet = desk.route("We apply quorl weighting to the quorl ledger.", answers={"ambiguous:alpha+beta": "beta"})
    assert told(packet, "alpha") == ["without the answer that excludes it -> it would be considered"]


def test_a_composite_is_told_all_that_its_parts_lack(desk: Desk) -> None:
    composed = Desk(desk.folder, ("alpha", "beta", "gamma", "alpha-beta"), ("beta", "gamma"))
    packet = composed.route("Do not treat this as alpha-beta. A quindle bridge to the quorl ledger.")
    assert told(packet, "alpha-beta") == [
        "without the words that exclude it and its parts free to act -> it would be considered"
    ]


def test_behind_a_subject_that_the_last_look_removed_nothing_else_changes_anything(tmp_path: Path) -> None:
    write_packages(tmp_path)
    (tmp_path / "alpha" / "overlays" / "alpha.yaml").unlink()
    packet = Desk(tmp_path).route("We apply quorl weighting to the quorl ledger, and read the brindle register.")
    assert packet.primary_subject == "auto"
    assert told(packet, "alpha") == ["its overlay and skill in place -> it would be considered"]
    assert told(packet, "beta") == []


def failing(subject: str, packet: RefinementPacket) -> SessionState:
    """A session in which the subject failed three times on the packet's task."""
    context = SessionContext(Identifier("s"), Identifier(packet.fingerprint), Identifier("policy:1"), 0)
    return fold([SessionEvent("failure", Identifier(subject), context)] * 3, "s")


FIRM = "A quorl kriging of the quorl ledger with the quorl conjecture."  # 0.65, and 0.60 after failures


def test_after_repeated_failure_the_answer_is_named_that_tries_it_again(desk: Desk) -> None:
    session = failing("alpha", desk.route(FIRM))
    packet = desk.route(FIRM, session=session)
    assert packet.primary_subject == "auto"
    assert [reason.code for reason in packet.reasons if reason.message.startswith("alpha: ")] == ["repeated_failure"]
    answer = "the answer alpha to repeated_failure:alpha"
    assert told(packet, "alpha") == [f"{answer} -> it would be suggested once more"]
    assert desk.route(FIRM, session=session, answers={"repeated_failure:alpha": "alpha"}).primary_subject == "alpha"


def test_a_subject_that_failed_before_is_not_said_to_be_suggested_by_one_more_signal(desk: Desk) -> None:
    text = "A quorl kriging of the quorl ledger."  # 0.60, and 0.55 after failures
    packet = desk.route(text, session=failing("alpha", desk.route(text)))
    assert packet.primary_subject == "auto"
    assert [item.effect for item in packet.what_would_change if item.subject == "alpha"] == [
        "it would be asked about, because earlier attempts failed"
    ]


@pytest.mark.parametrize("mode", ["confirmed", "locked"])
def test_in_a_settled_project_the_subject_that_the_text_speaks_for_is_told_the_way(desk: Desk, mode: str) -> None:
    state = ManifestState(active_subject="beta", subject_mode=mode)  # type: ignore[arg-type]
    packet = desk.route(FIRM, state)
    assert told(packet, "alpha") == ["qiongli subject reset -> it would be suggested"]
    assert desk.route(FIRM).primary_subject == "alpha"
    assert len(told(packet, "beta")) == 1
    assert told(desk.route("The quorl ledger.", state), "alpha") == []
