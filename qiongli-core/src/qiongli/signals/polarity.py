"""Whether the words around a match assert it, deny it or quote it; in English and Chinese.

Denied is what the author says not to do or not to be about: "we do not use an event study", "without stock returns",
"an event study is not used". A finding stated in the negative keeps its topic: "we find no evidence of momentum" is
about momentum. What a negation governs ends where `_reach` says.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Final

from qiongli.document import Tokens
from qiongli.patterns import LazyPattern
from qiongli.signals._clause_text import ClauseText, ClauseTexts, Spelling, clause_text
from qiongli.signals._negations import (
    AFTER_TRIGGER,
    AUTHORS_NEGATIONS,
    BE_NOT,
    BEFORE_TRIGGER,
    DO_NOT,
    DONE,
    HAVE_NOT,
    NEGATIONS,
    SPEAKERS,
    SUBJECT,
    WORK,
    find_negations,
    without_exceptions,
)
from qiongli.signals.quotation import block_quotations, quotations

#: Words that can be the main one of a contrast; which words have to follow, one of them, within how many tokens.
CONTRAST_WORDS: Final = {
    "unlike": None,
    "contrast": (1, frozenset({"to", "with"})),
    "contrasted": (1, frozenset({"to", "with"})),
    "contrasting": (1, frozenset({"to", "with"})),
    "contrary": (1, frozenset({"to"})),
    # An adverb may stand between: "differs sharply from".
    **dict.fromkeys(
        (
            *("distinct", "different", "departure", "depart", "departs", "departed", "departing", "differ", "differs"),
            *("differed", "differing", "diverge", "diverges", "diverged", "diverging", "deviate", "deviates"),
            *("deviated", "deviating"),
        ),
        (2, frozenset({"from"})),
    ),
    **dict.fromkeys(("realm", "realms", "confines", "purview"), (1, frozenset({"of"}))),
    "bearing": (1, frozenset({"on", "upon"})),
    "unrelated": (1, frozenset({"to"})),
    "little": (3, frozenset({"do"})),
    "nothing": (3, frozenset({"do"})),
    "与": (26, frozenset({"同", "异"})),
    "和": (26, frozenset({"同", "异"})),
    "同": (1, frozenset({"于"})),
    "别": (1, frozenset({"于"})),
}
#: Directly before a match, bare words suffice: "this is not asset pricing", "没有双重差分".
_DIRECTLY: Final = LazyPattern(
    rf"(?:(?:^|[^\w]){SUBJECT} (?:is|are|was|were) |(?<!\w)(?<!is )(?<!are )(?<!was )(?<!were ))"
    r"not (?:primarily |mainly |really |strictly )?$"
    r"|(?:没有|不含|无|不用|不做|(?:本文|本研究|这|绝|均)非) ?$"
)
#: Words and characters of which all of these have one.
_DIRECT: Final = frozenset({"not", *"没不无非"})
#: How many tokens a negation may stand before what it denies.
_REACH: Final = 30
#: How many tokens before a negation tell what it is a part of.
_BEFORE_NEGATION: Final = 10

_DENIED_AFTER: Final = LazyPattern(
    rf"^(?: \( \w+ \))?(?: \w+){{0,3}}?(?: {BE_NOT}| {HAVE_NOT}| {DO_NOT}| (?:is|are|was|were) \w+ly not)"
    rf"(?: be| been)?(?: (?!(?:on|mere|simp|sole|necessari|exclusive)ly\b)\w+ly)? {DONE}\b"
    r"|^(?: \w+){0,3}? (?:is|are|was|were) considered but (?:\w+ly )?(?:not|rejected)\b"
    r"|^(?: \w+){0,3}? (?:is|are|was|were|lies?|falls?|remains?) (?:\w+ )?(?:out of|beyond|outside) "
    r"(?:(?:the|our|its) )?(?:scope|remit)\b"
    r"|^(?: \w+){0,3}? (?:is|are) left (?:to|for) (?:future|later|others)\b"
    r"|^(?: \w+){0,3}? (?:is|are|was|were) never (?:used|employed|applied|run|conducted)\b"
    r"|^(?: \w+){0,3}? (?:plays?|has|have) no (?:place|part)\b"
    rf"|^(?: \w+){{0,3}}?(?: , which)? (?:(?:is|are|was|were) (?:\w+ly )?unrelated to|(?:has|have|had) "
    rf"(?:nothing|little) to do with|(?:has|have|had) (?:no|little) bearing on) (?:this|our|my|the present) {WORK}\b"
    r"|^(?: ?\w)?(?:方法|法|模型|数据)?(?:未被|没有被|并未被?|不被|未)(?:使用|采用|考虑)"
    r"|^(?:方法|法|模型|数据)?(?:并不|不)适用|^(?:方法|法|模型|数据)?(?:不是|并非)(?:本文|我们)"
    r"|^(?:方法|法|模型|数据|问题)?(?:则|都|均)?(?:不|未)(?:作|做|予|加以)(?:讨论|研究|分析|考察|探讨)"
    r"|^(?:方法|法|模型|数据)?(?:不在|超出了?)(?:本文|本研究|我们)?的?(?:研究|讨论)?的?范围"
)
#: What a Chinese match must stand between: "this paper has nothing to do with X", "does not take X as its subject".
_AROUND: Final = (
    (
        LazyPattern(
            r"(?:本文|本研究|本论文|我们的研究|本课题|本项目|(?:这|该)(?:篇|项|个)?(?:文章|论文|研究|课题))"
            r"(?:\w{0,4}?)[与和跟同][^,.;!?\n]{0,10}$"
        ),
        LazyPattern(r"^(?:\w{0,6}?)(?:毫无关系|没有(?:\w{0,2})关系|无关|并不相关|不相关|无涉)"),
    ),
    (
        LazyPattern(r"[不非]是?以[^,.;!?\n]{0,8}$"),
        LazyPattern(
            r"^(?:\w{0,4}?)[为作](?:本文|本研究|主要|核心|其|的)*(?:研究|分析|考察|讨论)?的?"
            r"(?:对象|主题|重点|内容|核心|中心|视角|框架|方法|基础|切入点|话题|议题)"
        ),
    ),
)
#: How many tokens before a Chinese match are looked at for that.
_LOOK_BACK: Final = 18
#: How many tokens after a match are looked at.
_LOOK_AHEAD: Final = 12
#: Of these, how many can hold the word that makes a negation: what stands before it in `_DENIED_AFTER` has at most
#: eight tokens, as in "lies squarely out of the scope" behind three of the match's own words.
_LAST_TRIGGER: Final = 9

#: Words of which every English negation has one, and characters of which every Chinese one has one.
_TRIGGERS: Final = frozenset(
    {
        *NEGATIONS,
        *("not", "t", "no", "never", "without", "neither", "nor", "rather", "instead", "opposed", "place", "lieu"),
        *("avoid", "avoids", "avoided", "avoiding", "devoid", "free", "cannot", "absence", "dispense"),
        *("refrain", "refrains", "refrained", "abstain", "abstains", "abstained"),
        *("dispenses", "stop", "stopped", "lack", "lacks", "lacking", "against", "clear", "away", "nowhere"),
        *("scope", "remit", "left", "rejected"),
        *("dont", "doesnt", "didnt", "wont", "cant", "isnt", "arent", "wasnt"),
        *CONTRAST_WORDS,
        *"不未没无毋并而避放弃拒超非",
    }
)


#: From how many words that can be part of negations on a text has many of them.
_MANY: Final = 64


class Clauses:
    """The denials and quotations of one text, found once for all matches in it."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._triggers = _triggers_in(tokens.words)
        #: First token and one past the last one of each negation, by the word that made it looked for.
        self._opened: dict[int, tuple[tuple[int, int], ...]] = {}
        #: For each negation of which a match stood in reach: what follows it, and where in that its reach ends.
        self._following: dict[tuple[int, int], tuple[ClauseText, int]] = {}
        #: For each contrast, the first token beyond what the author sets the work apart from.
        self._contrasts: dict[tuple[int, int], int] = {}
        #: Spelling all of a text is worth it for many negations only.
        self._many = len(self._triggers) > _MANY
        self._spell: Spelling = ClauseTexts(tokens).between if self._many else partial(clause_text, tokens)
        self._quotations = quotations(tokens)
        self._blocks = block_quotations(tokens.text)
        self._quoting = bool(self._quotations) or bool(self._blocks)

    def denies(self, first: int, last: int) -> bool:
        """Whether the author denies what the tokens from `first` up to `last` say."""
        triggers = self._triggers
        nearest = bisect_left(triggers, first - _REACH - AFTER_TRIGGER)
        if nearest == len(triggers) or triggers[nearest] >= last + _LAST_TRIGGER:
            return False
        opened = self._opened_before(first)
        if opened is not None and self._reaches(opened, first):
            return True
        if self._triggered(first - 3, first) and not _DIRECT.isdisjoint(self._tokens.words[max(0, first - 3) : first]):
            before = self._spell(first - 4, first + 1)
            if _DIRECTLY.search(without_exceptions(before.text[: before.places[-1]])):
                return True
        if not self._tokens.text.isascii() and self._denied_around(first, last):
            return True
        if not self._triggered(last, last + _LAST_TRIGGER):
            return False
        after = self._spell(last - 1, last + _LOOK_AHEAD)
        following = after.text[len(self._tokens.words[last - 1]) :]
        return _DENIED_AFTER.match(following) is not None

    def _opened_before(self, first: int) -> tuple[int, int] | None:
        """The last negation that may reach a token; only words near the token are looked at."""
        low = bisect_left(self._triggers, first - _REACH - AFTER_TRIGGER)
        high = bisect_right(self._triggers, first + BEFORE_TRIGGER, low)
        opened: tuple[int, int] | None = None
        for trigger in reversed(self._triggers[low:high]):
            # No negation ends further behind the word that makes it.
            if opened is not None and opened[1] > trigger + AFTER_TRIGGER:
                break
            for negation in self._negations(trigger):
                begins = negation[1]
                # A contrast that is over hides none of the denials before it.
                if (
                    begins <= first
                    and (opened is None or opened[1] <= begins)
                    and first < self._contrasts.get(negation, first + 1)
                ):
                    opened = negation
        return opened if opened is not None and first - opened[1] <= _REACH else None

    def _negations(self, trigger: int) -> tuple[tuple[int, int], ...]:
        found = self._opened.get(trigger)
        if found is None:
            if self._tokens.words[trigger] not in CONTRAST_WORDS:
                found = find_negations(self._tokens, trigger, self._spell)
            elif contrast := self._contrast(trigger):
                begin, opened, end = contrast
                found = ((begin, opened),)
                self._contrasts[begin, opened] = end
            else:
                found = ()
            self._opened[trigger] = found
        return found

    def _contrast(self, trigger: int) -> tuple[int, int, int] | None:
        # Few texts set themselves apart, and a start of the program should not pay for the others.
        from qiongli.signals._contrast import find_contrast

        return find_contrast(self._tokens, trigger, self._spell)

    def _reaches(self, negation: tuple[int, int], first: int) -> bool:
        """Whether nothing between the end of a negation and a token ends its reach."""
        if negation in self._contrasts:
            return True
        begin, opened = negation
        known = self._following.get(negation)
        if known is None:
            # With the negation's last token, so that what stands directly behind it counts.
            following = self._spell(opened - 1, opened + _REACH + 1)
            own = len(self._tokens.words[opened - 1])
            words = " ".join(self._tokens.words[begin:opened])
            if self._many:
                reach = _known_reach(self._before(begin), words, following.text[own:])
            else:
                reach = _reach_of(lambda: self._before(begin), words, following.text[own:])
            known = self._following[negation] = following, own + reach
        following, end = known
        return following.places[first - opened + 1] < end

    def _before(self, begin: int) -> str:
        """The words before a negation; `_` stands for what is out of sight."""
        context = self._spell(begin - _BEFORE_NEGATION, begin + 1)
        before = context.text[: context.places[-1]]
        return f"_ {before}" if context.low else before

    def _denied_around(self, first: int, last: int) -> bool:
        """Whether the words on both sides of a Chinese match deny it together."""
        if not self._triggered(first - _LOOK_BACK, last + _LAST_TRIGGER):
            return False
        after = self._spell(last - 1, last + _LOOK_AHEAD)
        following = after.text[len(self._tokens.words[last - 1]) :]
        if following[:1].isascii():
            return False
        context = self._spell(first - _LOOK_BACK, first + 1)
        before = context.text[: context.places[-1]]
        return any(behind.match(following) and ahead.search(before) for ahead, behind in _AROUND)

    def _triggered(self, low: int, high: int) -> bool:
        """Whether a word that can be part of a negation is among some tokens."""
        place = bisect_left(self._triggers, low)
        return place < len(self._triggers) and self._triggers[place] < high

    def reports(self, first: int, last: int) -> bool:
        """Whether the tokens are part of somebody else's speech, however much of it they are."""
        start, end = self._tokens.starts[first], self._tokens.ends[last - 1]
        return self._quotations.covers(start, end) or self._blocks.covers(start, end)

    def quotes(self, first: int, last: int) -> bool:
        """Whether the tokens are a minor part of somebody else's speech, or stand in a block quotation.

        What makes up at least half of a quotation is a term in inverted commas, and stays the author's.
        """
        if not self._quoting:
            return False
        start, end = self._tokens.starts[first], self._tokens.ends[last - 1]
        if self._blocks.covers(start, end):
            return True
        # None of them is long, so that few have to be looked at.
        return any(2 * (last - first) < size for _, _, size in self._quotations.covering(start, end))


def _triggers_in(words: Sequence[str]) -> list[int]:
    """The places of words that can be part of a negation."""
    if _TRIGGERS.isdisjoint(words):
        return []
    return [
        place
        for place, word in enumerate(words)
        if word in _TRIGGERS
        and (word not in CONTRAST_WORDS or _goes_on(words, place))
        # Most declines are not the author's.
        and (word not in AUTHORS_NEGATIONS or not SPEAKERS.isdisjoint(words[max(0, place - BEFORE_TRIGGER) : place]))
    ]


def _goes_on(words: Sequence[str], place: int) -> bool:
    """Whether a word of contrast has the word behind it that it needs; all others need none."""
    needed = CONTRAST_WORDS.get(words[place])
    return needed is None or not needed[1].isdisjoint(words[place + 1 : place + 1 + needed[0]])


@lru_cache(maxsize=256)
def _known_reach(before: str, negation: str, following: str) -> int:
    """The end of reach, for texts that say the same many times."""
    return _reach_of(lambda: before, negation, following)


def _reach_of(before: Callable[[], str], negation: str, following: str) -> int:
    # As with contrasts: most texts deny nothing that matched.
    from qiongli.signals._reach import end_of_reach

    return end_of_reach(before, negation, following)
