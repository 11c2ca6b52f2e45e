"""YAML text to a tree of nodes that know their lines, with everything refused that a contract does not need.

Refused: more than 1 MiB, nesting beyond 16 levels, bytes that are not UTF-8, aliases, anchors, explicit tags, several
documents, keys that stand twice or are no plain text. A byte order mark and Windows line ends are accepted. The C
parser is used where PyYAML has it, else the one in Python, which is stricter in a few corners ("[is it?]");
`reads_alike` says whether a file depends on which of them reads it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import attrs

from qiongli.contract.problems import Problems
from qiongli.errors import EnvironmentBrokenError

#: Largest contract or resource, in bytes.
MAXIMUM_BYTES: Final = 1_048_576
#: Deepest nesting of lists and mappings; the deepest that a contract needs is 6.
MAXIMUM_DEPTH: Final = 16
#: Most values and keys in one file.
MAXIMUM_NODES: Final = 200_000

#: Characters outside the printable set of YAML 1.1.
_FORBIDDEN: Final = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@attrs.frozen
class Scalar:
    """A single value as written; `plain` when it stands without quotes, so that YAML would guess its type."""

    text: str
    plain: bool
    line: int


@attrs.frozen
class Entry:
    """One key of a mapping, and its value."""

    key: str
    line: int
    value: Node


@attrs.frozen
class MappingNode:
    """A mapping in file order; no key stands twice."""

    entries: tuple[Entry, ...]
    line: int

    def get(self, key: str) -> Node | None:
        """The value of a key, or None."""
        return next((entry.value for entry in self.entries if entry.key == key), None)


@attrs.frozen
class SequenceNode:
    """A list."""

    items: tuple[Node, ...]
    line: int


@attrs.frozen
class RefusedNode:
    """Something that was already reported, so that nothing further is said of it."""

    line: int


Node = Scalar | MappingNode | SequenceNode | RefusedNode


def read_bytes(path: Path, problems: Problems, *, limit: int = MAXIMUM_BYTES) -> bytes | None:
    """Read a regular file of at most `limit` bytes; a fault is reported and gives None."""
    try:
        if not path.is_file():
            problems.report("unreadable", "no such file" if not path.exists() else "this is no regular file")
            return None
        with path.open("rb") as stream:
            data = stream.read(limit + 1)
    except OSError as error:
        problems.report("unreadable", f"the file cannot be read: {error.strerror or error}")
        return None
    if len(data) > limit:
        problems.report("too_large", f"the file is larger than {limit} bytes", expected=f"at most {limit} bytes")
        return None
    return data


def decode(data: bytes, problems: Problems) -> str | None:
    """Decode UTF-8 with or without a byte order mark, line ends made plain; a fault is reported and gives None."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        problems.report(
            "not_utf8",
            f"byte {error.start} (0x{data[error.start]:02x}) is not UTF-8",
            line=data.count(b"\n", 0, error.start) + 1,
            hint="Save the file in UTF-8.",
        )
        return None
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    forbidden = _FORBIDDEN.search(text)
    if forbidden:
        problems.report(
            "not_utf8",
            f"the character U+{ord(forbidden.group()):04X} is not allowed in YAML",
            line=text.count("\n", 0, forbidden.start()) + 1,
        )
        return None
    return text


def parse(data: bytes, problems: Problems) -> MappingNode | None:
    """Parse the bytes of a YAML file as `parse_text` does."""
    if len(data) > MAXIMUM_BYTES:
        problems.report(
            "too_large", f"{len(data)} bytes are more than the limit", expected=f"at most {MAXIMUM_BYTES} bytes"
        )
        return None
    text = decode(data, problems)
    return None if text is None else parse_text(text, problems)


def reads_alike(data: bytes, problems: Problems) -> bool:
    """Whether the parser in Python reads the file as the C parser does; if not, the place is reported."""
    own = Problems(problems.file)
    text = decode(data, own)
    if text is None:
        return True
    with_c, in_python = _Tree(own).build(text), _Tree(own, in_python=True).build(text)
    if with_c == in_python:
        return True
    found = own.in_file_order()
    problems.report(
        "yaml_syntax",
        "this is read otherwise, or not at all, where PyYAML lacks its C extension",
        line=found[0].line if found else 0,
        hint="Put quotes round the text.",
    )
    return False


def parse_text(text: str, problems: Problems) -> MappingNode | None:
    """Parse YAML whose top is a mapping; faults are reported, and None means that nothing can be read of it."""
    root = _Tree(problems).build(text)
    if root is None or isinstance(root, RefusedNode):
        if not problems:
            problems.report("wrong_type", "the file is empty", expected="a mapping")
        return None
    if not isinstance(root, MappingNode):
        problems.report("wrong_type", "the top of the file is no mapping", line=root.line, expected="a mapping")
        return None
    return root


def yaml_module() -> Any:
    """PyYAML, or an error that says how to mend the environment."""
    try:
        import yaml
    except ImportError as error:
        raise EnvironmentBrokenError(
            "PyYAML cannot be imported", code="missing_dependency", hint="Run: python -m pip install PyYAML"
        ) from error
    return yaml


class _Open:
    """A list or mapping whose end was not read yet."""

    def __init__(self, line: int, *, is_mapping: bool) -> None:
        self.line = line
        self.is_mapping = is_mapping
        self.items: list[Node] = []
        self.entries: dict[str, Entry] = {}
        #: The key that waits for its value; None when a key is due, a refused node when the key was refused.
        self.key: Scalar | RefusedNode | None = None


class _Tree:
    """Builds nodes from the parser's events, without recursion, so that no nesting can exhaust the stack."""

    def __init__(self, problems: Problems, *, in_python: bool = False) -> None:
        self._problems = problems
        self._in_python = in_python
        self._stack: list[_Open] = []
        self._root: Node | None = None
        self._nodes = 0

    def build(self, text: str) -> Node | None:
        yaml = yaml_module()
        loader = yaml.SafeLoader if self._in_python else getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        documents = 0
        try:
            for event in yaml.parse(text, Loader=loader):
                if isinstance(event, yaml.DocumentStartEvent):
                    documents += 1
                    if documents > 1:
                        self._problems.report(
                            "several_documents",
                            "a second YAML document starts here",
                            line=event.start_mark.line + 1,
                            expected="one document",
                        )
                        return self._root
                elif not self._take(yaml, event):
                    return None
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            self._problems.report(
                "yaml_syntax",
                f"this is not YAML: {getattr(error, 'problem', None) or error}",
                line=mark.line + 1 if mark else 0,
                hint="Text that starts with a special character, or holds ': ' or ' #', needs quotes.",
            )
            return None
        except RecursionError:
            self._problems.report("too_deep", "the nesting is deeper than the parser can follow")
            return None
        return self._root

    def _take(self, yaml: Any, event: Any) -> bool:
        """Take one event; False when reading must stop."""
        line = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent):
            self._problems.report("alias", f"the alias *{event.anchor} is refused", line=line, expected="no aliases")
            self._place(RefusedNode(line))
        elif isinstance(event, yaml.ScalarEvent):
            refused = self._refuses(event, line)
            self._place(RefusedNode(line) if refused else Scalar(event.value, event.implicit[0], line))
        elif isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            self._refuses(event, line)
            if len(self._stack) >= MAXIMUM_DEPTH:
                self._problems.report(
                    "too_deep",
                    f"lists and mappings are nested more than {MAXIMUM_DEPTH} levels deep",
                    line=line,
                )
                return False
            self._stack.append(_Open(line, is_mapping=isinstance(event, yaml.MappingStartEvent)))
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            closed = self._stack.pop()
            if closed.is_mapping:
                self._place(MappingNode(tuple(closed.entries.values()), closed.line))
            else:
                self._place(SequenceNode(tuple(closed.items), closed.line))
        self._nodes += 1
        if self._nodes > MAXIMUM_NODES:
            self._problems.report("too_many_nodes", f"more than {MAXIMUM_NODES} values", line=line)
            return False
        return True

    def _refuses(self, event: Any, line: int) -> bool:
        refused = False
        if event.anchor is not None:
            self._problems.report("alias", f"the anchor &{event.anchor} is refused", line=line, expected="no anchors")
            refused = True
        if event.tag is not None:
            self._problems.report("tag", f"the tag {event.tag!r} is refused", line=line, expected="no tags")
            refused = True
        return refused

    def _place(self, node: Node) -> None:
        """Put a finished node where it belongs."""
        if not self._stack:
            self._root = node
            return
        parent = self._stack[-1]
        if not parent.is_mapping:
            parent.items.append(node)
        elif parent.key is None:
            parent.key = self._key(node)
        else:
            if isinstance(parent.key, Scalar):
                key = parent.key
                parent.entries[key.text] = Entry(key.text, key.line, node)
            parent.key = None

    def _key(self, node: Node) -> Scalar | RefusedNode:
        if isinstance(node, RefusedNode):
            return node
        if not isinstance(node, Scalar):
            self._problems.report("wrong_type", "a key is no plain text", line=node.line, expected="a text as key")
            return RefusedNode(node.line)
        first = self._stack[-1].entries.get(node.text)
        if first is not None:
            self._problems.report(
                "duplicate_key", f"the key {node.text!r} stands already in line {first.line}", line=node.line
            )
            return RefusedNode(node.line)
        return node
