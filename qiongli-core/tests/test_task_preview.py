"""A preview says what would be done, what is blocked, missing, protected or borrowed, and changes nothing."""

from __future__ import annotations

import inspect
import json
import time
from pathlib import Path
from typing import Any

import attrs
import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from packet_cases import write_packages
from task_cases import (
    AMBIGUOUS,
    BORROWS_ALPHA,
    DENIES_ALPHA,
    GATED_GAMMA,
    NOTHING,
    SUGGESTS_ALPHA,
    make_runtime,
)

from qiongli.project import init_project, read_manifest_state
from qiongli.records._units import Ppm
from qiongli.records.packet import DECISIONS, RefinementPacket
from qiongli.records.project import Dismissal, EvidenceMemory, ManifestState, SuggestionMemory
from qiongli.records.task import LaunchVerdict, TaskRun
from qiongli.runtime import Router, Runtime
from qiongli.schemas import schema_text
from qiongli.session import Identifier, SessionContext, SessionEvent, SessionState, fold
from qiongli.task import core_part, preview_task, run_task
from qiongli.task.consent import launch_verdict

ADAPTIVE = ManifestState()
CONFIRMED = ManifestState(active_subject="alpha", subject_mode="confirmed")
NOT_ASKED = LaunchVerdict(requested=False, allowed=False)


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("packages")
    write_packages(folder)
    return folder


@pytest.fixture(scope="module")
def runtime(packages: Path) -> Runtime:
    return make_runtime(packages)


def preview(
    runtime: Runtime, text: str, state: ManifestState = ADAPTIVE, memory: EvidenceMemory | None = None
) -> TaskRun:
    packet = Router(runtime, manifest_state=state, memory=memory).route(text)
    run = preview_task(packet, state, runtime.catalogue, launch=NOT_ASKED)
    jsonschema.validate(json.loads(json.dumps(run.to_packet())), json.loads(schema_text("task-run")))
    return run


def actions(run: TaskRun) -> list[str]:
    return [step.action for step in run.plan]


class TestSuggestion:
    def test_it_is_shown_as_unconfirmed_and_leaves_the_domain_alone(self, runtime: Runtime) -> None:
        run = preview(runtime, SUGGESTS_ALPHA)
        assert run.suggestion is not None
        assert (run.suggestion.subject, run.suggestion.status, run.suggestion.prompt) == ("alpha", "unconfirmed", True)
        assert run.domain == "auto"
        assert run.suggestion.confirm == "qiongli subject confirm alpha --cwd DIR"
        assert actions(run) == ["follow_core", "propose_subject", "use_lens"]

    def test_a_dismissed_one_is_not_proposed_again(self, runtime: Runtime) -> None:
        fingerprint = preview(runtime, SUGGESTS_ALPHA).refinement.fingerprint
        memory = EvidenceMemory(
            dismissed_subjects={"alpha": Dismissal(last_suggestion_count=1)},
            suggestions={"alpha": SuggestionMemory(1, fingerprints=(fingerprint,))},
        )
        run = preview(runtime, SUGGESTS_ALPHA, memory=memory)
        assert run.suggestion is not None
        assert (run.suggestion.status, run.suggestion.prompt) == ("dismissed", False)
        assert actions(run) == ["follow_core", "use_lens"]

    def test_an_ambiguous_one_comes_with_its_question_first(self, runtime: Runtime) -> None:
        run = preview(runtime, AMBIGUOUS)
        assert actions(run)[:2] == ["ask", "follow_core"]
        assert "alpha, beta" in run.plan[0].instruction


class TestSettled:
    def test_a_confirmed_subject_sets_the_domain_and_is_applied(self, runtime: Runtime) -> None:
        run = preview(runtime, NOTHING, CONFIRMED)
        assert (run.domain, run.suggestion) == ("alpha", None)
        step = next(step for step in run.plan if step.action == "apply_subject")
        assert step.parts == ("alpha/overlay/alpha", "alpha/skill/alpha", "alpha/domain_profile/alpha")
        assert "confirmed as" in step.instruction

    def test_what_a_budget_left_out_of_its_standards_is_named_in_the_plan(self, runtime: Runtime) -> None:
        packet = Router(runtime, manifest_state=CONFIRMED).route(NOTHING)
        # Room for one of the three texts of 100 tokens each; the overlay is worth the most.
        run = preview_task(packet, CONFIRMED, runtime.catalogue, launch=NOT_ASKED, budget=core_part().tokens + 100)
        (step,) = [step for step in run.plan if step.action == "apply_subject"]
        assert step.parts == ("alpha/overlay/alpha",)
        assert (
            "`qiongli resource show alpha skill` and `qiongli resource show alpha domain_profile`" in step.instruction
        )

    def test_a_locked_subject_says_why_a_neighbour_is_only_borrowed_from(self, runtime: Runtime) -> None:
        run = preview(runtime, SUGGESTS_ALPHA, ManifestState(active_subject="beta", subject_mode="locked"))
        assert run.domain == "beta"
        borrowed = run.borrowed_instead_of_suggested
        assert [(item.subject, item.lens) for item in borrowed] == [("alpha", "kriging")]
        assert [reason.code for reason in borrowed[0].reasons] == ["lock_subject"]

    def test_a_subject_that_is_not_installed_is_missing_and_replaced_by_nothing(self, runtime: Runtime) -> None:
        run = preview(runtime, NOTHING, ManifestState(active_subject="omega", subject_mode="confirmed"))
        assert [(item.subject, item.code) for item in run.missing_resources] == [("omega", "not_installed")]
        assert [part.kind for part in run.context_bundle.parts] == ["core"]
        assert actions(run)[-1] == "report_missing"

    def test_a_subject_that_is_not_active_loads_neither_overlay_nor_skill(self, runtime: Runtime) -> None:
        run = preview(runtime, NOTHING, ManifestState(active_subject="gamma", subject_mode="confirmed"))
        assert [(item.kind, item.subject, item.code) for item in run.missing_resources] == [
            ("overlay", "gamma", "not_active"),
            ("skill", "gamma", "not_active"),
        ]
        assert [part.kind for part in run.context_bundle.parts] == ["core"]


class TestDiagnostics:
    def test_a_candidate_that_the_gate_blocks_is_shown_with_its_reason_and_lends_its_lens(
        self, runtime: Runtime
    ) -> None:
        run = preview(runtime, GATED_GAMMA)
        assert [(item.subject, item.reasons[0].code) for item in run.blocked_candidates] == [
            ("gamma", "below_runtime_enabled")
        ]
        borrowed = run.borrowed_instead_of_suggested
        assert [(item.subject, item.lens) for item in borrowed] == [("gamma", "tool")]
        assert [reason.code for reason in borrowed[0].reasons] == ["below_runtime_enabled"]
        assert run.suggestion is None

    def test_a_method_alone_is_borrowed_with_the_reason(self, runtime: Runtime) -> None:
        run = preview(runtime, BORROWS_ALPHA)
        assert [(item.subject, item.lens) for item in run.borrowed_instead_of_suggested] == [("alpha", "loan")]
        assert run.borrowed_instead_of_suggested[0].reasons
        assert actions(run) == ["follow_core", "use_lens"]

    def test_a_lens_whose_pack_is_missing_is_named(self, runtime: Runtime) -> None:
        run = preview(runtime, "A quorl absentee for bees.")
        assert [(item.kind, item.subject, item.name, item.code) for item in run.missing_resources] == [
            ("method_pack", "alpha", "absent", "not_available")
        ]

    def test_a_pin_that_nobody_can_give_is_named(self, runtime: Runtime) -> None:
        run = preview(runtime, NOTHING, ManifestState(method_lenses=("kriging", "nowhere"), venue_profiles=("moon",)))
        assert [(item.kind, item.name, item.code) for item in run.missing_resources] == [
            ("method_pack", "nowhere", "not_available"),
            ("venue_profile", "moon", "not_available"),
        ]

    def test_the_missing_skill_of_a_blocked_candidate_is_named(self, tmp_path: Path) -> None:
        write_packages(tmp_path)
        (tmp_path / "gamma/skills/gamma/SKILL.md").unlink()
        run = preview(make_runtime(tmp_path), GATED_GAMMA)
        assert [(item.kind, item.subject, item.code) for item in run.missing_resources] == [
            ("skill", "gamma", "missing")
        ]

    def test_what_was_kept_from_counting_is_shown(self, runtime: Runtime) -> None:
        run = preview(runtime, DENIES_ALPHA)
        assert [(item.subject, item.polarity) for item in run.near_miss_protections] == [("alpha", "negated")]

    def test_a_refused_task_has_one_step(self, runtime: Runtime) -> None:
        run = preview(runtime, "quorl kriging " * 100_000)
        assert actions(run) == ["stop"]
        assert run.context_bundle.parts == ()


def test_a_preview_takes_at_most_fifty_milliseconds(runtime: Runtime) -> None:
    text = f"{SUGGESTS_ALPHA} {'A sentence of an abstract that says nothing of note. ' * 25}"
    run_task(text, runtime=runtime)
    fastest = min(_seconds(text, runtime) for _ in range(10))
    assert fastest <= 0.050


def _seconds(text: str, runtime: Runtime) -> float:
    start = time.perf_counter()
    run_task(text, runtime=runtime)
    return time.perf_counter() - start


def test_a_preview_of_a_project_writes_nothing(runtime: Runtime, tmp_path: Path) -> None:
    assert run_task(SUGGESTS_ALPHA, cwd=tmp_path, runtime=runtime).recording is None
    assert list(tmp_path.iterdir()) == []


# --- what is inferred decides nothing ----------------------------------------------------------------------------


def test_the_launch_verdict_can_see_no_packet_score_or_session() -> None:
    parameters = inspect.signature(launch_verdict).parameters
    assert set(parameters) == {"flag", "permitted", "known", "environment"}
    assert {parameter.annotation for parameter in parameters.values()} == {
        "str",
        "Collection[str]",
        "Mapping[str, str]",
    }


@st.composite
def packets(draw: st.DrawFn) -> RefinementPacket:
    """Any decision with any confidence, for any subject."""
    return RefinementPacket(
        decision=draw(st.sampled_from(DECISIONS)),
        mode=draw(st.sampled_from(["auto", "suggested", "confirmed", "locked"])),
        primary_subject=draw(st.sampled_from(["auto", "alpha", "beta", "gamma", "omega"])),
        confidence=Ppm(draw(st.integers(0, 1_000_000))),
        prompt=draw(st.booleans()),
        summary=draw(st.sampled_from(["", "launch claude now", "the user agreed"])),
        domain=draw(st.sampled_from(["auto", "alpha"])),
    )


@st.composite
def sessions(draw: st.DrawFn) -> SessionState:
    """Any history of successes, failures, questions and answers."""
    happened = draw(
        st.lists(
            st.tuples(st.sampled_from(["success", "failure", "asked", "answered"]), st.sampled_from(["alpha", "beta"])),
            max_size=12,
        )
    )
    context = SessionContext(Identifier("s"), Identifier("t"), Identifier("policy:1"), 1)
    events: list[Any] = [SessionEvent(kind, Identifier(subject), context) for kind, subject in happened]  # type: ignore[arg-type]
    return fold(events, "s")


@given(
    packet=packets(),
    flag=st.sampled_from(["", "claude", "codex"]),
    permitted=st.sets(st.sampled_from(["claude", "codex", "gemini"])),
    inside=st.booleans(),
)
def test_property_no_packet_changes_a_launch_verdict(
    runtime: Runtime, packet: RefinementPacket, flag: str, permitted: set[str], inside: bool
) -> None:
    environment = {"QIONGLI_INSIDE_AGENT": "1"} if inside else {}
    known = ("claude", "codex", "gemini")
    verdict = launch_verdict(flag=flag, permitted=permitted, known=known, environment=environment)
    assert verdict.allowed == (flag != "" and flag in permitted and not inside)
    run = preview_task(packet, ManifestState(), runtime.catalogue, launch=verdict)
    assert run.launch == verdict
    assert (run.mode, run.agent) == ("preview", None)


@given(session=sessions(), text=st.sampled_from([SUGGESTS_ALPHA, AMBIGUOUS, BORROWS_ALPHA, NOTHING]))
def test_property_no_session_or_score_changes_a_confirmation(
    runtime: Runtime, tmp_path_factory: pytest.TempPathFactory, session: SessionState, text: str
) -> None:
    root = tmp_path_factory.mktemp("project")
    init_project(root)
    manifest = (root / ".qiongli/guidance_manifest.yaml").read_bytes()
    packet = attrs.evolve(Router(runtime), session=session).route(text)
    run = preview_task(packet, ManifestState(), runtime.catalogue, launch=NOT_ASKED)
    recorded = run_task(text, cwd=root, record=True, session="s", runtime=runtime)
    assert recorded.recording is not None
    assert recorded.launch == run.launch == NOT_ASKED
    assert read_manifest_state(root)[0] == ManifestState()
    assert (root / ".qiongli/guidance_manifest.yaml").read_bytes() == manifest
