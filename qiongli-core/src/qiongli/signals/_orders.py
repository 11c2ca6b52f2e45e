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
from qiongli.signals._order_forms import AFTER, FORMS, LEAVING_OUT, NOT_ALONE, REQUEST, TURN

_CONNECTIVE: Final = (
    r"(?:(?:and|but|so|then|also|again|therefore|thus|hence|otherwise|instead|finally|important|importantly|note|"
    r"note that|remember|remember that|reminder|nb|ok|okay|yes|no|well|hi|hello|dear|hey|claude|assistant|qiongli|"
    r"codex|gemini|first|second|third|now|just|for now|anyway|thanks|sorry|to be clear|mind that|keep in mind that|"
    r"user|instruction|instructions|because|since|as|i repeat)(?: ,| :)? )*"
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
        rf"^{_CONNECTIVE}(?:please )?{REQUEST}(?:{TURN}|check|summari[sz]e|focus|suggest|help|give|look|analy[sz]e|"
        rf"do|don|{LEAVING_OUT})\b[^.;!?\n]{{0,100}}?(?: ,)? (?:and|but|then) (?:please |also )?"
    ),
)
#: Without one of these an order can only begin where its sentence does.
_LATER_BEGINNINGS: Final = ("please", "kindly", "so ", ", hence", ", therefore", ", thus", ":", "(", ")", "[", "]")
#: Two sentences with a comma between them: here the order must speak of the task or to the assistant.
_SPLICE: Final = LazyPattern(r"^[^,:]{1,120}, (?:and |but )?")
_OF_THE_TASK: Final = LazyPattern(r"\b(?:this|you|i|my|please)\b")
_REPORT: Final = LazyPattern(
    r"\b(?<!i )(?<!we )(?:said|says|wrote|writes|told|asked|asks|argues?|argued|advised|advises|recommends?|"
    r"recommended|replied|suggests|suggested|claims?|claimed|insists?|insisted|reviewers?|referees?|editors?|"
    r"colleagues?|"
    r"supervisors?|quotes?|whether|why)\b"
)
_QUESTION: Final = LazyPattern(r"[^.;!\n]*\?")
_ASKED: Final = LazyPattern(r"\b(?:please|kindly|you)\b")
#: With which words an order can begin: few sentences have to be compared with all forms.
_FIRST: Final = frozenset(
    {
        *("do", "don", "dont", "never", "there", "no", "better", "please", "let", "could", "can", "would", "will"),
        *("make", "be", "take", "try", "remember", "under", "at", "avoid", "stop", "refrain", "quit", "it", "its"),
        *("this", "the", "my", "our", "not", "absolutely", "definitely", "and", "any", "anything", "every"),
        *("everything", "see", "ensure"),
        *("neither", "only", "just", "always", "strictly", "purely", "switch", "treat", "route", "reroute"),
        *("move", "classify"),
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
        *("am", "m", "insist", "re", "told", "asked", "rather", "never", "really", "still", "only", "did"),
        *("didn", "should", "must", "shall"),
        *("may", "can", "ought", "cannot", "are", "have", "shouldn", "mustn", "needn"),
    }
)


def _may_begin(sentence: str, offset: int) -> bool:
    first, _, rest = sentence[offset:].partition(" ")
    return first in _FIRST or not first or (first in _OF_US and rest.partition(" ")[0] in _SECOND)


def may_order(sentence: str) -> bool:
    """Whether an order in English can begin in what is in sight of a sentence, which `english_order` describes."""
    return not sentence.startswith("_ ") or any(mark in sentence for mark in _LATER_BEGINNINGS)


def english_order(sentence: str, after: str) -> tuple[str, int, bool] | None:
    """Whether the words from a sentence's beginning up to a subject's name order something.

    `after` is what follows the name. Both are spelled as `clause_text` does; `sentence` begins with `_` where the
    beginning of the sentence is out of sight. What is found is the role, where the order begins, and whether it is
    somebody else's.
    """
    open_ends = [needed for needed, pattern in AFTER.items() if pattern.match(after)]
    if not open_ends:
        return None
    words = sentence.split(" ")
    for offset, splice in _beginnings(sentence):
        if not _may_begin(sentence, offset):
            continue
        for role, pattern, needed, one_of in FORMS:
            if (
                needed not in open_ends
                or (one_of and one_of.isdisjoint(words))
                or (role == "exclude" and needed != "out" and NOT_ALONE.match(after))
            ):
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
