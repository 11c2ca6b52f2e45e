"""One offline HTML file: no request leaves it, hostile text stays text, it is readable without JavaScript."""

from __future__ import annotations

from base64 import b64encode
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from qiongli.records.evaluation import CorpusReport, EvaluationReport
from qiongli.records.gate import GateReport

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATES: Final = Path(__file__).resolve().parent / "templates"


def render_evaluation_page(report: EvaluationReport, *, gate: GateReport | None = None) -> str:
    """The page of an evaluation of fixtures, with the checks of the gate where they were made."""
    title = f"Qiongli gate: {gate.subject}" if gate is not None else "Qiongli evaluation"
    return render_page("evaluation.html.j2", title=title, report=report, gate=gate)


def render_corpus_page(report: CorpusReport) -> str:
    """The page of a measurement on labelled text."""
    return render_page("corpus.html.j2", title="Qiongli on labelled text", report=report)


def render_page(template: str, **values: Any) -> str:
    """A page from a template that extends `base.html.j2`; only its one style and one script may act.

    The content security policy names both by their digests, so that nothing that a text smuggles in could run.
    """
    environment = _environment()
    style = (_TEMPLATES / "page.css").read_text(encoding="utf-8")
    script = (_TEMPLATES / "page.js").read_text(encoding="utf-8")
    policy = f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}; base-uri 'none'"
    return environment.get_template(template).render(
        style=_verbatim(style), script=_verbatim(script), policy=f"{policy}; form-action 'none'", **values
    )


def _digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode('ascii')}'"


def _verbatim(text: str) -> Any:
    """Our own style or script, which is the only thing that is not escaped."""
    from markupsafe import Markup

    return Markup(text)  # noqa: S704  # package data, never a text of anybody else


@lru_cache(maxsize=1)
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES, encoding="utf-8"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["number"] = _number
    environment.filters["words"] = _words
    environment.filters["visible"] = _visible
    return environment


def _number(value: float) -> str:
    """A share with three digits."""
    return f"{value:.3f}"


def _words(name: str) -> str:
    """An identifier as words."""
    return name.replace("_", " ")


def _visible(text: object) -> str:
    """A text with its control and direction characters made visible, so that it shows what it is."""
    from unicodedata import category

    return "".join(
        character
        if category(character) not in ("Cc", "Cf", "Cs") or character in "\n\t"
        else f"\\u{ord(character):04x}"
        for character in str(text)
    )
