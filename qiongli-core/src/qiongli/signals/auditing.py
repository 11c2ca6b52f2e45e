"""Executing a contract: every example must trigger its own signal, and no near miss may."""

from __future__ import annotations

import attrs

from qiongli.contract.models import Signal, SubjectContract, Suppressor
from qiongli.document import normal_form, read_document
from qiongli.errors import ContractError, QiongliError
from qiongli.signals.index import SignalIndex, compile_index


def audit_contract(contract: SubjectContract) -> tuple[QiongliError, ...]:
    """Every example that does not trigger its signal, every near miss that does, and patterns that collide."""
    problems: list[QiongliError] = []
    index = compile_index([attrs.evolve(contract, digest="audit")])
    audited: tuple[Signal | Suppressor, ...] = (*contract.signals, *contract.suppressors)
    for item in audited:
        for example in item.examples:
            if not _triggers(index, item.id, example):
                problems.append(
                    _problem(item.id, item.line, "example_misses", f"the example {example!r} does not trigger it")
                )
        for near_miss in item.near_misses:
            if _triggers(index, item.id, near_miss):
                problems.append(
                    _problem(item.id, item.line, "near_miss_triggers", f"the near miss {near_miss!r} triggers it")
                )
    seen: dict[tuple[object, ...], str] = {}
    for signal in contract.signals:
        for pattern in signal.patterns:
            form = (
                (pattern.kind == "regex", *normal_form(pattern.text))
                if pattern.kind != "regex"
                else (True, pattern.text)
            )
            other = seen.setdefault(form, signal.id)
            if other != signal.id:
                problems.append(
                    _problem(
                        item.id, pattern.line, "pattern_collides", f"the pattern {pattern.text!r} is {other}'s too"
                    )
                )
    return tuple(problems)


def _triggers(index: SignalIndex, identifier: str, text: str) -> bool:
    return any(
        found.signal_id == identifier and found.polarity == "asserted" for found in index.detect(read_document(text))
    )


def _problem(identifier: str, line: int, code: str, message: str) -> QiongliError:
    return ContractError(f"{identifier}: {message}", code=code, place=f"line {line}" if line else identifier)
