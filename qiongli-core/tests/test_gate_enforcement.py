"""At run time nobody switches a subject on by editing a file: every way of trying has its own reason."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest
from gate_cases import TOPICS, pack, write_pack, write_package

from qiongli.cache import read_cached, write_cached
from qiongli.cli import run
from qiongli.contract import load_contract
from qiongli.evaluation.catalogue import as_subject
from qiongli.evaluation.packs import Pack
from qiongli.gate import record as gate_record
from qiongli.gate import verification
from qiongli.gate.check import check_subject
from qiongli.gate.digest import content_digest
from qiongli.gate.promotion import make_record
from qiongli.gate.record import RECORD_FILE, verdict_key, write_record
from qiongli.gate.verification import GateVerifier
from qiongli.plugins import discover
from qiongli.plugins._distributions import searching
from qiongli.plugins.catalogue import Catalogue
from qiongli.plugins.policy import Policy
from qiongli.records.gate import ActivationRecord
from qiongli.records.project import ManifestState
from qiongli.runtime import build_runtime, infer_subject_refinement
from qiongli.testing import FakeDistributions

WORD, PEER = "zorblat", "quimbly"
TEXT = "We use the {0} specimen ledger for the {0} drift conjecture."


def install(site: FakeDistributions, word: str, *, distribution: str = "", **options: Any) -> Path:
    """Put an enabled subject, with the record that a promotion would have written, into a folder of distributions."""
    options.setdefault("status", "runtime_enabled")
    root = write_package(site.folder / f"fake_subject_{word}", word, **options)
    name = distribution or f"fake-subject-{word}"
    site.add(name, entry_points=f"[qiongli.subjects]\n{word} = fake_subject_{word}\n")
    record(root, name)
    return root


def record(root: Path, distribution: str) -> ActivationRecord:
    """Write the record of a package as it is, whether it deserves one or not."""
    subject = as_subject(load_contract(root), root, distribution=distribution, version="1.0")
    made = make_record(check_subject(subject, (), depth="fast"), root)
    write_record(root, made)
    return made


@pytest.fixture(scope="module")
def promoted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two promoted subjects."""
    folder = tmp_path_factory.mktemp("promoted") / "site"
    folder.mkdir()
    site = FakeDistributions(folder)
    for word in (WORD, PEER):
        install(site, word)
    return folder


@pytest.fixture
def site(promoted: Path, tmp_path: Path, isolated_qiongli: Path) -> FakeDistributions:
    """A copy of one's own, and caches of one's own."""
    return FakeDistributions(Path(shutil.copytree(promoted, tmp_path / "site")))


def seen(site: FakeDistributions, environment: Mapping[str, str] | None = None, **options: Any) -> Catalogue:
    return discover(
        environment=environment or {},
        paths=[str(site.folder)],
        verifier=options.pop("verifier", GateVerifier()),
        **options,
    )


def state(catalogue: Catalogue, word: str = WORD) -> tuple[str, list[str]]:
    row = next(row for row in catalogue.listings if row.subject == word)
    return row.state, [reason.code for reason in row.reasons]


def suggested(catalogue: Catalogue, word: str = WORD) -> tuple[str, str]:
    packet = infer_subject_refinement(
        TEXT.format(word), manifest_state=ManifestState(), runtime=build_runtime(catalogue)
    )
    return packet.decision, packet.primary_subject


def root_of(site: FakeDistributions, word: str = WORD) -> Path:
    return site.folder / f"fake_subject_{word}"


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text, old
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def rewrite(root: Path, **changes: Any) -> None:
    path = root / RECORD_FILE
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | changes), encoding="utf-8")


def test_a_promoted_subject_acts(site: FakeDistributions) -> None:
    catalogue = seen(site)
    assert state(catalogue) == ("active", [])
    assert suggested(catalogue) == ("suggest_subject", WORD)
    assert suggested(catalogue, PEER) == ("suggest_subject", PEER)


def _no_record(root: Path) -> None:
    (root / RECORD_FILE).unlink()


def _other_bytes(root: Path) -> None:
    """The record of an earlier version, of which hardly a file is left."""
    rewrite(root, content_digest="0" * 64, version="0.1", files=dict.fromkeys(("README.md", "old.yaml"), "0" * 64))


def _changed_signal(root: Path) -> None:
    edit(root / "runtime-subject.yaml", "weight: 0.20", "weight: 0.19")


def _changed_overlay(root: Path) -> None:
    edit(root / "overlays" / f"{WORD}.yaml", "Do it well.", "Do it wall.")


def _changed_fixture(root: Path) -> None:
    edit(root / "evaluation" / "clear_positive.jsonl", "with photographs", "with photograph5")


def _added_file(root: Path) -> None:
    (root / "notes.txt").write_text("hello", encoding="utf-8")


def _second_record(root: Path) -> None:
    """A file of the record's name elsewhere in the package is a file like any other."""
    (root / "evaluation" / RECORD_FILE).write_text("{}", encoding="utf-8")


def _forged(root: Path) -> None:
    """A hand-written record with the right digest over a pack whose fixtures fail."""
    cases = pack(WORD)
    for case, topic in zip([item for item in cases if item["category"] == "near_miss"], TOPICS, strict=False):
        case["task_packet"]["context"] = f"On {topic}: {TEXT.format(WORD)}"
        case["expected"] = {"decision": "core_only", "primary_subject": "auto"}
    write_pack(root, cases)
    rewrite(root, content_digest=content_digest(root), metrics={"primary_subject_accuracy": 1.0}, cases=[])


def _newer_rules(root: Path) -> None:
    rewrite(root, policy_version=2)


def _other_subject(root: Path) -> None:
    rewrite(root, subject=PEER)


def _peers_record(root: Path) -> None:
    shutil.copy(root.parent / f"fake_subject_{PEER}" / RECORD_FILE, root / RECORD_FILE)


def _other_distribution(root: Path) -> None:
    rewrite(root, distribution="somebody-else")


def _malformed(root: Path) -> None:
    (root / RECORD_FILE).write_text('{"subject": "zorblat"', encoding="utf-8")


def _wrong_types(root: Path) -> None:
    rewrite(root, policy_version="1")


def _pack_is_gone(root: Path) -> None:
    shutil.rmtree(root / "evaluation")
    rewrite(root, content_digest=content_digest(root), cases=[])


def _lost_case(root: Path) -> None:
    """A failing case is deleted, and the digest set right: the record still knows its name."""
    write_pack(root, [case for case in pack(WORD) if case["id"] != f"{WORD}-near-miss-1"])
    rewrite(root, content_digest=content_digest(root))


TAMPERINGS: Mapping[Callable[[Path], None], str] = {
    _no_record: "no_record",
    _other_bytes: "record_for_other_files",
    _changed_signal: "record_outdated",
    _changed_overlay: "record_outdated",
    _changed_fixture: "record_outdated",
    _added_file: "record_outdated",
    _second_record: "record_outdated",
    _forged: "record_does_not_hold",
    _newer_rules: "record_other_rules",
    _other_subject: "record_foreign",
    _peers_record: "record_foreign",
    _other_distribution: "record_foreign",
    _malformed: "record_malformed",
    _wrong_types: "record_malformed",
    _pack_is_gone: "evaluation_pack_missing",
    _lost_case: "record_does_not_hold",
}


@pytest.mark.parametrize(("tamper", "code"), TAMPERINGS.items(), ids=lambda value: getattr(value, "__name__", value))
class TestTampering:
    def test_the_subject_is_lowered_with_a_reason_of_its_own(
        self, site: FakeDistributions, tamper: Callable[[Path], None], code: str
    ) -> None:
        tamper(root_of(site))
        catalogue = seen(site)
        assert state(catalogue) == ("lens_only", [code])
        row = next(row for row in catalogue.listings if row.subject == WORD)
        assert all(reason.message and reason.hint for reason in row.reasons)

    def test_it_is_not_suggested_and_the_packet_says_why(
        self, site: FakeDistributions, tamper: Callable[[Path], None], code: str
    ) -> None:
        tamper(root_of(site))
        packet = infer_subject_refinement(TEXT.format(WORD), runtime=build_runtime(seen(site)))
        assert packet.decision == "no_subject"
        blocked = next(item for item in packet.blocked_candidates if item.subject == WORD)
        assert code in [reason.code for reason in blocked.reasons]

    def test_it_stays_lowered_when_it_was_verified_before(
        self, site: FakeDistributions, tamper: Callable[[Path], None], code: str
    ) -> None:
        assert state(seen(site)) == ("active", [])
        tamper(root_of(site))
        assert state(seen(site)) == ("lens_only", [code])
        assert state(seen(site)) == ("lens_only", [code])

    def test_the_others_stay(self, site: FakeDistributions, tamper: Callable[[Path], None], code: str) -> None:
        tamper(root_of(site))
        assert state(seen(site), PEER) == ("active", []), code


def test_the_command_line_and_doctor_say_the_same(site: FakeDistributions, capsys: pytest.CaptureFixture[str]) -> None:
    """On a first run, nothing kept: a forged record of one subject, a changed byte in the other."""
    _forged(root_of(site))
    edit(root_of(site, PEER) / "overlays" / f"{PEER}.yaml", "Do it well.", "Do it wall.")
    expected = {WORD: ["record_does_not_hold"], PEER: ["record_outdated"]}
    with searching([str(site.folder)]):
        for command in (["doctor", "--json"], ["subject", "list", "--json"]):
            run(command)
            rows = json.loads(capsys.readouterr().out)["subjects"]
            said = {row["subject"]: [reason["code"] for reason in row["reasons"]] for row in rows}
            assert said == expected, command
        assert run(["gate", "verify", WORD, PEER, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["holds"] is False
    assert f"overlays/{PEER}.yaml" in found["subjects"][0]["reasons"][0]["message"]


class TestKillSwitch:
    def test_it_lowers_every_subject_but_economics_and_finance(self, site: FakeDistributions) -> None:
        catalogue = seen(site, {"QIONGLI_SUBJECTS_DISABLED": "1"})
        assert state(catalogue) == ("lens_only", ["kill_switch"])
        assert suggested(catalogue)[0] == "no_subject"

    def test_it_takes_a_list(self, site: FakeDistributions) -> None:
        catalogue = seen(site, {"QIONGLI_SUBJECTS_DISABLED": PEER})
        assert state(catalogue) == ("active", [])
        assert state(catalogue, PEER) == ("lens_only", ["kill_switch"])

    def test_local_policy_can_do_the_same(self, site: FakeDistributions) -> None:
        assert state(seen(site, policy=Policy(candidate_only=True))) == ("lens_only", ["candidate_only"])

    def test_a_subject_that_was_switched_off_is_back_when_the_switch_is(self, site: FakeDistributions) -> None:
        seen(site, {"QIONGLI_SUBJECTS_DISABLED": "1"})
        assert state(seen(site)) == ("active", [])


class TestStatus:
    @pytest.mark.parametrize("status", ["candidate", "eval_ready"])
    def test_below_runtime_enabled_a_record_grants_nothing(
        self, tmp_path: Path, isolated_qiongli: Path, status: str
    ) -> None:
        folder = tmp_path / "other"
        folder.mkdir()
        site = FakeDistributions(folder)
        install(site, WORD, status=status)
        assert state(seen(site)) == ("lens_only", ["below_runtime_enabled"])


class TestCache:
    def kept(self, isolated_qiongli: Path) -> list[Path]:
        return sorted((isolated_qiongli / "cache").glob("verdict-*.json"))

    def test_a_verdict_is_kept_and_not_measured_again(self, site: FakeDistributions, isolated_qiongli: Path) -> None:
        first, second = GateVerifier(), GateVerifier()
        seen(site, verifier=first)
        assert sorted(first.reports) == [PEER, WORD]
        assert state(seen(site, verifier=second)) == ("active", [])
        assert second.reports == {}
        assert len(self.kept(isolated_qiongli)) == 2

    def test_a_refusal_is_kept_too(self, site: FakeDistributions) -> None:
        _forged(root_of(site))
        seen(site)
        again = GateVerifier()
        assert state(seen(site, verifier=again)) == ("lens_only", ["record_does_not_hold"])
        assert again.reports == {}

    @pytest.mark.parametrize("text", ["", "{", "[]", '{"holds": true}', "\x00", '{"form": 1, "key": 3, "holds": 1}'])
    def test_a_malformed_verdict_is_no_verdict(
        self, site: FakeDistributions, isolated_qiongli: Path, text: str
    ) -> None:
        """The refused subject stays refused and the good one is measured anew, whatever lies in the cache."""
        _forged(root_of(site))
        seen(site)
        for path in self.kept(isolated_qiongli):
            write_cached(path.name, text)
        catalogue = seen(site)
        assert state(catalogue) == ("lens_only", ["record_does_not_hold"])
        assert state(catalogue, PEER) == ("active", [])

    def test_a_malformed_cache_without_a_verifier_admits_nobody(
        self, site: FakeDistributions, isolated_qiongli: Path
    ) -> None:
        seen(site)
        for path in self.kept(isolated_qiongli):
            path.write_text("{", encoding="utf-8")
        assert state(seen(site, verifier=None)) == ("lens_only", ["unverified"])

    def test_the_verdict_of_another_subject_does_not_help(
        self, site: FakeDistributions, isolated_qiongli: Path
    ) -> None:
        _forged(root_of(site))
        seen(site)
        good, bad = sorted(
            self.kept(isolated_qiongli), key=lambda path: '"holds": true' not in path.read_text(encoding="utf-8")
        )
        write_cached(bad.name, read_cached(good.name) or "")
        assert state(seen(site)) == ("lens_only", ["record_does_not_hold"])

    def test_a_verifier_that_raises_admits_nobody_and_is_asked_again(self, site: FakeDistributions) -> None:
        def broken(request: object) -> Any:
            raise RuntimeError("no memory")

        assert state(seen(site, verifier=broken)) == ("lens_only", ["verification_failed"])
        assert state(seen(site)) == ("active", [])

    @pytest.mark.parametrize("part", ["core", "rules", "record", "content", "peers"])
    def test_a_verdict_is_kept_under_everything_that_it_rests_on(
        self, monkeypatch: pytest.MonkeyPatch, part: str
    ) -> None:
        parts: dict[str, Any] = {"record": "r", "content": "c", "peers": [("quimbly", "p")]}
        before = verdict_key(**parts)
        assert verdict_key(**parts) == before
        if part == "core":
            monkeypatch.setattr(gate_record, "core_digest", lambda: "other bytes")
        elif part == "rules":
            monkeypatch.setattr(gate_record, "POLICY_VERSION", 2)
        else:
            parts[part] = [("quimbly", "other")] if part == "peers" else "other"
        assert verdict_key(**parts) != before

    def test_what_could_not_be_checked_is_checked_again(
        self, site: FakeDistributions, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """For once the legacy pack cannot be read."""
        with monkeypatch.context() as patch:
            patch.setattr(verification, "load_legacy_pack", lambda: Pack("legacy"))
            assert state(seen(site)) == ("lens_only", ["record_does_not_hold"])
        assert state(seen(site)) == ("active", [])


class TestDeferred:
    def test_until_it_is_verified_a_subject_only_lends_lenses(self, site: FakeDistributions) -> None:
        waiting = GateVerifier(deferred=True)
        assert state(seen(site, verifier=waiting)) == ("lens_only", ["verifying"])
        assert sorted(waiting.waiting) == [PEER, WORD]
        assert state(seen(site)) == ("active", [])

    def test_a_verified_subject_needs_no_waiting(self, site: FakeDistributions) -> None:
        seen(site)
        assert state(seen(site, verifier=GateVerifier(deferred=True))) == ("active", [])


class TestAdmission:
    def greedy(self, site: FakeDistributions, distribution: str) -> Path:
        """A subject that passes alone and takes over its neighbour's terms."""
        terms = ("specimen ledger", "drift conjecture")
        changes = {f"patterns: [fendrax {term}]": f"patterns: [fendrax {term}, {WORD} {term}]" for term in terms}
        return install(site, "fendrax", distribution=distribution, changes=changes)

    def test_a_newcomer_that_takes_over_anothers_cases_is_blocked_and_the_others_stay(
        self, site: FakeDistributions
    ) -> None:
        self.greedy(site, "zz-last")
        catalogue = seen(site)
        assert state(catalogue, "fendrax") == ("lens_only", ["record_does_not_hold"])
        assert state(catalogue) == ("active", [])
        assert state(catalogue, PEER) == ("active", [])
        assert suggested(catalogue) == ("suggest_subject", WORD)
        row = next(row for row in catalogue.listings if row.subject == "fendrax")
        assert f"{WORD}/{WORD}-" in row.reasons[0].message

    def test_who_is_admitted_first_stays(self, site: FakeDistributions) -> None:
        """By distribution name the greedy one comes first: now the others are measured beside it, and one fails."""
        self.greedy(site, "aa-first")
        catalogue = seen(site)
        assert state(catalogue, "fendrax") == ("active", [])
        assert state(catalogue) == ("lens_only", ["record_does_not_hold"])
        assert state(catalogue, PEER) == ("active", [])

    def test_who_does_not_act_takes_nothing_from_anybody(self, site: FakeDistributions) -> None:
        """The greedy one comes first, and has no record: it is no peer."""
        (self.greedy(site, "aa-first") / RECORD_FILE).unlink()
        catalogue = seen(site)
        assert state(catalogue, "fendrax") == ("lens_only", ["no_record"])
        assert state(catalogue) == ("active", [])

    def test_another_set_of_peers_is_another_verdict(self, site: FakeDistributions) -> None:
        assert state(seen(site)) == ("active", [])
        self.greedy(site, "aa-first")
        assert state(seen(site))[0] == "lens_only"
        shutil.rmtree(site.folder / "fake_subject_fendrax")
        shutil.rmtree(next(site.folder.glob("aa_first-*")))
        assert state(seen(site)) == ("active", [])


def test_seven_subjects_are_verified_at_first_sight_within_two_seconds(tmp_path: Path, isolated_qiongli: Path) -> None:
    from time import process_time

    folder = tmp_path / "seven"
    folder.mkdir()
    site = FakeDistributions(folder)
    words = ["zorblat", "quimbly", "fendrax", "morvine", "taskrell", "uplonda", "wexgrim"]
    for word in words:
        install(site, word)
    said: list[str] = []
    started = process_time()
    catalogue = seen(site, verifier=GateVerifier(announce=said.append))
    seconds = process_time() - started
    assert [state(catalogue, word)[0] for word in words] == ["active"] * 7
    assert len(said) == 1
    # Twice the promise, in seconds of this process alone: a busy machine is no fault of the gate.
    assert seconds < 4


def test_a_forged_record_is_not_believed_even_for_one_field(site: FakeDistributions) -> None:
    """Metrics in a record are never read at run time: impossible ones change nothing for a subject that passes."""
    rewrite(root_of(site), metrics={"primary_subject_accuracy": -5})
    assert state(seen(site)) == ("active", [])


def test_the_exemption_from_two_dimensions_must_be_proved(site: FakeDistributions) -> None:
    catalogue = seen(site)
    assert all(not subject.single_dimension_proved for subject in catalogue.subjects)
    claimed = attrs.evolve(catalogue.subjects[0].contract.activation_gate, single_dimension=True)
    assert claimed.single_dimension
