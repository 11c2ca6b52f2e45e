"""The user's explicit words: "do not treat as finance" excludes a subject, "keep this in economics" keeps one.

A directive is an order about the task. It names a subject by its slug or display name, or by its usual Chinese name,
and the words before (and for some forms, after) that name say what to do. "Graduates who remain in finance" orders
nothing: a verb of staying needs the task as its object, or the beginning of a sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from qiongli.document import DocumentField, normal_form
from qiongli.patterns import LazyPattern
from qiongli.records._units import Ppm
from qiongli.records.evidence import Evidence
from qiongli.signals._clause_text import clause_text

#: How many tokens before a name, and after it, can belong to a directive.
_BEFORE: Final = 16
_AFTER: Final = 6

_OBJECT: Final = (
    r"(?:this|it|that|everything|all|them|the|my|our|me)"
    r"(?: (?:task|paper|project|study|draft|manuscript|article|text|question|topic|research|work|analysis|abstract|"
    r"subject|discipline|field|domain))?"
)
_NEGATIVE: Final = (
    r"(?:(?:do|should|must|shall|may|can|need) not|cannot|(?:don|shouldn|mustn|needn|can) t|dont|never|not to|"
    r"please avoid|avoid|stop|no need to|refrain from)"
)
_TURNING: Final = (
    r"(?:switch|treat|route|move|classify|turn|handle|read|cast|frame|label|assign|consider|regard|change|convert|"
    r"send|put|keep|leave|make|apply|use|load|suggest|pick|choose|select|activate)(?:e?d|ing|ed|ting)?"
)
_ARTICLE: Final = r"(?:an? |the |another )?"
_MANNER: Final = r"(?:(?:strictly|only|purely|firmly|simply|just|please) )?"
_SENTENCE: Final = r"(?:^|[.;:!?\n] |\b(?:please|kindly) )"
#: Where an order without an object begins: "households that do not turn to finance" give none.
_LEAD: Final = r"(?:(?:^|[.;:!?\n,] )(?:(?:and|but|so|then|also) )?|\b(?:please|kindly|you|and|but|so) )"
_TO: Final = r"(?: over)? (?:to|as|into|in|under|towards?|for)"
_EXCLUDE_BEFORE: Final = LazyPattern(
    rf"\b{_NEGATIVE} (?:please |ever )?(?:be )?{_TURNING} {_OBJECT}{_TO} {_ARTICLE}$"
    rf"|\b{_NEGATIVE} (?:please |ever )?(?:make|call|consider) {_OBJECT} {_ARTICLE}$"
    rf"|{_LEAD}{_NEGATIVE} (?:please |ever )?{_TURNING}{_TO} {_ARTICLE}$"
    rf"|\b(?:should|must|shall|may|can|need) not be {_TURNING}{_TO} {_ARTICLE}$"
    rf"|\b(?:(?:do|would) not|(?:don|wouldn) t|dont) (?:want|like) {_OBJECT} (?:to be )?{_TURNING}{_TO} {_ARTICLE}$"
    rf"|\b(?:this|it|{_OBJECT}) (?:is|should|must|need)(?: not|n t)(?: be)?"
    rf"(?: (?:treated|read|classified|seen|regarded) as)? {_ARTICLE}$"
    rf"|\b(?:keep|treat|route|handle|stay|remain|classify)\b[^.;!?\n]*"
    rf"(?:,| and| but)? (?:not|rather than|instead of)(?: in| as| under)? {_ARTICLE}$"
    r"|(?:不要|不必|请勿|切勿|勿|不应该?|不能|不得|无需|别)(?:再)?(?:把|将)?(?:它|其|任务|(?:这|此|本|该)[个篇项]?(?:文章?|论文|任务|研究|课题|稿)?)?"
    r"(?:切换|转换|转|归类|归入|归|当作|当成|视为|视作|看作|路由|改|划|按照?|用|使用)(?:到|为|成|至|入|作)? ?$"
)
#: Names that only a following word makes a directive: "not a finance paper".
_EXCLUDE_AROUND: Final = LazyPattern(
    r"(?:\bnot (?:an? |the )$|(?:本文|这|它|这篇文章|这篇论文|本任务|任务)?(?:不是|不属于|并非)(?:一篇|一个)? ?$)"
)
_EXCLUDE_AFTER: Final = LazyPattern(
    r"^ (?:paper|task|project|study|question|article|topic|manuscript|thesis)\b(?! (?:only|alone))"
    r"|^ ?学?(?:类|领域)?的?(?:论文|文章|任务|课题|问题|研究(?!$)|领域)(?![\u4e00-\u9fff])|^学?$"
)
#: "Do not use finance", "leave finance out", "not finance, please": orders only when nothing but the name follows.
_EXCLUDE_BARE: Final = LazyPattern(
    rf"{_SENTENCE}{_NEGATIVE} (?:please |ever )?(?:use|apply|load|suggest|pick|choose|select|activate) {_ARTICLE}$"
    rf"|{_SENTENCE}(?:exclude|ignore|avoid|skip|disable) {_ARTICLE}$"
    rf"|(?:^|[.;:!?\n] )not $|\bi (?:do not|don t|dont) want {_ARTICLE}$"
)
_NOTHING_BUT_THE_NAME: Final = LazyPattern(
    r"^(?: (?:subject|discipline|standards|rules|package|here|for this(?: \w+)?|entirely|altogether))*"
    r"(?: ,)?(?: please)?(?: [.;!?\n]|$)"
)
_LEAVE_OUT: Final = LazyPattern(rf"{_SENTENCE}(?:leave|keep) {_ARTICLE}$")
_OUT: Final = LazyPattern(
    r"^(?: \w+)? out(?: of (?:this|it|the (?:task|paper|project|draft)))?(?: ,)?(?: please)?(?: [.;!?\n]|$)"
)
_NOT_ALONE: Final = LazyPattern(
    r"^(?: (?:paper|task|project|study|question|research|topic|subject|article|work))?"
    r"(?: only\b| alone\b| per se\b| journal)"
)
_KEEP_BEFORE: Final = LazyPattern(
    rf"\b(?:keep|leave|hold) {_MANNER}{_OBJECT} {_MANNER}(?:with)?in (?:the (?:field|realm) of )?$"
    rf"|(?:^|[.;:!?\n,] |\bplease |\b(?:must|should|to) )(?:stay|remain|stick) {_MANNER}(?:(?:with)?in|with|to) $"
    rf"|\b(?:treat|route|handle|classify|read|regard|consider) {_OBJECT} {_MANNER}"
    rf"(?:as|under|in) {_MANNER}{_ARTICLE}$"
    r"|(?:(?:请|仍|继续|就|仅|只|应)(?:然)?按照?|"
    r"请(?:把|将)?(?:它|其|这个?|本文|此文|任务)?(?:归入|当作|视为|视作)|保持在?|(?:请|仍)留在) ?$"
)
#: Chinese directives without a word of request need the order after the name.
_KEEP_AROUND: Final = LazyPattern(r"(?:按照?|用) ?$")
_KEEP_AFTER: Final = LazyPattern(r"^ ?学?的?(?:来)?(?:处理|标准|规范|要求|对待)")
#: What turns an order around or makes it a report.
_DENIED: Final = LazyPattern(r"(?:\b(?:not|t|never|cannot|no|nor|without|fail(?:s|ed)? to)(?: \w+){0,2} |[不勿别未])$")

#: Words of which every directive has one before the name, and characters.
_HINTS: Final = frozenset(
    {
        *("not", "t", "never", "avoid", "stop", "refrain", "no", "dont", "cannot", "isn", "rather", "instead"),
        *("keep", "leave", "hold", "stay", "remain", "stick", "treat", "route", "handle", "classify", "read", "regard"),
        *("consider", "exclude", "ignore", "skip", "disable", *"不勿别并请仍继就仅只应保按用"),
    }
)

#: Names by which Chinese texts call a subject.
_CHINESE_NAMES: Final = {
    "economics": ("经济学", "经济"),
    "finance": ("金融学", "金融"),
    "accounting": ("会计学", "会计"),
    "business": ("商学", "商科", "管理学"),
    "political-economy": ("政治经济学",),
    "geoeconomics": ("地缘经济学", "地缘经济"),
}


def subject_names(subjects: Sequence[tuple[str, str]]) -> Iterator[tuple[tuple[str, ...], int]]:
    """The names by which a text may call each of some subjects, given as (slug, display name), and its number.

    A name of several subjects is that of the first one.
    """
    names: dict[tuple[str, ...], int] = {}
    for number, (slug, display) in enumerate(subjects):
        for name in (slug, display, *_CHINESE_NAMES.get(slug, ())):
            words = normal_form(name)
            if words:
                names.setdefault(words, number)
    yield from names.items()


def find_directives(
    field: DocumentField, slugs: Sequence[str], named: Iterable[tuple[int, int, int]]
) -> Iterator[tuple[Evidence, int, int]]:
    """Every directive in a field, with its first token and one past its last one.

    `named` are the places of subjects' names: first token, one past the last, number of the subject's slug.
    """
    longest: dict[int, tuple[int, int]] = {}
    for first, last, number in named:
        if last > longest.get(first, (0, 0))[0]:
            longest[first] = (last, number)
    for first, (last, number) in longest.items():
        found = _order(field, first, last)
        if found is not None:
            role, begin = found
            yield _evidence(field, slugs[number], begin, last, role), begin, last


def _order(field: DocumentField, first: int, last: int) -> tuple[str, int] | None:
    """Whether the words around a name exclude or keep it, and the token with which they begin."""
    if _HINTS.isdisjoint(field.tokens.words[max(0, first - _BEFORE) : first]):
        return None
    context = clause_text(field.tokens, first - _BEFORE, first + 1)
    before = context.text[: context.places[-1]]
    begin_of_paragraph = before.rfind("\n") + 1
    before = before[begin_of_paragraph:]
    following = clause_text(field.tokens, last - 1, last + _AFTER)
    after = following.text[len(field.tokens.words[last - 1]) :]
    for role, pattern, needed in (
        ("exclude", _EXCLUDE_BEFORE, None),
        ("exclude", _EXCLUDE_AROUND, _EXCLUDE_AFTER),
        ("exclude", _EXCLUDE_BARE, _NOTHING_BUT_THE_NAME),
        ("exclude", _LEAVE_OUT, _OUT),
        ("keep", _KEEP_BEFORE, None),
        ("keep", _KEEP_AROUND, _KEEP_AFTER),
    ):
        match = pattern.search(before)
        if match is None or (needed is not None and not needed.match(after)):
            continue
        if role == "exclude" and _NOT_ALONE.match(after):
            continue
        if role == "keep" and _DENIED.search(before[: match.start()]):
            continue
        offset = begin_of_paragraph + match.start()
        offset += len(match.group()) - len(match.group().lstrip(" .,;:!?"))
        return role, min(context.token_at(offset), first)
    return None


def _evidence(field: DocumentField, slug: str, first: int, last: int, role: str) -> Evidence:
    start, end = field.tokens.starts[first], field.tokens.ends[last - 1]
    return Evidence(
        signal_id=f"{slug}.directive.{role}",
        subject=slug,
        dimension="method",
        value=slug,
        activation="context_only",
        weight=Ppm(0),
        field=field.name,
        start=start,
        end=end,
        snippet=field.text[start:end],
        polarity="excluded" if role == "exclude" else "asserted",
        role=role,  # type: ignore[arg-type]
    )
