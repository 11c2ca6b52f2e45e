"""The forms of negations in English and Chinese, and where in a text they stand."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from qiongli.document import Tokens
from qiongli.patterns import LazyPattern
from qiongli.signals._clause_text import Spelling

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
DONE: Final = (
    r"(?:used|employed|applied|adopted|run|conducted|performed|implemented|estimated|studied|examined|considered|"
    r"needed|required|involved|included|relevant|applicable|apply|pursued|exploited|attempted|available|part|our|what|"
    r"the (?:topic|subject|focus|method|point|question|aim|concern|issue)|(?:something|anything) (?:we|i|that))"
)
DO_NOT: Final = (
    r"(?:(?:do|does|did|will|would|can|could|should|shall|may|might|must|need) not|cannot|dont|doesnt|didnt|wont|cant|"
    r"(?:don|doesn|didn|won|wouldn|can|couldn|shouldn|shan|mustn|needn|mightn) t)"
)
BE_NOT: Final = r"(?:(?:is|are|was|were|am|be|being) not|(?:isn|aren|wasn|weren) t|isnt|arent|wasnt)"
HAVE_NOT: Final = r"(?:(?:has|have|had) not|(?:hasn|haven|hadn) t)"
#: What speaks of the work itself.
_WORKS: Final = (
    *("paper", "study", "article", "research", "work", "project", "thesis", "dissertation", "essay", "chapter"),
    *("proposal", "manuscript", "draft", "analysis", "author", "authors"),
)
WORK: Final = f"(?:{'|'.join(_WORKS)})"
_AUTHOR: Final = rf"(?:we|i|{WORK})"
_WE: Final = rf"(?:we|i|they|it|this {WORK}|the {WORK})"
#: Of these a sentence says what the work is not; "beta is not a measure of risk" is a finding.
SUBJECT: Final = (
    rf"(?:this|it|that|these|here|there|we|i|ours|mine|{WORK}|analyses|designs?|methods?|approach|strategy|exercise|"
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
    rf"\b(?:{DO_NOT} {_BETWEEN}(?:{_USING}|be {_USING_NOW})\b"
    rf"|{BE_NOT} {_BETWEEN}{_USING_NOW}\b"
    r"|(?:not|never|cannot|t) (?:to )?be (?:confused|conflated|mistaken) (?:with|for)\b"
    rf"|(?P<is_not>{BE_NOT}) (?=(?:an?|the|any|our|another)\b)"
    rf"|{BE_NOT} {_BETWEEN}(?=(?:about|based|concerned|interested|related|using|in|for|meant)\b)"
    rf"|(?P<does_not>{DO_NOT}) {_BETWEEN}engage\b"
    rf"|{HAVE_NOT} (?:been )?{DONE}\b"
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
_SUBJECTS: Final = {"is_not": LazyPattern(rf"\b{SUBJECT} $"), "does_not": LazyPattern(rf"\b{_AUTHOR} $")}
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
AUTHORS_NEGATIONS: Final = frozenset(_AUTHORS_WORDS)
#: One of these stands before such a word.
SPEAKERS: Final = frozenset({"we", "i", "this", "it", "that", "which", *_WORKS, "has", "have", "had", "is", "was"})
#: By the word that makes a negation looked for, what it is looked for with; with `_NEGATION` for all others.
NEGATIONS: Final = {"none": _NONE} | dict.fromkeys(_AUTHORS_WORDS, _AUTHORS_NEGATION)
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
#: How many tokens before and after a word that can be part of a negation the rest of it may stand.
BEFORE_TRIGGER: Final = 2
AFTER_TRIGGER: Final = 7


def find_negations(tokens: Tokens, trigger: int, spell: Spelling) -> tuple[tuple[int, int], ...]:
    """The first token and one past the last one of each negation around a word which can be part of one."""
    ascii_only = tokens.text.isascii()
    # Chinese needs more before it, because its tokens are shorter.
    before = BEFORE_TRIGGER if ascii_only else 2 * BEFORE_TRIGGER
    pattern = NEGATIONS.get(tokens.words[trigger], _NEGATION)
    after = 5 if ascii_only and pattern is _NEGATION else AFTER_TRIGGER
    around = spell(trigger - before, trigger + after)
    found = _negations_in(around.text, pattern)
    return tuple([(around.token_at(start), around.token_at(end)) for start, end in found]) if found else ()


@lru_cache(maxsize=256)
def _negations_in(around: str, pattern: LazyPattern) -> tuple[tuple[int, int], ...]:
    # Without the exceptions there is no more to find than with them.
    if not pattern.search(around):
        return ()
    text = without_exceptions(around)
    found = []
    for match in pattern.finditer(text):
        subject = _SUBJECTS.get(match.lastgroup or "")
        if subject is None or subject.search(text[: match.start()]):
            found.append(match.span())
    return tuple(found)


def without_exceptions(text: str) -> str:
    return _EXCEPTION.sub(lambda match: "_" * len(match.group()), text)
