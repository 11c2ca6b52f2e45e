"""What changed between two contracts, in the words of the contract rather than in lines of YAML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

import attrs

from qiongli.contract.models import MethodLens, Pattern, Signal, SubjectContract, Suppressor
from qiongli.records._units import SCALE, SCHEMA_VERSION

ChangeKind = Literal["added", "removed", "changed"]

#: Keys of the contract that are compared as single values.
_VALUES: Final = (
    "subject",
    "display_name",
    "activation_status",
    "requires_qiongli",
    "documentation",
    "domain_profile",
    "overlay",
    "subject_skill",
    "evaluation_pack",
    "hooks",
)


@attrs.frozen
class Change:
    """One difference. `what` is `contract`, `signal`, `suppressor`, `method_lens` or `venue_profile`; `name` its id.

    Of a changed item, `field` is the key, `before` and `after` its values; of a list of texts, `before` are those that
    are gone and `after` those that are new.
    """

    kind: ChangeKind
    what: str
    name: str
    field: str = ""
    before: Any = None
    after: Any = None


@attrs.frozen
class ContractDiff:
    """What `qiongli contract diff OLD NEW --json` prints."""

    subject: str
    same: bool
    changes: tuple[Change, ...] = ()
    schema_version: str = SCHEMA_VERSION


def diff_contracts(old: SubjectContract, new: SubjectContract) -> ContractDiff:
    """Compare two contracts; the order of keys, signals and patterns, comments and lines are no difference."""
    changes = tuple(_changes(old, new))
    return ContractDiff(new.subject, not changes, changes)


def _changes(old: SubjectContract, new: SubjectContract) -> Iterator[Change]:
    before, after = _contract_values(old), _contract_values(new)
    yield from _fields("contract", new.subject, before, after)
    yield from _items("signal", _by_id(old.signals), _by_id(new.signals))
    yield from _items("suppressor", _by_id(old.suppressors), _by_id(new.suppressors))
    yield from _items("method_lens", _by_id(old.method_lenses), _by_id(new.method_lenses))
    yield from _items(
        "venue_profile",
        {slug: {"path": path} for slug, path in old.venue_profiles.items()},
        {slug: {"path": path} for slug, path in new.venue_profiles.items()},
    )


def _contract_values(contract: SubjectContract) -> dict[str, Any]:
    metrics = contract.activation_gate.required_metrics
    return {
        **{name: getattr(contract, name) for name in _VALUES},
        "forbidden_subjects": contract.forbidden_subjects,
        "composes": contract.composes,
        "single_dimension": contract.activation_gate.single_dimension,
        **attrs.asdict(metrics),
    }


def _by_id(items: tuple[Signal, ...] | tuple[Suppressor, ...] | tuple[MethodLens, ...]) -> dict[str, dict[str, Any]]:
    found = {}
    for item in items:
        values = attrs.asdict(item, recurse=False)
        values.pop("line", None)
        name = values.pop("slug") if isinstance(item, MethodLens) else values.pop("id")
        if "weight" in values:
            values["weight"] /= SCALE
        if "patterns" in values:
            values["patterns"] = tuple(describe_pattern(pattern) for pattern in values["patterns"])
        found[name] = values
    return found


def describe_pattern(pattern: Pattern) -> str:
    """A pattern on one line, as a person would write it."""
    text = pattern.text if pattern.kind == "phrase" else f"{pattern.kind} {pattern.text}"
    if pattern.near:
        text += f" near {', '.join(pattern.near)}"
    if pattern.lang:
        text += f" ({pattern.lang})"
    if pattern.justification:
        text += f" ({pattern.justification})"
    return text


def _items(what: str, old: Mapping[str, Mapping[str, Any]], new: Mapping[str, Mapping[str, Any]]) -> Iterator[Change]:
    for name in sorted(old.keys() | new.keys()):
        if name not in new:
            yield Change("removed", what, name)
        elif name not in old:
            yield Change("added", what, name)
        else:
            yield from _fields(what, name, old[name], new[name])


def _fields(what: str, name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    for field in new:
        before, after = old[field], new[field]
        if isinstance(after, tuple):
            gone = tuple(sorted(set(before) - set(after)))
            come = tuple(sorted(set(after) - set(before)))
            if gone or come:
                yield Change("changed", what, name, field, gone, come)
        elif before != after:
            yield Change("changed", what, name, field, before, after)


def render_diff(diff: ContractDiff) -> str:
    """The differences as text, one a line: `+` added, `-` removed, `~` changed."""
    if diff.same:
        return f"{diff.subject}: no difference"
    marks = {"added": "+", "removed": "-", "changed": "~"}
    lines = []
    for change in diff.changes:
        head = f"{marks[change.kind]} {change.what} {change.name}"
        if change.kind != "changed":
            lines.append(head)
        elif isinstance(change.after, tuple):
            lines.append(f"{head} {change.field}:")
            lines += [f"    - {item}" for item in change.before] + [f"    + {item}" for item in change.after]
        else:
            lines.append(f"{head} {change.field}: {_shown(change.before)} -> {_shown(change.after)}")
    return "\n".join(lines)


def _shown(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
