"""Fixtures and packs: both published shapes are read, and every fault names its file and field."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from qiongli.errors import InputError
from qiongli.evaluation.fixtures import REQUIRED_CATEGORIES, ExpectedLens, read_fixture
from qiongli.evaluation.packs import load_legacy_pack, load_pack, load_packs, with_missing

#: The two examples of the requirement documents.
FLAT: dict[str, Any] = {
    "name": "finance_event_study_clear",
    "task_packet": {
        "task_id": "C1",
        "paper_type": "empirical",
        "topic": "earnings announcement stock returns",
        "context": "Use CRSP abnormal returns and an event study for Journal of Finance.",
    },
    "manifest": {"active_subject": "auto", "subject_mode": "auto"},
    "expected": {
        "decision": "suggest_subject",
        "primary_subject": "finance",
        "method_lenses": ["event-study"],
        "borrowed_lenses": [],
    },
    "tags": ["finance", "clear-positive"],
}
SCOPED: dict[str, Any] = {
    "id": "accounting_clear_accrual_quality",
    "subject_under_test": "accounting",
    "description": "Accounting request with measurement and accrual-quality signals.",
    "task_packet": {"task_id": "C1", "topic": "accrual quality and earnings management"},
    "manifest": {"active_subject": "auto", "subject_mode": "auto"},
    "expected": {
        "decision": "recommend",
        "primary_subject": "accounting",
        "suggest_subjects": ["accounting"],
        "allowed_neighbor_subjects": [],
        "forbidden_subjects": ["finance", "economics"],
        "method_lenses": ["accrual-quality"],
    },
    "tags": ["accounting", "clear-positive"],
}


def read(raw: object) -> Any:
    fixture, problems = read_fixture(raw, place="pack.jsonl:3")
    assert problems == ()
    return fixture


def faults(raw: object) -> list[tuple[str, str]]:
    fixture, problems = read_fixture(raw, place="pack.jsonl:3")
    assert fixture is None
    return [(problem.place, problem.code) for problem in problems]


def changed(**changes: Any) -> dict[str, Any]:
    return {**SCOPED, **changes}


def expecting(**changes: Any) -> dict[str, Any]:
    return changed(expected={**SCOPED["expected"], **changes})


class TestShapes:
    def test_the_flat_shape_is_read(self) -> None:
        fixture = read(FLAT)
        assert fixture.name == "finance_event_study_clear"
        assert fixture.category == "clear_positive"
        assert fixture.expected.decision == "suggest_subject"
        assert fixture.expected.borrowed_lenses == frozenset()
        assert fixture.expected.allowed_neighbor_subjects is None

    def test_the_subject_scoped_shape_is_read(self) -> None:
        fixture = read(SCOPED)
        assert fixture.name == "accounting_clear_accrual_quality"
        assert fixture.subject_under_test == "accounting"
        assert fixture.expected.decision == "suggest_subject"
        assert fixture.expected.forbidden_subjects == {"finance", "economics"}
        assert fixture.expected.allowed_neighbor_subjects == frozenset()

    @pytest.mark.parametrize(
        ("word", "decision"),
        [("recommend", "suggest_subject"), ("core_only", "no_subject"), ("keep_locked", "lock_subject")]
        + [
            (name, name) for name in ("no_subject", "borrow_lens", "suggest_subject", "confirm_subject", "lock_subject")
        ],
    )
    def test_both_vocabularies_of_decisions(self, word: str, decision: str) -> None:
        assert read(expecting(decision=word)).expected.decision == decision

    def test_a_missing_manifest_is_a_project_without_a_subject(self) -> None:
        raw = {key: value for key, value in FLAT.items() if key != "manifest"}
        assert read(raw).manifest.subject_mode == "auto"

    def test_the_task_may_be_a_plain_text(self) -> None:
        assert read(changed(task_packet="stock returns")).task_packet == "stock returns"

    def test_memory_is_the_content_of_the_evidence_file(self) -> None:
        memory = {"dismissed_subjects": {"finance": {"dismissal_count": 1, "last_suggestion_count": 2}}}
        assert read(changed(memory=memory)).memory.dismissed_subjects["finance"].last_suggestion_count == 2

    def test_lenses_may_name_the_subject_that_lends_them(self) -> None:
        lenses = ["event-study", "finance/garch", {"subject": "economics", "lens": "did"}]
        assert read(expecting(borrowed_lenses=lenses)).expected.borrowed_lenses == {
            ExpectedLens("event-study"),
            ExpectedLens("garch", "finance"),
            ExpectedLens("did", "economics"),
        }

    @pytest.mark.parametrize(
        ("tags", "folder", "category"),
        [
            (["near-miss"], "", "near_miss"),
            (["finance", "method-only"], "", "method_only_borrow"),
            ([], "locked_subject", "locked_subject"),
            (["finance"], "elsewhere", ""),
        ],
    )
    def test_the_category_comes_from_tags_or_the_folder(self, tags: list[str], folder: str, category: str) -> None:
        fixture, _ = read_fixture(changed(tags=tags), place="f", folder=folder)
        assert fixture is not None
        assert fixture.category == category

    def test_a_category_of_its_own_is_allowed(self) -> None:
        assert read(changed(category="weak_signal")).category == "weak_signal"


class TestFaults:
    def test_every_fault_of_a_fixture_is_reported_at_once(self) -> None:
        raw = {
            "task_packet": {"topic": 3.5, "context": [1]},
            "manifest": {"active_subject": "auto", "subject_mode": "lock"},
            "expected": {"decision": "recomend", "method_lenses": "event-study", "promt": True},
            "tags": "finance",
        }
        assert faults(raw) == [
            ("pack.jsonl:3: name", "missing_field"),
            ("pack.jsonl:3: task_packet.context", "invalid_fixture"),
            ("pack.jsonl:3: manifest.subject_mode", "invalid_fixture"),
            ("pack.jsonl:3: tags", "invalid_fixture"),
            ("pack.jsonl:3: expected.promt", "unknown_field"),
            ("pack.jsonl:3: expected.decision", "invalid_fixture"),
            ("pack.jsonl:3: expected.method_lenses", "invalid_fixture"),
        ]

    def test_a_misspelt_decision_says_what_was_meant(self) -> None:
        _, problems = read_fixture(expecting(decision="recomend"), place="f")
        assert problems[0].hint == "did you mean 'recommend'?"

    @pytest.mark.parametrize("raw", [None, [], "text", 3])
    def test_a_fixture_is_an_object(self, raw: object) -> None:
        assert faults(raw) == [("pack.jsonl:3", "invalid_fixture")]

    @pytest.mark.parametrize(
        ("change", "field"),
        [
            ({"task_packet": None}, "task_packet"),
            ({"expected": None}, "expected"),
            ({"expected": {"primary_subject": "finance"}}, "expected.decision"),
            ({"category": "near_mis"}, "category"),
            ({"id": ""}, "id"),
            ({"id": "a\nb"}, "id"),
            ({"name": "another"}, "name"),
            ({"memory": []}, "memory"),
            ({"memory": {"suggestions": {"a": {"suggestion_count": -1}}}}, "memory.suggestions.a.suggestion_count"),
            ({"manifest": {"active_subject": "auto", "subject_mode": "locked"}}, "manifest.active_subject"),
            ({"manifest": {"activ_subject": "auto"}}, "manifest.activ_subject"),
            ({"taskpacket": {}}, "taskpacket"),
            (
                {"expected": {"decision": "recommend", "primary_subject": "a", "forbidden_subjects": ["a"]}},
                "expected.forbidden_subjects",
            ),
        ],
    )  # fmt: skip
    def test_a_fault_names_its_field(self, change: dict[str, Any], field: str) -> None:
        assert f"pack.jsonl:3: {field}" in [place for place, _ in faults(changed(**change))]

    def test_notes_of_the_author_are_no_fault(self) -> None:
        assert read(changed(reviewed_by="somebody")).raw["reviewed_by"] == "somebody"


class TestPacks:
    def write(self, folder: Path, name: str, text: str) -> None:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def test_three_broken_fixtures_give_three_errors_and_the_good_ones_are_read(self, tmp_path: Path) -> None:
        good = json.dumps(FLAT)
        self.write(tmp_path, "a.json", "{")
        self.write(tmp_path, "b/near_miss.jsonl", f'{good}\n{{"id": 1}}\n\n{json.dumps(SCOPED)}\n')
        self.write(tmp_path, "c.json", json.dumps([changed(id="x"), changed(id="y", expected={"decision": "no"})]))
        pack = load_pack(tmp_path)
        assert [fixture.name for fixture in pack.fixtures] == [
            "accounting_clear_accrual_quality", "finance_event_study_clear", "x",
        ]  # fmt: skip
        places = [problem.place for problem in pack.problems]
        assert places[0] == "a.json"
        assert {place.split(": ")[0] for place in places} == {"a.json", "b/near_miss.jsonl:2", "c.json"}
        assert "c.json: [1]: expected.decision" in places
        assert all(problem.code and problem.message for problem in pack.problems)

    def test_a_name_that_stands_twice_is_an_error(self, tmp_path: Path) -> None:
        self.write(tmp_path, "a.jsonl", f"{json.dumps(FLAT)}\n{json.dumps(FLAT)}\n")
        pack = load_pack(tmp_path)
        assert [problem.code for problem in pack.problems] == ["duplicate_fixture"]
        assert pack.problems[0].place == "a.jsonl:2: id"
        assert len(pack.fixtures) == 1

    @pytest.mark.parametrize(
        ("text", "code"),
        [
            ('{"id": "a", "id": "b"}', "invalid_json"),
            ('{"id": NaN}', "invalid_json"),
            ("[" * 100_000, "invalid_json"),
        ],
    )
    def test_json_is_read_strictly(self, tmp_path: Path, text: str, code: str) -> None:
        self.write(tmp_path, "a.json", text)
        assert [problem.code for problem in load_pack(tmp_path).problems] == [code]

    def test_bytes_that_are_no_utf8_are_an_error(self, tmp_path: Path) -> None:
        (tmp_path / "a.json").write_bytes(b"\xff\xfe{}")
        assert [problem.code for problem in load_pack(tmp_path).problems] == ["not_utf8"]

    def test_a_pack_that_is_not_there_is_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(InputError) as missing:
            load_pack(tmp_path / "none")
        assert missing.value.code == "no_fixtures"
        with pytest.raises(InputError):
            load_pack(tmp_path)

    def test_the_digest_depends_on_content_not_on_files(self, tmp_path: Path) -> None:
        self.write(tmp_path, "one/a.jsonl", f"{json.dumps(FLAT)}\n{json.dumps(SCOPED)}\n")
        self.write(tmp_path, "two/z.json", json.dumps(SCOPED))
        self.write(tmp_path, "two/b/y.json", json.dumps(FLAT))
        assert load_pack(tmp_path / "one").digest == load_pack(tmp_path / "two").digest
        self.write(tmp_path, "two/z.json", json.dumps(changed(description="else")))
        assert load_pack(tmp_path / "one").digest != load_pack(tmp_path / "two").digest

    def test_a_fixture_that_went_missing_is_noticed(self, tmp_path: Path) -> None:
        self.write(tmp_path, "a.json", json.dumps(FLAT))
        assert with_missing(load_pack(tmp_path), ["finance_event_study_clear", "gone"]).missing == ("gone",)

    def test_packs_of_one_folder_name_are_told_apart(self, tmp_path: Path) -> None:
        for name in ("one/evaluation/a.json", "two/evaluation/a.json", "other.json", "other/a.json"):
            self.write(tmp_path, name, json.dumps(FLAT))
        paths = [tmp_path / "one/evaluation", tmp_path / "two/evaluation", tmp_path / "other.json", tmp_path / "other"]
        labels = [pack.label for pack in load_packs([*paths, paths[0]])]
        parent = tmp_path.name
        assert labels == ["one/evaluation", "two/evaluation", f"{parent}/other.json", f"{parent}/other"]


class TestLegacyPack:
    def test_it_ships_whole_with_every_category_of_its_requirement(self) -> None:
        pack = load_legacy_pack()
        assert pack.problems == ()
        assert pack.missing == ()
        assert len(pack.fixtures) >= 8
        categories = {fixture.category for fixture in pack.fixtures}
        assert {"near_miss"} < categories
        assert len(categories) >= 8

    def test_its_list_of_names_is_complete(self) -> None:
        from qiongli.evaluation import packs

        listed = (packs.legacy_folder().parent / packs.LEGACY_NAMES).read_text(encoding="utf-8").split()
        assert listed == sorted(fixture.name for fixture in load_legacy_pack().fixtures)

    def test_the_required_categories_are_the_eight_of_the_gate(self) -> None:
        assert len(REQUIRED_CATEGORIES) == 8
