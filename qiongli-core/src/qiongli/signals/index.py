"""The compiled index: all patterns of all subjects, matched in one pass, turned into evidence with polarity."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

import attrs

from qiongli.contract.models import Pattern, SubjectContract
from qiongli.document import Document, DocumentField, normal_form
from qiongli.patterns import LazyPattern
from qiongli.records._units import Ppm
from qiongli.records.evidence import Evidence
from qiongli.signals import _plural
from qiongli.signals._trie import TokenTrie
from qiongli.signals.directives import DirectivePatterns, directive_patterns
from qiongli.signals.polarity import Clauses

#: Changes when the same contracts would compile to something else.
INDEX_VERSION: Final = 3

#: Tokens on either side within which an acronym's context word must stand.
ACRONYM_WINDOW: Final = 12


#: Punctuation that ends a phrase: "life cycle; portfolio" is no life-cycle portfolio.
_BREAKS: Final = LazyPattern(r"[;:!?。；！？，]|[,.](?=\s)")


@attrs.frozen
class Owner:
    """The signal or suppressor that a pattern belongs to."""

    id: str
    subject: str
    dimension: str
    value: str
    activation: str
    weight: int
    role: str


@attrs.frozen
class Rule:
    """One pattern of one owner; `owner` is its number."""

    owner: int
    kind: str
    text: str
    near: tuple[str, ...] = ()


@attrs.frozen
class _Surroundings:
    """What decides the polarity of the matches in one field."""

    clauses: Clauses
    suppressed: tuple[tuple[str, int, int], ...]
    directives: tuple[tuple[int, int], ...]

    def suppresses(self, subject: str, start: int, end: int) -> bool:
        """Whether a suppressor of the subject overlaps the span."""
        return any(owner == subject and low < end and start < high for owner, low, high in self.suppressed)

    def directs(self, start: int, end: int) -> bool:
        """Whether the span is part of a directive."""
        return any(low <= start and end <= high for low, high in self.directives)


class SignalIndex:
    """Everything that can match, for a set of subjects; immutable once built."""

    def __init__(
        self,
        digest: str,
        subjects: tuple[tuple[str, str], ...],
        owners: tuple[Owner, ...],
        rules: tuple[Rule, ...],
        trie: TokenTrie,
    ) -> None:
        self.digest = digest
        self.owners = owners
        self.rules = rules
        self.trie = trie
        self._subjects = subjects
        self._symbols: dict[int, tuple[int, str, int]] = {}
        self._near: dict[int, frozenset[tuple[str, ...]]] = {}
        self._regexes: list[tuple[int, Any]] = [
            (number, None) for number, rule in enumerate(rules) if rule.kind == "regex"
        ]
        self._directives: DirectivePatterns | None = None

    @property
    def subjects(self) -> tuple[str, ...]:
        """Slugs of the subjects in the index."""
        return tuple(slug for slug, _ in self._subjects)

    @property
    def named_subjects(self) -> tuple[tuple[str, str], ...]:
        """Slug and display name of the subjects."""
        return self._subjects

    def detect(self, document: Document) -> tuple[Evidence, ...]:
        """All evidence in a document, sorted by field, place and id."""
        found: list[Evidence] = []
        for field in document.fields:
            found += self._in_field(field)
        order = {field.name: index for index, field in enumerate(document.fields)}
        found.sort(key=lambda item: (order[item.field], item.start, item.end, item.signal_id, item.role))
        return tuple(found)

    def _in_field(self, field: DocumentField) -> list[Evidence]:
        hits = {
            (number, field.tokens.starts[first], field.tokens.ends[last - 1])
            for first, last, numbers in self.trie.find(field.tokens.words)
            for number in numbers
            if self._accepts(number, field, first, last)
        }
        for number, pattern in self._compiled_regexes():
            hits |= {(number, match.start(), match.end()) for match in pattern.finditer(field.masked)}
        spans: dict[tuple[int, int, int], None] = {}
        for number, start, end in sorted(hits):
            spans[(self.rules[number].owner, start, end)] = None
        suppressed = [
            (self.owners[owner].subject, start, end)
            for owner, start, end in spans
            if self.owners[owner].role == "suppressor"
        ]
        if self._directives is None:
            self._directives = directive_patterns(self._subjects)
        directives = tuple(self._directives.find(field))
        if not spans and not directives:
            return []
        surroundings = _Surroundings(
            Clauses(field.masked, field.tokens),
            tuple(suppressed),
            # A directive's own words speak for no subject.
            tuple((item.start, item.end) for item in directives),
        )
        found = [self._evidence(field, self.owners[owner], start, end, surroundings) for owner, start, end in spans]
        for item in directives:
            quoted = surroundings.clauses.quotes(item.start, item.end)
            found.append(attrs.evolve(item, polarity="quoted") if quoted else item)
        return found

    def _accepts(self, number: int, field: DocumentField, first: int, last: int) -> bool:
        rule = self.rules[number]
        symbols = self._symbols.get(number)
        if symbols is None:
            symbols = self._symbols[number] = _symbols(rule.text)
        if symbols[1] and not _has_symbols(
            field.text, field.tokens.starts[first], field.tokens.ends[last - 1], symbols
        ):
            return False
        if last - first > 1 and not self._unbroken(rule, field, first, last):
            return False
        if rule.kind != "acronym":
            return True
        text = field.text[field.tokens.starts[first] : field.tokens.ends[last - 1]]
        if text != rule.text and text != f"{rule.text}s":
            return False
        if field.name in ("venue", "jel"):
            return True
        words = field.tokens.words
        low, high = max(0, first - ACRONYM_WINDOW), min(len(words), last + ACRONYM_WINDOW)
        while low < first and _sentence_ends(field, low, first):
            low += 1
        while high > last and _sentence_ends(field, last - 1, high - 1):
            high -= 1
        near = self._near.get(number)
        if near is None:
            near = frozenset(form for phrase in rule.near for form in _phrase_forms(normal_form(phrase)))
            self._near[number] = near
        lengths = {len(form) for form in near}
        return any(
            tuple(words[index : index + length]) in near
            for length in lengths
            for index in (*range(low, first - length + 1), *range(last, high - length + 1))
        )

    def _unbroken(self, rule: Rule, field: DocumentField, first: int, last: int) -> bool:
        """Whether no punctuation that the pattern itself lacks stands between the words of a match."""
        broken = _BREAKS.search(field.masked, field.tokens.starts[first], field.tokens.ends[last - 1])
        return broken is None or broken.group()[0] in rule.text

    def _compiled_regexes(self) -> list[tuple[int, Any]]:
        if self._regexes and self._regexes[0][1] is None:
            import re2

            options = re2.Options()
            options.case_sensitive = False
            self._regexes = [(number, re2.compile(self.rules[number].text, options)) for number, _ in self._regexes]
        return self._regexes

    def _evidence(
        self, field: DocumentField, owner: Owner, start: int, end: int, surroundings: _Surroundings
    ) -> Evidence:
        polarity = "asserted"
        if owner.role == "signal" and surroundings.suppresses(owner.subject, start, end):
            polarity = "everyday"
        elif surroundings.clauses.quotes(start, end):
            polarity = "quoted"
        elif owner.role == "signal" and surroundings.directs(start, end):
            polarity = "excluded"
        elif owner.role == "signal" and surroundings.clauses.denies(start, end):
            polarity = "negated"
        in_references = field.references is not None and field.references[0] <= start < field.references[1]
        return Evidence(
            signal_id=owner.id,
            subject=owner.subject,
            dimension=owner.dimension,  # type: ignore[arg-type]
            value=owner.value,
            activation="context_only" if in_references else owner.activation,  # type: ignore[arg-type]
            weight=Ppm(owner.weight),
            field=field.name,
            start=start,
            end=end,
            snippet=field.text[start:end],
            polarity=polarity,  # type: ignore[arg-type]
            role=owner.role,  # type: ignore[arg-type]
        )


def _phrase_forms(words: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    if not words:
        return ()
    return tuple((*words[:-1], last) for last in _plural.forms(words[-1], alone=len(words) == 1))


#: Symbols that tell terms apart although normalisation drops them: C++ is not C, R&D is not "R D".
_TELLING: Final = frozenset("+&#@%$*")


def _symbols(pattern: str) -> tuple[int, str, int]:
    """The telling symbols of a pattern: how many stand before its first word, all of them, and how many after its last.

    A dot counts only where it opens the pattern, as in .NET.
    """
    words = [index for index, character in enumerate(pattern) if character.isalnum()]
    if not words:
        return 0, "", 0
    opening = "".join(character for character in pattern[: words[0]] if character in _TELLING or character == ".")
    inside = "".join(character for character in pattern[words[0] : words[-1] + 1] if character in _TELLING)
    closing = "".join(character for character in pattern[words[-1] + 1 :] if character in _TELLING)
    return len(opening), opening + inside + closing, len(closing)


def _has_symbols(text: str, start: int, end: int, symbols: tuple[int, str, int]) -> bool:
    """Whether the original characters of a match have the pattern's telling symbols, in order."""
    opening, wanted, closing = symbols
    before = text[max(0, start - opening) : start]
    found = before + text[start : end + closing]
    return "".join(sign for sign in found if sign in _TELLING or (sign == "." and sign in wanted)) == wanted


def _sentence_ends(field: DocumentField, first: int, last: int) -> bool:
    """Whether a sentence ends between two tokens."""
    between = field.masked[field.tokens.ends[first] : field.tokens.starts[last]]
    return re.search(r"[.!?;]\s|[。！？；]|\n\s*\n", between) is not None


def _rules(owner: int, patterns: Iterable[Pattern]) -> list[Rule]:
    return [Rule(owner, pattern.kind, pattern.text, pattern.near) for pattern in patterns]


def compile_index(contracts: Sequence[SubjectContract]) -> SignalIndex:
    """Compile the signals and suppressors of the contracts into one index; their order does not matter."""
    owners: list[Owner] = []
    rules: list[Rule] = []
    ordered = sorted(contracts, key=lambda contract: contract.subject)
    for contract in ordered:
        for signal in contract.signals:
            rules += _rules(len(owners), signal.patterns)
            owners.append(
                Owner(
                    signal.id,
                    signal.subject,
                    signal.dimension,
                    signal.value,
                    signal.activation,
                    signal.weight,
                    "signal",
                )
            )
        for suppressor in contract.suppressors:
            rules += _rules(len(owners), suppressor.patterns)
            owners.append(
                Owner(
                    suppressor.id,
                    contract.subject,
                    "data_or_outcome",
                    suppressor.id,
                    "context_only",
                    suppressor.weight,
                    "suppressor",
                )
            )
    return SignalIndex(
        index_digest(ordered),
        tuple((contract.subject, contract.display_name) for contract in ordered),
        tuple(owners),
        tuple(rules),
        _trie(rules),
    )


def _trie(rules: Sequence[Rule]) -> TokenTrie:
    """All phrases and acronyms by their normal forms; regexes stand apart."""
    trie = TokenTrie()
    for number, rule in enumerate(rules):
        words = () if rule.kind == "regex" else normal_form(rule.text)
        for form in (words,) if rule.kind == "acronym" and words else _phrase_forms(words):
            trie.add(form, number)
    return trie


def index_digest(contracts: Sequence[SubjectContract]) -> str:
    """The digest that names the index of these contracts."""
    parts = sorted(f"{contract.subject} {contract.digest}" for contract in contracts)
    return hashlib.sha256("\n".join([str(INDEX_VERSION), *parts]).encode()).hexdigest()


def index_to_json(index: SignalIndex) -> str:
    """The index as JSON text."""
    return json.dumps(
        {
            "version": INDEX_VERSION,
            "digest": index.digest,
            "subjects": index.named_subjects,
            "owners": [attrs.astuple(owner) for owner in index.owners],
            "rules": [[rule.owner, rule.kind, rule.text, list(rule.near)] for rule in index.rules],
            "trie": index.trie.root,
        },
        ensure_ascii=False,
        separators=(",", ":"),
    )


def index_from_json(text: str) -> SignalIndex:
    """The index from its JSON text; raises ValueError, TypeError or KeyError for anything else."""
    raw = json.loads(text)
    if raw["version"] != INDEX_VERSION:
        raise ValueError("another version of the index")
    if not isinstance(raw["trie"], dict):
        raise TypeError("the trie is no mapping")
    return SignalIndex(
        str(raw["digest"]),
        tuple((slug, name) for slug, name in raw["subjects"]),
        tuple(Owner(*owner) for owner in raw["owners"]),
        tuple(Rule(owner, kind, pattern, tuple(near)) for owner, kind, pattern, near in raw["rules"]),
        TokenTrie(raw["trie"]),
    )
