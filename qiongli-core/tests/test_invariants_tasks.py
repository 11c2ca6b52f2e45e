"""Invariants D1, D2, H1 and H3 of the heuristics contract on whole tasks: the same bytes, whoever looks on.

The letters are those of the contract. Each property fails unless it saw what it is about.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import attrs
import pytest
from engine_cases import covering
from hypothesis import strategies as st
from packet_cases import write_packages
from text_tasks import KINDS, Task, answer, for_each_kind, labels_of, runtime_in, tasks

from qiongli.diagnostics import Recorder
from qiongli.plugins.catalogue import Catalogue
from qiongli.records import to_json
from qiongli.records.project import Dismissal, EvidenceMemory, ManifestState, SuggestionMemory
from qiongli.refinement import recorder_for
from qiongli.runtime import Runtime
from qiongli.session import Identifier, SessionContext, SessionEvent, fold
from qiongli.signals import compile_index


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    packages = tmp_path_factory.mktemp("packages")
    write_packages(packages)
    return packages


@pytest.fixture(scope="module")
def runtime(folder: Path) -> Runtime:
    return runtime_in(folder)


def test_every_decision_is_reached_by_the_texts(runtime: Runtime) -> None:
    decisions = ("no_subject", "borrow_lens", "suggest_subject", "confirm_subject", "lock_subject", "ambiguous")

    @covering(for_each_kind(kinds=KINDS[:-2]), **dict.fromkeys(decisions, 0.1))
    def prove(example: tuple[Task]) -> set[str]:
        return labels_of(answer(runtime, example[0]))

    prove()


# --- D: the same bytes --------------------------------------------------------------------------------------------


def test_d1_no_order_of_fields_contracts_subjects_or_memory_changes_a_byte(folder: Path) -> None:
    @covering(
        for_each_kind(st.randoms(use_true_random=False), st.booleans()),
        suggest_subject=0.2,
        borrow_lens=0.05,
        ambiguous=0.03,
        blocked=0.1,
        composite=0.03,
    )
    def prove(example: tuple[Task, Random, bool]) -> set[str]:
        (task, state), random, composite = example
        runtime = runtime_in(folder, composite=composite)

        def shuffled(items: Any) -> list[Any]:
            return random.sample(list(items), len(items))

        memory = EvidenceMemory(
            dismissed_subjects={"alpha": Dismissal(), "beta": Dismissal(2)},
            suggestions={"alpha": SuggestionMemory(2), "gamma": SuggestionMemory(1)},
        )
        other_memory = EvidenceMemory(
            dismissed_subjects=dict(shuffled(memory.dismissed_subjects.items())),
            suggestions=dict(shuffled(memory.suggestions.items())),
        )
        rows = shuffled(runtime.catalogue.subjects)
        other = Runtime(
            Catalogue(tuple(rows), tuple(shuffled(runtime.catalogue.listings))),
            compile_index(shuffled([row.contract for row in rows])),
        )
        other_task = task if isinstance(task, str) else dict(shuffled(task.items()))
        packet = answer(runtime, (task, state), memory=memory, budget=300)
        assert to_json(answer(other, (other_task, state), memory=other_memory, budget=300).to_packet()) == to_json(
            packet.to_packet()
        )
        return labels_of(packet) | ({"composite"} if packet.primary_subject == "alpha-beta" else set())

    prove()


#: Reads tasks, one a line, and prints the packet of each; the subjects stand in the order of their hashes.
_WORKER = """
import json, sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
import attrs
from text_tasks import answer, runtime_in
from qiongli.records import to_json
from qiongli.records.project import ManifestState
from qiongli.refinement import recorder_for

def in_hash_order(runtime):
    rows = {row.contract.subject: row for row in runtime.catalogue.subjects}
    subjects = tuple(rows[name] for name in set(rows))
    return attrs.evolve(runtime, catalogue=attrs.evolve(runtime.catalogue, subjects=subjects))

runtimes = [in_hash_order(runtime_in(Path(sys.argv[2]), composite=composite)) for composite in (False, True)]
for line in sys.stdin:
    task, (subject, mode, strictness), composite = json.loads(line)
    runtime = runtimes[composite]
    project = ManifestState(subject, mode, strictness=strictness)
    packet = answer(runtime, (task, project), recorder=recorder_for(runtime.catalogue))
    print(json.dumps(to_json(packet.to_packet())), flush=True)
"""


class Worker:
    """A process that answers for tasks in an environment of its own."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("PYTHONHASH", "LC_", "LANG", "TZ"))
        }
        self._process = subprocess.Popen(
            [sys.executable, "-c", _WORKER, str(Path(__file__).parent), str(folder)],
            env={**inherited, "PYTHONIOENCODING": "utf-8", **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=60)
        assert self._process.stdout is not None
        self._process.stdout.close()

    def answer(self, batch: Sequence[Task], *, composite: bool) -> list[str]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        for task, state in batch:
            settings = (state.active_subject, state.subject_mode, state.strictness)
            self._process.stdin.write(json.dumps([task, settings, composite]) + "\n")
        self._process.stdin.flush()
        return [json.loads(self._process.stdout.readline()) for _ in batch]


@pytest.fixture
def workers(folder: Path) -> Iterator[tuple[Worker, Worker]]:
    with ExitStack() as stack:
        plain = {"PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
        # With this seed the set of subjects comes out the other way round.
        turkish = {"PYTHONHASHSEED": "3", "LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8", "TZ": "Asia/Shanghai"}
        yield (
            stack.enter_context(Worker(folder, plain)),
            stack.enter_context(Worker(folder, turkish)),
        )


def test_d2_hash_seeds_locales_zones_threads_and_workers_change_no_byte(
    folder: Path, workers: tuple[Worker, Worker]
) -> None:
    @covering(
        [st.tuples(st.lists(tasks(kind), min_size=2, max_size=4), st.booleans()) for kind in KINDS],
        suggest_subject=0.2,
        borrow_lens=0.1,
        ambiguous=0.03,
        blocked=0.1,
        composite=0.03,
    )
    def prove(example: tuple[list[Task], bool]) -> set[str]:
        batch, composite = example
        runtime = runtime_in(folder, composite=composite)

        def here(task: Task) -> str:
            return to_json(answer(runtime, task, recorder=recorder_for(runtime.catalogue)).to_packet())

        expected = [here(task) for task in batch]
        for worker in workers:
            assert worker.answer(batch, composite=composite) == expected
        # Dealt to two workers, and to four threads that share one runtime.
        dealt = [worker.answer([task], composite=composite) for worker, task in zip(workers * 2, batch, strict=False)]
        assert dealt == [[one] for one in expected]
        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(here, batch)) == expected
        packets = [answer(runtime, task) for task in batch]
        found = {label for packet in packets for label in labels_of(packet)}
        return found | ({"composite"} if any(packet.primary_subject == "alpha-beta" for packet in packets) else set())

    prove()


# --- H: who looks on ----------------------------------------------------------------------------------------------

#: Long enough that no eight characters of one stand anywhere by chance.
secrets = st.integers(0, 10**9).map(lambda number: sha256(str(number).encode()).hexdigest().swapcase()[:24])


def test_h1_nothing_of_a_secret_in_the_task_the_project_or_the_session_is_recorded(runtime: Runtime) -> None:
    @covering(for_each_kind(secrets, st.booleans()), suggest_subject=0.1, borrow_lens=0.05, blocked=0.1)
    def prove(example: tuple[Task, str, bool]) -> set[str]:
        (task, state), secret, settled = example
        fields = {"text": task} if isinstance(task, str) else dict(task)
        # In a text beside signals, in the name of a field, and in an id.
        fields |= {
            "task_id": secret,
            f"note_{secret}": f"The password is {secret}.",
            "draft": f"{secret}. Quorl ledger",
        }
        if settled:
            state = ManifestState(secret, "locked", secondary_subjects=(secret,), method_lenses=(f"{secret}/{secret}",))
        where = SessionContext(Identifier("s"), Identifier(secret), Identifier("policy:1"), 3)
        session = fold([SessionEvent("asked", Identifier(secret), where)], "s")
        told: list[dict[str, object]] = []
        recorder = Recorder({row.contract.subject for row in runtime.catalogue.subjects}, key=b"key", sink=told.append)
        packet = answer(runtime, (fields, state), session=session, recorder=recorder)
        shown = json.dumps([packet.diagnostics, told], ensure_ascii=False)
        assert '"decision"' in shown
        forms = [
            secret,
            secret[::-1],
            secret.swapcase(),
            secret.encode().hex(),
            base64.b64encode(secret.encode()).decode(),
        ]
        for form in forms:
            assert not [start for start in range(len(form) - 7) if form[start : start + 8] in shown]
        return labels_of(packet)

    prove()


def test_h3_the_packet_is_the_same_with_diagnostics_on_off_full_or_raising(runtime: Runtime) -> None:
    class Raising:
        def record(self, *_: object, **__: object) -> None:
            raise OSError("disk full")

    def sink(_event: object) -> None:
        raise RuntimeError("gone")

    full = Recorder(("alpha",))
    for _ in range(100):
        full.record("resource", count=1)

    @covering(for_each_kind(), suggest_subject=0.2, borrow_lens=0.05, blocked=0.1)
    def prove(example: tuple[Task]) -> set[str]:
        plain = answer(runtime, example[0])
        for recorder in (Recorder(), recorder_for(runtime.catalogue), Recorder(sink=sink), full, Raising(), object()):
            seen = answer(runtime, example[0], recorder=recorder)
            assert attrs.evolve(seen, diagnostics=plain.diagnostics) == plain
        return labels_of(plain)

    prove()
