"""Proposals and undo: what was asked for but not done, and what was done but not meant."""

from __future__ import annotations

import json
import shutil
from contextlib import suppress
from pathlib import Path

import pytest
from project_cases import FixedClock, make_store, standard_subjects, state_files, suggestion

from qiongli.errors import InputError, QiongliError, StateCorruptError, StateRefusedError
from qiongli.plugins import Catalogue
from qiongli.project import (
    apply_action,
    apply_guidance,
    apply_proposal,
    change_settings,
    list_proposals,
    open_project,
    record_refinement,
    subject_status,
    undo_action,
)
from qiongli.project.store import Store
from qiongli.records.lifecycle import ActionPacket

MANIFEST = "guidance_manifest.yaml"


class Case:
    """One project with a clock of its own."""

    def __init__(self, root: Path, subjects: Catalogue) -> None:
        root.mkdir()
        self.root = root
        self.subjects = subjects
        self.store: Store = make_store(root)
        assert isinstance(self.store.clock, FixedClock)
        self.clock = self.store.clock

    def does(self, action: str, subject: str | None = None, **options: bool) -> ActionPacket:
        return apply_action(action, self.root, subject, catalogue=self.subjects, store=self.store, **options)  # type: ignore[arg-type]

    def proposes(self, action: str, subject: str | None = None) -> str:
        packet = self.does(action, subject, propose=True)
        assert packet.status == "proposed"
        assert packet.proposal is not None
        return packet.proposal

    def applies(self, proposal: str) -> ActionPacket:
        return apply_proposal(proposal, self.root, catalogue=self.subjects, store=self.store)

    def undoes(self) -> ActionPacket:
        return undo_action(self.root, catalogue=self.subjects, store=self.store)

    def refuses(self, proposal: str) -> str:
        before = state_files(self.root)
        with pytest.raises(QiongliError) as raised:
            self.applies(proposal)
        assert state_files(self.root) == before
        assert raised.value.hint
        return raised.value.code

    def files(self) -> dict[str, bytes]:
        """Manifest and guidance: what an undo brings back byte for byte."""
        return {name: data for name, data in state_files(self.root).items() if not name.startswith("trace/")}


@pytest.fixture
def case(tmp_path: Path) -> Case:
    return Case(tmp_path / "project", standard_subjects(tmp_path / "packages"))


def test_a_proposal_changes_nothing_until_it_is_applied_and_is_applied_once(case: Case) -> None:
    case.does("confirm", "finance")
    before = case.files()
    proposal = case.proposes("lock", "economics")
    assert {name for name in case.files() if name not in before} == {f"proposals/{proposal}.json"}
    packet = case.applies(proposal)
    assert (packet.before.active_subject, packet.after.active_subject, packet.after.locked) == (
        "finance",
        "economics",
        True,
    )
    event = json.loads((case.root / ".qiongli/trace/subject_evidence.json").read_bytes())["lifecycle_events"][-1]
    assert (event["event"], event["proposal"]) == ("lock", proposal)
    assert case.refuses(proposal) == "unknown_proposal"
    assert list_proposals(open_project(case.root), clock=case.clock) == ()


def test_a_proposal_expires(case: Case) -> None:
    proposal = case.proposes("confirm", "finance")
    case.clock.move(hours=24)
    assert case.refuses(proposal) == "proposal_expired"
    # Those that are over are swept when another is made.
    other = case.proposes("confirm", "economics")
    assert [found.id for found in list_proposals(open_project(case.root), clock=case.clock)] == [other]


def test_a_clock_that_goes_backwards_does_not_lengthen_a_proposals_life(case: Case) -> None:
    proposal = case.proposes("confirm", "finance")
    case.clock.move(hours=-2)
    assert case.refuses(proposal) == "proposal_expired"
    case.clock.move(hours=2, minutes=1)
    assert case.applies(proposal).after.active_subject == "finance"


def test_a_proposal_is_void_once_the_users_choice_has_changed(case: Case) -> None:
    by_action, by_hand, by_dismissal = (case.proposes("confirm", "finance") for _ in range(3))
    assert by_action == by_hand == by_dismissal
    case.does("confirm", "economics")
    assert case.refuses(by_action) == "changed_since"
    proposal = case.proposes("lock", "economics")
    manifest = case.root / ".qiongli" / MANIFEST
    manifest.write_bytes(manifest.read_bytes() + b"# edited by hand\n")
    assert case.refuses(proposal) == "changed_since"
    proposal = case.proposes("lock", "economics")
    case.does("dismiss", "finance")
    assert case.refuses(proposal) == "changed_since"


def test_recorded_runs_do_not_void_a_proposal(case: Case) -> None:
    proposal = case.proposes("confirm", "finance")
    record_refinement(case.root, suggestion("finance", "x"), store=case.store)
    assert case.applies(proposal).after.active_subject == "finance"


def test_a_proposal_of_another_project_is_refused(case: Case, tmp_path: Path) -> None:
    other = Case(tmp_path / "other", case.subjects)
    proposal = other.proposes("confirm", "finance")
    assert case.refuses(proposal) == "unknown_proposal"
    (case.root / ".qiongli").mkdir()
    shutil.copytree(other.root / ".qiongli/proposals", case.root / ".qiongli/proposals")
    assert case.refuses(proposal) == "proposal_of_another_project"


@pytest.mark.parametrize("key", ["action", "subject", "settings", "choice", "project", "expires", "run_id"])
@pytest.mark.parametrize("value", ["lock", ["x"], None, 5])
def test_a_proposal_that_was_changed_is_void(case: Case, key: str, value: object) -> None:
    proposal = case.proposes("confirm", "finance")
    path = case.root / f".qiongli/proposals/{proposal}.json"
    content = json.loads(path.read_bytes())
    content[key] = value
    path.write_text(json.dumps(content), encoding="utf-8")
    assert case.refuses(proposal) == "proposal_malformed"


@pytest.mark.parametrize(
    "identifier",
    ["", "..", "../proposals/x", "p-1", "p-" + "g" * 24, "p-" + "0" * 24 + "\n", "p-" + "0" * 24, "/etc/passwd", "项"],
)
def test_only_ids_of_this_project_are_looked_for(case: Case, identifier: str) -> None:
    proposal = case.proposes("confirm", "finance")
    with pytest.raises(InputError) as raised:
        case.applies(identifier)
    assert raised.value.code == "unknown_proposal"
    assert raised.value.available == (proposal,)


@pytest.mark.parametrize("content", ["", "[]", "{}", "null", "[" * 50_000, '{"settings": 1}'])
def test_a_file_that_is_no_proposal_is_malformed_and_not_listed(case: Case, content: str) -> None:
    case.proposes("confirm", "finance")
    identifier = "p-" + "0" * 24
    (case.root / f".qiongli/proposals/{identifier}.json").write_text(content, encoding="utf-8")
    with pytest.raises(StateCorruptError):
        case.applies(identifier)
    assert len(list_proposals(open_project(case.root), clock=case.clock)) == 1


def test_a_proposal_to_lock_is_refused_where_confirming_would_be(case: Case) -> None:
    case.does("lock", "finance")
    with pytest.raises(StateRefusedError):
        case.proposes("confirm", "economics")
    assert list_proposals(open_project(case.root), clock=case.clock) == ()


def test_settings_can_be_proposed(case: Case) -> None:
    settings = {"method_lenses": ("finance-lens",), "strictness": "strict", "venue_profiles": ()}
    packet = change_settings(case.root, settings, catalogue=case.subjects, store=case.store, propose=True)
    assert packet.command == (
        f"qiongli project set --cwd {case.root} --method-lens finance-lens --strictness strict --clear venue_profiles"
    )
    assert packet.proposal is not None
    after = case.applies(packet.proposal).after
    assert (after.method_lenses, after.strictness) == (("finance-lens",), "strict")


def test_reset_can_be_proposed_for_a_broken_project(case: Case) -> None:
    case.does("confirm", "finance")
    (case.root / ".qiongli" / MANIFEST).write_text("[", encoding="utf-8")
    proposal = case.proposes("reset")
    assert case.applies(proposal).after.subject_mode == "auto"


def test_not_more_than_a_hundred_proposals_are_kept(case: Case) -> None:
    for number in range(105):
        case.clock.move(seconds=1)
        last = case.proposes("confirm", ("finance", "economics")[number % 2])
    found = [proposal.id for proposal in list_proposals(open_project(case.root), clock=case.clock)]
    assert len(found) == 100
    assert found[-1] == last


# --- undo ----------------------------------------------------------------------------------------------------------


def test_undo_brings_manifest_and_guidance_back_byte_for_byte(case: Case) -> None:
    (case.root / ".qiongli/guidance.d").mkdir(parents=True)
    (case.root / ".qiongli" / MANIFEST).write_bytes(b"# mine\r\nsubject_mode:   'auto'\r\nx: 1.10 # y\r\n")
    (case.root / ".qiongli/guidance.d/subject-runtime.md").write_bytes(b"my notes, no newline")
    history = [case.files()]
    for action, subject in (("confirm", "finance"), ("lock", "economics"), ("unlock", None), ("reset", None)):
        case.does(action, subject)
        history.append(case.files())
    for expected in reversed(history[:-1]):
        case.undoes()
        assert case.files() == expected
    with pytest.raises(StateRefusedError) as raised:
        case.undoes()
    assert raised.value.code == "nothing_to_undo"
    assert raised.value.exit_code == 3


def test_undo_of_the_first_action_leaves_no_manifest_and_no_block(case: Case) -> None:
    case.does("lock", "finance")
    packet = case.undoes()
    assert (packet.notes, packet.warnings) == (("undone: lock finance",), ())
    assert packet.after.subject_mode == "auto"
    assert case.files() == {}


def test_undo_brings_dismissals_back_and_keeps_what_was_recorded_since(case: Case) -> None:
    record_refinement(case.root, suggestion("finance", "a"), store=case.store)
    record_refinement(case.root, suggestion("finance", "b"), store=case.store)
    case.does("dismiss", "finance")
    case.does("reset")
    record_refinement(case.root, suggestion("finance", "b"), store=case.store)
    record_refinement(case.root, suggestion("finance", "c"), store=case.store)
    record_refinement(case.root, suggestion("economics", "d"), store=case.store)
    after = case.undoes().after
    assert after.dismissed_subjects == ("finance",)
    assert {entry.subject: entry.suggestion_count for entry in after.suggestions} == {"finance": 3, "economics": 1}
    assert case.undoes().after.dismissed_subjects == ()


def test_undo_of_confirming_a_dismissed_subject_dismisses_it_again(case: Case) -> None:
    case.does("dismiss", "finance")
    case.does("confirm", "finance")
    after = case.undoes().after
    assert (after.subject_mode, after.dismissed_subjects) == ("auto", ("finance",))


def test_undo_keeps_comments_that_were_written_since_and_refuses_when_values_were(case: Case) -> None:
    case.does("confirm", "finance")
    case.does("lock", "economics")
    manifest = case.root / ".qiongli" / MANIFEST
    manifest.write_bytes(manifest.read_bytes() + b"# since then\n")
    assert case.undoes().after.active_subject == "finance"
    assert manifest.read_bytes().endswith(b"# since then\n")
    manifest.write_bytes(manifest.read_bytes().replace(b"confirmed", b"locked"))
    before = state_files(case.root)
    with pytest.raises(StateRefusedError) as raised:
        case.undoes()
    assert raised.value.code == "changed_since"
    assert state_files(case.root) == before


def test_undo_takes_a_lock_off_and_puts_it_on_again(case: Case) -> None:
    case.does("lock", "finance")
    case.does("unlock")
    assert case.undoes().after.locked
    assert not case.undoes().after.locked


def test_undoing_a_reset_brings_the_settings_back_but_no_file_that_was_put_aside(case: Case) -> None:
    case.does("confirm", "finance")
    case.does("dismiss", "economics")
    (case.root / ".qiongli" / MANIFEST).write_text("[", encoding="utf-8")
    assert case.does("reset").after.subject_mode == "auto"
    after = case.undoes().after
    assert (after.active_subject, after.subject_mode, after.dismissed_subjects) == (
        "finance",
        "confirmed",
        ("economics",),
    )
    assert [path.read_bytes() for path in case.root.glob(f".qiongli/{MANIFEST}.corrupt-*")] == [b"["]
    case.undoes()
    assert case.undoes().after.subject_mode == "auto"


def test_a_reset_of_a_broken_guidance_block_can_be_undone(case: Case) -> None:
    case.does("confirm", "finance")
    manifest = (case.root / ".qiongli" / MANIFEST).read_bytes()
    guidance = case.root / ".qiongli/guidance.d/subject-runtime.md"
    broken = b"my notes\n" + guidance.read_bytes().replace(b"managed:end", b"managed:fin")
    guidance.write_bytes(broken)
    case.does("reset")
    undone = case.undoes()
    assert undone.notes == ("undone: reset",)
    assert (case.root / ".qiongli" / MANIFEST).read_bytes() == manifest
    assert undone.after.guidance == "current"
    assert [path.read_bytes() for path in guidance.parent.glob("*.corrupt-*")] == [broken]
    assert case.undoes().notes == ("undone: confirm finance",)


def test_undoing_a_dismissal_leaves_the_guidance_file_alone(case: Case) -> None:
    guidance = case.root / ".qiongli/guidance.d/subject-runtime.md"
    case.does("dismiss", "finance")
    apply_guidance(case.root, catalogue=case.subjects, store=case.store)
    before = guidance.read_bytes()
    assert case.undoes().after.guidance == "current"
    assert guidance.read_bytes() == before


def test_a_reset_that_loses_the_history_says_so(case: Case) -> None:
    case.does("confirm", "finance")
    (case.root / ".qiongli/trace/subject_evidence.json").write_text("{", encoding="utf-8")
    warning = case.does("reset").warnings[-1]
    assert warning.endswith("; suggestions, dismissals, events and what could be undone start anew")
    with pytest.raises(StateRefusedError) as raised:
        case.undoes()
    assert raised.value.code == "nothing_to_undo"


def test_a_dry_run_of_undo_shows_what_it_does(case: Case) -> None:
    case.does("confirm", "finance")
    before = state_files(case.root)
    dry = undo_action(case.root, catalogue=case.subjects, store=case.store, dry_run=True)
    assert state_files(case.root) == before
    done = case.undoes()
    assert (dry.after, dry.status) == (done.after, "dry_run")


@pytest.mark.parametrize("key", ["state_before", "state_after", "dismissed_before", "manifest_text", "manifest_after"])
@pytest.mark.parametrize("value", [None, 5, "x", {}, {"active_subject": "a\nsubject_mode: locked"}, []])
def test_an_undo_list_that_was_tampered_with_is_never_a_traceback(case: Case, key: str, value: object) -> None:
    case.does("confirm", "finance")
    case.does("lock", "finance")
    memory = case.root / ".qiongli/trace/subject_evidence.json"
    content = json.loads(memory.read_bytes())
    content["undo"][-1][key] = value
    memory.write_text(json.dumps(content), encoding="utf-8")
    with suppress(QiongliError):
        case.undoes()
    assert subject_status(case.root, catalogue=case.subjects).active_subject in ("auto", "finance")


def test_no_more_than_twenty_actions_can_be_undone(case: Case) -> None:
    for number in range(25):
        case.does("confirm", ("finance", "economics")[number % 2])
    for _ in range(20):
        case.undoes()
    with pytest.raises(StateRefusedError):
        case.undoes()
