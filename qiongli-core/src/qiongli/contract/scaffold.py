"""A new subject package, whole and installable, whose own tests pass at once and which is listed as a candidate."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

from qiongli._version import VERSION
from qiongli.contract.format import MAXIMUM_SLUG, reason_against_slug
from qiongli.errors import InputError

#: Template to the path of the file that it becomes; names between at signs are filled in, in both.
_FILES: Final[tuple[tuple[str, str], ...]] = (
    ("pyproject.toml.in", "pyproject.toml"),
    ("readme.md.in", "README.md"),
    ("test_subject.py.in", "tests/test_@module@.py"),
    ("init.py.in", "src/@package@/__init__.py"),
    ("empty.in", "src/@package@/py.typed"),
    ("documentation.md.in", "src/@package@/README.md"),
    ("runtime-subject.yaml.in", "src/@package@/runtime-subject.yaml"),
    ("domain-profile.yaml.in", "src/@package@/domain-profile.yaml"),
    ("overlay.yaml.in", "src/@package@/overlays/@slug@.yaml"),
    ("skill.md.in", "src/@package@/skills/@slug@/SKILL.md"),
    ("method-pack.yaml.in", "src/@package@/method-packs/transect-protocol.yaml"),
    ("venue-profile.yaml.in", "src/@package@/venue-profiles/sample-annals.yaml"),
    ("clear-positive.json.in", "src/@package@/evaluation/clear-positive-1.json"),
    ("method-only.json.in", "src/@package@/evaluation/method-only-1.json"),
    ("near-miss.json.in", "src/@package@/evaluation/near-miss-1.json"),
)


def new_package(slug: str, parent: Path, *, display_name: str = "") -> tuple[Path, tuple[Path, ...]]:
    """Write a new subject package into a new folder `qiongli-subject-<slug>` of `parent`.

    Returns that folder and the files written, relative to it. Raises `InputError`: `invalid_slug`,
    `invalid_display_name`, `missing_folder` when `parent` is none, `already_exists` when the new folder is there:
    nothing is ever overwritten.
    """
    reason = reason_against_slug(slug)
    if reason is None and len(slug) > MAXIMUM_SLUG:
        reason = f"{slug!r} has more than {MAXIMUM_SLUG} characters"
    if reason is not None:
        raise InputError(reason, code="invalid_slug", expected="a slug such as marine-ecology")
    name = display_name.strip() or slug.replace("-", " ").title()
    if len(name) > 80 or not name.isprintable():
        raise InputError(
            "the display name is too long or has an unprintable character",
            code="invalid_display_name",
            expected="a name of at most 80 characters on one line",
        )
    if not parent.is_dir():
        raise InputError(
            f"{str(parent)!r} is no folder", code="missing_folder", hint="Create it, or name another: --dir"
        )
    root = parent / f"qiongli-subject-{slug}"
    try:
        root.mkdir()
    except FileExistsError as error:
        raise InputError(
            f"{str(root)!r} exists already; nothing was written",
            code="already_exists",
            hint="Choose another slug or folder: --dir",
        ) from error
    values = _values(slug, name)
    written = []
    for template, target in _FILES:
        path = root / _fill(target, values)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_fill(_template(template), values), encoding="utf-8", newline="\n")
        written.append(path.relative_to(root))
    return root, tuple(written)


def _values(slug: str, name: str) -> dict[str, str]:
    major, minor = VERSION.split(".")[:2]
    return {
        "slug": slug,
        "words": slug.replace("-", " "),
        "module": slug.replace("-", "_"),
        "package": "qiongli_subject_" + slug.replace("-", "_"),
        "dist": f"qiongli-subject-{slug}",
        "name": name,
        "json_name": json.dumps(name, ensure_ascii=False),
        "requires": f">={major}.{minor},<{major}.{int(minor) + 1}",
    }


def _template(name: str) -> str:
    if name == "empty.in":
        return ""
    return (Path(__file__).parent / "templates" / name).read_text(encoding="utf-8")


def _fill(text: str, values: dict[str, str]) -> str:
    return re.sub(r"@([a-z_]+)@", lambda match: values[match.group(1)], text)
