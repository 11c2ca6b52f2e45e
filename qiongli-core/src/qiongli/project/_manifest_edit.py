"""Editing the user's manifest: only the characters of the changed values are replaced, every other byte stays.

ruamel.yaml says where each value begins and ends (the fast reader does, for a manifest in the plain form that Qiongli
writes itself); the new text is spliced in there, and a second parser then has to read exactly what was meant out of the
result. Dumping a parsed document would not do: no YAML library reproduces
every file's indentation, quotes, line ends and comments.
"""

from __future__ import annotations

import re
from typing import Any, Final

import attrs

from qiongli.errors import StateCorruptError
from qiongli.project.manifest import KEYS, Value, decode, malformed, parse_manifest, read_simple, with_way_out
from qiongli.project.paths import HERE, Project
from qiongli.records.project import ManifestState

_NEW_MANIFEST: Final = """\
# The subject of this project, for Qiongli. You may edit this file; `qiongli subject` and `qiongli project` do, too.
# Comments and keys that Qiongli does not know are kept.
schema_version: "1.0"
"""


def new_manifest(state: ManifestState) -> bytes:
    """The manifest of a project that had none."""
    return (_NEW_MANIFEST + "".join(f"{key}: {_flow(getattr(state, key))}\n" for key in KEYS)).encode()


def edit_manifest(data: bytes, state: ManifestState, project: Project = HERE) -> bytes:
    """The manifest with its values changed to those of `state`; keys whose value is right already are not touched.

    Raises `StateCorruptError` (`manifest_not_editable`) when a value cannot be replaced alone, as with an alias; its
    hint is for that project.
    """
    try:
        return _edit_manifest(data, state)
    except StateCorruptError as error:
        raise with_way_out(error, project) from None


def _edit_manifest(data: bytes, state: ManifestState) -> bytes:
    text = decode(data)
    current = parse_manifest(data)
    if current.error is not None:
        raise current.error
    changes = {key: getattr(state, key) for key in KEYS if getattr(state, key) != getattr(current.state, key)}
    if not changes:
        return data
    try:
        edited = _edit(text, changes).encode()
    except (ValueError, LookupError, TypeError) as error:
        # The two parsers see different things in it.
        raise _not_editable("the manifest is written in a way that cannot be edited in place") from error
    result = parse_manifest(edited)
    if result.error is not None or result.state != state or not _keeps_others(data, edited):
        raise _not_editable("the manifest is written in a way that cannot be edited in place")
    return edited


def _not_editable(message: str, line: int = 0, field: str = "") -> StateCorruptError:
    return malformed(
        message, line=line, field=field, expected="one `key: value` line for each key", code="manifest_not_editable"
    )


def _keeps_others(old: bytes, new: bytes) -> bool:
    """Whether everything in a manifest that is not ours to change is still there, as PyYAML reads it."""
    before, after = (decode(data).removeprefix("\ufeff") for data in (old, new))
    plain, edited = read_simple(before), read_simple(after)
    if plain is None or edited is None:
        return _others(before) == _others(after)
    kept = ([(key, found.value) for key, found in values.items() if key not in KEYS] for values in (plain, edited))
    return next(kept) == next(kept)


def _others(text: str) -> list[tuple[Any, ...]]:
    """The parser's events for all entries that are not ours.

    Events rather than values, for anchors and aliases may stand for a value of any size, or for one inside itself.
    """
    import yaml

    others: list[tuple[Any, ...]] = []
    entry: list[tuple[Any, ...]] = []
    depth = nodes = 0
    for event in yaml.parse(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader)):
        starts, ends = (isinstance(event, kind) for kind in (yaml.CollectionStartEvent, yaml.CollectionEndEvent))
        depth -= ends
        if depth:
            entry.append((type(event).__name__, *(getattr(event, name, None) for name in ("anchor", "tag", "value"))))
        if depth == 1 and not starts:
            nodes += 1
        depth += starts
        if nodes == 2:
            others += [] if entry[0][-1] in KEYS else entry
            entry, nodes = [], 0
    return others


def _flow(value: Value) -> str:
    return value if isinstance(value, str) else "[" + ", ".join(value) + "]"


@attrs.frozen
class _Splice:
    """Replace the characters from `start` to `end`."""

    start: int
    end: int
    text: str


def _edit(text: str, changes: dict[str, Value]) -> str:
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    body = text[len(mark) :]
    newline = "\r\n" if "\r\n" in body else "\n"
    splices: list[_Splice] = []
    missing = dict(changes)
    simple = read_simple(body)
    if simple is not None:
        found = [(simple[key], missing.pop(key)) for key in changes if key in simple]
        splices = [_Splice(old.start, old.end, _flow(value)) for old, value in found]
    root = None if simple is not None else _compose(body)
    if root is not None:
        for key_node, value_node in root.value:
            if isinstance(key_node.value, str) and key_node.value in missing:
                _require_plain(key_node, value_node)
                value = missing.pop(key_node.value)
                splices.append(_replace(body, key_node, value_node, value, newline))
    for splice in sorted(splices, key=lambda splice: splice.start, reverse=True):
        body = body[: splice.start] + splice.text + body[splice.end :]
    return mark + _append(body, root, missing, newline)


def _compose(text: str) -> Any:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        return YAML(typ="rt").compose(text)
    except YAMLError as error:
        raise _not_editable(f"the manifest is no YAML 1.2: {str(error).splitlines()[0]}") from None
    except (ValueError, RecursionError):
        raise _not_editable("the manifest is no YAML 1.2") from None


def _require_plain(key_node: Any, value_node: Any) -> None:
    items = value_node.value if isinstance(value_node.value, list) else []
    # A value that stands before its key is the target of an alias.
    if (
        value_node.anchor
        or any(getattr(item, "anchor", None) for item in items)
        or value_node.start_mark.index < key_node.end_mark.index
        or any(item.start_mark.index < key_node.end_mark.index for item in items)
    ):
        raise _not_editable("anchors and aliases cannot be edited", key_node.start_mark.line + 1, key_node.value)


def _replace(text: str, key_node: Any, node: Any, value: Value, newline: str) -> _Splice:
    start, end = node.start_mark.index, node.end_mark.index
    is_block = isinstance(node.value, list) and not node.flow_style
    if not is_block:
        old = text[start:end]
        if not old:
            # A key without a value: `key:`, perhaps with a comment behind it.
            colon = text.index(":", key_node.end_mark.index) + 1
            return _Splice(colon, colon, f" {_flow(value)}")
        comments = _comments(old) if isinstance(node.value, list) else []
        if comments:
            # The values' own comments go below the line, indented as the key's children.
            line_end = _line_end(text, end)
            rest = text[end:line_end]
            indented = "".join(f"{newline}  {comment}" for comment in comments)
            return _Splice(start, line_end, f"{_flow(value)}{rest}{indented}")
        return _Splice(start, end, _flow(value))
    return _replace_block(text, key_node, node, value, newline)


def _comments(text: str) -> list[str]:
    """The comments inside a flow list, whose items are slugs and hold no number sign."""
    return re.findall(r"(?m)(?<=\s)#[^\r\n]*", text)


def _line_end(text: str, index: int) -> int:
    """Where the line that holds the index ends, before its newline."""
    found = re.compile(r"\r?\n").search(text, index)
    return found.start() if found else len(text)


def _replace_block(text: str, key_node: Any, node: Any, value: Value, newline: str) -> _Splice:
    """Edit a list written one item a line: kept items keep their lines, and every comment stays."""
    first = text.rfind("\n", 0, node.start_mark.index) + 1
    if node.start_mark.line == key_node.start_mark.line:
        raise _not_editable("the list begins on the line of its key", node.start_mark.line + 1, key_node.value)
    indentation = text[first : node.start_mark.index]
    last = _line_end(text, node.value[-1].end_mark.index)
    lines = text[first:last].split(newline)
    items = {item.start_mark.line - node.start_mark.line: item.value for item in node.value}
    if any(item.start_mark.line != item.end_mark.line for item in node.value) or len(items) != len(node.value):
        raise _not_editable("an item of the list spans lines", node.start_mark.line + 1, key_node.value)
    wanted = list(value)
    kept_order = [name for name in wanted if name in items.values()]
    in_place = [name for name in items.values() if name in wanted] == kept_order and wanted[
        : len(kept_order)
    ] == kept_order
    edited: list[str] = []
    for number, line in enumerate(lines):
        name = items.get(number)
        if name is None or (in_place and name in wanted):
            edited.append(line)
        elif "#" in line:
            # The item goes, what the user wrote about it stays.
            edited.append(indentation + line[line.index("#") :])
    added = wanted[len(kept_order) :] if in_place else wanted
    edited += [f"{indentation}- {name}" for name in added]
    if wanted:
        return _Splice(first, last, newline.join(edited))
    # An empty list has no block form: it stands behind the key, and the comments stay below.
    colon = text.index(":", key_node.end_mark.index) + 1
    between = text[colon:first]
    below = newline.join(edited)
    if not below:
        between = between.removesuffix(newline)
    return _Splice(colon, last, f" []{between}{below}")


def _append(text: str, root: Any, missing: dict[str, Value], newline: str) -> str:
    """Add the keys that the manifest lacks, at its end."""
    if not missing:
        return text
    lines = [f"{key}: {_flow(value)}" for key, value in missing.items()]
    if root is not None and root.flow_style:
        # A manifest written as one flow mapping; its closing brace is the last one in it.
        end = text.rindex("}")
        inside = text[:end].rstrip()
        comma = "" if inside.endswith(("{", ",")) else ", "
        return text[:end] + comma + ", ".join(lines) + text[end:]
    marker = re.search(r"(?m)^\.\.\.[ \t]*\r?$", text)
    end = marker.start() if marker else len(text)
    before, after = text[:end], text[end:]
    if before and not before.endswith("\n"):
        before += newline
    return before + "".join(line + newline for line in lines) + after
