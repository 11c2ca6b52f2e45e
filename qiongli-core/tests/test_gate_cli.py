"""`qiongli evaluate` and `qiongli gate` as people and programs call them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
from gate_cases import fixture, pack, write_pack, write_source_tree

from qiongli import schemas
from qiongli.cli import run
from qiongli.evaluation.determinism import DeterminismReport
from qiongli.evaluation.packs import load_legacy_pack
from qiongli.gate import admission, measured
from qiongli.gate.sources import package_root
from qiongli.plugins.catalogue import Catalogue

WORD = "zorblat"


def schema_text(name: str) -> str:
    """A published schema as it is shipped."""
    return (Path(schemas.__file__).parent / f"{name}.json").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_source_tree(tmp_path_factory.mktemp("sources"), WORD)


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, isolated_qiongli: Path) -> None:
    """No subject is installed, and an evaluation is not repeated in further processes."""
    monkeypatch.setattr(admission, "installed_catalogue", lambda **_: Catalogue())
    monkeypatch.setattr("qiongli.plugins.discover", lambda **_: Catalogue())
    monkeypatch.setattr(measured, "check_determinism", lambda *_, **__: DeterminismReport((), 0, ()))


@pytest.fixture
def tree(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "tree"))


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Any:
    """Run a command: exit code, what it printed, and its messages."""

    def call(*arguments: object) -> tuple[int, str, str]:
        code = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        assert "Traceback" not in captured.out + captured.err
        return code, captured.out, captured.err

    return call


def parsed(said: Any, *arguments: object, code: int = 0) -> dict[str, Any]:
    actual, output, messages = said(*arguments, "--json")
    assert actual == code, output + messages
    return dict(json.loads(output))


class TestEvaluate:
    def test_a_subjects_own_pack(self, said: Any, tree: Path) -> None:
        packet = parsed(said, "evaluate", "--subject", tree)
        assert packet["schema_version"] == "1.0"
        assert packet["summary"] == {"total": len(pack(WORD)), "passed": len(pack(WORD)), "failed": 0}
        assert packet["failures"] == []
        assert packet["verdict"] == "pass"

    def test_the_same_input_gives_the_same_bytes(self, said: Any, tree: Path) -> None:
        assert said("evaluate", "--subject", tree, "--json") == said("evaluate", "--subject", tree, "--json")

    def test_without_subjects_the_legacy_pack_is_run_and_misses_its_thresholds(self, said: Any) -> None:
        packet = parsed(said, "evaluate", code=1)
        assert packet["summary"]["total"] == len(load_legacy_pack().fixtures)
        assert {failure["kind"] for failure in packet["failures"]} == {"threshold", "case"}
        assert any("no subject 'finance' is installed" in failure["message"] for failure in packet["failures"])

    def test_chosen_fixtures_must_all_pass(self, said: Any, tree: Path) -> None:
        packet = parsed(said, "evaluate", "--subject", tree, "--only", f"{WORD}-near-miss-*")
        assert packet["summary"]["total"] == 60
        assert packet["verdict"] == "pass"

    def test_a_name_that_fits_nothing_shows_near_ones(self, said: Any, tree: Path) -> None:
        packet = parsed(said, "evaluate", "--subject", tree, "--only", f"{WORD}-near-mis-1", code=2)
        assert packet["error"]["code"] == "no_such_fixture"
        assert f"{WORD}-near-miss-1" in packet["error"]["available"]

    def test_broken_fixtures_are_named_and_the_good_ones_run(self, said: Any, tree: Path) -> None:
        folder = package_root(tree) / "evaluation"
        (folder / "broken.jsonl").write_text(
            '{"id": 1}\n{"id": "x", "expected": {"decision": "n"}}\n', encoding="utf-8"
        )
        packet = parsed(said, "evaluate", "--subject", tree, code=2)
        assert packet["summary"]["total"] == len(pack(WORD))
        broken = [failure["name"] for failure in packet["failures"] if failure["kind"] == "fixture_error"]
        assert "broken.jsonl:1: expected" in broken
        assert "broken.jsonl:2: expected.decision" in broken
        assert "broken.jsonl:2: task_packet" in broken

    def test_other_forms_are_written_beside(self, said: Any, tree: Path, tmp_path: Path) -> None:
        wrong = fixture("wrong", "clear_positive", WORD, "Nothing to see.", "recommend")
        write_pack(package_root(tree), [*pack(WORD), wrong])
        code, output, messages = said(
            "evaluate", "--subject", tree, "--junit", tmp_path / "out" / "j.xml", "--html", tmp_path / "h.html",
            "--failed-out", tmp_path / "failed", "--json",
        )  # fmt: skip
        packet = json.loads(output)
        assert code == 0, messages
        assert len(list(ElementTree.parse(tmp_path / "out" / "j.xml").iter("testcase"))) == packet["summary"]["total"]
        assert "<!doctype html>" in (tmp_path / "h.html").read_text(encoding="utf-8")
        again = parsed(said, "evaluate", tmp_path / "failed", "--subject", tree, "--only", "wrong", code=1)
        assert [case["name"] for case in again["cases"]] == ["wrong"]
        assert again["failures"][0]["reproduce"].startswith("qiongli evaluate ")

    def test_a_case_missing_since_the_record_is_noticed(self, said: Any, tree: Path) -> None:
        assert said("gate", "promote", tree)[0] == 0
        write_pack(package_root(tree), pack(WORD)[1:])
        packet = parsed(said, "evaluate", "--subject", tree, code=1)
        assert [failure["kind"] for failure in packet["failures"]] == ["case_missing"]

    def test_pack_strength_comes_with_coverage_and_flags(self, said: Any, tree: Path) -> None:
        packet = parsed(said, "evaluate", "--subject", tree, "--mutate", "--jobs", "1")
        assert packet["details"]["mutation"]["score"]["value"] >= 0.9
        assert packet["details"]["coverage"]["signals"] == 5
        assert packet["details"]["quality"]["far_near_misses"] == []
        assert packet["details"]["metamorphic"]["failures"] == []

    @pytest.mark.parametrize("arguments", [("--mutate",), ("--gate", "runtime-enabled"), ("--corpus", "x", "--mutate")])
    def test_options_that_need_others_say_so(self, said: Any, arguments: tuple[str, ...]) -> None:
        assert parsed(said, "evaluate", *arguments, code=2)["error"]["code"] == "usage"

    def test_a_pack_that_is_not_there(self, said: Any, tmp_path: Path) -> None:
        assert parsed(said, "evaluate", tmp_path / "none", code=2)["error"]["code"] == "no_fixtures"


class TestCorpus:
    def corpus(self, folder: Path) -> Path:
        text = f"We use the {WORD} specimen ledger for the {WORD} drift conjecture."
        rows = [
            {"title": "a", "abstract": text, "label_subject": WORD},
            {"title": "b", "abstract": "Nothing.", "label_subject": "none"},
        ]
        path = folder / "corpus.jsonl"
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows * 20), encoding="utf-8")
        return path

    def test_a_report_in_all_forms(self, said: Any, tree: Path, tmp_path: Path) -> None:
        path = self.corpus(tmp_path)
        page = tmp_path / "c.html"
        code, output, messages = said(
            "evaluate", "--subject", tree, "--corpus", path, "--html", page, "--jobs", "1", "--json"
        )
        packet = json.loads(output)
        assert code == 0
        assert packet["metrics"]["right_recall"]["value"] == 1.0
        assert packet["metrics"]["false_positive_rate"]["value"] == 0.0
        assert "\r" not in messages
        assert "<!doctype html>" in page.read_text(encoding="utf-8")
        assert "40 rows" in said("evaluate", "--subject", tree, "--corpus", path, "--jobs", "1")[1]

    def test_apart_from_the_run_the_same_corpus_gives_the_same_report(
        self, said: Any, tree: Path, tmp_path: Path
    ) -> None:
        path = self.corpus(tmp_path)
        arguments = ("evaluate", "--subject", tree, "--corpus", path, "--jobs", "1")
        first, second = parsed(said, *arguments), parsed(said, *arguments)
        assert {**first, "run": {}} == {**second, "run": {}}


class TestGate:
    def test_check_and_evaluate_give_the_same_report(self, said: Any, tree: Path) -> None:
        arguments = ("--gate", "runtime-enabled", "--json", "--jobs", "1")
        first = said("gate", "check", tree, *arguments)
        second = said("evaluate", "--subject", tree, *arguments)
        assert first[:2] == second[:2]
        packet = json.loads(first[1])
        assert packet["eligible_for_runtime_enabled"] is True
        assert packet["blocking_failures"] == []

    def test_a_subject_that_is_not_eligible_exits_with_1(self, said: Any, tree: Path) -> None:
        write_pack(package_root(tree), pack(WORD)[:10])
        packet = parsed(said, "gate", "check", tree, "--fast", code=1)
        assert packet["verdict"] == "fail"
        assert "missing near_miss fixtures" in packet["blocking_failures"]

    def test_an_unknown_subject_gets_the_same_report(self, said: Any) -> None:
        packet = parsed(said, "gate", "check", "nope", code=1)
        assert packet["activation_status"] == "unavailable"
        assert packet["eligible_for_runtime_enabled"] is False
        assert parsed(said, "evaluate", "--subject", "nope", "--gate", "runtime-enabled", code=1) == packet

    def test_an_unknown_gate_is_an_error(self, said: Any, tree: Path) -> None:
        assert parsed(said, "gate", "check", tree, "--gate", "golden", code=2)["error"]["code"] == "unknown_gate"

    def test_promote_explain_and_revoke(self, said: Any, tree: Path) -> None:
        packet = parsed(said, "gate", "promote", tree)
        assert packet["changed"] is True
        assert packet["record"]["subject"] == WORD
        explained = parsed(said, "gate", "explain", tree)
        assert explained["content_matches"] is True
        assert explained["gate"]["eligible_for_runtime_enabled"] is True
        (package_root(tree) / "notes.md").write_text("x", encoding="utf-8")
        explained = parsed(said, "gate", "explain", tree)
        assert explained["content_matches"] is False
        assert explained["changed_files"] == ["added: notes.md"]
        assert "added: notes.md" in said("gate", "explain", tree)[1]
        assert parsed(said, "gate", "revoke", tree)["activation_status"] == "eval_ready"
        assert parsed(said, "gate", "revoke", tree)["changed"] is False

    def test_a_promotion_that_is_refused_prints_the_checks(self, said: Any, tree: Path) -> None:
        write_pack(package_root(tree), pack(WORD)[:10])
        code, output, _ = said("gate", "promote", tree, "--jobs", "1")
        assert code == 1
        assert "FAIL  fixture_categories" in output

    def test_nothing_to_verify(self, said: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("qiongli.gate.admission.installed_catalogue", lambda **_: Catalogue())
        assert parsed(said, "gate", "verify") == {"holds": True, "subjects": [], "schema_version": "1.0"}
        assert parsed(said, "gate", "verify", "nope", code=2)["error"]["code"] == "unknown_subject"

    def test_every_report_follows_its_published_schema(self, said: Any, tree: Path) -> None:
        calls = {
            "evaluation-report": ("evaluate", "--subject", tree, "--mutate", "--jobs", "1"),
            "gate-report": ("gate", "check", tree, "--jobs", "1"),
            "promotion": ("gate", "promote", tree, "--jobs", "1"),
            "gate-explanation": ("gate", "explain", tree),
        }
        for name, arguments in calls.items():
            schema = json.loads(schema_text(name))
            jsonschema.validate(parsed(said, *arguments), schema)
        record = json.loads((package_root(tree) / "activation.json").read_text(encoding="utf-8"))
        jsonschema.validate(record, json.loads(schema_text("activation-record")))

    def test_help_names_every_command(self, said: Any) -> None:
        code, output, messages = said("gate", "--help")
        assert code == 0
        for name in ("check", "promote", "verify", "revoke", "explain"):
            assert name in output + messages
