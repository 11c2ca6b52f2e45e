"""Labelled real text: streams rows through the router in several processes and adds up counts; memory stays constant.

A row is a JSON object with `title`, `abstract` and `label_subject` (a slug, or `none`). `id`, `kind`, `lang` and the
flags `near_miss`, `near_hard` and `arguable` are used where they are there; arguable rows are scored apart.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from time import monotonic
from typing import Any, Final

import attrs

from qiongli.errors import InputError, StateCorruptError
from qiongli.evaluation.catalogue import MeasuringRuntime, catalogue_of
from qiongli.evaluation.corpus_counts import NONE, Counts, ErrorRow, count_row
from qiongli.evaluation.parallel import map_in_order
from qiongli.plugins.catalogue import CatalogueSubject
from qiongli.records.project import ManifestState
from qiongli.refinement import infer_subject_refinement
from qiongli.signals import compile_index
from qiongli.signals.index import index_from_json, index_to_json

#: Rows that one process takes at a time.
CHUNK_ROWS: Final = 200

#: Longest line of a corpus, in bytes; a longer one is skipped and counted.
LONGEST_LINE: Final = 4_194_304

#: Names that stand for "no subject" as a label.
_NEGATIVE: Final = frozenset({"none", "auto", "core", ""})

#: Fields of a row that are text of the task.
_TEXT_FIELDS: Final = ("title", "abstract", "keywords", "venue")

#: Seconds between two savings of the progress.
_SAVE_EVERY: Final = 5.0

_STATE_FORM: Final = 1


@attrs.frozen
class Row:
    """One labelled text."""

    id: str
    label: str
    task: Mapping[str, object]
    slices: tuple[str, ...] = ()
    arguable: bool = False


@attrs.frozen
class Chunk:
    """Some lines of one file, and how far the file is read after them."""

    file: int
    name: str
    first_line: int
    lines: tuple[bytes, ...]
    offset: int
    next_line: int


@attrs.define
class _State:
    """How far a measurement is: counts so far, and the place to go on from."""

    counts: Counts
    file: int = 0
    offset: int = 0
    line: int = 1


def read_row(line: bytes, file: str, number: int) -> Row | str:
    """The row of a line, or the reason to skip it."""
    if len(line) > LONGEST_LINE:
        return "too_long"
    try:
        raw = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
    except UnicodeDecodeError:
        return "not_utf8"
    except (ValueError, RecursionError):
        return "no_json"
    if not isinstance(raw, dict):
        return "no_object"
    label = raw.get("label_subject")
    if label is None and "label_subject" not in raw:
        return "no_label"
    if not isinstance(label, str | None):
        return "no_label"
    task = {name: raw[name] for name in _TEXT_FIELDS if isinstance(raw.get(name), str) and raw[name].strip()}
    if not task:
        return "no_text"
    label = NONE if (label or "").strip().lower() in _NEGATIVE else (label or "").strip()
    slices = [f"file: {file}"]
    slices += [f"{name}: {raw[name]}" for name in ("kind", "lang") if isinstance(raw.get(name), str)]
    slices += [f"flag: {name}" for name in ("near_miss", "near_hard") if raw.get(name) is True]
    identifier = raw.get("id")
    return Row(
        id=identifier if isinstance(identifier, str) and identifier else f"{file}:{number}",
        label=label,
        task=task,
        slices=tuple(slices),
        arguable=raw.get("arguable") is True,
    )


#: What a process works with; set once when it starts.
_WORKER: dict[str, MeasuringRuntime] = {}


def _start_worker(subjects: tuple[CatalogueSubject, ...], index: str) -> None:
    _WORKER["runtime"] = MeasuringRuntime(catalogue_of(subjects), index_from_json(index))


def _work(chunk: Chunk) -> Counts:
    """Counts of one chunk; the unit of work is a pure function of the index and the rows."""
    runtime = _WORKER["runtime"]
    counts = Counts()
    for place, line in enumerate(chunk.lines):
        if not line.strip():
            continue
        row = read_row(line, chunk.name, chunk.first_line + place)
        if isinstance(row, str):
            counts.skip(row)
            continue
        try:
            packet = infer_subject_refinement(row.task, manifest_state=ManifestState(), runtime=runtime)
        except InputError as error:
            counts.skip(error.code)
            continue
        count_row(
            counts,
            row.id,
            row.label,
            str(row.task.get("title", "")),
            row.slices,
            row.arguable,
            packet,
            runtime.catalogue,
        )
    return counts


def _chunks(paths: Sequence[Path], state: _State) -> Iterator[Chunk]:
    """Chunks of all files from the state's place on; a file is read line by line, never as a whole."""
    for number, path in enumerate(paths):
        if number < state.file:
            continue
        resumed = number == state.file
        offset, line = (state.offset, state.line) if resumed else (0, 1)
        with path.open("rb") as stream:
            stream.seek(offset)
            while True:
                lines: list[bytes] = []
                size = 0
                while len(lines) < CHUNK_ROWS and size < LONGEST_LINE:
                    text = stream.readline(LONGEST_LINE + 1)
                    if not text:
                        break
                    lines.append(text)
                    while not text.endswith(b"\n") and len(text) > LONGEST_LINE:
                        # The rest of an overlong line is passed over; what was kept of it is counted as too long.
                        text = stream.readline(LONGEST_LINE + 1)
                    size += len(lines[-1])
                if not lines:
                    break
                after = line + len(lines)
                yield Chunk(number, path.stem, line, tuple(lines), stream.tell(), after)
                line = after


def measure_corpus(
    paths: Sequence[Path],
    subjects: Sequence[CatalogueSubject],
    *,
    jobs: int = 1,
    state_file: Path | None = None,
    progress: Callable[[int, int, int], None] | None = None,
) -> tuple[Counts, dict[str, Any]]:
    """Add up the answers to every row of some files with the subjects as they stand in `subjects`.

    `progress` is told rows, bytes read and bytes in all. With `state_file`, the counts so far are saved there, and a
    measurement of the same files with the same subjects goes on from them; the file is removed at the end. Returns
    the counts, and how the run went. Raises `InputError` when a file cannot be read.
    """
    for path in paths:
        if not path.is_file():
            raise InputError(
                f"{str(path)!r} is no file", code="no_corpus", expected="a file with one JSON object a line"
            )
    index = compile_index([subject.contract for subject in subjects])
    identity = _identity(paths, subjects, index.digest)
    state = _resumed(state_file, identity)
    resumed = state.counts.rows
    sizes = [path.stat().st_size for path in paths]
    started = saved = monotonic()
    places: deque[Chunk] = deque()

    def remembered() -> Iterator[Chunk]:
        for chunk in _chunks(paths, state):
            # Its place is needed here; the lines themselves only by the process that counts them.
            places.append(attrs.evolve(chunk, lines=()))
            yield chunk

    work = map_in_order(
        _work, remembered(), jobs, initializer=_start_worker, arguments=(tuple(subjects), index_to_json(index))
    )
    for found in work:
        chunk = places.popleft()
        state.counts.add(found)
        state.file, state.offset, state.line = chunk.file, chunk.offset, chunk.next_line
        if progress is not None:
            progress(state.counts.rows, sum(sizes[: chunk.file]) + chunk.offset, sum(sizes))
        if state_file is not None and monotonic() - saved > _SAVE_EVERY:
            _save(state_file, identity, state)
            saved = monotonic()
    seconds = monotonic() - started
    if state_file is not None:
        state_file.unlink(missing_ok=True)
    measured = state.counts.rows - resumed
    run = {
        "seconds": round(seconds, 3),
        "rows_per_second": round(measured / seconds, 1) if seconds else 0.0,
        "processes": max(1, jobs),
        "resumed_rows": resumed,
    }
    return state.counts, run


def _identity(paths: Sequence[Path], subjects: Sequence[CatalogueSubject], index: str) -> str:
    """What a saved state belongs to: files by name and size, subjects by content and state."""
    files = [[path.name, path.stat().st_size] for path in paths]
    states = [[subject.contract.subject, subject.contract.digest, subject.listing.state] for subject in subjects]
    return sha256(json.dumps([files, states, index]).encode()).hexdigest()


def _resumed(path: Path | None, identity: str) -> _State:
    if path is None or not path.exists():
        return _State(Counts())
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        if raw["form"] != _STATE_FORM:
            raise ValueError("another form")
        if raw["identity"] != identity:
            raise StateCorruptError(
                "the saved progress belongs to other files, subjects or contracts",
                code="other_progress",
                place=str(path),
                hint=f"Remove {path} to start anew",
            )
        return _State(Counts.from_packet(raw["counts"]), int(raw["file"]), int(raw["offset"]), int(raw["line"]))
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise StateCorruptError(
            f"the saved progress cannot be read ({type(error).__name__})",
            code="malformed_progress",
            place=str(path),
            hint=f"Remove {path} to start anew",
        ) from None


def _save(path: Path, identity: str, state: _State) -> None:
    document = {
        "form": _STATE_FORM,
        "identity": identity,
        "file": state.file,
        "offset": state.offset,
        "line": state.line,
        "counts": state.counts.to_packet(),
    }
    temporary = path.with_name(f".{path.name}.new")
    temporary.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
    temporary.replace(path)


__all__ = ["CHUNK_ROWS", "Counts", "ErrorRow", "Row", "measure_corpus", "read_row"]
