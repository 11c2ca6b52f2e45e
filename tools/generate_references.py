"""Write `docs/reference/cli.md`, `errors.md` and `packet.md` from the code; `--check` only compares."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from error_codes import error_codes

from qiongli.cli._app import application
from qiongli.errors import QiongliError
from qiongli.records.packet import REFUSAL_CODES
from qiongli.safety import refuse
from qiongli.schemas import schema_names, schema_text

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "reference"


def cli_reference() -> str:
    """Every command of core with its help text; commands of plugins are described by their own pages."""
    lines = [
        "# Command line",
        "",
        "Generated from the commands; do not edit.",
        "",
        "Every command takes `--json` and then prints one JSON document on standard output. Exit codes: 0 fine, 1 the",
        "answer is no, 2 usage or invalid input, 3 refused by state, 4 broken environment, 130 interrupted.",
        "",
    ]
    root = application()
    root._with_plugins = False
    for path, command in _commands(root, ("qiongli",)):
        context = typer.Context(command, info_name=" ".join(path), terminal_width=100)
        lines += [f"## {' '.join(path)}", "", "```text", command.get_help(context).rstrip(), "```", ""]
    return "\n".join(lines)


def _commands(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, command
    if not hasattr(command, "list_commands"):
        return
    context = typer.Context(command)
    for name in command.list_commands(context):
        found = command.get_command(context, name)
        if found is not None:
            yield from _commands(found, (*path, name))


#: What a code means of which not every message is written where it is raised.
_MEANINGS = {
    "invalid_slug": "A name is no slug: small letters, digits and single hyphens, a letter first.",
    "launch_not_permitted": "The user's settings do not allow to start the agent; the message says what is missing.",
    "manifest_malformed": "The project's manifest cannot be used; the place says which field or line.",
    "manifest_not_editable": "The manifest is written in a way that cannot be changed without losing something.",
    "path_escapes": "A path leads out of the package, through `..` or a symbolic link.",
    "tool_failed": "A tool of the MCP server, or of a plugin in it, raised an error of its own.",
    **{
        f"limits_{line}": f"Limits of the scorer break inequality {line} of the [scoring page](scoring.md)."
        for line in "abcdefgh"
    },
}


def source_folders() -> list[Path]:
    """The source of every distribution."""
    return [ROOT / "qiongli-core" / "src", *sorted((*ROOT.glob("plugins/*/src"), *ROOT.glob("subjects/*/src")))]


def error_reference() -> str:
    """Every stable error code with the messages that carry it; raises ValueError for one without any meaning."""
    found: dict[str, set[str]] = {}
    kinds: dict[str, set[str]] = {}
    for item in error_codes(source_folders()):
        kinds.setdefault(item.code, set()).add(item.kind)
        if any(character.isalpha() for character in item.message):
            found.setdefault(item.code, set()).add(item.message)
    lines = [
        "# Errors",
        "",
        "Generated from the code; do not edit. Codes are stable; messages may be worded anew. Under `--json` an error",
        "is one document, described by `qiongli schema error`; `problems` lists every fault of a file, each with its",
        "own code.",
        "",
        "## Kinds",
        "",
        "The exit code of the command line follows from the kind.",
        "",
        "| kind | exit code | what it is |",
        "|---|---|---|",
    ]
    lines += [
        f"| `{kind.__name__}` | {int(kind.exit_code)} | {_first_sentence(kind)} |"
        for kind in (QiongliError, *sorted(QiongliError.__subclasses__(), key=lambda kind: kind.__name__))
        if kind.__module__ == QiongliError.__module__
    ]
    lines += [
        "",
        "A `FixtureError` is an `InputError`, a `LimitsError` a `QiongliError`. A `ContractProblem` is one fault",
        "among those of a `ContractError`. A `ToolError` is what a tool of the MCP server answers: one line of prose,",
        "and one of JSON with the code.",
        "",
        "## Codes",
        "",
        "| code | raised as | messages |",
        "|---|---|---|",
    ]
    for code in sorted(kinds):
        messages = [*([_MEANINGS[code]] if code in _MEANINGS else []), *sorted(found.get(code, ()))]
        if not messages:
            raise ValueError(f"nothing says what the error code {code} means")
        told = "<br>".join(message.replace("|", "\\|") for message in messages)
        lines.append(f"| `{code}` | {', '.join(sorted(kinds[code]))} | {told} |")
    lines += [
        "",
        "## Refusals",
        "",
        "A packet's `refusal` has one of five codes. The command line exits with 0, because the packet is the answer.",
        "",
        "| code | usual message | usual hint |",
        "|---|---|---|",
    ]
    lines += [f"| `{code}` | {refuse(code).message} | {refuse(code).hint} |" for code in REFUSAL_CODES]
    return "\n".join(lines) + "\n"


def _first_sentence(kind: type) -> str:
    return (kind.__doc__ or "").partition("\n")[0]


def packet_reference() -> str:
    """The fields of every published structure, from the schemas; raises ValueError for one without a meaning."""
    lines = [
        "# Packets",
        "",
        "Generated from the published JSON Schemas; do not edit. `qiongli schema NAME` prints a schema. Fields may be",
        "added in later versions; none is renamed or removed.",
        "",
    ]
    for name in schema_names():
        schema = json.loads(schema_text(name))
        lines += [f"## {name}", "", str(schema.get("description", "")), ""]
        for title, definition in [(None, schema), *sorted(schema.get("$defs", {}).items())]:
            if "properties" not in definition:
                continue
            if title:
                lines += [f"### {name}: {title}", "", str(definition.get("description", "")), ""]
            lines += ["| field | type | meaning |", "|---|---|---|"]
            for field, value in definition["properties"].items():
                meaning = str(value.get("description", "")).replace("|", "\\|")
                if not meaning:
                    raise ValueError(f"{name}: nothing says what {title or 'its'} field {field} means")
                lines.append(f"| `{field}` | {_type(value)} | {meaning} |")
            lines.append("")
    return "\n".join(lines)


def _type(value: dict[str, Any]) -> str:
    if "$ref" in value:
        return str(value["$ref"].rsplit("/", 1)[1])
    if "enum" in value:
        return " \\| ".join(f"`{item}`" for item in value["enum"])
    if "anyOf" in value:
        return " \\| ".join(_type(item) for item in value["anyOf"])
    if value.get("type") == "array":
        return f"list of {_type(value['items'])}" if "items" in value else "list"
    return str(value.get("type", "any"))


def main() -> None:
    """Write or compare."""
    pages = {"cli.md": cli_reference(), "errors.md": error_reference(), "packet.md": packet_reference()}
    stale = []
    for name, text in pages.items():
        path = FOLDER / name
        text = "\n".join(line.rstrip() for line in text.splitlines()) + "\n"
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
            if "--check" not in sys.argv[1:]:
                path.write_text(text, encoding="utf-8")
    if stale and "--check" in sys.argv[1:]:
        sys.exit(f"stale pages: {', '.join(stale)}; run: python tools/generate_docs.py")


if __name__ == "__main__":
    main()
