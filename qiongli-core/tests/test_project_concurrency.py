"""Several processes on one project: nothing is lost or torn, nobody starves, and locks go with their holders."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from project_cases import FailsAt, Watched, make_store, standard_subjects, state_files, suggestion

from qiongli.cli import run
from qiongli.errors import EnvironmentBrokenError, InputError, QiongliError, StateRefusedError
from qiongli.plugins import Catalogue
from qiongli.project import _locking, apply_action, apply_proposal, read_memory, record_refinement, subject_status
from qiongli.project._locking import ProjectLock
from qiongli.project._operations import REAL, FileOperations
from qiongli.project.paths import GUIDANCE, INTENT, LOCK, MANIFEST, MEMORY, Project, open_project
from qiongli.project.store import Store, digest

#: Every worker does the same round: decisions on two subjects, dismissals, resets and recordings.
WORKER = """
import sys, time
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from project_cases import standard_subjects, suggestion
from qiongli.project import apply_action, record_refinement
root, packages, name, count = Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4], int(sys.argv[5])
subjects = standard_subjects(packages)
sys.stdin.read()
worst = 0.0
for number in range(count):
    began = time.monotonic()
    run_id = f"{name}-{number}"
    round = number % 5
    if round == 0:
        apply_action("confirm", root, "finance", catalogue=subjects, run_id=run_id)
    elif round == 1:
        apply_action("dismiss", root, "economics", catalogue=subjects, run_id=run_id)
    elif round == 2:
        apply_action("confirm", root, "economics", catalogue=subjects, run_id=run_id)
    elif round == 3:
        apply_action("reset", root, catalogue=subjects, run_id=run_id)
    else:
        apply_action("dismiss", root, "finance", catalogue=subjects, run_id=run_id)
    worst = max(worst, time.monotonic() - began)
print(worst)
"""


def _hammer(tmp_path: Path, workers: int, actions: int) -> tuple[float, float, int]:
    """Let processes act at once; return the worst wait, the time in all, and how many times somebody read meanwhile."""
    subjects = standard_subjects(tmp_path / "packages")
    root = tmp_path / "project"
    root.mkdir()
    apply_action("confirm", root, "finance", catalogue=subjects)
    processes = [
        subprocess.Popen(
            [
                sys.executable,
                "-c",
                WORKER,
                str(Path(__file__).parent),
                str(root),
                str(tmp_path / "packages"),
                f"w{n}",
                str(actions),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        for n in range(workers)
    ]
    began = time.monotonic()
    for process in processes:
        assert process.stdin is not None
        process.stdin.close()
    reads = 0
    store = Store(open_project(root))
    while any(process.poll() is None for process in processes):
        snapshot = store.read()
        # Both files are whole, and belong together.
        assert snapshot.warnings == ()
        assert snapshot.manifest.error is None
        assert snapshot.memory.error is None
        assert snapshot.memory.content["manifest_digest"] == digest(snapshot.manifest.data)
        subject_status(root, catalogue=subjects)
        reads += 1
        time.sleep(0.002)
    took = time.monotonic() - began
    worst = 0.0
    for process in processes:
        output = process.stdout.read() if process.stdout is not None else ""
        assert process.wait() == 0
        worst = max(worst, float(output))
        if process.stdout is not None:
            process.stdout.close()
    events = read_memory(root)[0].lifecycle_events
    assert [event.revision for event in events] == list(range(1, workers * actions + 2))
    assert sorted(event.run_id for event in events[1:]) == sorted(
        f"w{worker}-{number}" for worker in range(workers) for number in range(actions)
    )
    status = subject_status(root, catalogue=subjects)
    assert status.revision == workers * actions + 1
    assert status.guidance == "current"
    assert not list((root / ".qiongli/.staging").iterdir())
    return worst, took, reads


def test_four_processes_lose_no_event_and_readers_see_whole_states(tmp_path: Path) -> None:
    _, _, reads = _hammer(tmp_path, workers=4, actions=15)
    assert reads > 0


@pytest.mark.slow
def test_a_thousand_actions_from_eight_processes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    worst, took, reads = _hammer(tmp_path, workers=8, actions=125)
    with capsys.disabled():
        print(f"\n1,000 actions from 8 processes: {took:.1f} s, worst wait {worst:.2f} s, {reads} consistent reads")
    # No waiter comes near the 30 s after which it would give up, nor is one passed over for a large part of the run.
    assert worst < min(10, max(1, took / 5))


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_processes_killed_at_random_moments_leave_whole_states(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    subjects = standard_subjects(tmp_path / "packages")
    root = tmp_path / "project"
    root.mkdir()
    store = Store(open_project(root))
    killed, done = 0, 0
    until = time.monotonic() + 20
    while time.monotonic() < until:
        workers = [
            subprocess.Popen(
                [
                    sys.executable,
                    "-c",
                    WORKER,
                    str(Path(__file__).parent),
                    str(root),
                    str(tmp_path / "packages"),
                    f"k{killed + n}",
                    "100000",
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )
            for n in range(2)
        ]
        # Start-up takes most of the first half second; the kill then falls anywhere in the actions.
        time.sleep(0.6 + (killed * 37 % 100) / 500)
        for worker in workers:
            worker.kill()
            worker.wait()
            killed += 1
        snapshot = store.read()
        assert snapshot.memory.error is None
        assert snapshot.manifest.error is None
        apply_action("confirm", root, "finance", catalogue=subjects)
        events = read_memory(root)[0].lifecycle_events
        assert [event.revision for event in events] == list(range(1, len(events) + 1))
        assert subject_status(root, catalogue=subjects).guidance == "current"
        assert not list((root / ".qiongli/.staging").iterdir())
        done = len(events)
    with capsys.disabled():
        print(f"\n{killed} kills of writers during {done} actions: no event lost, no file torn, nothing left behind")


def test_threads_of_one_process_exclude_each_other(tmp_path: Path) -> None:
    store = Store(open_project(tmp_path))
    threads = [
        threading.Thread(
            target=lambda name=n: [
                record_refinement(tmp_path, suggestion("finance", f"{name}-{number}"), store=store)
                for number in range(5)
            ]
        )
        for n in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert read_memory(tmp_path)[0].suggestions["finance"].suggestion_count == 20


HOLDER = """
import sys, time
from pathlib import Path
from qiongli.project._locking import ProjectLock
from qiongli.project._operations import REAL
lock = ProjectLock(Path(sys.argv[1]), REAL)
lock.__enter__()
print("held", flush=True)
time.sleep(600)
"""


def _hold(root: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(root / ".qiongli" / LOCK)],
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


@pytest.fixture
def project(tmp_path: Path) -> tuple[Path, Catalogue]:
    subjects = standard_subjects(tmp_path / "packages")
    root = tmp_path / "project"
    root.mkdir()
    apply_action("confirm", root, "finance", catalogue=subjects, store=make_store(root))
    return root, subjects


def test_a_dead_holder_holds_nothing(project: tuple[Path, Catalogue]) -> None:
    root, subjects = project
    _end(_hold(root))
    assert apply_action("lock", root, "finance", catalogue=subjects).after.locked


def test_a_living_holder_is_named_after_the_time_limit_and_reading_goes_on(project: tuple[Path, Catalogue]) -> None:
    root, subjects = project
    holder = _hold(root)
    try:
        with pytest.raises(StateRefusedError) as raised:
            apply_action("lock", root, "finance", catalogue=subjects, store=make_store(root, timeout=0.2))
        assert raised.value.code == "project_busy"
        assert str(holder.pid) in raised.value.message
        assert subject_status(root, catalogue=subjects).active_subject == "finance"
    finally:
        _end(holder)
    # Having given up does not mean that the lock is taken by nobody later on.
    assert apply_action("lock", root, "finance", catalogue=subjects, store=make_store(root, timeout=5)).after.locked


def test_a_waiter_gets_its_turn_when_the_holder_ends(project: tuple[Path, Catalogue]) -> None:
    root, subjects = project
    holder = _hold(root)
    timer = threading.Timer(0.3, holder.kill)
    timer.start()
    began = time.monotonic()
    assert apply_action("lock", root, "finance", catalogue=subjects).after.locked
    assert time.monotonic() - began < 10
    timer.join()
    _end(holder)


class Waiter:
    """Somebody who wants the lock, in a thread of its own."""

    def __init__(self, path: Path, operations: FileOperations = REAL) -> None:
        self.inside = threading.Event()
        self.leave = threading.Event()
        self._lock = ProjectLock(path, operations, timeout=20)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        with self._lock:
            self.inside.set()
            self.leave.wait(20)

    def end(self) -> None:
        self.leave.set()
        self._thread.join(20)
        assert not self._thread.is_alive()


class Counts(FileOperations):
    """Counts who asks for the lock, and who stands in its queue."""

    def __init__(self) -> None:
        self.asked = 0
        self.queued = threading.Event()

    def lock(self, descriptor: int, *, wait: bool) -> None:
        if wait:
            self.queued.set()
        else:
            self.asked += 1
        super().lock(descriptor, wait=wait)


@pytest.mark.skipif(os.name == "nt", reason="Windows removes no file that somebody has open, and has no queue")
def test_a_lock_file_that_is_removed_while_somebody_waits_does_not_admit_two(tmp_path: Path) -> None:
    """Who waited for the old file is let in to it when its holder leaves, while another holds the new one."""
    path = tmp_path / ".lock"
    first = Waiter(path)
    assert first.inside.wait(20)
    counts = Counts()
    second = Waiter(path, counts)
    assert counts.queued.wait(20)
    path.unlink()
    third = Waiter(path)
    assert third.inside.wait(20)
    first.end()
    # The second has the old file's lock now, which excludes nobody; it has to see that and wait for the third.
    assert not second.inside.wait(0.5)
    third.end()
    assert second.inside.wait(20)
    second.end()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no queue for locks")
def test_a_waiter_stands_in_the_systems_queue_and_asks_no_more(tmp_path: Path) -> None:
    """Who asks again and again may find the lock taken every time; who queues gets its turn as soon as it is free."""
    path = tmp_path / ".lock"
    holder = Waiter(path)
    assert holder.inside.wait(20)
    counts = Counts()
    waiter = Waiter(path, counts)
    assert counts.queued.wait(20)
    assert not waiter.inside.wait(0.5)
    assert counts.asked == 1
    holder.end()
    assert waiter.inside.wait(20)
    waiter.end()
    assert counts.asked <= 2


@pytest.mark.parametrize("error", [errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL])
def test_a_folder_without_locks_is_refused_and_nothing_changes(project: tuple[Path, Catalogue], error: int) -> None:
    root, subjects = project
    before = state_files(root)
    with pytest.raises(EnvironmentBrokenError) as raised:
        apply_action("reset", root, catalogue=subjects, store=make_store(root, FailsAt(error, names=("lock",))))
    assert raised.value.code == "locks_unavailable"
    assert raised.value.exit_code == 4
    assert "by hand" in raised.value.hint
    assert state_files(root) == before
    assert subject_status(root, catalogue=subjects).active_subject == "finance"


def test_a_folder_whose_locks_exclude_nobody_is_refused(
    project: tuple[Path, Catalogue], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Pretends(FileOperations):
        def lock(self, descriptor: int, *, wait: bool) -> None:
            """Grant everything."""

    monkeypatch.setattr(_locking, "_proved", set())
    root, subjects = project
    before = state_files(root)
    with pytest.raises(EnvironmentBrokenError, match="second lock") as raised:
        apply_action("reset", root, catalogue=subjects, store=make_store(root, Pretends()))
    assert raised.value.code == "locks_unavailable"
    assert state_files(root) == before


def _everything(root: Path) -> dict[str, tuple[int, bytes]]:
    files = (path for path in (root / ".qiongli").rglob("*") if path.is_file())
    return {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


def test_a_refusal_and_an_action_that_has_nothing_to_do_touch_no_file(project: tuple[Path, Catalogue]) -> None:
    root, subjects = project
    before = _everything(root)
    assert apply_action("unlock", root, catalogue=subjects).status == "unchanged"
    for name in ("nobody", "geoeconomics"):
        with pytest.raises(QiongliError):
            apply_action("confirm", root, name, catalogue=subjects)
    assert _everything(root) == before
    apply_action("lock", root, "finance", catalogue=subjects)
    before = _everything(root)
    with pytest.raises(StateRefusedError):
        apply_action("confirm", root, "economics", catalogue=subjects)
    assert _everything(root) == before


def test_a_refusal_is_told_at_once_while_others_write_and_where_nobody_can(project: tuple[Path, Catalogue]) -> None:
    root, subjects = project
    apply_action("lock", root, "finance", catalogue=subjects)
    operations = FailsAt(errno.ENOLCK, names=("lock",))
    for store in (make_store(root, timeout=60), make_store(root, operations)):
        holder = _hold(root)
        try:
            with pytest.raises(StateRefusedError) as raised:
                apply_action("confirm", root, "economics", catalogue=subjects, store=store)
            assert raised.value.code == "project_locked"
            assert apply_action("lock", root, "finance", catalogue=subjects, dry_run=True, store=store).after.locked
        finally:
            _end(holder)


@pytest.mark.parametrize("name", [INTENT, MEMORY, MANIFEST, GUIDANCE])
def test_a_reader_that_a_writer_overtakes_looks_again(
    project: tuple[Path, Catalogue], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between any two files that it reads, a whole action happens: what it returns is one state all the same."""
    root, subjects = project
    read = Project.read
    overtaken = []

    def reads(self: Project, wanted: str, limit: int) -> bytes | None:
        data = read(self, wanted, limit)
        if wanted == name and not overtaken:
            overtaken.append(wanted)
            apply_action("lock", root, "economics", catalogue=subjects)
        return data

    monkeypatch.setattr(Project, "read", reads)
    snapshot = make_store(root).read()
    assert overtaken == [name]
    found = (snapshot.manifest.data, snapshot.memory.data, snapshot.guidance)
    assert found == tuple((root / ".qiongli" / file).read_bytes() for file in (MANIFEST, MEMORY, GUIDANCE))
    assert snapshot.memory.content["manifest_digest"] == digest(snapshot.manifest.data)


class Late(FileOperations):
    """Comes to the lock just after somebody else has done something under it."""

    def __init__(self, first: Callable[[], object]) -> None:
        self._first: list[Callable[[], object]] = [first]

    def lock(self, descriptor: int, *, wait: bool) -> None:
        if self._first:
            self._first.pop()()
        super().lock(descriptor, wait=wait)


def test_a_proposal_that_two_apply_at_once_is_applied_once(project: tuple[Path, Catalogue]) -> None:
    """Even one that leaves the choice as it was, so that nothing else tells the second that it came too late."""
    root, subjects = project
    apply_action("reset", root, catalogue=subjects)
    proposal = apply_action("reset", root, catalogue=subjects, propose=True).proposal
    assert proposal is not None
    store = Store(open_project(root), Late(lambda: apply_proposal(proposal, root, catalogue=subjects)))
    with pytest.raises(InputError) as raised:
        apply_proposal(proposal, root, catalogue=subjects, store=store)
    assert raised.value.code == "unknown_proposal"
    assert [event.proposal for event in read_memory(root)[0].lifecycle_events].count(proposal) == 1


def test_edits_by_hand_are_all_told_apart_by_the_digest_and_the_first_by_the_number(
    project: tuple[Path, Catalogue], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The number counts what Qiongli wrote, and that somebody else did; only the digest knows what."""
    root, subjects = project
    monkeypatch.setattr("qiongli.gate.admission.installed_catalogue", lambda: subjects)
    manifest, guidance = root / ".qiongli/guidance_manifest.yaml", root / ".qiongli/guidance.d/subject-runtime.md"

    def seen() -> dict[str, str]:
        assert run(["subject", "status", "--cwd", str(root), "--json"]) == 0
        packet = json.loads(capsys.readouterr().out)
        return {"--if-revision": str(packet["revision"]), "--if-state": packet["state_digest"]}

    def outcome(option: str, value: str) -> int:
        code = run(["subject", "lock", "finance", "--cwd", str(root), option, value, "--dry-run"])
        capsys.readouterr()
        return code

    unedited = seen()
    manifest.write_bytes(manifest.read_bytes() + b"# first edit\n")
    once = seen()
    assert {option: outcome(option, value) for option, value in unedited.items()} == {
        "--if-revision": 3,
        "--if-state": 3,
    }
    assert {outcome(option, value) for option, value in once.items()} == {0}
    text = manifest.read_bytes()
    for path, data in ((manifest, text + b"# second edit\n"), (guidance, guidance.read_bytes() + b"notes\n")):
        kept = path.read_bytes()
        path.write_bytes(data)
        assert outcome("--if-revision", once["--if-revision"]) == 0
        assert outcome("--if-state", once["--if-state"]) == 3
        assert run(["subject", "lock", "finance", "--cwd", str(root), "--if-state", once["--if-state"]]) == 3
        assert run(["project", "set", "--strictness", "strict", "--cwd", str(root), "--if-state", "x"]) == 3
        path.write_bytes(kept)
    # What is there again is what was seen.
    assert outcome("--if-state", once["--if-state"]) == 0
    # A write through Qiongli is told apart by both, even one that leaves the manifest as it was.
    apply_action("dismiss", root, "economics", catalogue=subjects)
    assert {outcome(option, value) for option, value in once.items()} == {3}


def test_an_action_costs_little_more_than_the_writes_it_consists_of(project: tuple[Path, Catalogue]) -> None:
    """Counted, not timed: an action on three files syncs at most twice as often as three bare atomic writes do."""
    root, subjects = project
    watched = Watched()
    apply_action("lock", root, "economics", catalogue=subjects, store=make_store(root, watched))
    files = 3
    assert watched.names.count("sync") + watched.names.count("sync_folder") <= 2 * 2 * files
    watched = Watched()
    apply_action("dismiss", root, "finance", catalogue=subjects, store=make_store(root, watched))
    assert watched.names.count("sync") + watched.names.count("sync_folder") == 2


def test_an_event_of_every_action_is_one_line_of_valid_json(project: tuple[Path, Catalogue]) -> None:
    root, subjects = project
    apply_action("lock", root, "economics", catalogue=subjects)
    text = (root / ".qiongli/trace/subject_evidence.json").read_text(encoding="utf-8")
    assert json.loads(text)["revision"] == 2
    assert len([line for line in text.splitlines() if '"event": ' in line]) == 2
    assert os.linesep == "\r\n" or "\r" not in text
