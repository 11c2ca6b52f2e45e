"""Changes of a text that must not change the answer, and changes that must.

Letter case, a neutral sentence and the order of sentences leave the decision as it is; without its evidence a task
has no subject; and evidence that is denied suggests nobody.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import attrs

from qiongli.document import read_document
from qiongli.errors import InputError
from qiongli.evaluation.documents import Detects, ReadFixture
from qiongli.evaluation.runner import Infer
from qiongli.records.packet import RefinementPacket

#: Sentences that speak of no subject; the first one that touches no installed signal is used.
NEUTRAL: Final = (
    "The next section sets out how the text is organised.",
    "We thank the participants for their patience.",
    "The appendix lists the abbreviations.",
)

_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+(?=[A-Z])|(?<=[。！？])")
_LOWER_WORD: Final = re.compile(r"(?<![\w'’.-])[a-z]+(?![\w'’.-])")
#: Put in place of a removed piece of evidence.
_FILLER: Final = "something"

Change = Callable[[str], str]


@attrs.frozen
class MetamorphicFailure:
    """A fixture whose changed text got another answer than it must."""

    fixture: str
    change: str
    expected: str
    actual: str

    def to_packet(self) -> dict[str, str]:
        """The failure, ready for JSON."""
        return {"fixture": self.fixture, "change": self.change, "expected": self.expected, "actual": self.actual}


@attrs.frozen
class MetamorphicReport:
    """How many changed texts were tried for each change, and which got a wrong answer."""

    tried: Mapping[str, int]
    failures: tuple[MetamorphicFailure, ...] = ()

    def to_packet(self) -> dict[str, Any]:
        """Counts and failures, ready for JSON."""
        return {"tried": dict(self.tried), "failures": [failure.to_packet() for failure in self.failures]}


def run_metamorphic(cases: Sequence[ReadFixture], infer: Infer, index: Detects) -> MetamorphicReport:
    """Try every change on each positive case of a project without a subject that passes as it is."""
    tried = dict.fromkeys(("letter_case", "neutral_sentence", "sentence_order", "no_evidence", "denied"), 0)
    failures: list[MetamorphicFailure] = []
    neutral = _neutral_sentence(index)
    for case in cases:
        if not _suitable(case):
            continue
        before = _answer(case, case.fixture.task_packet, infer)
        if before is None or _decided(before) == "no_subject":
            continue
        for change, packet, must in _changed(case, neutral, index, _decided(before)):
            after = _answer(case, packet, infer)
            tried[change] += 1
            actual = "an error" if after is None else _decided(after)
            if not must(actual):
                expected = {"no_evidence": "no_subject", "denied": "no suggestion"}.get(change, _decided(before))
                failures.append(MetamorphicFailure(case.fixture.name, change, expected, actual))
    return MetamorphicReport(tried, tuple(failures))


def _suitable(case: ReadFixture) -> bool:
    fixture = case.fixture
    directives = any(item.role in ("exclude", "keep") for item in case.evidence)
    return (
        case.document is not None
        and not fixture.near_miss
        and fixture.manifest.subject_mode == "auto"
        and not directives
        and not any(field.references for field in case.document.fields)
    )


def _decided(packet: RefinementPacket) -> str:
    return f"suggest_subject {packet.primary_subject}" if packet.decision == "suggest_subject" else packet.decision


def _answer(case: ReadFixture, packet: Mapping[str, object] | str, infer: Infer) -> RefinementPacket | None:
    try:
        return infer(packet, manifest_state=case.fixture.manifest, memory=case.fixture.memory)
    except Exception:  # the caller reports the case by name
        return None


def _neutral_sentence(index: Detects) -> str:
    return next((text for text in NEUTRAL if not index.detect(read_document(text))), "")


def _changed(
    case: ReadFixture, neutral: str, index: Detects, before: str
) -> Iterator[tuple[str, Mapping[str, object] | str, Callable[[str], bool]]]:
    """Name of the change, the changed task, and what its answer must satisfy."""

    def unchanged(actual: str) -> bool:
        return actual == before

    packet = case.fixture.task_packet
    yield "letter_case", _rewritten(packet, _capitalised), unchanged
    if neutral:
        yield "neutral_sentence", _rewritten(packet, lambda text: f"{text.rstrip()} {neutral}"), unchanged
    reordered = _rewritten(packet, _reversed_sentences)
    if reordered != packet:
        yield "sentence_order", reordered, unchanged
    yield "no_evidence", without_evidence(case, index), lambda actual: actual == "no_subject"
    yield "denied", denied(case), lambda actual: not actual.startswith("suggest_subject")


def _rewritten(packet: Mapping[str, object] | str, change: Change) -> Mapping[str, object] | str:
    """The task with its running text changed; short fields such as a venue or keywords stay."""
    if isinstance(packet, str):
        return change(packet)
    return {
        name: change(value) if isinstance(value, str) and name in ("abstract", "context", "draft", "text") else value
        for name, value in packet.items()
    }


def _capitalised(text: str) -> str:
    """Every plain lower-case word with a capital: `Event Study`; acronyms and mixed words stay as they are."""
    return _LOWER_WORD.sub(lambda match: match.group().capitalize(), text)


def _reversed_sentences(text: str) -> str:
    if "\n" in text:
        return text
    sentences = [sentence.strip() for sentence in _SENTENCE.split(text) if sentence.strip()]
    if len(sentences) < 2:
        return text
    joint = "" if not text.isascii() and "。" in text else " "
    if not sentences[-1].endswith((".", "!", "?", "。", "！", "？")):
        sentences[-1] += "." if joint else "。"
    return joint.join(reversed(sentences))


def without_evidence(case: ReadFixture, index: Detects) -> dict[str, object]:
    """The task with everything that was found replaced by a word that says nothing."""
    assert case.document is not None
    texts = {field.name: field.text for field in case.document.fields}
    # What is left of an overlap may match anew, so that a few rounds are needed.
    for _ in range(5):
        try:
            found = index.detect(read_document(texts))
        except InputError:
            break
        if not found:
            break
        for item in sorted(found, key=lambda item: item.start, reverse=True):
            text = texts[item.field]
            texts[item.field] = f"{text[: item.start]} {_FILLER} {text[item.end :]}"
    return dict(texts)


def denied(case: ReadFixture) -> dict[str, object]:
    """A task that denies, in a sentence of its own, every piece of evidence that the case asserts."""
    sentences = []
    for item in case.evidence:
        if item.role == "signal" and item.polarity == "asserted":
            snippet = " ".join(item.snippet.split())
            sentence = f"We do not use {snippet}." if snippet.isascii() else f"本文不使用{snippet}。"
            if sentence not in sentences:
                sentences.append(sentence)
    return {"context": " ".join(sentences)}
