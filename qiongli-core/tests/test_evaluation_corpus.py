"""Measuring labelled text: counts that add up, causes of error, constant memory, going on where it stopped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import attrs
import pytest
from gate_cases import write_package

from qiongli.contract import load_contract
from qiongli.errors import InputError, StateCorruptError
from qiongli.evaluation import corpus as corpus_module
from qiongli.evaluation.catalogue import as_subject, switched_on
from qiongli.evaluation.corpus import Row, measure_corpus, read_row
from qiongli.evaluation.corpus_counts import KEPT_ERRORS, Counts
from qiongli.evaluation.corpus_report import corpus_report
from qiongli.plugins.catalogue import CatalogueSubject

ALPHA, BETA = "zorblat", "quimbly"
BOTH = "We use the {0} specimen ledger for the {0} drift conjecture."


@pytest.fixture(scope="module")
def subjects(tmp_path_factory: pytest.TempPathFactory) -> tuple[CatalogueSubject, ...]:
    found = []
    for word in (ALPHA, BETA):
        root = write_package(tmp_path_factory.mktemp(word) / "package", word)
        found.append(switched_on(as_subject(load_contract(root), root)))
    return tuple(found)


def row(label: str | None, abstract: str, **more: Any) -> dict[str, Any]:
    return {"title": "A title", "abstract": abstract, "label_subject": label, **more}


ROWS = [
    row(ALPHA, BOTH.format(ALPHA), id="right", kind="abstract", lang="en"),
    row(ALPHA, BOTH.format(BETA), id="rival"),
    row(ALPHA, f"The {ALPHA} specimen ledger.", id="one dimension"),
    row(ALPHA, "Nothing that anybody knows.", id="no evidence"),
    row(ALPHA, f"We do not use the {ALPHA} specimen ledger.", id="suppressed"),
    row("unheard-of", BOTH.format(BETA), id="not installed"),
    row("none", "Nothing that anybody knows.", id="negative"),
    row("none", BOTH.format(BETA), id="false positive", near_miss=True, near_hard=True),
    row(None, "Nothing.", id="null label"),
    row("none", BOTH.format(BETA), id="arguable", arguable=True),
]


def write(path: Path, rows: list[Any]) -> Path:
    path.write_text(
        "".join(f"{item if isinstance(item, str) else json.dumps(item)}\n" for item in rows), encoding="utf-8"
    )
    return path


class TestCounts:
    @pytest.fixture
    def packet(self, subjects: tuple[CatalogueSubject, ...], tmp_path: Path) -> dict[str, Any]:
        path = write(tmp_path / "c.jsonl", ROWS)
        counts, run = measure_corpus([path], subjects)
        return corpus_report(counts, [path], run).to_packet()

    def test_right_and_some_recall(self, packet: dict[str, Any]) -> None:
        """Six labelled rows: one is right; right, rival and not installed get some subject."""
        metrics = packet["metrics"]
        assert (metrics["right_recall"]["successes"], metrics["right_recall"]["n"]) == (1, 6)
        assert (metrics["some_recall"]["successes"], metrics["some_recall"]["n"]) == (3, 6)

    def test_precision_counts_every_suggestion(self, packet: dict[str, Any]) -> None:
        """Four suggestions, arguable apart: right, rival, not installed, false positive."""
        assert (packet["metrics"]["precision"]["successes"], packet["metrics"]["precision"]["n"]) == (1, 4)

    def test_false_positives_over_negatives_and_over_hard_ones(self, packet: dict[str, Any]) -> None:
        metrics = packet["metrics"]
        assert (metrics["false_positive_rate"]["successes"], metrics["false_positive_rate"]["n"]) == (1, 3)
        assert metrics["hard_near_miss_false_positive_rate"]["n"] == 1
        assert {"ci_low", "ci_high"} <= set(metrics["false_positive_rate"])

    def test_arguable_rows_are_scored_apart(self, packet: dict[str, Any]) -> None:
        assert packet["rows"] == 10
        assert packet["slices"]["flag: arguable"]["rows"] == 1
        assert sum(sum(line.values()) for line in packet["confusion"].values()) == 9

    def test_confusion_has_labels_in_rows(self, packet: dict[str, Any]) -> None:
        assert packet["confusion"][ALPHA] == {"auto": 3, BETA: 1, ALPHA: 1}
        assert packet["confusion"]["none"] == {"auto": 2, BETA: 1}

    def test_errors_are_grouped_by_cause(self, packet: dict[str, Any]) -> None:
        assert packet["causes"][ALPHA] == {"no_evidence": 1, "one_dimension": 1, "rival": 1, "suppressed": 1}
        assert packet["causes"]["unheard-of"] == {"not_installed": 1}
        assert packet["causes"]["none"] == {"false_positive": 1}

    def test_the_most_confident_errors_come_with_evidence(self, packet: dict[str, Any]) -> None:
        first = packet["errors"][0]
        assert (first["id"], first["cause"]) == ("false positive", "false_positive")
        assert any(f"{BETA}.data-or-outcome.specimen-ledger" in line for line in first["evidence"])

    def test_reliability_has_every_suggestion_once(self, packet: dict[str, Any]) -> None:
        assert sum(line["n"] for line in packet["reliability"]) == 4
        assert sum(line["right"]["successes"] for line in packet["reliability"]) == 1

    def test_parts_of_the_corpus_have_the_same_metrics(self, packet: dict[str, Any]) -> None:
        assert packet["slices"]["kind: abstract"]["right_recall"]["value"] == 1.0
        assert packet["slices"]["file: c"]["rows"] == 9


def test_an_inactive_subject_is_a_cause_of_its_own(subjects: tuple[CatalogueSubject, ...], tmp_path: Path) -> None:
    alpha = attrs.evolve(subjects[0], listing=attrs.evolve(subjects[0].listing, state="lens_only"))
    counts, _ = measure_corpus([write(tmp_path / "c.jsonl", ROWS[:1])], (alpha, subjects[1]))
    assert counts.causes == {ALPHA: {"inactive": 1}}


class TestReading:
    @pytest.mark.parametrize(
        ("line", "reason"),
        [
            (b"{", "no_json"),
            (b"[]", "no_object"),
            (b"\xff{}", "not_utf8"),
            (b'{"title": "a"}', "no_label"),
            (b'{"title": "a", "label_subject": 3}', "no_label"),
            (b'{"title": " ", "label_subject": "none"}', "no_text"),
            (b"[" * 200_000, "no_json"),
        ],
    )
    def test_a_row_that_cannot_be_read_says_why(self, line: bytes, reason: str) -> None:
        assert read_row(line, "f", 2) == reason

    def test_only_title_abstract_and_label_are_needed(self) -> None:
        found = read_row(json.dumps(row("finance", "b")).encode(), "f", 7)
        assert isinstance(found, Row)
        assert (found.id, found.label, dict(found.task)) == ("f:7", "finance", {"title": "A title", "abstract": "b"})

    def test_bad_rows_are_counted_and_the_others_measured(
        self, subjects: tuple[CatalogueSubject, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(corpus_module, "LONGEST_LINE", 2_000)
        path = write(tmp_path / "c.jsonl", ["{", "", json.dumps(row("none", "x" * 9_000)), ROWS[0], '{"title": 1}'])
        counts, _ = measure_corpus([path], subjects)
        assert counts.skipped == {"no_json": 1, "too_long": 1, "no_label": 1}
        assert counts.rows == 1
        assert counts.confusion == {ALPHA: {ALPHA: 1}}

    def test_a_missing_file_is_an_error(self, subjects: tuple[CatalogueSubject, ...], tmp_path: Path) -> None:
        with pytest.raises(InputError):
            measure_corpus([tmp_path / "none.jsonl"], subjects)


class TestScale:
    def test_processes_do_not_show(self, subjects: tuple[CatalogueSubject, ...], tmp_path: Path) -> None:
        paths = [write(tmp_path / "a.jsonl", ROWS * 60), write(tmp_path / "b.jsonl", ROWS[::-1] * 30)]
        alone, _ = measure_corpus(paths, subjects)
        seen: list[tuple[int, int, int]] = []
        shared, run = measure_corpus(paths, subjects, jobs=2, progress=lambda *told: seen.append(told))
        assert shared == alone
        assert run["processes"] == 2
        assert seen[-1][0] == 900
        assert seen[-1][1] == seen[-1][2]

    def test_what_is_kept_does_not_grow_with_the_rows(
        self, subjects: tuple[CatalogueSubject, ...], tmp_path: Path
    ) -> None:
        counts, _ = measure_corpus([write(tmp_path / "a.jsonl", ROWS * 200)], subjects)
        assert all(len(rows) <= KEPT_ERRORS for rows in counts.errors.values())
        assert counts.rows == 2_000
        assert len(json.dumps(counts.to_packet())) < 200_000

    def test_counts_of_parts_add_up_to_those_of_the_whole(
        self, subjects: tuple[CatalogueSubject, ...], tmp_path: Path
    ) -> None:
        whole, _ = measure_corpus([write(tmp_path / "a.jsonl", ROWS)], subjects)
        total = Counts()
        for number, item in enumerate(ROWS):
            part, _ = measure_corpus([write(tmp_path / f"{number}.jsonl", [item])], subjects)
            part.slices = {name: table for name, table in part.slices.items() if not name.startswith("file:")}
            total.add(part)
        whole.slices = {name: table for name, table in whole.slices.items() if not name.startswith("file:")}
        assert total == whole

    def test_an_interrupted_measurement_goes_on(
        self, subjects: tuple[CatalogueSubject, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(corpus_module, "_SAVE_EVERY", -1.0)
        monkeypatch.setattr(corpus_module, "CHUNK_ROWS", 7)
        paths = [write(tmp_path / "a.jsonl", ROWS * 5), write(tmp_path / "b.jsonl", ROWS * 5)]
        state = tmp_path / "state.json"
        whole, _ = measure_corpus(paths, subjects)

        def stop(rows: int, done: int, total: int) -> None:
            if rows >= 60:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            measure_corpus(paths, subjects, state_file=state, progress=stop)
        assert state.exists()
        resumed, run = measure_corpus(paths, subjects, state_file=state)
        assert resumed == whole
        assert 0 < run["resumed_rows"] < 100
        assert not state.exists()

    def test_progress_of_something_else_is_refused(
        self, subjects: tuple[CatalogueSubject, ...], tmp_path: Path
    ) -> None:
        path = write(tmp_path / "a.jsonl", ROWS)
        state = tmp_path / "state.json"
        state.write_text("{", encoding="utf-8")
        with pytest.raises(StateCorruptError) as broken:
            measure_corpus([path], subjects, state_file=state)
        assert broken.value.code == "malformed_progress"
        state.write_text(json.dumps({"form": 1, "identity": "x"}), encoding="utf-8")
        with pytest.raises(StateCorruptError) as other:
            measure_corpus([path], subjects, state_file=state)
        assert other.value.code == "other_progress"
