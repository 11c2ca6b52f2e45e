"""What authors set their own work apart from: "unlike asset pricing papers that rely on CRSP, we observe traders".

Only work is set apart here. "In contrast to bonds, stocks earn a premium" is a finding about bonds, too, and "realised
returns differ from expected returns" one about both. So what stands in contrast must be a body of work, or the author
must be the one who differs.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from qiongli.document import Tokens, is_ideograph
from qiongli.patterns import LazyPattern
from qiongli.signals._clause_text import Spelling
from qiongli.signals._reach import end_of_reach, has_finite_verb

#: How many tokens before and after such a word belong to what is looked at.
_BEFORE: Final = 24
_AFTER: Final = 36
#: The same for the words that make the contrast.
_NEAR: Final = 6

#: What says that others have worked on something.
_BODIES: Final = (
    r"(?:literatures?|studies|papers?|research|articles|scholarship|works|monographs|dissertations|theses|"
    r"researchers|scholars|economists|academics|theorists|textbooks|scholarly traditions?|(?:prior|previous|existing|"
    r"earlier|past|recent|related|extant|most|much|other|empirical|theoretical|quantitative|academic) work|"
    r"work (?:in|on))"
)
#: The same in the author's contrast only: "unlike single-product models, surplus may be lower" is a finding.
_WAYS: Final = (
    r"(?:models?|approach|approaches|methods?|methodology|methodologies|theory|theories|frameworks?|paradigms?|"
    r"traditions?|analysis|analyses|investigations?|tests|accounts|perspectives?|schools?|fields?|disciplines?)"
)
#: What may stand before these: no other noun phrase can end in between.
_PHRASE: Final = (
    r"^ (?:(?!(?:that|which|who|whom|whose|when|where|in|by|with|for|at|from|under|than|is|are|was|were|has|have|as|"
    r"because|our|my|similar)\b)\w+(?: ,)? ){0,8}?"
)
_BODY: Final = LazyPattern(rf"{_PHRASE}{_BODIES}\b")
_BODY_OR_WAY: Final = LazyPattern(rf"{_PHRASE}(?:{_BODIES}|{_WAYS})\b")

#: The work itself, as its author calls it.
_WORK: Final = (
    r"(?:paper|study|article|research|work|project|thesis|dissertation|essay|chapter|book|proposal|manuscript|"
    r"ethnography|fieldwork|inquiry|enquiry|investigation|monograph|case|cases|focus|question|questions|topic|"
    r"subject|interest|interviews|argument|review|account|aim|informants|participants|respondents|site|concern)"
)
_OWN_WORK: Final = rf"(?:this|our|my|the (?:present|current)) (?:\w+ ){{0,2}}?{_WORK}"
#: How the author works: "unlike X, our approach allows for Y" compares two ways to do the same.
_OWN_WAY: Final = (
    r"(?:our|this|my) (?:\w+ ){0,2}?(?:models?|methods?|approach|approaches|framework|theory|estimators?|tests?|"
    r"analysis|analyses|design|strategy|measures?|procedure|results?|findings?|estimates?|evidence)"
)
#: Verbs of findings. Behind "contrary to" these contradict others about the same matter.
_FINDING: Final = (
    r"(?:find|finds|found|show|shows|showed|document|documents|report|reports|argue|argues|conclude|concludes|"
    r"demonstrate|demonstrates|suggest|suggests|posit|posits|propose|proposes|provide|provides|predict|predicts|"
    r"reveal|reveals|uncover|uncovers|estimate|estimates|can|cannot|do not|does not)\b"
)
#: Verbs that say what the author works on.
_STUDYING: Final = (
    r"(?:study|studied|examine|examined|investigate|investigated|explore|explored|analy[sz]e|analy[sz]ed|look|looked|"
    r"observe|observed|interview|interviewed|follow|followed|focus|focused|read|describe|described|trace|traced|ask|"
    r"asked|listen|listened|watch|watched|conduct|conducted|use|used|employ|employed|collect|collected|draw|drew|"
    r"rely|relied|work|worked|attend|attended|reconstruct|reconstructed|record|recorded|write|turn|turned|concern|"
    r"take|took|spent|run|ran|build|compare|compared|consider|code|coded)\b"
)
_ADVERBS: Final = r"(?:(?:\w+ly|also|thus|therefore|here|instead|then) ){0,2}"
#: The author's clause behind what stands in contrast.
_AUTHOR_FOLLOWS: Final = LazyPattern(
    rf" , (?:(?:here|instead|then|in this (?:paper|study|article|chapter|work)) (?:, )?)?"
    rf"(?:(?:we|i) {_ADVERBS}(?:(?P<finding>{_FINDING})|(?P<studying>{_STUDYING}))?|(?P<way>{_OWN_WAY}\b)|"
    rf"(?P<work>{_OWN_WORK}\b)(?: {_ADVERBS}(?P<finds>{_FINDING}))?|(?P<our>our|my|ours) )"
)
#: The author's clause before it.
_AUTHOR_BEFORE: Final = LazyPattern(rf"\b(?:we|i) {_ADVERBS}{_STUDYING}|\b{_OWN_WORK}\b")
#: Results that contradict those of others are about the same matter.
_RESULTS: Final = LazyPattern(r"\b(?:results?|findings?|evidence|estimates?|conclusions?)\b")
#: What tells in which respect the author differs, and is the author's own.
_RESPECT: Final = LazyPattern(
    r" (?:in (?:that|its|their|our|how|what|one|two|three|several|some|many|at least)|by \w+ing)\b"
)
#: Clauses of what stands in contrast, not of the author.
_RELATIVES: Final = (" which", " who", " whose", " that")
_OWN_WAY_BEGINS: Final = LazyPattern(rf"{_OWN_WAY}\b")
#: Where a sentence ends; brackets do not.
_SENTENCE_END: Final = LazyPattern(r" ?[;!?.\n]")
_SENTENCE: Final = LazyPattern(r"^.*[;!?.\n] ?", re.DOTALL)

#: Contrasts that are prepositions: what stands behind them is compared with a clause.
_APART: Final = LazyPattern(
    r"(?:\b(?P<unlike>(?<!not )unlike|(?:in|by|as an?) (?:\w+ ){0,2}contrast (?:to|with)|"
    r"(?:as contrasted|contrasting) (?:to|with)|"
    r"(?P<contrary>contrary to)|(?:in|as) (?:an? )?(?:\w+ )?departure from|"
    r"(?:departing|differing|diverging|deviating) (?:\w+ly )?from|"
    r"(?:beyond|outside|outside of|out of) (?:the )?(?:\w+ )?(?:realms?|confines|purview) of)"
    r"|(?:^|[,;.!?\n] )(?:\w+ly )?(?P<front>(?:different|distinct) from)"
    r"|\b(?P<always>as distinct from))\b"
)
#: Contrasts of which the author is the subject.
_OWN_VERB: Final = (
    r"(?:(?:depart|differ|diverge|deviate)(?:s|d|ed)? (?:\w+ly )?from|"
    r"(?:is|are|was|were) (?:\w+ly )?(?:different|distinct|distinguished) from|"
    r"(?:lies?|falls?|stands?|moves?|goes|go|is|are) (?:\w+ )?(?:beyond|outside|outside of) (?:the )?(?:\w+ )?"
    r"(?:realms?|confines|purview) of|"
    r"(?:has|have|had) (?:no|little|scant|only little) (?:\w+ )?bearing (?:up)?on|"
    r"(?:is|are|was|were|am) (?:\w+ly |largely )?unrelated to|"
    r"(?:has|have|had) (?:\w+ly |very )?(?:little|nothing) (?:at all )?to do with)"
)
_SETS_APART: Final = LazyPattern(
    rf"(?:\b(?P<author>(?:we|i|ours|{_OWN_WORK}|(?:this|the) (?:paper|study|article|thesis|dissertation)) "
    rf"(?:\w+ly |also |thus |therefore |here )?{_OWN_VERB})"
    r"|\b(?P<it>(?:this|it|that|which) (?:(?:is|was) (?:\w+ly )?unrelated to|"
    r"(?:has|had) (?:\w+ly |very )?(?:little|nothing) to do with))"
    # "Our bees differ from asset pricing models", but not "our results differ from those of other papers".
    rf"|\b(?P<ours>(?:our|this) (?!(?:\w+ )?(?:results?|findings?|estimates?|evidence|conclusions?|numbers)\b)"
    rf"(?:\w+ ){{0,2}}{_OWN_VERB}))\b"
)

#: In Chinese, what others have worked on.
_CHINESE_BODY: Final = LazyPattern(r"研究|文献|论文|著作|学者|学界|传统|学派|范式|分析框架")
_CHINESE_AUTHOR: Final = r"(?:本文|本研究|本论文|本课题|本项目|我们|笔者|作者|本书)"
_CHINESE_APART: Final = LazyPattern(r"(?:(?<!没)有别于|区别于|(?<!无)不同于|(?P<with>[与和]))")
_CHINESE_BEHIND: Final = LazyPattern(
    rf"^(?P<what>[^,.;!?\n]{{0,40}}?)(?P<not>(?:截然|完全|明显|有所|根本)?不同(?!的\w*(?:资产|企业|市场))|相异|相区别)"
    rf"(?:之处在于|的是|在于)?(?: ?, ?(?P<author>{_CHINESE_AUTHOR}))?"
)
_CHINESE_CLAUSE: Final = LazyPattern(rf"^(?P<what>[^,.;!?\n]{{0,40}})(?: ?, ?(?P<author>{_CHINESE_AUTHOR}))?")
_CHINESE_BEFORE: Final = LazyPattern(rf"{_CHINESE_AUTHOR}[^,.;!?\n]{{0,6}}$")


def find_contrast(tokens: Tokens, trigger: int, spell: Spelling) -> tuple[int, int, int] | None:
    """The contrast around one of `CONTRAST_WORDS` in which the author's work is set apart from something, if any.

    For it: its first token, the first token of what stands in contrast, and the first one beyond that. `spell` makes
    the text of the tokens from one up to another.
    """
    around = spell(trigger - _BEFORE, trigger + _AFTER)
    place = around.places[trigger - around.low]
    if is_ideograph(tokens.words[trigger][0]):
        found = _in_chinese(around.text, place)
    else:
        near = around.places[max(0, trigger - around.low - _NEAR)]
        far = around.places[min(trigger - around.low + _NEAR, len(around.places) - 1)]
        found = _in_english(around.text, place, near, far)
    if found is None:
        return None
    begin, opened, end = found
    return around.token_at(begin), around.token_at(opened), around.token_at(end)


@lru_cache(maxsize=256)
def _in_english(text: str, place: int, near: int, far: int) -> tuple[int, int, int] | None:
    """The offsets of a contrast, of what stands in it and of its end, for the word of contrast at `place`.

    The contrast's own words are between `near` and `far`.
    """
    for pattern in (_SETS_APART, _APART):
        for found in pattern.compiled.finditer(text, near, far):
            if found.start() <= place < found.end():
                reach = _reach(found, text[: found.start()], text[found.end() :])
                if reach != -1:
                    return found.start(), found.end(), found.end() + reach
    return None


def _reach(found: re.Match[str], ahead: str, following: str) -> int:
    groups = found.groupdict()
    stop = _SENTENCE_END.search(following)
    sentence = following if stop is None else following[: stop.start()]
    if "author" in groups:
        own_way = _OWN_WAY_BEGINS.match(found.group()) is not None
        if groups["author"] or groups["it"] or (_BODY if own_way else _BODY_OR_WAY).match(sentence):
            return _end(found.group(), ahead, following)
        return -1
    if groups["always"]:
        return _end("unlike", ahead, following)
    return _of_clause(following, sentence, ahead, contrary=groups["contrary"] is not None)


def _end(negation: str, ahead: str, following: str) -> int:
    end = end_of_reach(lambda: ahead, negation, following)
    respect = _RESPECT.search(following, 0, end)
    return end if respect is None else respect.start()


def _of_clause(following: str, sentence: str, ahead: str, *, contrary: bool) -> int:
    """Where a contrast with a clause ends in the words that follow it, or -1 when it is none of the author's."""
    body = _BODY.match(sentence) is not None
    way = body or _BODY_OR_WAY.match(sentence) is not None
    found = _AUTHOR_FOLLOWS.search(sentence)
    if found is not None and _is_aside(sentence[: found.start()]):
        if contrary:
            apart = body and found["finding"] is None and found["finds"] is None
        else:
            apart = body or bool(found["studying"] or found["work"] or (way and found["our"]))
        return found.start() if apart else -1
    ahead = _SENTENCE.sub("", ahead)
    if contrary or _RESULTS.search(ahead):
        return -1
    if body or (way and _AUTHOR_BEFORE.search(ahead)):
        return _end("unlike", ahead, following)
    return -1


def _is_aside(text: str) -> bool:
    """Whether no clause stands in what is between a contrast and the author's own clause but those of "which"."""
    parts = text.split(" ,")[1:]
    return not any(has_finite_verb(part) for part in parts if not part.startswith(_RELATIVES))


@lru_cache(maxsize=256)
def _in_chinese(text: str, place: int) -> tuple[int, int, int] | None:
    for found in _CHINESE_APART.compiled.finditer(text, max(0, place - 2), place + 3):
        if found.start() <= place < found.end():
            following = text[found.end() :]
            behind = (_CHINESE_BEHIND if found["with"] else _CHINESE_CLAUSE).match(following)
            if behind is not None and (
                _CHINESE_BODY.search(behind["what"])
                or behind["author"]
                or _CHINESE_BEFORE.search(text[: found.start()])
            ):
                return found.start(), found.end(), found.end() + behind.end("what")
    return None
