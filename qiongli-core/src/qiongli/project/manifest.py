"""Reading `.qiongli/guidance_manifest.yaml`, the user's own file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import attrs

from qiongli.errors import QiongliError, StateCorruptError
from qiongli.project.paths import MANIFEST, STATE_FOLDER, Project
from qiongli.records.project import AUTO, STRICTNESSES, SUBJECT_MODES, ManifestState

MANIFEST_LIMIT: Final = 262_144
#: Nested deeper than this, a manifest is refused before a recursive parser sees it.
_DEPTH_LIMIT: Final = 64
_MANIFEST_PLACE: Final = f"{STATE_FOLDER}/{MANIFEST}"

#: The manifest's keys in the order in which a new manifest lists them.
TEXT_KEYS: Final = ("active_subject", "subject_mode", "strictness")
LIST_KEYS: Final = ("secondary_subjects", "venue_profiles", "method_lenses")
KEYS: Final = (
    "active_subject",
    "subject_mode",
    "secondary_subjects",
    "venue_profiles",
    "method_lenses",
    "strictness",
)
SCHEMA_KEY: Final = "schema_version"
SUPPORTED_MAJOR: Final = "1"

_SLUG: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}\Z")
_LIST_LIMIT: Final = 200

Value = str | tuple[str, ...]


@attrs.frozen
class ManifestDocument:
    """A manifest as it was found: its bytes (None without a file), what they say, and what is odd about them."""

    data: bytes | None
    state: ManifestState
    warnings: tuple[str, ...] = ()
    #: Why the manifest cannot be used; its state is then the default and must not be acted upon.
    error: QiongliError | None = None


def is_slug(text: str) -> bool:
    """Whether a text can be the name of a subject, a lens or a venue: 1 to 64 of a-z, 0-9, hyphen, underscore."""
    return _SLUG.match(text) is not None


def load_manifest(project: Project) -> ManifestDocument:
    """Read the manifest; a malformed one is returned with its `error` rather than raised.

    Raises `StateRefusedError` for a link out of the project and `EnvironmentBrokenError` when it cannot be read.
    """
    return parse_manifest(project.read(MANIFEST, MANIFEST_LIMIT))


def parse_manifest(data: bytes | None) -> ManifestDocument:
    """Parse and validate a manifest's bytes; None is the manifest of a project that has none."""
    if data is None:
        return ManifestDocument(None, ManifestState())
    try:
        values, lines = _read_values(data)
        return _validate(data, values, lines)
    except StateCorruptError as error:
        return ManifestDocument(data, ManifestState(), error=error)


def malformed(message: str, *, line: int = 0, field: str = "", expected: str = "", code: str = "") -> StateCorruptError:
    """The error for a manifest that cannot be used as it is."""
    place = f"{_MANIFEST_PLACE}:{line}" if line else _MANIFEST_PLACE
    return StateCorruptError(
        message,
        code=code or "manifest_malformed",
        place=f"{place}: {field}" if field else place,
        expected=expected,
        hint="Mend the file, or run: qiongli subject reset --cwd . (it keeps a copy)",
    )


def decode(data: bytes) -> str:
    """The text of a manifest; a byte order mark is kept. Raises `StateCorruptError`."""
    if len(data) > MANIFEST_LIMIT:
        raise malformed(f"the manifest is larger than {MANIFEST_LIMIT} bytes", code="manifest_oversized")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise malformed("the manifest is not UTF-8", line=line, expected="UTF-8 text") from None


def _read_values(data: bytes) -> tuple[dict[str, Any], dict[str, int]]:
    text = decode(data).removeprefix("\ufeff")
    simple = read_simple(text)
    return simple if simple is not None else _read_yaml(text)


_SIMPLE_LINE: Final = re.compile(
    r"(?P<key>[A-Za-z_][A-Za-z0-9_]*):[ ]+(?P<value>[^#\s].*?)(?:[ ]+#.*)?[ ]*\Z|[ ]*(?:#.*)?\Z"
)
#: Scalars that YAML 1.1, YAML 1.2 and a text editor read alike; anything else is left to the real parser.
_SIMPLE_SCALAR: Final = re.compile(
    r"(?P<plain>[A-Za-z0-9][A-Za-z0-9_.-]*)\Z|\"(?P<double>[^\"\\]*)\"\Z|'(?P<single>[^']*)'\Z"
)
_SIMPLE_LIST: Final = re.compile(r"\[(?P<items>[A-Za-z0-9_., -]*)\]\Z")


def read_simple(text: str) -> tuple[dict[str, Any], dict[str, int]] | None:
    """Read the flat form in which Qiongli writes manifests, or return None for anything else.

    Reading a project is on the path of every `route`, and importing a YAML parser costs more than routing does. This
    reader accepts only `key: word`, `key: "text"`, `key: [word, word]`, comments and blank lines, for which it agrees
    with YAML (a property test says so); everything else goes to the parser.
    """
    values: dict[str, Any] = {}
    lines: dict[str, int] = {}
    if not text.isprintable() and re.search(r"[^\x20-\x7e\n\r\xa0-\ud7ff\ue000-\ufefe]|[\x85\u2028\u2029]", text):
        return None
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), start=1):
        match = _SIMPLE_LINE.match(line)
        if match is None or "\r" in line:
            return None
        key = match["key"]
        if key is None:
            continue
        value = _simple_value(match["value"])
        if value is None or key in values:
            return None
        values[key] = value
        lines[key] = number
    return values, lines


def simple_spans(text: str) -> dict[str, tuple[int, int]] | None:
    """Where each value of a manifest in the fast reader's form begins and ends; None for any other manifest."""
    if read_simple(text) is None:
        return None
    spans: dict[str, tuple[int, int]] = {}
    start = 0
    for line in text.splitlines(keepends=True):
        match = _SIMPLE_LINE.match(line.rstrip("\r\n"))
        if match is not None and match["key"] is not None:
            spans[match["key"]] = (start + match.start("value"), start + match.end("value"))
        start += len(line)
    return spans


def _simple_value(text: str) -> Any:
    scalar = _SIMPLE_SCALAR.match(text)
    if scalar is not None:
        return scalar[scalar.lastgroup or 0]
    listed = _SIMPLE_LIST.match(text)
    if listed is None:
        return None
    if not listed["items"].strip():
        return []
    items = [item.strip() for item in listed["items"].split(",")]
    return items if all(_SIMPLE_SCALAR.match(item) for item in items) else None


def _read_yaml(text: str) -> tuple[dict[str, Any], dict[str, int]]:
    """Read any YAML mapping; scalars stay text. Keys that are not ours are not looked into."""
    import yaml

    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        depth = 0
        for event in yaml.parse(text, Loader=loader):
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
                if depth > _DEPTH_LIMIT:
                    raise malformed("the manifest is nested too deeply", line=_line(event))
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
        root = yaml.compose(text, Loader=loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark is not None else 0
        raise malformed(f"the manifest is no YAML: {error.problem or error.context}", line=line) from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        # Characters that YAML does not allow arrive without a mark.
        raise malformed(f"the manifest is no YAML: {str(error).splitlines()[0]}") from None
    if root is None:
        return {}, {}
    if not isinstance(root, yaml.MappingNode):
        raise malformed("the manifest is no mapping", line=_line(root), expected="key: value lines")
    values: dict[str, Any] = {}
    lines: dict[str, int] = {}
    for key_node, value_node in root.value:
        key = key_node.value if isinstance(key_node, yaml.ScalarNode) else None
        if not isinstance(key, str):
            continue
        line = _line(key_node)
        if key in values:
            raise malformed("the key occurs twice", line=line, field=key, expected="one line for each key")
        values[key] = _plain(value_node) if key in KEYS or key == SCHEMA_KEY else ""
        lines[key] = line
    return values, lines


def _line(marked: Any) -> int:
    """The line, counted from 1, at which an event or a node of the parser begins; 0 when it has no mark."""
    return marked.start_mark.line + 1 if marked.start_mark is not None else 0


def _plain(node: Any) -> Any:
    """A scalar's text, or the texts of a list; None for anything deeper."""
    import yaml

    if isinstance(node, yaml.ScalarNode):
        return node.value
    if isinstance(node, yaml.SequenceNode) and all(isinstance(item, yaml.ScalarNode) for item in node.value):
        return [item.value for item in node.value]
    return None


def _validate(data: bytes, values: Mapping[str, Any], lines: Mapping[str, int]) -> ManifestDocument:
    version = values.get(SCHEMA_KEY, "1.0")
    if not isinstance(version, str) or not re.match(r"\d+(\.\d+)*\Z", version):
        raise malformed("not a version", line=lines[SCHEMA_KEY], field=SCHEMA_KEY, expected='"1.0"')
    if version.split(".")[0] != SUPPORTED_MAJOR:
        raise malformed(
            f"the manifest has the schema version {version}, written by a newer Qiongli",
            line=lines[SCHEMA_KEY],
            field=SCHEMA_KEY,
            expected="1.x",
            code="newer_schema",
        )
    known: dict[str, Value] = {}
    for key in TEXT_KEYS:
        if key in values:
            known[key] = _text(key, values[key], lines[key])
    for key in LIST_KEYS:
        if key in values:
            known[key] = _texts(key, values[key], lines[key])
    state = ManifestState(**known)  # type: ignore[arg-type]  # the values were checked one by one above
    warnings = []
    if state.subject_mode != "auto" and state.active_subject == AUTO:
        raise malformed(
            f"the mode is {state.subject_mode!r} but no subject is named",
            line=lines["subject_mode"],
            field="active_subject",
            expected=f"a subject, or the mode {AUTO!r}",
        )
    if state.subject_mode == "auto" and state.active_subject != AUTO:
        warnings.append(
            f"{_MANIFEST_PLACE}: active_subject is {state.active_subject!r} but subject_mode is 'auto', so the subject "
            f"is not in force; run: qiongli subject confirm {state.active_subject} --cwd ."
        )
    return ManifestDocument(data, state, tuple(warnings))


def _text(key: str, value: Any, line: int) -> str:
    allowed = {"subject_mode": SUBJECT_MODES, "strictness": STRICTNESSES}.get(key)
    if allowed is not None:
        if value not in allowed:
            raise malformed(
                f"not one of the possible values: {value!r}", line=line, field=key, expected=", ".join(allowed)
            )
    elif not isinstance(value, str) or not is_slug(value):
        raise malformed(f"not the name of a subject: {value!r}", line=line, field=key, expected="a slug, or auto")
    return str(value)


def _texts(key: str, value: Any, line: int) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise malformed("not a list", line=line, field=key, expected="a list such as [finance]")
    for item in value:
        if not is_slug(item):
            raise malformed(f"not a name: {item!r}", line=line, field=key, expected="lower-case slugs")
    if len(value) > _LIST_LIMIT:
        raise malformed("the list is too long", line=line, field=key, expected=f"at most {_LIST_LIMIT} names")
    return tuple(dict.fromkeys(value))
