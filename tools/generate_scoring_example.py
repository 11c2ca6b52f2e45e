"""Write the worked example into `docs/reference/scoring.md` with the shipped subjects; `--check` only compares."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

from written_page import publish

from qiongli.contract import load_contract
from qiongli.evaluation.catalogue import MeasuringRuntime, as_subject, measuring_runtime, switched_on
from qiongli.limits import DEFAULT_LIMITS
from qiongli.plugins.catalogue import CORE_ORDER
from qiongli.records.packet import RefinementPacket, ScoreEntry
from qiongli.records.project import ManifestState
from qiongli.refinement import infer_subject_refinement
from qiongli.signals import select_spans

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reference" / "scoring.md"

BEGIN = "<!-- example: begin; written by tools/generate_scoring_example.py -->\n"
END = "<!-- example: end -->\n"

SUBJECT = "finance"
TEXT = (
    "Do investors price paid parental leave? We relate the cross-section of stock returns in CRSP to policies that "
    "ease the return to work, and cumulate abnormal returns around their announcements. For the Journal of Finance."
)
#: What is said of the text with a change: what is taken out, and what is put there.
CHANGES = (
    ("without the journal", " For the Journal of Finance.", ""),
    ("without the abnormal returns", ", and cumulate abnormal returns around their announcements", ""),
    ("without the return to work", " that ease the return to work", ""),
    ('with "Keep this in economics." at the end', "Journal of Finance.", "Journal of Finance. Keep this in economics."),
)
_RANKS = ("the largest: in full", "second: a half", "third: a quarter", "fourth: an eighth", "fifth: a sixteenth")


def shipped() -> MeasuringRuntime:
    """The subjects of this workspace, as the gate lets them act."""
    rows = []
    for priority, slug in enumerate(CORE_ORDER):
        root = ROOT / "subjects" / slug / "src" / f"qiongli_subject_{slug}"
        contract = load_contract(root)
        rows.append(switched_on(as_subject(contract, root, distribution=f"qiongli-subject-{slug}", priority=priority)))
    return measuring_runtime(rows)


def _score(packet: RefinementPacket) -> tuple[ScoreEntry, ...]:
    return next((item.entries for item in packet.score_breakdown if item.route == SUBJECT), ())


def _decimal(ppm: int) -> str:
    return f"{ppm / 1_000_000:.6f}"


def _weight(ppm: int) -> str:
    return f"{ppm / 1_000_000:.2f}"


def _evidence(packet: RefinementPacket) -> Iterator[str]:
    yield "| words | signal | dimension | weight | what it does |"
    yield "|---|---|---|---|---|"
    found = [item for item in packet.signals if item.subject == SUBJECT]
    holders = select_spans(found)
    for item in found:
        if item.role == "suppressor":
            does, dimension = "a penalty", "(suppressor)"
        else:
            does, dimension = "counts" if item in holders else "nothing: a longer match holds its span", item.dimension
        assert item.polarity == "asserted"
        yield f"| {item.snippet} | `{item.signal_id}` | {dimension} | {_weight(item.weight)} | {does} |"


def _steps(packet: RefinementPacket) -> Iterator[str]:
    yield "| step | amount | how |"
    yield "|---|---|---|"
    rank = 0
    for entry in _score(packet):
        if entry.kind == "dimension":
            divisors = (DEFAULT_LIMITS.within_divisor**place for place in range(len(entry.shares)))
            weights = (
                f"{_weight(share.weight)}{f'/{divisor}' if divisor > 1 else ''}"
                for share, divisor in zip(entry.shares, divisors, strict=True)
            )
            yield f"| dimension {entry.name} | +{_decimal(entry.amount)} | {' + '.join(weights)}; {_RANKS[rank]} |"
            rank += 1
        elif entry.kind == "penalty":
            yield f"| penalty | -{_decimal(-entry.amount)} | `{entry.name}`, once however often its words occur |"
        else:
            assert entry.kind == "prior"
            yield f"| prior | +{_decimal(entry.amount)} | that of a subject |"
    threshold = _weight(DEFAULT_LIMITS.suggest_threshold)
    dimensions = len(packet.candidate_subjects[0].dimensions)
    assert packet.decision == "suggest_subject"
    yield (
        f"| **score** | **{_decimal(packet.confidence)}** | reaches {threshold}, with {dimensions} dimensions: "
        f"{packet.primary_subject} is suggested |"
    )


def _outcomes(runtime: MeasuringRuntime) -> Iterator[str]:
    yield "| the same text | score | what comes of it |"
    yield "|---|---|---|"
    for name, old, new in CHANGES:
        assert TEXT.count(old) == 1
        packet = infer_subject_refinement(TEXT.replace(old, new), manifest_state=ManifestState(), runtime=runtime)
        total = sum(entry.amount for entry in _score(packet))
        why = next((blocked.reasons[0] for blocked in packet.blocked_candidates if blocked.subject == SUBJECT), None)
        comes = f"`{packet.decision}`"
        comes += "".join(f", `{lens.lens}` of {lens.subject}" for lens in packet.borrowed_lenses)
        comes += f"; {SUBJECT} is a blocked candidate: {why.message}" if why is not None else ""
        yield f"| {name} | {_decimal(total) if why is None else 'none'} | {comes} |"


def example() -> str:
    """The text between the two marks."""
    runtime = shipped()
    packet = infer_subject_refinement(TEXT, manifest_state=ManifestState(), runtime=runtime)
    lens = next(item for item in packet.score_breakdown if item.kind == "lens")
    assert Fraction(lens.total) == sum(entry.amount for entry in lens.entries)
    lines = [
        "A task, which `qiongli route --explain` adds up in the same way:",
        "",
        *(f"> {line}" for line in _wrapped(TEXT)),
        "",
        f"What it shows of {SUBJECT}:",
        "",
        *_evidence(packet),
        "",
        *_steps(packet),
        "",
        *_outcomes(runtime),
        "",
        f"The lens is lent because `{lens.route}` scores {_decimal(lens.total)} by itself: no penalty, and no order "
        "about subjects, concerns it.",
    ]
    return "\n".join(lines) + "\n"


def _wrapped(text: str) -> Iterator[str]:
    import textwrap

    yield from textwrap.wrap(text, 110)


def page() -> str:
    """The whole page, with the example in its place."""
    text = PAGE.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        sys.exit(f"{PAGE.name} has no place for the example: {BEGIN.strip()} … {END.strip()}")
    return f"{before}{begin}\n{example()}\n{end}{after}"


def main() -> None:
    """Write the page, or with `--check` fail when it would change."""
    publish(PAGE, page(), __file__)


if __name__ == "__main__":
    main()
