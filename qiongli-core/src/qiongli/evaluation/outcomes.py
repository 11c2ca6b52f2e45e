"""What a fixture's task came to: the packet against the expectation, and what decided."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import attrs

from qiongli.evaluation.fixtures import Expected, Fixture
from qiongli.records._units import SCALE, Ppm
from qiongli.records.evaluation import CaseResult
from qiongli.records.packet import RefinementPacket
from qiongli.records.project import AUTO

#: Most lines of evidence that a result keeps.
EVIDENCE_LINES: Final = 12
_SNIPPET: Final = 80


@attrs.frozen
class Mismatch:
    """One field whose value is not what the fixture expects."""

    field: str
    expected: Any
    actual: Any

    def __str__(self) -> str:
        return f"{self.field}: expected {_shown(self.expected)}, got {_shown(self.actual)}"


@attrs.frozen
class Outcome:
    """The answer to one fixture; `error` is set when the router raised instead of answering."""

    fixture: Fixture
    decision: str
    primary: str
    suggested: tuple[str, ...] = ()
    mismatches: tuple[Mismatch, ...] = ()
    #: A near miss, or a core-only task, whose suggestion is one of the subjects that it guards against.
    false_positive: bool = False
    actual: Mapping[str, Any] = attrs.field(factory=dict)
    evidence: tuple[str, ...] = ()
    confidence: int = 0
    error: str = ""

    @property
    def passed(self) -> bool:
        """Whether everything that the fixture expects came out."""
        return not self.mismatches and not self.error

    @property
    def decision_right(self) -> bool:
        """Whether the decision alone came out."""
        return not self.error and self.decision == self.fixture.expected.decision

    @property
    def primary_right(self) -> bool:
        """Whether the primary subject alone came out, where the fixture names one."""
        return not self.error and self.primary == self.fixture.expected.primary_subject

    @property
    def suggestion_right(self) -> bool:
        """Whether a suggestion was made that the fixture wants."""
        expected = self.fixture.expected
        if self.error or self.decision != "suggest_subject" or expected.decision != "suggest_subject":
            return False
        if expected.primary_subject is not None:
            return self.primary == expected.primary_subject
        return not expected.suggest_subjects or self.primary in expected.suggest_subjects

    def signature(self) -> str:
        """Everything observable of the answer as one text, to compare two runs."""
        from json import dumps

        return dumps([self.fixture.key, self.passed, self.confidence, dict(self.actual), list(self.evidence)])

    def to_record(self) -> CaseResult:
        """The outcome as it is published."""
        problems = (self.error,) if self.error else tuple(str(mismatch) for mismatch in self.mismatches)
        return CaseResult(
            name=self.fixture.name,
            pack=self.fixture.pack,
            category=self.fixture.category,
            tags=self.fixture.tags,
            description=self.fixture.description,
            passed=self.passed,
            expected=expected_packet(self.fixture.expected),
            actual=dict(self.actual),
            problems=problems,
            evidence=self.evidence,
            confidence=Ppm(self.confidence),
        )


def _shown(value: Any) -> str:
    if isinstance(value, list | tuple | set | frozenset):
        return "[" + ", ".join(sorted(str(item) for item in value)) + "]"
    return str(value).lower() if isinstance(value, bool) else str(value)


def expected_packet(expected: Expected) -> dict[str, Any]:
    """What the fixture mentions, in the packet's vocabulary, ready for JSON."""
    packet: dict[str, Any] = {"decision": expected.decision}
    if expected.primary_subject is not None:
        packet["primary_subject"] = expected.primary_subject
    for name in ("suggest_subjects", "allowed_neighbor_subjects", "secondary_subjects", "method_lenses"):
        value = getattr(expected, name)
        if value is not None:
            packet[name] = sorted(value)
    if expected.forbidden_subjects:
        packet["forbidden_subjects"] = sorted(expected.forbidden_subjects)
    if expected.borrowed_lenses is not None:
        packet["borrowed_lenses"] = sorted(
            f"{item.subject}/{item.lens}" if item.subject else item.lens for item in expected.borrowed_lenses
        )
    for name in ("prompt", "promotion_status"):
        if getattr(expected, name) is not None:
            packet[name] = getattr(expected, name)
    return packet


def suggested_subjects(packet: RefinementPacket) -> tuple[str, ...]:
    """The subjects that a packet puts forward: the suggested one and its rivals within the margin."""
    if packet.decision != "suggest_subject":
        return ()
    return (packet.primary_subject, *packet.secondary_subjects)


def judge(fixture: Fixture, packet: RefinementPacket, *, forbidden: Iterable[str] = ()) -> Outcome:
    """Compare a packet with a fixture; `forbidden` are the subjects that the pack's contract guards against."""
    suggested = suggested_subjects(packet)
    return Outcome(
        fixture=fixture,
        decision=packet.decision,
        primary=packet.primary_subject,
        suggested=suggested,
        mismatches=tuple(_mismatches(fixture, packet, suggested)),
        false_positive=_false_positive(fixture, suggested, frozenset(forbidden)),
        actual=_actual(packet),
        evidence=deciding_evidence(packet, _concerned(fixture, packet)),
        confidence=packet.confidence,
    )


def failed_outcome(fixture: Fixture, error: str) -> Outcome:
    """The outcome of a task on which the router raised; it is never right, and no false positive either."""
    return Outcome(fixture, decision="error", primary="error", actual={"error": error}, error=error)


def _mismatches(fixture: Fixture, packet: RefinementPacket, suggested: tuple[str, ...]) -> Iterable[Mismatch]:
    expected = fixture.expected
    if packet.decision != expected.decision:
        yield Mismatch("decision", expected.decision, packet.decision)
    if expected.primary_subject is not None and packet.primary_subject != expected.primary_subject:
        yield Mismatch("primary_subject", expected.primary_subject, packet.primary_subject)
    yield from _subject_mismatches(expected, packet, suggested)
    yield from _lens_mismatches(expected, packet)
    prompt = expected.prompt
    if prompt is None and fixture.category == "dismissed_subject" and fixture.memory is not None:
        # What a dismissal is for: unless the fixture says otherwise, nothing prompts.
        prompt = False
    if prompt is not None and packet.prompt != prompt:
        yield Mismatch("prompt", prompt, packet.prompt)
    status = _promotion_status(packet)
    if expected.promotion_status is not None and status != expected.promotion_status:
        yield Mismatch("promotion_status", expected.promotion_status, status)


def _subject_mismatches(expected: Expected, packet: RefinementPacket, suggested: tuple[str, ...]) -> Iterable[Mismatch]:
    named = {packet.primary_subject, *packet.secondary_subjects} - {AUTO}
    wrong = named & expected.forbidden_subjects
    if wrong:
        yield Mismatch("forbidden_subjects", f"none of {_shown(expected.forbidden_subjects)}", sorted(wrong))
    if expected.secondary_subjects is not None and set(packet.secondary_subjects) != expected.secondary_subjects:
        yield Mismatch("secondary_subjects", expected.secondary_subjects, packet.secondary_subjects)
    wanted = expected.suggest_subjects
    if wanted is not None and expected.decision == "suggest_subject" and not wanted <= {*suggested}:
        yield Mismatch("suggest_subjects", wanted, suggested)
    if expected.allowed_neighbor_subjects is not None:
        allowed = expected.allowed_neighbor_subjects | (wanted or frozenset()) | {expected.primary_subject or AUTO}
        strangers = {*suggested} - allowed
        if strangers:
            yield Mismatch("allowed_neighbor_subjects", sorted(allowed - {AUTO}), sorted(strangers))


def _lens_mismatches(expected: Expected, packet: RefinementPacket) -> Iterable[Mismatch]:
    own = {*packet.method_lenses}
    borrowed = {lens.lens for lens in packet.borrowed_lenses}
    lenses = expected.method_lenses
    if lenses is not None:
        # Packs that know no `borrowed_lenses` list the lens that is lent without its subject under `method_lenses`.
        together = expected.borrowed_lenses is None and expected.decision == "borrow_lens" and bool(lenses)
        actual = own | borrowed if together else own
        if actual != lenses:
            yield Mismatch("method_lenses", lenses, actual)
    if expected.borrowed_lenses is not None:
        pairs = {(lens.subject, lens.lens) for lens in packet.borrowed_lenses}
        wanted = {item.lens for item in expected.borrowed_lenses}
        of_subject = {(item.subject, item.lens) for item in expected.borrowed_lenses if item.subject}
        if borrowed != wanted or not of_subject <= pairs:
            shown = {f"{item.subject}/{item.lens}" if item.subject else item.lens for item in expected.borrowed_lenses}
            yield Mismatch("borrowed_lenses", shown, {f"{subject}/{lens}" for subject, lens in pairs})


def _promotion_status(packet: RefinementPacket) -> str:
    return packet.promotion_recommendation.status if packet.promotion_recommendation is not None else "none"


def _false_positive(fixture: Fixture, suggested: tuple[str, ...], forbidden: frozenset[str]) -> bool:
    expected = fixture.expected
    if not fixture.near_miss:
        return bool(suggested) and expected.decision == "no_subject"
    guarded = forbidden | expected.forbidden_subjects | {fixture.subject_under_test or AUTO}
    strangers = {*suggested} - {expected.primary_subject}
    if guarded == {AUTO}:
        # A near miss that names nobody guards against every subject but the one it expects.
        return bool(strangers)
    return bool(strangers & guarded)


def _actual(packet: RefinementPacket) -> dict[str, Any]:
    """The fields of a packet that fixtures speak of, and the refusal."""
    actual: dict[str, Any] = {
        "decision": packet.decision,
        "primary_subject": packet.primary_subject,
        "secondary_subjects": list(packet.secondary_subjects),
        "method_lenses": list(packet.method_lenses),
        "borrowed_lenses": [f"{lens.subject}/{lens.lens}" for lens in packet.borrowed_lenses],
        "prompt": packet.prompt,
        "promotion_status": _promotion_status(packet),
        "candidates": {item.subject: item.score / SCALE for item in packet.candidate_subjects},
        "blocked": {item.subject: [reason.code for reason in item.reasons] for item in packet.blocked_candidates},
        "reasons": [reason.code for reason in packet.reasons],
    }
    if packet.refusal is not None:
        actual["refusal"] = packet.refusal.code
    return actual


def _concerned(fixture: Fixture, packet: RefinementPacket) -> set[str]:
    """The subjects whose evidence explains the outcome."""
    concerned = {packet.primary_subject, *packet.secondary_subjects, fixture.expected.primary_subject or AUTO}
    concerned |= {fixture.subject_under_test or AUTO, *(fixture.expected.suggest_subjects or ())}
    concerned |= {lens.subject for lens in packet.borrowed_lenses}
    return concerned - {AUTO}


def deciding_evidence(packet: RefinementPacket, subjects: Iterable[str] = ()) -> tuple[str, ...]:
    """One line for each piece of evidence of the subjects, those concerned first; bounded."""
    wanted = {*subjects}
    found = sorted(packet.signals, key=lambda item: (item.subject not in wanted, item.polarity != "asserted"))
    lines = []
    for item in found:
        snippet = " ".join(item.snippet.split())
        if len(snippet) > _SNIPPET:
            snippet = snippet[:_SNIPPET] + "…"
        role = "" if item.role == "signal" else f"{item.role}, "
        what = f"{role}{item.polarity}, {item.activation}, {item.weight / SCALE:.2f}"
        line = f"{item.signal_id} ({what}) {item.field}: {snippet!r}"
        if line not in lines:
            lines.append(line)
    if len(lines) > EVIDENCE_LINES:
        return (*lines[:EVIDENCE_LINES], f"and {len(lines) - EVIDENCE_LINES} more")
    return tuple(lines)
