"""Qiongli's own words in a text, which must not convince its router: guidance, packets, resources, printed answers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from qiongli.document._blank import blank_match, without_pairs, without_spans
from qiongli.markers import GUIDANCE_BLOCK_LIMIT, GUIDANCE_MARKER
from qiongli.patterns import LazyPattern

_BLOCK: Final = LazyPattern(rf"<!--\s*{GUIDANCE_MARKER}begin()", re.IGNORECASE)

#: Keys that only objects of ours have: any one of them tells one, wherever in the object it stands.
OWN_KEYS: Final = (
    *("schema_version", "active_subject", "activation_status", "blocked_candidates", "blocking_failures"),
    *("borrowed_instead_of_suggested", "borrowed_lenses", "candidate_subjects", "context_bundle", "dismissed_subjects"),
    *("eligible_for_runtime_enabled", "evidence_sources", "guidance_digest", "latest_refinement", "lifecycle_events"),
    *("loaded_resources", "method_lenses", "missing_resources", "near_miss_protections", "primary_subject"),
    *("promotion_recommendation", "resource_activation_plan", "score_breakdown", "secondary_subjects", "signal_groups"),
    *("signal_id", "signal_ids", "state_digest", "subject_mode", "suggestion_count", "venue_profiles"),
    "what_would_change",
)
#: Keys that an answer has and no task: a mapping with one of them is no task packet.
_ANSWER_KEYS: Final = frozenset(
    {
        *("blocked_candidates", "blocking_failures", "candidate_subjects", "context_bundle"),
        *("latest_refinement", "lifecycle_events", "near_miss_protections", "resource_activation_plan"),
        *("score_breakdown", "signal_id", "state_digest"),
    }
)
_DECISIONS: Final = "no_subject|borrow_lens|suggest_subject|confirm_subject|lock_subject"
#: A key of ours with its opening quotation mark, or one that a value of ours follows.
_OWN_KEY: Final = LazyPattern(
    rf"[\"'](?:(?:{'|'.join(OWN_KEYS)})\\*[\"']\s*:"
    rf"|decision\\*[\"']\s*:\s*\\*[\"'](?:{_DECISIONS})\\*[\"']|checksum\\*[\"']\s*:\s*\\*[\"']sha256:)"
)
#: What structures JSON: a brace that opens an object, with the backslashes before the quotation mark of its first key;
#: other braces; quotation marks, with their backslashes.
_STRUCTURE: Final = LazyPattern(
    r"(?P<opening>\{)(?=(?:\s|\\+[nrt])*+(?P<level>\\*+)(?P<sign>[\"'])[^\"'\\{}\n]{1,64}\\*+[\"']\s*:)"
    r"|[{}]|(?<!\\)(?P<slashes>\\*+)(?P<mark>[\"'])"
)

_STRAIGHT: Final = dict.fromkeys(map(ord, "\u201c\u201d\u201e"), '"')

_RESOURCE: Final = LazyPattern(
    r"^[ \t]*(?:kind:[ \t]*[\"']?(?:overlay|domain_profile|method_pack|venue_profile)[\"']?[ \t]*\r?$"
    rf"|(?:-[ \t]+)?[\"']?(?:{'|'.join(OWN_KEYS[1:])})[\"']?:)",
    re.MULTILINE,
)
#: Lines that YAML may have: blank, indented, an item, a comment, a key.
_YAML: Final = LazyPattern(
    r"(?:^(?:[ \t]*\r?\n|[ \t]+[^\n]*\n?|-[ \t][^\n]*\n?|#[^\n]*\n?|[a-z][a-z_]*:(?:[ \t][^\n]*)?\r?(?:\n|\Z)))++",
    re.MULTILINE,
)
#: The front matter of a skill: a name and a description, and no title.
_FRONT_MATTER: Final = LazyPattern(r"^\ufeff?---[ \t]*\r?\n((?:(?!---)[^\n]*\n){1,40}?)---[ \t]*\r?$", re.MULTILINE)
_SKILL_NAME: Final = LazyPattern(r"^name:[ \t]*[\"']?[a-z0-9][a-z0-9-]*[\"']?[ \t]*\r?$", re.MULTILINE)

#: What `subject explain` says of a subject.
_VERDICTS: Final = ("primary", "secondary", "candidate", "blocked", "no_evidence")
#: How printed answers begin: of `route`, `task run`, `demo`, `subject explain`, `subject status`, `subject show`
#: and `resource list`.
_ANSWER: Final = LazyPattern(
    rf"^(?:(?:{_DECISIONS}): [^\n]*"
    r"|[a-z_]+: [^\n]*\n  domain: [^\n]*"
    rf"|[a-z][a-z0-9-]*: (?:{'|'.join(_VERDICTS)})\r?\n  [^\n]*"
    r"|subject: [^\n]*\nstrictness: [^\n]*"
    r"|[^\n]*\n  from [^\n]*, declared [a-z_]+\r?$"
    rf"|task[ ]+decision[ ]+subject[ ]+lenses[ ]+score[^\n]*(?:\n[^\n]*[ ]{{2,}}(?:{_DECISIONS})[ ]{{2,}}[^\n]*)*"
    r"|subject[ ]+kind[ ]+name[ ]+tokens[ ]+loadable[^\n]*(?:\n[a-z][a-z-]*[ ]{2,}[a-z_]+[ ]{2,}[^\n]*)*)"
    # And how they go on: indented lines, headings, and lines with a label.
    r"(?:\r?\n(?:[ \t\r]*(?=\n|\Z)|  [^\n]*"
    r"|(?:evidence|kept from counting|what would change it|resources|diagnostics|plan|nearest to a change)\r?(?=\n|\Z)"
    r"|(?:score of (?:subject|lens|resource) |context bundle, in order of authority |recorded as )[^\n]*"
    r"|(?:blocked|missing|kept from counting|borrowed instead of suggested|warning|not launched|neighbours|lenses"
    r"|venue profiles|dismissed|suggested|last run|guidance block): [^\n]*))*+",
    re.MULTILINE,
)
#: A piece of evidence as an explanation prints it: its place, the words, and the id of the signal.
_EVIDENCE: Final = LazyPattern(
    r"^[ \t]*(?:[^\s:]{1,64}:\d+-\d+ )?«[^\n]{0,400}?[ (][a-z][a-z0-9-]{0,63}\.[a-z][a-z-]{2,30}\.[a-z0-9][^\n]*",
    re.MULTILINE,
)
_ANSWER_WORDS: Final = (
    *(f": {verdict}\n  " for verdict in _VERDICTS),
    *(f": {verdict}\r\n  " for verdict in _VERDICTS),
    "_subject: ",
    "borrow_lens: ",
    "\n  domain: ",
    "\nstrictness: ",
    ", declared ",
    " loadable",
    "  lenses  ",
)


def is_answer(packet: Mapping[str, object]) -> bool:
    """Whether a mapping is an answer of Qiongli's and no task."""
    return not _ANSWER_KEYS.isdisjoint(packet)


def is_skill(front_matter: str) -> bool:
    """Whether the front matter of a Markdown text is that of a skill: instructions for an agent, and no research."""
    lines = f"\n{front_matter}"
    return "\ndescription:" in lines and "\ntitle:" not in lines and _SKILL_NAME.search(front_matter) is not None


def without_own_words(text: str) -> str:
    """The text without what Qiongli itself wrote."""
    if "<" in text and "<!--" in text:
        text = without_pairs(text, _BLOCK, _block_end, GUIDANCE_BLOCK_LIMIT)
    if "{" in text:
        text = _without_objects(text)
    if "schema_version:" in text:
        text = without_spans(text, _resources(text))
    if "\ndescription:" in text:
        text = without_spans(text, _skills(text))
    for word in _ANSWER_WORDS:
        if word in text:
            text = _ANSWER.sub(blank_match, text)
            break
    return _EVIDENCE.sub(blank_match, text) if "«" in text else text


def _without_objects(text: str) -> str:
    if _OWN_KEY.search(text) is not None:
        return without_spans(text, _objects(text))
    if "\u201d" in text:
        # Word processors bend the quotation marks of what is pasted.
        straight = text.translate(_STRAIGHT)
        if _OWN_KEY.search(straight) is not None:
            return without_spans(text, _objects(straight))
    return text


def _block_end(_: str) -> re.Pattern[str]:
    return re.compile(rf"<!--\s*{GUIDANCE_MARKER}end[^\n]*?(?:-->|$)", re.IGNORECASE | re.MULTILINE)


class _Object:
    """An object of JSON, or of Python as it is printed, that has been opened and not yet closed."""

    __slots__ = ("level", "own", "start", "within")

    def __init__(self, start: int, level: int) -> None:
        self.start = start
        #: Backslashes before each of its quotation marks: JSON within a text of JSON has one, within that three.
        self.level = level
        self.own = False
        #: The quotation mark that opened the text that we are in, if we are in one.
        self.within = ""


def _objects(text: str) -> Iterator[tuple[int, int]]:
    """The objects that have a key of ours. One that is cut off reaches to the end: what follows cannot be told from it.

    One pass without a decoder, which would count the lines up to each error that it meets, in quadratic time.
    """
    opened: list[_Object] = []
    for match in _STRUCTURE.finditer(text):
        found = match.group()
        if match["mark"] is not None:
            yield from _quotation_mark(text, match, opened)
        elif match["opening"] is not None:
            level = len(match["level"])
            if opened and opened[-1].within == match["sign"] and opened[-1].level == level:
                # No text has such a brace: a quotation mark before it was no JSON.
                opened[-1].within = ""
            opened.append(_Object(match.start(), level))
        elif opened and not opened[-1].within:
            if found == "{":
                opened.append(_Object(match.start(), opened[-1].level))
            else:
                last = opened.pop()
                if last.own:
                    yield last.start, match.end()
    for last in opened:
        if last.own:
            yield last.start, len(text)
            return


def _quotation_mark(text: str, match: re.Match[str], opened: list[_Object]) -> Iterator[tuple[int, int]]:
    """Open or close a text of the innermost object; what stood in a text that ends here was cut off."""
    slashes, mark = len(match["slashes"]), match["mark"]
    while opened:
        last = opened[-1]
        if slashes % (2 * (last.level + 1)) == last.level:
            if not last.within:
                last.within = mark
                last.own = last.own or _OWN_KEY.match(text, match.start("mark")) is not None
            elif last.within == mark:
                last.within = ""
            return
        if slashes >= last.level or len(opened) == 1:
            return
        opened.pop()
        if last.own:
            yield last.start, match.start()


def _resources(text: str) -> Iterator[tuple[int, int]]:
    """Resource files, contracts, manifests and packets as YAML, which says what it is and of which schema."""
    for match in _YAML.finditer(text):
        lines = match.group()
        if "schema_version:" in lines and (head := _RESOURCE.search(lines)) is not None:
            first = min(head.start(), lines.index("schema_version:"))
            # What stands in a paragraph before it is somebody else's.
            start = max(lines.rfind("\n\n", 0, first), lines.rfind("\n\r\n", 0, first), 0)
            yield match.start() + start, match.end()


def _skills(text: str) -> Iterator[tuple[int, int]]:
    """A skill, which nothing ends."""
    for match in _FRONT_MATTER.finditer(text):
        if is_skill(match.group(1)):
            yield match.start(), len(text)
            return
