"""The user's actions on the subject of a project, under the names that the requirement gives their tests."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from project_cases import FixedClock, make_store, make_subjects, standard_subjects, state_files, suggestion

from qiongli.errors import InputError, StateCorruptError, StateRefusedError, UnknownSubjectError
from qiongli.plugins import Catalogue
from qiongli.project import (
    apply_action,
    change_settings,
    read_manifest_state,
    read_memory,
    record_refinement,
    subject_status,
)
from qiongli.prompting import prompt_state
from qiongli.records.lifecycle import ActionPacket, StatusPacket


class Researcher:
    """Somebody at work on one project."""

    def __init__(self, root: Path, subjects: Catalogue) -> None:
        self.root = root
        self.subjects = subjects
        self.store = make_store(root)

    def status(self) -> StatusPacket:
        return subject_status(self.root, catalogue=self.subjects)

    def does(self, action: str, subject: str | None = None, **options: object) -> ActionPacket:
        return apply_action(action, self.root, subject, catalogue=self.subjects, store=self.store, **options)  # type: ignore[arg-type]

    def is_suggested(self, subject: str, task: str) -> str:
        return record_refinement(self.root, suggestion(subject, task), store=self.store).run_id

    def would_be_prompted(self, subject: str, task: str) -> bool:
        return prompt_state(read_memory(self.root)[0], subject, task)[0]

    def promotion(self, subject: str) -> str:
        return {entry.subject: entry.promotion_status for entry in self.status().suggestions}[subject]

    @property
    def manifest(self) -> bytes:
        return (self.root / ".qiongli/guidance_manifest.yaml").read_bytes()

    @property
    def memory(self) -> dict[str, object]:
        content: dict[str, object] = json.loads((self.root / ".qiongli/trace/subject_evidence.json").read_bytes())
        return content


@pytest.fixture
def researcher(tmp_path: Path) -> Researcher:
    root = tmp_path / "project"
    root.mkdir()
    return Researcher(root, standard_subjects(tmp_path / "packages"))


def test_subject_lifecycle_status_reads_manifest_and_memory(researcher: Researcher) -> None:
    (researcher.root / ".qiongli/trace").mkdir(parents=True)
    (researcher.root / ".qiongli/guidance_manifest.yaml").write_text(
        "active_subject: economics\nsubject_mode: locked\nmethod_lenses: [finance-lens]\n", encoding="utf-8"
    )
    (researcher.root / ".qiongli/trace/subject_evidence.json").write_text(
        json.dumps(
            {
                "schema_version": "1.0",
                "lifecycle_events": [],
                "dismissed_subjects": {"accounting": {"dismissal_count": 1, "last_suggestion_count": 0}},
                "suggestions": {"finance": {"suggestion_count": 2, "last_confidence": 0.85}},
            }
        ),
        encoding="utf-8",
    )
    packet = researcher.status().to_packet()
    assert packet["active_subject"] == "economics"
    assert packet["subject_mode"] == "locked"
    assert packet["locked"] is True
    assert packet["method_lenses"] == ["finance-lens"]
    assert packet["dismissed_subjects"] == ["accounting"]
    assert packet["suggestions"] == [
        {
            "subject": "finance",
            "suggestion_count": 2,
            "last_confidence": 0.85,
            "last_decision": "suggest_subject",
            "promotion_status": "recommend_confirmation",
        }
    ]


def test_status_of_a_new_project_is_the_adaptive_core_and_creates_nothing(researcher: Researcher) -> None:
    packet = researcher.status().to_packet()
    expected = {
        "active_subject": "auto",
        "subject_mode": "auto",
        "secondary_subjects": [],
        "method_lenses": [],
        "suggestions": [],
        "dismissed_subjects": [],
        "locked": False,
        "latest_refinement": None,
        "guidance": "none",
        "warnings": [],
    }
    assert {key: packet[key] for key in expected} == expected
    assert not list(researcher.root.iterdir())


def test_subject_confirm_writes_confirmed_manifest(researcher: Researcher) -> None:
    packet = researcher.does("confirm", "finance")
    assert (packet.before.subject_mode, packet.after.subject_mode) == ("auto", "confirmed")
    assert packet.changed
    assert read_manifest_state(researcher.root)[0].active_subject == "finance"
    assert b"active_subject: finance\nsubject_mode: confirmed\n" in researcher.manifest
    event = researcher.memory["lifecycle_events"][0]  # type: ignore[index]
    assert event.items() >= {"event": "confirm", "subject": "finance", "source": "user", "write_manifest": True}.items()
    assert researcher.status().guidance == "current"


def test_confirm_preserves_the_other_settings(researcher: Researcher) -> None:
    change_settings(
        researcher.root,
        {
            "secondary_subjects": ("economics", "accounting"),
            "venue_profiles": ("journal-of-finance",),
            "method_lenses": ("economics-lens",),
            "strictness": "strict",
        },
        catalogue=researcher.subjects,
    )
    after = researcher.does("confirm", "finance").after
    assert after.secondary_subjects == ("economics", "accounting")
    assert after.venue_profiles == ("journal-of-finance",)
    assert after.method_lenses == ("economics-lens",)
    assert after.strictness == "strict"
    # A neighbour that becomes the subject is no neighbour any more.
    assert researcher.does("confirm", "economics").after.secondary_subjects == ("accounting",)


def test_subject_dismiss_does_not_change_manifest(researcher: Researcher) -> None:
    researcher.does("confirm", "economics")
    run_id = researcher.is_suggested("finance", "one task")
    researcher.is_suggested("finance", "another task")
    before = state_files(researcher.root)
    researcher.does("dismiss", "finance")
    after = state_files(researcher.root)
    assert {name for name in after if after[name] != before.get(name)} == {"trace/subject_evidence.json"}
    assert researcher.memory["dismissed_subjects"] == {
        "finance": {"dismissal_count": 1, "last_dismissed_run_id": "run-3", "last_suggestion_count": 2}
    }
    assert run_id == "run-2"
    researcher.does("dismiss", "finance", run_id="run-2")
    assert researcher.memory["dismissed_subjects"] == {
        "finance": {"dismissal_count": 2, "last_dismissed_run_id": "run-2", "last_suggestion_count": 2}
    }


def test_subject_reset_returns_to_auto(researcher: Researcher) -> None:
    researcher.is_suggested("finance", "one task")
    researcher.is_suggested("finance", "another task")
    researcher.does("dismiss", "finance")
    change_settings(
        researcher.root,
        {"secondary_subjects": ("economics",), "method_lenses": ("finance-lens",), "strictness": "strict"},
        catalogue=researcher.subjects,
    )
    researcher.does("lock", "finance")
    runs = {name: data for name, data in state_files(researcher.root).items() if name.startswith("trace/runs/")}
    after = researcher.does("reset").after
    assert (after.active_subject, after.subject_mode, after.strictness) == ("auto", "auto", "standard")
    assert after.secondary_subjects == after.venue_profiles == after.method_lenses == ()
    assert after.dismissed_subjects == after.suggestions == ()
    assert len(runs) == 8
    assert state_files(researcher.root).items() >= runs.items()
    # What was counted is forgotten: the same tasks count anew.
    researcher.is_suggested("finance", "one task")
    assert researcher.status().suggestions[0].suggestion_count == 1


def test_subject_lock_prevents_auto_subject_switch(researcher: Researcher) -> None:
    researcher.does("lock", "economics")
    for task in ("one", "two", "three"):
        researcher.is_suggested("finance", task)
    assert researcher.status().active_subject == "economics"
    before = state_files(researcher.root)
    for action in ("confirm", "lock"):
        with pytest.raises(StateRefusedError, match="locked to economics") as raised:
            researcher.does(action, "finance")
        assert raised.value.code == "project_locked"
        assert raised.value.exit_code == 3
        assert "qiongli subject unlock" in raised.value.hint
    with pytest.raises(StateRefusedError, match="locked"):
        change_settings(researcher.root, {"strictness": "strict"}, catalogue=researcher.subjects)
    assert state_files(researcher.root) == before
    # Confirming what is locked does not loosen the lock.
    packet = researcher.does("confirm", "economics")
    assert packet.after.locked
    assert "stays locked" in packet.warnings[0]
    assert not packet.changed


def test_subject_unlock_changes_locked_to_confirmed(researcher: Researcher) -> None:
    researcher.does("lock", "economics")
    after = researcher.does("unlock").after
    assert (after.active_subject, after.subject_mode, after.locked) == ("economics", "confirmed", False)
    assert researcher.does("confirm", "finance").after.active_subject == "finance"


def test_unlock_of_an_auto_project_writes_nothing_and_says_so(researcher: Researcher) -> None:
    packet = researcher.does("unlock")
    assert packet.status == "unchanged"
    assert not packet.changed
    assert "not locked" in packet.warnings[0]
    assert not list(researcher.root.iterdir())


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe{}",
        b'{"lifecycle_events": {}}',
        b'{"suggestions": {"finance": {"suggestion_count": "two"}}}',
        b'{"suggestions": {"finance": {"suggestion_count": true}}}',
        b'{"suggestions": {"finance": {"last_confidence": NaN}}}',
        b'{"dismissed_subjects": {"finance": []}}',
        b'{"lifecycle_events": [1]}',
        b'{"schema_version": "9.0", "suggestions": {}}',
        b"[" * 100_000,
    ],
    ids=lambda content: repr(content[:40]),
)
def test_malformed_subject_memory_does_not_abort_lifecycle(researcher: Researcher, content: bytes) -> None:
    memory = researcher.root / ".qiongli/trace/subject_evidence.json"
    memory.parent.mkdir(parents=True)
    memory.write_bytes(content)
    status = researcher.status()
    assert status.suggestions == ()
    assert any("subject_evidence.json" in warning for warning in status.warnings)
    assert memory.read_bytes() == content
    packet = researcher.does("confirm", "finance")
    assert packet.after.active_subject == "finance"
    assert any("kept as" in warning for warning in packet.warnings)
    copies = [path for path in memory.parent.iterdir() if path.name.startswith("subject_evidence.json.")]
    assert [path.read_bytes() for path in copies] == [content]
    assert researcher.status().warnings == ()


def test_dismissed_subject_suppresses_repeated_promotion(researcher: Researcher) -> None:
    researcher.is_suggested("finance", "one task")
    assert researcher.promotion("finance") == "none"
    researcher.is_suggested("finance", "another task")
    assert researcher.promotion("finance") == "recommend_confirmation"
    researcher.does("dismiss", "finance")
    assert researcher.promotion("finance") == "suppressed"
    assert not researcher.would_be_prompted("finance", "one task")
    researcher.is_suggested("finance", "one task")
    assert researcher.promotion("finance") == "suppressed"
    # A task that was not counted is new evidence; once it is counted, it is silent as well.
    assert researcher.would_be_prompted("finance", "a third task")
    researcher.is_suggested("finance", "a third task")
    assert researcher.promotion("finance") == "recommend_confirmation"
    assert not researcher.would_be_prompted("finance", "a third task")
    assert researcher.would_be_prompted("finance", "a fourth task")
    # Nothing was ever confirmed by itself.
    assert researcher.status().subject_mode == "auto"


def test_suggestions_count_distinct_tasks(researcher: Researcher) -> None:
    for _ in range(5):
        researcher.is_suggested("finance", "the same task")
    assert researcher.status().suggestions[0].suggestion_count == 1
    assert researcher.promotion("finance") == "none"


@pytest.mark.parametrize("subject", ["finance", "economics", "accounting"])
def test_every_subject_can_reach_the_recommendation(researcher: Researcher, subject: str) -> None:
    researcher.is_suggested(subject, "one")
    researcher.is_suggested(subject, "two")
    assert researcher.promotion(subject) == "recommend_confirmation"


@pytest.mark.parametrize("action", ["confirm", "lock"])
def test_deciding_for_a_dismissed_subject_clears_its_dismissal(researcher: Researcher, action: str) -> None:
    researcher.does("dismiss", "finance")
    researcher.does("dismiss", "economics")
    assert researcher.does(action, "finance").after.dismissed_subjects == ("economics",)


def test_a_dismissal_may_name_the_task_that_no_host_recorded(researcher: Researcher) -> None:
    researcher.does("dismiss", "finance", fingerprint="previewed only")
    assert not researcher.would_be_prompted("finance", "previewed only")
    assert researcher.would_be_prompted("finance", "new")


def test_unsupported_subjects_give_an_error_with_the_available_ones(researcher: Researcher) -> None:
    for action in ("confirm", "dismiss", "lock"):
        with pytest.raises(UnknownSubjectError) as raised:
            researcher.does(action, "finanse")
        assert raised.value.available == ("accounting", "economics", "finance", "geoeconomics")
        assert "finance" in raised.value.hint
        packet = raised.value.to_packet()
        assert packet["error"]["available"] == list(raised.value.available)  # type: ignore[index]
    assert not list(researcher.root.iterdir())


def test_confirm_dismiss_and_lock_need_a_subject_and_the_others_take_none(researcher: Researcher) -> None:
    for action in ("confirm", "dismiss", "lock"):
        with pytest.raises(InputError) as raised:
            researcher.does(action)
        assert raised.value.code == "subject_required"
    for action in ("reset", "unlock"):
        with pytest.raises(InputError) as raised:
            researcher.does(action, "finance")
        assert raised.value.code == "subject_not_taken"
    with pytest.raises(InputError) as raised:
        researcher.does("promote", "finance")
    assert raised.value.available == ("confirm", "dismiss", "reset", "lock", "unlock")


@pytest.mark.parametrize(
    "content",
    [
        "subject_mode: firm\n",
        "active_subject: finance\nsubject_mode: [locked]\n",
        "subject_mode: locked\n",
        "active_subject: Finance!\n",
        "method_lenses: event-study\n",
        "- a\n",
        "a: [\n",
        "strictness: standard\nstrictness: strict\n",
        "schema_version: '2.0'\n",
    ],
)
def test_manifest_errors_are_structured_and_leave_everything_as_it_was(researcher: Researcher, content: str) -> None:
    researcher.is_suggested("finance", "one task")
    (researcher.root / ".qiongli/guidance_manifest.yaml").write_text(content, encoding="utf-8")
    before = state_files(researcher.root)
    for attempt in (
        researcher.status,
        lambda: researcher.does("confirm", "finance"),
        lambda: researcher.does("dismiss", "finance"),
        lambda: researcher.does("unlock"),
        lambda: researcher.is_suggested("finance", "another task"),
    ):
        with pytest.raises(StateCorruptError) as raised:
            attempt()
        assert "guidance_manifest.yaml" in raised.value.place
        assert "reset" in raised.value.hint
        assert state_files(researcher.root) == before
    # Reset repairs it, and keeps what was there.
    assert researcher.does("reset").after.subject_mode == "auto"
    copies = list((researcher.root / ".qiongli").glob("guidance_manifest.yaml.*"))
    assert [copy.read_text(encoding="utf-8") for copy in copies] == [content]
    assert (
        state_files(researcher.root).items() >= {name: data for name, data in before.items() if "runs" in name}.items()
    )


def test_a_subject_that_is_not_active_is_confirmed_with_a_warning_that_shows_its_state(researcher: Researcher) -> None:
    packet = researcher.does("confirm", "accounting")
    assert packet.after.active_subject == "accounting"
    assert "lens_only" in packet.warnings[0]
    assert "no record" in packet.warnings[0]
    assert any("not loaded" in warning for warning in packet.after.warnings)


def test_a_subject_without_its_resources_or_unreadable_is_not_confirmed(researcher: Researcher) -> None:
    (researcher.subjects.subjects[2].root / "overlays/o.yaml").unlink()
    with pytest.raises(StateRefusedError, match="lacks its overlay") as raised:
        researcher.does("confirm", "accounting")
    assert raised.value.code == "resources_missing"
    with pytest.raises(StateRefusedError, match="broken") as raised:
        researcher.does("lock", "geoeconomics")
    assert raised.value.code == "subject_unusable"
    assert not list(researcher.root.iterdir())


def test_a_decided_subject_whose_package_is_gone_or_blocked_is_a_warning_and_stays(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    Researcher(root, standard_subjects(tmp_path / "packages")).does("lock", "finance")
    gone = Researcher(root, make_subjects(tmp_path / "packages", economics="active")).status()
    assert (gone.active_subject, gone.subject_mode) == ("finance", "locked")
    assert "no package provides it" in gone.warnings[0]
    lowered = Researcher(root, make_subjects(tmp_path / "packages", finance="inactive")).status()
    assert lowered.active_subject == "finance"
    assert "inactive" in lowered.warnings[0]
    broken = Researcher(root, make_subjects(tmp_path / "packages", finance="invalid"))
    assert "invalid" in broken.status().warnings[0]
    assert broken.does("unlock").after.active_subject == "finance"


@pytest.mark.parametrize("action", ["status", "confirm", "reset"])
def test_a_missing_folder_or_a_file_is_an_error_and_creates_nothing(tmp_path: Path, action: str) -> None:
    (tmp_path / "file").write_text("text", encoding="utf-8")
    for name, code in (("missing", "folder_not_found"), ("file", "not_a_folder"), ("file/below", "folder_not_found")):
        root = tmp_path / name
        if action == "status":
            act: Callable[[], object] = partial(subject_status, root, catalogue=Catalogue())
        else:
            act = partial(apply_action, action, root, "x" if action == "confirm" else None, catalogue=Catalogue())
        with pytest.raises(InputError) as raised:
            act()
        assert raised.value.code == code
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_folders_above_are_searched_only_on_request(researcher: Researcher) -> None:
    researcher.does("confirm", "finance")
    below = researcher.root / "chapters/one"
    below.mkdir(parents=True)
    assert subject_status(below, catalogue=researcher.subjects).active_subject == "auto"
    found = subject_status(below, catalogue=researcher.subjects, find_project=True)
    assert found.active_subject == "finance"
    with pytest.raises(InputError) as raised:
        subject_status(researcher.root.parent, catalogue=researcher.subjects, find_project=True)
    assert raised.value.code == "no_project_found"


def test_a_dry_run_shows_what_the_action_then_does(researcher: Researcher) -> None:
    researcher.does("dismiss", "finance")
    before = state_files(researcher.root)
    dry = researcher.does("lock", "finance", dry_run=True)
    assert dry.status == "dry_run"
    assert dry.command == f"qiongli subject lock finance --cwd {researcher.root}"
    assert state_files(researcher.root) == before
    done = researcher.does("lock", "finance")
    assert (dry.before, dry.after) == (done.before, done.after)


def test_a_writer_may_demand_the_state_that_it_has_seen(researcher: Researcher) -> None:
    seen = researcher.status()
    researcher.does("confirm", "economics", if_revision=seen.revision, if_digest=seen.state_digest)
    for demand in ({"if_revision": seen.revision}, {"if_digest": seen.state_digest}):
        with pytest.raises(StateRefusedError) as raised:
            researcher.does("confirm", "finance", **demand)
        assert raised.value.code == "changed_since"
    # An edit by hand is a change, too.
    seen = researcher.status()
    manifest = researcher.root / ".qiongli/guidance_manifest.yaml"
    manifest.write_bytes(manifest.read_bytes() + b"# edited\n")
    for demand in ({"if_revision": seen.revision}, {"if_digest": seen.state_digest}):
        with pytest.raises(StateRefusedError):
            researcher.does("confirm", "finance", **demand)
    now = researcher.status()
    assert now.revision == seen.revision + 1
    assert researcher.does("confirm", "finance", if_revision=now.revision).after.revision == now.revision + 1


def test_events_are_ordered_by_number_even_when_the_clock_goes_backwards(researcher: Researcher) -> None:
    clock = researcher.store.clock
    assert isinstance(clock, FixedClock)
    for subject in ("finance", "economics", "finance"):
        researcher.does("confirm", subject)
        clock.move(days=-400)
    events = read_memory(researcher.root)[0].lifecycle_events
    assert [event.subject for event in events] == ["finance", "economics", "finance"]
    assert [event.revision for event in events] == [1, 2, 3]
    assert [event.time[:4] for event in events] == ["2026", "2025", "2024"]


def test_reading_imports_neither_ruamel_nor_a_yaml_parser_nor_filelock(researcher: Researcher) -> None:
    researcher.does("confirm", "finance")
    code = (
        "import sys; from pathlib import Path; from qiongli.plugins.catalogue import Catalogue; "
        "from qiongli.project import subject_status; "
        f"print(subject_status(Path({str(researcher.root)!r}), catalogue=Catalogue()).active_subject); "
        "print(sorted({'ruamel.yaml', 'yaml', 'filelock', 'cattrs', 'asyncio', 'typer'} & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, encoding="utf-8")
    assert result.stdout.split("\n")[:2] == ["finance", "[]"]
