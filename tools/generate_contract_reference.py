"""Write `docs/reference/contract.md` from the description that the loader itself uses; `--check` only compares."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from written_page import publish

from qiongli.contract.files import MAXIMUM_RESOURCE
from qiongli.contract.format import (
    ACTIVATION_GATE,
    CONTRACT,
    LENS,
    MAXIMUM_SLUG,
    NEAR_MISS_POLICY,
    REQUIRED_METRICS,
    RESERVED_SLUGS,
    SIGNAL,
    SIGNAL_DIMENSIONS,
    SUPPRESSOR,
)
from qiongli.contract.kinds import FORMATS, SOURCE
from qiongli.contract.nodes import MAXIMUM_BYTES, MAXIMUM_DEPTH
from qiongli.contract.patterns import FORMS
from qiongli.contract.problems import PROBLEM_CODES
from qiongli.contract.shapes import Shape
from qiongli.contract.structures import ListOf, Structure

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "contract.md"

_DIMENSIONS = ", ".join(f"`{name}`" for name in SIGNAL_DIMENSIONS)

INTRODUCTION = f"""\
# The subject contract

`runtime-subject.yaml` says what shows that a task belongs to a subject, what only looks like it, and which resources
the subject brings. It lies in the subject's import package, beside the files that it names. This page is generated
from the description that the loader reads contracts with.

```console
qiongli contract new SLUG          # a whole package that is valid at once
qiongli contract validate PATH     # every problem at once, each with file, line and field
qiongli contract schema            # a JSON Schema for editors
qiongli contract diff OLD NEW      # what changed, in the contract's words
```

A contract is read and never executed: no code of the package runs when it is listed, validated or routed with.

## The file

YAML in UTF-8, at most {MAXIMUM_BYTES // 1024} KiB and {MAXIMUM_DEPTH} levels deep. A byte order mark and Windows line
ends are accepted. Aliases, anchors, tags, keys that stand twice, unknown keys and several documents are refused. A
text that YAML would read as a number, a truth value or nothing (`2008`, `no`) needs quotes, and so does one with `: `
or ` #`. `schema_version` alone is read as text either way; a contract of a newer version is refused with the advice
to upgrade core.
"""

IDENTIFIERS = f"""\
A slug is made of lower-case ASCII letters, digits and single hyphens, begins with a letter, and has at most
{MAXIMUM_SLUG} characters; {", ".join(f"`{slug}`" for slug in RESERVED_SLUGS)} are reserved.

From the status `eval_ready` on, `domain_profile`, `overlay`, `subject_skill` and `evaluation_pack` must be there, and
at least one signal. The status is a claim: whether `runtime_enabled` holds is decided by the gate's record.
`requires_qiongli` may be absent while a contract is drafted, but `contract validate` asks for it, and a subject
without it never activates.

A composite subject names two or more other subjects in `composes`.

## Paths

Relative to the import package, with forward slashes. Absolute paths, `..`, `.` and empty segments, backslashes,
drives, `~`, characters and names that Windows reserves, and links that leave the package are refused. Capitals must
be those of the file.
"""

SIGNALS = f"""\
`signal_groups` maps a dimension to a list of signals. The dimensions are {_DIMENSIONS}.
`classification` is for codes that a field uses for itself (JEL codes and the like). The dimension `vocabulary` is
computed from a profile of words and cannot be written here.

The id is `<subject>.<dimension>.<name>`: the subject's slug; the dimension as it is or with hyphens in the place of
underscores (`data_or_outcome` or `data-or-outcome`); a name of lower-case letters, digits and hyphens. Of a
suppressor the middle is `suppressor`. No id stands twice.

A signal that is `method_only` belongs to the dimension `method`. When its value is a lens of `method_lenses`, its
weight is at least 0.10: less could never lend the lens. `context_only` signals are shown to the user and count nothing.
Every example must trigger its own signal and no near miss may: `contract validate` runs them.
"""

PATTERNS = """\
A pattern is a text, which is a phrase, or a mapping with exactly one of these forms.
"""

SUPPRESSORS = """\
An everyday or other-field sense. A signal whose span overlaps it counts zero, and each suppressor lowers the
subject's score once, never that of its lenses. Above 0.10 it is in effect a veto and needs a `reason`.
"""

RESOURCES = f"""\
A resource has at most {MAXIMUM_RESOURCE // 1024} KiB. Its `subject` and `slug` are those under which the contract
names it. Overlay, skill and domain profile are loaded only while the subject is active. A method pack needs no
activation; when its file is missing, its lens is disabled, and unless it is `optional` that is a fault of the package.
A missing overlay or skill keeps the subject from being active. Sizes are counted in tokens, estimated as bytes of
UTF-8 divided by four, rounded up.
"""

SKILL = """\
The head of `SKILL.md`, between two lines of `---`; Markdown follows. The file lies in a folder of the skill's name.
"""


def table(structure: Structure) -> Iterator[str]:
    """The keys of a structure as a table."""
    yield "| key | needed | value | meaning |"
    yield "|---|---|---|---|"
    for field in structure.fields:
        needed = "yes" if field.required else "no"
        default = f" Default: {field.default}." if field.default else ""
        yield f"| `{field.name}` | {needed} | {field.shape.summary()} | {field.description}{default} |"
    yield ""


def parts(structure: Structure) -> Iterator[Structure]:
    """The named structures inside a resource's format, sources aside."""
    for field in structure.fields:
        shape: Shape = field.shape.item if isinstance(field.shape, ListOf) else field.shape
        if isinstance(shape, Structure) and shape is not SOURCE:
            yield shape


def page() -> str:
    """The whole page."""
    lines = [INTRODUCTION, "## Keys", "", *table(CONTRACT), IDENTIFIERS]
    lines += ["## Signals", "", SIGNALS, *table(SIGNAL)]
    lines += ["## Patterns", "", PATTERNS]
    for form in FORMS:
        lines += [f"### {form.name.capitalize()}", "", *table(form)]
    lines += ["## Suppressors", "", SUPPRESSORS, *table(SUPPRESSOR)]
    lines += ["## Method lenses", "", "The path of a method pack, or a mapping:", "", *table(LENS)]
    lines += ["## Near-miss policy", "", *table(NEAR_MISS_POLICY)]
    lines += ["## Activation gate", "", *table(ACTIVATION_GATE), "Of `required_metrics`:", "", *table(REQUIRED_METRICS)]
    lines += ["## Resources", "", RESOURCES]
    for kind, structure in FORMATS.items():
        lines += [f"### {structure.name.capitalize()}", ""]
        if kind == "skill":
            lines.append(SKILL)
        lines += table(structure)
        for part in parts(structure):
            lines += [f"A {part.name}:", "", *table(part)]
    lines += ["### Source", "", "Every entry of `sources`:", "", *table(SOURCE)]
    lines += [
        "## Problems",
        "",
        "A problem is printed as `file:line: field: message`. Its code is stable. Executing a contract adds",
        "`example_misses`, `near_miss_triggers`, and codes for patterns that collide or are too common.",
        "",
        "| code | meaning |",
        "|---|---|",
    ]
    lines += [f"| `{code}` | {meaning} |" for code, meaning in PROBLEM_CODES.items()]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the page, or with `--check` fail when it would change."""
    publish(PAGE, page(), __file__)


if __name__ == "__main__":
    main()
