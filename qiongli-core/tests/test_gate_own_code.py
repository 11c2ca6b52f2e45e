"""A subject with code of its own: it is measured with that code, or it is not promoted."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import pytest
from gate_cases import write_package, write_source_tree

from qiongli.cli import run
from qiongli.contract import load_contract
from qiongli.evaluation.catalogue import as_subject, switched_on
from qiongli.evaluation.determinism import DeterminismReport
from qiongli.gate import admission, measured
from qiongli.gate.check import Depth, check_subject
from qiongli.gate.detectors import Detectors, permitted_detectors
from qiongli.gate.promotion import promote
from qiongli.gate.record import read_record, write_record
from qiongli.gate.sources import Source, find_source, package_root
from qiongli.plugins.catalogue import Catalogue, CatalogueSubject
from qiongli.plugins.policy import Policy
from qiongli.records.gate import ActivationRecord, GateCheck, GateReport
from qiongli.testing import imports_nothing_from

WORD: Final = "zorblat"
PACKAGE: Final = f"qiongli_subject_{WORD}"
ALLOWED: Final = Policy(allowed=frozenset({f"qiongli-subject-{WORD}"}))

HEAD: Final = """\
from qiongli.hookspecs import hookimpl
from qiongli.records.evidence import Evidence


def places(document, word, subject, dimension):
    for field in document.fields:
        start = field.text.find(word)
        if start >= 0:
            yield Evidence(
                f"{subject}.{dimension}.{word.split()[0]}", subject, dimension, word, "subject", 200_000,
                field.name, start, start + len(word),
            )


"""
#: Finds nothing that any case of the pack holds.
HARMLESS: Final = HEAD + "@hookimpl\ndef qiongli_detect(document):\n    return ()\n"
#: Takes a word of the near misses for a second dimension.
GREEDY: Final = (
    HEAD
    + "@hookimpl\ndef qiongli_detect(document):\n"
    + f"    return list(places(document, 'framed', '{WORD}', 'theory_or_construct'))\n"
)
FAILING: Final = HEAD + "@hookimpl\ndef qiongli_detect(document):\n    raise RuntimeError('no')\n"
#: Depends on the hash seed of the process.
FICKLE: Final = (
    HEAD
    + "@hookimpl\ndef qiongli_detect(document):\n"
    + "    if hash('seed') % 2:\n        return ()\n"
    + f"    return list(places(document, 'mentions', '{WORD}', 'theory_or_construct'))\n"
)


@pytest.fixture(autouse=True)
def forgotten(isolated_qiongli: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of one test's package is imported still when the next one begins."""
    for name in [name for name in sys.modules if name.split(".")[0] in (PACKAGE, "peer_package")]:
        monkeypatch.delitem(sys.modules, name)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the repetition in two further processes, which has tests of its own."""
    monkeypatch.setattr(measured, "check_determinism", lambda *_, **__: DeterminismReport((), 0, ()))


def tree_with(folder: Path, code: str, monkeypatch: pytest.MonkeyPatch | None = None) -> Path:
    """A source tree whose contract names a hooks module with this code; installed when a monkeypatch is given."""
    folder.mkdir(exist_ok=True)
    tree = write_source_tree(folder, WORD)
    package = package_root(tree)
    with (package / "runtime-subject.yaml").open("a", encoding="utf-8") as stream:
        stream.write("hooks: hooks\n")
    (package / "hooks.py").write_text(code, encoding="utf-8")
    if monkeypatch is not None:
        monkeypatch.syspath_prepend(str(package.parent))
    return tree


def source(tree: Path) -> Source:
    return find_source(str(tree), Catalogue())


def detectors(tree: Path, policy: Policy = ALLOWED, *peers: CatalogueSubject) -> Detectors | None:
    return permitted_detectors(source(tree).subject, peers, policy=policy)


def checked(
    tree: Path,
    running: Detectors | None,
    *peers: CatalogueSubject,
    depth: Depth = "fast",
    record: ActivationRecord | None = None,
) -> GateReport:
    return check_subject(source(tree).subject, peers, depth=depth, detectors=running, record=record).report


def own_code(report: GateReport) -> GateCheck:
    return next(check for check in report.checks if check.name == "own_code")


class TestPermission:
    def test_a_subject_of_data_only_needs_no_leave(self, tmp_path: Path) -> None:
        tree = write_source_tree(tmp_path, WORD)
        assert detectors(tree) is None
        assert own_code(checked(tree, None)).outcome == "pass"

    def test_without_leave_nothing_is_imported_and_the_subject_fails(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        tree = tree_with(tmp_path / "a", HARMLESS, monkeypatch)
        with imports_nothing_from(tree):
            running = detectors(tree, Policy())
            report = checked(tree, running)
        assert running is None
        assert not report.eligible_for_runtime_enabled
        assert "was not measured, because it may not run here" in own_code(report).message
        assert f"qiongli plugins allow qiongli-subject-{WORD}" in own_code(report).hint

    def test_leave_for_a_peer_is_none_for_the_candidate(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        peer = write_package(tmp_path / "peer_package", "quimbly", status="runtime_enabled")
        with (peer / "runtime-subject.yaml").open("a", encoding="utf-8") as stream:
            stream.write("hooks: hooks\n")
        (peer / "hooks.py").write_text(HARMLESS, encoding="utf-8")
        monkeypatch.syspath_prepend(str(tmp_path))
        other = switched_on(as_subject(load_contract(peer), peer, distribution="peer"))
        tree = tree_with(tmp_path / "a", HARMLESS, monkeypatch)
        running = detectors(tree, Policy(allowed=frozenset({"peer"})), other)
        assert running is not None
        assert not running.run_for(source(tree).subject)
        assert own_code(checked(tree, running, other)).outcome == "fail"

    def test_another_copy_of_the_package_is_not_what_is_measured(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        tree_with(tmp_path / "installed", HARMLESS, monkeypatch)
        report = checked(tree := tree_with(tmp_path / "measured", HARMLESS), detectors(tree))
        assert own_code(report).outcome == "fail"
        assert "from another place" in " ".join(own_code(report).details)

    def test_a_tree_that_is_not_installed_cannot_be_imported(self, tmp_path: Path) -> None:
        tree = tree_with(tmp_path / "a", HARMLESS)
        report = checked(tree, detectors(tree))
        assert own_code(report).outcome == "fail"
        assert "cannot be imported" in " ".join(own_code(report).details)


class TestMeasuring:
    def test_code_that_makes_nothing_worse_passes(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        tree = tree_with(tmp_path / "a", HARMLESS, monkeypatch)
        report = checked(tree, detectors(tree))
        assert own_code(report).outcome == "pass"
        assert report.eligible_for_runtime_enabled

    def test_a_detector_that_takes_near_misses_is_named_with_them(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The data alone pass; with the code, near misses that mention a frame become suggestions."""
        tree = tree_with(tmp_path / "a", GREEDY, monkeypatch)
        report = checked(tree, detectors(tree))
        assert [check.name for check in report.checks if check.outcome != "pass"] == ["own_code"]
        assert not report.eligible_for_runtime_enabled
        assert any(
            line.startswith("with code, near_miss_false_positives: 10 of 60") for line in report.blocking_failures
        )
        assert any(line.startswith(f"{WORD}-near-miss-2 (") for line in own_code(report).details)

    def test_a_detector_that_fails_is_no_pass(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        tree = tree_with(tmp_path / "a", FAILING, monkeypatch)
        report = checked(tree, detectors(tree))
        assert f"its code failed: qiongli-subject-{WORD}, qiongli_detect: raised RuntimeError" in (
            report.blocking_failures
        )

    def test_code_that_speaks_for_another_subject_is_a_regression(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        other = write_package(tmp_path / "peer_package", "quimbly", status="runtime_enabled")
        peer = switched_on(as_subject(load_contract(other), other, distribution="peer"))
        code = GREEDY.replace(f"'{WORD}', 'theory", "'quimbly', 'theory")
        tree = tree_with(tmp_path / "a", code, monkeypatch)
        report = checked(tree, detectors(tree, ALLOWED, peer), peer)
        assert any(line.startswith("with code, legacy_regression: quimbly/") for line in report.blocking_failures)

    def test_code_that_depends_on_the_hash_seed_is_found_out(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """One of the two processes finds the word, or this one does: in neither case does it pass."""
        monkeypatch.setattr("qiongli.evaluation.determinism.HASH_SEEDS", _seeds_that_differ())
        tree = tree_with(tmp_path / "a", FICKLE, monkeypatch)
        report = checked(tree, detectors(tree), depth="full")
        assert any("with code, determinism: non-deterministic" in line for line in report.blocking_failures)


def _seeds_that_differ() -> tuple[str, str]:
    """Two hash seeds under which the fickle detector decides otherwise."""
    import subprocess

    found: dict[str, str] = {}
    for seed in map(str, range(1, 20)):
        command = [sys.executable, "-c", "print(hash('seed') % 2)"]
        done = subprocess.run(
            command, env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, encoding="utf-8", check=True
        )
        found.setdefault(done.stdout.strip(), seed)
        if len(found) == 2:
            break
    first, second = found.values()
    return first, second


@pytest.mark.usefixtures("quick")
class TestPromotion:
    def test_a_subject_whose_code_was_not_measured_is_not_promoted(self, tmp_path: Path) -> None:
        tree = tree_with(tmp_path / "a", HARMLESS)
        done = promote(source(tree))
        assert not done.changed
        assert read_record(package_root(tree)) is None

    def test_one_that_was_measured_holds_on_machines_that_import_nothing(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        tree = tree_with(tmp_path / "a", HARMLESS, monkeypatch)
        done = promote(source(tree), detectors=detectors(tree))
        assert done.changed
        assert done.record is not None
        assert done.record.counts["measured_with_hooks"] == 1
        for name in [name for name in sys.modules if name.split(".")[0] == PACKAGE]:
            monkeypatch.delitem(sys.modules, name)
        with imports_nothing_from(tree):
            report = checked(tree, None, record=done.record)
        assert report.eligible_for_runtime_enabled

    def test_a_record_that_does_not_say_so_does_not_hold(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        import attrs

        tree = tree_with(tmp_path / "a", HARMLESS, monkeypatch)
        done = promote(source(tree), detectors=detectors(tree))
        assert done.record is not None
        counts = {name: count for name, count in done.record.counts.items() if name != "measured_with_hooks"}
        silent = attrs.evolve(done.record, counts=counts)
        write_record(package_root(tree), silent)
        assert own_code(checked(tree, None, record=silent)).outcome == "fail"

    def test_a_record_of_other_code_does_not_hold(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        tree = tree_with(tmp_path / "a", HARMLESS, monkeypatch)
        done = promote(source(tree), detectors=detectors(tree))
        (package_root(tree) / "hooks.py").write_text(GREEDY, encoding="utf-8")
        assert own_code(checked(tree, None, record=done.record)).outcome == "fail"

    def test_a_full_run_takes_no_records_word(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        tree = tree_with(tmp_path / "a", HARMLESS, monkeypatch)
        done = promote(source(tree), detectors=detectors(tree))
        assert own_code(checked(tree, None, depth="full", record=done.record)).outcome == "fail"

    def test_the_command_line_asks_for_leave(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr(admission, "installed_catalogue", lambda **_: Catalogue())
        tree = tree_with(tmp_path / "a", HARMLESS, monkeypatch)
        assert run(["gate", "promote", str(tree)]) == 1
        assert f"qiongli plugins allow qiongli-subject-{WORD}" in capsys.readouterr().out
        monkeypatch.setattr("qiongli.plugins.permission.load_policy", lambda: ALLOWED)
        assert run(["gate", "promote", str(tree)]) == 0
