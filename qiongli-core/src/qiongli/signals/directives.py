"""The user's explicit words: "do not treat as finance" excludes a subject, "keep this in economics" keeps one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import attrs

from qiongli.document import DocumentField
from qiongli.records._units import Ppm
from qiongli.records.evidence import Evidence


@attrs.frozen
class DirectivePatterns:
    """The compiled directives about the given subjects, each as (slug, names)."""

    names: tuple[tuple[str, tuple[str, ...]], ...]

    def find(self, field: DocumentField) -> Iterator[Evidence]:
        """Every directive in a field."""
        text = field.masked
        for slug, names in self.names:
            for name in names:
                yield from self._find(field, text, slug, name)

    def _find(self, field: DocumentField, text: str, slug: str, name: str) -> Iterator[Evidence]:
        escaped = re.escape(name).replace(r"\ ", r"[\s\-]+").replace(r"\-", r"[\s\-]+")
        a_paper = r"(?:an?\s+|the\s+|another\s+)?"
        noun = r"(?:\s+(?:paper|task|project|study|question|research|topic|subject|article|work))?"
        negative = r"(?:do\s+not|don['’]t|should\s+not|shouldn['’]t|must\s+not|mustn['’]t|never|please\s+(?:do\s+not|don['’]t)|not\s+to(?:\s+be)?)"
        exclude = (
            rf"{negative}\s+(?:be\s+)?(?:switch(?:ed)?|treat(?:ed)?|route[d]?|move[d]?|classif(?:y|ied)|turn(?:ed)?|handle[d]?|read|cast|frame[d]?)"
            rf"(?:\s+(?:this|it|the\s+\w+))?\s*(?:to|as|into|in|under)?\s+{a_paper}{escaped}\b"
            rf"|\b(?:this|it)\s+(?:is|should)\s+not(?:\s+be)?\s+{a_paper}{escaped}{noun}\b(?!\s+(?:only|alone))"
            rf"|\bnot\s+an?\s+{escaped}\s+(?:paper|task|project|study|question|article)\b"
            rf"|(?:不要|请勿|勿|不应)(?:把|将)?(?:它|本文|这篇文章|任务)?(?:切换|转|归|归类|当作|视为)(?:到|为|作)?{escaped}"
        )
        keep = (
            rf"\b(?:keep|stay|remain)(?:\s+(?:this|it|the\s+\w+))?\s+(?:with)?in\s+{escaped}\b"
            rf"|\b(?:treat|route|handle)\s+(?:this|it)\s+(?:strictly\s+|only\s+)?as\s+{a_paper}{escaped}\b"
            rf"|(?:请|仍)?按{escaped}(?:处理|标准)|保持(?:在)?{escaped}"
        )
        for match in re.finditer(exclude, text, re.IGNORECASE):
            yield _evidence(field, slug, match, "exclude")
        for match in re.finditer(keep, text, re.IGNORECASE):
            before = text[max(0, match.start() - 20) : match.start()]
            if not re.search(r"(?:not|n['’]t|never|to)\s*$", before, re.IGNORECASE):
                yield _evidence(field, slug, match, "keep")


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
    chinese = {"economics": "经济学", "finance": "金融", "accounting": "会计"}
    return DirectivePatterns(
        tuple(
            (slug, tuple(dict.fromkeys(name for name in (slug, display.casefold(), chinese.get(slug, "")) if name)))
            for slug, display in subjects
        )
    )
