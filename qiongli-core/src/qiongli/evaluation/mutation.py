"""Pack strength: change one signal at a time, and see whether a fixture or an executed example notices.

Four operators: `drop` the signal; `flip` its activation; `broaden` a phrase by its first word, or an acronym by the
words that must stand near it. A mutant is noticed by a fixture that passes with the true contract and fails with the
changed one, and by an example that no longer triggers its signal or a near miss that now does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final, Literal

import attrs

from qiongli.contract.models import Pattern, Signal, SubjectContract
from qiongli.document import normal_form, read_document
from qiongli.evaluation.catalogue import MeasuringRuntime, catalogue_of, infer_with
from qiongli.evaluation.documents import ReadFixture, RecordedEvidence, in_order, read_fixtures
from qiongli.evaluation.fixtures import Fixture
from qiongli.evaluation.metrics import Proportion, proportion
from qiongli.evaluation.parallel import Progress, map_in_order
from qiongli.evaluation.runner import run_fixture
from qiongli.limits import DEFAULT_LIMITS
from qiongli.plugins.catalogue import CatalogueSubject
from qiongli.records.evidence import Activation, Evidence
from qiongli.signals import SignalIndex, compile_index

Operator = Literal["drop", "broaden", "flip"]

#: What an activation turns into: what acts is silenced, what explains or lends acts.
_FLIPPED: Final[dict[Activation, Activation]] = {
    "subject": "context_only",
    "method_only": "subject",
    "context_only": "subject",
}

#: Words that go with the first word of a phrase when that is removed.
_FUNCTION_WORDS: Final = frozenset(
    {"a", "an", "and", "as", "at", "by", "for", "from", "in", "of", "on", "or", "the", "to", "with"}
)

#: A word that a broadened phrase must still have: fewer characters say nothing.
_SHORTEST_REMAINDER: Final = 2


@attrs.frozen
class Mutant:
    """One signal, changed."""

    signal: Signal
    operator: Operator
    changed: Signal | None
    description: str

    @property
    def name(self) -> str:
        """Signal and operator."""
        return f"{self.signal.id}:{self.operator}"


@attrs.frozen
class MutantResult:
    """Who noticed a mutant: the first fixture by name, the first example; both empty for a survivor."""

    name: str
    signal_id: str
    operator: Operator
    description: str
    fixture: str = ""
    example: str = ""

    @property
    def noticed(self) -> bool:
        """Whether anything noticed it."""
        return bool(self.fixture or self.example)


@attrs.frozen
class MutationReport:
    """The results of all mutants, in the order of the contract."""

    results: tuple[MutantResult, ...]

    @property
    def score(self) -> Proportion:
        """The share that a fixture or an executed example noticed."""
        return proportion(result.noticed for result in self.results)

    @property
    def fixture_score(self) -> Proportion:
        """The share that a fixture noticed."""
        return proportion(bool(result.fixture) for result in self.results)

    @property
    def survivors(self) -> tuple[MutantResult, ...]:
        """The mutants that nothing noticed."""
        return tuple(result for result in self.results if not result.noticed)

    def to_packet(self) -> dict[str, Any]:
        """Scores, scores by operator and the survivors, ready for JSON."""
        operators = sorted({result.operator for result in self.results})
        return {
            "mutants": len(self.results),
            "score": self.score.to_packet(),
            "fixtures_alone": self.fixture_score.to_packet(),
            "operators": {
                operator: proportion(
                    result.noticed for result in self.results if result.operator == operator
                ).to_packet()
                for operator in operators
            },
            "survivors": [
                {"mutant": result.name, "signal": result.signal_id, "change": result.description}
                for result in self.survivors
            ],
        }


def mutants(contract: SubjectContract) -> tuple[Mutant, ...]:
    """Every mutant of a contract, in the order of its signals."""
    return tuple(mutant for signal in contract.signals for mutant in _mutants_of(signal))


def _mutants_of(signal: Signal) -> Iterator[Mutant]:
    yield Mutant(signal, "drop", None, "the signal is dropped")
    for index, pattern in enumerate(signal.patterns):
        broader = broadened(pattern)
        if broader is not None:
            patterns = (*signal.patterns[:index], broader, *signal.patterns[index + 1 :])
            what = "without its context words" if pattern.kind == "acronym" else f"as {broader.text!r}"
            yield Mutant(signal, "broaden", attrs.evolve(signal, patterns=patterns), f"{pattern.text!r} {what}")
            break
    flipped = _FLIPPED[signal.activation]
    yield Mutant(
        signal, "flip", attrs.evolve(signal, activation=flipped), f"its activation {signal.activation} is {flipped}"
    )


def broadened(pattern: Pattern) -> Pattern | None:
    """The pattern with one word, or its context, removed; None when it cannot be broadened that way.

    In English the first word qualifies the last one, so that what is left is the general term.
    """
    if pattern.kind == "acronym":
        # An acronym without context is matched as a plain word.
        return attrs.evolve(pattern, kind="phrase", near=())
    if pattern.kind != "phrase":
        return None
    tokens = normal_form(pattern.text)
    if len(tokens) < 2:
        return None
    rest = tokens[1:]
    while len(rest) > 1 and rest[0] in _FUNCTION_WORDS:
        rest = rest[1:]
    separator = "" if pattern.lang == "zh" else " "
    text = separator.join(rest)
    return attrs.evolve(pattern, text=text) if len(text) >= _SHORTEST_REMAINDER else None


@attrs.frozen
class _Base:
    """What all mutants are compared with: the fixtures that pass, read and matched, and the subjects beside."""

    subjects: tuple[CatalogueSubject, ...]
    contract: SubjectContract
    cases: tuple[ReadFixture, ...]
    forbidden: tuple[str, ...]

    def runtime(self, index: SignalIndex | RecordedEvidence) -> MeasuringRuntime:
        return MeasuringRuntime(catalogue_of(self.subjects), index, limits=DEFAULT_LIMITS)  # type: ignore[arg-type]


def _base(
    subjects: tuple[CatalogueSubject, ...], slug: str, fixtures: Sequence[Fixture], forbidden: tuple[str, ...]
) -> _Base:
    index = compile_index([subject.contract for subject in subjects])
    contract = next(subject.contract for subject in subjects if subject.contract.subject == slug)
    base = _Base(subjects, contract, read_fixtures(fixtures, index), forbidden)
    passing = []
    for case in base.cases:
        infer = infer_with(base.runtime(RecordedEvidence(case.evidence)))
        if case.document is not None and run_fixture(case.fixture, infer, forbidden=forbidden).passed:
            passing.append(case)
    return attrs.evolve(base, cases=tuple(sorted(passing, key=lambda case: case.fixture.name)))


def _judge(base: _Base, mutant: Mutant) -> MutantResult:
    fixture = _noticing_fixture(base, mutant)
    example = _noticing_example(base.contract, mutant)
    return MutantResult(mutant.name, mutant.signal.id, mutant.operator, mutant.description, fixture, example)


def _noticing_fixture(base: _Base, mutant: Mutant) -> str:
    only = None
    if mutant.changed is not None and mutant.operator == "broaden":
        only = compile_index([attrs.evolve(base.contract, signals=(mutant.changed,), digest=mutant.name)])
    for case in base.cases:
        assert case.document is not None  # only read cases pass
        evidence = _changed_evidence(case, mutant, only)
        if evidence is None:
            continue
        infer = infer_with(base.runtime(RecordedEvidence(evidence)))
        if not run_fixture(case.fixture, infer, forbidden=base.forbidden).passed:
            return case.fixture.name
    return ""


def _changed_evidence(case: ReadFixture, mutant: Mutant, only: SignalIndex | None) -> tuple[Evidence, ...] | None:
    """The case's evidence under the mutant, or None when nothing of it changes."""
    before = [item for item in case.evidence if item.signal_id == mutant.signal.id]
    if only is not None:
        assert case.document is not None
        after = [item for item in only.detect(case.document) if item.signal_id == mutant.signal.id]
    elif mutant.changed is None:
        after = []
    else:
        # Evidence from a list of references is context whatever the signal's activation.
        after = [
            attrs.evolve(item, activation=mutant.changed.activation)
            if item.activation == mutant.signal.activation
            else item
            for item in before
        ]
    if after == before:
        return None
    others = [item for item in case.evidence if item.signal_id != mutant.signal.id]
    assert case.document is not None
    return in_order(case.document, [*others, *after])


def _noticing_example(contract: SubjectContract, mutant: Mutant) -> str:
    """An example of the contract that fails with the mutant; an activation shows in no single example."""
    if mutant.operator == "flip":
        return ""
    if mutant.changed is None:
        return mutant.signal.examples[0] if mutant.signal.examples else ""
    index = compile_index([attrs.evolve(contract, signals=(mutant.changed,), digest=mutant.name)])
    for text in mutant.signal.near_misses:
        found = index.detect(read_document(text))
        if any(item.signal_id == mutant.signal.id and item.polarity == "asserted" for item in found):
            return text
    return ""


def _judge_chunk(
    subjects: tuple[CatalogueSubject, ...],
    slug: str,
    fixtures: Sequence[Fixture],
    forbidden: tuple[str, ...],
    numbers: Sequence[int],
) -> list[MutantResult]:
    """The results of some mutants by number; the work of one process."""
    base = _base(subjects, slug, fixtures, forbidden)
    everything = mutants(base.contract)
    return [_judge(base, everything[number]) for number in numbers]


def run_mutation(
    subjects: Sequence[CatalogueSubject],
    slug: str,
    fixtures: Sequence[Fixture],
    *,
    forbidden: tuple[str, ...] = (),
    jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> MutationReport:
    """Judge every mutant of the subject `slug` beside the other `subjects`, all of them switched on.

    `jobs` processes share the work; the result does not depend on their number. `progress` is told how many mutants
    are done, and of how many.
    """
    contract = next(subject.contract for subject in subjects if subject.contract.subject == slug)
    count = len(mutants(contract))
    size = max(1, -(-count // max(1, jobs * 4))) if jobs > 1 else max(1, count)
    chunks = [range(start, min(start + size, count)) for start in range(0, count, size)]
    work = partial(_judge_chunk, tuple(subjects), slug, tuple(fixtures), forbidden)
    told = Progress(progress, count)
    results: list[MutantResult] = []
    for found in map_in_order(work, chunks, jobs):
        results += found
        told.advance(len(found))
    return MutationReport(tuple(results))
