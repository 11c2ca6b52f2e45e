"""Promotion: source trees only, comments kept, all or nothing; revocation undoes it."""

from __future__ import annotations

import json
from pathlib import Path

import attrs
import pytest
from gate_cases import pack, write_pack, write_package, write_source_tree

from qiongli.contract import load_contract
from qiongli.errors import InputError, StateRefusedError, UnknownSubjectError
from qiongli.evaluation.catalogue import as_subject
from qiongli.evaluation.determinism import DeterminismReport
from qiongli.gate import measured, promotion
from qiongli.gate.digest import content_digest
from qiongli.gate.promotion import promote, revoke, with_status
from qiongli.gate.record import RECORD_FILE, changed_files, read_record
from qiongli.gate.sources import Source, find_source, package_root
from qiongli.plugins.catalogue import Catalogue

WORD = "zorblat"


@pytest.fixture(autouse=True)
def one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Repeating an evaluation in two further processes has tests of its own, and takes a second each time."""
    monkeypatch.setattr(measured, "check_determinism", lambda *_, **__: DeterminismReport((), 0, ()))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return write_source_tree(tmp_path, WORD)


def source_of(tree: Path) -> Source:
    return find_source(str(tree), Catalogue())


def contents(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


class TestSources:
    def test_a_tree_a_package_and_a_contract_mean_the_same(self, tree: Path) -> None:
        package = tree / "src" / f"qiongli_subject_{WORD}"
        assert package_root(tree) == package_root(package) == package_root(package / "runtime-subject.yaml") == package

    def test_the_distribution_comes_from_the_project_file(self, tree: Path) -> None:
        subject = source_of(tree).subject
        assert (subject.listing.distribution, subject.listing.version) == (f"qiongli-subject-{WORD}", "1.0")

    def test_an_installed_slug_outranks_a_folder_of_that_name(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        root = write_package(tmp_path / "installed", WORD)
        (tmp_path / WORD).mkdir()
        monkeypatch.chdir(tmp_path)
        catalogue = Catalogue((as_subject(load_contract(root), root),))
        assert find_source(WORD, catalogue).subject.root == root

    def test_a_folder_without_a_contract_is_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(InputError) as missing:
            find_source(str(tmp_path), Catalogue())
        assert missing.value.code == "no_contract"

    def test_an_unknown_slug_is_an_error(self) -> None:
        with pytest.raises(UnknownSubjectError):
            find_source("nope", Catalogue())

    def test_an_installed_wheel_is_refused(self, tmp_path: Path) -> None:
        root = write_package(tmp_path / "lib" / "site-packages" / "qiongli_subject_zorblat", WORD)
        before = contents(root)
        with pytest.raises(StateRefusedError) as refused:
            promote(find_source(str(root), Catalogue()))
        assert refused.value.code == "not_a_source_tree"
        assert int(refused.value.exit_code) == 3
        assert contents(root) == before

    def test_peers_are_those_admitted_before(self, tree: Path, tmp_path: Path) -> None:
        def active(word: str, distribution: str) -> object:
            root = write_package(tmp_path / word, word, status="runtime_enabled")
            subject = as_subject(load_contract(root), root, distribution=distribution)
            return attrs.evolve(subject, listing=attrs.evolve(subject.listing, state="active"))

        early, late = active("fendrax", "a-fendrax"), active("quimbly", "z-quimbly")
        found = find_source(str(tree), Catalogue((early, late)))  # type: ignore[arg-type]
        assert [peer.contract.subject for peer in found.peers] == ["fendrax"]

    def test_nobody_is_its_own_peer(self, tmp_path: Path) -> None:
        """What is active already is measured again beside those before it, and not beside itself."""
        subjects = []
        for priority, word in enumerate(("fendrax", WORD, "quimbly")):
            root = write_package(tmp_path / word, word, status="runtime_enabled")
            subject = as_subject(load_contract(root), root, distribution=word, priority=priority)
            subjects.append(attrs.evolve(subject, listing=attrs.evolve(subject.listing, state="active")))
        found = find_source(WORD, Catalogue(tuple(subjects)))
        assert [peer.contract.subject for peer in found.peers] == ["fendrax"]


class TestPromotion:
    def test_the_status_moves_and_comments_stay(self, tree: Path) -> None:
        root = package_root(tree)
        before = (root / "runtime-subject.yaml").read_text(encoding="utf-8")
        done = promote(source_of(tree))
        after = (root / "runtime-subject.yaml").read_text(encoding="utf-8")
        assert done.changed
        assert done.activation_status == "runtime_enabled"
        assert after == before.replace("activation_status: eval_ready ", "activation_status: runtime_enabled ")
        assert "# the gate moves this line" in after
        assert "Activation status: runtime_enabled" in (root / "README.md").read_text(encoding="utf-8")
        assert done.files == ("runtime-subject.yaml", "README.md", RECORD_FILE)

    def test_the_record_says_what_was_measured(self, tree: Path) -> None:
        root = package_root(tree)
        promote(source_of(tree))
        stored = read_record(root)
        assert stored is not None
        record = stored.record
        assert record.subject == WORD
        assert record.distribution == f"qiongli-subject-{WORD}"
        assert record.content_digest == content_digest(root)
        assert record.policy_version == 1
        assert record.metrics["primary_subject_accuracy"] == 1.0
        assert record.metrics["mutation_score"] >= 0.8
        assert record.thresholds["primary_subject_accuracy"] == 0.95
        assert record.counts["near_misses"] == 60
        assert record.counts["fixtures"] == len(record.cases) == len(pack(WORD))
        assert record.peers == {}
        assert changed_files(record, root) == ()

    def test_the_same_sources_give_the_same_record(self, tree: Path, tmp_path: Path) -> None:
        promote(source_of(tree))
        other = write_source_tree(tmp_path / "again", WORD)
        promote(source_of(other))
        first, second = ((package_root(item) / RECORD_FILE).read_bytes() for item in (tree, other))
        assert first == second

    def test_a_subject_that_does_not_pass_is_left_as_it_is(self, tree: Path) -> None:
        root = package_root(tree)
        write_pack(root, pack(WORD)[:50])
        before = contents(root)
        done = promote(source_of(tree))
        assert not done.changed
        assert done.report is not None
        assert not done.report.eligible_for_runtime_enabled
        assert contents(root) == before

    def test_a_candidate_must_be_declared_ready_by_hand_first(self, tmp_path: Path) -> None:
        tree = write_source_tree(tmp_path, WORD, status="candidate")
        done = promote(source_of(tree))
        assert not done.changed
        assert done.report is not None
        assert done.report.blocking_failures == ("subject activation_status is candidate",)

    def test_promoting_again_refreshes_the_record(self, tree: Path) -> None:
        promote(source_of(tree))
        root = package_root(tree)
        with (root / "overlays" / f"{WORD}.yaml").open("a", encoding="utf-8") as stream:
            stream.write("# a remark\n")
        stored = read_record(root)
        assert stored is not None
        assert changed_files(stored.record, root) == (f"changed: overlays/{WORD}.yaml",)
        done = promote(source_of(tree))
        assert done.files == (RECORD_FILE,)
        assert done.record is not None
        assert done.record.content_digest == content_digest(root)

    def test_a_promotion_that_loses_a_measured_case_is_refused(self, tree: Path) -> None:
        promote(source_of(tree))
        root = package_root(tree)
        write_pack(root, [case for case in pack(WORD) if case["id"] != f"{WORD}-clear-positive-1"])
        done = promote(source_of(tree))
        assert not done.changed
        assert done.report is not None
        assert done.report.blocking_failures == (f"case missing since the record: {WORD}-clear-positive-1",)

    def test_what_fails_half_way_leaves_nothing_behind(self, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        root = package_root(tree)
        before = contents(root)

        def broken(*_: object) -> None:
            raise OSError("disk full")

        monkeypatch.setattr(promotion, "write_record", broken)
        with pytest.raises(OSError, match="disk full"):
            promote(source_of(tree))
        assert contents(root) == before

    def test_what_does_not_pass_with_its_new_status_is_left_as_it_was(
        self, tree: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        root = package_root(tree)
        before = contents(root)
        true = promotion.check_subject

        def second_fails(*arguments: object, **options: object) -> object:
            run = true(*arguments, **options)  # type: ignore[arg-type]
            if options.get("depth") != "fast":
                return run
            return attrs.evolve(run, report=attrs.evolve(run.report, eligible_for_runtime_enabled=False))

        monkeypatch.setattr(promotion, "check_subject", second_fails)
        with pytest.raises(StateRefusedError) as refused:
            promote(source_of(tree))
        assert refused.value.code == "promotion_failed"
        assert contents(root) == before


class TestRevocation:
    def test_it_undoes_a_promotion(self, tree: Path) -> None:
        root = package_root(tree)
        before = contents(root)
        promote(source_of(tree))
        done = revoke(source_of(tree))
        assert done.changed
        assert done.activation_status == "eval_ready"
        assert contents(root) == before

    def test_there_may_be_nothing_to_undo(self, tree: Path) -> None:
        before = contents(package_root(tree))
        assert not revoke(source_of(tree)).changed
        assert contents(package_root(tree)) == before

    def test_a_record_that_was_left_behind_is_removed(self, tree: Path) -> None:
        root = package_root(tree)
        (root / RECORD_FILE).write_text(json.dumps({}), encoding="utf-8")
        assert revoke(source_of(tree)).files == (RECORD_FILE,)
        assert not (root / RECORD_FILE).exists()


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("a: 1\nactivation_status: eval_ready\nb: 2\n", "a: 1\nactivation_status: runtime_enabled\nb: 2\n"),
        ('activation_status:   "eval_ready"   # why\n', 'activation_status:   "runtime_enabled"   # why\n'),
        ("activation_status: 'eval_ready'\r\nb: 2\r\n", "activation_status: 'runtime_enabled'\r\nb: 2\r\n"),
        ("# status: x\nactivation_status: eval_ready", "# status: x\nactivation_status: runtime_enabled"),
    ],
)  # fmt: skip
def test_only_the_status_changes_in_a_contract(text: str, changed: str) -> None:
    assert with_status(text, "runtime_enabled") == changed


@pytest.mark.parametrize("text", ["", "{activation_status: eval_ready}", "activation_status:\n  eval_ready\n"])
def test_a_status_that_cannot_be_changed_in_place_is_refused(text: str) -> None:
    with pytest.raises(StateRefusedError) as refused:
        with_status(text, "runtime_enabled")
    assert refused.value.code == "status_not_editable"
