"""A loaded contract as JSON for the user's cache: read back fast, without YAML, cattrs or validation of what it means.

The text is only ever read under the digest of the contract that it came from. Whatever does not fit exactly is an
error, so that a damaged cache lowers a subject and never raises it.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any, Final

from qiongli._version import VERSION
from qiongli.contract.models import (
    ActivationGate,
    Later,
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
STORED_FORM: Final = 3

#: The order in which the fields of a signal and of a suppressor are stored.
_SIGNAL: Final = (
    "id",
    "subject",
    "dimension",
    "value",
    "weight",
    "activation",
    "patterns",
    "examples",
    "near_misses",
    "line",
)
_SUPPRESSOR: Final = ("id", "patterns", "weight", "examples", "near_misses", "reason", "line")


def contract_to_json(contract: SubjectContract) -> str:
    """Write a contract as one line of JSON; the same contract gives the same characters.

    Signals and suppressors are a JSON text of their own inside it, with its digest: a warm start reads the rest only.
    There are thousands of patterns, so they are lists without keys; a plain phrase is only its text and line.
    """
    import attrs

    document = attrs.asdict(contract, recurse=False, filter=lambda attribute, _: not attribute.name.startswith("_"))
    body = _json([[_row(item) for item in items] for items in (contract.signals, contract.suppressors)])
    document["body"] = body
    document["body_digest"] = sha256(body.encode("utf-8", "surrogatepass")).hexdigest()
    document["method_lenses"] = [attrs.astuple(lens) for lens in contract.method_lenses]
    document["activation_gate"] = attrs.asdict(contract.activation_gate)
    return _json({"form": _form(), "contract": document})


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _form() -> str:
    """The stored form with the version of core: what an older core found valid is judged again by a newer one."""
    return f"{STORED_FORM} {VERSION}"


def _row(item: Signal | Suppressor) -> list[Any]:
    return [
        [_pattern_row(pattern) for pattern in item.patterns] if field == "patterns" else getattr(item, field)
        for field in (_SIGNAL if isinstance(item, Signal) else _SUPPRESSOR)
    ]


def _pattern_row(pattern: Pattern) -> list[Any]:
    if pattern == Pattern("phrase", pattern.text, line=pattern.line):
        return [pattern.text, pattern.line]
    return [pattern.text, pattern.line, pattern.kind, pattern.near, pattern.lang, pattern.justification]


def contract_from_json(text: str) -> SubjectContract:
    """Read what `contract_to_json` wrote; `ContractError` with the code `invalid_stored_contract` for anything else.

    Signals and suppressors are made when they are first asked for; a text that was damaged is refused at once.
    """
    try:
        document = json.loads(text)
        if document["form"] != _form():
            raise ValueError("another form")
        return _contract(document["contract"])
    except _DAMAGE as error:
        raise _damaged() from error


_DAMAGE: Final = (ValueError, TypeError, KeyError, AttributeError, RecursionError)


def _damaged() -> ContractError:
    return ContractError(
        "a stored contract is damaged or of another version",
        code="invalid_stored_contract",
        hint="It is rebuilt from the package by itself; remove the cache folder if this message returns.",
    )


class _Body:
    """The signals and suppressors of one stored contract, parsed once for both."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._rows: Any = None

    def signals(self) -> tuple[Signal, ...]:
        try:
            return tuple(_signal(*item) for item in self._parsed()[0])
        except _DAMAGE as error:
            raise _damaged() from error

    def suppressors(self) -> tuple[Suppressor, ...]:
        try:
            return tuple(_suppressor(*item) for item in self._parsed()[1])
        except _DAMAGE as error:
            raise _damaged() from error

    def _parsed(self) -> Any:
        if self._rows is None:
            self._rows = json.loads(self._text)
        return self._rows


def _body(value: Any) -> _Body:
    text = _text(value["body"])
    if sha256(text.encode("utf-8", "surrogatepass")).hexdigest() != value["body_digest"]:
        raise ValueError("the body is another one")
    return _Body(text)


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
    return tuple([_text(item) for item in value])


def _optional(value: Any) -> str | None:
    return None if value is None else _text(value)


def _line(value: Any) -> int:
    return _whole(value, 0, 10_000_000)


def _patterns(value: Any) -> tuple[Pattern, ...]:
    if type(value) is not list or not value:
        raise TypeError("no patterns")
    return tuple([_pattern(*item) for item in value])


def _pattern(
    text: Any, line: Any, kind: Any = "phrase", near: Any = None, lang: Any = "", justification: Any = ""
) -> Pattern:
    # The common case first, without a call for each field: there are thousands of phrases.
    if type(text) is str and type(line) is int and kind == "phrase" and near is None and lang == justification == "":
        return Pattern("phrase", text, (), "", "", line)
    return Pattern(
        _one_of(kind, ("phrase", "acronym", "regex")),
        _text(text),
        _texts(near),
        _text(lang),
        _text(justification),
        _line(line),
    )


def _weight(value: Any) -> Any:
    return _whole(value, 1, 300_000)


def _signal(
    identifier: Any,
    subject: Any,
    dimension: Any,
    value: Any,
    weight: Any,
    activation: Any,
    patterns: Any,
    examples: Any,
    near_misses: Any,
    line: Any,
) -> Signal:
    return Signal(
        _text(identifier),
        _text(subject),
        _one_of(dimension, DIMENSIONS),
        _text(value),
        _weight(weight),
        _one_of(activation, ACTIVATIONS),
        _patterns(patterns),
        _texts(examples),
        _texts(near_misses),
        _line(line),
    )


def _suppressor(
    identifier: Any, patterns: Any, weight: Any, examples: Any, near_misses: Any, reason: Any, line: Any
) -> Suppressor:
    return Suppressor(
        _text(identifier),
        _patterns(patterns),
        _weight(weight),
        _texts(examples),
        _texts(near_misses),
        _text(reason),
        _line(line),
    )


def _lens(slug: Any, pack: Any, optional: Any) -> MethodLens:
    return MethodLens(_text(slug), _text(pack), _flag(optional))


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
    body = _body(value)
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
        signals=Later(body.signals),
        suppressors=Later(body.suppressors),
        method_lenses=tuple(_lens(*item) for item in value["method_lenses"]),
        evaluation_pack=_optional(value["evaluation_pack"]),
        forbidden_subjects=_texts(value["forbidden_subjects"]),
        activation_gate=_gate(value["activation_gate"]),
        composes=_texts(value["composes"]),
        hooks=_optional(value["hooks"]),
        digest=_text(value["digest"]),
    )
