"""From the counts of a corpus to its report: recall, precision, false positives, reliability, causes, examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from qiongli.evaluation.corpus_counts import BIN, NONE, Counts, ErrorRow, Table
from qiongli.evaluation.metrics import Proportion, f1, sorted_table
from qiongli.records._units import SCALE, Ppm
from qiongli.records.evaluation import CorpusError, CorpusReport
from qiongli.records.project import AUTO

#: Kinds of error in the order of the report.
_KINDS: Final = ("false_positive", "wrong_subject", "missed")


def corpus_report(counts: Counts, paths: Sequence[Path], run: Mapping[str, Any]) -> CorpusReport:
    """The report; everything but `run` is the same for the same rows and subjects."""
    return CorpusReport(
        rows=counts.rows,
        skipped={reason: counts.skipped[reason] for reason in sorted(counts.skipped)},
        metrics=corpus_metrics(counts.confusion) | _hard(counts),
        subjects=_subjects(counts.confusion),
        confusion=sorted_table(counts.confusion),
        decisions={name: counts.decisions[name] for name in sorted(counts.decisions)},
        reliability=tuple(_reliability(counts.reliability)),
        causes=sorted_table(counts.causes),
        errors=tuple(_error(row) for kind in _KINDS for row in counts.errors.get(kind, ())),
        slices={name: _slice(counts.slices[name]) for name in sorted(counts.slices)},
        inputs=tuple({"file": path.name, "bytes": path.stat().st_size} for path in paths),
        run=dict(run),
    )


def _suggested(row: Mapping[str, int]) -> int:
    return sum(count for predicted, count in row.items() if predicted != AUTO)


def corpus_metrics(table: Table) -> dict[str, Any]:
    """Right and some recall over labelled rows, precision over suggestions, false positives over negatives."""
    positives = {label: row for label, row in table.items() if label != NONE}
    n = sum(sum(row.values()) for row in positives.values())
    right = Proportion(sum(row.get(label, 0) for label, row in positives.items()), n)
    some = Proportion(sum(_suggested(row) for row in positives.values()), n)
    negatives = table.get(NONE, {})
    wrong = Proportion(_suggested(negatives), sum(negatives.values()))
    precision = Proportion(right.successes, some.successes + wrong.successes)
    return {
        "right_recall": right.to_packet(),
        "some_recall": some.to_packet(),
        "precision": precision.to_packet(),
        "f1": f1(precision.value, right.value),
        "false_positive_rate": wrong.to_packet(),
    }


def _hard(counts: Counts) -> dict[str, Any]:
    """False positives among the negatives that look like one of the subjects."""
    found = {}
    for flag, name in (("near_miss", "near_miss"), ("near_hard", "hard_near_miss")):
        row = counts.slices.get(f"flag: {flag}", {}).get(NONE, {})
        found[f"{name}_false_positive_rate"] = Proportion(_suggested(row), sum(row.values())).to_packet()
    return found


def _subjects(table: Table) -> dict[str, dict[str, Any]]:
    subjects = sorted(({*table} | {predicted for row in table.values() for predicted in row}) - {NONE, AUTO})
    found: dict[str, dict[str, Any]] = {}
    for subject in subjects:
        row = table.get(subject, {})
        recall = Proportion(row.get(subject, 0), sum(row.values()))
        some = Proportion(_suggested(row), sum(row.values()))
        precision = Proportion(row.get(subject, 0), sum(other.get(subject, 0) for other in table.values()))
        found[subject] = {
            "right_recall": recall.to_packet(),
            "some_recall": some.to_packet(),
            "precision": precision.to_packet(),
            "f1": f1(precision.value, recall.value),
        }
    return found


def _slice(table: Table) -> dict[str, Any]:
    rows = sum(sum(row.values()) for row in table.values())
    by_subject = {name: found["right_recall"] for name, found in _subjects(table).items()}
    return {
        "rows": rows,
        **corpus_metrics(table),
        "right_recall_by_subject": by_subject,
        "confusion": sorted_table(table),
    }


def _reliability(bins: Table) -> list[dict[str, Any]]:
    found = []
    for name in sorted(bins):
        low, row = int(name), bins[name]
        found.append(
            {
                "confidence_from": low / SCALE,
                "confidence_below": (low + BIN) / SCALE,
                "n": row["n"],
                "right": Proportion(row["right"], row["n"]).to_packet(),
                "some": Proportion(row["some"], row["n"]).to_packet(),
            }
        )
    return found


def _error(row: ErrorRow) -> CorpusError:
    return CorpusError(row.id, row.label, row.predicted, row.cause, Ppm(row.confidence), row.title, row.evidence)
