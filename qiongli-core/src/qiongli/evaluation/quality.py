"""Whether a pack measures anything: near misses that are near, cases that differ, positives that are nobody's copy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

import attrs

from qiongli.contract.models import SubjectContract
from qiongli.document import normal_form
from qiongli.evaluation.documents import ReadFixture
from qiongli.evaluation.fixtures import REQUIRED_CATEGORIES, Fixture
from qiongli.records.project import AUTO

#: Share of common word triples from which two cases are near-duplicates.
DUPLICATE_SHARE: Final = 0.80

#: Shortest example, in tokens, whose words inside a fixture are a copy and no coincidence.
SHORTEST_COPY: Final = 6

_SHINGLE: Final = 3

#: Words of research prose that make nothing near.
_GENERIC: Final = frozenset(
    [
        "a",
        "about",
        "across",
        "after",
        "against",
        "all",
        "among",
        "an",
        "analyse",
        "analysis",
        "analyze",
        "and",
        "approach",
        "are",
        "article",
        "as",
        "at",
        "author",
        "based",
        "be",
        "before",
        "between",
        "by",
        "can",
        "case",
        "change",
        "data",
        "design",
        "did",
        "do",
        "effect",
        "effects",
        "empirical",
        "estimate",
        "estimates",
        "estimation",
        "evidence",
        "for",
        "from",
        "group",
        "groups",
        "had",
        "has",
        "have",
        "high",
        "how",
        "in",
        "into",
        "is",
        "it",
        "its",
        "large",
        "level",
        "levels",
        "low",
        "measure",
        "measures",
        "method",
        "methods",
        "model",
        "models",
        "more",
        "new",
        "of",
        "on",
        "one",
        "or",
        "our",
        "over",
        "paper",
        "period",
        "rate",
        "rates",
        "research",
        "result",
        "results",
        "sample",
        "set",
        "show",
        "small",
        "study",
        "studies",
        "test",
        "tests",
        "than",
        "that",
        "the",
        "their",
        "these",
        "this",
        "time",
        "to",
        "two",
        "under",
        "use",
        "used",
        "using",
        "value",
        "values",
        "variable",
        "was",
        "we",
        "were",
        "what",
        "when",
        "which",
        "with",
        "within",
        "without",
        "year",
        "years",
        "no",
        "not",
    ]
)


@attrs.frozen
class PackQuality:
    """What is suspicious in a pack; the names are those of fixtures."""

    #: Near misses that touch no signal and share no word with one.
    far_near_misses: tuple[str, ...] = ()
    #: Cases that say the same as an earlier one: name, and the earlier one's.
    near_duplicates: tuple[tuple[str, str], ...] = ()
    #: Cases that are an earlier one under another name.
    exact_duplicates: tuple[tuple[str, str], ...] = ()
    #: Positives that hold an example of the contract: name, and the signal's id.
    copied_positives: tuple[tuple[str, str], ...] = ()
    #: Cases that are not what their category says: name, and why.
    mislabelled: tuple[tuple[str, str], ...] = ()
    #: Near misses whose `description` does not say what makes them near.
    undescribed_near_misses: tuple[str, ...] = ()

    @property
    def uncounted(self) -> frozenset[str]:
        """Fixtures that are run and judged, but add nothing to the evidence that there is enough of."""
        repeated = {name for name, _ in (*self.near_duplicates, *self.exact_duplicates)}
        return frozenset({*self.far_near_misses, *repeated, *(name for name, _ in self.mislabelled)})

    def to_packet(self) -> dict[str, object]:
        """All flags, ready for JSON."""
        return {
            "far_near_misses": list(self.far_near_misses),
            "undescribed_near_misses": list(self.undescribed_near_misses),
            "near_duplicates": [{"name": name, "of": other} for name, other in self.near_duplicates],
            "exact_duplicates": [{"name": name, "of": other} for name, other in self.exact_duplicates],
            "copied_positives": [{"name": name, "signal": signal} for name, signal in self.copied_positives],
            "mislabelled": [{"name": name, "why": why} for name, why in self.mislabelled],
        }


def examine_pack(cases: Sequence[ReadFixture], contract: SubjectContract) -> PackQuality:
    """Flag what is suspicious in a subject's pack."""
    ordered = sorted(cases, key=lambda case: case.fixture.name)
    near_misses = [case for case in ordered if case.fixture.near_miss]
    vocabulary = _vocabulary(contract)
    duplicates = _duplicates(ordered)
    return PackQuality(
        far_near_misses=tuple(
            case.fixture.name
            for case in near_misses
            if not any(item.subject == contract.subject for item in case.evidence)
            and vocabulary.isdisjoint(case.words)
            and not _shares_chinese(case.words, vocabulary)
        ),
        near_duplicates=tuple((name, other) for name, other, exact in duplicates if not exact),
        exact_duplicates=tuple((name, other) for name, other, exact in duplicates if exact),
        copied_positives=tuple(_copies(ordered, contract)),
        mislabelled=tuple(
            (case.fixture.name, why) for case in ordered if (why := mislabelling(case.fixture, contract.subject))
        ),
        undescribed_near_misses=tuple(
            case.fixture.name for case in near_misses if not case.fixture.description.strip()
        ),
    )


def _vocabulary(contract: SubjectContract) -> frozenset[str]:
    """The telling words of all patterns, as tokens; pairs of characters for Chinese, joined."""
    words: set[str] = set()
    patterns = [pattern for signal in contract.signals for pattern in signal.patterns]
    patterns += [pattern for suppressor in contract.suppressors for pattern in suppressor.patterns]
    for pattern in patterns:
        if pattern.kind == "regex":
            continue
        tokens = normal_form(pattern.text)
        words.update(token for token in tokens if len(token) > 1 and token not in _GENERIC)
        words.update(_pairs(tokens))
    for name in (contract.subject.replace("-", " "), contract.display_name):
        words.update(token for token in normal_form(name) if token not in _GENERIC)
    plural = {f"{word}s" for word in words if word.isascii()}
    return frozenset(words | plural | {word[:-1] for word in words if word.isascii() and word.endswith("s")})


def _pairs(tokens: Sequence[str]) -> Iterable[str]:
    return (first + second for first, second in pairwise(tokens) if not (first + second).isascii())


def _shares_chinese(words: Sequence[str], vocabulary: frozenset[str]) -> bool:
    return not vocabulary.isdisjoint(_pairs(words))


def _state(fixture: Fixture) -> tuple[object, ...]:
    """What besides the text makes a case another one."""
    return (fixture.manifest, repr(fixture.memory))


def _shingles(words: Sequence[str]) -> frozenset[tuple[str, ...]]:
    if len(words) < _SHINGLE:
        return frozenset({tuple(words)})
    return frozenset(tuple(words[start : start + _SHINGLE]) for start in range(len(words) - _SHINGLE + 1))


def _duplicates(cases: Sequence[ReadFixture]) -> list[tuple[str, str, bool]]:
    """Name, name of the earlier case that it repeats, and whether exactly; compared only within the same state."""
    found = []
    seen: list[tuple[str, frozenset[tuple[str, ...]], tuple[str, ...]]] = []
    holders: dict[tuple[tuple[object, ...], tuple[str, ...]], list[int]] = defaultdict(list)
    for case in cases:
        words = case.words
        shingles = _shingles(words)
        state = _state(case.fixture)
        common: dict[int, int] = defaultdict(int)
        for shingle in shingles:
            for number in holders[state, shingle]:
                common[number] += 1
        best = None
        for number in sorted(common):
            name, others, other_words = seen[number]
            share = common[number] / (len(shingles) + len(others) - common[number])
            if share >= DUPLICATE_SHARE and (best is None or share > best[0]):
                best = (share, name, words == other_words)
        if best is not None:
            found.append((case.fixture.name, best[1], best[2]))
        for shingle in shingles:
            holders[state, shingle].append(len(seen))
        seen.append((case.fixture.name, shingles, words))
    return found


def _copies(cases: Sequence[ReadFixture], contract: SubjectContract) -> Iterable[tuple[str, str]]:
    """Cases that expect the subject and hold a whole example of one of its signals."""
    examples = [
        (f" {' '.join(tokens)} ", signal.id)
        for signal in contract.signals
        for example in signal.examples
        if len(tokens := normal_form(example)) >= SHORTEST_COPY
    ]
    for case in cases:
        if case.fixture.near_miss or case.fixture.expected.decision == "no_subject":
            continue
        text = f" {' '.join(case.words)} "
        for example, signal_id in examples:
            if example in text:
                yield case.fixture.name, signal_id
                break


def mislabelling(fixture: Fixture, subject: str) -> str:
    """Why a fixture is not what its category says, or an empty text."""
    expected, manifest = fixture.expected, fixture.manifest
    category = fixture.category
    if category in ("locked_subject", "confirmed_subject"):
        mode = category.removesuffix("_subject")
        if manifest.subject_mode != mode:
            return f"its manifest has the mode {manifest.subject_mode!r}, not {mode!r}"
    elif category == "dismissed_subject":
        if fixture.memory is None or not fixture.memory.dismissed_subjects:
            return "its memory holds no dismissal"
    elif category == "clear_positive":
        if expected.decision != "suggest_subject" or expected.primary_subject not in (None, subject):
            return f"it does not expect {subject} to be suggested"
    elif category == "method_only_borrow":
        if expected.decision == "suggest_subject":
            return "it expects a suggestion, not a borrowed lens"
    elif category == "near_miss" and expected.decision == "suggest_subject":
        if expected.primary_subject == subject:
            return f"it expects {subject} to be suggested"
        if expected.primary_subject in (None, AUTO):
            return "it expects a suggestion and does not say of which other subject"
    return ""


def missing_categories(fixtures: Iterable[Fixture], quality: PackQuality) -> tuple[str, ...]:
    """Required categories of which the pack has no case that is what it says."""
    mislabelled = {name for name, _ in quality.mislabelled}
    present = {fixture.category for fixture in fixtures if fixture.name not in mislabelled}
    return tuple(category for category in REQUIRED_CATEGORIES if category not in present)
