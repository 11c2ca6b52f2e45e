"""The managed block: references only, moved with the manifest, and never a byte of the user's text changed."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from project_cases import make_store, make_subjects, standard_subjects, state_files

from qiongli.errors import StateCorruptError
from qiongli.plugins import Catalogue
from qiongli.project import (
    apply_action,
    apply_guidance,
    change_settings,
    guidance_report,
    subject_status,
    undo_action,
)
from qiongli.project.guidance import BEGIN, END, parse_guidance, put_block, render_block, take_block_out
from qiongli.records.project import ManifestState

Case = tuple[Path, Catalogue]


@pytest.fixture
def project(tmp_path: Path) -> Case:
    root = tmp_path / "project"
    root.mkdir()
    return root, standard_subjects(tmp_path / "packages")


def _guidance(root: Path) -> Path:
    return root / ".qiongli/guidance.d/subject-runtime.md"


def test_the_block_names_what_is_active_with_checksums_and_how_to_read_it(project: Case) -> None:
    root, subjects = project
    change_settings(
        root,
        {"method_lenses": ("economics/economics-lens",), "venue_profiles": ("journal-of-finance",)},
        catalogue=subjects,
    )
    apply_action("confirm", root, "finance", catalogue=subjects)
    text = _guidance(root).read_text(encoding="utf-8")
    assert text.startswith(BEGIN)
    assert text.endswith(f"{END}\n")
    assert "Subject: finance (confirmed), strictness standard." in text
    assert "qiongli resource show SUBJECT KIND NAME" in text
    for subject, kind, name, path in (
        ("finance", "domain_profile", "finance", "domain-profile.yaml"),
        ("finance", "overlay", "finance", "overlays/o.yaml"),
        ("finance", "skill", "finance", "skills/s/SKILL.md"),
        ("economics", "method_pack", "economics-lens", "method-packs/m.yaml"),
        ("finance", "venue_profile", "journal-of-finance", "venues/v.yaml"),
    ):
        checksum = hashlib.sha256(f"{subject} {path}".encode()).hexdigest()
        assert f"- {subject} {kind} {name} (`{path}`, sha256:{checksum})" in text
    # References only: the resources say more than their names, and none of it is here.
    assert "finance overlays/o.yaml" not in text


def test_the_block_of_a_subject_that_may_not_act_says_what_is_not_available(project: Case) -> None:
    root, subjects = project
    apply_action("confirm", root, "accounting", catalogue=subjects)
    text = _guidance(root).read_text(encoding="utf-8")
    assert "Not available here: overlay and skill of accounting, whose state is lens_only." in text
    assert "SKILL.md" not in text


def test_reset_leaves_a_block_that_says_that_nothing_is_in_force(project: Case) -> None:
    root, subjects = project
    apply_action("lock", root, "finance", catalogue=subjects)
    apply_action("reset", root, catalogue=subjects)
    assert "none is in force" in _guidance(root).read_text(encoding="utf-8")
    assert subject_status(root, catalogue=subjects).guidance == "current"


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"mine",
        b"# Mine\r\n\r\ntext\r\n",
        b"\xef\xbb\xbf# with a mark\n",
        b"\xff\xfe not UTF-8\n",
        b"no end",
        b"\n\n\n",
    ],
)
def test_the_users_text_stays_byte_for_byte(project: Case, text: bytes) -> None:
    root, subjects = project
    _guidance(root).parent.mkdir(parents=True)
    _guidance(root).write_bytes(text)
    for action, subject in (("confirm", "finance"), ("lock", "economics"), ("unlock", None), ("reset", None)):
        apply_action(action, root, subject, catalogue=subjects)
        document = parse_guidance(_guidance(root).read_bytes())
        assert document.user_text == text
        assert document.block
        if b"\r\n" in text:
            assert b"\n" not in _guidance(root).read_bytes().replace(b"\r\n", b"")
    for _ in range(4):
        undo_action(root, catalogue=subjects)
    assert _guidance(root).read_bytes() == text


def test_a_block_stays_where_the_user_put_it(project: Case) -> None:
    root, subjects = project
    apply_action("confirm", root, "finance", catalogue=subjects)
    block = _guidance(root).read_bytes()
    _guidance(root).write_bytes(b"above\n" + block + b"below")
    apply_action("confirm", root, "economics", catalogue=subjects)
    text = _guidance(root).read_bytes()
    assert text.startswith(b"above\n<!--")
    assert text.endswith(b"-->\nbelow")
    assert b"economics (confirmed)" in text


BROKEN = {
    "unclosed": (f"mine\n{BEGIN}\nx\n", 2, "no end"),
    "unopened": (f"x\n\n{END}\n", 3, "did not begin"),
    "nested": (f"{BEGIN}\n{BEGIN}\n{END}\n", 2, "inside a block"),
    "duplicated": (f"{BEGIN}\n{END}\nmine\n{BEGIN}\n{END}\n", 5, "second block"),
    "unknown_marker": ("<!-- qiongli:managed:begin somebody -->\n", 1, "no marker"),
}


@pytest.mark.parametrize("code", BROKEN)
def test_broken_markers_are_refused_with_the_line_and_a_fix(project: Case, code: str) -> None:
    root, subjects = project
    apply_action("confirm", root, "finance", catalogue=subjects)
    text, line, message = BROKEN[code]
    _guidance(root).write_text(text, encoding="utf-8")
    before = state_files(root)
    for attempt in (
        lambda: apply_action("lock", root, "finance", catalogue=subjects),
        lambda: apply_guidance(root, catalogue=subjects),
        lambda: apply_action("confirm", root, "economics", catalogue=subjects, dry_run=True),
    ):
        with pytest.raises(StateCorruptError, match=message) as raised:
            attempt()
        assert raised.value.code == "guidance_broken"
        assert raised.value.place == f".qiongli/guidance.d/subject-runtime.md:{line}"
        assert raised.value.expected
    assert state_files(root) == before
    assert subject_status(root, catalogue=subjects).guidance == "broken"
    report = guidance_report(root, catalogue=subjects)
    assert (report.problems[0].code, report.problems[0].line) == (code, line)
    # A dismissal does not concern the block; reset mends it and keeps the file.
    apply_action("dismiss", root, "economics", catalogue=subjects)
    apply_action("reset", root, catalogue=subjects)
    assert subject_status(root, catalogue=subjects).guidance == "none"
    assert [path.read_text(encoding="utf-8") for path in _guidance(root).parent.glob("*.corrupt-*")] == [text]


def test_a_changed_package_makes_the_block_stale_until_it_is_applied(project: Case) -> None:
    root, subjects = project
    apply_action("confirm", root, "finance", catalogue=subjects)
    assert guidance_report(root, catalogue=subjects).diff == ""
    (subjects.subjects[1].root / "skills/s/SKILL.md").write_text("a newer skill", encoding="utf-8")
    report = guidance_report(root, catalogue=subjects)
    assert report.status == "stale"
    assert report.problems[0].code == "stale"
    assert "-- finance skill finance" in report.diff
    assert subject_status(root, catalogue=subjects).guidance == "stale"
    assert apply_guidance(root, catalogue=subjects).status == "applied"
    assert guidance_report(root, catalogue=subjects).problems == ()
    assert apply_guidance(root, catalogue=subjects).status == "unchanged"


def test_guidance_apply_makes_a_block_on_request_only(project: Case) -> None:
    root, subjects = project
    assert guidance_report(root, catalogue=subjects).status == "none"
    assert not list(root.iterdir())
    assert apply_guidance(root, catalogue=subjects, dry_run=True).after.guidance == "current"
    assert not list(root.iterdir())
    apply_guidance(root, catalogue=subjects)
    assert "none is in force" in _guidance(root).read_text(encoding="utf-8")


def test_the_block_never_exceeds_four_kilobytes(tmp_path: Path) -> None:
    slugs = {f"subject-number-{number}": "active" for number in range(40)}
    subjects = make_subjects(tmp_path, **slugs)
    state = ManifestState(
        "subject-number-1",
        "confirmed",
        method_lenses=tuple(f"{slug}-lens" for slug in slugs),
        venue_profiles=("x",) * 150,
    )
    block = render_block(state, subjects)
    assert len(block.encode()) <= 4096
    assert "qiongli guidance show" in block
    assert block.count("method_pack") > 10
    assert "subject-number-1 overlay" in block
    assert render_block(state, subjects, limit=1 << 20).count("method_pack") == 40


def test_a_resource_that_leaves_its_package_is_not_referred_to(project: Case) -> None:
    root, subjects = project
    skill = subjects.subjects[1].root / "skills/s/SKILL.md"
    skill.unlink()
    skill.symlink_to(root.parent / "elsewhere")
    (root.parent / "elsewhere").write_text("x", encoding="utf-8")
    apply_action("confirm", root, "finance", catalogue=subjects)
    assert "Not available here: skill finance of finance." in _guidance(root).read_text(encoding="utf-8")


@given(st.binary(max_size=80), st.booleans())
def test_property_putting_the_block_in_and_taking_it_out_is_exact(text: bytes, twice: bool) -> None:
    document = parse_guidance(text)
    if document.problems or document.span:
        return
    with_block = put_block(document, f"{BEGIN}\nsomething\n{END}")
    if twice:
        with_block = put_block(parse_guidance(with_block), f"{BEGIN}\nanother\nthing\n{END}")
    parsed = parse_guidance(with_block)
    assert parsed.problems == ()
    assert parsed.user_text == text
    assert take_block_out(parsed) == (text or None)


def test_dismissing_does_not_touch_the_guidance(project: Case) -> None:
    root, subjects = project
    apply_action("confirm", root, "finance", catalogue=subjects, store=make_store(root))
    (subjects.subjects[1].root / "skills/s/SKILL.md").write_text("a newer skill", encoding="utf-8")
    before = _guidance(root).read_bytes()
    apply_action("dismiss", root, "economics", catalogue=subjects, store=make_store(root))
    assert _guidance(root).read_bytes() == before
