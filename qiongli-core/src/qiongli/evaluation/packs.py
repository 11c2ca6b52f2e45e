"""Packs: the fixtures of a file or folder, of a subject's package, and the legacy core pack that ships with core."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import attrs

from qiongli.contract.paths import locate
from qiongli.errors import InputError, QiongliError
from qiongli.evaluation.fixtures import Fixture, FixtureError, read_fixture
from qiongli.plugins.catalogue import CatalogueSubject

#: Label of the pack that every subject is measured against.
LEGACY_PACK: Final = "legacy"

#: Names of the legacy pack's fixtures; a fixture that goes missing is noticed.
LEGACY_NAMES: Final = "legacy-cases.txt"

#: Largest file of fixtures, in bytes.
MAXIMUM_FILE: Final = 33_554_432

_SUFFIXES: Final = (".json", ".jsonl")


@attrs.frozen
class Pack:
    """Fixtures by label, with everything that is wrong with their files; the good ones are there all the same."""

    label: str
    fixtures: tuple[Fixture, ...] = ()
    problems: tuple[QiongliError, ...] = ()
    #: Names that a list or record knows and the pack lacks.
    missing: tuple[str, ...] = ()
    #: What selects the pack on the command line of `qiongli evaluate`.
    arguments: str = ""

    @property
    def digest(self) -> str:
        """SHA-256 over the fixtures' content, whatever files they stand in."""
        total = sha256()
        for fixture in sorted(self.fixtures, key=lambda fixture: fixture.name):
            total.update(json.dumps(fixture.raw, ensure_ascii=True, sort_keys=True).encode() + b"\n")
        return total.hexdigest()


def load_pack(path: Path, *, label: str = "") -> Pack:
    """Read a file (one fixture, a list, or one a line in `.jsonl`) or every such file in a folder.

    Raises `InputError` when nothing is there; faults inside the files are the pack's `problems`.
    """
    if not path.exists():
        raise InputError(f"{str(path)!r} does not exist", code="no_fixtures", hint="Name a pack: a file or a folder")
    files = sorted(_files(path)) if path.is_dir() else [path]
    if not files:
        raise InputError(f"{str(path)!r} holds no fixture", code="no_fixtures", expected=".json or .jsonl files")
    label = label or path.stem
    fixtures: list[Fixture] = []
    problems: list[QiongliError] = []
    for file in files:
        shown = file.relative_to(path).as_posix() if path.is_dir() else file.name
        folder = file.parent.name if path.is_dir() and file.parent != path else ""
        found, faults = _read_file(file, shown if path.is_dir() else str(file), label, folder)
        fixtures += found
        problems += faults
    return Pack(label, *_without_duplicates(fixtures, problems), arguments=shlex.quote(str(path)))


def load_packs(paths: Sequence[Path]) -> tuple[Pack, ...]:
    """The packs of several paths, told apart by as much of their paths as it takes; a path named twice is one pack."""
    unique = list(dict.fromkeys(path.resolve() for path in paths))
    given = {path.resolve(): path for path in reversed(paths)}
    labels = {path: path.stem for path in unique}
    for depth in range(2, max((len(path.parts) for path in unique), default=0) + 1):
        taken = Counter(labels.values())
        for path in unique:
            if taken[labels[path]] > 1:
                labels[path] = Path(*path.parts[-depth:]).as_posix()
    return tuple(load_pack(given[path], label=labels[path]) for path in unique)


def _files(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if path.suffix in _SUFFIXES and not hidden and path.is_file():
            yield path


def _without_duplicates(
    fixtures: Sequence[Fixture], problems: Sequence[QiongliError]
) -> tuple[tuple[Fixture, ...], tuple[QiongliError, ...]]:
    seen: dict[str, Fixture] = {}
    faults = list(problems)
    for fixture in fixtures:
        first = seen.setdefault(fixture.name, fixture)
        if first is not fixture:
            message = f"the name {fixture.name!r} stands in {first.place} too"
            faults.append(FixtureError(message, code="duplicate_fixture", place=f"{fixture.place}: id"))
    ordered = sorted(seen.values(), key=lambda fixture: fixture.name)
    return tuple(ordered), tuple(faults)


def _read_file(path: Path, shown: str, label: str, folder: str) -> tuple[list[Fixture], list[QiongliError]]:
    """Fixtures of one file; each line of JSONL stands for itself, so that a broken one harms no other."""
    try:
        if path.stat().st_size > MAXIMUM_FILE:
            return [], [FixtureError("the file is too large", place=shown, expected=f"at most {MAXIMUM_FILE} bytes")]
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        return [], [FixtureError(f"cannot be read: {error.strerror or error}", code="unreadable", place=shown)]
    except UnicodeDecodeError as error:
        return [], [FixtureError(f"byte {error.start} is no UTF-8", code="not_utf8", place=shown)]
    fixtures: list[Fixture] = []
    problems: list[QiongliError] = []
    for place, chunk in _chunks(path, text, shown):
        try:
            values = parse_json(chunk)
        except ValueError as error:
            problems.append(FixtureError(f"no JSON: {error}", code="invalid_json", place=place))
            continue
        several = isinstance(values, list)
        for index, value in enumerate(values if several else [values]):
            at = f"{place}: [{index}]" if several else place
            fixture, faults = read_fixture(value, place=at, pack=label, folder=folder or path.stem)
            problems += faults
            if fixture is not None:
                fixtures.append(fixture)
    return fixtures, problems


def _chunks(path: Path, text: str, shown: str) -> Iterable[tuple[str, str]]:
    if path.suffix != ".jsonl":
        return [(shown, text)]
    # Only line feeds end a line of JSONL; `splitlines` would cut at characters that may stand inside a text.
    return [(f"{shown}:{number}", line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]


def parse_json(text: str) -> Any:
    """Parse JSON strictly: no key twice in one object, no NaN. Raises ValueError."""
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key!r} stands twice in one object")
        found[key] = value
    return found


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def load_subject_pack(subject: CatalogueSubject) -> Pack:
    """The pack that a subject's contract names, looked for inside its package only.

    A contract without a pack, and a path that leads nowhere or out of the package, give an empty pack with a problem.
    """
    contract = subject.contract
    label = contract.subject
    if contract.evaluation_pack is None:
        fault = FixtureError(
            "the contract names no evaluation pack", code="no_evaluation_pack", place="evaluation_pack"
        )
        return Pack(label, problems=(fault,))
    located = locate(subject.root, contract.evaluation_pack, folder=True)
    if located.path is None:
        code = "path_escapes" if located.escapes else "no_evaluation_pack"
        return Pack(label, problems=(FixtureError(located.reason, code=code, place="evaluation_pack"),))
    try:
        return attrs.evolve(load_pack(located.path, label=label), arguments=f"--subject {label}")
    except InputError as error:
        return Pack(label, problems=(FixtureError(error.message, code="no_evaluation_pack", place="evaluation_pack"),))


def legacy_folder() -> Path:
    """Where the legacy core pack lies inside the installed core."""
    return Path(__file__).resolve().parent / "legacy"


def load_legacy_pack() -> Pack:
    """The legacy core pack; fixtures that its list names and its files lack are in `missing`."""
    folder = legacy_folder()
    try:
        pack = attrs.evolve(load_pack(folder, label=LEGACY_PACK), arguments="")
    except InputError as error:
        return Pack(LEGACY_PACK, problems=(FixtureError(error.message, code="no_fixtures", place=LEGACY_PACK),))
    try:
        listed = (folder.parent / LEGACY_NAMES).read_text(encoding="utf-8").split()
    except OSError:
        listed = []
    return with_missing(pack, listed)


def with_missing(pack: Pack, known: Iterable[str]) -> Pack:
    """The pack, with the names that were once measured and are no longer there."""
    present = {fixture.name for fixture in pack.fixtures}
    return attrs.evolve(pack, missing=tuple(sorted({*known} - present)))
