"""The managed block in `.qiongli/guidance.d/subject-runtime.md`: references to what is active, for agents to read.

The block names resources and how to read them; it copies none. Text of the user's outside the markers is kept byte for
byte. The block is never evidence: the router must not convince itself.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from qiongli.errors import StateCorruptError
from qiongli.markers import GUIDANCE_BEGIN, GUIDANCE_BLOCK_LIMIT, GUIDANCE_END, GUIDANCE_MARKER
from qiongli.project.paths import GUIDANCE, STATE_FOLDER, Project, escaped
from qiongli.project.subjects import find_lender, find_venue_holder
from qiongli.records.project import AUTO, ManifestState

if TYPE_CHECKING:
    from qiongli.plugins import Catalogue, CatalogueSubject
    from qiongli.project.guidance_problems import GuidanceProblem

BEGIN: Final = GUIDANCE_BEGIN
END: Final = GUIDANCE_END
BLOCK_LIMIT: Final = GUIDANCE_BLOCK_LIMIT

#: A larger file is not edited.
GUIDANCE_LIMIT: Final = 1_048_576

GuidanceStatus = Literal["none", "current", "stale", "broken"]

_MARKER: Final = rb"(?m)^[ \t]*<!--[ \t]*%b[^\r\n]*" % GUIDANCE_MARKER.encode()
_PLACE: Final = f"{STATE_FOLDER}/{GUIDANCE}"
_TITLE: Final = "## Subject guidance for this project"


class GuidanceDocument(NamedTuple):
    """The guidance file as it was found: the span of the managed block in it, and what is wrong."""

    data: bytes | None
    #: First and one-past-last byte of the block's lines, the newline of its last line included; None without a block.
    span: tuple[int, int] | None = None
    problems: tuple[GuidanceProblem, ...] = ()

    @property
    def block(self) -> str:
        """The block's text with plain newlines, empty without one."""
        if self.data is None or self.span is None:
            return ""
        return self.data[self.span[0] : self.span[1]].decode("utf-8", "replace").replace("\r\n", "\n").rstrip("\n")

    @property
    def user_text(self) -> bytes:
        """Every byte outside the block."""
        if self.data is None:
            return b""
        return self.data if self.span is None else self.data[: self.span[0]] + self.data[self.span[1] :]


def parse_guidance(data: bytes | None) -> GuidanceDocument:
    """Find the block; anything but one begin marker followed by one end marker, or neither, is a problem."""
    if data is None:
        return GuidanceDocument(None)
    if len(data) > GUIDANCE_LIMIT:
        message = f"the file is larger than {GUIDANCE_LIMIT} bytes"
        return GuidanceDocument(data, None, (_problem(1, "oversized_file", message, "move your text to another file"),))
    problems: list[GuidanceProblem] = []
    begin: re.Match[bytes] | None = None
    spans: list[tuple[int, int]] = []
    # A byte order mark is no part of the first line.
    first = 3 if data.startswith(b"\xef\xbb\xbf") else 0
    for match in re.finditer(_MARKER, data[first:]):
        line = data.count(b"\n", 0, first + match.start()) + 1
        text = match.group().strip().decode("utf-8", "replace")
        if text == BEGIN:
            if begin is not None:
                problems.append(_problem(line, "nested", "a block begins inside a block", "remove this line"))
            begin = begin or match
        elif text == END:
            if begin is None:
                problems.append(_problem(line, "unopened", "a block ends that did not begin", "remove this line"))
                continue
            newline = data.find(b"\n", first + match.end())
            spans.append((first + begin.start(), len(data) if newline < 0 else newline + 1))
            if len(spans) > 1:
                problems.append(_problem(line, "duplicated", "this is a second block", "remove one of the two blocks"))
            begin = None
        else:
            problems.append(
                _problem(
                    line, "unknown_marker", f"no marker of Qiongli's: {escaped(text[:60])}", f"write {BEGIN} or {END}"
                )
            )
    if begin is not None:
        line = data.count(b"\n", 0, first + begin.start()) + 1
        problems.append(_problem(line, "unclosed", "the block has no end", f"add a line {END} below it"))
    span = spans[0] if len(spans) == 1 and not problems else None
    return GuidanceDocument(data, span, tuple(problems))


def _problem(line: int, code: str, message: str, fix: str) -> GuidanceProblem:
    from qiongli.project.guidance_problems import GuidanceProblem

    return GuidanceProblem(line, code, message, fix)


def require_sound(document: GuidanceDocument, project: Project) -> None:
    """Raise `StateCorruptError` (`guidance_broken`) with place and fix when the markers of a project are broken."""
    if document.problems:
        first = document.problems[0]
        raise StateCorruptError(
            f"the managed block is broken: {first.message}",
            code="guidance_broken",
            place=f"{_PLACE}:{first.line}",
            expected=first.fix,
            hint=f"Run: {project.command('guidance lint')} (to put the file aside: {project.command('subject reset')})",
        )


def put_block(document: GuidanceDocument, block: str) -> bytes:
    """The file of a sound document with the block replaced, or put before the user's text when there was none."""
    assert not document.problems
    data = document.data or b""
    newline = b"\r\n" if b"\r\n" in data else b"\n"
    text = block.encode().replace(b"\n", newline) + newline
    start, end = document.span or ((3, 3) if data.startswith(b"\xef\xbb\xbf") else (0, 0))
    return data[:start] + text + data[end:]


def guidance_status(data: bytes | None, state: ManifestState, catalogue: Catalogue) -> GuidanceStatus:
    """Whether the block says what is active now."""
    document = parse_guidance(data)
    if document.problems:
        return "broken"
    if document.span is None:
        return "none"
    return "current" if document.block == render_block(state, catalogue) else "stale"


def take_block_out(document: GuidanceDocument) -> bytes | None:
    """The file without the block, exactly as it was before one was put in; None when nothing is left."""
    return document.user_text or None


def render_block(state: ManifestState, catalogue: Catalogue, *, limit: int = BLOCK_LIMIT) -> str:
    """The block for a state, with plain newlines and without one at its end; at most `limit` bytes."""
    effective = state.active_subject if state.subject_mode != "auto" else AUTO
    head = [BEGIN, _TITLE, ""]
    if effective == AUTO:
        head.append("Subject: none is in force; the adaptive core decides task by task.")
    else:
        head.append(f"Subject: {effective} ({state.subject_mode}), strictness {state.strictness}.")
    rows: list[str] = []
    absent: list[str] = []
    for found in _references(state, effective, catalogue):
        (rows if found.startswith("- ") else absent).append(found)
    if rows:
        head += ["Read a reference with `qiongli resource show SUBJECT KIND NAME`:", ""]
    tail = [*(f"Not available here: {text}." for text in absent), END]
    block = "\n".join([*head, *rows, *tail])
    if len(block.encode()) <= limit:
        return block
    more = "More is active than fits here; run `qiongli guidance show --cwd .`."
    lines, left = [], limit - len("\n".join([*head, more, END, ""]).encode())
    for line in (*rows, *tail[:-1]):
        left -= len(line.encode()) + 1
        if left < 0:
            break
        lines.append(line)
    return "\n".join([*head, *lines, more, END])


def _references(state: ManifestState, effective: str, catalogue: Catalogue) -> Iterator[str]:
    """One row for each resource in force, in order of authority; a text without a hyphen for each missing one."""
    subject = catalogue.get(effective) if effective != AUTO else None
    if effective != AUTO and subject is None:
        yield f"the package of {effective}"
    elif subject is not None and subject.listing.state != "active":
        yield f"overlay and skill of {effective}, whose state is {subject.listing.state}"
    elif subject is not None:
        contract = subject.contract
        for kind, path in (
            ("domain_profile", contract.domain_profile),
            ("overlay", contract.overlay),
            ("skill", contract.subject_skill),
        ):
            if path is not None:
                yield _row(subject, kind, effective, path)
    others = [found for found in catalogue.subjects if found is not subject]
    ordered = [*([subject] if subject is not None else []), *others]
    for lens in state.method_lenses:
        slug = lens.rpartition("/")[2]
        lender = find_lender(ordered, lens)
        declared = lender.contract.lens(slug) if lender is not None else None
        if lender is None or declared is None:
            yield f"the lens {lens}"
        else:
            yield _row(lender, "method_pack", slug, declared.pack)
    for venue in state.venue_profiles:
        slug = venue.rpartition("/")[2]
        holder = find_venue_holder(ordered, venue)
        if holder is None:
            yield f"the venue profile {venue}"
        else:
            yield _row(holder, "venue_profile", slug, holder.contract.venue_profiles[slug])


def _row(subject: CatalogueSubject, kind: str, name: str, path: str) -> str:
    slug = subject.contract.subject
    checksum = _checksum(subject.root, path)
    if checksum is None:
        return f"{kind} {name} of {slug}"
    return f"- {slug} {kind} {name} (`{path}`, {checksum})"


def _checksum(root: Path, path: str) -> str | None:
    """The checksum of a resource inside its package, None when it is missing or leaves the package."""
    try:
        # A path object for each resource costs more than looking at it.
        found = os.stat(os.path.join(root, path))  # noqa: PTH116, PTH118
        return _checksum_of(root, path, (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns))
    except (OSError, ValueError):
        return None


@lru_cache(maxsize=256)
def _checksum_of(root: Path, path: str, _version: tuple[int, ...]) -> str | None:
    """The checksum of one version of a file: an action needs it for what was, what is to be, and the block."""
    file = (root / path).resolve(strict=True)
    if not file.is_relative_to(root.resolve()):
        return None
    return f"sha256:{hashlib.sha256(file.read_bytes()).hexdigest()}"
