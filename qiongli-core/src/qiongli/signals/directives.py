"""The user's explicit words: "do not treat as finance" excludes a subject, "keep this in economics" keeps one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import attrs

from qiongli.document import DocumentField
from qiongli.records._units import Ppm
from qiongli.records.evidence import Evidence

#: Cheap words without which no directive stands in a text; most texts have none.
_HINT: Final = re.compile(
    r"\b(?:not|never|don['’]t|shouldn['’]t|mustn['’]t|keep|stay|remain|treat|route|handle)\b|不|勿|按|保持",
    re.IGNORECASE,
)
_NEGATIVE: Final = r"(?:do\s+not|don['’]t|should\s+not|shouldn['’]t|must\s+not|mustn['’]t|never|not\s+to(?:\s+be)?)"
_TURNING: Final = (
    r"(?:switch(?:ed)?|treat(?:ed)?|route[d]?|move[d]?|classif(?:y|ied)|turn(?:ed)?|handle[d]?|read|cast|frame[d]?)"
)
_ARTICLE: Final = r"(?:an?\s+|the\s+|another\s+)?"
_NOUN: Final = r"(?:\s+(?:paper|task|project|study|question|research|topic|subject|article|work))?"
#: Names by which Chinese texts call a subject.
_CHINESE_NAMES: Final = {"economics": "经济学", "finance": "金融", "accounting": "会计"}


@attrs.frozen
class DirectivePatterns:
    """The compiled directives about some subjects; each name in a match leads to its slug."""

    exclude: re.Pattern[str]
    keep: re.Pattern[str]
    slugs: Mapping[str, str]

    def find(self, field: DocumentField) -> Iterator[Evidence]:
        """Every directive in a field."""
        text = field.masked
        if not self.slugs or not _HINT.search(text):
            return
        for match in self.exclude.finditer(text):
            yield _evidence(field, self._slug(match), match, "exclude")
        for match in self.keep.finditer(text):
            before = text[max(0, match.start() - 20) : match.start()]
            if not re.search(r"(?:not|n['’]t|never|\bto)\s*$", before, re.IGNORECASE):
                yield _evidence(field, self._slug(match), match, "keep")

    def _slug(self, match: re.Match[str]) -> str:
        name = next(group for group in match.groups() if group)
        return self.slugs[_key(name)]


def _key(name: str) -> str:
    return re.sub(r"[\s-]+", " ", name).casefold()


def _evidence(field: DocumentField, slug: str, match: re.Match[str], role: str) -> Evidence:
    return Evidence(
        signal_id=f"{slug}.directive.{role}",
        subject=slug,
        dimension="method",
        value=slug,
        activation="context_only",
        weight=Ppm(0),
        field=field.name,
        start=match.start(),
        end=match.end(),
        snippet=field.text[match.start() : match.end()],
        polarity="excluded" if role == "exclude" else "asserted",
        role=role,  # type: ignore[arg-type]
    )


def directive_patterns(subjects: Sequence[tuple[str, str]]) -> DirectivePatterns:
    """The directives about subjects given as (slug, display name)."""
    slugs: dict[str, str] = {}
    for slug, display in subjects:
        for name in (slug, display, _CHINESE_NAMES.get(slug, "")):
            if name:
                slugs.setdefault(_key(name), slug)
    # Longer names first, so that "economics accounting" is not read as "economics".
    ordered = sorted(slugs, key=lambda name: (-len(name), name))
    names = "(" + "|".join(re.escape(name).replace(r"\ ", r"[\s-]+") for name in ordered) + ")"
    exclude = (
        rf"{_NEGATIVE}\s+(?:be\s+)?{_TURNING}(?:\s+(?:this|it|the\s+\w+))?\s*(?:to|as|into|in|under)?\s+{_ARTICLE}{names}\b"
        rf"|\b(?:this|it)\s+(?:is|should)\s+not(?:\s+be)?\s+{_ARTICLE}{names}{_NOUN}\b(?!\s+(?:only|alone))"
        rf"|\bnot\s+an?\s+{names}\s+(?:paper|task|project|study|question|article)\b"
        rf"|(?:不要|请勿|勿|不应)(?:把|将)?(?:它|本文|这篇文章|任务)?(?:切换|转|归|归类|当作|视为)(?:到|为|作)?{names}"
    )
    keep = (
        rf"\b(?:keep|stay|remain)(?:\s+(?:this|it|the\s+\w+))?\s+(?:with)?in\s+{names}\b"
        rf"|\b(?:treat|route|handle)\s+(?:this|it)\s+(?:strictly\s+|only\s+)?as\s+{_ARTICLE}{names}\b"
        rf"|(?:请|仍)?按{names}(?:处理|标准)|保持(?:在)?{names}"
    )
    return DirectivePatterns(re.compile(exclude, re.IGNORECASE), re.compile(keep, re.IGNORECASE), slugs)
