"""The models of a subject's contract, `runtime-subject.yaml`, after loading and validation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Generic, TypeVar

import attrs

from qiongli._value import Value
from qiongli.records._units import Ppm
from qiongli.records.evidence import Activation, Dimension
from qiongli.records.subjects import ActivationStatus

Item = TypeVar("Item")

#: File name of the contract inside a subject's package.
CONTRACT_FILE: Final = "runtime-subject.yaml"

#: The version of the contract's schema that this core reads.
CONTRACT_SCHEMA_VERSION: Final = "1.0"


@attrs.frozen(repr=False)
class Pattern(Value):
    """One way in which a signal or suppressor shows in a text.

    `kind` is `phrase` (case-insensitive whole words; `lang` `zh` for text without word boundaries), `acronym` (a
    case-sensitive token that counts only with one of the `near` words in its sentence, or in the venue field) or
    `regex` (RE2 syntax). `justification` answers the check for over-common one-token patterns. `line` is the line in
    the contract, 0 when unknown.
    """

    kind: str
    text: str
    near: tuple[str, ...] = ()
    lang: str = ""
    justification: str = ""
    line: int = 0


@attrs.frozen(repr=False)
class Signal(Value):
    """One auditable sign of a subject; `weight` is in millionths, 60,000 to 200,000."""

    id: str
    subject: str
    dimension: Dimension
    value: str
    weight: Ppm
    activation: Activation
    patterns: tuple[Pattern, ...]
    examples: tuple[str, ...]
    near_misses: tuple[str, ...]
    line: int = 0


@attrs.frozen(repr=False)
class Suppressor(Value):
    """An everyday or other-field sense that takes a signal's span and lowers the subject's score once.

    `weight` is in millionths, above 0 and up to 300,000; above 100,000 it needs a `reason`.
    """

    id: str
    patterns: tuple[Pattern, ...]
    weight: Ppm
    examples: tuple[str, ...]
    near_misses: tuple[str, ...]
    reason: str = ""
    line: int = 0


@attrs.frozen(repr=False)
class MethodLens(Value):
    """A method that the subject can lend by itself: the slug, and the path of its pack inside the package."""

    slug: str
    pack: str
    optional: bool = False


@attrs.frozen(repr=False)
class RequiredMetrics(Value):
    """Thresholds of the activation gate; a contract may tighten the defaults, never loosen them."""

    primary_subject_accuracy: float = 0.95
    suggest_subject_precision: float = 0.95
    near_miss_false_positives: int = 0


@attrs.frozen(repr=False)
class ActivationGate(Value):
    """What the contract asks of its gate."""

    required_metrics: RequiredMetrics = RequiredMetrics()
    #: The contract claims that one dimension suffices; it holds only once the gate has proved it.
    single_dimension: bool = False


class Later(Generic[Item]):
    """Items that are made when they are first asked for: a warm start needs no signal, only the compiled index."""

    def __init__(self, make: Callable[[], tuple[Item, ...]]) -> None:
        self._make = make
        self._items: tuple[Item, ...] | None = None

    def items(self) -> tuple[Item, ...]:
        """The items, made once; raises what making them raises."""
        if self._items is None:
            self._items = self._make()
        return self._items


def read_now(items: tuple[Item, ...] | Later[Item]) -> tuple[Item, ...]:
    """The items, whether they are there already or made now."""
    return items.items() if isinstance(items, Later) else items


@attrs.frozen(repr=False)
class SubjectContract(Value):
    """A whole contract. All paths are relative to the subject's package, with forward slashes."""

    schema_version: str
    subject: str
    display_name: str
    activation_status: ActivationStatus
    extends: str = "core"
    requires_qiongli: str = ""
    documentation: str = "README.md"
    domain_profile: str | None = None
    overlay: str | None = None
    subject_skill: str | None = None
    #: Venue slug to path.
    venue_profiles: dict[str, str] = attrs.field(factory=dict)
    _signals: tuple[Signal, ...] | Later[Signal] = attrs.field(default=(), eq=read_now, repr=False)
    _suppressors: tuple[Suppressor, ...] | Later[Suppressor] = attrs.field(default=(), eq=read_now, repr=False)
    method_lenses: tuple[MethodLens, ...] = ()
    evaluation_pack: str | None = None
    forbidden_subjects: tuple[str, ...] = ()
    activation_gate: ActivationGate = ActivationGate()
    composes: tuple[str, ...] = ()
    #: Name of a module of the subject's package with pluggy hooks; runs only when allowed locally and active.
    hooks: str | None = None
    #: SHA-256 of the contract's bytes, in hexadecimal digits.
    digest: str = ""

    @property
    def signals(self) -> tuple[Signal, ...]:
        """All signals, in the order of the contract."""
        return read_now(self._signals)

    @property
    def suppressors(self) -> tuple[Suppressor, ...]:
        """All suppressors, in the order of the contract."""
        return read_now(self._suppressors)

    def lens(self, slug: str) -> MethodLens | None:
        """The method lens of that slug, if the subject declares it."""
        return next((lens for lens in self.method_lenses if lens.slug == slug), None)
