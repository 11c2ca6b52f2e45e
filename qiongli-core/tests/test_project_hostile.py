"""Hostile and broken surroundings: links, pipes, unreadable files, forged intents, and texts that pose as commands."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest
from project_cases import Died, DiesAt, FailsAt, Watched, make_store, standard_subjects, state_files, suggestion

from qiongli.errors import EnvironmentBrokenError, QiongliError, StateCorruptError, StateRefusedError
from qiongli.plugins import Catalogue
from qiongli.project import (
    apply_action,
    change_settings,
    list_runs,
    read_manifest_state,
    read_project,
    read_run,
    record_refinement,
    subject_status,
)
from qiongli.project import trace as trace_module
from qiongli.project.paths import GUIDANCE, MANIFEST, MEMORY

FILES = (MANIFEST, MEMORY, GUIDANCE)


@pytest.fixture
def project(tmp_path: Path) -> tuple[Path, Catalogue]:
    subjects = standard_subjects(tmp_path / "packages")
    root = tmp_path / "project"
    root.mkdir()
    apply_action("confirm", root, "finance", catalogue=subjects, store=make_store(root))
    return root, subjects


def test_a_trace_masks_secrets_addresses_and_homes(project: tuple[Path, Catalogue]) -> None:
    root, _ = project
    secrets = {
        "text": "write to jane.doe@example.org, file /home/jane/draft.tex, key sk-abcdefghijklmnop1234",
        "api_key=hunter2hunter2": ["password: correct-horse", b"bytes", 1.5, None, True, float("nan")],
        "deep": [[[[["token=abcdefgh12345678"]]]]],
    }
    refinement = attrs.evolve(
        suggestion("finance", "x"),
        summary="ask jane.doe@example.org",
        reasons=("its file is /home/jane/draft.tex",),
        diagnostics={"password": "hunter2hunter2"},
    )
    recorded = record_refinement(
        root,
        refinement,
        task_packet=secrets,
        proposal={"by": "jane.doe@example.org"},
        store=make_store(root),
    )
    text = "".join(
        data.decode() for name, data in state_files(root).items() if name.startswith(f"trace/runs/{recorded.run_id}/")
    )
    for secret in ("jane", "sk-abc", "hunter2", "correct-horse", "abcdefgh12345678"):
        assert secret not in text
    assert "[redacted:email]" in text
    run = read_run(root, recorded.run_id)
    assert run["refinement"]["summary"] == "ask [redacted:email]"
    assert run["refinement"]["diagnostics"] == {"password": "[redacted:secret]"}
    assert run["packet"]["task_packet"]["deep"] == [[[[["token=[redacted:secret]"]]]]]


def test_a_field_whose_name_says_that_it_holds_a_secret_keeps_nothing_of_it(project: tuple[Path, Catalogue]) -> None:
    root, _ = project
    task = {
        "text": "the secret of success",
        "password": "plain",
        "apiKey": 12345678,
        "SECRET_KEY": ["first-part", {"second": "part-two"}],
        "credentials": {"user": "ann-lee", "digest": f"sha256:{'a' * 64}"},
        "nested": [{"authorization": "opaque"}, {"token": None, "secret": True}],
        "tokens": 1200,
    }
    recorded = record_refinement(root, suggestion("finance", "x"), task_packet=task, store=make_store(root))
    assert read_run(root, recorded.run_id)["packet"]["task_packet"] == {
        "text": "the secret of success",
        "password": "[redacted:secret]",
        "apiKey": "[redacted:secret]",
        "SECRET_KEY": ["[redacted:secret]", {"second": "[redacted:secret]"}],
        "credentials": {"user": "[redacted:secret]", "digest": "[redacted:secret]"},
        "nested": [{"authorization": "[redacted:secret]"}, {"token": None, "secret": True}],
        "tokens": 1200,
    }


def test_a_huge_or_endless_task_is_cut(project: tuple[Path, Catalogue]) -> None:
    root, _ = project
    nested: list[object] = []
    inner = nested
    for _ in range(2_000):
        deeper: list[object] = []
        inner.append(deeper)
        inner = deeper
    record_refinement(
        root, suggestion("finance", "x"), task_packet={"text": "x" * 300_000, "n": nested}, store=make_store(root)
    )
    packet = json.loads(state_files(root)["trace/runs/run-2/packet.json"])
    assert packet["task_packet"]["text"].endswith("[cut after 65536 characters]")
    assert len(packet["task_packet"]["text"]) < 66_000


def test_a_task_of_many_texts_is_left_out_rather_than_making_its_run_unreadable(
    project: tuple[Path, Catalogue], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace_module, "_FILE_LIMIT", 100_000)
    root, _ = project
    task = {"texts": ["x" * 60_000] * 3}
    many = {f"key{number}": "x" * 60 for number in range(2_000)}
    record_refinement(root, suggestion("finance", "x"), task_packet=task, proposal=many, store=make_store(root))
    assert [found.decision for found in list_runs(root)[0]] == ["suggest_subject"]
    run = read_run(root, "run-2")
    assert (run["packet"]["fingerprint"], run["packet"]["task_packet"]) == ("x", "[too large]")
    assert run["proposal"] == {}


@pytest.mark.parametrize("name", FILES)
def test_links_out_of_the_project_are_neither_read_nor_written(project: tuple[Path, Catalogue], name: str) -> None:
    root, subjects = project
    outside = root.parent / "outside"
    outside.write_bytes((root / ".qiongli" / name).read_bytes())
    (root / ".qiongli" / name).unlink()
    (root / ".qiongli" / name).symlink_to(outside)
    before = outside.read_bytes()
    for attempt in (
        lambda: subject_status(root, catalogue=subjects),
        lambda: read_project(root),
        lambda: apply_action("confirm", root, "economics", catalogue=subjects, store=make_store(root)),
        lambda: record_refinement(root, suggestion("finance", "x"), store=make_store(root)),
    ):
        with pytest.raises(StateRefusedError) as raised:
            attempt()
        assert raised.value.code == "path_outside_project"
    # Reset puts the link aside and goes on; what it points to is not touched.
    apply_action("reset", root, catalogue=subjects, store=make_store(root))
    assert outside.read_bytes() == before
    assert not (root / ".qiongli" / name).is_symlink()
    assert subject_status(root, catalogue=subjects).subject_mode == "auto"


@pytest.mark.parametrize("folder", ["", "trace", "guidance.d", ".staging"])
def test_folders_that_are_links_out_of_the_project_are_refused(project: tuple[Path, Catalogue], folder: str) -> None:
    root, subjects = project
    outside = root.parent / "outside"
    (root / ".qiongli" / folder).rename(outside)
    (root / ".qiongli" / folder).symlink_to(outside, target_is_directory=True)
    before = {path: path.read_bytes() for path in outside.rglob("*") if path.is_file() and path.name != ".lock"}
    with pytest.raises(StateRefusedError) as raised:
        apply_action("confirm", root, "economics", catalogue=subjects, store=make_store(root))
    assert raised.value.code == "path_outside_project"
    assert {path: path.read_bytes() for path in before} == before


def test_links_inside_the_project_are_followed_and_stay(project: tuple[Path, Catalogue]) -> None:
    root, subjects = project
    inside = root / "manifest.yaml"
    (root / ".qiongli" / MANIFEST).rename(inside)
    (root / ".qiongli" / MANIFEST).symlink_to(inside)
    apply_action("lock", root, "finance", catalogue=subjects, store=make_store(root))
    assert (root / ".qiongli" / MANIFEST).is_symlink()
    assert b"subject_mode: locked" in inside.read_bytes()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("name", FILES)
def test_a_pipe_or_a_folder_in_place_of_a_file_is_an_error_that_does_not_wait(
    project: tuple[Path, Catalogue], name: str
) -> None:
    root, subjects = project
    path = root / ".qiongli" / name
    path.unlink()
    os.mkfifo(path)
    for _ in range(2):
        with pytest.raises(StateCorruptError) as raised:
            subject_status(root, catalogue=subjects)
        assert raised.value.code == "not_a_file"
        assert name in raised.value.place
        with pytest.raises(StateCorruptError):
            apply_action("confirm", root, "economics", catalogue=subjects, store=make_store(root))
        if path.is_dir():
            path.rmdir()
        else:
            path.unlink()
            path.mkdir()
    path.mkdir()
    apply_action("reset", root, catalogue=subjects, store=make_store(root))
    assert not path.is_dir()
    assert [kept.is_dir() for kept in path.parent.glob(f"{path.name}.corrupt-*")] == [True]


def test_a_state_folder_that_is_a_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / ".qiongli").write_text("mine", encoding="utf-8")
    with pytest.raises(EnvironmentBrokenError) as raised:
        subject_status(tmp_path, catalogue=Catalogue())
    assert raised.value.code == "state_unreadable"
    assert (tmp_path / ".qiongli").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    ("error", "code"),
    [(errno.EROFS, "read_only"), (errno.EACCES, "permission_denied"), (errno.ENOSPC, "disk_full")],
)
def test_a_folder_that_cannot_be_written_is_read_and_previewed_all_the_same(
    project: tuple[Path, Catalogue], error: int, code: str
) -> None:
    root, subjects = project
    before = state_files(root)
    writing = ("create", "make_folder", "open_lock", "rename", "write")
    with pytest.raises(EnvironmentBrokenError) as raised:
        apply_action("reset", root, catalogue=subjects, store=make_store(root, FailsAt(error, names=writing)))
    assert raised.value.code == code
    assert raised.value.exit_code == 4
    assert raised.value.hint
    assert subject_status(root, catalogue=subjects).active_subject == "finance"
    store = make_store(root, FailsAt(error, names=writing))
    assert apply_action("lock", root, "economics", catalogue=subjects, store=store, dry_run=True).after.locked
    proposed = apply_action("lock", root, "economics", catalogue=subjects, store=store, propose=True)
    assert proposed.proposal is None
    assert proposed.command == f"qiongli subject lock economics --cwd {root}"
    assert "could not be kept" in proposed.warnings[-1]
    assert state_files(root) == before


def _crashed(root: Path, subjects: Catalogue) -> None:
    """Let a lock on economics die after it was announced and before any file was moved."""
    trial = Watched()
    copy = root.parent / "trial"
    shutil.copytree(root, copy)
    apply_action("lock", copy, "economics", catalogue=subjects, store=make_store(copy, trial))
    announced = trial.names.index("rename")
    with pytest.raises(Died):
        apply_action("lock", root, "economics", catalogue=subjects, store=make_store(root, DiesAt(announced + 2)))
    assert (root / ".qiongli/.staging/intent.json").exists()


def test_an_edit_between_crash_and_recovery_is_kept_aside(project: tuple[Path, Catalogue]) -> None:
    root, subjects = project
    _crashed(root, subjects)
    manifest = root / ".qiongli" / MANIFEST
    edited = manifest.read_bytes() + b"# my edit\n"
    manifest.write_bytes(edited)
    assert subject_status(root, catalogue=subjects).active_subject == "economics"
    with make_store(root).writing() as change:
        assert "kept as" in change.snapshot.warnings[0]
    assert b"economics" in manifest.read_bytes()
    assert [path.read_bytes() for path in manifest.parent.glob("*.edited-*")] == [edited]


def _step(kind: str, target: str, **more: object) -> dict[str, object]:
    return {"kind": kind, "target": target, **more}


def _intent(*steps: dict[str, object], version: str = "1.0") -> bytes:
    return json.dumps({"schema_version": version, "steps": steps}).encode()


#: Intents that no change of ours leaves behind, beside staged files that they may name.
FORGED = {
    "nothing": b"",
    "no object": b"[]",
    "too deep": b"[" * 50_000,
    "not UTF-8": b"\xff",
    "no steps": b'{"schema_version": "1.0"}',
    "steps that are no list": b'{"schema_version": "1.0", "steps": "ab"}',
    "of a later version": _intent(_step("write", MANIFEST, staged="s-1"), version="2.0"),
    "upwards": _intent(_step("write", "../../evil", staged="s-1")),
    "to the root": _intent(_step("write", "/etc/evil", staged="s-1")),
    "removes above": _intent(_step("remove", "../kept")),
    "puts aside above": _intent(_step("move", MANIFEST, aside="../../evil")),
    "puts aside elsewhere": _intent(_step("move", MANIFEST, aside="notes")),
    "takes from above": _intent(_step("write", MANIFEST, staged="../../kept")),
    "takes the intent": _intent(_step("write", MANIFEST, staged="intent.json")),
    "an unknown step": _intent(_step("run", MANIFEST)),
    "a kind that is no text": _intent({"kind": ["write"], "target": MANIFEST}),
    "a target that is no text": _intent({"kind": "write", "target": 5, "staged": "s-1"}),
    "a size that is no text": _intent(_step("write", MANIFEST, staged="s-1", before=1)),
    "a lone surrogate": b'{"schema_version": "1.0", "steps": [{"kind": "remove", "target": "\\ud800"}]}',
    "a name too long": _intent(_step("remove", "a" * 300)),
    "a copy's name too long": _intent(_step("move", MANIFEST, aside=f"{MANIFEST}.corrupt-{'1' * 300}")),
    "removes a folder": _intent(_step("remove", "trace")),
    "removes all runs": _intent(_step("remove", "trace/runs")),
    "removes the run's folder": _intent(_step("remove", "trace/runs/run-7")),
    "below a file": _intent(_step("remove", f"{MANIFEST}/x")),
    "removes the staging folder": _intent(_step("remove", ".staging")),
    "moves the staging folder": _intent(_step("move", ".staging", aside="elsewhere")),
    "moves the lock": _intent(_step("move", ".lock", aside=".lock2")),
    "moves a folder into itself": _intent(_step("move", "trace", aside="trace/x")),
    "a folder onto a file": _intent(_step("write", MANIFEST, staged="f-1")),
    "a file onto a folder": _intent(_step("write", "trace/runs/run-7", staged="s-1")),
    "a folder onto a folder": _intent(_step("write", "trace/runs/run-7", staged="f-1")),
    "a link": _intent(_step("write", MANIFEST, staged="l-1")),
    "one file twice": _intent(_step("write", MANIFEST, staged="s-1"), _step("remove", MANIFEST)),
    "one staged file twice": _intent(_step("write", MANIFEST, staged="s-1"), _step("write", GUIDANCE, staged="s-1")),
    "a copy after the change": _intent(
        _step("write", MANIFEST, staged="s-1"), _step("move", MANIFEST, aside=f"{MANIFEST}.corrupt-20260701T120000Z")
    ),
    "two copies of one file": _intent(
        _step("move", MANIFEST, aside=f"{MANIFEST}.corrupt-1"), _step("move", MANIFEST, aside=f"{MANIFEST}.corrupt-2")
    ),
    "good steps before a bad one": _intent(_step("write", MANIFEST, staged="s-1"), _step("remove", "trace/runs/run-7")),
}


def _staging(root: Path, intent: bytes) -> None:
    staging = root / ".qiongli/.staging"
    staging.joinpath("intent.json").write_bytes(intent)
    staging.joinpath("s-1").write_text("subject_mode: locked\nactive_subject: economics\n", encoding="utf-8")
    staging.joinpath("f-1").mkdir()
    staging.joinpath("f-1/packet.json").write_text("{}", encoding="utf-8")
    staging.joinpath("l-1").symlink_to(root / "kept")
    (root / ".qiongli/trace/runs/run-7").mkdir(parents=True)
    (root / ".qiongli/trace/runs/run-7/packet.json").write_text("{}", encoding="utf-8")
    (root / "kept").write_text("mine", encoding="utf-8")


@pytest.mark.parametrize("action", ["lock", "reset", "record"])
@pytest.mark.parametrize("name", FORGED)
def test_an_intent_that_cannot_be_finished_is_put_aside_whole_and_stops_nobody(
    project: tuple[Path, Catalogue], name: str, action: str
) -> None:
    """As it may come with a copied project: it changes nothing, is told, and the action that was asked for happens."""
    root, subjects = project
    _staging(root, FORGED[name])
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file() and not path.is_symlink()}
    status = subject_status(root, catalogue=subjects)
    assert (status.active_subject, status.subject_mode) == ("finance", "confirmed")
    assert ".staging/intent.json is no change that Qiongli can finish" in status.warnings[0]
    if action == "record":
        warnings = record_refinement(root, suggestion("finance", "x"), store=make_store(root)).warnings
    else:
        subject = "finance" if action == "lock" else None
        packet = apply_action(action, root, subject, catalogue=subjects, store=make_store(root))
        assert packet.status == "applied"
        assert packet.after.subject_mode == {"lock": "locked", "reset": "auto"}[action]
        warnings = packet.warnings
    (kept,) = (root / ".qiongli").glob(".staging.corrupt-*")
    assert [text for text in warnings if "no change that Qiongli can finish" in text and kept.name in text]
    # The intent and all that was staged are in the copy, byte for byte; everything else is where it was.
    for path, data in before.items():
        moved = kept / path.relative_to(root / ".qiongli/.staging") if ".staging" in path.parts else path
        if path.name not in ("guidance_manifest.yaml", "subject_evidence.json", "subject-runtime.md", ".lock"):
            assert moved.read_bytes() == data
    assert not list((root / ".qiongli/.staging").iterdir())
    assert subject_status(root, catalogue=subjects).warnings == ()


@pytest.mark.parametrize("name", ["upwards", "good steps before a bad one"])
def test_what_is_put_aside_is_told_by_refusals_previews_and_proposals_too(
    project: tuple[Path, Catalogue], name: str
) -> None:
    root, subjects = project
    apply_action("lock", root, "finance", catalogue=subjects, store=make_store(root))
    _staging(root, FORGED[name])
    with pytest.raises(StateRefusedError) as raised:
        apply_action("confirm", root, "economics", catalogue=subjects, store=make_store(root))
    assert raised.value.code == "project_locked"
    assert "subject unlock" in raised.value.hint
    assert ".staging.corrupt-" in raised.value.hint
    shutil.rmtree(root / ".qiongli/trace/runs")
    _staging(root, FORGED[name])
    proposed = apply_action("unlock", root, catalogue=subjects, propose=True, store=make_store(root))
    assert proposed.proposal is not None
    assert ".staging.corrupt-" in proposed.warnings[-1]
    assert len(list((root / ".qiongli").glob(".staging.corrupt-*"))) == 2


@pytest.mark.parametrize("kind", ["folder", "link"])
def test_an_intent_that_is_no_file_is_put_aside_too(project: tuple[Path, Catalogue], kind: str) -> None:
    root, subjects = project
    intent = root / ".qiongli/.staging/intent.json"
    if kind == "folder":
        intent.mkdir()
    else:
        (root.parent / "outside").write_bytes(_intent(_step("remove", MANIFEST)))
        intent.symlink_to(root.parent / "outside")
    packet = apply_action("lock", root, "finance", catalogue=subjects, store=make_store(root))
    assert packet.after.locked
    assert "no change that Qiongli can finish" in packet.warnings[0]
    (kept,) = (root / ".qiongli").glob(".staging.corrupt-*/intent.json")
    assert kept.is_symlink() if kind == "link" else kept.is_dir()


@pytest.mark.parametrize(
    "step",
    [
        _step("remove", GUIDANCE),
        _step("move", GUIDANCE, aside=f"{GUIDANCE}.corrupt-20260701T120000Z"),
        _step("write", GUIDANCE, staged="s-1"),
    ],
)
def test_a_forged_intent_reaches_nothing_through_a_link_either(
    project: tuple[Path, Catalogue], step: dict[str, object]
) -> None:
    """As somebody may send it in an archive of a project: a link out of it, and an unfinished change behind it."""
    root, subjects = project
    outside = root.parent / "outside"
    (root / ".qiongli/guidance.d").rename(outside)
    (root / ".qiongli/guidance.d").symlink_to(outside, target_is_directory=True)
    _staging(root, _intent(step, step))
    before = {path.name: path.read_bytes() for path in outside.iterdir()}
    # The link itself is refused, as ever, and only `reset` puts it aside.
    with pytest.raises(StateRefusedError) as raised:
        apply_action("lock", root, "finance", catalogue=subjects, store=make_store(root))
    assert raised.value.code == "path_outside_project"
    apply_action("reset", root, catalogue=subjects, store=make_store(root))
    assert len(list((root / ".qiongli").glob(".staging.corrupt-*/intent.json"))) == 1
    assert apply_action("lock", root, "finance", catalogue=subjects, store=make_store(root)).after.locked
    assert {path.name: path.read_bytes() for path in outside.iterdir()} == before


def test_stray_files_of_a_crash_are_swept_by_the_next_writer(project: tuple[Path, Catalogue]) -> None:
    root, subjects = project
    staging = root / ".qiongli/.staging"
    (staging / "left/deeper").mkdir(parents=True)
    (staging / "left/deeper/file").write_text("x", encoding="utf-8")
    (staging / "link").symlink_to(root.parent)
    apply_action("dismiss", root, "finance", catalogue=subjects, store=make_store(root))
    assert not list(staging.iterdir())
    assert root.parent.exists()


def test_an_oversized_memory_is_put_aside_and_not_read_whole(project: tuple[Path, Catalogue]) -> None:
    root, subjects = project
    memory = root / ".qiongli" / MEMORY
    with memory.open("r+b") as file:
        file.truncate(1 << 33)
    assert "larger than" in subject_status(root, catalogue=subjects).warnings[0]
    packet = apply_action("lock", root, "finance", catalogue=subjects, store=make_store(root))
    assert packet.after.locked
    # Its number goes on from where the broken file was.
    assert packet.after.revision > 1
    kept = list(memory.parent.glob("*.corrupt-*"))
    assert [path.stat().st_size for path in kept] == [1 << 33]
    kept[0].unlink()


def test_copies_of_broken_files_never_replace_each_other(project: tuple[Path, Catalogue]) -> None:
    root, subjects = project
    memory = root / ".qiongli" / MEMORY
    for content in (b"first", b"second", b"third"):
        memory.write_bytes(content)
        apply_action("dismiss", root, "finance", catalogue=subjects, store=make_store(root))
    assert sorted(path.read_bytes() for path in memory.parent.glob("*.corrupt-*")) == [b"first", b"second", b"third"]


def test_unknown_keys_of_the_memory_survive(project: tuple[Path, Catalogue]) -> None:
    root, subjects = project
    memory = root / ".qiongli" / MEMORY
    content = json.loads(memory.read_bytes())
    content |= {"schema_version": "1.3", "mine": {"a": [1]}}
    content["suggestions"] = {"finance": {"suggestion_count": 1, "fingerprints": ["a"], "note": "mine"}}
    memory.write_text(json.dumps(content), encoding="utf-8")
    record_refinement(root, suggestion("finance", "b"), store=make_store(root))
    apply_action("lock", root, "finance", catalogue=subjects, store=make_store(root))
    written = json.loads(memory.read_bytes())
    assert written["mine"] == {"a": [1]}
    assert written["schema_version"] == "1.3"
    assert written["suggestions"]["finance"].items() >= {"note": "mine", "suggestion_count": 2}.items()


def test_permissions_of_the_users_manifest_stay(project: tuple[Path, Catalogue]) -> None:
    root, subjects = project
    manifest = root / ".qiongli" / MANIFEST
    manifest.chmod(0o640)
    apply_action("lock", root, "finance", catalogue=subjects, store=make_store(root))
    assert manifest.stat().st_mode & 0o777 == 0o640


def _error_of(attempt: Callable[[], object]) -> QiongliError | None:
    try:
        attempt()
    except QiongliError as error:
        return error
    return None


def test_strange_bytes_in_any_file_of_the_state_never_end_in_a_traceback(project: tuple[Path, Catalogue]) -> None:
    root, subjects = project
    for name in (*FILES, "trace/session.json", ".staging/intent.json"):
        for seed in range(25):
            noise = hashlib.sha256(f"{name}{seed}".encode()).digest() * 3
            old = state_files(root).get(name, b"{}")
            at = seed * 7 % (len(old) + 1)
            (root / ".qiongli" / name).write_bytes(old[:at] + noise[: seed + 1] + old[at:])
            for attempt in (
                lambda: subject_status(root, catalogue=subjects),
                lambda: read_project(root, session="s"),
                lambda: apply_action("confirm", root, "finance", catalogue=subjects, store=make_store(root)),
            ):
                error = _error_of(attempt)
                assert error is None or (error.code and error.hint)
            apply_action("reset", root, catalogue=subjects, store=make_store(root))
            assert read_manifest_state(root)[0].subject_mode == "auto"


def test_a_project_in_a_folder_with_a_strange_name_works(tmp_path: Path) -> None:
    subjects = standard_subjects(tmp_path / "packages")
    root = tmp_path / "项目 'x' \"y\" $(z)\n"
    root.mkdir()
    apply_action("confirm", root, "finance", catalogue=subjects)
    change_settings(root, {"strictness": "strict"}, catalogue=subjects)
    record_refinement(root, suggestion("finance", "x"))
    assert subject_status(root, catalogue=subjects).strictness == "strict"
    assert list_runs(root)[1] == 1


def test_a_guidance_file_too_large_to_edit_is_refused_and_kept_whole_by_reset(project: tuple[Path, Catalogue]) -> None:
    root, subjects = project
    guidance = root / ".qiongli" / GUIDANCE
    guidance.write_bytes(b"mine\n" * 300_000)
    with pytest.raises(StateCorruptError, match="larger than"):
        apply_action("lock", root, "finance", catalogue=subjects, store=make_store(root))
    apply_action("reset", root, catalogue=subjects, store=make_store(root))
    assert [path.read_bytes() for path in guidance.parent.glob("*.corrupt-*")] == [b"mine\n" * 300_000]
