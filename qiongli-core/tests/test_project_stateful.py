"""Random lives of a project, compared after every step with a model that knows no files, crashes or formats."""

from __future__ import annotations

import copy
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from project_cases import Died, DiesAt, Watched, make_store, standard_subjects, suggestion

from qiongli.errors import StateCorruptError, StateRefusedError
from qiongli.project import (
    apply_action,
    apply_guidance,
    change_settings,
    read_memory,
    record_refinement,
    subject_status,
    undo_action,
)
from qiongli.project.store import Store
from qiongli.records.project import ManifestState

SUBJECTS = st.sampled_from(["economics", "finance", "accounting"])
TASKS = st.sampled_from(["a", "b", "c"])
FRACTIONS = st.floats(0, 1)


@attrs.define
class Model:
    """What the requirement says about a project, in plain values."""

    state: ManifestState = ManifestState()
    #: Subject to (times dismissed, suggestions at the last time).
    dismissed: dict[str, tuple[int, int]] = attrs.field(factory=dict)
    suggested: dict[str, list[str]] = attrs.field(factory=dict)
    events: list[tuple[str, str | None]] = attrs.field(factory=list)
    undoable: list[Model] = attrs.field(factory=list)
    has_manifest: bool = False
    manifest_broken: bool = False
    memory_broken: bool = False

    def remember(self) -> None:
        """Keep what an undo of the action that follows brings back."""
        self.undoable = [*self.undoable, attrs.evolve(copy.deepcopy(self), undoable=[])][-20:]

    def wrote(self, event: str | None, subject: str | None = None) -> None:
        """Somebody wrote: a broken memory was put aside first, and with it all that it held."""
        if self.memory_broken:
            self.events, self.undoable = [], []
            self.memory_broken = False
        if event is not None:
            self.events.append((event, subject))


class Project(RuleBasedStateMachine):
    """A project, a model, and everything that may happen to the two."""

    @initialize()
    def start(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.root = self.folder / "project"
        self.root.mkdir()
        self.subjects = standard_subjects(self.folder / "packages")
        self.model = Model()
        self.revision = 0
        self.comments = 0

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            shutil.rmtree(self.folder)

    # --- what the user and the hosts do ------------------------------------------------------------------------

    def act(self, action: str, subject: str | None = None) -> tuple[Callable[[Store], object], Callable[[Model], None]]:
        def do(store: Store) -> object:
            return apply_action(action, self.root, subject, catalogue=self.subjects, store=store)

        def tell(model: Model) -> None:
            before = copy.deepcopy(model)
            if action == "reset":
                model.state, model.dismissed, model.suggested = ManifestState(), {}, {}
                model.manifest_broken, model.has_manifest = False, True
            elif action == "unlock":
                model.state = attrs.evolve(model.state, subject_mode="confirmed")
            elif action == "dismiss":
                assert subject is not None
                times = model.dismissed.get(subject, (0, 0))[0]
                model.dismissed = {**model.dismissed, subject: (times + 1, len(model.suggested.get(subject, [])))}
            else:
                assert subject is not None
                model.dismissed = {name: entry for name, entry in model.dismissed.items() if name != subject}
                if not (action == "confirm" and model.state.subject_mode == "locked"):
                    mode = "confirmed" if action == "confirm" else "locked"
                    model.state = attrs.evolve(model.state, active_subject=subject, subject_mode=mode)
                model.has_manifest = True
            changed = (model.state, model.dismissed, model.suggested, model.has_manifest) != (
                before.state,
                before.dismissed,
                before.suggested,
                before.has_manifest,
            )
            if before.memory_broken:
                model.undoable = []
            elif before.manifest_broken:
                # What a broken manifest said nobody knows; what the last action had left is known.
                earlier = copy.deepcopy(before)
                earlier.state = before.state if before.undoable else ManifestState()
                earlier.remember()
                model.undoable = earlier.undoable
            elif changed:
                before.remember()
                model.undoable = before.undoable
            if action == "reset" and before.manifest_broken and not before.memory_broken:
                model.events.append(("reset", None))
            else:
                model.wrote(action, subject)

        return do, tell

    def refuses(self, subject: str | None) -> bool:
        return self.model.state.subject_mode == "locked" and self.model.state.active_subject != subject

    def run(self, do: Callable[[Store], object], tell: Callable[[Model], None]) -> None:
        do(make_store(self.root))
        tell(self.model)

    @rule(action=st.sampled_from(["confirm", "lock"]), subject=SUBJECTS)
    @precondition(lambda self: not self.model.manifest_broken)
    def decide(self, action: str, subject: str) -> None:
        do, tell = self.act(action, subject)
        if self.refuses(subject):
            with pytest.raises(StateRefusedError):
                do(make_store(self.root))
        else:
            self.run(do, tell)

    @rule(subject=SUBJECTS)
    @precondition(lambda self: not self.model.manifest_broken)
    def dismiss(self, subject: str) -> None:
        self.run(*self.act("dismiss", subject))

    @rule()
    @precondition(lambda self: not self.model.manifest_broken)
    def unlock(self) -> None:
        do, tell = self.act("unlock")
        if self.model.state.subject_mode == "locked":
            self.run(do, tell)
        else:
            do(make_store(self.root))

    @rule()
    def reset(self) -> None:
        if (self.root / ".qiongli").exists():
            self.run(*self.act("reset"))

    @rule(lenses=st.lists(st.sampled_from(["finance-lens", "economics-lens"]), unique=True).map(tuple))
    @precondition(lambda self: not self.model.manifest_broken)
    def change(self, lenses: tuple[str, ...]) -> None:
        model = self.model

        def do() -> object:
            settings = {"method_lenses": lenses}
            return change_settings(self.root, settings, catalogue=self.subjects, store=make_store(self.root))

        if model.state.subject_mode == "locked":
            with pytest.raises(StateRefusedError):
                do()
            return
        do()
        if model.state.method_lenses == lenses and model.has_manifest:
            return
        if not model.memory_broken:
            model.remember()
        model.state = attrs.evolve(model.state, method_lenses=lenses)
        model.has_manifest = True
        model.wrote("set")

    @rule(subject=SUBJECTS, task=TASKS)
    @precondition(lambda self: not self.model.manifest_broken)
    def record(self, subject: str, task: str) -> None:
        counted = record_refinement(self.root, suggestion(subject, task), store=make_store(self.root)).counted
        tasks = self.model.suggested.setdefault(subject, [])
        assert counted is (task not in tasks)
        if counted:
            tasks.append(task)
        self.model.wrote(None)

    @rule()
    @precondition(lambda self: not self.model.manifest_broken)
    def undo(self) -> None:
        model = self.model
        if model.memory_broken or not model.undoable:
            with pytest.raises(StateRefusedError):
                undo_action(self.root, catalogue=self.subjects, store=make_store(self.root))
            return
        undone = undo_action(self.root, catalogue=self.subjects, store=make_store(self.root))
        earlier = model.undoable[-1]
        model.undoable = model.undoable[:-1]
        model.state, model.dismissed = earlier.state, earlier.dismissed
        model.has_manifest = make_store(self.root).read().manifest.data is not None
        if undone.notes == ("undone: reset",):
            since = model.suggested
            model.suggested = copy.deepcopy(earlier.suggested)
            for subject, tasks in since.items():
                known = model.suggested.setdefault(subject, [])
                known += [task for task in tasks if task not in known]
        model.wrote("undo", undone.subject)

    @rule()
    @precondition(lambda self: not self.model.manifest_broken)
    def renew_guidance(self) -> None:
        if apply_guidance(self.root, catalogue=self.subjects, store=make_store(self.root)).status == "applied":
            self.model.wrote("guidance")

    def recover(self) -> None:
        """Whatever a death left unfinished is finished; a person who edits files comes later than that."""
        if (self.root / ".qiongli").exists():
            with make_store(self.root).writing():
                pass

    # --- what goes wrong ---------------------------------------------------------------------------------------

    @rule(
        action=st.sampled_from(["confirm", "lock", "dismiss", "reset", "unlock"]), subject=SUBJECTS, fraction=FRACTIONS
    )
    def die_during(self, action: str, subject: str, fraction: float) -> None:
        """The process dies at some point of an action; what was there before, or what was meant, is there."""
        named = subject if action in ("confirm", "lock", "dismiss") else None
        do, tell = self.act(action, named)
        if action == "reset" and not (self.root / ".qiongli").exists():
            return
        if action != "reset" and self.model.manifest_broken:
            return
        if action in ("confirm", "lock") and self.refuses(subject):
            return
        if action == "unlock" and self.model.state.subject_mode != "locked":
            return
        trial = self.folder / "trial"
        shutil.copytree(self.root, trial)
        watched = Watched()
        apply_action(action, trial, named, catalogue=self.subjects, store=make_store(trial, watched))
        shutil.rmtree(trial)
        at = int(fraction * (len(watched.names) - 1))
        with pytest.raises(Died):
            do(make_store(self.root, DiesAt(at)))
        after = copy.deepcopy(self.model)
        tell(after)
        found = make_store(self.root).read()
        happened = len(found.memory.list_events()) == len(after.events) and (
            found.memory.error is None and found.manifest.error is None
        )
        same_length = len(after.events) == len(self.model.events)
        if happened and not (same_length and found.memory.revision <= self.revision):
            self.model = after

    @rule()
    @precondition(lambda self: self.model.has_manifest)
    def comment_the_manifest(self) -> None:
        self.recover()
        self.comments += 1
        manifest = self.root / ".qiongli/guidance_manifest.yaml"
        manifest.write_bytes(manifest.read_bytes() + f"# comment {self.comments}\n".encode())

    @rule()
    @precondition(lambda self: self.model.has_manifest and not self.model.manifest_broken)
    def break_the_manifest(self) -> None:
        self.recover()
        manifest = self.root / ".qiongli/guidance_manifest.yaml"
        manifest.write_bytes(manifest.read_bytes() + b"subject_mode: [\n")
        self.model.manifest_broken = True

    @rule()
    @precondition(lambda self: self.model.events and not self.model.memory_broken)
    def break_the_memory(self) -> None:
        self.recover()
        memory = self.root / ".qiongli/trace/subject_evidence.json"
        memory.write_bytes(memory.read_bytes()[:-20])
        self.model.memory_broken = True
        self.model.dismissed, self.model.suggested = {}, {}

    @rule(step=st.sampled_from(["{", '{"schema_version": "1.0", "steps": [{"kind": "remove", "target": "trace"}]}']))
    @precondition(lambda self: (self.root / ".qiongli/.staging").is_dir())
    def forge_an_intent(self, step: str) -> None:
        """Somebody copies a state folder about, with a change in it that nobody can finish: it stops nothing."""
        self.recover()
        (self.root / ".qiongli/.staging/intent.json").write_text(step, encoding="utf-8")
        (self.root / ".qiongli/.staging/s-1").write_text("subject_mode: locked", encoding="utf-8")

    # --- what must hold ----------------------------------------------------------------------------------------

    @invariant()
    def the_status_is_what_the_model_says(self) -> None:
        if not hasattr(self, "model"):
            return
        model = self.model
        if model.manifest_broken:
            with pytest.raises(StateCorruptError):
                subject_status(self.root, catalogue=self.subjects)
            return
        status = subject_status(self.root, catalogue=self.subjects)
        assert (status.active_subject, status.subject_mode) == (model.state.active_subject, model.state.subject_mode)
        assert status.method_lenses == model.state.method_lenses
        assert status.dismissed_subjects == tuple(sorted(model.dismissed))
        counts = {entry.subject: entry.suggestion_count for entry in status.suggestions}
        assert counts == {subject: len(tasks) for subject, tasks in model.suggested.items()}
        for entry in status.suggestions:
            dismissal = model.dismissed.get(entry.subject)
            silent = dismissal is not None and entry.suggestion_count <= dismissal[1]
            in_force = entry.subject == model.state.active_subject and model.state.subject_mode != "auto"
            expected = "recommend_confirmation" if entry.suggestion_count >= 2 and not in_force else "none"
            assert entry.promotion_status == ("suppressed" if silent else expected)
        assert status.guidance in ("none", "current")
        if model.state != ManifestState():
            assert status.guidance == "current"
        assert bool(status.warnings) >= model.memory_broken

    @invariant()
    def no_event_is_lost_and_numbers_only_grow(self) -> None:
        if not hasattr(self, "model"):
            return
        events = read_memory(self.root)[0].lifecycle_events
        if not self.model.memory_broken:
            assert [(event.event, event.subject) for event in events] == self.model.events
        numbers = [event.revision for event in events]
        assert numbers == sorted(set(numbers))
        revision = stored_revision(self.root)
        assert revision >= self.revision
        self.revision = revision


def stored_revision(root: Path) -> int:
    return make_store(root).read().memory.revision


class TestProjectStateful(Project.TestCase):  # type: ignore[name-defined,misc]
    """Hypothesis runs the machine; `settings` keep the default suite short."""

    settings = settings(max_examples=settings().max_examples // 2, stateful_step_count=25, deadline=None)
