"""Write what `qiongli route --explain` answers into `README.md`; `--check` only compares."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

from generate_scoring_example import shipped
from written_page import publish

from qiongli.cli._explain import explanation
from qiongli.records.project import ManifestState
from qiongli.refinement import infer_subject_refinement
from qiongli.refinement.explanation import explained

PAGE = Path(__file__).resolve().parent.parent / "README.md"

#: The call with its text, and the first block of text behind it.
PLACE = re.compile(r"^(qiongli route --explain .*)\n```\n(?:.*\n)*?```text\n((?:.*\n)*?)```$", re.MULTILINE)


def page() -> str:
    """The whole page, with the decision and its evidence in their place."""
    text = PAGE.read_text(encoding="utf-8")
    found = PLACE.search(text)
    if found is None:
        sys.exit(f"{PAGE.name} has no call of `qiongli route --explain` with a block of text behind it")
    task = shlex.split(found[1])[-1]
    packet = infer_subject_refinement(task, manifest_state=ManifestState(), runtime=shipped())
    decision, evidence, *_ = explanation(explained(packet)).split("\n\n")
    return f"{text[: found.start(2)]}{decision}\n\n{evidence}\n{text[found.end(2) :]}"


def main() -> None:
    """Write the page, or with `--check` fail when it would change."""
    publish(PAGE, page(), __file__)


if __name__ == "__main__":
    main()
