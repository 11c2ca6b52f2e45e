"""The user's explicit words: "do not treat as finance" excludes a subject, "keep this in economics" keeps one.

A directive is an order about the task. It names a subject by its slug or display name, or by another usual name, and
the words around that name say what to do, in one of the forms of `_orders` and `_orders_chinese`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from qiongli.document import DocumentField, normal_form
from qiongli.patterns import LazyPattern
from qiongli.records._units import Ppm
from qiongli.records.evidence import Evidence
from qiongli.signals._clause_text import clause_text

#: How many tokens before a name, and after it, can belong to a directive.
_BEFORE: Final = 20
_AFTER: Final = 10

#: Words of which every directive has one before the name, and characters.
_HINTS: Final = frozenset(
    {
        *("not", "t", "never", "avoid", "stop", "refrain", "quit", "no", "dont", "cannot", "isn", "rather", "instead"),
        *(
            "keep",
            "leave",
            "hold",
            "stay",
            "remain",
            "stick",
            "treat",
            "route",
            "reroute",
            "handle",
            "classify",
            "read",
        ),
        *("regard", "consider", "exclude", "ignore", "skip", "disable", "drop", "omit", "remove", "rule", "forget"),
        *("disregard", "discard", "reject", "block", "suppress", "dismiss", "deactivate", "switch", "turn", "take"),
        *("anything", "any", "use", "apply", "choose", "pick", "select", "load", "activate", "follow", "go", "want"),
        *("like", "need", "prefer", "wish", "must", "should", "shall", "has", "needs", "categorize", "categorise"),
        *("file", "label", "review", "judge", "assess", "evaluate", "write", "frame", "approach", "process", "see"),
        *("sure", "ensure", "neither", "interested", "insist", "except"),
        *("view", "interpret", "assign", "move", "put", "send", "place", "set", "check", "measure", "get", "only"),
        *("just", "strictly", "purely"),
        *"不勿别并请务仍继就仅只应保按依以用遵归当视看放定限留排忽跳去剔禁撇抛屏停关避无而绝非",
    }
)
#: The same behind it: "economics only, please", "finance is off the table".
_HINTS_AFTER: Final = frozenset({"only", "off", "out", "is", "should", "must", "are", "has"})
#: The marks between sentences, as `clause_text` spells them.
_SENTENCE_END: Final = LazyPattern(r"^.*[.;!?\n]", re.DOTALL)
_QUESTION_MARKS: Final = ("?", "？")
#: What may stand between two names in an enumeration.
_JOINING: Final = frozenset({"and", "or", "nor", "和", "或", "与", "及"})

#: The subjects that users name whether they are installed or not, and what else they call them: "keep this in
#: accounting" excludes finance on a machine without accounting too.
_WELL_KNOWN: Final = {
    "economics": ("经济学", "经济"),
    "finance": ("金融学", "金融"),
    "accounting": ("会计学", "会计"),
    "business": ("management", "business and management", "商学", "商科", "管理学", "工商管理"),
    "political-economy": ("政治经济学",),
    "geoeconomics": ("地缘经济学", "地缘经济"),
}


def named_subjects(installed: Sequence[str]) -> tuple[str, ...]:
    """The slugs of the subjects that a text may name: the installed ones, then the well-known others."""
    return (*installed, *(slug for slug in _WELL_KNOWN if slug not in installed))


def subject_names(subjects: Sequence[tuple[str, str]]) -> Iterator[tuple[tuple[str, ...], int]]:
    """The names by which a text may call a subject, each with the subject's number among `named_subjects`.

    `subjects` are the installed ones as (slug, display name). A name of several subjects is that of the first one.
    """
    names: dict[tuple[str, ...], int] = {}
    displays = dict(subjects)
    slugs = named_subjects([slug for slug, _ in subjects])
    # What a subject is called by its own makers comes before what it is called by others.
    for others in (False, True):
        for number, slug in enumerate(slugs):
            for name in _WELL_KNOWN.get(slug, ()) if others else (slug, displays.get(slug, slug)):
                words = normal_form(name)
                if words:
                    names.setdefault(words, number)
    yield from names.items()


def find_directives(
    field: DocumentField, slugs: Sequence[str], named: Iterable[tuple[int, int, int]]
) -> Iterator[tuple[Evidence, int, int]]:
    """Every directive in a field, with its first token and one past its last one.

    `named` are the places of subjects' names: first token, one past the last, number of the subject in `slugs`.
    """
    longest: dict[int, tuple[int, int]] = {}
    for first, last, number in named:
        if last > longest.get(first, (0, 0))[0]:
            longest[first] = (last, number)
    places = [(first, *longest[first]) for first in sorted(longest)]
    known: dict[int, tuple[str, int, bool]] = {}
    for index, (first, last, number) in enumerate(places):
        found = known.get(first)
        if found is None:
            found = _order_of(field, places, index, known)
        if found is not None:
            role, begin, reported = found
            yield _evidence(field, slugs[number], begin, last, role, reported=reported), begin, last


def _order_of(
    field: DocumentField, places: Sequence[tuple[int, int, int]], index: int, known: dict[int, tuple[str, int, bool]]
) -> tuple[str, int, bool] | None:
    """The order that a name is part of; of an enumeration of names, all are noted in `known`."""
    words = field.tokens.words
    first, last, _ = places[index]
    if _HINTS.isdisjoint(words[max(0, first - _BEFORE) : first]) and _HINTS_AFTER.isdisjoint(words[last : last + 2]):
        return None
    listed = index
    while listed + 1 < len(places) and _joined(field, places[listed][1], places[listed + 1][0]):
        listed += 1
    found = _order(field, first, places[listed][1])
    if found is None:
        return _order(field, first, last) if listed > index else None
    for following, _, _ in places[index + 1 : listed + 1]:
        known[following] = found
    return found


def _joined(field: DocumentField, last: int, first: int) -> bool:
    """Whether a name that ends before one token and a name that begins with another are parts of an enumeration."""
    tokens = field.tokens
    if first == last:
        return "、" in tokens.text[tokens.ends[last - 1] : tokens.starts[first]]
    return first == last + 1 and tokens.words[last] in _JOINING


def _order(field: DocumentField, first: int, last: int) -> tuple[str, int, bool] | None:
    """Whether the words around a name exclude or keep it, and the token with which they begin."""
    tokens = field.tokens
    context = clause_text(tokens, first - _BEFORE, first + 1)
    before = context.text[: context.places[-1]]
    end = _SENTENCE_END.match(before)
    begin = 0 if end is None else end.end()
    begin += len(before) - begin - len(before[begin:].lstrip(" "))
    # Out of sight is what stands before the first of these tokens.
    cut = "_ " if end is None and context.low else ""
    sentence = cut + before[begin:]
    # Few texts name a subject where an order could begin, and a start of the program should not pay for the others.
    from qiongli.signals._orders import english_order, may_order

    in_english = may_order(sentence)
    if not in_english and before.isascii():
        return None
    following = clause_text(tokens, last - 1, last + _AFTER)
    after = following.text[len(tokens.words[last - 1]) :]
    # Behind the last token of a text no mark is told; of these only that of a question matters.
    if last + _AFTER >= len(tokens.words) and tokens.text[tokens.ends[-1] : tokens.ends[-1] + 1] in _QUESTION_MARKS:
        after += " ?"
    found = english_order(sentence, after) if in_english else None
    if found is None and not before.isascii():
        from qiongli.signals._orders_chinese import chinese_order

        found = chinese_order(sentence, after)
    if found is None:
        return None
    role, offset, reported = found
    return role, min(context.token_at(begin + max(0, offset - len(cut))), first), reported


def _evidence(field: DocumentField, slug: str, first: int, last: int, role: str, *, reported: bool) -> Evidence:
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
        # What others ordered, as the user tells, orders nothing.
        polarity="quoted" if reported else "excluded" if role == "exclude" else "asserted",
        role=role,  # type: ignore[arg-type]
    )
