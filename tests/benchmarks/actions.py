"""What an action on a project costs beside bare atomic writes of the same bytes, after short and long histories.

A history is events, or distinct tasks that suggested one subject.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import statistics
import tempfile
import time
from pathlib import Path

from qiongli.project import Store, apply_action, open_project
from qiongli.project._memory_file import lines_from, render_file
from qiongli.project._operations import FileOperations
from qiongli.project.memory import RETAINED_EVENTS, RETAINED_FINGERPRINTS, UNDO_DEPTH, MemoryDocument, parse_memory
from qiongli.project.paths import MEMORY
from qiongli.runtime import default_runtime


class Sizes(FileOperations):
    """The real operations, and the size of every file that they wrote."""

    def __init__(self) -> None:
        self.written: list[int] = []

    def write(self, descriptor: int, data: bytes) -> None:
        self.written.append(len(data))
        super().write(descriptor, data)


def write_bare(folder: Path, name: str, data: bytes) -> None:
    """The least that an atomic, durable write of one file can be."""
    descriptor = os.open(folder / "new", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
    os.write(descriptor, data)
    os.fsync(descriptor)
    os.close(descriptor)
    (folder / "new").replace(folder / name)
    descriptor = os.open(folder, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


def with_events(memory: MemoryDocument, number: int, _subject: str) -> bytes:
    """The file with that many events; what can be undone stays."""
    event = {**memory.events.parse()[-1], "time": "2026-01-01T00:00:00Z"}
    lines = lines_from(({**event, "revision": index} for index in range(number)), RETAINED_EVENTS)
    return render_file({**memory.content, "revision": number}, {}, lines, memory.undo)[0]


def with_tasks(memory: MemoryDocument, number: int, subject: str) -> bytes:
    """The file with that many distinct tasks that suggested one subject."""
    fingerprints = (hashlib.sha256(str(index).encode()).hexdigest() for index in range(number))
    content = {**memory.content, "suggestions": {subject: {"suggestion_count": number}}}
    tasks = {subject: lines_from(fingerprints, RETAINED_FINGERPRINTS)}
    return render_file(content, tasks, memory.events, memory.undo)[0]


#: Actions, what their history consists of, and how long it is.
ROWS = (
    *itertools.product(("dismiss", "confirm"), ("events",), (0, 100, 1_000, 10_000)),
    *itertools.product(("dismiss", "confirm"), ("tasks",), (1_000, 10_000)),
)


def actions(runs: int = 60) -> None:
    """Print the ratio for one file and for three, in turns with the bare writes: each file, and the intent of three."""
    catalogue = default_runtime().catalogue
    slugs = [subject.contract.subject for subject in catalogue.subjects][:2]
    print("\none action in process, relative to the bare atomic writes it consists of (aim: at most 3x):")
    for action, kind, number in ROWS:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "bare").mkdir()
            for turn in range(UNDO_DEPTH + 2):
                apply_action("confirm", root, slugs[turn % 2], catalogue=catalogue)
            path = root / ".qiongli" / MEMORY
            grow = with_events if kind == "events" else with_tasks
            path.write_bytes(grow(parse_memory(path.read_bytes()), number, slugs[0]))
            acted, bare = [], []
            for turn in range(runs):
                sizes = Sizes()
                store = Store(open_project(root), sizes)
                start = time.perf_counter()
                apply_action(action, root, slugs[turn % 2], catalogue=catalogue, store=store)
                acted.append(time.perf_counter() - start)
                contents = [bytes(size) for size in sizes.written]
                start = time.perf_counter()
                for index, content in enumerate(contents):
                    write_bare(root / "bare", str(index), content)
                bare.append(time.perf_counter() - start)
        one, base = statistics.median(acted), statistics.median(bare)
        print(
            f"  {action} after {number:>6} {kind:<6} {one / base:5.1f}x   ({one * 1000:.1f} ms; "
            f"{len(contents)} writes, {sum(map(len, contents)) // 1024} KiB)"
        )


if __name__ == "__main__":
    actions()
