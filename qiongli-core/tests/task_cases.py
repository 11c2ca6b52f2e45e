"""What the tests of task runs share: a runtime over made-up subjects, and programs that stand in for agents."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

import attrs
from packet_cases import contract

from qiongli.evaluation.catalogue import as_subject, catalogue_of, switched_on
from qiongli.records.subjects import Reason
from qiongli.runtime import Runtime, build_runtime

#: Texts by what comes of them: see `packet_cases.SIGNALS` for the words and weights.
SUGGESTS_ALPHA = "A quorl kriging of the quorl ledger with the quorl conjecture."
AMBIGUOUS = "A quorl kriging of the quorl ledger beside brindle splicing of the brindle register."
BORROWS_ALPHA = "We take a quorl loaner for a study of bees."
GATED_GAMMA = "gnarl gauging of the gnarl gazette with a gnarl tool"
DENIES_ALPHA = "We do not use quorl kriging here."
NOTHING = "Tidy the headings."


def make_runtime(folder: Path) -> Runtime:
    """Alpha and beta are active, gamma is a candidate; the files come from `packet_cases.write_packages`."""
    rows = []
    for slug in ("alpha", "beta", "gamma"):
        row = as_subject(contract(slug), folder / slug, distribution=f"qiongli-subject-{slug}")
        if slug == "gamma":
            why = (Reason("below_runtime_enabled", "the subject is a candidate"),)
            row = attrs.evolve(row, listing=attrs.evolve(row.listing, reasons=why))
        else:
            row = switched_on(row)
        rows.append(row)
    return build_runtime(catalogue_of(rows))


def stand_in(folder: Path, name: str, body: str) -> Path:
    """An executable of that name in the folder; `body` is Python that stands in for an agent."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!{sys.executable} -I\n{textwrap.dedent(body)}", encoding="utf-8")
    path.chmod(0o755)
    return path
