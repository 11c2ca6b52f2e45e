"""What an order about the task is made of, in English: its words, its forms, and what may follow a subject's name."""

from __future__ import annotations

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

TURN: Final = (
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
    r"(?:use|apply|load|suggest|pick|choose|select|activate|recommend|propose|offer|enable|involve|include|assign|"
    r"attach|return|set)"
)
LEAVING_OUT: Final = (
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
    rf"(?:do not|don t|never))|(?:i|we) (?:do not|don t|dont) (?:want|need) you to|don t you dare) "
    rf"(?:, (?:\w+ ){{1,4}}, )?{_ASIDE})"
)
REQUEST: Final = (
    r"(?:(?:could|can|would|will) you (?:please |kindly )?|you (?:should|must|shall|need to|have to|are to) "
    r"(?:please )?|"
    r"(?:i|we) (?:(?:would|d) )?(?:want|like|need|ask|urge|prefer) you to |(?:make sure|be sure|remember|try)"
    r"(?: to| that you| you)? |let (?:us|s) )?(?:(?:only|just|always) )?"
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
    ("exclude", rf"{_DO_NOT}{TURN} {_MANNER}{_OBJECT} {_MANNER}{_TO} {_WITHIN}{_ARTICLE}", _OPEN),
    (
        "exclude",
        rf"{_DO_NOT}{TURN} (?:over )?(?:to|as(?: if (?:it|this) (?:were|was))?|into|under|towards?|in) "
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
    ("exclude", rf"{REQUEST}{LEAVING_OUT} {_ARTICLE}", _STRICT),
    ("exclude", rf"(?:avoid|stop|refrain from) (?:using|applying|suggesting|recommending|picking) {_ARTICLE}", _STRICT),
    ("exclude", rf"{REQUEST}(?:leave|keep|take|get|put) {_ARTICLE}", "out"),
    ("exclude", rf"{_DO_NOT}(?:bring|drag|pull|mix|put|get|introduce|add) {_ARTICLE}", "into"),
    (
        "exclude",
        rf"{_WANT_NOT} {_OBJECT} (?:to (?:be|become|go|end up|turn|count|read|look|move|switch|drift|stay) )?"
        rf"(?:being )?(?:(?:{_TURNED}|dragged|pushed) )?(?:{_TO} )?{_WITHIN}{_ARTICLE}",
        _OPEN,
    ),
    ("exclude", rf"{_WANT_NOT} (?:to (?:see|use|have|switch to) )?{_ARTICLE}", _STRICT),
    ("exclude", r"(?:i|we) (?:want|need) no ", _STRICT),
    ("exclude", rf"(?:i am|i m|we are|we re) not (?:at all |really )?interested in {_ARTICLE}", _STRICT),
    ("exclude", rf"{_WANT} {_OBJECT} (?:not|never) (?:to )?(?:be )?{_TURNED} {_TO} {_WITHIN}{_ARTICLE}", _OPEN),
    ("exclude", r"(?:the )?", "off"),
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
    # "This is a sociology paper, not finance"; but "this is the case in economics, not finance" tells of the world.
    (
        "exclude",
        rf"{_THIS} (?:is|was|belongs (?:to|in)|contributes to|speaks to|concerns|sits in|falls under) "
        r"(?!the case|true|so\b|why|because|what)[^,.;!?\n:]{1,80}?(?: ,)?(?: and| but)? (?:not|rather than|instead of)"
        rf"(?: (?:about|in|to|on|for|with))? {_ARTICLE}",
        "what it is not",
    ),
    ("exclude", rf"{_THIS} (?:does not|doesn t|do not) (?:belong|go) (?:to|in|under|into) {_WITHIN}{_ARTICLE}", _OPEN),
    ("exclude", rf"it (?:is not|isn t|s not) {_ARTICLE}", "paper"),
    ("exclude", r"not an? ", "paper"),
    ("exclude", r"not ", _STRICT),
    ("exclude", r"(?:absolutely |definitely |and )?no (?:more )?", _STRICT),
    (
        "exclude",
        rf"{REQUEST}{TURN} {_MANNER}{_OBJECT} {_TO} (?:anything|any (?:other )?{_FIELD}) (?:but|except|other than|"
        r"besides) "
        rf"{_ARTICLE}",
        _OPEN,
    ),
    (
        "exclude",
        rf"(?:{REQUEST}(?:use|pick|choose|suggest|recommend|take) )?(?:any|every)(?:thing| (?:other )?{_FIELD}) "
        rf"(?:but|except|other than|besides) {_ARTICLE}",
        _STRICT,
    ),
    (
        "exclude",
        rf"{REQUEST}(?:{TURN} {_MANNER}{_OBJECT}|stay|remain|stick|use|switch|go)\b[^.;!?\n:]{{0,80}}?(?: ,)?"
        rf"(?: and| but)? (?:not|never|rather than|instead of)(?: (?:in|as|under|to|with|by|for|within))? {_ARTICLE}",
        _OPEN,
    ),
    (
        "keep",
        rf"{REQUEST}(?:keep|leave|hold) {_MANNER}{_OBJECT} {_MANNER}(?:(?:with)?in|under|as|inside|to) "
        rf"{_WITHIN}{_ARTICLE}",
        _OPEN,
    ),
    ("keep", rf"{REQUEST}(?:stay|remain|stick) {_MANNER}(?:(?:with)?in|with|to) {_WITHIN}{_MANNER}", _OPEN),
    (
        "keep",
        rf"{REQUEST}(?:treat|route|reroute|handle|classify|categori[sz]e|read|regard|consider|file|label|review|judge|"
        rf"assess|evaluate|write|frame|approach|process|see|view|interpret|assign|move|switch|put|send|place|set|take) "
        rf"{_MANNER}{_OBJECT} {_MANNER}(?:back |over )?(?:as|under|in|to|into|within) {_MANNER}{_WITHIN}{_ARTICLE}",
        _OPEN,
    ),
    (
        "keep",
        rf"{REQUEST}(?:treat|handle|review|judge|assess|evaluate|write|read|approach|process|check|measure) "
        rf"(?:{_OBJECT} )?(?:by|under|with|according to|following|using|on) {_ARTICLE}",
        "standards",
    ),
    (
        "keep",
        rf"{REQUEST}(?:use|apply|choose|pick|select|load|activate|follow|go with|stick with) {_MANNER}(?:the )?",
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
    ("keep", rf"{REQUEST}keep {_OBJECT} {_MANNER}{_ARTICLE}", _OPEN),
    ("keep", r"(?:i|we) insist on ", _STRICT),
    ("keep", rf"{REQUEST}(?:switch|change) (?:back |over )?to {_ARTICLE}", _STRICT),
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

#: Words of which one must be there for the forms that begin so, or have such a part: compiling a form takes as long as
#: reading a whole text.
_NEEDS: Final = (
    (_DO_NOT, frozenset({"not", "t", "never", "no", "dont", "cannot", "under", "at"})),
    (_WANT_NOT, frozenset({"not", "t", "never", "dont"})),
    (f"{_MODAL} {_NOT}", frozenset({"not", "t", "never", "cannot"})),
    ("(?:avoid|stop", frozenset({"avoid", "stop", "refrain", "quit"})),
    ("|except|other than", frozenset({"but", "except", "other", "besides"})),
    ("|rather than|instead of", frozenset({"not", "never", "rather", "instead"})),
)


def _needs(pattern: str) -> frozenset[str]:
    return next((words for part, words in _NEEDS if part in pattern), frozenset())


#: Each form: what it orders, its words up to the name, what follows the name, and the words of which it needs one.
FORMS: Final = tuple(
    (role, LazyPattern(f"(?:{pattern})$"), needed, _needs(pattern)) for role, pattern, needed in _ORDERS
)

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
    rf"(?: (?:as (?:the|a|its|my) (?:{_FIELD}|primary {_FIELD}|main {_FIELD})|here|entirely|altogether|at all|now|"
    r"today|again|ever|anymore|any more|either|instead|completely|for now|"
    rf"(?:for|in|from|on|with|to) (?:this|it|that|me|(?:this|the|my|our) {_TASK})|only|alone|throughout|"
    rf"(?:from|of|off) (?:further |all |your |any )?(?:consideration|contention|suggestions?|recommendations?|"
    rf"(?:the |your )?(?:list|candidates?|options?|{_FIELD}s?|subjects|choices|routing|table|picture|candidate "
    r"subjects|"
    rf"list of \w+|suggestions|recommendations))))*"
)
_POLITE: Final = r"(?:(?: ,)? (?:please|thanks|thank you))?"
AFTER: Final = {
    _OPEN: LazyPattern(rf"{_HEAD}{_GOES_ON}"),
    _STRICT: LazyPattern(rf"(?: (?:{_FIELD}|{_STANDARDS}|package|profile|papers?))?{_TAIL}{_POLITE}{_END}"),
    "out": LazyPattern(
        rf"(?: {_FIELD})?(?: (?:out|away|aside|off|alone)(?: (?:of|from) (?:(?:the|this|my|our) (?:{_TASK}|picture)|"
        r"this|"
        r"it|here))?)"
        rf"{_POLITE}{_END}"
    ),
    "off": LazyPattern(
        rf"(?: (?:{_FIELD}|{_STANDARDS}))? (?:is|are|should be|must be|has to be) (?:off the table|off limits|out|"
        r"excluded|"
        rf"out of (?:scope|the question)|not wanted|not an option|left out|ruled out|forbidden){_END}"
        rf"|(?: (?:{_FIELD}|{_STANDARDS}))? (?:should|must) (?:not|never) be (?:used|suggested|recommended|applied|"
        r"chosen|"
        rf"activated|loaded|selected){_END}"
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
NOT_ALONE: Final = LazyPattern(rf"(?: {_TASK})?(?: only\b| alone\b| per se\b| journals?\b)")
