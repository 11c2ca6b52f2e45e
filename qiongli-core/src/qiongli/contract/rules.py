"""What the keys of a contract demand of each other, after each was read by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from qiongli.contract.format import (
    MAXIMUM_UNEXPLAINED_SUPPRESSION,
    MINIMUM_LENS_WEIGHT,
    NAME,
    SIGNAL_DIMENSIONS,
)
from qiongli.contract.models import CONTRACT_SCHEMA_VERSION
from qiongli.contract.nodes import MappingNode, Scalar
from qiongli.contract.problems import Problems, nearest
from qiongli.records._units import SCALE

#: Statuses from which on a contract must reference everything that the gate needs.
_COMPLETE_STATUSES: Final = ("eval_ready", "runtime_enabled")
_REFERENCES: Final = ("domain_profile", "overlay", "subject_skill", "evaluation_pack")


def version_is_readable(root: MappingNode, problems: Problems) -> bool:
    """Whether this core knows the schema of the file; if not, nothing else of it should be judged."""
    node = root.get("schema_version")
    if not isinstance(node, Scalar) or not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})?", node.text):
        # Missing or malformed: the format itself reports that.
        return True
    found = tuple(int(part) for part in node.text.split("."))
    known = tuple(int(part) for part in CONTRACT_SCHEMA_VERSION.split("."))
    if (*found, 0)[:2] == known:
        return True
    newer = found > known
    problems.report(
        "newer_schema" if newer else "invalid_value",
        f"schema version {node.text} is {'newer than this core reads' if newer else 'not known'}",
        line=node.line,
        field="schema_version",
        expected=CONTRACT_SCHEMA_VERSION,
        hint="Upgrade core: python -m pip install --upgrade qiongli-core" if newer else "",
    )
    return False


def check_rules(values: dict[str, Any], problems: Problems) -> None:
    """Report everything that the keys of a contract owe each other."""
    subject = values.get("subject")
    _check_references(values, problems)
    if isinstance(subject, str):
        _check_ids(values, subject, problems)
        _check_owner(values, subject, problems)
        _check_other_subjects(values, subject, problems)
    _check_signals(values, problems)
    _check_suppressors(values, problems)
    _check_patterns(values, problems)


def signals(values: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every readable signal: its dotted place, the dimension of its group, its values."""
    for dimension in SIGNAL_DIMENSIONS:
        for signal in values.get("signal_groups", {}).get(dimension, ()):
            yield signal["place"], dimension, signal


def suppressors(values: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every readable suppressor and its dotted place."""
    for suppressor in values.get("suppressors", ()):
        yield suppressor["place"], suppressor


def _check_references(values: dict[str, Any], problems: Problems) -> None:
    status = values.get("activation_status")
    if status not in _COMPLETE_STATUSES:
        return
    for key in _REFERENCES:
        # A key that was read and faulty has a line of its own and was reported.
        if values.get(key) is None and (key in values or key not in problems.lines):
            problems.report(
                "missing_reference",
                f"the status {status} needs {key}",
                field=key,
                hint="Add the resource, or set activation_status: candidate",
            )
    if not any(True for _ in signals(values)) and not problems:
        problems.report("missing_reference", f"the status {status} needs signals", field="signal_groups")


def _check_ids(values: dict[str, Any], subject: str, problems: Problems) -> None:
    first: dict[str, int] = {}
    owned = [(place, dimension, signal) for place, dimension, signal in signals(values)]
    owned += [(place, "suppressor", suppressor) for place, suppressor in suppressors(values)]
    for place, segment, item in owned:
        identifier = item.get("id")
        if not isinstance(identifier, str):
            continue
        field = f"{place}.id"
        segments = {segment, segment.replace("_", "-")}
        parts = identifier.split(".")
        if len(parts) != 3 or parts[0] != subject or parts[1] not in segments or not re.fullmatch(NAME, parts[2]):
            problems.report(
                "invalid_id",
                f"the id {identifier!r} does not name its place",
                field=field,
                expected=f"{subject}.{segment.replace('_', '-')}.<name>, in lower-case letters, digits, hyphens",
            )
        if identifier in first:
            problems.report(
                "duplicate_id", f"the id {identifier!r} stands already in line {first[identifier]}", field=field
            )
        else:
            first[identifier] = problems.line_of(field)


def _check_owner(values: dict[str, Any], subject: str, problems: Problems) -> None:
    for place, dimension, signal in signals(values):
        if signal.get("subject", subject) != subject:
            problems.report(
                "invalid_value",
                f"the signal belongs to {signal['subject']!r}, the contract to {subject!r}",
                field=f"{place}.subject",
                expected=subject,
            )
        if signal.get("dimension", dimension) != dimension:
            problems.report(
                "invalid_value",
                f"the signal says {signal['dimension']!r} and stands in the group {dimension!r}",
                field=f"{place}.dimension",
                expected=dimension,
            )


def _check_other_subjects(values: dict[str, Any], subject: str, problems: Problems) -> None:
    if subject in values.get("near_miss_policy", {}).get("forbidden_subjects", ()):
        problems.report(
            "invalid_value",
            "a subject cannot forbid itself",
            field="near_miss_policy.forbidden_subjects",
        )
    composes = values.get("composes", [])
    if composes and len(set(composes)) < 2:
        problems.report("invalid_composite", "a composite subject has at least two parts", field="composes")
    if subject in composes:
        problems.report("invalid_composite", "a composite subject cannot be a part of itself", field="composes")


def _check_signals(values: dict[str, Any], problems: Problems) -> None:
    lenses = values.get("method_lenses", {})
    for place, dimension, signal in signals(values):
        value = signal.get("value")
        if dimension == "method" and isinstance(value, str) and not re.fullmatch(NAME, value):
            problems.report(
                "invalid_value",
                f"the value {value!r} of a method signal is no slug",
                field=f"{place}.value",
                expected="lower-case letters, digits and single hyphens",
                hint=nearest(value, tuple(lenses)),
            )
        if signal.get("activation") != "method_only":
            continue
        if dimension != "method":
            problems.report(
                "invalid_value",
                f"a signal of the dimension {dimension!r} cannot be method_only: it names no method to lend",
                field=f"{place}.activation",
                expected="subject or context_only",
            )
        elif value in lenses and signal.get("weight", SCALE) < MINIMUM_LENS_WEIGHT:
            problems.report(
                "invalid_weight",
                f"the method_only signal cannot lend the lens {value!r} with so small a weight",
                field=f"{place}.weight",
                expected="a number from 0.10 to 0.20",
            )


def _check_suppressors(values: dict[str, Any], problems: Problems) -> None:
    for place, suppressor in suppressors(values):
        if suppressor.get("weight", 0) > MAXIMUM_UNEXPLAINED_SUPPRESSION and "reason" not in suppressor:
            problems.report(
                "invalid_weight",
                "a suppressor above 0.10 is in effect a veto and needs a reason",
                field=f"{place}.weight",
                expected="at most 0.10, or the key reason",
            )


def _check_patterns(values: dict[str, Any], problems: Problems) -> None:
    owners = [(place, item) for place, _, item in signals(values)] + list(suppressors(values))
    for place, item in owners:
        seen: set[tuple[str, str]] = set()
        for pattern in item.get("patterns", ()):
            key = (pattern["kind"], pattern["text"] if pattern["kind"] != "phrase" else pattern["text"].casefold())
            if key in seen:
                problems.report(
                    "invalid_pattern",
                    f"the pattern {pattern['text']!r} stands twice",
                    line=pattern["line"],
                    field=f"{place}.patterns",
                )
            seen.add(key)
