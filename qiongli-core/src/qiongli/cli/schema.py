"""`qiongli schema`: the published structures."""

from __future__ import annotations

from typing import Annotated

import typer

from qiongli.cli._output import emit, write
from qiongli.errors import InputError
from qiongli.schemas import schema_names, schema_text


def schema(
    name: Annotated[str | None, typer.Argument(help="Name of the structure; without it, all names.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Print the JSON Schema of a published structure, or the names of all of them."""
    names = schema_names()
    if name is None:
        emit({"schema_version": "1.0", "schemas": list(names)}, "\n".join(names), as_json)
        return
    if name not in names:
        raise InputError(f"no structure is called {name!r}", code="unknown_schema", available=names)
    write(schema_text(name))
