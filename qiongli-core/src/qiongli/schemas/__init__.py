"""The published JSON Schemas, one file a structure; written by a development tool, never by hand."""

from __future__ import annotations

from importlib.resources import files


def schema_names() -> tuple[str, ...]:
    """The names of all published structures, sorted."""
    return tuple(sorted(entry.name[:-5] for entry in files(__name__).iterdir() if entry.name.endswith(".json")))


def schema_text(name: str) -> str:
    """The JSON Schema of a published structure as text; KeyError for any other name."""
    if name not in schema_names():
        raise KeyError(name)
    return files(__name__).joinpath(f"{name}.json").read_text(encoding="utf-8")
