"""The compiled index: all patterns of all subjects, matched in one pass, turned into evidence with polarity."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any, Final

import attrs

from qiongli._value import Value
from qiongli.contract.models import Pattern, SubjectContract
from qiongli.document import Document, DocumentField, Tokens, normal_form
from qiongli.records._units import Ppm
from qiongli.records.evidence import Evidence
from qiongli.signals._checks import Check, context_words, needs_check, phrase_forms, unbroken
from qiongli.signals._intervals import Intervals
from qiongli.signals._regexes import RegexSet
from qiongli.signals._trie import TokenTrie
from qiongli.signals.directives import find_directives, named_subjects, subject_names
from qiongli.signals.polarity import Clauses

#: Changes when the same contracts would compile to something else.
INDEX_VERSION: Final = 9


@attrs.frozen(repr=False)
class Owner(Value):
    """The signal or suppressor that a pattern belongs to."""

    id: str
    subject: str
    dimension: str
    value: str
    activation: str
    weight: Ppm
    role: str


#: One owner's match: its place in the original text, the owner, and its first token and one past its last. A plain
#: tuple, because most texts have dozens.
_Hit = tuple[int, int, Owner, int, int]


class SignalIndex:
    """Everything that can match, for a set of subjects; it behaves as if immutable, and threads may share it."""

    def __init__(
        self,
        digest: str,
        subjects: tuple[tuple[str, str], ...],
        owners: Sequence[Sequence[Any]],
        checks: Sequence[Sequence[Any]],
        regexes: Sequence[Sequence[Any]],
        trie: TokenTrie,
    ) -> None:
        """Take the parts as plain data, as they are stored; what a text does not need is never made of them.

        A number in the trie is that of an owner, or -1, -2, ... for the first, second, ... of `checks`, each
        (owner, kind, text, context words). From the number of owners on it is a subject's name, in the order of
        `named_subjects`. `regexes` are (owner, expression).
        """
        self.digest = digest
        self._subjects = subjects
        #: Slugs of the subjects in the index.
        self.subjects = tuple(slug for slug, _ in subjects)
        #: Slugs of the subjects that a text may name, by the number of their names.
        self._named = named_subjects(self.subjects)
        self._owner_data = owners
        self._check_data = checks
        self._regex_data = regexes
        self._trie = trie
        self._owners: dict[int, Owner] = {}
        self._checks: dict[int, Check] = {}
        self._regexes = RegexSet([(number, text) for number, text in regexes])

    def detect(self, document: Document) -> tuple[Evidence, ...]:
        """All evidence in a document, sorted by field, place and id."""
        found: list[Evidence] = []
        for field in document.fields:
            in_field = self._in_field(field)
            in_field.sort(key=_PLACE)
            found += in_field
        return tuple(found)

    def _in_field(self, field: DocumentField) -> list[Evidence]:
        matches = list(self._matches(field.tokens, field.name))
        hits = self._hits(field, matches)
        names = len(self._owner_data)
        directives = [
            item
            for item in find_directives(
                field,
                self._named,
                [(first, last, number - names) for first, last, number in matches if number >= names],
            )
            if not field.is_reference(item[0].start)
        ]
        if not hits and not directives:
            return []
        clauses = Clauses(field.tokens)
        found = [
            attrs.evolve(item, polarity="quoted") if clauses.reports(first, last) else item
            for item, first, last in directives
        ]
        senses: dict[str, list[tuple[int, int, _Hit]]] = {}
        for hit in hits:
            start, end, owner, _, _ = hit
            if owner.role == "suppressor" and not field.is_reference(start):
                senses.setdefault(owner.subject, []).append((start, end, hit))
        suppressed = {subject: Intervals(spans) for subject, spans in senses.items()}
        # A directive's own words speak for no subject.
        directed = Intervals((item.start, item.end, None) for item, _, _ in directives) if directives else None
        taken: dict[_Hit, str] = {}
        #: What the author says with the words of the last match; several subjects often own the same words.
        place = (-1, -1, -1, -1)
        said = ""
        for start, end, owner, first, last in hits:
            if owner.role != "signal":
                continue
            everyday = False
            if owner.subject in suppressed:
                for _, _, sense in suppressed[owner.subject].overlapping(start, end):
                    everyday = True
                    taken.setdefault(sense, owner.dimension)
            if everyday:
                found.append(_evidence(field, start, end, owner, owner.dimension, "everyday"))
                continue
            if place != (start, end, first, last):
                place = (start, end, first, last)
                if clauses.quotes(first, last):
                    said = "quoted"
                elif directed is not None and any(directed.covering(start, end)):
                    said = "excluded"
                else:
                    said = "negated" if clauses.denies(first, last) else "asserted"
            found.append(_evidence(field, start, end, owner, owner.dimension, said))
        for spans in senses.values():
            for start, end, hit in spans:
                _, _, owner, first, last = hit
                said = "quoted" if clauses.quotes(first, last) else "asserted"
                found.append(_evidence(field, start, end, owner, taken.get(hit, owner.dimension), said))
        return found

    def _hits(self, field: DocumentField, matches: Sequence[tuple[int, int, int]]) -> list[_Hit]:
        """The owners' matches in a field, by place and owner, each once; `matches` are those of its tokens."""
        places: dict[tuple[int, int, int], tuple[int, int]] = {}
        names = len(self._owner_data)
        tokens, apart = field.tokens, field.tokens.apart
        if matches:
            starts, ends = tokens.starts, tokens.ends
            for first, last, number in matches:
                if number < names:
                    places[starts[first], ends[last - 1], number] = (first, last)
        if apart is not None:
            for first, last, number in self._matches(apart, field.name):
                if number >= names:
                    continue
                start, end = apart.starts[first], apart.ends[last - 1]
                # A match of halves stands in the tokens that hold them.
                around = bisect_right(tokens.starts, start) - 1, bisect_left(tokens.ends, end) + 1
                places.setdefault((start, end, number), around)
        owners = self._owners
        return [
            (start, end, owners.get(number) or self._owner(number), *places[start, end, number])
            for start, end, number in sorted(places)
        ]

    def _matches(self, tokens: Tokens, field: str) -> Iterator[tuple[int, int, int]]:
        """Every match as (first token, one past the last, number of the owner or name)."""
        name = field.casefold()
        for first, last, numbers in (*self._trie.find(tokens.words), *self._regexes.find(tokens)):
            whole = last - first == 1 or unbroken(tokens, first, last)
            for number in numbers:
                if number >= 0:
                    if whole:
                        yield first, last, number
                else:
                    check = self._check(number)
                    if check.accepts(tokens, first, last, name):
                        yield first, last, check.owner

    def _owner(self, number: int) -> Owner:
        owner = self._owners.get(number)
        if owner is None:
            owner = self._owners[number] = Owner(*self._owner_data[number])
        return owner

    def _check(self, number: int) -> Check:
        check = self._checks.get(number)
        if check is None:
            check = self._checks[number] = Check(*self._check_data[-number - 1])
        return check

    def to_json(self) -> str:
        """The index as JSON text."""
        return json.dumps(
            {
                "version": INDEX_VERSION,
                "digest": self.digest,
                "subjects": self._subjects,
                "owners": self._owner_data,
                "checks": self._check_data,
                "regexes": self._regex_data,
                "trie": self._trie.lines,
            },
            ensure_ascii=False,
            separators=(",", ":"),
        )


#: The order of evidence in a field.
_PLACE: Final = attrgetter("start", "end", "signal_id", "role")


def _evidence(field: DocumentField, start: int, end: int, owner: Owner, dimension: str, polarity: str) -> Evidence:
    return Evidence(
        owner.id,
        owner.subject,
        dimension,  # type: ignore[arg-type]
        owner.value,
        "context_only" if field.references and field.is_reference(start) else owner.activation,  # type: ignore[arg-type]
        owner.weight,
        field.name,
        start,
        end,
        field.text[start:end],
        polarity,  # type: ignore[arg-type]
        role=owner.role,  # type: ignore[arg-type]
    )


class _Compiler:
    """The parts of an index in the making."""

    def __init__(self) -> None:
        self.owners: list[tuple[Any, ...]] = []
        self.checks: list[tuple[Any, ...]] = []
        self.regexes: list[tuple[int, str]] = []
        self.phrases: list[tuple[tuple[str, ...], int]] = []

    def add(self, owner: Owner, patterns: Iterable[Pattern]) -> None:
        """Add a signal or suppressor with its patterns."""
        number = len(self.owners)
        self.owners.append(attrs.astuple(owner))
        for pattern in patterns:
            if pattern.kind == "regex":
                self.regexes.append((number, pattern.text))
                continue
            words = normal_form(pattern.text)
            if not words:
                continue
            entry = number
            if needs_check(pattern.kind, pattern.text):
                self.checks.append((number, pattern.kind, pattern.text, context_words(pattern.near)))
                entry = -len(self.checks)
            forms = (words,) if pattern.kind == "acronym" else phrase_forms(words)
            self.phrases += [(form, entry) for form in forms]


def compile_index(contracts: Sequence[SubjectContract]) -> SignalIndex:
    """Compile the signals and suppressors of the contracts into one index; their order does not matter."""
    compiler = _Compiler()
    ordered = sorted(contracts, key=lambda contract: contract.subject)
    for contract in ordered:
        for signal in contract.signals:
            compiler.add(
                Owner(
                    signal.id,
                    signal.subject,
                    signal.dimension,
                    signal.value,
                    signal.activation,
                    signal.weight,
                    "signal",
                ),
                signal.patterns,
            )
        for suppressor in contract.suppressors:
            # Of the dimension of what it overlaps in a text; this one when it overlaps nothing.
            dimension = "data_or_outcome"
            compiler.add(
                Owner(
                    suppressor.id,
                    contract.subject,
                    dimension,
                    suppressor.id,
                    "context_only",
                    suppressor.weight,
                    "suppressor",
                ),
                suppressor.patterns,
            )
    subjects = tuple((contract.subject, contract.display_name) for contract in ordered)
    compiler.phrases += [(words, len(compiler.owners) + number) for words, number in subject_names(subjects)]
    return SignalIndex(
        index_digest(ordered),
        subjects,
        compiler.owners,
        compiler.checks,
        compiler.regexes,
        TokenTrie.of(compiler.phrases),
    )


def index_digest(contracts: Sequence[SubjectContract]) -> str:
    """The digest that names the index of these contracts."""
    parts = sorted(f"{contract.subject} {contract.digest}" for contract in contracts)
    return hashlib.sha256("\n".join([str(INDEX_VERSION), *parts]).encode()).hexdigest()


def index_to_json(index: SignalIndex) -> str:
    """The index as JSON text."""
    return index.to_json()


#: The types of an owner, of a check, of a regular expression and of a subject, field by field.
_OWNER: Final = {(str, str, str, str, str, int, str)}
_CHECK: Final = {(int, str, str, str)}
_REGEX: Final = {(int, str)}
_NAME: Final = {(str, str)}


def index_from_json(text: str) -> SignalIndex:
    """The index from its JSON text; raises ValueError, TypeError or KeyError for what has another version or form.

    It is read under a digest, so that what the lines of the trie say is not looked at again.
    """
    raw = json.loads(text)
    if raw["version"] != INDEX_VERSION:
        raise ValueError("another version of the index")
    digest, subjects, lines = raw["digest"], raw["subjects"], raw["trie"]
    forms = (raw["owners"], _OWNER), (raw["checks"], _CHECK), (raw["regexes"], _REGEX), (subjects, _NAME)
    well_formed = (
        type(digest) is str
        and type(lines) is dict
        and {*map(type, lines.values())} <= {str}
        and all(type(part) is list and {tuple(map(type, row)) for row in part} <= form for part, form in forms)
    )
    if not well_formed:
        raise TypeError("a part of the index has another form")
    return SignalIndex(
        digest,
        tuple([(slug, name) for slug, name in subjects]),
        raw["owners"],
        raw["checks"],
        raw["regexes"],
        TokenTrie(lines),
    )
