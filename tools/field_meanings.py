"""What the fields of a published structure mean: the `#:` comment above each, read from the class's source."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path


def meanings_of(structure: type) -> dict[str, str]:
    """By field, the sentence or two that stand above it; raises ValueError for a field of which nothing is said."""
    found: dict[str, str] = {}
    for kind in reversed(structure.__mro__):
        if "__attrs_attrs__" in vars(kind):
            found |= dict(_commented(kind))
    missing = [name for name, meaning in found.items() if not meaning]
    if missing:
        raise ValueError(
            f"{structure.__qualname__}: nothing is said of {', '.join(missing)}; write a `#:` comment above"
        )
    return found


def _commented(kind: type) -> Iterator[tuple[str, str]]:
    path = inspect.getsourcefile(kind)
    assert path is not None, kind
    source = Path(path).read_text(encoding="utf-8")
    lines = source.split("\n")
    classes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ClassDef)]
    (body,) = [node.body for node in classes if node.name == kind.__name__]
    for statement in body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            above = []
            for line in reversed(lines[: statement.lineno - 1]):
                if not line.lstrip().startswith("#:"):
                    break
                above.append(line.lstrip().removeprefix("#:").strip())
            yield statement.target.id, " ".join(reversed(above))
