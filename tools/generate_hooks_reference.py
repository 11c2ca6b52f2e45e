"""Write `docs/reference/hooks.md` from the hook specifications and the plugin layer itself; `--check` only compares."""

from __future__ import annotations

import inspect
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs

from qiongli import hookspecs
from qiongli.plugins import hooks
from qiongli.plugins._distributions import COMMANDS_GROUP, PLUGINS_GROUP, SUBJECTS_GROUP
from qiongli.plugins.catalogue import CORE_SUBJECTS
from qiongli.plugins.policy import DISABLED_VARIABLE, PLUGINS_VARIABLE, POLICY_FILE
from qiongli.plugins.states import STATE_REASONS
from qiongli.records.subjects import SUBJECT_STATES

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "hooks.md"

#: What a state permits; the order is that of the records.
STATES = {
    "broken": "The distribution or its package cannot be read. It has a row, and nothing else.",
    "invalid": "The contract has faults, excludes this core, or shares its slug. Nothing of it is used.",
    "inactive": "Declared disabled, or kept out here. It is named where its signals show, and nothing of it is used.",
    "lens_only": "May lend single method lenses whose packs resolve; it is never suggested.",
    "active": "May be suggested, confirmed and locked; its overlay, skill and profile may be loaded.",
}

INTRODUCTION = f"""\
# Plugins and hooks

How distributions take part in Qiongli, what of them runs and when, and every hook that they may implement. This page
is generated from the hook specifications and from the code that calls them.

## Three entry-point groups

| group | name | value | what happens with it |
|---|---|---|---|
| `{SUBJECTS_GROUP}` | a subject's slug | its top-level import package | contract and resources are read as files |
| `{PLUGINS_GROUP}` | any name | `module` or `module:object` | imported when hooks are first needed |
| `{COMMANDS_GROUP}` | a command of `qiongli` | `module:object` | listed from metadata, imported when it runs |

A value in `{SUBJECTS_GROUP}` is one plain import package, such as `qiongli_subject_finance`: no dots, no hyphens, no
file name. A name in `{COMMANDS_GROUP}` that two distributions claim belongs to neither; core's own commands cannot be
taken.

## What runs, and when

A subject is data. Nothing of a subject's package is imported to list, validate, route or verify it, whatever its
`__init__.py` holds. Code runs in these cases only:

| code | runs when |
|---|---|
| modules in `{PLUGINS_GROUP}` | their distribution is installed, not blocked, and inside the allow-list |
| the `hooks` module that a contract names | the same, **and** it is allowed here, **and** its subject is active |
| the same, to measure it | it is allowed here, and somebody runs `qiongli gate check` or `promote` on the subject |
| commands in `{COMMANDS_GROUP}` | somebody runs that command |

A distribution is allowed with `qiongli plugins allow DISTRIBUTION`, and kept out with `qiongli plugins block`.

`{PLUGINS_VARIABLE}` is the allow-list: names of distributions, in any spelling, or of what they provide; `none` lets
nobody's code run, and `--no-plugins` anywhere on the command line is the same. Subjects of distributions outside it are
inactive, except core's own: {" and ".join(sorted(CORE_SUBJECTS))}. All of this is decided from metadata and from the
local policy before anything is imported. `--help`, `subject list`, `plugins list`, `doctor` and `contract validate`
import no plugin in any case.

## The local policy

`{POLICY_FILE}` in the user's configuration folder, or in `QIONGLI_CONFIG_DIR`:

```json
{{
  "schema_version": "1.0",
  "allowed": ["some-distribution"],
  "blocked": ["another-distribution"],
  "candidate_only": false,
  "agents": ["claude"],
  "pinned": {{"law": "some-distribution"}}
}}
```

`qiongli plugins allow|block|forget NAME` and `qiongli plugins candidate-only on|off` write it; they take a
distribution's name in any spelling, a slug, or the name of an entry point. A pin
(`qiongli plugins allow NAME --pin SLUG`) settles which of two distributions owns a slug, and puts the subject before
those that are admitted by name. A policy that cannot be read lets nobody take part, because what it blocked cannot be
known; `qiongli doctor` says what is wrong with it. `agents` are those that `qiongli task run --launch` may start;
`qiongli task allow|forbid AGENT` writes them.

`{DISABLED_VARIABLE}=1` lowers every subject but core's own to a candidate; a list of slugs lowers these.
`candidate_only` does the same for good.

## States of a subject

Each step that lowers a subject leaves a reason with a code, a message and the next command to run; nothing raises one.
"""

CALLING = f"""\
## How hooks are called

Implementations are marked with `qiongli.hookspecs.hookimpl` and called one by one, subjects first in the order of their
admission, then plugins by the names of distribution and entry point, whatever the order of installation.

- What an implementation raises, `SystemExit` included, is recorded with its distribution and costs the others nothing.
- One that takes longer than {hooks.HOOK_LIMIT_SECONDS:g} seconds has failed; it is left behind and not called again in
  this process. An import may take {hooks.IMPORT_LIMIT_SECONDS:g} seconds.
- An answer of a wrong type has failed, and so has `None` where several items are asked for. Of one answer, at most
  {hooks.MAXIMUM_ITEMS:,} items are read.
- A plugin with an unknown hook or an unknown argument is refused as a whole; no half of it stays registered.
- What a plugin prints goes to standard error.
- Detectors return evidence about places of the text. Its source is the distribution and its snippet the text at that
  place, whatever the plugin claims; weights are those that a contract could have. Directives ("keep this in
  economics") are the user's alone and are dropped.
- Gate and request hooks can only veto. No return value of any hook grants anything; an implementation that fails has
  vetoed.

Isolation protects the host from faults, not from malice: code that runs in this process can do what the process can.
That is why nothing of a subject runs that nobody let run.

## An example

```python
from qiongli.hookspecs import Request, Veto, hookimpl


@hookimpl
def qiongli_request_policy(request: Request) -> Veto | None:
    if request.size > 200_000:
        return Veto("too_long_for_us", "Texts of more than 200 kB are read by a person first.")
    return None
```

```toml
[project.entry-points."{PLUGINS_GROUP}"]
our-policy = "our_package.policy"
```

## The hooks
"""


def _state_table() -> Iterator[str]:
    yield "| state | what it permits |"
    yield "|---|---|"
    for state in SUBJECT_STATES:
        yield f"| `{state}` | {STATES[state]} |"
    yield ""
    yield "| code | lowers to | meaning |"
    yield "|---|---|---|"
    for code, (state, meaning) in STATE_REASONS.items():
        yield f"| `{code}` | `{state}` | {meaning} |"
    yield ""


def specifications() -> dict[str, Any]:
    """Every hook specification by name, in the order of the file."""
    return {name: value for name, value in vars(hookspecs).items() if name.startswith("qiongli_")}


def _hook(hook: str, function: Any) -> Iterator[str]:
    signature = inspect.signature(function)
    parameters = ", ".join(f"{name}: {parameter.annotation}" for name, parameter in signature.parameters.items())
    yield f"### `{hook}`"
    yield ""
    yield "```python"
    yield f"def {hook}({parameters}) -> {signature.return_annotation}"
    yield "```"
    yield ""
    text, _, added = inspect.cleandoc(function.__doc__).partition(".. versionadded::")
    yield from textwrap.wrap(" ".join(text.split()), 118)
    yield ""
    yield f"Since version {added.strip()}."
    yield ""


def _structure(kind: type) -> Iterator[str]:
    yield f"### `{kind.__name__}`"
    yield ""
    yield from textwrap.wrap(" ".join(inspect.cleandoc(kind.__doc__ or "").split()), 118)
    yield ""
    yield "| field | type | default |"
    yield "|---|---|---|"
    for field in attrs.fields(kind):
        default = field.default
        if default is attrs.NOTHING:
            shown = "required"
        elif isinstance(default, attrs.Factory):  # type: ignore[arg-type]  # a class at run time
            shown = f"`{default.factory()!r}`"
        else:
            shown = f"`{default!r}`"
        kind_text = str(field.type).replace("|", "\\|")
        yield f"| `{field.name}` | `{kind_text}` | {shown} |"
    yield ""


def structures() -> list[type]:
    """The values that hooks take and return, defined beside them."""
    return [
        value
        for value in vars(hookspecs).values()
        if isinstance(value, type) and attrs.has(value) and value.__module__ == hookspecs.__name__
    ]


def page() -> str:
    """The text of the page."""
    lines = [INTRODUCTION, *_state_table(), CALLING]
    for name, function in specifications().items():
        lines += _hook(name, function)
    lines += ["## What they exchange", ""]
    for kind in structures():
        lines += _structure(kind)
    return "\n".join(lines).rstrip("\n") + "\n"


def main() -> None:
    """Write or compare."""
    current = PAGE.read_text("utf-8") if PAGE.is_file() else ""
    if "--check" in sys.argv[1:]:
        if current != page():
            sys.exit(f"{PAGE.name} is stale; run: python tools/generate_hooks_reference.py")
        return
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
