"""How far a negation reaches: to the end of what it governs, which is less than its sentence.

"Firms without credit ratings have higher stock returns" denies the ratings, "Without short-sale constraints, stock
prices reflect news" the constraints, and "We do not use surveys, an event study, or stock returns" all three.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from qiongli.patterns import LazyPattern

#: Where a reach is over, whatever was negated.
_MARK: Final = LazyPattern(r"[;!?.\n()\[\]]|(?:^| ): ")
#: Behind a comma, and behind "and", these are the subjects of clauses of their own.
_SUBJECTS: Final = frozenset({"we", "this", "it", "they", "i"})
_WORKS: Final = frozenset({"paper", "study", "author", "authors", "article", "analysis"})
_WE_DO: Final = frozenset(
    {"use", "run", "employ", "conduct", "apply", "estimate", "rely", "exploit", "implement", "perform"}
)
_DOES: Final = frozenset(
    {"uses", "runs", "employs", "conducts", "applies", "estimates", "relies", "exploits", "implements", "performs"}
)
#: A negation with one of these denies an infinitive.
_NOT: Final = frozenset({"not", "t", "cannot", "never", "dont", "doesnt", "didnt", "wont", "cant", "to"})
#: Before "we use" these make it a part of something else: "what we use".
_BEFORE_WE: Final = frozenset({"that", "which", "what", "do", "did", "will", "can"})
_CHINESE_END: Final = LazyPattern(
    r"(?<=[\u3040-\u30ff\u3400-\u9fff]) ,|, [\u3040-\u30ff\u3400-\u9fff]|但|而是|不过|然而"
    # "When firms use no derivatives" is over with the Chinese word for "when"; 时 is also a part of other words.
    r"|(?<![实同及临定即适小准按暂历耗])时(?![间期代变序点滞效段常刻差区尚])|情况下|条件下|前提下|背景下|情形下|之后|以后"
)
#: In Chinese a relative clause stands before its noun; only these nouns, because 的 is also "of".
_CHINESE_RELATIVE: Final = LazyPattern(
    r"的(?=企业|公司|银行|厂商|机构|国家|地区|省份|城市|家庭|居民|农户|个体|个人|人|投资者|基金|行业|样本|组|市场)"
)
_CHINESE_AUTHOR: Final = LazyPattern(r"(?:本文|本研究|本论文|我们|笔者|作者)[^,.;!?\n]{0,6}$")

#: Verbs that are finite wherever they stand. Behind the modal ones, the next verb is theirs.
_MODAL: Final = frozenset(
    {
        *("can", "could", "will", "would", "may", "might", "must", "should", "shall", "do", "does", "did", "cannot"),
    }
)
_AUXILIARY: Final = frozenset({"have", "has", "had", "is", "are", "was", "were"})
#: Verbs of what is true of the world, in forms that are no nouns.
_OTHER_FINITE: Final = frozenset(
    {
        *("earns", "exhibits", "tends", "implies", "reflects", "chooses", "becomes", "remains", "seems", "appears"),
        *("enjoys", "suffers", "responds", "reacts", "generates", "reveals", "predicts", "explains", "affects"),
        *("improves", "reduces", "raises", "lowers", "invests", "borrows", "pays", "outperforms", "underperforms"),
        *("receives", "obtains", "allows", "makes", "gives", "leads", "loses", "differs", "varies", "exists"),
        *("occurs", "arises", "grows", "delivers", "incurs", "holds", "matters", "shows", "finds", "rises", "moves"),
        *("adjusts", "depends", "follows", "suggests", "indicates", "provides", "determines", "fluctuates"),
        *("converges", "enhances", "covers", "yields", "showed", "found", "chose", "became", "seemed", "rose"),
        *("fell", "grew", "led"),
    }
)
#: The same in forms that are infinitives too: not behind the words of the second set.
_OTHER_BASE: Final = frozenset(
    {
        *("earn", "exhibit", "tend", "imply", "reflect", "choose", "become", "remain", "seem", "appear", "enjoy"),
        *("suffer", "respond", "react", "generate", "reveal", "predict", "explain", "affect", "improve", "reduce"),
        *("raise", "invest", "borrow", "pay", "outperform", "underperform", "receive", "obtain", "allow", "make"),
        *("give", "lead", "lose", "differ", "vary", "exist", "occur", "arise", "grow", "deliver", "incur", "hold"),
        *("matter", "show", "find", "rise", "move", "adjust", "depend", "follow", "suggest", "indicate", "provide"),
        *("determine", "fluctuate", "beat", "converge", "enhance"),
    }
)
_BEFORE_INFINITIVE: Final = frozenset({"or", "nor", "to", "not"})
#: Words that are verbs when what they do is told: "face higher costs". So are all in -ed but those of the second set.
_VERBS_OR_NOUNS: Final = frozenset(
    {
        *("face", "faces", "experience", "experiences", "issue", "issues", "trade", "trades", "increase"),
        *("increases", "display", "displays"),
    }
)
_USED: Final = frozenset({"used", "employed", "applied", "conducted", "performed", "estimated"})
_OBJECT_BEGINS: Final = frozenset(
    {
        *("a", "an", "the", "their", "its", "higher", "lower", "more", "less", "fewer", "greater", "larger"),
        *("smaller", "stronger", "weaker", "better", "worse", "significantly"),
    }
)
#: What begins a clause of its own inside what is denied: "data that are rarely used".
_RELATIVE: Final = frozenset(
    {
        *("that", "which", "who", "whom", "whose", "what", "where", "when", "how", "why", "whether", "if", "since"),
        *("unless", "as"),
    }
)

#: Negations that are no verbs: they govern what they stand before, and may stand before the whole sentence.
_ADVERBIAL: Final = LazyPattern(
    r"^(?:without|rather than|instead of|as opposed to|in (?:place|lieu|the absence) of|absent|avoiding|lacking|"
    r"devoid of|free of|not|no|neither|nor|none|unlike)\b"
)
#: What may stand before a negation with which a sentence begins.
_FRONT: Final = LazyPattern(
    r"^(?:(?:even|also|and|but|yet|so|thus|hence|then|indeed|therefore|moreover|however|further|furthermore|that|"
    r"still|,) ?)*$"
    r"|^(?:(?:and|but|so|yet|even|that|only) )*(?:if|when|while|because|since|although|though|as|unless|once|whenever|"
    r"where|given|in|under|for|with|at|by|on|from|among|across|during|to)\b[^,]*$"
    r"|\b(?:that|because|if|when|while|since|where)(?: ,)? $"
)
#: The last sentence mark before a negation and what it ends.
_SENTENCE: Final = LazyPattern(r"^.*[.;:!?\n()] ?", re.DOTALL)
#: "No analysis is an event study": the verb goes on with what is denied. "Banks with no branches are a ..." does not.
_NEGATIVE_SUBJECTS: Final = frozenset({"no", "not any", "neither"})
_NO_SUBJECT_AFTER: Final = LazyPattern(r"\b(?:with|of|by|in|for|from|to|at|under|have|has|had) $")
_GOES_ON: Final = LazyPattern(r"(?:is|are|was|were|has|have) (?:an?|about|based on|concerned with|related to)\b")
#: A clause that says of which ones the sentence speaks: "banks that do not use derivatives".
_RELATIVE_BEFORE: Final = LazyPattern(r"\b(?:that|which|who|whose \w+)(?: \w+ly)? ?$")
#: Words of contrast; the others are none before the word that is given.
_CONTRAST: Final = frozenset({"but", "however", "yet", "whereas", "although", "though", "while", "because"})
_CONTRAST_UNLESS: Final = {"instead": "of", "rather": "than"}
#: The work of the main clause, not of what is denied: "without surveys, using stock returns", "to measure them".
_MEANS: Final = frozenset({"using", "via", "through"})
_PURPOSES: Final = frozenset(
    {
        *("measure", "study", "estimate", "identify", "test", "examine", "show", "explain", "analyse", "analyze"),
        *("assess", "evaluate", "predict", "understand", "investigate", "document", "quantify", "capture", "recover"),
        *("compute", "infer"),
    }
)
_NO_PURPOSE_AFTER: Final = frozenset(
    {"attempt", "attempts", "trying", "need", "aim", "aims", "effort", "efforts", "intention", "plan", "plans"}
)
_NOTABLE: Final = frozenset({*_CONTRAST, *_CONTRAST_UNLESS, *_MEANS, ",", "and", "we", "in", "based", "by", "to"})
_CONJUNCTION: Final = LazyPattern(r"(?:^| )(?:and|or|nor)(?: |$)")
#: What may stand in an enumeration without being one of its items.
_ASIDE: Final = LazyPattern(r"^ ?(?:which|who|such as|for example|for instance|e g|i e|including|like|in this|say)\b")
#: "..., relying on X" is what is done instead.
_PARTICIPLE: Final = LazyPattern(
    r"^ ?(?:and |but |thereby |thus |instead )?(?:using|relying|employing|focusing|exploiting|drawing|leveraging|"
    r"adopting|applying|turning|building|studying|so|then|as)\b"
)
#: How many words an item of an enumeration may have where a clause could begin as well.
_LONGEST_ITEM: Final = 4


def end_of_reach(context: Callable[[], str], negation: str, following: str) -> int:
    """The offset in the text that follows a negation beyond which it denies nothing.

    `negation` are its own words, and `following` as many as a negation can reach; `context` makes a few words before
    it, which are seldom needed. All are spelled as `clause_text` does.
    """
    found = _MARK.search(following)
    end = len(following) if found is None else found.start()
    if not following.isascii():
        end = _end_in_chinese(context(), following, end)
    adverbial = _ADVERBIAL.match(negation) is not None
    infinitive = not _NOT.isdisjoint(negation.split())
    end = _end_of_words(following, end, adverbial=adverbial, infinitive=infinitive)
    # Whether what is denied is a part of the subject of the verb that comes next.
    inside = adverbial or _RELATIVE_BEFORE.search(context()) is not None
    going_on = negation in _NEGATIVE_SUBJECTS and _NO_SUBJECT_AFTER.search(context()) is None
    verb = _main_verb(following, end, inside=inside, going_on=going_on)
    comma = following.find(",", 0, verb)
    if comma == -1:
        return verb
    fronted = _FRONT.search(_SENTENCE.sub("", context())) is not None
    return _end_of_list(following, comma, verb, inside=inside, fronted=fronted, before_verb=verb < end)


def has_finite_verb(text: str) -> bool:
    """Whether a verb with a subject stands in some words, as far as its form and its neighbours tell."""
    words = text.split(" ")
    return any(_is_finite(words, number) for number in range(len(words)))


def _end_in_chinese(before: str, text: str, end: int) -> int:
    found = _CHINESE_END.search(text, 0, end)
    if found is not None:
        end = found.start()
    relative = _CHINESE_RELATIVE.search(text, 0, end)
    return end if relative is None or _CHINESE_AUTHOR.search(before) else relative.start()


def _end_of_words(text: str, end: int, *, adverbial: bool, infinitive: bool) -> int:
    """Where a clause of its own or a word of contrast stands; of what is no verb also what the main clause is about."""
    words = text[:end].split(" ")
    for number, word in enumerate(words):
        if word in _NOTABLE and _ends(words, number, adverbial=adverbial, infinitive=infinitive):
            return len(" ".join(words[:number])) + bool(number)
    return end


def _ends(words: list[str], number: int, *, adverbial: bool, infinitive: bool) -> bool:
    word = words[number]
    following = words[number + 1] if number + 1 < len(words) else ""
    if word == ",":
        if following in ("and", "so", "then") and number + 2 < len(words):
            number += 1
            following = words[number + 1]
        after = words[number + 2] if number + 2 < len(words) else ""
        return following in _SUBJECTS or following == "our" or (following == "the" and after in _WORKS)
    if word == "and":
        # Behind "do not", what follows is not done either: "we do not collect and use them".
        return following in _SUBJECTS or following in _DOES or (following in _WE_DO and not infinitive)
    if word == "in":
        return following in ("favour", "favor")
    if word == "we":
        return following in _WE_DO and words[number - 1] not in _BEFORE_WE
    if word in _CONTRAST:
        return True
    if word in _CONTRAST_UNLESS:
        return following != _CONTRAST_UNLESS[word]
    # Means and purpose stand behind at least one word that is denied; the text begins with a space.
    return (
        adverbial
        and number > 1
        and (
            word in _MEANS
            or (word == "based" and following == "on")
            or (word == "by" and following.endswith("ing"))
            or (word == "to" and following in _PURPOSES and words[number - 1] not in _NO_PURPOSE_AFTER)
        )
    )


def _main_verb(text: str, end: int, *, inside: bool, going_on: bool) -> int:
    """Where the first verb stands that what is denied cannot have, or the clause of that verb begins."""
    words = text[:end].split(" ")
    relative = False
    taken = -1
    for number, word in enumerate(words):
        if word in _RELATIVE:
            relative = True
        elif number != taken and _is_finite(words, number):
            if word in _MODAL:
                taken = number + (2 if words[number + 1 : number + 2] == ["not"] else 1)
            if relative:
                relative = False
                continue
            place = len(" ".join(words[:number])) + bool(number)
            if going_on and _GOES_ON.match(text, place):
                going_on = False
            elif inside:
                return place
            else:
                # A second finite verb has a subject of its own: "we use no surveys and the returns are ours".
                begin = max(text.rfind(mark, 0, place) for mark in (" and ", " or ", ","))
                return place if begin == -1 else begin
    return end


def _is_finite(words: list[str], number: int) -> bool:
    """Whether a word is a verb with a subject, as far as its form and its neighbours tell."""
    word = words[number]
    if word in _MODAL or word in _AUXILIARY or word in _OTHER_FINITE:
        return True
    if word in _OTHER_BASE:
        return number == 0 or words[number - 1] not in _BEFORE_INFINITIVE
    if word in _VERBS_OR_NOUNS or (word.endswith("ed") and word not in _USED):
        return number + 1 < len(words) and words[number + 1] in _OBJECT_BEGINS
    return False


def _end_of_list(text: str, first: int, end: int, *, inside: bool, fronted: bool, before_verb: bool) -> int:
    """Where an enumeration ends of which one item stands before the comma at `first`, or this comma if there is none.

    Before a clause ("without X, ...") an enumeration has a comma behind it. Of `inside` and `before_verb` the first
    tells whether a verb may follow, the second whether one stands at `end`.
    """
    comma = first
    while True:
        following = text.find(",", comma + 1, end)
        last = following == -1
        item = text[comma + 1 : end if last else following].strip()
        if _PARTICIPLE.match(item):
            return comma
        if not _ASIDE.match(item):
            conjunction = _CONJUNCTION.search(item)
            if conjunction is not None:
                # "..., and prices rise" is a clause, "X, Y, and Z are low" an enumeration.
                clause = last and (
                    (fronted and not text.startswith(",", end))
                    or (before_verb and comma == first and item.startswith("and "))
                )
                return first if clause else end if last else following
            if last:
                return first if fronted or inside or before_verb else end
            if (fronted or inside) and len(item.split()) > _LONGEST_ITEM:
                return first
        elif last:
            # "..., which are common in finance" is said of what is denied, and is no part of it.
            return comma if item.startswith("wh") else end
        comma = following
