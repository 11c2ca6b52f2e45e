"""Whether the words around a match assert it, deny it or quote it; in English and Chinese.

Denied is what the author says not to do or not to be about: "we do not use an event study", "without stock returns",
"an event study is not used". A finding stated in the negative keeps its topic: "we find no evidence of momentum" is
about momentum. A negation reaches through an enumeration ("no X, Y or Z") to the end of its clause: to `;`, `.`, `!`,
`?`, a bracket or a paragraph's end, to a word of contrast, to a new subject with its verb, and in Chinese to a comma.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Any, Final

from qiongli.document import Tokens, is_ideograph
from qiongli.patterns import LazyPattern
from qiongli.signals._clause_text import ClauseText, clause_text
from qiongli.signals._intervals import Intervals

#: Verbs that say what a study does or is about. "Does not affect stock returns" is no denial of stock returns.
_USING: Final = (
    r"(?:use|uses|employ|employs|apply|applies|adopt|adopts|run|runs|conduct|conducts|perform|performs|implement|"
    r"implements|rely|relies|draw|draws|exploit|exploits|estimate|estimates|study|studies|examine|examines|analy[sz]e|"
    r"analy[sz]es|investigate|investigates|consider|considers|address|addresses|concern|concerns|involve|involves|"
    r"discuss|discusses|cover|covers|include|includes|need|needs|require|requires|have|contain|contains|look|looks|want|"
    r"plan|plans|intend|intends|attempt|attempts|aim|aims|deal|deals|belong|belongs|focus|focuses|report|reports|"
    r"compute|computes|make|makes|invoke|invokes|pursue|pursues|utili[sz]e|utili[sz]es|build|builds|construct|constructs|"
    r"do|undertake|undertakes|propose|proposes|present|presents|develop|develops|test|tests|explore|explores|mention|"
    r"mentions|collect|collects|carry out|carries out|touch on|touch upon)"
)
#: The same in progress.
_USING_NOW: Final = (
    r"(?:using|employing|applying|adopting|running|conducting|performing|doing|implementing|relying|drawing|estimating|"
    r"studying|examining|analy[sz]ing|investigating|considering|discussing|reporting|building|constructing|testing|"
    r"exploring|collecting|going to|planning to|trying to|about to)"
)
#: The same, done with in the author's voice or in the passive.
_USED: Final = (
    r"(?:used|employed|applied|adopted|ran|run|conducted|performed|implemented|estimated|relied|examined|studied)"
)
#: Words that may stand between a negation and its verb: "do not therefore use", "do not, in this paper, use".
_BETWEEN: Final = (
    r"(?:(?:\w+ly|also|even|ever|here|thus|then|therefore|however|instead|yet|at all|in this \w+|"
    r", (?:\w+ ){1,3},) ){0,2}"
)
_DONE: Final = (
    r"(?:used|employed|applied|adopted|run|conducted|performed|implemented|estimated|studied|examined|considered|"
    r"needed|required|involved|included|relevant|applicable|apply|pursued|exploited|attempted|available|part|our|what|"
    r"the (?:topic|subject|focus|method|point|question|aim|concern|issue)|(?:something|anything) (?:we|i|that))"
)
_DO_NOT: Final = (
    r"(?:(?:do|does|did|will|would|can|could|should|shall|may|might|must|need) not|cannot|dont|doesnt|didnt|wont|cant|"
    r"(?:don|doesn|didn|won|wouldn|can|couldn|shouldn|shan|mustn|needn|mightn) t)"
)
_BE_NOT: Final = r"(?:(?:is|are|was|were|am|be|being) not|(?:isn|aren|wasn|weren) t|isnt|arent|wasnt)"
_HAVE_NOT: Final = r"(?:(?:has|have|had) not|(?:hasn|haven|hadn) t)"
#: After these, "no" speaks of a finding or is a turn of phrase.
_NO_FINDING: Final = (
    r"(?:doubt|evidence|effects?|significant|significantly|statistically|relation|relationship|differences?|impact|"
    r"association|systematic|clear|changes?|less|fewer|sooner|matter|one|other|more|better|support|response|role|"
    r"correlation|arbitrage|longer|discernible|detectable|measurable|meaningful|economically|reason|consensus|"
    r"predictability|sign|signs|indication|need|guarantee|"
    # What others have not done is what the author now does.
    r"prior|previous|earlier|existing|extant|published|recent|papers?|authors?|researchers?|scholars?|literature)\b"
)
#: All alternatives in English begin with a word, and asking for that once is several times as fast as in each of them.
_NEGATION: Final = LazyPattern(
    rf"\b(?:{_DO_NOT} {_BETWEEN}(?:{_USING}|be {_USING_NOW})\b"
    rf"|{_BE_NOT} {_BETWEEN}{_USING_NOW}\b"
    rf"|{_BE_NOT} (?=(?:an?|the|about|based|concerned|related|using|any|in|for|meant|our|another)\b)"
    rf"|{_HAVE_NOT} (?:been )?{_DONE}\b"
    r"|not (?=(?:an?|the|using|about|based|via|through|with|any|another|by means of)\b)"
    rf"|not to {_USING}\b|never {_USING}\b|never (?:been )?{_USED}\b|never (?=(?:an?|any)\b)"
    r"|nowhere (?:do|does|did|will|have|has)(?: (?:we|i|they))?\b"
    r"|(?:decid|opt|vot)(?:e|es|ed|ing|s)? against\b|(?:chose|chosen|choose) against\b"
    r"|(?:steer|steers|steered|stay|stays|stayed|keep|keeps|kept) (?:clear|away) (?:of|from)\b"
    rf"|no longer (?:{_USING}|using|rely|relying)\b|stop(?:ped)? using\b"
    r"|(?:rather than|instead of|as opposed to|in place of|in lieu of|in the absence of)\b"
    r"|without\b|neither\b|nor\b|lack(?:s|ing)? an?\b"
    r"|(?:avoid|avoids|avoided|avoiding|refrains? from|refrained from|abstain(?:s|ed)? from|devoid of|free of|"
    r"dispense with|dispenses with)\b"
    rf"|(?:no|not any) (?!{_NO_FINDING}))"
    r"|(?:并?不(?:再|会|想|愿|需要?|打算|准备)?|未(?:曾|能)?|没有?|无意|无需|毋须|避免|放弃|拒绝)"
    r"(?:使用|采用|采取|运用|利用|应用|依赖|涉及|讨论|研究|考虑|关注|构建|估计|属于|包含|包括|借助|引入|进行|分析|做|用)"
    r"|并非|不是|而非|不属于?|而不是|无关"
)
_EXCEPTION: Final = LazyPattern(
    r"\b(?:not (?:only|just|merely|simply|solely|least|surprisingly|necessarily|exclusively|to mention|unlike|"
    r"without)\b"
    r"|(?:or|if|why|whether) not\b|not avoid\b|never without\b"
    r"|(?:cannot|can not|can t|could not|couldn t) (?:be )?(?:rule|ruled|reject|rejected|exclude|excluded|ignore|"
    r"ignored|deny|denied|avoid|help|overlook|do without)\b"
    r"|without (?:loss|doubt|question|exception)\b|not (?:to )?(?:avoid|neglect|ignore|overlook)\b"
    r"|no (?:\w+ )?(?:other|better) (?:\w+ )?than\b)"
    r"|不仅|不但|不只|不得不|不无|不单|不可避免|不可忽视|不能忽视|不能排除|无法排除"
)
#: Directly before a match, bare words suffice: "this is not asset pricing", "没有双重差分".
_DIRECTLY: Final = LazyPattern(
    r"(?:^|[^\w])not (?:primarily |mainly |really |strictly )?$"
    r"|(?:没有|不含|无|不用|不做|(?:本文|本研究|这|绝|均)非) ?$"
)
_END_OF_REACH: Final = LazyPattern(
    r"[;!?.\n()\[\]]|(?:^| ): "
    r"|[\u3040-\u30ff\u3400-\u9fff] ,|, [\u3040-\u30ff\u3400-\u9fff]"
    r"|\b(?:but|however|yet|whereas|although|though|while|because|instead(?! of)|rather(?! than))\b"
    r"|, (?:and |so |then )?(?:we|this|it|they|i|our|the (?:paper|study|authors?|article|analysis))\b"
    r"|\band (?:we|this|it|they|i)\b"
    r"|(?<!that )(?<!which )(?<!what )(?<!do )(?<!did )(?<!will )(?<!can )\bwe (?:use|run|employ|conduct|apply|"
    r"estimate|rely|exploit|implement|perform)\b"
    r"|但|而是|不过|然而"
)
#: A new subject with its verb: "without controls, the event study shows a jump". The verb stands behind the match.
_NEW_CLAUSE: Final = LazyPattern(
    r", (?:the|our|an?|these|those|each)(?: \w+){1,5}? (?:is|are|was|were|has|have|had|can|will|would|could|does|do|"
    r"did|shows?|showed|reveals?|finds?|yields?|gives?|becomes?|suggests?|indicates?|remains?|covers?|uses?)\b"
)
#: How many tokens before and after a word that can be part of a negation the rest of it may stand.
_BEFORE_TRIGGER: Final = 2
_AFTER_TRIGGER: Final = 7
#: How many tokens a negation may stand before what it denies.
_REACH: Final = 30

_DENIED_AFTER: Final = LazyPattern(
    rf"^(?: \( \w+ \))?(?: \w+){{0,3}}?(?: {_BE_NOT}| {_HAVE_NOT}| {_DO_NOT}| (?:is|are|was|were) \w+ly not)"
    rf"(?: be| been)?(?: (?!(?:on|mere|simp|sole|necessari|exclusive)ly\b)\w+ly)? {_DONE}\b"
    r"|^(?: \w+){0,3}? (?:is|are|was|were) considered but (?:\w+ly )?(?:not|rejected)\b"
    r"|^(?: \w+){0,3}? (?:is|are|was|were|lies?|falls?|remains?) (?:\w+ )?(?:out of|beyond|outside) "
    r"(?:(?:the|our|its) )?(?:scope|remit)\b"
    r"|^(?: \w+){0,3}? (?:is|are) left (?:to|for) (?:future|later|others)\b"
    r"|^(?: \w+){0,3}? (?:is|are|was|were) never (?:used|employed|applied|run|conducted)\b"
    r"|^(?: \w+){0,3}? (?:plays?|has|have) no (?:place|part)\b"
    r"|^(?: ?\w)?(?:方法|法|模型|数据)?(?:未被|没有被|并未被?|不被|未)(?:使用|采用|考虑)"
    r"|^(?:方法|法|模型|数据)?(?:并不|不)适用|^(?:方法|法|模型|数据)?(?:不是|并非)(?:本文|我们)"
    r"|^(?:方法|法|模型|数据)?(?:不在|超出了?)(?:本文|本研究|我们)?的?(?:研究|讨论)?的?范围"
)
#: How many tokens after a match are looked at.
_LOOK_AHEAD: Final = 12
#: Of these, how many can hold the word that makes a negation: what stands before it in `_DENIED_AFTER` has at most
#: eight tokens, as in "lies squarely out of the scope" behind three of the match's own words.
_LAST_TRIGGER: Final = 9

#: Words of which every English negation has one, and characters of which every Chinese one has one.
_TRIGGERS: Final = frozenset(
    {
        *("not", "t", "no", "never", "without", "neither", "nor", "rather", "instead", "opposed", "place", "lieu"),
        *("avoid", "avoids", "avoided", "avoiding", "devoid", "free", "cannot", "absence", "dispense"),
        *("refrain", "refrains", "refrained", "abstain", "abstains", "abstained"),
        *("dispenses", "stop", "stopped", "lack", "lacks", "lacking", "against", "clear", "away", "nowhere"),
        *("scope", "remit", "left", "rejected"),
        *("dont", "doesnt", "didnt", "wont", "cant", "isnt", "arent", "wasnt"),
        *"不未没无毋并而避放拒超非",
    }
)

_PAIRS: Final = (("“", "”"), ("「", "」"), ("『", "』"), ("«", "»"), ("《", "》"), ("〈", "〉"), ("``", "''"))
_LOW_QUOTATION: Final = LazyPattern(r"„([^„“”]{0,2000})[“”]")
_BLOCK: Final = LazyPattern(r"^ {0,3}>[^\n]*$", re.MULTILINE)
#: Single marks are apostrophes too: what opens stands before a word and not behind one, what closes behind and not
#: before. The runs end at the next opening mark, so that they take linear time.
_SINGLE: Final = tuple(
    (
        opening,
        LazyPattern(
            rf"(?<![^\s(\[“\"—–-]){opening}(?=\w)(?!\d\ds\b)"
            rf"(?:[^{opening}{closing}\n]|\n(?![^\S\n]*\n)|(?<=\w){closing}(?=(?:s|t|re|ve|ll|d|m)\b|[A-Z])){{1,1998}}+"
            rf"(?<!\s){closing}(?!\w)"
        ),
    )
    for opening, closing in (("‘", "’"), ("'", "'"))
)
#: A quotation of fewer words than this is a term in inverted commas, not somebody's speech.
_SPEECH_WORDS: Final = 4
#: The same in Chinese, in characters.
_SPEECH_CHARACTERS: Final = 10
#: Characters beyond which an opening mark has no closing one.
_LONGEST_QUOTATION: Final = 2_000


#: What holds nothing.
_NOWHERE: Final = Intervals[Any](())


class Clauses:
    """The denials and quotations of one text, found once for all matches in it."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        #: The places of words that can be part of a negation.
        self._triggers = [] if _TRIGGERS.isdisjoint(tokens.words) else _places_of(tokens.words, _TRIGGERS)
        #: One past the last token of each negation, by the word that made it looked for.
        self._opened: dict[int, tuple[int, ...]] = {}
        #: For each negation of which a match stood in reach: what follows it, the length of its own last word in that
        #: text, and where the first end of its reach is over.
        self._following: dict[int, tuple[ClauseText, int, int]] = {}
        self._quotations = quotations(tokens)
        self._blocks = block_quotations(tokens.text)
        self._quoting = bool(self._quotations) or bool(self._blocks)

    def denies(self, first: int, last: int) -> bool:
        """Whether the author denies what the tokens from `first` up to `last` say."""
        triggers = self._triggers
        nearest = bisect_left(triggers, first - _REACH - _AFTER_TRIGGER)
        if nearest == len(triggers) or triggers[nearest] >= last + _LAST_TRIGGER:
            return False
        opened = self._opened_before(first)
        if opened is not None and self._reaches(opened, first):
            return True
        if self._triggered(first - 3, first):
            before = clause_text(self._tokens, first - 4, first + 1)
            if _DIRECTLY.search(_without_exceptions(before.text[: before.places[-1]])):
                return True
        if not self._triggered(last, last + _LAST_TRIGGER):
            return False
        after = clause_text(self._tokens, last - 1, last + _LOOK_AHEAD)
        return _DENIED_AFTER.match(after.text[len(self._tokens.words[last - 1]) :]) is not None

    def _opened_before(self, first: int) -> int | None:
        """Where the last negation that may reach a token opened; only words near the token are looked at."""
        low = bisect_left(self._triggers, first - _REACH - _AFTER_TRIGGER)
        high = bisect_right(self._triggers, first + _BEFORE_TRIGGER, low)
        opened = -1
        for trigger in self._triggers[low:high]:
            for end in self._ends(trigger):
                if opened < end <= first:
                    opened = end
        return opened if opened >= 0 and first - opened <= _REACH else None

    def _ends(self, trigger: int) -> tuple[int, ...]:
        ends = self._opened.get(trigger)
        if ends is None:
            ends = self._opened[trigger] = _negations(self._tokens, trigger)
        return ends

    def _reaches(self, opened: int, first: int) -> bool:
        """Whether nothing between the end of a negation and a token ends its reach."""
        known = self._following.get(opened)
        if known is None:
            # With the negation's last token, so that what stands directly behind it counts.
            following = clause_text(self._tokens, opened - 1, opened + _REACH + 1)
            own = len(self._tokens.words[opened - 1])
            end = _END_OF_REACH.search(following.text[own:])
            known = self._following[opened] = following, own, own + end.end() if end else len(following.text) + 1
        following, own, end_of_reach = known
        place = following.places[first - opened + 1]
        if end_of_reach <= place:
            return False
        # Only a comma before the match can open a clause that the match is in.
        comma = following.text.rfind(",", own, place)
        return comma == -1 or not _NEW_CLAUSE.match(following.text, comma)

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


def _without_exceptions(text: str) -> str:
    return _EXCEPTION.sub(lambda match: "_" * len(match.group()), text)


def _places_of(words: Sequence[str], wanted: frozenset[str]) -> list[int]:
    return [place for place, word in enumerate(words) if word in wanted]


def _negations(tokens: Tokens, trigger: int) -> tuple[int, ...]:
    """Where the reach of each negation begins that stands around a word which can be part of one."""
    after = 5 if tokens.text.isascii() else _AFTER_TRIGGER
    around = clause_text(tokens, trigger - _BEFORE_TRIGGER, trigger + after)
    # Without the exceptions there is no more to find than with them.
    if not _NEGATION.search(around.text):
        return ()
    return tuple(around.token_at(match.end()) for match in _NEGATION.finditer(_without_exceptions(around.text)))


def quotations(tokens: Tokens) -> Intervals[int]:
    """Ranges of the text in quotation marks that are speech, longer than a term, each with its number of tokens."""
    text = tokens.text
    spans: list[tuple[int, int]] = []
    if text.isascii() and '"' not in text and "'" not in text and "``" not in text:
        return _NOWHERE
    if "„" in text:
        # German quotations end with the mark that opens English ones, other languages' with the English closing one.
        text = _LOW_QUOTATION.sub(lambda match: f"“{match.group(1)}”", text)
    for opening, closing in _PAIRS:
        start = text.find(opening)
        while start != -1:
            end = text.find(closing, start + len(opening), start + _LONGEST_QUOTATION)
            if end != -1:
                spans.append((start, end + len(closing)))
            start = text.find(opening, start + 1 if end == -1 else end + 1)
    for mark, pattern in _SINGLE:
        if mark in text:
            spans += [match.span() for match in pattern.finditer(text)]
    for mark in ('"', "＂"):
        if mark in text:
            spans += _straight(text, mark)
    found = []
    for start, end in spans:
        first, last = bisect_right(tokens.starts, start - 1), bisect_right(tokens.starts, end - 1)
        if _is_speech(tokens.words[first:last]):
            found.append((start, end, last - first))
    return Intervals(found)


def block_quotations(text: str) -> Intervals[None]:
    """The lines of the block quotations of Markdown; they are quoted whole, whatever they say."""
    if ">" not in text:
        return _NOWHERE
    return Intervals((*match.span(), None) for match in _BLOCK.finditer(text))


def _straight(text: str, mark: str) -> list[tuple[int, int]]:
    """Pairs of straight marks; the first of a pair follows no letter or digit, as the sign for inches does."""
    spans = []
    marks = [match.start() for match in re.finditer(mark, text)]
    index = 0
    while index + 1 < len(marks):
        start, end = marks[index], marks[index + 1]
        opens = start == 0 or not text[start - 1].isalnum()
        if opens and end - start <= _LONGEST_QUOTATION and "\n\n" not in text[start:end]:
            spans.append((start, end + 1))
            index += 2
        else:
            index += 1
    return spans


def _is_speech(words: tuple[str, ...]) -> bool:
    characters = sum(1 for word in words if is_ideograph(word[0]))
    return len(words) - characters >= _SPEECH_WORDS or characters >= _SPEECH_CHARACTERS
