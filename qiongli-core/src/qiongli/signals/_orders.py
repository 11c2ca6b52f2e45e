"""The forms of an order about the task, in English: "do not switch to finance", "keep this in economics".

An order is addressed to the assistant and speaks of the task. So it begins a sentence ("Do not ..."), follows a word of
request ("please ..."), or has the user, the assistant or the task as its subject ("I do not want this in finance",
"this paper must stay in economics"); and nothing but the subject's name, or a word for a task, is what it ends with.
"Courts treat it as finance income" and "workers choose to stay in finance" are about courts and workers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from qiongli.patterns import LazyPattern

# --- what an order speaks of --------------------------------------------------------------------------------------

_TASK: Final = (
    r"(?:task|paper|project|study|draft|manuscript|article|text|question|topic|research|work|analysis|abstract|thesis|"
    r"dissertation|essay|proposal|report|chapter|submission|piece|document|job|request|review|prompt|idea|problem|"
    r"material|case|one)"
)
_FIELD: Final = r"(?:subject|discipline|field|domain|category|area)"
_OBJECT: Final = (
    rf"(?:(?:all of )?(?:this|it|that|everything|all|them|me|things)(?: (?:whole |entire |new )?(?:{_TASK}|{_FIELD}))?"
    rf"(?: s {_FIELD})?|(?:the|my|our) (?:whole |entire )?(?:{_TASK}|{_FIELD})(?: s {_FIELD})?"
    rf"(?: of (?:this|the|my|our) {_TASK})?)"
)
#: The task as a subject of its own sentence. "It" is too often something else.
_THIS: Final = (
    rf"(?:this(?: {_TASK})?|(?:the|my|our|the present) (?:task|paper|project|study|draft|manuscript|article|thesis|"
    r"dissertation|essay|proposal|chapter|submission|document|abstract))"
)
_MANNER: Final = r"(?:(?:strictly|only|purely|firmly|simply|just|please|squarely|entirely|solely|always|still) )?"
_ARTICLE: Final = (
    r"(?:(?:an?|the(?: (?:subject|discipline|field))?|another|any|some|pure|purely|just|ordinary|being|belonging to|"
    r"part of|"
    r"(?:kind|piece|sort|case|matter|work) of) ){0,3}"
)
_WITHIN: Final = (
    r"(?:the )?(?:(?:field|realm|domain|discipline|subject|area|scope|bounds|confines|terms|category|heading) of )?"
)

# --- verbs --------------------------------------------------------------------------------------------------------

_TURN: Final = (
    r"(?:switch|treat|route|reroute|move|classify|reclassify|categori[sz]e|turn|handle|read|cast|recast|frame|reframe|"
    r"label|assign|consider|regard|change|convert|send|put|keep|leave|make|apply|use|file|tag|mark|place|see|view|"
    r"interpret|process|shift|drift|slide|slip|veer|stray|drag|push|force|redirect|transfer|steer|go|pull|approach|"
    r"describe|present|write|count|judge|assess|evaluate|review|mistake|take|set|default|bring|stay|remain|pass|answer)"
)
_TURNING: Final = (
    r"(?:switching|treating|routing|rerouting|moving|classifying|categori[sz]ing|turning|handling|reading|casting|"
    r"framing|labell?ing|assigning|considering|regarding|changing|converting|sending|putting|keeping|making|filing|"
    r"tagging|marking|placing|seeing|viewing|interpreting|processing|shifting|drifting|pushing|forcing|redirecting|"
    r"steering|going|pulling|approaching|describing|writing|counting|judging|assessing|evaluating|reviewing|defaulting)"
)
_TURNED: Final = (
    r"(?:switched|treated|routed|moved|classified|categori[sz]ed|turned|handled|read|cast|framed|labell?ed|assigned|"
    r"considered|regarded|changed|converted|sent|put|kept|left|made|filed|tagged|marked|placed|seen|viewed|interpreted|"
    r"processed|shifted|redirected|transferred|steered|pulled|approached|described|presented|written|counted|judged|"
    r"assessed|evaluated|reviewed|mistaken|taken|set|called)"
)
_TO: Final = (
    r"(?:(?:over|back|off|away|out) )?(?:to|as|as if (?:it|this) (?:were|was)|into|in|under|towards?|for|"
    r"within|like|onto|by)"
)
_NAMING: Final = (
    r"(?:use|apply|load|suggest|pick|choose|select|activate|recommend|propose|offer|enable|involve|include)"
)
_LEAVING_OUT: Final = (
    r"(?:exclude|ignore|avoid|skip|disable|drop|omit|remove|rule out|leave out|take out|forget(?: about)?|disregard|"
    r"discard|reject|block|suppress|dismiss|deactivate|turn off|switch off)"
)

# --- who orders ---------------------------------------------------------------------------------------------------

_NOT: Final = r"(?:not|t|never)"
_MODAL: Final = r"(?:should|must|shall|may|can|need|ought|shouldn|mustn|needn)"
_ASIDE: Final = (
    r"(?:(?:please|ever|even|just|simply|again|now|yet|try to|attempt to|in any case|under any circumstances) ){0,2}"
)
#: "Do not", and what comes to the same, before an infinitive.
_DO_NOT: Final = (
    r"(?:(?:do (?:please )?not|don t|dont|never|(?:there is )?no need to|under no circumstances|at no point|better "
    r"not|please not|let (?:us|s) not|"
    rf"you (?:{_MODAL} {_NOT}(?: to)?|cannot|do(?:n)? (?:not|t) (?:need|have) to|are not (?:allowed |supposed )?to)|"
    r"(?:could|can|would|will) you (?:please )?not|(?:i|we) (?:(?:would|d) )?(?:rather|prefer)(?: (?:not(?: to)?|you "
    r"(?:not|did not|do not)))|(?:i|we) (?:(?:would|d) )?(?:want|like|need|ask|urge|tell|told|asked) you (?:not to|"
    r"to not|"
    r"never to)|(?:make sure|be careful|take care|try|remember|be sure)(?: that)? (?:not to|to not|never to|(?:you )?"
    rf"(?:do not|don t|never))|(?:i|we) (?:do not|don t|dont) (?:want|need) you to) {_ASIDE})"
)
_REQUEST: Final = (
    r"(?:(?:could|can|would|will) you (?:please |kindly )?|you (?:should|must|shall|need to|have to|are to) "
    r"(?:please )?|"
    r"(?:i|we) (?:(?:would|d) )?(?:want|like|need|ask|urge|prefer) you to |(?:make sure|be sure|remember|try)"
    r"(?: to| that you| you)? |let (?:us|s) )?"
)
_WANT: Final = r"(?:i|we) (?:(?:would|d) )?(?:(?:really|still|only) )?(?:want|like|need|prefer|wish|ask for)"
_WANT_NOT: Final = (
    r"(?:i|we) (?:(?:do|would|did) not|(?:don|wouldn|didn) t|dont|never) (?:really |ever )?(?:want|like|wish|need|"
    r"intend|mean)"
)

# --- the orders, from their first word up to a name ---------------------------------------------------------------

#: What may follow the name in an order that a name ends.
_OPEN: Final = "open"
#: What may follow the name where "exclude finance firms" would be something else.
_STRICT: Final = "strict"
_ORDERS: Final = (
    ("exclude", rf"{_DO_NOT}{_TURN} {_MANNER}{_OBJECT} {_MANNER}{_TO} {_WITHIN}{_ARTICLE}", _OPEN),
    (
        "exclude",
        rf"{_DO_NOT}{_TURN} (?:over )?(?:to|as(?: if (?:it|this) (?:were|was))?|into|under|towards?|in) "
        rf"{_WITHIN}{_ARTICLE}",
        _OPEN,
    ),
    ("exclude", rf"{_DO_NOT}(?:make|call|consider|deem|label) {_OBJECT} {_ARTICLE}", _OPEN),
    (
        "exclude",
        rf"{_DO_NOT}(?:let|allow|permit) {_OBJECT} (?:to )?(?:be|become|turn|drift|slide|go|move|end up|read|look|"
        r"count|"
        rf"pass|stay|remain|slip|get)(?: {_TURNED})?(?: {_TO})? {_ARTICLE}",
        _OPEN,
    ),
    ("exclude", rf"(?:avoid|stop|refrain from|quit) {_TURNING} (?:{_OBJECT} )?{_TO} {_ARTICLE}", _OPEN),
    ("exclude", rf"(?:avoid|stop|refrain from|quit) (?:making|calling|considering) {_OBJECT} {_ARTICLE}", _OPEN),
    ("exclude", rf"{_DO_NOT}{_NAMING} {_ARTICLE}", _STRICT),
    ("exclude", rf"{_REQUEST}{_LEAVING_OUT} {_ARTICLE}", _STRICT),
    ("exclude", rf"(?:avoid|stop|refrain from) (?:using|applying|suggesting|recommending|picking) {_ARTICLE}", _STRICT),
    ("exclude", rf"{_REQUEST}(?:leave|keep|take|get|put) {_ARTICLE}", "out"),
    ("exclude", rf"{_DO_NOT}(?:bring|drag|pull|mix|put|get|introduce|add) {_ARTICLE}", "into"),
    (
        "exclude",
        rf"{_WANT_NOT} {_OBJECT} (?:to (?:be|become|go|end up|turn|count|read|look|move|switch|drift|stay) )?"
        rf"(?:being )?(?:(?:{_TURNED}|dragged|pushed) )?(?:{_TO} )?{_WITHIN}{_ARTICLE}",
        _OPEN,
    ),
    ("exclude", rf"{_WANT_NOT} (?:to (?:see|use|have|switch to) )?{_ARTICLE}", _STRICT),
    ("exclude", r"(?:i|we) (?:want|need) no ", _STRICT),
    (
        "exclude",
        rf"(?:i (?:do not|don t|dont) (?:think|believe)(?: that)? {_THIS} (?:is|counts as|belongs (?:to|in|under))|"
        rf"i (?:do not|don t|dont|would not|wouldn t) (?:consider|call|regard|see|view) {_THIS}(?: as| to be)?) "
        rf"{_ARTICLE}",
        _OPEN,
    ),
    (
        "exclude",
        rf"(?:{_THIS}|it) (?:(?:{_MODAL} {_NOT}(?: to)?|cannot|is (?:not|never) to) be {_TURNED} {_TO}|"
        rf"(?:{_MODAL} {_NOT}(?: to)?|cannot|is (?:not|never) to) (?:be|become|turn into|go to|go in|end up in|count "
        r"as)) "
        rf"{_WITHIN}{_ARTICLE}",
        _OPEN,
    ),
    (
        "exclude",
        rf"{_THIS} (?:(?:is|was)(?: not| never|n t| t)|isn t|is anything but|is not (?:about|meant as|intended as|in))"
        rf" {_ARTICLE}",
        "what it is not",
    ),
    ("exclude", rf"{_THIS} (?:does not|doesn t|do not) (?:belong|go) (?:to|in|under|into) {_WITHIN}{_ARTICLE}", _OPEN),
    ("exclude", rf"it (?:is not|isn t|s not) {_ARTICLE}", "paper"),
    ("exclude", r"not an? ", "paper"),
    ("exclude", r"not ", _STRICT),
    ("exclude", r"(?:absolutely |definitely |and )?no (?:more )?", _STRICT),
    (
        "exclude",
        rf"{_REQUEST}{_TURN} {_MANNER}{_OBJECT} {_TO} (?:anything|any (?:other )?{_FIELD}) (?:but|except|other than|"
        r"besides) "
        rf"{_ARTICLE}",
        _OPEN,
    ),
    (
        "exclude",
        rf"(?:{_REQUEST}(?:use|pick|choose|suggest|recommend|take) )?any(?:thing| (?:other )?{_FIELD}) "
        rf"(?:but|except|other than|besides) {_ARTICLE}",
        _STRICT,
    ),
    (
        "exclude",
        rf"{_REQUEST}(?:{_TURN} {_MANNER}{_OBJECT}|stay|remain|stick|use|switch|go)\b[^.;!?\n:]{{0,80}}?(?: ,)?"
        rf"(?: and| but)? (?:not|never|rather than|instead of)(?: (?:in|as|under|to|with|by|for|within))? {_ARTICLE}",
        _OPEN,
    ),
    (
        "keep",
        rf"{_REQUEST}(?:keep|leave|hold) {_MANNER}{_OBJECT} {_MANNER}(?:(?:with)?in|under|as|inside|to) "
        rf"{_WITHIN}{_ARTICLE}",
        _OPEN,
    ),
    ("keep", rf"{_REQUEST}(?:stay|remain|stick) {_MANNER}(?:(?:with)?in|with|to) {_WITHIN}{_MANNER}", _OPEN),
    (
        "keep",
        rf"{_REQUEST}(?:treat|route|reroute|handle|classify|categori[sz]e|read|regard|consider|file|label|review|judge|"
        rf"assess|evaluate|write|frame|approach|process|see|view|interpret|assign|move|switch|put|send|place|set|take) "
        rf"{_MANNER}{_OBJECT} {_MANNER}(?:back |over )?(?:as|under|in|to|into|within) {_MANNER}{_WITHIN}{_ARTICLE}",
        _OPEN,
    ),
    (
        "keep",
        rf"{_REQUEST}(?:treat|handle|review|judge|assess|evaluate|write|read|approach|process|check|measure) "
        rf"(?:{_OBJECT} )?(?:by|under|with|according to|following|using|on) {_ARTICLE}",
        "standards",
    ),
    (
        "keep",
        rf"{_REQUEST}(?:use|apply|choose|pick|select|load|activate|follow|go with|stick with) {_MANNER}(?:the )?",
        _STRICT,
    ),
    (
        "keep",
        rf"{_WANT} (?:to (?:keep|have) )?{_OBJECT} (?:to (?:be|stay|remain|go) |(?:to be )?{_TURNED} )?{_MANNER}"
        rf"(?:{_TURNED} )?(?:in|as|under|within|to) {_WITHIN}{_ARTICLE}",
        _OPEN,
    ),
    (
        "keep",
        rf"(?:{_THIS}|it) (?:must|should|shall|has to|needs to|is to|ought to|is supposed to) (?:{_MANNER}(?:stay|"
        r"remain|go|"
        rf"belong|be)|be {_TURNED}) {_MANNER}(?:in|within|as|under|to|into) {_WITHIN}{_ARTICLE}",
        _OPEN,
    ),
    ("keep", rf"{_REQUEST}(?:switch|change) (?:back |over )?to {_ARTICLE}", _STRICT),
    (
        "keep",
        rf"(?:make sure|ensure|see to it)(?: that)? (?:{_THIS}|it) (?:stays|remains|is kept|is {_TURNED}) {_MANNER}"
        rf"(?:in|within|as|under|to) {_WITHIN}{_ARTICLE}",
        _OPEN,
    ),
    ("keep", rf"(?:the|its|my|our|this) {_FIELD} (?:must|should|shall|has to|is to) (?:remain|stay|be) ", _OPEN),
    ("exclude", rf"(?:the|its|my|our|this) {_FIELD} (?:must|should|shall|is) not (?:to )?(?:become |be )?", _OPEN),
    ("exclude", r"neither ", "please"),
    ("keep", r"(?:only|just|strictly|purely) ", "please"),
    ("keep", r"", "only please"),
)

#: With which words an order can begin: few sentences have to be compared with all forms.
_FIRST: Final = frozenset(
    {
        *("do", "don", "dont", "never", "there", "no", "better", "please", "let", "could", "can", "would", "will"),
        *("make", "be", "take", "try", "remember", "under", "at", "avoid", "stop", "refrain", "quit", "it", "its"),
        *("this", "the", "my", "our", "not", "absolutely", "definitely", "and", "any", "anything", "see", "ensure"),
        *("neither", "only", "just", "strictly", "purely", "switch", "treat", "route", "reroute", "move", "classify"),
        *("reclassify", "categorize", "categorise", "turn", "handle", "read", "cast", "recast", "frame", "reframe"),
        *("label", "assign", "consider", "regard", "change", "convert", "send", "put", "keep", "leave", "apply", "use"),
        *("file", "tag", "mark", "place", "view", "interpret", "process", "shift", "redirect", "transfer", "steer"),
        *("go", "pull", "approach", "describe", "present", "write", "count", "judge", "assess", "evaluate", "review"),
        *("set", "default", "bring", "stay", "remain", "pass", "answer", "hold", "stick", "exclude", "ignore", "skip"),
        *("disable", "drop", "omit", "remove", "rule", "forget", "disregard", "discard", "reject", "block", "suppress"),
        *("dismiss", "deactivate", "choose", "pick", "select", "load", "activate", "follow", "check", "measure", "get"),
        *("suggest", "recommend", "slide", "slip", "drift", "veer", "stray", "drag", "push", "force", "mistake"),
    }
)
_OF_US: Final = frozenset({"i", "we", "you"})
#: What must follow these.
_SECOND: Final = frozenset(
    {
        *("do", "don", "dont", "would", "wouldn", "d", "want", "like", "need", "prefer", "wish", "ask", "urge", "tell"),
        *("told", "asked", "rather", "never", "really", "still", "only", "did", "didn", "should", "must", "shall"),
        *("may", "can", "ought", "cannot", "are", "have", "shouldn", "mustn", "needn"),
    }
)


def _may_begin(sentence: str, offset: int) -> bool:
    first, _, rest = sentence[offset:].partition(" ")
    return first in _FIRST or not first or (first in _OF_US and rest.partition(" ")[0] in _SECOND)


_COMPILED: Final = tuple((role, LazyPattern(f"(?:{pattern})$"), needed) for role, pattern, needed in _ORDERS)

# --- what follows the name ----------------------------------------------------------------------------------------

_STANDARDS: Final = (
    r"(?:standards|rules|norms|conventions|criteria|guidelines|requirements|expectations|practice|terms|principles)"
)
_HEAD: Final = rf"(?: (?:{_TASK}|{_FIELD}|{_STANDARDS}|package|territory|heading|label|profile|standard))?"
_GOES_ON: Final = (
    r"(?: (?:and|or|but|nor|not|rather|instead|because|since|as(?! usual)|even|if|when|for|at|with|from|please|here|"
    r"anymore|any|again|this|now|unless|until|though|although|whatever|so|then|throughout|despite|regardless|no|we|"
    r"it|i|to|in|thanks|thank|either|ever|by default|today|entirely|altogether|only|alone)\b| [.,;:!?()\[\]\n]|$)"
)
_END: Final = r"(?: [.;!?()\n]|$| ,(?= (?:not|rather than|instead of)\b))"
_TAIL: Final = (
    rf"(?: (?:here|entirely|altogether|at all|now|today|again|ever|anymore|any more|either|instead|completely|for now|"
    rf"(?:for|in|from|on|with) (?:this|it|that|me|(?:this|the|my|our) {_TASK})|only|alone|throughout|"
    rf"(?:from|of|off) (?:further |all |your |any )?(?:consideration|contention|suggestions?|recommendations?|"
    rf"(?:the |your )?(?:list|candidates?|options?|{_FIELD}s?|subjects|choices|routing|table|picture|candidate "
    r"subjects|"
    rf"list of \w+|suggestions|recommendations))))*"
)
_POLITE: Final = r"(?:(?: ,)? (?:please|thanks|thank you))?"
_AFTER: Final = {
    _OPEN: LazyPattern(rf"{_HEAD}{_GOES_ON}"),
    _STRICT: LazyPattern(rf"(?: (?:{_FIELD}|{_STANDARDS}|package|profile|papers?))?{_TAIL}{_POLITE}{_END}"),
    "out": LazyPattern(
        rf"(?: {_FIELD})?(?: (?:out|away|aside|off)(?: (?:of|from) (?:(?:the|this|my|our) (?:{_TASK}|picture)|this|"
        r"it|here))?)"
        rf"{_POLITE}{_END}"
    ),
    "into": LazyPattern(rf" (?:in|into|to) (?:this|it|here|(?:the|my|our) {_TASK}|the picture)\b"),
    #: "This is not finance that ..." and "not a finance lease" say something else.
    "what it is not": LazyPattern(
        rf"(?:{_END}| ,| (?:and|so|but|please)\b| {_TASK}\b(?! (?:only|alone))(?:{_GOES_ON}))"
    ),
    "paper": LazyPattern(rf" (?:paper|task|project|study|article|manuscript|thesis|dissertation|draft)(?:{_GOES_ON})"),
    "standards": LazyPattern(rf" {_STANDARDS}(?:{_GOES_ON})"),
    "please": LazyPattern(rf"{_HEAD}(?: ,)? please{_END}"),
    "only please": LazyPattern(rf" only(?: ,)? please{_END}"),
}
_NOT_ALONE: Final = LazyPattern(rf"(?: {_TASK})?(?: only\b| alone\b| per se\b| journals?\b)")

# --- where an order may begin -------------------------------------------------------------------------------------

_CONNECTIVE: Final = (
    r"(?:(?:and|but|so|then|also|again|therefore|thus|hence|otherwise|instead|finally|important|importantly|note|"
    r"note that|remember|remember that|reminder|nb|ok|okay|yes|no|well|hi|hello|dear|hey|claude|assistant|qiongli|"
    r"codex|"
    r"gemini|first|second|third|now|just|for now|anyway|thanks|sorry|to be clear|mind that|keep in mind that|user|"
    r"instruction|instructions|because|since|as|i repeat)(?: ,| :)? )*"
)
_LEADS: Final = (
    LazyPattern(rf"(?:^|[:()\[\]] )(?:{_CONNECTIVE}(?:(?:please|kindly)(?: ,)? )?)?"),
    LazyPattern(r"\b(?:please|kindly)(?: ,)? (?:also |just )?"),
    LazyPattern(r"^[^,:]{0,120}?(?:, (?:and |but )?so|, (?:hence|therefore|thus)|\bso)(?: ,)? (?:please )?"),
    LazyPattern(
        r"^(?:if|when|as|in|on|for|since|because|given|while|whatever|unless|although|though|even|wherever|whenever)\b"
        r"[^,:]{0,100}, (?:then |please )?"
    ),
    # A second order in one sentence.
    LazyPattern(
        rf"^{_CONNECTIVE}(?:please )?{_REQUEST}(?:{_TURN}|check|summari[sz]e|focus|suggest|help|give|look|analy[sz]e|"
        r"do|"
        rf"don|{_LEAVING_OUT})\b[^.;!?\n]{{0,100}}?(?: ,)? (?:and|but|then) (?:please |also )?"
    ),
)
#: Without one of these an order can only begin where its sentence does.
_LATER_BEGINNINGS: Final = ("please", "kindly", "so ", ", hence", ", therefore", ", thus", ":", "(", ")", "[", "]")
#: Two sentences with a comma between them: here the order must speak of the task or to the assistant.
_SPLICE: Final = LazyPattern(r"^[^,:]{1,120}, (?:and |but )?")
_OF_THE_TASK: Final = LazyPattern(r"\b(?:this|you|i|my|please)\b")
_REPORT: Final = LazyPattern(
    r"\b(?<!i )(?<!we )(?:said|says|wrote|writes|told|asked|asks|argues?|argued|advised|advises|recommends?|"
    r"recommended|"
    r"replied|suggests|suggested|claims?|claimed|insists?|insisted|reviewers?|referees?|editors?|colleagues?|"
    r"supervisors?|quotes?|whether|why)\b"
)
_QUESTION: Final = LazyPattern(r"[^.;!\n]*\?")
_ASKED: Final = LazyPattern(r"\b(?:please|kindly|you)\b")


def english_order(sentence: str, after: str) -> tuple[str, int, bool] | None:
    """Whether the words from a sentence's beginning up to a subject's name order something.

    `after` is what follows the name. Both are spelled as `clause_text` does; `sentence` begins with `_` where the
    beginning of the sentence is out of sight. What is found is the role, where the order begins, and whether it is
    somebody else's.
    """
    if sentence.startswith("_ ") and not any(mark in sentence for mark in _LATER_BEGINNINGS):
        return None
    open_ends = [needed for needed, pattern in _AFTER.items() if pattern.match(after)]
    if not open_ends:
        return None
    for offset, splice in _beginnings(sentence):
        if not _may_begin(sentence, offset):
            continue
        for role, pattern, needed in _COMPILED:
            if needed not in open_ends or (role == "exclude" and _NOT_ALONE.match(after)):
                continue
            match = pattern.match(sentence, offset)
            if match is None or (splice and not _OF_THE_TASK.search(match.group())):
                continue
            asked = _QUESTION.match(after) is not None and not _ASKED.search(sentence)
            return None if asked else (role, offset, _REPORT.search(sentence, 0, offset) is not None)
    return None


def _beginnings(sentence: str) -> Iterator[tuple[int, bool]]:
    """Where in a sentence an order may begin, and whether only behind a comma."""
    seen = set()
    for pattern in _LEADS:
        for match in pattern.finditer(sentence):
            for offset in (match.end(), match.start() + (2 if match.start() else 0)):
                if offset not in seen and (offset == match.end() or pattern is _LEADS[0]):
                    seen.add(offset)
                    yield offset, False
    spliced = _SPLICE.match(sentence)
    if spliced is not None and spliced.end() not in seen:
        yield spliced.end(), True
