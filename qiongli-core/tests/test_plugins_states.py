"""The states of subjects: every step that lowers one leaves a reason, whatever is malformed lowers and never raises."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import InvalidSpecifier, SpecifierSet

from qiongli.cache import read_cached, write_cached
from qiongli.gate.digest import content_digest
from qiongli.gate.record import POLICY_VERSION, StoredRecord, Verdict, read_record, remove_record, write_record
from qiongli.plugins import Catalogue, CatalogueSubject
from qiongli.plugins.catalogue import CORE_SUBJECTS, VerificationRequest
from qiongli.plugins.policy import Policy, load_policy, policy_path, save_policy
from qiongli.plugins.states import STATE_REASONS, specifier_admits
from qiongli.records.gate import ActivationRecord
from qiongli.records.subjects import SUBJECT_STATES, Reason
from qiongli.testing import FakeDistributions


def found(catalogue: Catalogue, slug: str) -> CatalogueSubject:
    """The subject, which must be readable."""
    subject = catalogue.get(slug)
    assert subject is not None
    return subject


def state(catalogue: Catalogue, slug: str) -> tuple[str, list[str]]:
    """State and codes of the reasons."""
    listing = found(catalogue, slug).listing
    return listing.state, [reason.code for reason in listing.reasons]


def record_for(root: Path, slug: str, owner: str, **changes: Any) -> ActivationRecord:
    """A record that fits the package as it lies there."""
    record: ActivationRecord = ActivationRecord(
        subject=slug,
        distribution=owner,
        version="1.0",
        content_digest=content_digest(root),
        core_version="0.1.0",
        policy_version=POLICY_VERSION,
        metrics={},
        thresholds={},
        counts={},
        peers={},
        cases=(),
    )
    return attrs.evolve(record, **changes)


def enabled(fake: FakeDistributions, slug: str, *, record: bool = True) -> Path:
    """Add a subject that declares itself enabled, with a record that fits."""
    root = fake.add_subject(slug, status="runtime_enabled")
    if record:
        write_record(root, record_for(root, slug, f"fake-subject-{slug}"))
    return root


def core(fake: FakeDistributions) -> None:
    """Add stand-ins for core's own two subjects, in their own distributions, which act."""
    for slug, distribution in CORE_SUBJECTS.items():
        fake.add_subject(slug, status="runtime_enabled", distribution=distribution)
    fake.admit(*CORE_SUBJECTS)


class Verifier:
    """Answers as it is told, and remembers what it was asked."""

    def __init__(self, answer: object = None) -> None:
        self.answer = Verdict(True) if answer is None else answer
        self.asked: list[VerificationRequest] = []

    def __call__(self, request: VerificationRequest) -> Verdict:
        self.asked.append(request)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer  # type: ignore[return-value]  # wrong answers are what some tests are about


class TestDeclaredStatus:
    @pytest.mark.parametrize(
        ("declared", "expected", "codes"),
        [
            ("candidate", "lens_only", ["below_runtime_enabled"]),
            ("eval_ready", "lens_only", ["below_runtime_enabled"]),
            ("disabled", "inactive", ["declared_disabled"]),
            ("runtime_enabled", "lens_only", ["no_record"]),
        ],
    )
    def test_a_status_alone_never_activates(
        self, fake_distributions: FakeDistributions, declared: str, expected: str, codes: list[str]
    ) -> None:
        fake_distributions.add_subject("law", status=declared)
        assert state(fake_distributions.discover(), "law") == (expected, codes)

    def test_every_reason_carries_the_next_step(self, fake_distributions: FakeDistributions) -> None:
        fake_distributions.add_subject("law")
        (reason,) = found(fake_distributions.discover(), "law").listing.reasons
        assert reason == Reason(
            "below_runtime_enabled", "its contract declares it candidate", "Run: qiongli gate check law"
        )

    def test_documented_reasons_lower_to_states_that_exist(self) -> None:
        assert {lowered for lowered, _ in STATE_REASONS.values()} == set(SUBJECT_STATES) - {"active"}


class TestActivationRecord:
    def test_a_record_that_a_verifier_confirms_activates(self, fake_distributions: FakeDistributions) -> None:
        root = enabled(fake_distributions, "law")
        verifier = Verifier()
        assert state(fake_distributions.discover(verifier=verifier), "law") == ("active", [])
        (request,) = verifier.asked
        assert request.candidate.contract.subject == "law"
        assert request.candidate.listing.state == "lens_only"
        assert request.content_digest == content_digest(root)
        assert request.record.record.subject == "law"

    def test_without_a_verifier_an_unseen_record_is_unverified(self, fake_distributions: FakeDistributions) -> None:
        enabled(fake_distributions, "law")
        assert state(fake_distributions.discover(), "law") == ("lens_only", ["unverified"])

    def test_a_verdict_is_kept_and_the_verifier_is_asked_once(self, fake_distributions: FakeDistributions) -> None:
        enabled(fake_distributions, "law")
        verifier = Verifier()
        for _ in range(3):
            assert state(fake_distributions.discover(verifier=verifier), "law")[0] == "active"
        assert state(fake_distributions.discover(), "law")[0] == "active"
        assert len(verifier.asked) == 1

    def test_a_refusal_is_kept_with_its_reason(self, fake_distributions: FakeDistributions) -> None:
        enabled(fake_distributions, "law")
        reason = Reason("record_does_not_hold", "accuracy 0.4", "Run: qiongli gate explain law")
        fake_distributions.discover(verifier=Verifier(Verdict(False, reason)))
        assert found(fake_distributions.discover(), "law").listing.reasons == (reason,)

    def test_a_passing_answer_such_as_verifying_is_not_kept(self, fake_distributions: FakeDistributions) -> None:
        enabled(fake_distributions, "law")
        waiting = Verdict(False, Reason("verifying", "wait"), lasting=False)
        assert state(fake_distributions.discover(verifier=Verifier(waiting)), "law") == ("lens_only", ["verifying"])
        assert state(fake_distributions.discover(verifier=Verifier()), "law") == ("active", [])

    @pytest.mark.parametrize("answer", [RuntimeError("no"), "yes", 1, Verdict("yes")], ids=str)  # type: ignore[arg-type]
    def test_only_an_explicit_yes_activates(self, fake_distributions: FakeDistributions, answer: object) -> None:
        enabled(fake_distributions, "law")
        lowered, codes = state(fake_distributions.discover(verifier=Verifier(answer)), "law")
        assert lowered == "lens_only"
        assert codes[0] in ("verification_failed", "record_does_not_hold")

    def test_any_changed_byte_of_the_package_lowers_it(self, fake_distributions: FakeDistributions) -> None:
        root = enabled(fake_distributions, "law")
        fake_distributions.discover(verifier=Verifier())
        overlay = root / "overlays" / "law.yaml"
        overlay.write_text(overlay.read_text(encoding="utf-8") + "# a comment\n", encoding="utf-8")
        verifier = Verifier()
        assert state(fake_distributions.discover(verifier=verifier), "law") == ("lens_only", ["record_outdated"])
        assert verifier.asked == []

    def test_an_added_file_lowers_it_and_bytecode_does_not(self, fake_distributions: FakeDistributions) -> None:
        root = enabled(fake_distributions, "law")
        (root / "__pycache__").mkdir()
        (root / "__pycache__" / "x.cpython-311.pyc").write_bytes(b"x")
        (root / "old.pyc").write_bytes(b"x")
        assert state(fake_distributions.discover(verifier=Verifier()), "law")[0] == "active"
        (root / "new.txt").write_text("x", encoding="utf-8")
        assert state(fake_distributions.discover(verifier=Verifier()), "law")[0] == "lens_only"

    def test_another_record_for_the_same_files_is_verified_anew(self, fake_distributions: FakeDistributions) -> None:
        root = enabled(fake_distributions, "law")
        verifier = Verifier()
        fake_distributions.discover(verifier=verifier)
        write_record(root, record_for(root, "law", "fake-subject-law", metrics={"forged": 1.0}))
        fake_distributions.discover(verifier=verifier)
        assert len(verifier.asked) == 2

    def test_a_change_of_an_admitted_peer_is_a_new_question(self, fake_distributions: FakeDistributions) -> None:
        first, _ = enabled(fake_distributions, "alpha"), enabled(fake_distributions, "beta")
        verifier = Verifier()
        fake_distributions.discover(verifier=verifier)
        (first / "extra.md").write_text("x", encoding="utf-8")
        write_record(first, record_for(first, "alpha", "fake-subject-alpha"))
        fake_distributions.discover(verifier=verifier)
        assert [request.candidate.contract.subject for request in verifier.asked] == ["alpha", "beta"] * 2

    @pytest.mark.parametrize(
        ("changes", "code"),
        [
            ({"subject": "economics"}, "record_foreign"),
            ({"distribution": "somebody-else"}, "record_foreign"),
            ({"policy_version": POLICY_VERSION + 1}, "record_other_rules"),
            ({"content_digest": "0" * 64}, "record_outdated"),
        ],
    )
    def test_a_record_that_does_not_fit_is_not_even_verified(
        self, fake_distributions: FakeDistributions, changes: dict[str, object], code: str
    ) -> None:
        root = enabled(fake_distributions, "law", record=False)
        write_record(root, record_for(root, "law", "fake-subject-law", **changes))
        verifier = Verifier()
        assert state(fake_distributions.discover(verifier=verifier), "law") == ("lens_only", [code])
        assert verifier.asked == []

    @pytest.mark.parametrize(
        "text",
        ["", "{", "[]", "null", '{"schema_version": "1.0"}', '{"schema_version": "9.0"}', "\ud800", "[" * 100_000],
        ids=["empty", "cut", "list", "null", "incomplete", "newer", "surrogate", "deep"],
    )
    def test_a_malformed_record_lowers(self, fake_distributions: FakeDistributions, text: str) -> None:
        root = enabled(fake_distributions, "law", record=False)
        (root / "activation.json").write_bytes(text.encode("utf-8", "surrogatepass"))
        assert state(fake_distributions.discover(verifier=Verifier()), "law") == ("lens_only", ["record_malformed"])

    @pytest.mark.parametrize("field", [field.name for field in attrs.fields(ActivationRecord) if field.name != "files"])
    @pytest.mark.parametrize("value", [None, True, [[]], {"a": None}], ids=str)
    def test_a_field_of_a_wrong_type_makes_the_record_malformed(
        self, fake_distributions: FakeDistributions, field: str, value: object
    ) -> None:
        if field in ("metrics", "thresholds") and isinstance(value, dict):
            return
        root = enabled(fake_distributions, "law")
        path = root / "activation.json"
        document = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps({**document, field: value}), encoding="utf-8")
        assert state(fake_distributions.discover(verifier=Verifier()), "law") == ("lens_only", ["record_malformed"])

    def test_a_record_that_is_a_link_out_of_the_package_is_malformed(
        self, fake_distributions: FakeDistributions, tmp_path: Path
    ) -> None:
        root = enabled(fake_distributions, "law")
        (root / "activation.json").rename(tmp_path / "outside.json")
        (root / "activation.json").symlink_to(tmp_path / "outside.json")
        assert state(fake_distributions.discover(verifier=Verifier()), "law") == ("lens_only", ["record_malformed"])

    def test_what_is_written_is_read_back_and_removed(self, tmp_path: Path) -> None:
        record = record_for(
            tmp_path, "law", "fake", metrics={"a": 0.5}, counts={"b": 1}, peers={"c": "d"}, cases=("e",)
        )
        write_record(tmp_path, record)
        stored = read_record(tmp_path)
        assert isinstance(stored, StoredRecord)
        assert stored.record == record
        assert [path.name for path in tmp_path.iterdir()] == ["activation.json"]
        assert remove_record(tmp_path)
        assert read_record(tmp_path) is None
        assert not remove_record(tmp_path)

    def test_an_exemption_counts_only_when_it_was_proved(self, fake_distributions: FakeDistributions) -> None:
        enabled(fake_distributions, "law")
        assert not found(fake_distributions.discover(verifier=Verifier()), "law").single_dimension_proved
        fake_distributions.add_subject("medicine", status="runtime_enabled")
        root = enabled(fake_distributions, "trade")
        assert root
        proved = Verdict(True, single_dimension_proved=True)
        catalogue = fake_distributions.discover(verifier=Verifier(proved))
        assert found(catalogue, "trade").single_dimension_proved
        assert not found(catalogue, "medicine").single_dimension_proved

    @pytest.mark.parametrize(
        "damage", ["", "{}", '{"form": 1, "holds": true}', "\x00"], ids=["empty", "object", "part", "nul"]
    )
    def test_a_damaged_kept_verdict_is_no_verdict(
        self, fake_distributions: FakeDistributions, isolated_qiongli: Path, damage: str
    ) -> None:
        enabled(fake_distributions, "law")
        fake_distributions.discover(verifier=Verifier())
        (kept,) = (isolated_qiongli / "cache").glob("verdict-*")
        write_cached(kept.name, damage)
        assert state(fake_distributions.discover(), "law") == ("lens_only", ["unverified"])

    def test_a_kept_verdict_under_another_name_is_no_verdict(
        self, fake_distributions: FakeDistributions, isolated_qiongli: Path
    ) -> None:
        root = enabled(fake_distributions, "law")
        fake_distributions.discover(verifier=Verifier())
        (kept,) = (isolated_qiongli / "cache").glob("verdict-*")
        text = read_cached(kept.name) or ""
        write_record(root, record_for(root, "law", "fake-subject-law", metrics={"forged": 1.0}))
        fake_distributions.discover(verifier=Verifier(Verdict(False)))
        (other,) = set((isolated_qiongli / "cache").glob("verdict-*")) - {kept}
        write_cached(other.name, text)
        assert state(fake_distributions.discover(), "law") == ("lens_only", ["unverified"])

    def test_a_cache_that_cannot_be_written_changes_no_state(
        self, fake_distributions: FakeDistributions, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        enabled(fake_distributions, "law")
        (tmp_path / "file").write_text("", encoding="utf-8")
        monkeypatch.setenv("QIONGLI_CACHE_DIR", str(tmp_path / "file"))
        verifier = Verifier()
        for _ in range(2):
            assert state(fake_distributions.discover(verifier=verifier), "law") == ("active", [])
        assert len(verifier.asked) == 2


class TestCoresOwnSubjects:
    @pytest.mark.parametrize("slug", CORE_SUBJECTS)
    def test_they_need_a_record_like_any_other(self, fake_distributions: FakeDistributions, slug: str) -> None:
        fake_distributions.add_subject(slug, status="runtime_enabled", distribution=CORE_SUBJECTS[slug])
        assert state(fake_distributions.discover(verifier=Verifier()), slug) == ("lens_only", ["no_record"])

    def test_a_record_of_theirs_must_hold_like_any_other(self, fake_distributions: FakeDistributions) -> None:
        core(fake_distributions)
        root = fake_distributions.folder / "fake_subject_finance"
        write_record(root, record_for(root, "finance", "qiongli-subject-finance", content_digest="0" * 64))
        assert state(fake_distributions.discover(verifier=Verifier()), "finance") == ("lens_only", ["record_outdated"])


class TestResources:
    @pytest.mark.parametrize("path", ["overlays/economics.yaml", "skills/economics/SKILL.md"])
    def test_a_missing_required_resource_keeps_it_below_active(
        self, fake_distributions: FakeDistributions, path: str
    ) -> None:
        core(fake_distributions)
        (fake_distributions.folder / "fake_subject_economics" / path).unlink()
        fake_distributions.admit(*CORE_SUBJECTS)
        assert state(fake_distributions.discover(), "economics") == ("lens_only", ["resource_missing"])

    def test_a_missing_pack_disables_its_lens_and_nothing_else(self, fake_distributions: FakeDistributions) -> None:
        core(fake_distributions)
        (fake_distributions.folder / "fake_subject_economics" / "method-packs" / "example.yaml").unlink()
        fake_distributions.admit(*CORE_SUBJECTS)
        catalogue = fake_distributions.discover()
        assert state(catalogue, "economics") == ("active", [])
        assert found(catalogue, "economics").available_lenses == frozenset()
        assert found(catalogue, "finance").available_lenses == {"example"}


class TestSwitches:
    @pytest.mark.parametrize("value", ["1", "true", "all", " YES "])
    def test_the_kill_switch_lowers_all_but_economics_and_finance(
        self, fake_distributions: FakeDistributions, value: str
    ) -> None:
        core(fake_distributions)
        enabled(fake_distributions, "law")
        catalogue = fake_distributions.discover(environment={"QIONGLI_SUBJECTS_DISABLED": value}, verifier=Verifier())
        assert [state(catalogue, slug)[0] for slug in ("economics", "finance")] == ["active", "active"]
        assert state(catalogue, "law") == ("lens_only", ["kill_switch"])

    @pytest.mark.parametrize("value", ["", "0", "no", "off"])
    def test_the_kill_switch_can_be_off(self, fake_distributions: FakeDistributions, value: str) -> None:
        enabled(fake_distributions, "law")
        catalogue = fake_distributions.discover(environment={"QIONGLI_SUBJECTS_DISABLED": value}, verifier=Verifier())
        assert state(catalogue, "law") == ("active", [])

    def test_a_list_lowers_whom_it_names_and_unknown_names_are_answered(
        self, fake_distributions: FakeDistributions
    ) -> None:
        core(fake_distributions)
        enabled(fake_distributions, "law")
        environment = {"QIONGLI_SUBJECTS_DISABLED": "finance, lwa"}
        catalogue = fake_distributions.discover(environment=environment, verifier=Verifier())
        assert state(catalogue, "finance") == ("lens_only", ["kill_switch"])
        assert state(catalogue, "law")[0] == "active"
        assert catalogue.warnings == (
            "QIONGLI_SUBJECTS_DISABLED names 'lwa', which is not installed; did you mean law?",
        )

    def test_a_lowered_subject_is_not_measured(self, fake_distributions: FakeDistributions) -> None:
        enabled(fake_distributions, "law")
        verifier = Verifier()
        fake_distributions.discover(environment={"QIONGLI_SUBJECTS_DISABLED": "1"}, verifier=verifier)
        assert verifier.asked == []

    @pytest.mark.parametrize("value", ["none", "", "fake-subject-medicine"])
    def test_the_allow_list_leaves_others_out_but_not_core_s_own(
        self, fake_distributions: FakeDistributions, value: str
    ) -> None:
        core(fake_distributions)
        enabled(fake_distributions, "law")
        catalogue = fake_distributions.discover(environment={"QIONGLI_PLUGINS": value}, verifier=Verifier())
        assert [state(catalogue, slug)[0] for slug in ("economics", "finance")] == ["active", "active"]
        assert state(catalogue, "law") == ("inactive", ["not_listed"])

    @pytest.mark.parametrize("value", ["fake-subject-law", "Fake_Subject.LAW other", "law"])
    def test_the_allow_list_takes_any_spelling_and_the_slug(
        self, fake_distributions: FakeDistributions, value: str
    ) -> None:
        enabled(fake_distributions, "law")
        catalogue = fake_distributions.discover(environment={"QIONGLI_PLUGINS": value}, verifier=Verifier())
        assert state(catalogue, "law") == ("active", [])

    def test_an_unknown_name_in_the_allow_list_is_answered_with_near_ones(
        self, fake_distributions: FakeDistributions
    ) -> None:
        enabled(fake_distributions, "law")
        catalogue = fake_distributions.discover(environment={"QIONGLI_PLUGINS": "fake-subject-lwa"})
        (warning,) = catalogue.warnings
        assert warning == (
            "QIONGLI_PLUGINS lists 'fake-subject-lwa', which is not installed; did you mean fake-subject-law?"
        )


class TestLocalPolicy:
    def test_a_blocked_distribution_is_inactive(self, fake_distributions: FakeDistributions) -> None:
        core(fake_distributions)
        policy = Policy(blocked=frozenset({"qiongli-subject-finance"}))
        catalogue = fake_distributions.discover(policy=policy)
        assert state(catalogue, "finance") == ("inactive", ["blocked"])
        assert state(catalogue, "economics") == ("active", [])

    def test_candidate_only_lowers_all_but_economics_and_finance(self, fake_distributions: FakeDistributions) -> None:
        core(fake_distributions)
        enabled(fake_distributions, "law")
        catalogue = fake_distributions.discover(policy=Policy(candidate_only=True), verifier=Verifier())
        assert [state(catalogue, slug)[0] for slug in ("economics", "finance")] == ["active", "active"]
        assert state(catalogue, "law") == ("lens_only", ["candidate_only"])

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "{",
            "[]",
            '{"blcked": ["x"]}',
            '{"blocked": "x"}',
            '{"blocked": [1]}',
            '{"pinned": ["x"]}',
            '{"pinned": {"x": 1}}',
            '{"candidate_only": "yes"}',
            '{"blocked": [], "blocked": []}',
            '{"schema_version": "2.0"}',
            "[" * 100_000,
            "\ud800",
        ],
        ids=lambda text: text[:24].encode("unicode_escape").decode(),
    )
    def test_a_malformed_policy_lets_nobody_take_part_and_says_so(
        self, fake_distributions: FakeDistributions, text: str
    ) -> None:
        core(fake_distributions)
        policy_path().parent.mkdir(parents=True)
        policy_path().write_bytes(text.encode("utf-8", "surrogatepass"))
        catalogue = fake_distributions.discover()
        assert state(catalogue, "economics") == ("inactive", ["policy_unreadable"])
        (warning,) = catalogue.warnings
        assert str(policy_path()) in warning

    def test_a_policy_that_is_a_folder_lets_nobody_take_part(self, fake_distributions: FakeDistributions) -> None:
        core(fake_distributions)
        policy_path().mkdir(parents=True)
        assert state(fake_distributions.discover(), "economics")[0] == "inactive"

    def test_what_is_saved_is_loaded(self, isolated_qiongli: Path) -> None:
        policy = Policy(frozenset({"a"}), frozenset({"b"}), {"law": "a"}, candidate_only=True)
        path = save_policy(policy)
        assert load_policy() == policy
        assert path.is_relative_to(isolated_qiongli)
        assert list(path.parent.iterdir()) == [path]

    def test_no_file_is_an_empty_policy(self, isolated_qiongli: Path) -> None:
        assert load_policy() == Policy()
        assert isolated_qiongli


class TestAdmission:
    def test_order_is_economics_finance_pinned_then_by_distribution(
        self, fake_distributions: FakeDistributions
    ) -> None:
        for slug, distribution in {"zoology": "a-dist", "law": "b-dist", "botany": "z-dist"}.items():
            fake_distributions.add_subject(slug, distribution=distribution)
        core(fake_distributions)
        catalogue = fake_distributions.discover(policy=Policy(pinned={"botany": "z-dist"}))
        assert [subject.contract.subject for subject in catalogue.subjects] == [
            "economics",
            "finance",
            "botany",
            "zoology",
            "law",
        ]
        assert [subject.priority for subject in catalogue.subjects] == [0, 1, 2, 3, 4]

    def test_a_verifier_sees_those_admitted_before_in_their_states(self, fake_distributions: FakeDistributions) -> None:
        core(fake_distributions)
        fake_distributions.add_subject("art")
        enabled(fake_distributions, "law")
        verifier = Verifier()
        fake_distributions.discover(verifier=verifier)
        (request,) = verifier.asked
        assert [(item.contract.subject, item.listing.state) for item in request.admitted] == [
            ("economics", "active"),
            ("finance", "active"),
            ("art", "lens_only"),
        ]

    def test_the_newcomer_is_lowered_and_the_others_stay(self, fake_distributions: FakeDistributions) -> None:
        enabled(fake_distributions, "alpha")
        enabled(fake_distributions, "beta")

        def admits_one(request: VerificationRequest) -> Verdict:
            return Verdict(not any(item.listing.state == "active" for item in request.admitted))

        catalogue = fake_distributions.discover(verifier=admits_one)
        assert state(catalogue, "alpha") == ("active", [])
        assert state(catalogue, "beta") == ("lens_only", ["record_does_not_hold"])


class TestContractCache:
    def test_a_contract_seen_before_is_read_without_yaml(
        self, fake_distributions: FakeDistributions, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fake_distributions.add_subject("law")
        first = fake_distributions.discover()
        import qiongli.contract.loader

        def fail(path: Path) -> None:
            raise AssertionError(path)

        monkeypatch.setattr(qiongli.contract.loader, "load_contract", fail)
        again = fake_distributions.discover()
        assert again.listings == first.listings
        assert found(again, "law").contract == found(first, "law").contract

    @pytest.mark.parametrize(
        "damage", [b"", b"{}", b"\xff\xfe", b"[" * 50_000], ids=["empty", "object", "bytes", "deep"]
    )
    def test_a_damaged_cache_is_ignored(
        self, fake_distributions: FakeDistributions, isolated_qiongli: Path, damage: bytes
    ) -> None:
        fake_distributions.add_subject("law")
        first = fake_distributions.discover()
        (kept,) = (isolated_qiongli / "cache").glob("contract-*")
        kept.write_bytes(damage)
        assert fake_distributions.discover().listings == first.listings
        write_cached(kept.name, damage.decode("utf-8", "replace"))
        assert fake_distributions.discover().listings == first.listings

    def test_a_cached_contract_of_other_bytes_is_ignored(
        self, fake_distributions: FakeDistributions, isolated_qiongli: Path
    ) -> None:
        fake_distributions.add_subject("law")
        fake_distributions.discover()
        (kept,) = (isolated_qiongli / "cache").glob("contract-*")
        fake_distributions.add_subject("art")
        fake_distributions.discover()
        (other,) = set((isolated_qiongli / "cache").glob("contract-*")) - {kept}
        write_cached(other.name, read_cached(kept.name) or "")
        assert {item.subject for item in fake_distributions.discover().listings} == {"art", "law"}

    def test_a_malformed_contract_is_not_cached(
        self, fake_distributions: FakeDistributions, isolated_qiongli: Path
    ) -> None:
        fake_distributions.add_subject("law", "subject: law\n")
        for _ in range(2):
            assert [item.state for item in fake_distributions.discover().listings] == ["invalid"]
        assert not list((isolated_qiongli / "cache").glob("contract-*"))


class TestContentDigest:
    def test_it_is_the_digest_of_the_sorted_list(self, tmp_path: Path) -> None:
        from hashlib import sha256

        (tmp_path / "b").mkdir()
        (tmp_path / "b" / "x.txt").write_text("one", encoding="utf-8")
        (tmp_path / "a.txt").write_text("two", encoding="utf-8")
        (tmp_path / "activation.json").write_text("{}", encoding="utf-8")
        lines = [(sha256(b"two").hexdigest(), "a.txt"), (sha256(b"one").hexdigest(), "b/x.txt")]
        expected = sha256("".join(f"{digest}  {name}\n" for digest, name in lines).encode()).hexdigest()
        assert content_digest(tmp_path) == expected
        assert content_digest(tmp_path, remembered=True) == expected

    @pytest.fixture
    def settled(self, tmp_path: Path, isolated_qiongli: Path) -> Path:
        """A package whose digest is remembered, written long enough after its files."""
        root = tmp_path / "package"
        root.mkdir()
        (root / "a.txt").write_text("one", encoding="utf-8")
        content_digest(root, remembered=True)
        (kept,) = (isolated_qiongli / "cache").glob("digest-*")
        later = kept.stat().st_mtime_ns + 10_000_000_000
        os.utime(kept, ns=(later, later))
        return root

    def test_a_remembered_digest_is_used_while_nothing_changed(self, settled: Path, isolated_qiongli: Path) -> None:
        (kept,) = (isolated_qiongli / "cache").glob("digest-*")
        document = json.loads(read_cached(kept.name) or "")
        times = kept.stat()
        write_cached(kept.name, json.dumps({**document, "digest": "f" * 64}))
        os.utime(kept, ns=(times.st_atime_ns, times.st_mtime_ns))
        assert content_digest(settled, remembered=True) == "f" * 64
        assert content_digest(settled) != "f" * 64

    def test_a_change_with_the_old_size_and_time_set_back_is_noticed(self, settled: Path) -> None:
        file = settled / "a.txt"
        before = content_digest(settled, remembered=True)
        times = file.stat()
        file.write_text("two", encoding="utf-8")
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
        assert content_digest(settled, remembered=True) == content_digest(settled) != before

    @pytest.mark.parametrize("damage", ["", "[]", "{}", '{"form": 1}'], ids=["empty", "list", "object", "part"])
    def test_a_damaged_memory_is_ignored(self, settled: Path, isolated_qiongli: Path, damage: str) -> None:
        (kept,) = (isolated_qiongli / "cache").glob("digest-*")
        write_cached(kept.name, damage)
        assert content_digest(settled, remembered=True) == content_digest(settled)

    def test_a_digest_taken_while_files_were_fresh_is_not_trusted(self, tmp_path: Path, isolated_qiongli: Path) -> None:
        (tmp_path / "p").mkdir()
        (tmp_path / "p" / "a.txt").write_text("one", encoding="utf-8")
        digest = content_digest(tmp_path / "p", remembered=True)
        (kept,) = (isolated_qiongli / "cache").glob("digest-*")
        write_cached(kept.name, (read_cached(kept.name) or "").replace(digest, "f" * 64))
        assert content_digest(tmp_path / "p", remembered=True) == digest


_NUMBERS = st.lists(st.integers(0, 12), min_size=1, max_size=4).map(lambda parts: ".".join(map(str, parts)))
_CLAUSES = st.tuples(st.sampled_from([">=", "<=", "==", "!=", ">", "<"]), _NUMBERS).map("".join)


class TestVersionRequirement:
    @given(st.lists(_CLAUSES, min_size=1, max_size=3).map(", ".join), _NUMBERS)
    def test_the_short_way_agrees_with_the_library_property(self, specifier: str, version: str) -> None:
        assert specifier_admits(specifier, version) is SpecifierSet(specifier).contains(version, prereleases=True)

    @given(st.text(alphabet="<>=!~ ,.0123456789abrcdevpost*+-", max_size=16), _NUMBERS)
    def test_any_text_is_answered_as_the_library_answers_it_property(self, specifier: str, version: str) -> None:
        try:
            expected: bool | None = SpecifierSet(specifier).contains(version, prereleases=True)
        except InvalidSpecifier:
            expected = None
        assert specifier_admits(specifier, version) is expected

    @pytest.mark.parametrize(
        ("version", "admitted"), [("1.1", False), ("1.2", True), ("1.9", True), ("2.0", False), ("2.0.dev1", False)]
    )
    def test_both_bounds_are_evaluated(self, version: str, admitted: bool) -> None:
        assert specifier_admits(">=1.2,<2", version) is admitted
        assert specifier_admits("~=1.2", version) is admitted

    def test_every_core_is_judged_by_its_own_version(
        self, fake_distributions: FakeDistributions, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import qiongli._version

        fake_distributions.add_subject("law")
        fake_distributions.discover()
        monkeypatch.setattr(qiongli._version, "VERSION", "1.0.0")
        (listing,) = fake_distributions.discover().listings
        assert (listing.state, listing.reasons[0].code) == ("invalid", "core_excluded")
        assert "this is 1.0.0" in listing.reasons[0].message


def test_what_goes_wrong_unexpectedly_costs_one_subject(
    fake_distributions: FakeDistributions, monkeypatch: pytest.MonkeyPatch
) -> None:
    import qiongli.plugins.discovery

    real: Callable[..., object] = qiongli.plugins.discovery.find_package

    def find(name: str, *arguments: object, **options: object) -> object:
        if name == "fake_subject_bad":
            raise ZeroDivisionError
        return real(name, *arguments, **options)

    fake_distributions.add_subject("bad")
    fake_distributions.add_subject("good")
    monkeypatch.setattr(qiongli.plugins.discovery, "find_package", find)
    rows = {item.subject: item for item in fake_distributions.discover().listings}
    assert rows["good"].state == "lens_only"
    assert (rows["bad"].state, rows["bad"].reasons[0].code) == ("broken", "unexpected")


def test_folders_of_the_user_are_those_of_platformdirs(monkeypatch: pytest.MonkeyPatch) -> None:
    import platformdirs

    from qiongli.folders import cache_folder, config_folder

    for variable in ("QIONGLI_CACHE_DIR", "QIONGLI_CONFIG_DIR"):
        monkeypatch.delenv(variable, raising=False)
    for value in (None, "/somewhere/else", "", "relative"):
        for variable in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
            if value is None:
                monkeypatch.delenv(variable, raising=False)
            else:
                monkeypatch.setenv(variable, value)
        if value != "relative":  # which older versions of platformdirs take as it stands
            assert cache_folder() == platformdirs.user_cache_path("qiongli", appauthor=False)
            assert config_folder() == platformdirs.user_config_path("qiongli", appauthor=False)
        else:
            assert cache_folder().is_absolute()
    monkeypatch.setenv("QIONGLI_CACHE_DIR", "/mine")
    assert cache_folder() == Path("/mine")


def test_the_cache_keeps_the_newest_files_of_a_kind(isolated_qiongli: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from qiongli import cache

    monkeypatch.setattr(cache, "MAXIMUM_OF_A_KIND", 3)
    cache.write_cached("other-1.json", "x")
    for number in range(6):
        cache.write_cached(f"kind-{number}.json", str(number))
        moment = 1_000_000_000 + number
        os.utime(isolated_qiongli / "cache" / f"kind-{number}.json", (moment, moment))
    assert {path.name for path in (isolated_qiongli / "cache").iterdir()} == {
        "other-1.json",
        "kind-3.json",
        "kind-4.json",
        "kind-5.json",
    }
