"""Texts and the packets that the rules make of them, worked out by hand; see `packet_cases` for the subjects."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import attrs
import pytest
from packet_cases import Desk, lent, scores, write_packages

from qiongli.document import read_document
from qiongli.errors import InputError
from qiongli.markers import GUIDANCE_BEGIN, GUIDANCE_END
from qiongli.records.project import Dismissal, EvidenceMemory, ManifestState, SuggestionMemory
from qiongli.refinement import infer_subject_refinement

ALPHA = "We apply quorl weighting to the quorl ledger."  # 0.30 + 0.20 + 0.20 / 2 = 0.60
BETA = "We apply brindle grafting to the brindle register."  # the same
WEAK_ALPHA = "We read the quorl ledger."  # 0.30 + 0.20 = 0.50

CONFIRMED = ManifestState(active_subject="beta", subject_mode="confirmed")
LOCKED = ManifestState(active_subject="beta", subject_mode="locked")
STRICT = ManifestState(strictness="strict")


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    folder: Path = tmp_path_factory.mktemp("packages")
    write_packages(folder)
    return Desk(folder)


@pytest.fixture(scope="module")
def with_composite(desk: Desk) -> Desk:
    return attrs.evolve(desk, subjects=("alpha", "beta", "gamma", "alpha-beta"))


# --- one subject: the sum and the threshold -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "total", "decision"),
    [
        # 0.30 + (0.20 + 0.15 / 3)
        pytest.param("The quorl ledger and the quorl survey.", 550_000, "no_subject", id="one dimension"),
        # 0.30 + 0.20 + 0.15 / 2
        pytest.param("Quorl weighting of the quorl survey.", 575_000, "no_subject", id="two, one weaker"),
        pytest.param(ALPHA, 600_000, "suggest_subject", id="two in full reach the threshold exactly"),
        # 0.30 + 0.20 + 0.20 / 2 + 0.12 / 4
        pytest.param(f"{ALPHA} The quorl lemma.", 630_000, "suggest_subject", id="three"),
        # 0.30 + (0.20 + 0.20 / 3) + 0.15 / 2, each rounded down
        pytest.param("Quorl weighting, quorl kriging, quorl survey.", 641_666, "suggest_subject", id="three signals"),
        pytest.param(f"{ALPHA} {ALPHA} {ALPHA}", 600_000, "suggest_subject", id="repetition adds nothing"),
        # The whole dimension is method evidence for a lens without a pack, which speaks for no subject.
        pytest.param(f"{WEAK_ALPHA} A quorl absentee.", 500_000, "no_subject", id="method-only is not counted"),
        pytest.param(f"{WEAK_ALPHA} In a quorl world.", 500_000, "no_subject", id="context is not counted"),
    ],
)
def test_the_score_of_one_subject_is_exact(desk: Desk, text: str, total: int, decision: str) -> None:
    packet = desk.route(text)
    assert packet.decision == decision
    assert scores(packet) == {"alpha": total}
    suggested = decision == "suggest_subject"
    assert packet.confidence == (total if suggested else 0)
    assert packet.primary_subject == ("alpha" if suggested else "auto")
    assert packet.mode == ("suggested" if suggested else "auto")
    assert packet.persistence.status == ("proposed" if suggested else "none")
    assert packet.prompt is suggested
    assert packet.domain == "auto"
    assert packet.clarification is None
    for breakdown in packet.score_breakdown:
        assert sum(entry.amount for entry in breakdown.entries) == breakdown.total
    assert suggested or packet.reasons


def test_one_dimension_and_a_low_score_are_both_given_as_reasons(desk: Desk) -> None:
    assert [reason.code for reason in desk.route(WEAK_ALPHA).reasons] == ["one_dimension", "below_threshold"]


def test_a_text_about_nothing_installed_stays_alone(desk: Desk) -> None:
    packet = desk.route("We knit scarves in the long evenings of winter.")
    assert (packet.decision, packet.candidate_subjects, packet.signals) == ("no_subject", (), ())
    assert [reason.code for reason in packet.reasons] == ["no_evidence"]


@pytest.mark.parametrize("task", ["", {}, {"task_id": "C1"}, "   \n", "https://example.org/quorl-ledger"])
def test_without_subject_text_the_task_is_asked_for(desk: Desk, task: object) -> None:
    packet = desk.route(task)  # type: ignore[arg-type]
    assert packet.decision == "no_subject"
    assert packet.clarification is not None
    assert packet.clarification.id == "missing_text"
    assert "no_text" in [reason.code for reason in packet.reasons]


def test_evidence_of_several_fields_adds_up(desk: Desk) -> None:
    packet = desk.route({"task_id": "C1", "topic": "quorl weighting", "venue": "Journal of Quorl"})
    assert scores(packet) == {"alpha": 600_000}
    assert [(item.field, item.snippet) for item in packet.signals] == [
        ("topic", "quorl weighting"),
        ("venue", "Journal of Quorl"),
    ]


def test_a_suggestion_is_planned_and_waits_for_the_user(desk: Desk) -> None:
    packet = desk.route("Quorl kriging of the quorl ledger.")
    plan = {(item.kind, item.name, item.activation) for item in packet.resource_activation_plan.resources}
    assert ("overlay", "alpha", "suggested") in plan
    assert packet.method_lenses == ("kriging",)
    assert packet.borrowed_lenses == ()
    # Only the lens's pack, which needs nobody's consent, may be read now.
    assert packet.loaded_resources == ("alpha/method_pack/kriging",)


# --- two subjects: ties and margins -------------------------------------------------------------------------------


def test_a_tie_goes_by_priority_and_asks(desk: Desk) -> None:
    packet = desk.route(f"{BETA} {ALPHA}")
    assert scores(packet) == {"alpha": 600_000, "beta": 600_000}
    assert (packet.primary_subject, packet.secondary_subjects) == ("alpha", ("beta",))
    assert packet.clarification is not None
    assert packet.clarification.id == "ambiguous:alpha+beta"
    assert [option.subject for option in packet.clarification.options] == ["alpha", "beta"]


#: 0.30 + (0.20 + 0.075 / 3) + 0.20 / 2 + 0.20 / 4 + 0.20 / 8 = 0.70; with 0.15 instead of 0.075 it is 0.725.
FOUR = "Quorl weighting, quorl ledger, quorl conjecture, Journal of Quorl"


def test_a_rival_exactly_at_the_margin_counts(desk: Desk) -> None:
    packet = desk.route(f"{FOUR}, quorl sketch. {BETA}")
    assert scores(packet) == {"alpha": 700_000, "beta": 600_000}
    assert packet.secondary_subjects == ("beta",)
    assert packet.clarification is not None


def test_a_rival_beyond_the_margin_does_not(desk: Desk) -> None:
    packet = desk.route(f"{FOUR}, quorl survey. {BETA}")
    assert scores(packet) == {"alpha": 725_000, "beta": 600_000}
    assert (packet.primary_subject, packet.secondary_subjects, packet.clarification) == ("alpha", (), None)


def test_a_neighbour_that_is_not_suggestible_is_no_rival(desk: Desk) -> None:
    packet = desk.route(f"{ALPHA} And the brindle register.")
    assert scores(packet) == {"alpha": 600_000, "beta": 500_000}
    assert (packet.secondary_subjects, packet.clarification) == ((), None)


def test_an_answer_settles_the_tie_and_is_not_asked_again(desk: Desk) -> None:
    packet = desk.route(f"{ALPHA} {BETA}", answers={"ambiguous:alpha+beta": "beta"})
    assert (packet.decision, packet.primary_subject, packet.confidence) == ("suggest_subject", "beta", 600_000)
    assert (packet.secondary_subjects, packet.clarification) == ((), None)
    assert [item.subject for item in packet.blocked_candidates] == ["alpha"]
    assert packet.evidence_sources.user_action is True


def test_an_answer_keeps_the_task_in_its_subject_and_suggests_nothing_that_is_not_there(desk: Desk) -> None:
    packet = desk.route(ALPHA, answers={"ambiguous:alpha+beta": "beta"})
    assert (packet.decision, packet.primary_subject) == ("no_subject", "auto")
    (blocked,) = packet.blocked_candidates
    assert (blocked.subject, [reason.code for reason in blocked.reasons]) == ("alpha", ["excluded"])
    assert blocked.reasons[0].message == "the user's answer keeps it in beta"


def test_an_answer_is_evidence_of_the_users_intent_that_weighs_nothing(desk: Desk) -> None:
    plain = desk.route(f"{ALPHA} {BETA}")
    packet = desk.route(f"{ALPHA} {BETA}", answers={"ambiguous:alpha+beta": "beta"})
    (intent,) = [item for item in packet.signals if item.source == "user"]
    assert (intent.signal_id, intent.subject, intent.role, intent.weight) == (
        "intent:ambiguous:alpha+beta",
        "beta",
        "keep",
        0,
    )
    assert packet.confidence == scores(plain)["beta"]


def test_an_answer_lifts_no_gate(desk: Desk) -> None:
    shut = attrs.evolve(desk, blocked=("beta", "gamma"))
    packet = shut.route(f"{ALPHA} {BETA}", answers={"ambiguous:alpha+beta": "beta"})
    assert packet.decision == "no_subject"
    assert [item.subject for item in packet.blocked_candidates] == ["alpha", "beta"]


# --- what the text denies, quotes, uses otherwise, or forbids -----------------------------------------------------


def test_denied_evidence_counts_nothing_and_is_listed(desk: Desk) -> None:
    packet = desk.route(f"We do not use quorl weighting. {WEAK_ALPHA}")
    assert (packet.decision, scores(packet)) == ("no_subject", {"alpha": 500_000})
    assert [(item.polarity, item.snippet) for item in packet.near_miss_protections] == [("negated", "quorl weighting")]


def test_quoted_evidence_counts_nothing_and_is_listed(desk: Desk) -> None:
    packet = desk.route(f'"They all used quorl weighting in those days," she said. {WEAK_ALPHA}')
    assert (packet.decision, scores(packet)) == ("no_subject", {"alpha": 500_000})
    assert [item.polarity for item in packet.near_miss_protections] == ["quoted"]


def test_a_suppressor_takes_the_span_and_subtracts_once(desk: Desk) -> None:
    # 0.30 + 0.20 - 0.10: the ledger is part of a cake, twice.
    packet = desk.route("Quorl weighting for a quorl ledger cake, and a quorl ledger cake again.")
    assert (packet.decision, scores(packet)) == ("no_subject", {"alpha": 400_000})
    assert {item.polarity for item in packet.near_miss_protections if item.snippet == "quorl ledger"} == {"everyday"}


def test_a_suppressor_beside_full_evidence_lowers_it_below_the_threshold(desk: Desk) -> None:
    packet = desk.route(f"{ALPHA} It is a toy quorl.")
    assert (packet.decision, scores(packet)) == ("no_subject", {"alpha": 500_000})


def test_a_suppressor_that_is_quoted_counts_nothing(desk: Desk) -> None:
    packet = desk.route(f"{ALPHA}\n\n> a toy quorl for the children")
    assert (packet.decision, scores(packet)) == ("suggest_subject", {"alpha": 600_000})
    assert [(item.polarity, item.snippet) for item in packet.near_miss_protections] == [("quoted", "toy quorl")]


def test_a_suppressor_leaves_the_lens_alone(desk: Desk) -> None:
    packet = desk.route("Quorl kriging of a toy quorl.")
    assert (packet.decision, lent(packet)) == ("borrow_lens", ["alpha/kriging"])


def test_an_excluded_subject_cannot_be_suggested_but_lends(desk: Desk) -> None:
    packet = desk.route(f"Do not treat this as alpha. Quorl kriging of the quorl ledger. {BETA}")
    assert (packet.primary_subject, packet.clarification) == ("beta", None)
    assert [(item.subject, [reason.code for reason in item.reasons]) for item in packet.blocked_candidates] == [
        ("alpha", ["excluded"])
    ]
    assert lent(packet) == ["alpha/kriging"]
    assert packet.evidence_sources.user_action is True


def test_keep_this_in_x_excludes_all_others_and_adds_nothing_to_x(desk: Desk) -> None:
    packet = desk.route(f"Keep this in beta. {ALPHA}")
    assert (packet.decision, packet.primary_subject) == ("no_subject", "auto")
    assert scores(packet) == {}
    assert [item.subject for item in packet.blocked_candidates] == ["alpha"]


def test_a_quoted_exclusion_directs_nothing(desk: Desk) -> None:
    packet = desk.route(f'"Please do not treat this as alpha," a colleague once wrote. {ALPHA}')
    assert packet.primary_subject == "alpha"


def test_evidence_inside_a_longer_word_never_fires(desk: Desk) -> None:
    assert desk.route("We apply requorl weighting to the quorl ledgerette.").signals == ()


# --- lenses in every mode -----------------------------------------------------------------------------------------


def test_a_method_signal_of_010_alone_lends_its_lens(desk: Desk) -> None:
    packet = desk.route("A quorl loaner will do.")  # 0.30 + 0.10, the lens threshold
    assert (packet.decision, lent(packet), packet.confidence) == ("borrow_lens", ["alpha/loan"], 0)
    assert packet.persistence.status == "temporary"
    assert packet.loaded_resources == ("alpha/method_pack/loan",)
    assert packet.candidate_subjects == ()
    assert packet.prompt is False


@pytest.mark.parametrize(
    ("state", "decision"),
    [(ManifestState(), "borrow_lens"), (CONFIRMED, "confirm_subject"), (LOCKED, "lock_subject")],
)
def test_a_lens_is_lent_in_every_mode(desk: Desk, state: ManifestState, decision: str) -> None:
    packet = desk.route("Quorl kriging.", state)
    assert (packet.decision, lent(packet)) == (decision, ["alpha/kriging"])
    assert "alpha/method_pack/kriging" in packet.loaded_resources
    assert "alpha/overlay/alpha" not in packet.loaded_resources


def test_a_suggestion_borrows_a_neighbours_lens_beside_it(desk: Desk) -> None:
    packet = desk.route(f"{BETA} And a quorl loaner, and a gnarl tool.")
    assert (packet.primary_subject, packet.method_lenses) == ("beta", ())
    assert sorted(lent(packet)) == ["alpha/loan", "gamma/tool"]


def test_a_confirmed_projects_own_lens_is_not_borrowed(desk: Desk) -> None:
    packet = desk.route("Brindle splicing.", CONFIRMED)
    assert (packet.method_lenses, packet.borrowed_lenses) == (("splicing",), ())


# --- confirmed and locked projects --------------------------------------------------------------------------------


@pytest.mark.parametrize(("state", "status"), [(CONFIRMED, "applied"), (LOCKED, "locked")])
def test_a_settled_project_keeps_its_subject_against_any_evidence(
    desk: Desk, state: ManifestState, status: str
) -> None:
    state = attrs.evolve(state, secondary_subjects=("gamma",))
    packet = desk.route(ALPHA, state)
    assert (packet.primary_subject, packet.domain, packet.active_subject) == ("beta", "beta", "beta")
    assert packet.secondary_subjects == ("gamma",)
    assert packet.mode == state.subject_mode
    assert packet.persistence.status == status
    assert packet.confidence == 300_000
    assert "beta/overlay/beta" in packet.loaded_resources
    assert (packet.prompt, packet.clarification, packet.warnings) == (False, None, ())


def test_a_settled_project_is_kept_without_any_text(desk: Desk) -> None:
    assert desk.route("", LOCKED).decision == "lock_subject"


def test_a_project_whose_subject_is_gone_keeps_its_decision_with_a_warning(desk: Desk) -> None:
    state = ManifestState(active_subject="delta", subject_mode="confirmed")
    packet = desk.route(ALPHA, state)
    assert (packet.decision, packet.primary_subject) == ("confirm_subject", "delta")
    assert packet.loaded_resources == ()
    assert any("delta" in warning and "not installed" in warning for warning in packet.warnings)


def test_a_project_whose_subject_is_blocked_loads_nothing_of_it_with_a_warning(desk: Desk) -> None:
    state = ManifestState(active_subject="gamma", subject_mode="locked")
    packet = desk.route(ALPHA, state)
    assert (packet.decision, packet.primary_subject) == ("lock_subject", "gamma")
    assert packet.loaded_resources == ()
    assert any("gamma" in warning for warning in packet.warnings)


def test_a_locked_subject_that_the_text_excludes_stays_with_a_warning(desk: Desk) -> None:
    packet = desk.route(f"Do not treat this as beta. {ALPHA}", LOCKED)
    assert (packet.decision, packet.primary_subject) == ("lock_subject", "beta")
    assert packet.warnings != ()


# --- composites ---------------------------------------------------------------------------------------------------


def test_a_composite_replaces_parts_that_stand_together(with_composite: Desk) -> None:
    # Method and data hold 0.20 + 0.20 / 3 each, rounded down: 0.30 + 0.266666 + 0.133333.
    packet = with_composite.route(f"{ALPHA} {BETA}")
    assert (packet.primary_subject, packet.confidence) == ("alpha-beta", 699_999)
    assert (packet.secondary_subjects, packet.clarification) == ((), None)
    assert [item.subject for item in packet.candidate_subjects] == ["alpha-beta"]


def test_a_composites_own_signal_needs_one_signal_of_each_part(with_composite: Desk) -> None:
    # 0.30 + 0.20 + 0.20 / 2 + 0.20 / 4
    packet = with_composite.route("A quindle bridge from quorl weighting to the brindle register.")
    assert (packet.primary_subject, packet.confidence) == ("alpha-beta", 650_000)


def test_a_composite_with_one_part_only_is_blocked(with_composite: Desk) -> None:
    packet = with_composite.route(f"A quindle bridge. {ALPHA}")
    assert packet.primary_subject == "alpha"
    assert [item.subject for item in packet.blocked_candidates] == ["alpha-beta"]


def test_a_composite_with_a_blocked_part_is_blocked(with_composite: Desk) -> None:
    desk = attrs.evolve(with_composite, blocked=("beta", "gamma"))
    packet = desk.route(f"A quindle bridge. {ALPHA} {BETA}")
    assert packet.primary_subject == "alpha"
    assert [item.subject for item in packet.blocked_candidates] == ["alpha-beta", "beta"]


def test_a_task_that_is_kept_in_a_composite_rests_on_its_parts(with_composite: Desk) -> None:
    packet = with_composite.route(f"Keep this in alpha-beta. {ALPHA} {BETA}")
    assert (packet.decision, packet.primary_subject) == ("suggest_subject", "alpha-beta")
    assert packet.secondary_subjects == ()


def test_a_part_does_not_act_by_itself_when_the_task_is_kept_in_the_composite(with_composite: Desk) -> None:
    packet = with_composite.route(f"Keep this in alpha-beta. {ALPHA}")
    assert packet.decision == "no_subject"
    assert {item.subject: [reason.code for reason in item.reasons] for item in packet.blocked_candidates} == {
        "alpha": ["excluded"],
    }


def test_a_part_that_the_task_excludes_carries_no_composite(with_composite: Desk) -> None:
    packet = with_composite.route(f"Keep this in alpha-beta. Do not treat this as beta. {ALPHA} {BETA}")
    assert packet.decision == "no_subject"


def test_one_part_far_ahead_of_the_other_stays_by_itself(with_composite: Desk) -> None:
    packet = with_composite.route(f"{FOUR}, quorl survey. {BETA}")  # 0.725 and 0.60
    assert packet.primary_subject == "alpha"


# --- Chinese, long drafts, Qiongli's own texts --------------------------------------------------------------------


def test_chinese_text_is_read_without_word_boundaries(desk: Desk) -> None:
    packet = desk.route("本文以阔尔加权方法分析各省的阔尔账簿。")
    assert (packet.primary_subject, packet.confidence) == ("alpha", 600_000)


def test_chinese_denials_and_exclusions_hold(desk: Desk) -> None:
    denied = desk.route("本文不使用阔尔加权，而是整理阔尔账簿。")
    assert scores(denied) == {"alpha": 500_000}
    excluded = desk.route("不要把本文当作alpha。本文以阔尔加权分析阔尔账簿。")
    assert (excluded.decision, [item.subject for item in excluded.blocked_candidates]) == ("no_subject", ["alpha"])


BODY = "We read old diaries and count the days of rain. " * 200


def test_a_reference_list_of_a_long_draft_is_context_only(desk: Desk) -> None:
    references = "\n\nReferences\n\nDoe, J. (1999). Quorl weighting. Journal of Quorl, 3, 1-20.\n"
    packet = desk.route({"draft": f"{BODY}{WEAK_ALPHA}{references}"})
    assert (packet.decision, scores(packet)) == ("no_subject", {"alpha": 500_000})
    assert {item.snippet for item in packet.signals if item.activation == "context_only"} == {
        "Quorl weighting",
        "Journal of Quorl",
    }


ENTRIES = "Doe, J. (1999). Quorl weighting. Journal of Quorl, 3, 1-20.\nRoe, R. (2001). A quorl ledger. Quorl 9, 3.\n"


@pytest.mark.parametrize(
    "lists",
    [
        f"References\n{ENTRIES}\x0cReferences\n{ENTRIES}",
        f"References\n\n{ENTRIES}\nAppendix\nTables of rain.\n\nReferences\n\n{ENTRIES}",
        f"# References {{.unnumbered}}\n\n{ENTRIES}",
        f"一、参考文献：\n{ENTRIES}",
        f"\\section*{{Bibliography}}\n{ENTRIES}",
        "References Doe J (1999) Quorl weighting of a quorl ledger, Journal of Quorl",
    ],
    ids=["running head", "two lists", "markdown", "chinese", "latex", "run on"],
)
def test_references_alone_suggest_nothing(desk: Desk, lists: str) -> None:
    assert desk.route(ENTRIES).decision == "suggest_subject"
    packet = desk.route({"draft": f"{BODY}\n\n{lists}"})
    assert (packet.decision, packet.candidate_subjects) == ("no_subject", ())
    assert {item.activation for item in packet.signals} == {"context_only"}


@pytest.mark.parametrize("name", ["references", "works-cited", "guidance", "domainProfile", "sourceCode"])
def test_fields_of_references_guidance_and_code_suggest_nothing(desk: Desk, name: str) -> None:
    assert desk.route({"title": "Rain", name: ALPHA}).decision == "no_subject"


def test_a_long_draft_with_evidence_in_its_body_is_suggested_in_spite_of_its_references(desk: Desk) -> None:
    references = "\n\nReferences\n\nRoe, R. (2001). On brindle grafting. The brindle register, 9, 3-4.\n"
    packet = desk.route({"draft": f"{BODY}{ALPHA}{references}"})
    assert (packet.primary_subject, packet.confidence, packet.secondary_subjects) == ("alpha", 600_000, ())


def test_the_router_is_not_convinced_by_its_own_packet(desk: Desk) -> None:
    own = json.dumps(desk.route(ALPHA).to_packet())
    packet = desk.route({"topic": "diaries of rain", "context": own})
    assert (packet.decision, packet.candidate_subjects) == ("no_subject", ())


def test_the_router_is_not_convinced_by_its_own_guidance(desk: Desk) -> None:
    guidance = f"{GUIDANCE_BEGIN}\n{ALPHA}\n{GUIDANCE_END}\n"
    assert desk.route(f"{guidance}We count the days of rain.").signals == ()


# --- strictness, memory, budget, refusal --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "decision"),
    [
        pytest.param(ALPHA, "no_subject", id="0.60 is below 0.65"),
        pytest.param(f"{ALPHA} The quorl conjecture.", "suggest_subject", id="0.65 reaches it"),
        pytest.param("A quorl loaner.", "no_subject", id="a lens at 0.40 is below 0.45"),
        pytest.param("Quorl kriging.", "borrow_lens", id="a lens at 0.50 is lent"),
    ],
)
def test_a_strict_project_asks_for_more(desk: Desk, text: str, decision: str) -> None:
    assert desk.route(text, STRICT).decision == decision


def memory(*fingerprints: str, dismissed_at: int | None) -> EvidenceMemory:
    return EvidenceMemory(
        suggestions={"alpha": SuggestionMemory(suggestion_count=len(fingerprints), fingerprints=fingerprints)},
        dismissed_subjects={}
        if dismissed_at is None
        else {"alpha": Dismissal(dismissal_count=1, last_suggestion_count=dismissed_at)},
    )


@pytest.mark.parametrize(
    ("counted", "dismissed_at", "prompt", "status", "count"),
    [
        pytest.param((), None, True, None, None, id="the first suggestion prompts and recommends nothing"),
        pytest.param(("other",), None, True, "recommend_confirmation", 2, id="the second recommends"),
        pytest.param(("other",), 1, True, "recommend_confirmation", 2, id="dismissed at one, and this is new"),
        pytest.param(("other",), 2, False, "suppressed", 2, id="dismissed at two: two are not more"),
        pytest.param(("other", "THIS"), 1, False, "suppressed", 2, id="dismissed, and this task was counted"),
        pytest.param(("other", "THIS"), None, True, "recommend_confirmation", 2, id="counted, not dismissed"),
    ],
)
def test_a_dismissal_changes_the_prompt_and_never_the_decision(
    desk: Desk, counted: tuple[str, ...], dismissed_at: int | None, prompt: bool, status: str | None, count: int | None
) -> None:
    own = read_document(ALPHA).fingerprint
    known = memory(*(own if item == "THIS" else item for item in counted), dismissed_at=dismissed_at)
    packet = desk.route(ALPHA, memory=known)
    assert (packet.decision, packet.primary_subject, packet.confidence) == ("suggest_subject", "alpha", 600_000)
    assert packet.prompt is prompt
    promotion = packet.promotion_recommendation
    assert (promotion.status if promotion else None, promotion.suggestion_count if promotion else None) == (
        status,
        count,
    )


def test_a_budget_leaves_out_what_does_not_fit_and_says_so(desk: Desk) -> None:
    # Overlay, skill and profile of 100 tokens each: one fits into 150.
    packet = desk.route(ALPHA, budget=150)
    assert [(item.kind, item.tokens) for item in packet.resource_activation_plan.resources] == [("overlay", 100)]
    assert len([warning for warning in packet.warnings if "budget of 150 tokens" in warning]) == 2
    assert (packet.decision, packet.confidence) == ("suggest_subject", 600_000)


def test_a_pinned_lens_enters_the_plan_without_evidence_and_over_any_budget(desk: Desk) -> None:
    packet = desk.route("We knit.", ManifestState(method_lenses=("kriging",)), budget=1)
    assert [(item.name, item.activation) for item in packet.resource_activation_plan.resources] == [
        ("kriging", "pinned")
    ]
    assert packet.decision == "no_subject"


@pytest.mark.parametrize(
    ("text", "code"), [("x" * 1_048_577, "input_too_large"), (f"{ALPHA} \udc80", "undecodable")], ids=["large", "bytes"]
)
def test_what_cannot_be_read_is_refused_with_the_projects_state(desk: Desk, text: str, code: str) -> None:
    packet = desk.route(text, LOCKED)
    assert packet.refusal is not None
    assert (packet.refusal.code, packet.decision) == (code, "no_subject")
    assert (packet.active_subject, packet.mode, packet.clarification) == ("beta", "locked", None)
    assert packet.reasons


def test_a_refused_task_keeps_the_neighbours_and_what_the_project_pins(desk: Desk) -> None:
    state = attrs.evolve(LOCKED, secondary_subjects=("alpha",), method_lenses=("kriging",))
    packet = desk.route("x" * 1_048_577, state)
    assert packet.refusal is not None
    assert packet.secondary_subjects == ("alpha",)
    assert [(item.name, item.activation) for item in packet.resource_activation_plan.resources] == [
        ("kriging", "pinned")
    ]
    assert packet.loaded_resources == ("alpha/method_pack/kriging",)


def test_the_largest_allowed_text_is_answered(desk: Desk) -> None:
    filler = "a day of rain and " * 60_000
    packet = desk.route((ALPHA + filler)[:1_048_576])
    assert (packet.refusal, packet.primary_subject) == (None, "alpha")


# --- the policy table of the activation gates, row by row ---------------------------------------------------------


def test_policy_row_1_weak_or_single_context_signal_in_any_state_is_core_only(desk: Desk) -> None:
    for blocked in ((), ("alpha", "beta", "gamma")):
        there = attrs.evolve(desk, blocked=blocked)
        assert there.route("In a quorl world.").decision == "no_subject"
        assert there.route("A quorl sketch.").decision == "no_subject"


@pytest.mark.parametrize("blocked", [(), ("alpha",)], ids=["active", "lens only"])
def test_policy_row_2_method_only_signal_with_its_pack_borrows(desk: Desk, blocked: tuple[str, ...]) -> None:
    packet = attrs.evolve(desk, blocked=blocked).route("A quorl loaner.")
    assert (packet.decision, lent(packet)) == ("borrow_lens", ["alpha/loan"])


def test_policy_row_3_method_only_signal_without_its_pack_is_core_only_with_a_note(desk: Desk) -> None:
    packet = desk.route("A quorl absentee.")
    assert (packet.decision, packet.borrowed_lenses) == ("no_subject", ())
    assert [reason.code for reason in packet.reasons] == ["method_pack_missing"]
    assert "alpha/absent" in packet.reasons[0].message


def test_policy_row_4_strong_signals_below_runtime_enabled_are_blocked_candidates(desk: Desk) -> None:
    core = desk.route("Gnarl gauging of the gnarl gazette.")
    assert (core.decision, core.candidate_subjects, core.refusal) == ("no_subject", (), None)
    assert [(item.subject, item.dimensions) for item in core.blocked_candidates] == [
        ("gamma", ("method", "data_or_outcome"))
    ]
    assert [reason.code for reason in core.blocked_candidates[0].reasons] == ["below_runtime_enabled"]
    assert core.score_breakdown == ()
    borrow = desk.route("Gnarl gauging of the gnarl gazette with a gnarl tool.")
    assert (borrow.decision, lent(borrow)) == ("borrow_lens", ["gamma/tool"])
    assert [item.subject for item in borrow.blocked_candidates] == ["gamma"]


def test_policy_row_5_strong_signals_at_runtime_enabled_are_suggested(desk: Desk) -> None:
    packet = attrs.evolve(desk, blocked=()).route("Gnarl gauging of the gnarl gazette.")
    assert (packet.decision, packet.primary_subject) == ("suggest_subject", "gamma")


def test_policy_row_6_a_confirmed_subject_with_its_resources_is_confirmed(desk: Desk) -> None:
    packet = desk.route("We count rain.", CONFIRMED)
    assert packet.decision == "confirm_subject"
    assert {"beta/overlay/beta", "beta/skill/beta"} <= set(packet.loaded_resources)


def test_policy_row_7_a_locked_subject_with_its_resources_is_locked(desk: Desk) -> None:
    packet = desk.route("We count rain.", LOCKED)
    assert packet.decision == "lock_subject"
    assert {"beta/overlay/beta", "beta/skill/beta"} <= set(packet.loaded_resources)


def test_policy_row_8_a_locked_subject_borrows_a_neighbours_method(desk: Desk) -> None:
    packet = desk.route("A quorl loaner.", LOCKED)
    assert (packet.decision, packet.primary_subject, lent(packet)) == ("lock_subject", "beta", ["alpha/loan"])
    assert {"beta/overlay/beta", "alpha/method_pack/loan"} <= set(packet.loaded_resources)


@pytest.mark.parametrize(
    ("given", "code"),
    [
        *(({"budget": budget}, "invalid_budget") for budget in (-1, 1.5, True, "x", float("nan"))),
        *(({"session": session}, "invalid_session_event") for session in ("s1", 1, ["s1"])),
        *(({"answers": answers}, "invalid_answer") for answers in ({1: 2}, {"ambiguous:alpha+beta": None})),
    ],
    ids=str,
)
def test_what_a_caller_gives_of_another_type_is_one_error_with_a_code(desk: Desk, given: Any, code: str) -> None:
    with pytest.raises(InputError) as caught:
        desk.route(ALPHA, **given)
    assert caught.value.code == code


def test_a_budget_of_nothing_loads_nothing(desk: Desk) -> None:
    assert desk.route(ALPHA, budget=0).resource_activation_plan.resources == ()


# --- the last look before a subject acts --------------------------------------------------------------------------


@pytest.mark.parametrize("gone", ["overlays/alpha.yaml", "skills/alpha/SKILL.md"])
def test_a_subject_whose_overlay_or_skill_is_gone_does_not_act_and_nobody_takes_its_place(
    tmp_path: Path, gone: str
) -> None:
    write_packages(tmp_path)
    strong = f"{ALPHA} The quorl lemma. {BETA}"  # 0.63 and 0.60
    found = Desk(tmp_path).runtime()
    before = infer_subject_refinement(strong, manifest_state=ManifestState(), runtime=found)
    assert (before.primary_subject, before.secondary_subjects) == ("alpha", ("beta",))
    (tmp_path / "alpha" / gone).unlink()
    after = infer_subject_refinement(strong, manifest_state=ManifestState(), runtime=found)
    assert (after.decision, after.primary_subject) == ("no_subject", "auto")
    assert [(item.subject, item.reasons[0].code) for item in after.blocked_candidates] == [
        ("alpha", "resource_missing")
    ]


def test_a_confirmed_subject_stays_when_its_overlay_is_gone(tmp_path: Path) -> None:
    write_packages(tmp_path)
    (tmp_path / "beta" / "overlays" / "beta.yaml").unlink()
    packet = infer_subject_refinement(BETA, manifest_state=CONFIRMED, runtime=Desk(tmp_path).runtime())
    assert (packet.decision, packet.primary_subject, packet.confidence) == ("confirm_subject", "beta", 600_000)
