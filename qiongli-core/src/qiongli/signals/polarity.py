"""Whether the words around a match assert it, deny it or quote it; in English and Chinese.

Denied is what the author says not to do or not to be about: "we do not use an event study", "without stock returns",
"an event study is not used". A finding stated in the negative keeps its topic: "we find no evidence of momentum" is
about momentum. What a negation governs ends where `_reach` says.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Final

from qiongli.document import Tokens
from qiongli.patterns import LazyPattern
from qiongli.signals._clause_text import ClauseText, clause_text
from qiongli.signals._contrast import CONTRAST_WORDS, find_contrast
from qiongli.signals._reach import end_of_reach
from qiongli.signals.quotation import block_quotations, quotations

#: Verbs that say what a study does or is about. "Does not affect stock returns" is no denial of stock returns.
_USING: Final = (
    r"(?:use|uses|employ|employs|apply|applies|adopt|adopts|run|runs|conduct|conducts|perform|performs|implement|"
    r"implements|rely|relies|draw|draws|exploit|exploits|estimate|estimates|study|studies|examine|examines|analy[sz]e|"
    r"analy[sz]es|investigate|investigates|consider|considers|address|addresses|concern|concerns|involve|involves|"
    r"discuss|discusses|cover|covers|include|includes|need|needs|require|requires|have|contain|contains|look|looks|"
    r"want|"
    r"plan|plans|intend|intends|attempt|attempts|aim|aims|deal|deals|belong|belongs|focus|focuses|report|reports|"
    r"compute|computes|make|makes|invoke|invokes|pursue|pursues|utili[sz]e|utili[sz]es|build|builds|construct|"
    r"constructs|"
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
#: What speaks of the work itself.
_WORKS: Final = (
    *("paper", "study", "article", "research", "work", "project", "thesis", "dissertation", "essay", "chapter"),
    *("proposal", "manuscript", "draft", "analysis", "author", "authors"),
)
_WORK: Final = f"(?:{'|'.join(_WORKS)})"
_AUTHOR: Final = rf"(?:we|i|{_WORK})"
_WE: Final = rf"(?:we|i|they|it|this {_WORK}|the {_WORK})"
#: Of these a sentence says what the work is not; "beta is not a measure of risk" is a finding.
_SUBJECT: Final = (
    rf"(?:this|it|that|these|here|there|we|i|ours|mine|{_WORK}|analyses|designs?|methods?|approach|strategy|exercise|"
    r"topic|subject|focus|question|aim|goal|purpose|concern|interest|contribution|objective?|setting|framework|models?|"
    r"tests?|data|sample|point|what follows)"
)
#: What others have not done is what the author now does.
_OTHERS: Final = (
    r"(?:prior|previous|earlier|existing|extant|published|recent|papers?|authors?|researchers?|scholars?|literature)"
)
#: After these, "no" speaks of a finding or is a turn of phrase.
_NO_FINDING: Final = (
    r"(?:doubt|evidence|effects?|significant|significantly|statistically|relation|relationship|differences?|impact|"
    r"association|systematic|clear|changes?|less|fewer|sooner|matter|one|other|more|better|support|response|role|"
    r"(?:\w+ )?bearing|correlation|arbitrage|longer|discernible|detectable|measurable|meaningful|economically|reason|"
    r"consensus|"
    rf"predictability|sign|signs|indication|need|guarantee|{_OTHERS})\b"
)
#: All alternatives in English begin with a word, and asking for that once is several times as fast as in each of them.
_NEGATION: Final = LazyPattern(
    rf"\b(?:{_DO_NOT} {_BETWEEN}(?:{_USING}|be {_USING_NOW})\b"
    rf"|{_BE_NOT} {_BETWEEN}{_USING_NOW}\b"
    r"|(?:not|never|cannot|t) (?:to )?be (?:confused|conflated|mistaken) (?:with|for)\b"
    rf"|(?P<is_not>{_BE_NOT}) (?=(?:an?|the|any|our|another)\b)"
    rf"|{_BE_NOT} {_BETWEEN}(?=(?:about|based|concerned|interested|related|using|in|for|meant)\b)"
    rf"|(?P<does_not>{_DO_NOT}) {_BETWEEN}engage\b"
    rf"|{_HAVE_NOT} (?:been )?{_DONE}\b"
    r"|(?<!is )(?<!are )(?<!was )(?<!were )not (?=(?:an?|the|any|another)\b)"
    r"|not (?=(?:using|about|based|via|through|with|by means of)\b)"
    rf"|not to {_USING}\b|never {_USING}\b|never (?:been )?{_USED}\b|never (?=(?:an?|any)\b)"
    r"|nowhere (?:do|does|did|will|have|has)(?: (?:we|i|they))?\b"
    r"|(?:decid|opt|vot)(?:e|es|ed|ing|s)? against\b|(?:chose|chosen|choose) against\b"
    r"|(?:steer|steers|steered|stay|stays|stayed|keep|keeps|kept) (?:clear|away) (?:of|from)\b"
    rf"|no longer (?:{_USING}|using|rely|relying|interested in|concerned with)\b|stop(?:ped)? using\b"
    r"|(?:rather than|instead of|as opposed to|in place of|in lieu of|in the absence of)\b"
    rf"|nor (?:(?:do|does|did|will|would|can|could) {_WE} (?:\w+ly |also )?{_USING}|(?:have|has) {_WE} {_USED}|"
    rf"(?:is|are|was|were) {_WE} (?=(?:about|based|concerned|interested|related)\b))\b"
    r"|without\b|neither\b|nor\b|lack(?:s|ing)? an?\b"
    r"|(?:avoid|avoids|avoided|avoiding|refrains? from|refrained from|abstain(?:s|ed)? from|devoid of|free of|"
    r"dispense with|dispenses with)\b"
    rf"|(?<!find )(?<!finds )(?<!found )(?<!detect )(?<!detects )(?<!detected )(?<!observe )(?<!observed )(?<!uncover )"
    rf"(?:no|not any) (?!{_NO_FINDING}))"
    r"|(?:并?不(?:再|会|想|愿|需要?|打算|准备)?|未(?:曾|能)?|没有?|无意|无需|毋须|避免|放弃|拒绝)"
    r"(?:使用|采用|采取|运用|利用|应用|依赖|涉及|讨论|研究|考虑|关注|构建|估计|属于|包含|包括|借助|引入|进行|分析|做|"
    r"用)"
    r"|(?:本文|本研究|本论文|我们|作者|笔者)[\u4e00-\u9fff]{0,2}(?:放弃|舍弃|摒弃|弃用)了?"
    r"|并非|不是|而非|不属于?|而不是"
)
#: What the words before a group of `_NEGATION` must end with.
_SUBJECTS: Final = {"is_not": LazyPattern(rf"\b{_SUBJECT} $"), "does_not": LazyPattern(rf"\b{_AUTHOR} $")}
#: Words that deny in the author's mouth only: firms that forgo dividends are about dividends.
_AUTHORS_WORDS: Final = (
    *("eschew", "eschews", "eschewed", "omit", "omits", "omitted", "forgo", "forgoes"),
    *("forego", "foregoes", "forwent", "forewent", "shun", "shuns", "shunned", "abandon", "abandons", "abandoned"),
    *("abstract", "abstracts", "abstracted", "skip", "skips", "skipped", "drop", "drops", "dropped", "refuse"),
    *("refuses", "refused", "decline", "declines", "declined"),
)
_AUTHORS_NEGATION: Final = LazyPattern(
    rf"\b{_AUTHOR} (?:\w+ly |also |thus |therefore )?(?:(?:eschew(?:s|ed)?|"
    r"forgo(?:es)?|forego(?:es)?|fore?went|shun(?:s|ned)?|abandon(?:s|ed)?|abstract(?:s|ed)? (?:away )?from|"
    rf"(?:refuse|decline)[sd]? to {_USING})\b|(?:omit(?:s|ted)?|skip(?:s|ped)?|drop(?:s|ped)?) "
    r"(?=(?:an?|the|any|all)\b))"
)
_NONE: Final = LazyPattern(
    rf"\bnone of (?:(?:our|my)|(?:the|these|its)(?! {_OTHERS}| (?:\w+ )?{_OTHERS})) (?:\w+ ){{1,3}}?"
    rf"(?:{_USING}|{_USED}|(?:is|are|was|were) (?=(?:an?|about|based|concerned|related)\b))\b"
)
_AUTHORS_NEGATIONS: Final = frozenset(_AUTHORS_WORDS)
#: One of these stands before such a word.
_SPEAKERS: Final = frozenset({"we", "i", "this", "it", "that", "which", *_WORKS, "has", "have", "had", "is", "was"})
#: By the word that makes a negation looked for, what it is looked for with; with `_NEGATION` for all others.
_NEGATIONS: Final = {"none": _NONE} | dict.fromkeys(_AUTHORS_WORDS, _AUTHORS_NEGATION)
_EXCEPTION: Final = LazyPattern(
    r"\b(?:not (?:only|just|merely|simply|solely|least|surprisingly|necessarily|exclusively|to mention|unlike|"
    r"without)\b"
    r"|(?:or|if|why|whether) not\b|not avoid\b|never without\b"
    r"|(?:cannot|can not|can t|could not|couldn t) (?:be )?(?:rule|ruled|reject|rejected|exclude|excluded|ignore|"
    r"ignored|deny|denied|avoid|help|overlook|do without)\b"
    r"|without (?:which|whom)\b|without (?:(?:an?|any|further) )?(?:loss|doubt|question|exception|hesitation|"
    r"precedent|delay|ado|fail)\b"
    r"|with (?:and|or|versus|vs) without\b|not (?:an?|the|any) (?:\w+ly )?(?:case|surprise|surprising|coincidence|"
    r"mystery|secret|new|novel|trivial|easy|only|sole|first|same)\b|not (?:to )?(?:avoid|neglect|ignore|overlook)\b"
    r"|no (?:\w+ )?(?:other|better) (?:\w+ )?than\b)"
    r"|不仅|不但|不只|不得不|不无|不单|不可避免|不可忽视|不能忽视|不能排除|无法排除"
)
#: Directly before a match, bare words suffice: "this is not asset pricing", "没有双重差分".
_DIRECTLY: Final = LazyPattern(
    rf"(?:(?:^|[^\w]){_SUBJECT} (?:is|are|was|were) |(?<!\w)(?<!is )(?<!are )(?<!was )(?<!were ))"
    r"not (?:primarily |mainly |really |strictly )?$"
    r"|(?:没有|不含|无|不用|不做|(?:本文|本研究|这|绝|均)非) ?$"
)
#: Words and characters of which all of these have one.
_DIRECT: Final = frozenset({"not", *"没不无非"})
#: How many tokens before and after a word that can be part of a negation the rest of it may stand.
_BEFORE_TRIGGER: Final = 2
_AFTER_TRIGGER: Final = 7
#: How many tokens a negation may stand before what it denies.
_REACH: Final = 30
#: How many tokens before a negation tell what it is a part of.
_BEFORE_NEGATION: Final = 10

_DENIED_AFTER: Final = LazyPattern(
    rf"^(?: \( \w+ \))?(?: \w+){{0,3}}?(?: {_BE_NOT}| {_HAVE_NOT}| {_DO_NOT}| (?:is|are|was|were) \w+ly not)"
    rf"(?: be| been)?(?: (?!(?:on|mere|simp|sole|necessari|exclusive)ly\b)\w+ly)? {_DONE}\b"
    r"|^(?: \w+){0,3}? (?:is|are|was|were) considered but (?:\w+ly )?(?:not|rejected)\b"
    r"|^(?: \w+){0,3}? (?:is|are|was|were|lies?|falls?|remains?) (?:\w+ )?(?:out of|beyond|outside) "
    r"(?:(?:the|our|its) )?(?:scope|remit)\b"
    r"|^(?: \w+){0,3}? (?:is|are) left (?:to|for) (?:future|later|others)\b"
    r"|^(?: \w+){0,3}? (?:is|are|was|were) never (?:used|employed|applied|run|conducted)\b"
    r"|^(?: \w+){0,3}? (?:plays?|has|have) no (?:place|part)\b"
    rf"|^(?: \w+){{0,3}}?(?: , which)? (?:(?:is|are|was|were) (?:\w+ly )?unrelated to|(?:has|have|had) "
    rf"(?:nothing|little) to do with|(?:has|have|had) (?:no|little) bearing on) (?:this|our|my|the present) {_WORK}\b"
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
        *_NEGATIONS,
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
        if self._triggered(first - 3, first) and not _DIRECT.isdisjoint(self._tokens.words[max(0, first - 3) : first]):
            before = clause_text(self._tokens, first - 4, first + 1)
            if _DIRECTLY.search(_without_exceptions(before.text[: before.places[-1]])):
                return True
        if not self._tokens.text.isascii() and self._denied_around(first, last):
            return True
        if not self._triggered(last, last + _LAST_TRIGGER):
            return False
        after = clause_text(self._tokens, last - 1, last + _LOOK_AHEAD)
        following = after.text[len(self._tokens.words[last - 1]) :]
        return _DENIED_AFTER.match(following) is not None

    def _opened_before(self, first: int) -> tuple[int, int] | None:
        """The last negation that may reach a token; only words near the token are looked at."""
        low = bisect_left(self._triggers, first - _REACH - _AFTER_TRIGGER)
        high = bisect_right(self._triggers, first + _BEFORE_TRIGGER, low)
        opened: tuple[int, int] | None = None
        for trigger in self._triggers[low:high]:
            for negation in self._negations(trigger):
                # A contrast that is over hides none of the denials before it.
                begins = negation[1]
                if begins <= first < self._contrasts.get(negation, first + 1) and (
                    opened is None or opened[1] < begins
                ):
                    opened = negation
        return opened if opened is not None and first - opened[1] <= _REACH else None

    def _negations(self, trigger: int) -> tuple[tuple[int, int], ...]:
        found = self._opened.get(trigger)
        if found is None:
            if self._tokens.words[trigger] not in CONTRAST_WORDS:
                found = _negations(self._tokens, trigger)
            elif contrast := find_contrast(self._tokens, trigger):
                begin, opened, end = contrast
                found = ((begin, opened),)
                self._contrasts[begin, opened] = end
            else:
                found = ()
            self._opened[trigger] = found
        return found

    def _reaches(self, negation: tuple[int, int], first: int) -> bool:
        """Whether nothing between the end of a negation and a token ends its reach."""
        if negation in self._contrasts:
            return True
        begin, opened = negation
        known = self._following.get(negation)
        if known is None:
            # With the negation's last token, so that what stands directly behind it counts.
            following = clause_text(self._tokens, opened - 1, opened + _REACH + 1)
            own = len(self._tokens.words[opened - 1])
            words = " ".join(self._tokens.words[begin:opened])
            reach = end_of_reach(lambda: self._before(begin), words, following.text[own:])
            known = self._following[negation] = following, own + reach
        following, end = known
        return following.places[first - opened + 1] < end

    def _before(self, begin: int) -> str:
        """The words before a negation; `_` stands for what is out of sight."""
        context = clause_text(self._tokens, begin - _BEFORE_NEGATION, begin + 1)
        before = context.text[: context.places[-1]]
        return f"_ {before}" if context.low else before

    def _denied_around(self, first: int, last: int) -> bool:
        """Whether the words on both sides of a Chinese match deny it together."""
        if not self._triggered(first - _LOOK_BACK, last + _LAST_TRIGGER):
            return False
        after = clause_text(self._tokens, last - 1, last + _LOOK_AHEAD)
        following = after.text[len(self._tokens.words[last - 1]) :]
        if following[:1].isascii():
            return False
        context = clause_text(self._tokens, first - _LOOK_BACK, first + 1)
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


def _without_exceptions(text: str) -> str:
    return _EXCEPTION.sub(lambda match: "_" * len(match.group()), text)


def _triggers_in(words: Sequence[str]) -> list[int]:
    """The places of words that can be part of a negation."""
    if _TRIGGERS.isdisjoint(words):
        return []
    return [
        place
        for place, word in enumerate(words)
        if word in _TRIGGERS
        and _goes_on(words, place)
        # Most declines are not the author's.
        and (word not in _AUTHORS_NEGATIONS or not _SPEAKERS.isdisjoint(words[max(0, place - _BEFORE_TRIGGER) : place]))
    ]


def _goes_on(words: Sequence[str], place: int) -> bool:
    """Whether a word of contrast has the word behind it that it needs; all others need none."""
    needed = CONTRAST_WORDS.get(words[place])
    return needed is None or not needed[1].isdisjoint(words[place + 1 : place + 1 + needed[0]])


def _negations(tokens: Tokens, trigger: int) -> tuple[tuple[int, int], ...]:
    """The first token and one past the last one of each negation around a word which can be part of one."""
    ascii_only = tokens.text.isascii()
    # Chinese needs more before it, because its tokens are shorter.
    before = _BEFORE_TRIGGER if ascii_only else 2 * _BEFORE_TRIGGER
    pattern = _NEGATIONS.get(tokens.words[trigger], _NEGATION)
    after = 5 if ascii_only and pattern is _NEGATION else _AFTER_TRIGGER
    around = clause_text(tokens, trigger - before, trigger + after)
    # Without the exceptions there is no more to find than with them.
    if not pattern.search(around.text):
        return ()
    text = _without_exceptions(around.text)
    found = []
    for match in pattern.finditer(text):
        subject = _SUBJECTS.get(match.lastgroup or "")
        if subject is None or subject.search(text[: match.start()]):
            found.append((around.token_at(match.start()), around.token_at(match.end())))
    return tuple(found)
