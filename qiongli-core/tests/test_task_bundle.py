"""The context bundle: in order of authority, within its budget, and nothing of a subject that nobody confirmed.

Every overlay, skill and profile of the made-up subjects is 400 bytes, 100 tokens; every method pack 200 bytes, 50.
"""

from __future__ import annotations

from hashlib import sha256
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packet_cases import write_packages
from task_cases import AMBIGUOUS, BORROWS_ALPHA, GATED_GAMMA, NOTHING, SUGGESTS_ALPHA, make_runtime

from qiongli.errors import InputError
from qiongli.records.project import ManifestState
from qiongli.records.task import ContextBundle
from qiongli.runtime import Router, Runtime
from qiongli.task import make_bundle

AUTHORITY = ("core", "overlay", "skill", "domain_profile", "method_pack", "venue_profile")
CORE_BYTES = files("qiongli.task").joinpath("core_guidance.md").read_bytes()
#: Four bytes of UTF-8 are a token, rounded up.
CORE = -(-len(CORE_BYTES) // 4)

ADAPTIVE = ManifestState()
CONFIRMED = ManifestState(active_subject="alpha", subject_mode="confirmed")
LOCKED_BETA = ManifestState(active_subject="beta", subject_mode="locked")


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Runtime:
    folder = tmp_path_factory.mktemp("packages")
    write_packages(folder)
    return make_runtime(folder)


def bundle(runtime: Runtime, text: str, state: ManifestState = ADAPTIVE, budget: int | None = None) -> ContextBundle:
    packet = Router(runtime, manifest_state=state).route(text)
    return make_bundle(packet, state, runtime.catalogue, budget=budget)


def names(made: ContextBundle) -> list[str]:
    return [f"{part.subject}/{part.kind}/{part.name}" for part in made.parts]


def left_out(made: ContextBundle) -> dict[str, str]:
    return {f"{part.subject}/{part.kind}/{part.name}": part.code for part in made.left_out}


def test_a_confirmed_subject_comes_in_order_of_authority_after_core(runtime: Runtime) -> None:
    made = bundle(runtime, SUGGESTS_ALPHA, CONFIRMED)
    assert names(made) == [
        "core/core/core",
        "alpha/overlay/alpha",
        "alpha/skill/alpha",
        "alpha/domain_profile/alpha",
        "alpha/method_pack/kriging",
    ]
    assert [part.activation for part in made.parts] == ["always", *["applied"] * 4]
    assert made.tokens == CORE + 100 + 100 + 100 + 50
    assert made.left_out == ()


def test_each_part_has_its_text_source_and_checksum(runtime: Runtime) -> None:
    core, overlay = bundle(runtime, SUGGESTS_ALPHA, CONFIRMED).parts[:2]
    assert core.text == CORE_BYTES.decode()
    assert core.checksum == f"sha256:{sha256(CORE_BYTES).hexdigest()}"
    assert core.source == "qiongli-core/task/core_guidance.md"
    assert overlay.text == "x" * 400
    assert overlay.checksum == f"sha256:{sha256(b'x' * 400).hexdigest()}"
    assert overlay.source == "qiongli-subject-alpha/overlays/alpha.yaml"


def test_an_unconfirmed_suggestion_lends_its_lens_and_waits_with_the_rest(runtime: Runtime) -> None:
    made = bundle(runtime, SUGGESTS_ALPHA)
    assert names(made) == ["core/core/core", "alpha/method_pack/kriging"]
    assert left_out(made) == {
        "alpha/overlay/alpha": "unconfirmed",
        "alpha/skill/alpha": "unconfirmed",
        "alpha/domain_profile/alpha": "unconfirmed",
    }


def test_what_waits_takes_no_room_from_what_may_be_used_now(runtime: Runtime) -> None:
    made = bundle(runtime, SUGGESTS_ALPHA, budget=CORE + 50)
    assert names(made) == ["core/core/core", "alpha/method_pack/kriging"]
    assert made.tokens == CORE + 50


def test_a_locked_subject_with_a_neighbours_lens(runtime: Runtime) -> None:
    made = bundle(runtime, BORROWS_ALPHA, LOCKED_BETA)
    assert names(made)[1:] == [
        "beta/overlay/beta",
        "beta/skill/beta",
        "beta/domain_profile/beta",
        "alpha/method_pack/loan",
    ]
    assert made.parts[-1].activation == "borrowed"


def test_a_task_that_calls_for_nothing_gets_the_core_guidance_alone(runtime: Runtime) -> None:
    assert names(bundle(runtime, NOTHING)) == ["core/core/core"]


def test_a_small_budget_keeps_what_is_worth_its_tokens(runtime: Runtime) -> None:
    # Worth less cost at 150 tokens of room: overlay 1 - 0.2*100/150 = 0.867, skill 0.79 - 0.133 = 0.657, pack
    # 0.70 - 0.067 = 0.633, profile 0.60 - 0.133 = 0.467. After the overlay 50 are left: the pack alone fits.
    made = bundle(runtime, SUGGESTS_ALPHA, CONFIRMED, budget=CORE + 150)
    assert names(made) == ["core/core/core", "alpha/overlay/alpha", "alpha/method_pack/kriging"]
    assert made.tokens == made.budget == CORE + 150
    assert left_out(made) == {"alpha/skill/alpha": "over_budget", "alpha/domain_profile/alpha": "over_budget"}


def test_room_for_core_alone_is_enough_and_less_is_an_error(runtime: Runtime) -> None:
    made = bundle(runtime, SUGGESTS_ALPHA, CONFIRMED, budget=CORE)
    assert names(made) == ["core/core/core"]
    assert set(left_out(made).values()) == {"over_budget"}
    with pytest.raises(InputError) as caught:
        bundle(runtime, SUGGESTS_ALPHA, CONFIRMED, budget=CORE - 1)
    assert caught.value.code == "budget_too_small"
    assert str(CORE) in caught.value.expected


def test_even_pinned_resources_do_not_break_the_budget(runtime: Runtime) -> None:
    pinned = ManifestState(method_lenses=("alpha/kriging", "beta/splicing"))
    assert names(bundle(runtime, NOTHING, pinned)) == [
        "core/core/core",
        "alpha/method_pack/kriging",
        "beta/method_pack/splicing",
    ]
    made = bundle(runtime, NOTHING, pinned, budget=CORE + 60)
    assert names(made) == ["core/core/core", "alpha/method_pack/kriging"]
    assert left_out(made) == {"beta/method_pack/splicing": "over_budget"}


def test_a_refused_task_has_no_guidance(runtime: Runtime) -> None:
    made = bundle(runtime, "quorl kriging " * 100_000)
    assert (made.parts, made.tokens) == ((), 0)


def test_a_file_that_vanishes_is_left_out_and_named(tmp_path: Path) -> None:
    write_packages(tmp_path)
    own = make_runtime(tmp_path)
    (tmp_path / "alpha/skills/alpha/SKILL.md").unlink()
    made = bundle(own, SUGGESTS_ALPHA, CONFIRMED)
    assert "alpha/skill/alpha" not in names(made)
    assert names(made)[1] == "alpha/overlay/alpha"


STATES = (
    ManifestState(),
    CONFIRMED,
    LOCKED_BETA,
    ManifestState(method_lenses=("alpha/kriging", "beta/splicing", "gamma/tool")),
    ManifestState(active_subject="alpha", subject_mode="locked", method_lenses=("beta/splicing",)),
)


@given(
    text=st.sampled_from([SUGGESTS_ALPHA, AMBIGUOUS, BORROWS_ALPHA, GATED_GAMMA, NOTHING]),
    state=st.sampled_from(STATES),
    room=st.none() | st.integers(0, 600),
)
def test_property_any_bundle_keeps_its_budget_its_order_and_the_users_say(
    runtime: Runtime, text: str, state: ManifestState, room: int | None
) -> None:
    budget = None if room is None else CORE + room
    packet = Router(runtime, manifest_state=state).route(text)
    made = make_bundle(packet, state, runtime.catalogue, budget=budget)
    assert made.tokens == sum(part.tokens for part in made.parts)
    if budget is not None:
        assert made.tokens <= budget
    order = [AUTHORITY.index(part.kind) for part in made.parts]
    assert order == sorted(order)
    assert order[0] == 0
    speaking = {part.subject for part in made.parts if part.kind in ("overlay", "skill", "domain_profile")}
    assert speaking <= ({state.active_subject} if state.subject_mode != "auto" else set())
    # Nothing that the task asks for goes without a word.
    whole = set(names(make_bundle(packet, state, runtime.catalogue)))
    assert whole <= {*names(made), *left_out(made)}
