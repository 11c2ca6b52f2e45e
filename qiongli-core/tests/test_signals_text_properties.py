"""K1 to K5 and I3 of the heuristics contract: what may be done to a text without changing what it shows."""

from __future__ import annotations

import gc
import time
import unicodedata
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qiongli.contract.models import Pattern, Signal, SubjectContract, Suppressor
from qiongli.document import normal_form, read_document
from qiongli.errors import InputError
from qiongli.records._units import Ppm
from qiongli.records.evidence import DIMENSIONS, Dimension, Evidence
from qiongli.signals import SignalIndex, compile_index, select_spans
from qiongli.signals.index import index_from_json, index_to_json


def signal(subject: str, dimension: Dimension, name: str, *patterns: Pattern) -> Signal:
    return Signal(f"{subject}.{dimension}.{name}", subject, dimension, name, Ppm(150_000), "subject", patterns, (), ())


CONTRACTS = (
    SubjectContract(
        "1.0",
        "finance",
        "Finance",
        "candidate",
        signals=(
            signal("finance", "method", "event-study", Pattern("phrase", "event study"), Pattern("phrase", "事件研究")),
            signal("finance", "data_or_outcome", "returns", Pattern("phrase", "stock return")),
            signal("finance", "data_or_outcome", "bond", Pattern("phrase", "bond")),
            signal("finance", "venue", "jf", Pattern("acronym", "JF", near=("journal", "submit"))),
            signal("finance", "theory_or_construct", "spread", Pattern("regex", "(credit|bond) spreads?")),
        ),
        suppressors=(
            Suppressor("finance.suppressor.glue", (Pattern("phrase", "bond strength"),), Ppm(90_000), (), ()),
        ),
    ),
    SubjectContract(
        "1.0",
        "economics",
        "Economics",
        "candidate",
        signals=(
            signal("economics", "method", "did", Pattern("phrase", "difference-in-differences")),
            signal("economics", "data_or_outcome", "wages", Pattern("phrase", "minimum wage")),
        ),
    ),
)
INDEX = compile_index(CONTRACTS)

PIECES = (
    *(
        "event study",
        "stock returns",
        "bond",
        "bond strength",
        "credit spreads",
        "minimum wage",
        "JF",
        "journal",
        "the",
    ),
    *(
        "difference-in-differences",
        "we do not use",
        "rather than",
        "but",
        "not only",
        "of firms",
        "我们不使用",
        "事件研究",
    ),
    *("keep this in economics", "do not treat this as finance", "without", "is not used", "and", "or", "We show"),
)
TEXTS = st.lists(
    st.tuples(st.sampled_from(PIECES), st.sampled_from([" ", " ", " ", ". ", ", ", "; ", "，", "。"])), max_size=14
).map(lambda parts: "".join(piece + separator for piece, separator in parts))


def shown(text: str) -> list[tuple[str, str, str]]:
    """Who was found, in which sense and with which words, without places."""
    return sorted(
        (item.signal_id, item.polarity, " ".join(normal_form(item.snippet)))
        for item in INDEX.detect(read_document(text))
    )


def full_width(text: str) -> str:
    return "".join(
        chr(ord(character) + 0xFEE0) if "!" <= character <= "~" else "\u3000" if character == " " else character
        for character in text
    )


def hyphenated(text: str) -> str:
    """Hyphens within the phrases that one may hyphenate."""
    for phrase in ("event study", "stock returns", "bond strength", "credit spreads", "minimum wage"):
        text = text.replace(phrase, phrase.replace(" ", "-"))
    return text


def inside_words(mark: str) -> Callable[[str], str]:
    return lambda text: "".join(
        character + mark if character.isascii() and character.isalpha() else character for character in text
    )


VARIANTS: dict[str, Callable[[str], str]] = {
    "NFC": lambda text: unicodedata.normalize("NFC", text),
    "NFD": lambda text: unicodedata.normalize("NFD", text),
    "full width": full_width,
    "a run of spaces": lambda text: text.replace(" ", "   "),
    "newline": lambda text: text.replace(" ", "\n"),
    "no-break space": lambda text: text.replace(" ", "\u00a0"),
    "soft hyphen": inside_words("\u00ad"),
    "zero-width space": inside_words("\u200b"),
    "hyphens": hyphenated,
}


@pytest.mark.parametrize("variant", VARIANTS)
@given(TEXTS)
@settings(max_examples=60)
def test_k1_spelling_changes_nothing(variant: str, text: str) -> None:
    assert shown(VARIANTS[variant](text)) == shown(text)


@given(TEXTS)
def test_k1_case_changes_nothing_but_acronyms(text: str) -> None:
    def without_acronyms(found: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
        return [item for item in found if item[0] != "finance.venue.jf"]

    assert without_acronyms(shown(text.upper())) == without_acronyms(shown(text.lower()))


@given(TEXTS)
def test_k2_a_sentence_without_signals_changes_nothing(text: str) -> None:
    before = INDEX.detect(read_document(text + "."))
    assert INDEX.detect(read_document(text + ". The weather was fine that day.")) == before


@given(TEXTS, TEXTS)
def test_k3_joining_two_texts_loses_no_evidence(first: str, second: str) -> None:
    def key(item: Evidence, offset: int = 0) -> tuple[str, int, int, str]:
        return item.signal_id, item.start + offset, item.end + offset, item.polarity

    together = {key(item) for item in INDEX.detect(read_document(f"{first}\n\n{second}"))}
    apart = {key(item) for item in INDEX.detect(read_document(first))}
    apart |= {key(item, len(first) + 2) for item in INDEX.detect(read_document(second))}
    assert apart <= together


@given(st.sampled_from(["bond", "event study", "minimum wage"]), st.text("abcxyz", min_size=1, max_size=4))
def test_k4_inside_a_longer_word_nothing_fires(phrase: str, letters: str) -> None:
    found = shown(f"the {letters}{phrase} and the {phrase}{letters}x of it")
    assert [item for item in found if item[2] == phrase] == []


def test_k5_a_text_above_the_limit_is_refused_and_never_cut_in_silence() -> None:
    with pytest.raises(InputError, match="bytes") as caught:
        read_document("event study " * 100, limit=1_000)
    assert caught.value.code == "input_too_large"


#: Any text that an encoding could have produced.
SOUND: st.SearchStrategy[str] = st.text(st.characters(codec="utf-8"), max_size=60) | TEXTS


@given(SOUND, SOUND)
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_i3_slices_of_the_original_renormalise_to_what_matched(before: str, after: str) -> None:
    forms = {
        "finance.method.event-study": {("event", "study"), ("event", "studies"), tuple("事件研究")},
        "finance.data_or_outcome.returns": {("stock", "return"), ("stock", "returns")},
        "finance.data_or_outcome.bond": {("bond",), ("bonds",)},
    }
    document = read_document(f"{before} event\u00adstudy, Event\u2013Studies {after} bonds")
    for item in INDEX.detect(document):
        assert item.snippet == document.fields[0].text[item.start : item.end]
        if item.signal_id in forms:
            assert normal_form(item.snippet) in forms[item.signal_id]


@given(SOUND, SOUND)
def test_any_sound_text_ends_in_evidence(title: str, body: str) -> None:
    evidence = INDEX.detect(read_document({"title": title, "draft": f"{body}event study\x00{title}"}))
    assert all(item.start < item.end for item in evidence)


@given(SOUND, st.characters(categories=["Cs"]))
def test_lone_surrogates_are_undecodable(text: str, surrogate: str) -> None:
    with pytest.raises(InputError) as caught:
        read_document(text + surrogate)
    assert caught.value.code == "undecodable"


@given(TEXTS)
def test_a_stored_index_finds_the_same(text: str) -> None:
    document = read_document(text)
    assert index_from_json(index_to_json(INDEX)).detect(document) == INDEX.detect(document)


def test_the_order_of_contracts_changes_nothing() -> None:
    assert index_to_json(compile_index(CONTRACTS[::-1])) == index_to_json(INDEX)


@given(TEXTS)
def test_kept_spans_are_disjoint_within_a_subject(text: str) -> None:
    evidence = INDEX.detect(read_document(text))
    kept = select_spans(evidence)
    for place, item in enumerate(kept):
        for other in kept[place + 1 :]:
            assert item.subject != other.subject or item.end <= other.start or other.end <= item.start
    # What was dropped shares its span with something at least as long that was kept.
    for item in evidence:
        if item.role == "signal" and item.polarity == "asserted" and item not in kept:
            assert any(
                other.subject == item.subject
                and other.start < item.end
                and item.start < other.end
                and other.end - other.start >= item.end - item.start
                for other in kept
            )


def claim(number: int, start: int, size: int, weight: int, subject: str, field: str) -> Evidence:
    return Evidence(
        f"{subject}.{number}",
        subject,
        DIMENSIONS[number % len(DIMENSIONS)],
        "value",
        "subject",
        Ppm(weight),
        field,
        start,
        start + size,
    )


CLAIMS = st.lists(
    st.builds(
        claim,
        st.integers(0, 9),
        st.integers(0, 20),
        st.integers(1, 6),
        st.sampled_from([60_000, 90_000, 200_000]),
        st.sampled_from(["economics", "finance"]),
        st.sampled_from(["abstract", "title"]),
    ),
    max_size=16,
    unique=True,
)


def strongest_first(item: Evidence) -> tuple[int, int, int, str]:
    return item.start - item.end, -item.weight, DIMENSIONS.index(item.dimension), item.signal_id


@given(CLAIMS, st.randoms())
def test_the_strongest_claim_takes_a_span_and_the_next_one_what_is_left(claims: list[Evidence], order: Random) -> None:
    expected: list[Evidence] = []
    # As the rule reads: longest, heaviest, first dimension, first id; between two alike, the one that comes first.
    for item in sorted(sorted(claims, key=lambda item: item.start), key=strongest_first):
        if not any(
            (other.subject, other.field) == (item.subject, item.field)
            and other.start < item.end
            and item.start < other.end
            for other in expected
        ):
            expected.append(item)
    order.shuffle(claims)
    assert set(select_spans(claims)) == set(expected)


@pytest.mark.parametrize(
    "unit",
    [
        "We run an event study of stock returns. ",
        "we do not use bond strength, nor an event study; ",
        "`" * 3 + "\n",
        "-",
        "do not treat this as finance ",
        '"bond" “event study” ',
        "keep          ",
        "不使用事件研究，",
        "a@",
        "x/y",
        "e\u0301",
        "bond-\n",
        "a-\n",
        "\u0301\u0323",
        "'a ",
        "‘a b ",
        "„a ",
        "References\n",
        '{"schema_version": [',
        "\u200b",
        "finance ",
        *(
            "References\nDoe, J. (2001).\n",
            "参考文献\n",
            "- ```\n",
            "\n\n    x = f(1)\n",
            "a/b.c/",
            "\\a\\b",
            "<code>",
            "\\verb|",
        ),
        *(
            '{\\"signal_id\\":',
            "kind: overlay\nschema_version: 1\n\n",
            "no_subject: x\n  y\n",
            "<!-- qiongli:managed:begin ",
        ),
    ],
    ids=lambda unit: repr(unit)[:30],
)
def test_time_grows_with_the_text_and_not_with_its_square(unit: str) -> None:
    assert_linear("", unit)


@pytest.mark.parametrize("unit", ['{"subject":"} ', '{"subject":x} ', '{"subject":', "{'subject': 1} "])
def test_packets_of_others_take_linear_time(unit: str) -> None:
    assert_linear('"schema_version" ', unit)


def test_many_quotations_within_one_block_take_linear_time() -> None:
    assert_linear("> ", '"we never trade on it" event study ')


@pytest.mark.parametrize("expression", ["x( .*y)?", ".*", r"(\w+ )*x", "(x|x x)*"])
def test_no_expression_takes_more_than_linear_time(expression: str) -> None:
    pattern = signal("finance", "method", "x", Pattern("regex", expression))
    assert_linear("", "x ", compile_index([SubjectContract("1.0", "finance", "F", "candidate", signals=(pattern,))]))


def assert_linear(beginning: str, unit: str, index: SignalIndex = INDEX) -> None:
    def spent(size: int) -> float:
        text = beginning + (unit * (size // len(unit) + 1))[:size]
        best = 1e9
        for _ in range(3):
            # What the collector looks through belongs to all the tests before, not to this text.
            gc.disable()
            start = time.process_time()
            select_spans(index.detect(read_document(text)))
            best = min(best, time.process_time() - start)
            gc.enable()
        return best

    spent(1_000)
    small = spent(8_000)
    # Sixteen times the text: 256 times the time if it were quadratic. The constant forgives the clock.
    assert spent(128_000) < 80 * small + 0.1
