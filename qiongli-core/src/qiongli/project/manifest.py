"""Reading `.qiongli/guidance_manifest.yaml`, the user's own file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple

from qiongli.errors import QiongliError, StateCorruptError
from qiongli.project.paths import HERE, MANIFEST, STATE_FOLDER, Project
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
SUPPORTED_MAJOR: Final = 1

_SLUG_CHARACTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-")
_LIST_LIMIT: Final = 200
#: Most digits of a version's first number.
_MAJOR_LIMIT: Final = 6

Value = str | tuple[str, ...]


class ManifestDocument(NamedTuple):
    """A manifest as it was found: its bytes (None without a file), what they say, and what is odd about them."""

    data: bytes | None
    state: ManifestState
    warnings: tuple[str, ...] = ()
    #: Why the manifest cannot be used; its state is then the default and must not be acted upon.
    error: QiongliError | None = None


def schema_age(version: str) -> Literal["known", "newer", "unknown"]:
    """Whether a file of that schema version can be read, was written by a later Qiongli, or by none."""
    major = version.partition(".")[0]
    if not (major.isascii() and major.isdecimal()) or len(major) > _MAJOR_LIMIT:
        return "unknown"
    return "known" if int(major) == SUPPORTED_MAJOR else "newer" if int(major) > SUPPORTED_MAJOR else "unknown"


def is_slug(text: str) -> bool:
    """Whether a text can be the name of a subject, a lens or a venue: 1 to 64 of a-z, 0-9, hyphen, underscore."""
    return 0 < len(text) <= 64 and text[0] not in "_-" and _SLUG_CHARACTERS.issuperset(text)


def parse_manifest(data: bytes | None, project: Project = HERE) -> ManifestDocument:
    """Parse and validate a manifest's bytes; None is the manifest of a project that has none.

    `project` is whose manifest it is, for the commands that an error or a warning names.
    """
    if data is None:
        return ManifestDocument(None, ManifestState())
    try:
        values, lines = _read_values(data)
        return _validate(data, values, lines, project)
    except StateCorruptError as error:
        return ManifestDocument(data, ManifestState(), error=with_way_out(error, project))


def malformed(message: str, *, line: int = 0, field: str = "", expected: str = "", code: str = "") -> StateCorruptError:
    """The error for a manifest that cannot be used as it is; `with_way_out` adds what helps."""
    place = f"{_MANIFEST_PLACE}:{line}" if line else _MANIFEST_PLACE
    return StateCorruptError(
        message,
        code=code or "manifest_malformed",
        place=f"{place}: {field}" if field else place,
        expected=expected,
    )


def with_way_out(error: StateCorruptError, project: Project) -> StateCorruptError:
    """The same error, saying what helps in this project."""
    first = "Update Qiongli" if error.code == "newer_schema" else "Mend the file"
    return StateCorruptError(
        error.message,
        code=error.code,
        place=error.place,
        expected=error.expected,
        hint=f"{first}, or run: {project.command('subject reset')} (it keeps a copy)",
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
    if simple is None:
        return _read_yaml(text)
    return {key: found.value for key, found in simple.items()}, {key: found.line for key, found in simple.items()}


class SimpleValue(NamedTuple):
    """A value of a plain manifest, the line it is on (from 1), and where in the text it begins and ends."""

    value: Any
    line: int
    start: int
    end: int


def read_simple(text: str) -> dict[str, SimpleValue] | None:
    """Read the flat form in which Qiongli writes manifests, or return None for anything else.

    Reading a project is on the path of every `route`, and importing a YAML parser costs more than routing does; so does
    compiling the regular expressions that would make this shorter. This reader accepts only `key: word`, `key: "text"`,
    `key: [word, word]`, comments and blank lines, for which it agrees with YAML (a property test says so); everything
    else goes to the parser.
    """
    values: dict[str, SimpleValue] = {}
    if not text.replace("\r\n", "").replace("\n", "").isprintable():
        return None
    start = 0
    for number, line in enumerate(text.split("\n"), start=1):
        begin, start = start, start + len(line) + 1
        content = line.removesuffix("\r")
        if not content.strip(" ") or content.lstrip(" ").startswith("#"):
            continue
        key, colon, rest = content.partition(":")
        if not (colon and rest.startswith(" ") and key.isascii() and key.isidentifier()) or key in values:
            return None
        found = rest.strip(" ")
        length = _value_length(found)
        if length == 0 or not _is_comment(found[length:]):
            return None
        value = _simple_value(found[:length])
        if value is None:
            return None
        first = begin + len(content) - len(rest.lstrip(" "))
        values[key] = SimpleValue(value, number, first, first + length)
    return values


def _value_length(text: str) -> int:
    """How long the value is that a text begins with; 0 when it has no end."""
    closing = {'"': '"', "'": "'", "[": "]"}.get(text[:1])
    if closing is not None:
        return text.find(closing, 1) + 1
    return text.find(" ") if " " in text else len(text)


def _is_comment(text: str) -> bool:
    return not text or (text.startswith(" ") and text.lstrip(" ").startswith("#"))


def _simple_value(text: str) -> Any:
    if text[0] in "\"'":
        return text[1:-1] if "\\" not in text else None
    if text[0] != "[":
        return text if _is_word(text) else None
    if not text[1:-1].strip(" "):
        return []
    items = [item.strip(" ") for item in text[1:-1].split(",")]
    return items if all(map(_is_word, items)) else None


def _is_word(text: str) -> bool:
    """Whether YAML 1.1, YAML 1.2 and a person read a scalar alike: letters, digits, and between them `_.-/`."""
    return text.isascii() and text[:1].isalnum() and text.translate(_WITHOUT_MARKS).isalnum()


_WITHOUT_MARKS: Final = str.maketrans("", "", "_.-/")


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


def _validate(data: bytes, values: Mapping[str, Any], lines: Mapping[str, int], project: Project) -> ManifestDocument:
    version = values.get(SCHEMA_KEY, "1.0")
    if not isinstance(version, str) or not all(part.isdecimal() for part in version.split(".")):
        raise malformed("not a version", line=lines[SCHEMA_KEY], field=SCHEMA_KEY, expected='"1.0"')
    age = schema_age(version)
    if age != "known":
        writer = "written by a newer Qiongli" if age == "newer" else "which no Qiongli writes"
        raise malformed(
            f"the manifest has the schema version {version[:20]}, {writer}",
            line=lines[SCHEMA_KEY],
            field=SCHEMA_KEY,
            expected="1.x",
            code="newer_schema" if age == "newer" else "",
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
        confirm = project.command(f"subject confirm {state.active_subject}")
        warnings.append(
            f"{_MANIFEST_PLACE}: active_subject is {state.active_subject!r} but subject_mode is 'auto', so the subject "
            f"is not in force; to confirm it run: {confirm}"
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
        # A lens or a venue may say whose it is, where several subjects have one of that name.
        parts = item.split("/") if key != "secondary_subjects" else [item]
        if len(parts) > 2 or not all(map(is_slug, parts)):
            raise malformed(f"not a name: {item!r}", line=line, field=key, expected="lower-case slugs")
    if len(value) > _LIST_LIMIT:
        raise malformed("the list is too long", line=line, field=key, expected=f"at most {_LIST_LIMIT} names")
    return tuple(dict.fromkeys(value))
