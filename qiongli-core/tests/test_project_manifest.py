"""The user's manifest: what is read from it, what is refused, and that an edit changes only what it must."""

from __future__ import annotations

import re
from collections.abc import Callable

import attrs
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from qiongli.errors import StateCorruptError
from qiongli.project._manifest_edit import _append, edit_manifest, new_manifest
from qiongli.project.manifest import KEYS, MANIFEST_LIMIT, Value, parse_manifest, read_simple
from qiongli.records.project import ManifestState

SLUGS = st.from_regex(r"[a-z][a-z0-9-]{0,8}", fullmatch=True)
SLUG_LISTS = st.lists(SLUGS, max_size=4, unique=True).map(tuple)


@st.composite
def states(draw: st.DrawFn) -> ManifestState:
    mode = draw(st.sampled_from(["auto", "confirmed", "locked"]))
    return ManifestState(
        active_subject="auto" if mode == "auto" else draw(SLUGS.filter(lambda slug: slug != "auto")),
        subject_mode=mode,  # type: ignore[arg-type]
        secondary_subjects=draw(SLUG_LISTS),
        venue_profiles=draw(SLUG_LISTS),
        method_lenses=draw(SLUG_LISTS),
        strictness=draw(st.sampled_from(["standard", "strict"])),
    )


@st.composite
def manifests(draw: st.DrawFn) -> tuple[bytes, ManifestState]:
    """A manifest in one of many layouts, with comments, unknown keys and gaps, and the state that it holds."""
    state = draw(states())
    lines: list[str] = []
    for key in draw(st.permutations([*KEYS, "mine", "nested"])):
        if draw(st.booleans()):
            lines.append(draw(st.sampled_from(["# a comment", "", "   # indented: [x]"])))
        comment = draw(st.sampled_from(["", "  # why: 'this'"]))
        if key == "mine":
            lines.append(f'mine: "{draw(st.sampled_from(["1.10", "yes", "2026-01-01", "a: b"]))}"{comment}')
        elif key == "nested":
            lines += ["nested:", "    deeper:", "        - {a: 1}", "        - active_subject: x"]
        else:
            value = getattr(state, key)
            if isinstance(value, str):
                quote = draw(st.sampled_from(["", "'", '"']))
                lines.append(f"{key}: {quote}{value}{quote}{comment}")
            elif value and draw(st.booleans()):
                indentation = " " * draw(st.sampled_from([0, 2, 6]))
                lines.append(f"{key}:{comment}")
                for item in value:
                    if draw(st.booleans()):
                        lines.append(f"{indentation}# about {item}")
                    lines.append(f"{indentation}- {item}{draw(st.sampled_from(['', '   # mine']))}")
            else:
                lines.append(f"{key}: [{', '.join(value)}]{comment}")
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    text = newline.join(lines) + draw(st.sampled_from(["", newline]))
    mark = draw(st.sampled_from(["", "\ufeff"]))
    start = draw(st.sampled_from(["", f"---{newline}"]))
    return (mark + start + text).encode(), state


@given(manifests())
def test_property_every_layout_is_read_as_what_it_says(manifest: tuple[bytes, ManifestState]) -> None:
    data, state = manifest
    document = parse_manifest(data)
    assert document.error is None
    assert document.state == state


@given(manifests(), states())
def test_property_an_edit_changes_the_values_and_keeps_every_comment_and_other_line(
    manifest: tuple[bytes, ManifestState], new: ManifestState
) -> None:
    data, old = manifest
    edited = edit_manifest(data, new)
    assert parse_manifest(edited).state == new
    # Undoing the edit by another edit does not lose anything either.
    for before, after in ((data, edited), (edited, edit_manifest(edited, old))):
        assert _lines_of_others(before) == _lines_of_others(after)
        assert [line.partition("#")[2] for line in before.decode().splitlines() if "#" in line] == [
            line.partition("#")[2] for line in after.decode().splitlines() if "#" in line
        ]
        assert (b"\r\n" in before) == (b"\r\n" in after) or before.count(b"\n") == 0
        if b"\r\n" in before:
            assert before.count(b"\n") == before.count(b"\r\n")
            assert after.count(b"\n") == after.count(b"\r\n")


def _lines_of_others(data: bytes) -> list[str]:
    """Every line that neither holds a key of ours nor an item of a list of ours, without comments."""
    contents = (line.split("#")[0].rstrip() for line in data.decode().lstrip("\ufeff").splitlines())
    ours = re.compile(rf"({'|'.join(KEYS)}):|\s*- [a-z0-9-]+\Z")
    return [content for content in contents if content and not ours.match(content)]


@given(st.text(alphabet="ab:#[]{},'\"- \n\r\t&*!|>%@`~?\\.0123456789yesnoull\u4e2d\x85\u2028\ufeff", max_size=60))
def test_property_the_fast_reader_agrees_with_yaml_or_stands_aside(text: str) -> None:
    _agrees(text)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a", "active_subject", "b_2", "yes", "1", "a b", "a-b", "true"]),
            st.sampled_from([":", ": ", ":  ", " : ", ":\t"]),
            st.text(alphabet="ab1.-_ ,[]'\"#:~\t\\", max_size=14),
            st.sampled_from(["\n", "\r\n", "\n\n", " # c\n", "#c\n", "\r"]),
        ),
        max_size=4,
    )
)
def test_property_the_fast_reader_agrees_with_yaml_on_lines_that_look_like_keys(
    lines: list[tuple[str, str, str, str]],
) -> None:
    _agrees("".join("".join(line) for line in lines))


def _agrees(text: str) -> None:
    simple = read_simple(text)
    if simple is None:
        return
    content = yaml.load(text, Loader=yaml.BaseLoader)
    assert {key: found.value for key, found in simple.items()} == (content or {}), text
    for found in simple.values():
        assert yaml.load(text[found.start : found.end], Loader=yaml.BaseLoader) == found.value


def test_a_new_manifest_is_read_by_the_fast_reader() -> None:
    state = ManifestState("finance", "locked", ("economics",), ("journal-of-finance",), ("event-study",), "strict")
    data = new_manifest(state)
    assert read_simple(data.decode()) is not None
    assert parse_manifest(data).state == state


EDITS = {
    "scalar in place": (
        "# top\nactive_subject: auto   # mine\nsubject_mode: 'auto'\nx: 1.10\n",
        "# top\nactive_subject: finance   # mine\nsubject_mode: confirmed\nx: 1.10\n",
    ),
    "keys that are missing are added at the end": ("x: 1", "x: 1\nactive_subject: finance\nsubject_mode: confirmed\n"),
    "an empty file": ("", "active_subject: finance\nsubject_mode: confirmed\n"),
    "comments only": ("# mine\n", "# mine\nactive_subject: finance\nsubject_mode: confirmed\n"),
    "before the end marker": ("x: 1\n...\n", "x: 1\nactive_subject: finance\nsubject_mode: confirmed\n...\n"),
    "Windows line ends": (
        "x: 1\r\nactive_subject: auto\r\n",
        "x: 1\r\nactive_subject: finance\r\nsubject_mode: confirmed\r\n",
    ),
    "one flow mapping": (
        "{x: 1, active_subject: auto}\n",
        "{x: 1, active_subject: finance, subject_mode: confirmed}\n",
    ),
    "a key with an explicit empty list": (
        "active_subject: auto\nsubject_mode: auto\nsecondary_subjects: []\n",
        "active_subject: finance\nsubject_mode: confirmed\nsecondary_subjects: []\n",
    ),
}


@pytest.mark.parametrize("name", EDITS)
def test_confirming_edits_exactly_these_characters(name: str) -> None:
    before, after = EDITS[name]
    old = parse_manifest(before.encode()).state
    new = attrs.evolve(old, active_subject="finance", subject_mode="confirmed")
    assert edit_manifest(before.encode(), new).decode() == after


LISTS = {
    "an item is added below the others": (
        "method_lenses:\n    - a # first\n    - b\nx: 1\n",
        ("a", "b", "c"),
        "method_lenses:\n    - a # first\n    - b\n    - c\nx: 1\n",
    ),
    "an item goes, its comment stays": (
        "method_lenses:\n- a # first\n# about b\n- b\nx: 1\n",
        ("b",),
        "method_lenses:\n# first\n# about b\n- b\nx: 1\n",
    ),
    "the list is emptied": (
        "method_lenses: # mine\n  - a\n  # why\n  - b\nx: 1\n",
        (),
        "method_lenses: [] # mine\n  # why\nx: 1\n",
    ),
    "the last line has no newline": ("method_lenses:\n  - a\n  - b", ("a",), "method_lenses:\n  - a"),
    "a flow list over lines": (
        "method_lenses: [a, # first\n  b]  # end\nx: 1\n",
        ("c",),
        "method_lenses: [c]  # end\n  # first\nx: 1\n",
    ),
}


@pytest.mark.parametrize("name", LISTS)
def test_lists_are_edited_line_by_line(name: str) -> None:
    before, lenses, after = LISTS[name]
    assert edit_manifest(before.encode(), ManifestState(method_lenses=lenses)).decode() == after


def test_an_edit_that_would_read_as_something_else_is_not_made() -> None:
    """Both parsers read these line ends; they do not agree with each other on where the lines are."""
    text = "active_subject: finance\rsubject_mode: confirmed\rvenue_profiles:\r  - a # why\r  - b\rmine: x\r"
    assert parse_manifest(text.encode()).state == ManifestState("finance", "confirmed", venue_profiles=("a", "b"))
    with pytest.raises(StateCorruptError) as raised:
        edit_manifest(text.encode(), ManifestState("finance", "confirmed"))
    assert raised.value.code == "manifest_not_editable"


def test_values_that_contain_each_other_are_kept_and_compared_without_being_unfolded() -> None:
    """Forty levels of two aliases each stand for a million million values, and a list may be inside itself."""
    levels = "".join(f"l{n}: &l{n} [*l{n - 1}, *l{n - 1}]\n" for n in range(1, 40))
    text = f"l0: &l0 [x, x]\n{levels}own: &own [*own]\n? [a, b]\n: c\nactive_subject: auto\n"
    edited = edit_manifest(text.encode(), ManifestState("finance", "confirmed")).decode()
    assert edited == text.replace("active_subject: auto", "active_subject: finance") + "subject_mode: confirmed\n"


def test_an_edit_that_would_change_a_key_of_the_users_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever an edit does wrong: the file is compared with what it was, entry by entry."""
    for text in ("mine: [1, 2]\nactive_subject: auto\n", "mine:\n  - 1\n  - {a: &x b}\nactive_subject: auto\n"):
        for old, new in (("1", "3"), ("mine", "my"), ("mine:", "yours: 1\nmine:"), ("&x b", "b"), ("mine", "&m mine")):
            if old in text:
                spoil = _spoiling(old, new)
                monkeypatch.setattr("qiongli.project._manifest_edit._append", spoil)
                with pytest.raises(StateCorruptError):
                    edit_manifest(text.encode(), ManifestState("finance", "confirmed"))
                monkeypatch.undo()
        assert edit_manifest(text.encode(), ManifestState("finance", "confirmed"))


def _spoiling(old: str, new: str) -> Callable[[str, object, dict[str, Value], str], str]:
    return lambda text, root, missing, newline: _append(text, root, missing, newline).replace(old, new, 1)


def test_an_edit_that_changes_nothing_returns_the_same_bytes() -> None:
    data = b"active_subject:   finance\nsubject_mode: 'locked'\n"
    assert edit_manifest(data, parse_manifest(data).state) is data


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("x: &a auto\nactive_subject: *a\nsubject_mode: auto\n", "active_subject"),
        ("base: &b {method_lenses: [a]}\n<<: *b\nactive_subject: &x auto\n", "active_subject"),
    ],
)
def test_values_behind_anchors_are_not_edited_by_guessing(text: str, place: str) -> None:
    with pytest.raises(StateCorruptError) as raised:
        edit_manifest(text.encode(), ManifestState("finance", "confirmed"))
    assert raised.value.code == "manifest_not_editable"
    assert place in raised.value.place


REFUSED = {
    "not UTF-8": (b"x: 1\nactive_subject: \xff\n", "manifest_malformed", ":2"),
    "UTF-16": ("active_subject: finance\n".encode("utf-16"), "manifest_malformed", ":1"),
    "too large": (b"# " + b"x" * MANIFEST_LIMIT, "manifest_oversized", ""),
    "too deep": (b"x: " + b"[" * 2_000 + b"]" * 2_000, "manifest_malformed", ""),
    "very deep": (b"x: " + b"[" * 60_000 + b"]" * 60_000, "manifest_malformed", ""),
    "two documents": (b"x: 1\n---\nx: 2\n", "manifest_malformed", ":2"),
    "no mapping": (b"just a text\n", "manifest_malformed", ":1"),
    "a key twice": (b"strictness: strict\nx: 1\nstrictness: strict\n", "manifest_malformed", ":3"),
    "a null": (b"active_subject:\n", "manifest_malformed", ":1: active_subject"),
    "a mapping for a text": (b"active_subject: {a: b}\n", "manifest_malformed", ":1: active_subject"),
    "a text for a list": (b"x: 1\nmethod_lenses: event-study\n", "manifest_malformed", ":2: method_lenses"),
    "a neighbour with a slash": (b"secondary_subjects: [a/b]\n", "manifest_malformed", ":1: secondary_subjects"),
    "too many slashes": (b"method_lenses: [a/b/c]\n", "manifest_malformed", ":1: method_lenses"),
    "an empty owner": (b"venue_profiles: [/a]\n", "manifest_malformed", ":1: venue_profiles"),
    "a list of lists": (b"venue_profiles: [[a]]\n", "manifest_malformed", ":1: venue_profiles"),
    "a path for a name": (b"active_subject: ../../etc\n", "manifest_malformed", ":1: active_subject"),
    "capitals": (b"secondary_subjects: [Finance]\n", "manifest_malformed", ":1: secondary_subjects"),
    "an unknown mode": (b"subject_mode: firm\n", "manifest_malformed", ":1: subject_mode"),
    "an unknown strictness": (b"strictness: lax\n", "manifest_malformed", ":1: strictness"),
    "locked to nothing": (b"subject_mode: locked\n", "manifest_malformed", ":1: active_subject"),
    "a newer schema": (b"schema_version: '2.1'\n", "newer_schema", ":1: schema_version"),
    "a much newer schema": (b"schema_version: 12\n", "newer_schema", ":1: schema_version"),
    "an older schema": (b"schema_version: '0.9'\n", "manifest_malformed", ":1: schema_version"),
    "a schema of no version": (b"schema_version: one\n", "manifest_malformed", ":1: schema_version"),
    "a schema of another script": ("schema_version: \u0662.0\n".encode(), "manifest_malformed", ":1: schema_version"),
    "a control character": (b"x: a\x00b\n", "manifest_malformed", ""),
    "a tab for indentation": (b"x:\n\t- a\n", "manifest_malformed", ":2"),
    "an undefined alias": (b"active_subject: *a\n", "manifest_malformed", ":1"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_manifest_that_cannot_be_used_is_refused_with_its_place(name: str) -> None:
    data, code, place = REFUSED[name]
    error = parse_manifest(data).error
    assert error is not None
    assert error.code == code
    assert error.place.startswith(f".qiongli/guidance_manifest.yaml{place}")
    assert error.hint


def test_a_subject_named_in_auto_mode_is_not_in_force_and_warned_about() -> None:
    document = parse_manifest(b"active_subject: finance\n")
    assert document.state == ManifestState("finance", "auto")
    assert "not in force" in document.warnings[0]


@pytest.mark.parametrize("version", ["1.0", "'1.0'", "1.7", "1"])
def test_manifests_of_the_same_major_version_are_read(version: str) -> None:
    assert parse_manifest(f"schema_version: {version}\n".encode()).error is None
