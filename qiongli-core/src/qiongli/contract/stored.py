"""A loaded contract as JSON for the user's cache: read back fast, without YAML, cattrs or validation of what it means.

The text is only ever read under the digest of the contract that it came from. Whatever does not fit exactly is an
error, so that a damaged cache lowers a subject and never raises it.
"""

from __future__ import annotations

import json
from typing import Any, Final

from qiongli.contract.models import (
    ActivationGate,
    MethodLens,
    Pattern,
    RequiredMetrics,
    Signal,
    SubjectContract,
    Suppressor,
)
from qiongli.errors import ContractError
from qiongli.records._units import SCALE
from qiongli.records.evidence import ACTIVATIONS, DIMENSIONS
from qiongli.records.subjects import ACTIVATION_STATUSES

#: Changes whenever the stored form does; another form is not read.
STORED_FORM: Final = 1


def contract_to_json(contract: SubjectContract) -> str:
    """Write a contract as one line of JSON; the same contract gives the same characters."""
    import attrs

    return json.dumps(
        {"form": STORED_FORM, "contract": attrs.asdict(contract)}, ensure_ascii=False, separators=(",", ":")
    )


def contract_from_json(text: str) -> SubjectContract:
    """Read what `contract_to_json` wrote; `ContractError` with the code `invalid_stored_contract` for anything else."""
    try:
        document = json.loads(text)
        if document["form"] != STORED_FORM:
            raise ValueError("another form")
        return _contract(document["contract"])
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ContractError(
            "a stored contract is damaged or of another version",
            code="invalid_stored_contract",
            hint="It is rebuilt from the package by itself; remove the cache folder if this message returns.",
        ) from error


def _text(value: Any) -> str:
    if type(value) is not str:
        raise TypeError("no text")
    return value


def _whole(value: Any, low: int = 0, high: int = SCALE) -> int:
    if type(value) is not int or not low <= value <= high:
        raise ValueError("no number of the range")
    return value


def _flag(value: Any) -> bool:
    if type(value) is not bool:
        raise TypeError("no truth value")
    return value


def _one_of(value: Any, values: tuple[str, ...]) -> Any:
    if value not in values:
        raise ValueError("no such value")
    return value


def _texts(value: Any) -> tuple[str, ...]:
    if type(value) is not list:
        raise TypeError("no list")
    return tuple(_text(item) for item in value)


def _optional(value: Any) -> str | None:
    return None if value is None else _text(value)


def _line(value: Any) -> int:
    return _whole(value, 0, 10_000_000)


def _pattern(value: Any) -> Pattern:
    return Pattern(
        kind=_one_of(value["kind"], ("phrase", "acronym", "regex")),
        text=_text(value["text"]),
        near=_texts(value["near"]),
        lang=_text(value["lang"]),
        justification=_text(value["justification"]),
        line=_line(value["line"]),
    )


def _signal(value: Any) -> Signal:
    return Signal(
        id=_text(value["id"]),
        subject=_text(value["subject"]),
        dimension=_one_of(value["dimension"], DIMENSIONS),
        value=_text(value["value"]),
        weight=_weight(value["weight"]),
        activation=_one_of(value["activation"], ACTIVATIONS),
        patterns=tuple(_pattern(item) for item in value["patterns"]),
        examples=_texts(value["examples"]),
        near_misses=_texts(value["near_misses"]),
        line=_line(value["line"]),
    )


def _weight(value: Any) -> Any:
    return _whole(value, 1, 300_000)


def _suppressor(value: Any) -> Suppressor:
    return Suppressor(
        id=_text(value["id"]),
        patterns=tuple(_pattern(item) for item in value["patterns"]),
        weight=_weight(value["weight"]),
        examples=_texts(value["examples"]),
        near_misses=_texts(value["near_misses"]),
        reason=_text(value["reason"]),
        line=_line(value["line"]),
    )


def _lens(value: Any) -> MethodLens:
    return MethodLens(slug=_text(value["slug"]), pack=_text(value["pack"]), optional=_flag(value["optional"]))


def _ratio(value: Any) -> float:
    if type(value) is not float or not 0.95 <= value <= 1.0:
        raise ValueError("no threshold")
    return value


def _gate(value: Any) -> ActivationGate:
    metrics = value["required_metrics"]
    return ActivationGate(
        required_metrics=RequiredMetrics(
            primary_subject_accuracy=_ratio(metrics["primary_subject_accuracy"]),
            suggest_subject_precision=_ratio(metrics["suggest_subject_precision"]),
            near_miss_false_positives=_whole(metrics["near_miss_false_positives"], 0, 0),
        ),
        single_dimension=_flag(value["single_dimension"]),
    )


def _contract(value: Any) -> SubjectContract:
    return SubjectContract(
        schema_version=_text(value["schema_version"]),
        subject=_text(value["subject"]),
        display_name=_text(value["display_name"]),
        activation_status=_one_of(value["activation_status"], ACTIVATION_STATUSES),
        extends=_text(value["extends"]),
        requires_qiongli=_text(value["requires_qiongli"]),
        documentation=_text(value["documentation"]),
        domain_profile=_optional(value["domain_profile"]),
        overlay=_optional(value["overlay"]),
        subject_skill=_optional(value["subject_skill"]),
        venue_profiles={_text(slug): _text(path) for slug, path in value["venue_profiles"].items()},
        signals=tuple(_signal(item) for item in value["signals"]),
        suppressors=tuple(_suppressor(item) for item in value["suppressors"]),
        method_lenses=tuple(_lens(item) for item in value["method_lenses"]),
        evaluation_pack=_optional(value["evaluation_pack"]),
        forbidden_subjects=_texts(value["forbidden_subjects"]),
        activation_gate=_gate(value["activation_gate"]),
        composes=_texts(value["composes"]),
        hooks=_optional(value["hooks"]),
        digest=_text(value["digest"]),
    )
