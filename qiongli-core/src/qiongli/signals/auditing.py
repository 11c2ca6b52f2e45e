"""Executing a contract: examples must trigger, near misses must not, patterns may be neither shared nor too common."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib.resources import files

import attrs

from qiongli.contract.models import CONTRACT_FILE, Pattern, Signal, SubjectContract, Suppressor
from qiongli.document import normal_form, read_document
from qiongli.errors import ContractError, QiongliError
from qiongli.signals._checks import symbols_of
from qiongli.signals.index import SignalIndex, compile_index


def audit_contract(contract: SubjectContract) -> tuple[QiongliError, ...]:
    """Everything that executing the contract's own texts and looking at its patterns finds wrong with it.

    Codes: `example_misses`, `near_miss_triggers`, `pattern_empty`, `pattern_collides` (two ids with one normal
    form), `pattern_too_short` (one token of one or two letters, without a justification) and `pattern_too_common`
    (one token among the most frequent words, without a justification).
    """
    index = compile_index([attrs.evolve(contract, digest="audit")])
    items: tuple[Signal | Suppressor, ...] = (*contract.signals, *contract.suppressors)
    problems: list[QiongliError] = []
    for item in items:
        problems += _executed(index, item)
        problems += _patterns(item)
    problems += _collisions(items)
    return tuple(problems)


def _executed(index: SignalIndex, item: Signal | Suppressor) -> Iterable[QiongliError]:
    for example in item.examples:
        if not _triggers(index, item.id, example):
            yield _problem(item.id, item.line, "example_misses", f"the example {example!r} does not trigger it")
    for near_miss in item.near_misses:
        if _triggers(index, item.id, near_miss):
            yield _problem(item.id, item.line, "near_miss_triggers", f"the near miss {near_miss!r} triggers it")


def _triggers(index: SignalIndex, identifier: str, text: str) -> bool:
    return any(
        found.signal_id == identifier and found.polarity == "asserted" for found in index.detect(read_document(text))
    )


def _patterns(item: Signal | Suppressor) -> Iterable[QiongliError]:
    for pattern in item.patterns:
        if pattern.kind == "regex":
            continue
        words = normal_form(pattern.text)
        if not words:
            yield _problem(item.id, pattern.line, "pattern_empty", f"the pattern {pattern.text!r} has no word")
        elif pattern.kind == "phrase" and _too_common(words) and not pattern.justification:
            yield _problem(
                item.id,
                pattern.line,
                "pattern_too_common",
                f"{pattern.text!r} is among the most frequent words of other fields",
                expected="a longer phrase, or a mapping with `justification`",
            )
        elif pattern.kind == "phrase" and _too_short(words) and not pattern.justification:
            yield _problem(
                item.id,
                pattern.line,
                "pattern_too_short",
                f"{pattern.text!r} is too short to say anything",
                expected="a longer phrase, an acronym with context words, or a mapping with `justification`",
            )


def _too_common(words: Sequence[str]) -> bool:
    """Whether a pattern is one frequent word; in Chinese, one character or one frequent word."""
    return (len(words) == 1 and not words[0].isascii()) or (
        "".join(words) in _common_words() and (len(words) == 1 or not words[0].isascii())
    )


def _too_short(words: Sequence[str]) -> bool:
    """Whether a pattern is one token of one or two letters or digits."""
    return len(words) == 1 and len(words[0]) <= 2


@lru_cache(maxsize=1)
def _common_words() -> frozenset[str]:
    text = files("qiongli.signals").joinpath("common_words.txt").read_text(encoding="utf-8")
    return frozenset(line for line in text.splitlines() if line and not line.startswith("#"))


def _collisions(items: Sequence[Signal | Suppressor]) -> Iterable[QiongliError]:
    """Patterns of two ids with one normal form; which of the two a match speaks for would hang on the order of ids."""
    owners: dict[tuple[str, ...], str] = {}
    for item in items:
        for pattern in item.patterns:
            owner = owners.setdefault(_form(pattern), item.id)
            if owner != item.id:
                yield _problem(
                    item.id, pattern.line, "pattern_collides", f"the pattern {pattern.text!r} is also one of {owner}"
                )


def _form(pattern: Pattern) -> tuple[str, ...]:
    """What tells two patterns apart; an acronym is not the word that it spells, and symbols tell terms apart."""
    if pattern.kind != "phrase":
        return (pattern.kind, pattern.text)
    return (*normal_form(pattern.text), symbols_of(pattern.text)[1])


def _problem(identifier: str, line: int, code: str, message: str, expected: str = "") -> QiongliError:
    place = f"{CONTRACT_FILE}:{line}" if line else identifier
    return ContractError(f"{identifier}: {message}", code=code, place=place, expected=expected)
