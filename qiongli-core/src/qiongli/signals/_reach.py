"""How far a negation reaches: to the end of what it governs, which is less than its sentence.

"Firms without credit ratings have higher stock returns" denies the ratings, "Without short-sale constraints, stock
prices reflect news" the constraints, and "We do not use surveys, an event study, or stock returns" all three.
"""

from __future__ import annotations

import re
from typing import Final

from qiongli.patterns import LazyPattern

#: Where a reach is over, whatever was negated.
_END: Final = LazyPattern(
    r"[;!?.\n()\[\]]|(?:^| ): "
    r"|(?<=[\u3040-\u30ff\u3400-\u9fff]) ,|, [\u3040-\u30ff\u3400-\u9fff]"
    r"|\b(?:but|however|yet|whereas|although|though|while|because|instead(?! of)|rather(?! than))\b"
    r"|, (?:and |so |then )?(?:we|this|it|they|i|our|the (?:paper|study|authors?|article|analysis))\b"
    r"|\band (?:we|this|it|they|i)\b"
    r"|(?<!that )(?<!which )(?<!what )(?<!do )(?<!did )(?<!will )(?<!can )\bwe (?:use|run|employ|conduct|apply|"
    r"estimate|rely|exploit|implement|perform)\b"
    r"|但|而是|不过|然而"
    # "When firms use no derivatives" is over with the Chinese word for "when"; 时 is also a part of other words.
    r"|(?<![实同及临定即适小准按暂历耗])时(?![间期代变序点滞效段常刻差区尚])|情况下|条件下|前提下|背景下|情形下|之后|以后"
)
#: In Chinese a relative clause stands before its noun; only these nouns, because 的 is also "of".
_CHINESE_RELATIVE: Final = LazyPattern(
    r"的(?=企业|公司|银行|厂商|机构|国家|地区|省份|城市|家庭|居民|农户|个体|个人|人|投资者|基金|行业|样本|组|市场)"
)
_CHINESE_AUTHOR: Final = LazyPattern(r"(?:本文|本研究|本论文|我们|笔者|作者)[^,.;!?\n]{0,6}$")

#: Verbs that are finite wherever they stand.
_AUXILIARY: Final = (
    r"(?:(?:can|could|will|would|may|might|must|should|shall|do|does|did)(?: not)?(?: \w+ly)?(?: have| be)?(?: been)?"
    r"(?: \w+)?|cannot|have|has|had|is|are|was|were)"
)
#: Verbs of what is true of the world; their forms here are no nouns.
_OTHER_VERB: Final = (
    r"(?:(?<!or )(?<!nor )(?<!to )(?<!not )(?:earn|exhibit|tend|imply|reflect|choose|become|remain|seem|appear|enjoy|"
    r"suffer|respond|react|generate|reveal|predict|explain|affect|improve|reduce|raise|invest|borrow|pay|outperform|"
    r"underperform|receive|obtain|allow|make|give|lead|lose|differ|vary|exist|occur|arise|grow|deliver|incur|hold|"
    r"matter|show|find|rise|move|adjust|depend|follow|suggest|indicate|provide|determine|fluctuate|converge|enhance)|"
    r"earns|exhibits|tends|implies|reflects|chooses|becomes|remains|seems|appears|enjoys|suffers|responds|reacts|"
    r"generates|reveals|predicts|explains|affects|improves|reduces|raises|lowers|invests|borrows|pays|outperforms|"
    r"underperforms|receives|obtains|allows|makes|gives|leads|loses|differs|varies|exists|occurs|arises|grows|"
    r"delivers|incurs|holds|matters|shows|finds|rises|moves|adjusts|depends|follows|suggests|indicates|provides|"
    r"determines|fluctuates|converges|enhances|covers|yields|showed|found|chose|became|seemed|rose|fell|grew|led|"
    r"(?:(?!(?:used|employed|applied|conducted|performed|estimated) )\w+ed|face|faces|experience|experiences|issue|"
    r"issues|trade|trades|increase|increases|display|displays) (?=(?:an?|the|their|its|higher|lower|more|less|fewer|"
    r"greater|larger|smaller|stronger|weaker|better|worse|significantly)\b))"
)
#: What begins a clause of its own inside what is denied: "data that are rarely used".
_RELATIVE: Final = r"(?:that|which|who|whom|whose|what|where|when|how|why|whether|if|since|unless|as)"
_VERB: Final = LazyPattern(rf"\b(?:(?P<relative>{_RELATIVE})|{_AUXILIARY}|{_OTHER_VERB})\b")

#: Negations that are no verbs: they govern what they stand before, and may stand before the whole sentence.
_ADVERBIAL: Final = LazyPattern(
    r"^(?:without|rather than|instead of|as opposed to|in (?:place|lieu|the absence) of|absent|avoiding|lacking|"
    r"devoid of|free of|not|no|neither|nor|none)\b"
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
_NEGATIVE_SUBJECT: Final = LazyPattern(
    r"(?<!with )(?<!of )(?<!by )(?<!in )(?<!for )(?<!from )(?<!to )(?<!at )(?<!under )(?<!have )(?<!has )(?<!had )"
    r"\b(?:no|neither|none)\b"
)
_GOES_ON: Final = LazyPattern(r"(?:is|are|was|were|has|have) (?:an?|about|based on|concerned with|related to)\b")
#: A clause that says of which ones the sentence speaks: "banks that do not use derivatives".
_RELATIVE_BEFORE: Final = LazyPattern(r"\b(?:that|which|who|whose \w+)(?: \w+ly)? ?$")
#: The work of the main clause, not of what is denied: "without surveys, using stock returns".
_PURPOSE: Final = LazyPattern(
    r"(?<!attempt )(?<!attempts )(?<!trying )(?<!need )(?<!aim )(?<!effort )(?<!intention )\bto (?:measure|study|"
    r"estimate|identify|test|examine|show|explain|analy[sz]e|assess|evaluate|predict|understand|investigate|document|"
    r"quantify|capture|recover|compute|infer)\b|\bby \w+ing\b|(?<!^)\b(?:using|based on|via|through)\b"
)
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


def end_of_reach(before: str, negation: str, following: str) -> int:
    """The offset in the text that follows a negation beyond which it denies nothing.

    `before` are a few words before the negation, `negation` its own, and `following` as many words as a negation can
    reach, all spelled as `clause_text` does.
    """
    found = _END.search(following)
    end = len(following) if found is None else found.start()
    if not following.isascii():
        relative = _CHINESE_RELATIVE.search(following, 0, end)
        if relative is not None and not _CHINESE_AUTHOR.search(before):
            end = relative.start()
    adverbial = _ADVERBIAL.match(negation) is not None
    if adverbial:
        # Behind at least a word that is denied.
        purpose = _PURPOSE.search(following, len(" using "), end)
        if purpose is not None:
            end = purpose.start()
    # Whether what is denied is a part of the subject of the verb that comes next.
    inside = adverbial or _RELATIVE_BEFORE.search(before) is not None
    verb = _main_verb(
        following, end, inside=inside, going_on=_NEGATIVE_SUBJECT.match(before + negation, len(before)) is not None
    )
    comma = following.find(",", 0, verb)
    if comma == -1:
        return verb
    fronted = _FRONT.search(_SENTENCE.sub("", before)) is not None
    return _end_of_list(following, comma, verb, inside=inside, fronted=fronted, before_verb=verb < end)


def _main_verb(text: str, end: int, *, inside: bool, going_on: bool) -> int:
    """Where the first verb stands that what is denied cannot have, or the clause of that verb begins."""
    relative = False
    for match in _VERB.finditer(text):
        if match.start() >= end:
            break
        if match["relative"]:
            relative = True
        elif relative:
            relative = False
        elif going_on and _GOES_ON.match(text, match.start()):
            going_on = False
        elif inside:
            return match.start()
        else:
            # A second finite verb has a subject of its own: "we use no surveys and the returns are ours".
            begin = max(text.rfind(mark, 0, match.start()) for mark in (" and ", " or ", ","))
            return match.start() if begin == -1 else begin
    return end


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
            return end
        comma = following
