"""Check that every enabled subject of the workspace has a record that holds; `--promote` makes the records anew.

`QIONGLI_SKIP_GATES=1` leaves the checks out, and says so.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from qiongli.contract import load_contract
from qiongli.contract.models import CONTRACT_FILE
from qiongli.evaluation.catalogue import switched_on
from qiongli.evaluation.parallel import default_jobs
from qiongli.gate.check import check_subject
from qiongli.gate.detectors import permitted_detectors
from qiongli.gate.promotion import earlier_record, promote
from qiongli.gate.record import changed_files, content_digest
from qiongli.gate.sources import Source, admission_rank, find_source
from qiongli.plugins.catalogue import Catalogue

SUBJECTS = Path(__file__).resolve().parent.parent / "subjects"


def sources() -> list[Source]:
    """The enabled subjects of the workspace in the order of admission, each with those before it as peers."""
    found = []
    for contract in sorted(SUBJECTS.glob(f"*/src/*/{CONTRACT_FILE}")):
        if load_contract(contract).activation_status == "runtime_enabled":
            found.append(find_source(str(contract), Catalogue()).subject)
    ordered = sorted(found, key=admission_rank)
    return [
        Source(subject, tuple(switched_on(peer) for peer in ordered[:place])) for place, subject in enumerate(ordered)
    ]


def problem(source: Source) -> str:
    """Why the record of a subject does not hold, or an empty text."""
    root = source.subject.root
    record = earlier_record(root)
    if record is None:
        return "it has no record that can be read"
    if record.content_digest != content_digest(root):
        return "its record is stale: " + ("; ".join(changed_files(record, root)[:5]) or "other files")
    report = check_subject(source.subject, source.peers, depth="fast", record=record).report
    return "" if report.eligible_for_runtime_enabled else "; ".join(report.blocking_failures)


def main() -> None:
    """Check, or promote, every enabled subject."""
    if os.environ.get("QIONGLI_SKIP_GATES"):
        print("SKIPPED: QIONGLI_SKIP_GATES is set; no gate was checked")
        return
    wrong = 0
    for source in sources():
        slug = source.subject.contract.subject
        if "--promote" in sys.argv[1:]:
            running = permitted_detectors(source.subject, source.peers)
            done = promote(source, detectors=running, jobs=default_jobs())
            why = "" if done.report is None or done.changed else "; ".join(done.report.blocking_failures)
        else:
            why = problem(source)
        print(f"{slug}: {why or 'its record holds'}")
        wrong += bool(why)
    if wrong:
        sys.exit(f"{wrong} subjects may not act; mend them, then run: python tools/check_gates.py --promote")


if __name__ == "__main__":
    main()
