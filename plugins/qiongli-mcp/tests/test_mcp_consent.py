"""A project's subject changes only on the user's word: asked through the client, or given to a plan that waits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp import Client
from mcp.server.mcpserver import AcceptedElicitation, CancelledElicitation, DeclinedElicitation
from mcp_types import ElicitResult

from qiongli.errors import StateRefusedError
from qiongli.project import apply_action
from qiongli_mcp import confirmation, project_tools
from qiongli_mcp.confirmation import Ask, NotAsked, PlanBook, consent
from qiongli_mcp.runtime_access import current_catalogue
from qiongli_mcp.server import build_server

ACTIONS = ("confirm", "dismiss", "reset", "lock", "unlock")
#: A state in which every action changes something.
BEFORE = {"confirm": "auto", "dismiss": "auto", "reset": "confirmed", "lock": "auto", "unlock": "locked"}


def wish(action: str, cwd: Path, **more: str) -> dict[str, str]:
    subject = {"subject": "finance"} if action in ("confirm", "dismiss", "lock") else {}
    return {"cwd": str(cwd), "action": action, **subject, **more}


def prepared(action: str, cwd: Path) -> Path:
    if BEFORE[action] == "confirmed":
        apply_action("confirm", cwd, "finance", catalogue=current_catalogue)
    if BEFORE[action] == "locked":
        apply_action("lock", cwd, "finance", catalogue=current_catalogue)
    return cwd


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def code(result: Any) -> str:
    assert result.is_error, result
    return str(json.loads(result.content[0].text.splitlines()[-1])["code"])


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("says", ["accept", "decline", "cancel"])
def test_only_the_user_accepting_changes_anything(call: Any, tmp_path: Path, action: str, says: str) -> None:
    before = bytes_of(prepared(action, tmp_path))
    result = call("qiongli_subject_update", wish(action, tmp_path), says)
    assert result.structured_content["outcome"] == ("applied" if says == "accept" else "cancelled")
    assert (bytes_of(tmp_path) != before) == (says == "accept")
    assert len(call.asked) == 1
    assert str(tmp_path) not in call.asked[0]
    assert repr(tmp_path.name) in call.asked[0]


@pytest.mark.parametrize("action", ACTIONS)
def test_a_client_that_cannot_ask_gets_a_plan_that_holds_once(call: Any, tmp_path: Path, action: str) -> None:
    before = bytes_of(prepared(action, tmp_path))
    first = call("qiongli_subject_update", wish(action, tmp_path)).structured_content
    assert first["outcome"] == "needs_confirmation"
    assert first["status"] == "dry_run"
    assert first["expires_in_seconds"] == 600
    assert first["proposed_actions"][0]["command"].startswith(f"qiongli subject {action}")
    # Nothing is written before consent: no proposal, no lock file.
    assert bytes_of(tmp_path) == before
    plan = first["plan_id"]
    second = call("qiongli_subject_update", wish(action, tmp_path, plan_id=plan)).structured_content
    assert second["outcome"] == "applied"
    assert bytes_of(tmp_path) != before
    prepared(action, tmp_path)
    again = call("qiongli_subject_update", wish("reset", tmp_path, plan_id=plan))
    assert code(again) == "unknown_plan"


def test_a_plan_holds_for_its_action_its_subject_and_its_project_only(call: Any, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    plan = call("qiongli_subject_update", wish("confirm", here)).structured_content["plan_id"]
    for other in (
        {**wish("confirm", here), "action": "lock"},
        {**wish("confirm", here), "subject": "economics"},
        wish("confirm", there),
    ):
        assert code(call("qiongli_subject_update", {**other, "plan_id": plan})) == "plan_of_another_action"
    assert bytes_of(tmp_path) == {}
    applied = call("qiongli_subject_update", wish("confirm", here, plan_id=plan)).structured_content
    assert applied["after"]["active_subject"] == "finance"


@pytest.mark.parametrize("plan", ["plan-0", "p-" + "0" * 24, "../../x", "plan-" + "0" * 32])
def test_a_foreign_plan_is_refused(call: Any, tmp_path: Path, plan: str) -> None:
    assert code(call("qiongli_subject_update", wish("confirm", tmp_path, plan_id=plan))) == "unknown_plan"
    assert bytes_of(tmp_path) == {}


def test_the_id_of_a_proposal_of_the_command_line_is_no_plan(call: Any, tmp_path: Path) -> None:
    proposed = apply_action("confirm", tmp_path, "finance", catalogue=current_catalogue, propose=True)
    result = call("qiongli_subject_update", wish("confirm", tmp_path, plan_id=str(proposed.proposal)))
    assert code(result) == "unknown_plan"


def test_an_expired_plan_is_refused(call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(project_tools, "PLANS", PlanBook(clock=lambda: now[0]))
    plan = call("qiongli_subject_update", wish("confirm", tmp_path)).structured_content["plan_id"]
    now[0] = confirmation.PLAN_SECONDS
    assert code(call("qiongli_subject_update", wish("confirm", tmp_path, plan_id=plan))) == "unknown_plan"
    assert bytes_of(tmp_path) == {}


def test_a_plan_is_void_once_somebody_else_has_decided(call: Any, tmp_path: Path) -> None:
    plan = call("qiongli_subject_update", wish("confirm", tmp_path)).structured_content["plan_id"]
    apply_action("confirm", tmp_path, "economics", catalogue=current_catalogue)
    assert code(call("qiongli_subject_update", wish("confirm", tmp_path, plan_id=plan))) == "changed_since"
    status = call("qiongli_subject_status", {"cwd": str(tmp_path)}).structured_content
    assert status["active_subject"] == "economics"


def test_recording_a_task_meanwhile_leaves_a_plan_valid(call: Any, tmp_path: Path) -> None:
    plan = call("qiongli_subject_update", wish("confirm", tmp_path)).structured_content["plan_id"]
    call("qiongli_observe", {"cwd": str(tmp_path), "text": "An event study with CRSP abnormal returns"})
    again = call("qiongli_subject_update", wish("confirm", tmp_path, plan_id=plan)).structured_content
    assert again["outcome"] == "applied"


def test_a_decision_made_while_the_user_was_thinking_is_not_overwritten(era: str, tmp_path: Path) -> None:
    """The user agreed to confirm a subject of an undecided project, not to replace one."""
    asked = []

    async def slow(_: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        if len(asked) == 1:
            apply_action("confirm", tmp_path, "economics", catalogue=current_catalogue)
            return ElicitResult(action="accept", content={})
        return ElicitResult(action="decline")

    async def main() -> Any:
        async with Client(build_server(), mode=era, elicitation_callback=slow) as client:  # type: ignore[arg-type]
            return await client.call_tool("qiongli_subject_update", wish("confirm", tmp_path))

    result = anyio.run(main)
    # The older era meets the changed state; the newer one asks anew, about the replacement.
    if era == "legacy":
        assert code(result) == "changed_since"
    else:
        assert result.structured_content["outcome"] == "cancelled"
        assert "replaces economics, which is confirmed" in asked[1]
    assert "economics" in (tmp_path / ".qiongli" / "guidance_manifest.yaml").read_text(encoding="utf-8")


def test_replacing_a_confirmed_subject_and_reset_ask_and_say_what_is_lost(call: Any, tmp_path: Path) -> None:
    apply_action("confirm", tmp_path, "economics", catalogue=current_catalogue)
    assert call("qiongli_subject_update", wish("confirm", tmp_path)).structured_content["outcome"] == (
        "needs_confirmation"
    )
    assert call("qiongli_subject_update", wish("reset", tmp_path)).structured_content["outcome"] == "needs_confirmation"
    declined = call("qiongli_subject_update", wish("confirm", tmp_path), "decline").structured_content
    assert declined["outcome"] == "cancelled"
    assert "replaces economics, which is confirmed" in call.asked[-1]
    call("qiongli_subject_update", wish("reset", tmp_path), "decline")
    assert "forget the confirmed subject" in call.asked[-1]


def test_nobody_is_asked_about_what_cannot_be_done(call: Any, tmp_path: Path) -> None:
    apply_action("lock", tmp_path, "economics", catalogue=current_catalogue)
    assert code(call("qiongli_subject_update", wish("confirm", tmp_path), "accept")) == "project_locked"
    unknown = {**wish("confirm", tmp_path), "subject": "alchemy"}
    assert code(call("qiongli_subject_update", unknown, "accept")) == "unknown_subject"
    free = tmp_path / "free"
    free.mkdir()
    nothing = call("qiongli_subject_update", wish("unlock", free), "accept").structured_content
    assert nothing["outcome"] == "unchanged"
    assert call.asked == []


def test_a_client_that_can_ask_is_asked_even_with_a_plan(ask: Any, tmp_path: Path) -> None:
    server = build_server()
    first = ask(lambda client: client.call_tool("qiongli_subject_update", wish("confirm", tmp_path)), None, server)
    plan = first.structured_content["plan_id"]
    again = wish("confirm", tmp_path, plan_id=plan)
    second = ask(lambda client: client.call_tool("qiongli_subject_update", again), "decline", server)
    assert second.structured_content["outcome"] == "cancelled"
    assert bytes_of(tmp_path) == {}


def test_a_client_that_shows_addresses_only_counts_as_one_that_cannot_ask() -> None:
    from types import SimpleNamespace

    from mcp_types import ClientCapabilities, ElicitationCapability, FormElicitationCapability, UrlElicitationCapability

    forms = ElicitationCapability(form=FormElicitationCapability())
    addresses = ElicitationCapability(url=UrlElicitationCapability())
    for elicitation, expected in ((forms, True), (ElicitationCapability(), True), (addresses, False), (None, False)):
        capabilities = ClientCapabilities(elicitation=elicitation)
        assert confirmation.can_ask(SimpleNamespace(client_capabilities=capabilities)) is expected  # type: ignore[arg-type]
    assert confirmation.can_ask(SimpleNamespace(client_capabilities=None)) is False  # type: ignore[arg-type]


def test_an_acceptance_without_the_form_changes_nothing_and_says_so(era: str, tmp_path: Path) -> None:
    async def answer(_: Any, __: Any) -> ElicitResult:
        return ElicitResult(action="accept", content=None)

    async def main() -> Any:
        async with Client(build_server(), mode=era, elicitation_callback=answer) as client:  # type: ignore[arg-type]
            return await client.call_tool("qiongli_subject_update", wish("confirm", tmp_path))

    assert code(anyio.run(main)) == "answer_unreadable"
    assert bytes_of(tmp_path) == {}


def test_only_an_accepted_form_that_a_person_could_see_is_consent() -> None:
    assert consent(AcceptedElicitation(data=Ask())) == "given"
    assert consent(AcceptedElicitation(data=NotAsked())) == "not_asked"
    assert consent(DeclinedElicitation()) == "refused"
    assert consent(CancelledElicitation()) == "refused"


def test_the_book_of_plans_forgets_the_oldest_and_gives_each_once() -> None:
    book = PlanBook()
    ids = [book.keep(("confirm", str(number)), "") for number in range(150)]
    assert len(set(ids)) == 150
    with pytest.raises(StateRefusedError, match="no such plan"):
        book.take(ids[0], ("confirm", "0"))
    assert book.take(ids[149], ("confirm", "149")).wish == ("confirm", "149")
    with pytest.raises(StateRefusedError, match="no such plan"):
        book.take(ids[149], ("confirm", "149"))


counts = st.integers(0, 10**6)
scores = st.floats(0, 1)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    suggestions=st.dictionaries(st.sampled_from(["finance", "economics"]), st.tuples(counts, scores)),
    session=st.dictionaries(st.text(max_size=5), scores, max_size=3),
    strictness=st.sampled_from(["standard", "strict"]),
    action=st.sampled_from(["confirm", "lock"]),
    says=st.sampled_from([None, "accept", "decline", "cancel"]),
)
def test_property_no_packet_score_or_session_value_changes_a_confirmation_verdict(
    tmp_path_factory: pytest.TempPathFactory,
    suggestions: dict[str, tuple[int, float]],
    session: dict[str, float],
    strictness: str,
    action: str,
    says: Any,
) -> None:
    """Whatever the project's memory claims the router thinks, the outcome is that of the user's word alone."""
    cwd = tmp_path_factory.mktemp("project")
    trace = cwd / ".qiongli" / "trace"
    trace.mkdir(parents=True)
    (cwd / ".qiongli" / "guidance_manifest.yaml").write_text(
        f"active_subject: auto\nsubject_mode: auto\nstrictness: {strictness}\n", encoding="utf-8"
    )
    memory = {
        "schema_version": "1.0",
        "lifecycle_events": [],
        "dismissed_subjects": {},
        "suggestions": {
            subject: {"suggestion_count": count, "last_confidence": score, "last_decision": "confirm_subject"}
            for subject, (count, score) in suggestions.items()
        },
    }
    (trace / "subject_evidence.json").write_text(json.dumps(memory), encoding="utf-8")
    (trace / "session.json").write_text(json.dumps(session), encoding="utf-8")
    before = bytes_of(cwd)

    async def answer(_: Any, __: Any) -> ElicitResult:
        return ElicitResult(action=says, content={} if says == "accept" else None)

    async def main() -> Any:
        callback: Any = {} if says is None else {"elicitation_callback": answer}
        async with Client(build_server(), mode="legacy", **callback) as client:
            return await client.call_tool("qiongli_subject_update", wish(action, cwd))

    outcome = anyio.run(main).structured_content["outcome"]
    assert outcome == {None: "needs_confirmation", "accept": "applied"}.get(says, "cancelled")
    assert (bytes_of(cwd) == before) == (says != "accept")


def test_reset_heals_a_broken_manifest_only_on_the_users_word(call: Any, tmp_path: Path) -> None:
    manifest = tmp_path / ".qiongli" / "guidance_manifest.yaml"
    manifest.parent.mkdir()
    manifest.write_text("active_subject: [", encoding="utf-8")
    before = bytes_of(tmp_path)
    assert code(call("qiongli_subject_update", wish("confirm", tmp_path), "accept")).startswith("manifest")
    assert (
        call("qiongli_subject_update", wish("reset", tmp_path), "decline").structured_content["outcome"] == "cancelled"
    )
    assert bytes_of(tmp_path) == before
    healed = call("qiongli_subject_update", wish("reset", tmp_path), "accept").structured_content
    assert healed["outcome"] == "applied"
    assert b"active_subject: [" in b"".join(bytes_of(tmp_path).values())
    assert call("qiongli_subject_status", {"cwd": str(tmp_path)}).structured_content["active_subject"] == "auto"


def test_two_servers_that_were_both_given_the_word_lose_nothing(call: Any, tmp_path: Path) -> None:
    """Two clients ask at once; the second decision meets a changed state, and is not applied on top of it."""
    first = call("qiongli_subject_update", wish("confirm", tmp_path)).structured_content["plan_id"]
    other = {**wish("confirm", tmp_path), "subject": "economics"}
    second = call("qiongli_subject_update", other).structured_content["plan_id"]
    assert call("qiongli_subject_update", {**other, "plan_id": second}).structured_content["outcome"] == "applied"
    assert code(call("qiongli_subject_update", wish("confirm", tmp_path, plan_id=first))) == "changed_since"
