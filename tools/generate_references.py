"""Write `docs/reference/cli.md`, `errors.md` and `packet.md` from the code; `--check` only compares."""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from qiongli.cli._app import application
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


def error_reference() -> str:
    """Every stable error code with the messages that carry it."""
    found: dict[str, set[str]] = {}
    kinds: dict[str, set[str]] = {}
    for base in ("qiongli-core/src", "plugins/qiongli-mcp/src"):
        for path in sorted((ROOT / base).rglob("*.py")):
            for code, kind, message in _errors(ast.parse(path.read_text(encoding="utf-8"))):
                found.setdefault(code, set()).add(message)
                kinds.setdefault(code, set()).add(kind)
    lines = [
        "# Errors",
        "",
        "Generated from the code; do not edit. Codes are stable; messages may be worded anew. Under `--json` an error",
        "is one document, described by `qiongli schema error`.",
        "",
        "| code | raised as | messages |",
        "|---|---|---|",
    ]
    for code in sorted(found):
        messages = "<br>".join(sorted(message.replace("|", "\\|") for message in found[code] if message)) or "-"
        lines.append(f"| `{code}` | {', '.join(sorted(kinds[code]))} | {messages} |")
    return "\n".join(lines) + "\n"


def _errors(tree: ast.AST) -> Iterator[tuple[str, str, str]]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        for keyword in node.keywords:
            value = keyword.value
            literal = isinstance(value, ast.Constant) and isinstance(value.value, str)
            if keyword.arg == "code" and literal and name.endswith("Error"):
                yield str(ast.literal_eval(value)), name, _template(node.args[0]) if node.args else ""


def _template(node: ast.AST) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "…" for part in node.values)
    return ""


def packet_reference() -> str:
    """The fields of every published structure, from the schemas."""
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
                lines.append(f"| `{field}` | {_type(value)} | {value.get('description', '')} |")
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
