"""The composition root: discovers subjects, loads the compiled index, and answers for tasks and projects."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs

from qiongli._value import Value
from qiongli.errors import InputError
from qiongli.limits import DEFAULT_LIMITS, Limits
from qiongli.records.packet import RefinementPacket
from qiongli.records.project import EvidenceMemory, ManifestState
from qiongli.refinement import infer_subject_refinement as _infer

if TYPE_CHECKING:
    from qiongli.plugins import Catalogue, HookCaller
    from qiongli.project.paths import Folder, Project
    from qiongli.session import SessionState
    from qiongli.signals import SignalIndex


@attrs.frozen(repr=False)
class Runtime(Value):
    """Everything that an inference needs besides the task: subjects with their states, the index, hooks, limits.

    `hooks` is None when no plugin may run. A runtime is immutable: what is installed or allowed later needs a new one.
    """

    catalogue: Catalogue
    index: SignalIndex
    hooks: HookCaller | None = None
    limits: Limits = DEFAULT_LIMITS


def build_runtime(catalogue: Catalogue, *, hooks: HookCaller | None = None, cached: bool = False) -> Runtime:
    """A runtime over an explicit catalogue; `cached` keeps the compiled index in the user's cache folder."""
    contracts = [
        subject.contract
        for subject in catalogue.subjects
        if subject.listing.state in ("active", "lens_only", "inactive")
    ]
    if cached:
        from qiongli.signals.cache import load_index

        return Runtime(catalogue, load_index(contracts), hooks)
    from qiongli.signals import compile_index

    return Runtime(catalogue, compile_index(contracts), hooks)


@lru_cache(maxsize=1)
def default_runtime() -> Runtime:
    """The runtime of this machine: what is installed, in the states that the gate and local policy leave it."""
    from qiongli.gate.admission import installed_catalogue
    from qiongli.plugins.permission import hook_modules

    catalogue = installed_catalogue()
    hooks = None
    if hook_modules(catalogue):
        # Only then is pluggy worth its start-up time.
        from qiongli.plugins.hooks import load_hooks
        from qiongli.resources import list_resources

        hooks = load_hooks(catalogue, resources=lambda subject: list_resources(subject.contract, subject.root)[0])
    return attrs.evolve(build_runtime(catalogue, hooks=hooks, cached=True), limits=_local_limits(os.environ))


#: Environment variable with the largest task packet that is read, in bytes of UTF-8.
INPUT_LIMIT_VARIABLE: Final = "QIONGLI_INPUT_LIMIT"


def _local_limits(environment: Mapping[str, str]) -> Limits:
    """The limits of this machine: the engine's own but for the size of a task packet."""
    text = environment.get(INPUT_LIMIT_VARIABLE, "").strip()
    if not text:
        return DEFAULT_LIMITS
    if not text.isascii() or not text.isdigit() or len(text) > 12 or int(text) < 1:
        raise InputError(
            f"{INPUT_LIMIT_VARIABLE} is {text!r}",
            code="invalid_input_limit",
            place=INPUT_LIMIT_VARIABLE,
            expected="a number of bytes, for instance 1048576",
        )
    return attrs.evolve(DEFAULT_LIMITS, input_size=int(text))


def infer_subject_refinement(
    task_packet: Mapping[str, object] | str,
    *,
    manifest_state: ManifestState | None = None,
    memory: EvidenceMemory | None = None,
    session: SessionState | None = None,
    runtime: Runtime | None = None,
    answers: Mapping[str, str] | None = None,
    budget: int | None = None,
    recorder: object = None,
) -> RefinementPacket:
    """Say which discipline's standards apply to a research task, and why.

    `task_packet` is a text or a mapping of fields (`topic`, `title`, `abstract`, `context`, `keywords`, `venue`,
    `draft`, ...). `manifest_state` is the project's state, adaptive core when None; `memory` its evidence memory;
    `session` the advisory state of the conversation. `answers` maps the id of a clarification to a subject; `budget`
    is how many tokens resources may take. Without `runtime`, what is installed on this machine takes part. A
    `recorder` (`qiongli.diagnostics.Recorder`) is told what happened, changes nothing but `diagnostics` in the packet,
    and does no harm when it fails.

    Returns a frozen packet; `.to_packet()` makes it JSON-ready. Raises `InputError` when the packet is no mapping of
    known shape; what is too large or undecodable is a refusal inside the packet instead.
    """
    return _infer(
        task_packet,
        manifest_state=manifest_state or ManifestState(),
        memory=memory,
        session=session,
        runtime=runtime or default_runtime(),
        answers=answers,
        budget=budget,
        recorder=recorder,
    )


@attrs.frozen(repr=False)
class Router(Value):
    """Routes tasks for one project, or for none."""

    runtime: Runtime
    #: The project, as it was named; None for none.
    project: Project | None = None
    manifest_state: ManifestState = ManifestState()
    memory: EvidenceMemory | None = None
    session: SessionState | None = None
    warnings: tuple[str, ...] = ()

    @property
    def cwd(self) -> Path | None:
        """The folder of the project."""
        return None if self.project is None else self.project.root

    def route(
        self,
        task: Mapping[str, Any] | str,
        *,
        budget: int | None = None,
        answers: Mapping[str, str] | None = None,
        record: bool = False,
        recorder: object = None,
    ) -> RefinementPacket:
        """Answer for one task; with `record`, write the run to the project's memory and trace.

        When runs are recorded, each task is answered for the project as it is then: with the memory that the task
        before it left, and with what its user decided meanwhile.
        """
        current = self
        if record and self.project is not None:
            from qiongli.project import read_project

            project = read_project(self.project)
            current = attrs.evolve(
                self, manifest_state=project.manifest_state, memory=project.memory, warnings=project.warnings
            )
        packet = _infer(
            task,
            manifest_state=current.manifest_state,
            memory=current.memory,
            session=self.session,
            runtime=self.runtime,
            answers=answers,
            budget=budget,
            recorder=recorder,
        )
        if current.warnings:
            packet = attrs.evolve(packet, warnings=(*current.warnings, *packet.warnings))
        if record and self.project is not None:
            from qiongli.project import record_refinement

            record_refinement(self.project, packet, task_packet={"text": task} if isinstance(task, str) else task)
        return packet


def open_router(cwd: Folder | None, *, runtime: Runtime | None = None, find_project: bool = False) -> Router:
    """A router over this machine's runtime; `cwd` names a project whose state takes part.

    With `find_project` it is the nearest project in that folder or above it.

    Raises an error of the project's state when `cwd` is missing, is a file, or its manifest is malformed.
    """
    runtime = runtime or default_runtime()
    if cwd is None:
        return Router(runtime)
    from qiongli.project import open_project, read_project

    project = open_project(cwd, find_project=find_project)
    reading = read_project(project)
    return Router(
        runtime,
        project,
        manifest_state=reading.manifest_state,
        memory=reading.memory,
        session=reading.session,
        warnings=reading.warnings,
    )
