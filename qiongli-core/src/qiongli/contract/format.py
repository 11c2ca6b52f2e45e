"""The format of `runtime-subject.yaml`, written down once: the loader, the JSON Schema and the reference use it."""

from __future__ import annotations

import re
from typing import Any, Final

import attrs

from qiongli.contract.nodes import Node, Scalar
from qiongli.contract.paths import MAXIMUM_PATH, reason_against_file_path, reason_against_path
from qiongli.contract.patterns import PatternShape
from qiongli.contract.problems import Problems
from qiongli.contract.shapes import MISSING, Choice, Flag, Integer, Nullable, Number, Shape, Text
from qiongli.contract.structures import Field, ListOf, MapOf, Structure
from qiongli.records._units import SCALE
from qiongli.records.evidence import ACTIVATIONS, DIMENSIONS
from qiongli.records.subjects import ACTIVATION_STATUSES

#: Dimensions that a contract's signals may have; `vocabulary` evidence is computed from a profile, not from patterns.
SIGNAL_DIMENSIONS: Final = tuple(dimension for dimension in DIMENSIONS if dimension != "vocabulary")

SLUG: Final = r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*"
NAME: Final = r"[a-z0-9]+(?:-[a-z0-9]+)*"
MAXIMUM_SLUG: Final = 40
#: Slugs that mean something else: no subject at all, and what every subject extends.
RESERVED_SLUGS: Final = ("auto", "core", "none")

MINIMUM_LENS_WEIGHT: Final = 100_000
MAXIMUM_UNEXPLAINED_SUPPRESSION: Final = 100_000


def reason_against_slug(text: str) -> str | None:
    """Why a text cannot be the slug of a subject, or None."""
    if not re.fullmatch(SLUG, text):
        return f"{text!r} is not made of lower-case ASCII letters, digits and single hyphens, beginning with a letter"
    if text in RESERVED_SLUGS:
        return f"{text!r} is reserved"
    return None


def _reason_against_module(text: str) -> str | None:
    import keyword

    if all(part.isidentifier() and part.isascii() and not keyword.iskeyword(part) for part in text.split(".")):
        return None
    return f"{text!r} is no module name; it is relative to the subject's package, as in 'hooks' or 'checks.hooks'"


def _reason_against_specifier(text: str) -> str | None:
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        SpecifierSet(text)
    except InvalidSpecifier:
        return f"{text!r} is no PEP 440 version specifier, such as >=0.1,<0.2"
    return None


SLUG_TEXT: Final = Text(phrase="a slug", maximum=MAXIMUM_SLUG, pattern=SLUG, check=reason_against_slug)
NAME_TEXT: Final = Text(phrase="a name of lower-case letters, digits and hyphens", maximum=80, pattern=NAME)
FILE_PATH: Final = Text(
    phrase="the path of a file inside the package",
    maximum=MAXIMUM_PATH,
    check=reason_against_file_path,
    code="invalid_path",
)
FOLDER_PATH: Final = Text(
    phrase="the path of a folder inside the package",
    maximum=MAXIMUM_PATH,
    check=reason_against_path,
    code="invalid_path",
)
_ID: Final = Text(phrase="an id", maximum=160, code="invalid_id")
_SNIPPETS: Final = ListOf(Text(phrase="a snippet of text", maximum=600, lines=True), minimum=1, maximum=100)
_PATTERNS: Final = ListOf(PatternShape(), minimum=1, maximum=200)
_WEIGHT: Final = Number(minimum="0.06", maximum="0.20", scale=SCALE, code="invalid_weight")
_SUPPRESSION: Final = Number(minimum="0", maximum="0.30", exclusive=True, scale=SCALE, code="invalid_weight")

SIGNAL: Final = Structure(
    name="signal",
    fields=(
        Field("id", _ID, "`<subject>.<dimension>.<name>`, the dimension as it is or with hyphens.", required=True),
        Field("subject", SLUG_TEXT, "The contract's subject; may be omitted."),
        Field(
            "dimension",
            Choice(values=SIGNAL_DIMENSIONS, code="unknown_dimension", noun="dimension"),
            "The dimension of the group; may be omitted.",
        ),
        Field(
            "value",
            Text(phrase="a short value", maximum=80),
            "What the signal speaks for; of a method signal, the slug of the lens in `method_lenses` that it can lend.",
            required=True,
        ),
        Field("weight", _WEIGHT, "Contribution to the score; at least 0.10 to lend a lens alone.", required=True),
        Field(
            "activation",
            Choice(values=ACTIVATIONS, noun="activation"),
            "`subject` counts for the subject, `method_only` for its lens only, `context_only` for nothing.",
            required=True,
        ),
        Field("patterns", _PATTERNS, "The ways in which the signal shows in a text.", required=True),
        Field("examples", _SNIPPETS, "Snippets of which every one triggers this signal.", required=True),
        Field("near_misses", _SNIPPETS, "Snippets of which none triggers this signal.", required=True),
    ),
)

SUPPRESSOR: Final = Structure(
    name="suppressor",
    fields=(
        Field("id", _ID, "`<subject>.suppressor.<name>`.", required=True),
        Field("patterns", _PATTERNS, "The everyday or other-field sense.", required=True),
        Field(
            "weight",
            _SUPPRESSION,
            "What it takes from the subject's score, once; at most 0.10 without a reason.",
            required=True,
        ),
        Field("reason", Text(phrase="a sentence", maximum=400, lines=True), "Needed above 0.10: why so much is taken."),
        Field("examples", _SNIPPETS, "Snippets of which every one triggers this suppressor.", required=True),
        Field("near_misses", _SNIPPETS, "Snippets of which none triggers this suppressor.", required=True),
    ),
)

SIGNAL_GROUPS: Final = Structure(
    name="signal groups",
    unknown="unknown_dimension",
    noun="dimension",
    fields=tuple(
        Field(dimension, ListOf(SIGNAL, maximum=2000, distinct=False), f"Signals of the dimension `{dimension}`.")
        for dimension in SIGNAL_DIMENSIONS
    ),
)

LENS: Final = Structure(
    name="method lens",
    fields=(
        Field("pack", FILE_PATH, "The method pack.", required=True),
        Field("optional", Flag(), "When true, a missing pack disables the lens with a note.", default="`false`"),
    ),
)


@attrs.frozen
class LensShape(Shape):
    """A lens as a mapping, or only the path of its pack."""

    def _read(self, node: Node, field: str, problems: Problems) -> Any:
        if isinstance(node, Scalar):
            path = FILE_PATH.read(node, field, problems)
            return MISSING if path is MISSING else {"pack": path}
        values = LENS.read(node, field, problems)
        return values if values is not MISSING and "pack" in values else MISSING

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of both forms."""
        return {"anyOf": [FILE_PATH.schema(), LENS.schema()]}

    def summary(self) -> str:
        """Both forms."""
        return "the path of a method pack, or a mapping with `pack`"


REQUIRED_METRICS: Final = Structure(
    name="required metrics",
    fields=(
        Field(
            "primary_subject_accuracy",
            Number(minimum="0.95", maximum="1", code="threshold_loosened"),
            "Floor 0.95; a contract may only raise it.",
            default="0.95",
        ),
        Field(
            "suggest_subject_precision",
            Number(minimum="0.95", maximum="1", code="threshold_loosened"),
            "Floor 0.95; a contract may only raise it.",
            default="0.95",
        ),
        Field("near_miss_false_positives", Integer(code="threshold_loosened"), "Always 0.", default="0"),
    ),
)

ACTIVATION_GATE: Final = Structure(
    name="activation gate",
    fields=(
        Field("required_metrics", REQUIRED_METRICS, "Thresholds that the evaluation must reach."),
        Field(
            "single_dimension",
            Flag(),
            "Claims that one dimension of evidence suffices; it holds only once the gate has proved it.",
            default="`false`",
        ),
    ),
)

NEAR_MISS_POLICY: Final = Structure(
    name="near-miss policy",
    fields=(
        Field(
            "forbidden_subjects",
            ListOf(SLUG_TEXT, maximum=50),
            "Subjects whose suggestion on one of this subject's near misses counts as a false positive.",
        ),
    ),
)


CONTRACT: Final = Structure(
    name="contract",
    fields=(
        Field(
            "schema_version",
            Text(phrase="`1.0`", maximum=20, pattern=r"[0-9]+(\.[0-9]+)?", verbatim=True),
            'Version of this format; read as text, so `1.0` and `"1.0"` are the same.',
            required=True,
        ),
        Field("subject", SLUG_TEXT, "The slug; the name of the entry point in `qiongli.subjects`.", required=True),
        Field("display_name", Text(phrase="a name", maximum=80), "How people call the subject.", required=True),
        Field(
            "activation_status",
            Choice(values=ACTIVATION_STATUSES, code="invalid_status", noun="status"),
            "What the package claims; the gate's record decides whether `runtime_enabled` holds.",
            required=True,
        ),
        Field("extends", Choice(values=("core",)), "What the subject builds on.", default="`core`"),
        Field(
            "requires_qiongli",
            Text(
                phrase="a PEP 440 version specifier",
                maximum=80,
                check=_reason_against_specifier,
                code="invalid_specifier",
            ),
            "Versions of `qiongli-core` that the subject works with; without it the subject never activates.",
        ),
        Field("documentation", FILE_PATH, "States the activation status in words.", default="`README.md`"),
        Field("domain_profile", Nullable(FILE_PATH), "The domain profile; needed from `eval_ready` on."),
        Field("overlay", Nullable(FILE_PATH), "The overlay of standards; needed from `eval_ready` on."),
        Field("subject_skill", Nullable(FILE_PATH), "The agent skill; needed from `eval_ready` on."),
        Field("venue_profiles", MapOf(NAME_TEXT, FILE_PATH), "Venue slug to profile."),
        Field("signal_groups", SIGNAL_GROUPS, "The signals, by dimension.", required=True),
        Field("suppressors", ListOf(SUPPRESSOR, maximum=1000, distinct=False), "Everyday and other-field senses."),
        Field(
            "method_lenses", MapOf(NAME_TEXT, LensShape()), "Lens slug to the path of its method pack, or to a mapping."
        ),
        Field("evaluation_pack", Nullable(FOLDER_PATH), "The folder of fixtures; needed from `eval_ready` on."),
        Field("near_miss_policy", NEAR_MISS_POLICY, "What must never be suggested instead."),
        Field("activation_gate", ACTIVATION_GATE, "What the contract asks of its gate."),
        Field(
            "composes", ListOf(SLUG_TEXT, maximum=8), "The parts of a composite subject: two or more other subjects."
        ),
        Field(
            "hooks",
            Nullable(Text(phrase="a module name", maximum=100, check=_reason_against_module)),
            "A module of the package with pluggy hooks; runs only when allowed on this machine and active.",
        ),
    ),
)
