"""Write `docs/reference/mcp.md` from the MCP server as it is built; `--check` only compares."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

# The page tells what this distribution offers, whatever else is installed where it is written.
os.environ["QIONGLI_PLUGINS"] = "none"

import anyio
from mcp_types import Prompt, Tool

from qiongli_mcp.confirmation import PLAN_SECONDS, READ_ONLY_VARIABLE
from qiongli_mcp.http import PATH
from qiongli_mcp.plugin_tools import MAXIMUM_DEFAULT_TOOLS, TOOL_NAME
from qiongli_mcp.replies import FULL_LIMIT, SHORT_LIMIT
from qiongli_mcp.resources import PROJECT_STATUS, PROJECT_STATUS_OF, SUBJECT_RESOURCE, SUBJECTS
from qiongli_mcp.server import INSTRUCTIONS, PROFILES, build_server
from qiongli_mcp.skills import SubjectSkills

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "mcp.md"

#: As it stands in README.md; a test compares them.
INSTALLATION = (
    'python -m pip install "./qiongli-core[formats]" ./subjects/economics ./subjects/finance'
    " ./plugins/qiongli-mcp ./plugins/qiongli"
)

INTRODUCTION = f"""\
# The MCP server

What `qiongli mcp serve` offers to agents over the Model Context Protocol: tools, resources, prompts and skills. This
page is generated from the server. How to connect Claude Code, Codex or Gemini CLI is in the
[guide for agents](../guide/agents.md).

## Starting it

The server is a distribution of its own, `qiongli-mcp`, and part of the [installation](../guide/first-steps.md#install):
in a virtual environment, from a clone,

```console
{INSTALLATION}
qiongli mcp serve
```

| option | meaning |
|---|---|
| `--profile NAME` | {" or ".join(f"`{name}`" for name in PROFILES)}; the second adds what plugins offer for it |
| `--read-only` | nothing is written; the same as `{READ_ONLY_VARIABLE}=1` in the environment |
| `--http HOST:PORT` | Streamable HTTP at `{PATH}` instead of standard input and output; port 0 is any free one |
| `--token-env NAME` | with `--http`: clients must send the bearer token in this environment variable |

Over HTTP the server answers this machine alone: a host that is not a loopback address is refused at the start, and a
request with a foreign `Host` or `Origin` is refused as well. Without `--token-env` every program of the machine can use
it, which is said on standard error.

The server speaks both eras of the protocol: with `initialize` (2024-11-05 to 2025-11-25) and without (2026-07-28). On
standard output there is nothing but the protocol; messages go to standard error.

Records that this machine has not verified yet are verified beside the client, right after the start. Until that is done
a subject is routed as one that lends lenses only, and is listed with the reason `verifying`; what asks for one
subject's guidance, or for a project's decision, waits for it.

## What clients are told

> {INSTRUCTIONS}

## Rules for every tool

- **Arguments** are strict: unknown names, wrong types and other values than the listed ones are refused.
- **`cwd`** is the full path of an existing folder. Links are followed, so a project has one name. A relative path is
  refused, because it would mean the server's folder and not the client's.
- **Replies** carry the same packet as structure and as JSON text. They hold at most {SHORT_LIMIT:,} bytes, or
  {FULL_LIMIT:,} with `detail: "full"`. What had to be cut is listed in `shortened`; the shape stays that of the schema.
- **Folders of the machine** never appear in a reply: `.` stands for the project and `~` for the home folder.
- **Packets** are those of the command line with `--json`: see [the packet](packet.md) and `qiongli schema NAME`.
- **Errors** are one line of prose and one line of JSON: `{{"code": ..., "hint": ..., "available": [...]}}`. The codes
  are those of [the command line](errors.md), and the ones below.

| code | when |
|---|---|
| `invalid_arguments` | the arguments do not fit the input schema; `available` holds what would |
| `unknown_tool`, `unknown_prompt` | there is no such tool or prompt; `available` lists them |
| `cwd_not_absolute` | `cwd` is a relative path |
| `no_such_folder` | `cwd` is no existing folder; nothing is created |
| `unknown_plan` | the plan was never made here, was used, or has expired |
| `plan_of_another_action` | the plan was made for another action, subject or project |
| `changed_since` | somebody decided otherwise after the user was asked |
| `answer_unreadable` | the client accepted without the form; nothing was done |
| `tool_failed` | a plugin's tool says why in its own words |
| `internal_error` | a fault of the server; what happened is on its standard error |

## Consent

Nothing that the router thinks changes a project: no score, no packet and no session takes part in these rules.

| the client | what happens |
|---|---|
| can show a form | the user is asked in an empty form; accepting it applies the change, anything else is `cancelled` |
| cannot | `needs_confirmation`, a `plan_id` and the command line; a second call with the `plan_id` applies it |

The form says what would be lost, such as a confirmed subject that is replaced. A plan lives in the server's memory for
{PLAN_SECONDS // 60} minutes, holds once, and for exactly its action, subject and project; nothing is written before
consent. A decision that somebody else made meanwhile is never overwritten. A client that can show a form is asked even
when it gives a plan. What the project's state refuses anyway is refused without asking.

A read-only server answers `read_only`, with what would change and the command line in `proposed_actions`, and changes
not one byte.

## Cancelling

A reading tool is left at once. A writing tool stops before it writes, or writes everything; there is no half-written
state.
"""

FURTHER = f"""\
## Skills

Every active subject is an Agent Skill (`{SubjectSkills.identifier}`, SEP-2640): `skills/list` and
`skills/get` name its files with digest and size, and `resources/read` gives them, from `skill://SUBJECT/SKILL.md` on. A
subject that the gate does not let act is not listed and not served.

## Tools of other distributions

A distribution adds tools with the hook [`qiongli_mcp_tools`](hooks.md). A `ToolSpec` names the tool
(`{TOOL_NAME.pattern}`), the function as `module:attr`, and the profile. The function returns a dictionary; its
attribute `output_schema`, a JSON Schema, is published if there is one. Hints that are not given count as the worst:
writing, destructive and open to the world.

A tool is left out, with a line on standard error, when it cannot be imported, when its name is taken or claimed twice,
or when the default profile would hold more than {MAXIMUM_DEFAULT_TOOLS}.
"""


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def _kind(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    if "anyOf" in schema:
        return " or ".join(_kind(option) for option in schema["anyOf"])
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    kind = str(schema.get("type", "any"))
    if kind == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    bounds = [f"{schema[key]:,}" for key in ("minimum", "maximum") if key in schema]
    limits = f", {' to '.join(bounds)}" if len(bounds) == 2 else f", at least {bounds[0]}" if bounds else ""
    length = f", at most {schema['maxLength']:,} characters" if "maxLength" in schema else ""
    return f"{kind}{limits}{length}"


def _hints(tool: Tool) -> str:
    hints = tool.annotations
    assert hints is not None
    said = ["reads only" if hints.read_only_hint else "writes"]
    if hints.destructive_hint:
        said.append("can take something away, so clients ask before they call it")
    if hints.idempotent_hint:
        said.append("may be repeated")
    if hints.open_world_hint:
        said.append("reaches outside of Qiongli")
    return "; ".join(said)


def _tool(tool: Tool) -> list[str]:
    lines = [f"### `{tool.name}`", "", (tool.description or "").strip(), "", f"*{_hints(tool)}.*", ""]
    fields: dict[str, Any] = tool.input_schema["properties"]
    if fields:
        required = tool.input_schema.get("required", [])
        lines += ["| argument | type | meaning |", "|---|---|---|"]
        for name, field in fields.items():
            needed = " (required)" if name in required else ""
            lines.append(f"| `{name}`{needed} | {_kind(field)} | {_cell(field.get('description', ''))} |")
        lines.append("")
    output = tool.output_schema or {}
    lines += ["It answers:", "", "| field | type | |", "|---|---|---|"]
    for name, field in output["properties"].items():
        absent = "" if name in output.get("required", []) else "may be absent"
        lines.append(f"| `{name}` | {_kind(field)} | {absent} |")
    return [*lines, ""]


def _prompt(prompt: Prompt) -> str:
    arguments = ", ".join(
        f"`{argument.name}`{'' if argument.required else ' (may be left out)'}" for argument in prompt.arguments or ()
    )
    return f"| `{prompt.name}` | {_cell(prompt.description or '')} | {arguments} |"


async def page() -> str:
    """The whole page."""
    server = build_server()
    lines = [INTRODUCTION, "## Tools", ""]
    for tool in await server.list_tools():
        lines += _tool(tool)
    lines += ["## Resources", "", "| address | what it gives |", "|---|---|"]
    templates = {item.uri_template: item for item in await server.list_resource_templates()}
    listed = {str(item.uri): item for item in server._resource_manager.list_resources()}
    for address in (SUBJECTS, SUBJECT_RESOURCE, PROJECT_STATUS, PROJECT_STATUS_OF):
        item = listed.get(address) or templates[address]
        lines.append(f"| `{address}` | {_cell(item.description or '')} |")
    lines += [
        "",
        "What is not there, or not to be loaded, is the protocol error -32602 with the same facts as a tool's error.",
        "Subjects, kinds and names are completed as they are typed.",
        "",
        "## Prompts",
        "",
        "| name | what it does | arguments |",
        "|---|---|---|",
    ]
    lines += [_prompt(prompt) for prompt in await server.list_prompts()]
    return "\n".join([*lines, "", FURTHER]).rstrip("\n") + "\n"


def main() -> None:
    """Write the page, or with `--check` fail when it would change."""
    text = anyio.run(page)
    if "--check" in sys.argv[1:]:
        if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
            sys.exit(f"{PAGE.name} is not current; run: python tools/{Path(__file__).name}")
        return
    PAGE.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
