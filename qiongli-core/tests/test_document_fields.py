"""What of a task packet is subject text: fields, masks, reference lists, limits."""

from __future__ import annotations

import json
import time

import pytest

from qiongli.document import DEFAULT_LIMIT, normal_form, read_document
from qiongli.errors import InputError

#: A phrase that stands nowhere else in the cases below.
SIGN = ("event", "study")


def seen(text: str) -> bool:
    """Whether the phrase is subject text, in the references or not."""
    words = read_document(text).fields[0].tokens.words if text else ()
    return any(words[index : index + 2] == SIGN for index in range(len(words)))


def counted(text: str) -> bool:
    """Whether the phrase is subject text outside a reference list."""
    field = read_document(text).fields[0]
    words = field.tokens.words
    return any(
        words[index : index + 2] == SIGN and not field.is_reference(field.tokens.starts[index])
        for index in range(len(words))
    )


# --- fields -------------------------------------------------------------------------------------------------------


def test_identifiers_and_settings_are_no_text() -> None:
    packet = {"task_id": "event study", "run_id": "event study", "paper_type": "event study", "doi": "event study"}
    packet |= {"url": "event study", "path": "event study", "authors": "E. Study", "topic": "tides"}
    document = read_document(packet)
    assert [field.name for field in document.fields] == ["topic"]
    assert document.task_id == "event study"


def test_known_fields_come_in_their_order_and_others_by_name() -> None:
    document = read_document({"zeta": "z", "draft": "d", "alpha": "a", "venue": "v", "title": "t", "topic": "o"})
    assert [field.name for field in document.fields] == ["topic", "title", "venue", "draft", "alpha", "zeta"]


def test_lists_of_texts_are_joined_and_numbers_are_no_text() -> None:
    document = read_document({"keywords": ["tides", "silt"], "year": 1999, "flag": True, "none": None})
    assert [(field.name, field.tokens.words) for field in document.fields] == [("keywords", ("tides", "silt"))]


def test_words_of_two_keywords_make_no_phrase() -> None:
    field = read_document({"keywords": ["event", "study"]}).fields[0]
    assert ";" in field.text


@pytest.mark.parametrize("packet", [7, None, ["a"], {"topic": object()}, {"topic": [1, 2]}, {3: "topic"}])
def test_another_type_is_an_error_with_a_code(packet: object) -> None:
    with pytest.raises(InputError) as caught:
        read_document(packet)  # type: ignore[arg-type]
    assert caught.value.code == "invalid_task_packet"


def test_the_fingerprint_is_that_of_the_subject_text() -> None:
    same = {
        read_document(packet).fingerprint
        for packet in (
            {"topic": "Event study"},
            {"topic": "EVENT\u00a0study", "task_id": "C2"},
            {"topic": "event-study", "year": 3},
        )
    }
    assert len(same) == 1
    assert read_document({"topic": "event studies"}).fingerprint not in same


def test_a_text_and_a_field_called_text_are_the_same() -> None:
    assert read_document("tides").fields == read_document({"text": "tides"}).fields


@pytest.mark.parametrize("empty", ["", "   ", "\n\u200b\n", {}, {"topic": ""}, "...!"])
def test_an_empty_packet_has_no_text(empty: object) -> None:
    assert read_document(empty).has_text is False  # type: ignore[arg-type]


# --- what is masked -----------------------------------------------------------------------------------------------

PACKET = json.dumps({"schema_version": "1.0", "decision": "suggest_subject", "summary": "an event study"})


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("see https://example.org/event-study?x=event+study now", id="URL"),
        pytest.param("see HTTP://EXAMPLE.ORG/event-study", id="URL in capitals"),
        pytest.param("see www.event-study.org", id="URL without a scheme"),
        pytest.param("write to event-study@example.org", id="e-mail"),
        pytest.param("open /home/me/event-study/notes", id="path"),
        pytest.param("open ~/work/event-study/notes", id="path of a home folder"),
        pytest.param("open ../event-study/notes", id="relative path"),
        pytest.param(r"open C:\work\event-study\notes.txt", id="path of Windows"),
        pytest.param("run event-study.py now", id="file name"),
        pytest.param("run code/event-study.ipynb now", id="file name in a folder"),
        pytest.param("doi 10.1234/event-study.5", id="DOI"),
        pytest.param("call `event study` here", id="inline code"),
        pytest.param("call ``event study`` here", id="inline code with two marks"),
        pytest.param("code:\n```python\nevent study\n```\nend", id="fence"),
        pytest.param("code:\n~~~\nevent study\n~~~\nend", id="fence of tildes"),
        pytest.param("code:\n````\n```\nevent study\n```\n````\nend", id="fence within a longer fence"),
        pytest.param("code:\n```\nevent study", id="fence that is never closed"),
        pytest.param("<!-- qiongli:begin x -->\nevent study\n<!-- qiongli:end x -->\nend", id="managed block"),
        pytest.param("<!-- QIONGLI:BEGIN -->\nevent study", id="managed block that is never closed"),
        pytest.param(f"the packet was {PACKET} and so on", id="own packet"),
        pytest.param(f"the packet was {PACKET[:-3]}", id="own packet, cut off"),
        pytest.param(json.dumps(json.loads(PACKET), indent=2, sort_keys=True), id="own packet, sorted and indented"),
        pytest.param(json.dumps({"packets": [json.loads(PACKET)]}), id="own packets"),
    ],
)
def test_what_is_no_subject_text_is_masked_and_keeps_its_place(text: str) -> None:
    field = read_document(text).fields[0]
    assert not seen(text)
    assert len(field.masked) == len(field.text)
    assert field.masked.count("\n") == field.text.count("\n")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("(see https://example.org) an event study", id="after a URL"),
        pytest.param("```\ncode\n```\nan event study", id="after a fence"),
        pytest.param("`code` and an event study and `code`", id="between code"),
        pytest.param("one ` mark and an event study", id="after a lone mark"),
        pytest.param("<!-- qiongli:begin x -->\ny\n<!-- qiongli:end x -->\nan event study", id="after a managed block"),
        pytest.param("<!-- a comment --> an event study", id="after a comment of somebody else"),
        pytest.param(f"{PACKET} an event study", id="after an own packet"),
        pytest.param('{"topic": "an event study"} with "schema_version" beside it', id="JSON of somebody else"),
        pytest.param("and/or an event study at 3/4 of 10.5", id="strokes and numbers"),
        pytest.param("an event study.Then more", id="a full stop without a space"),
        pytest.param("e-mail @ us, an event study", id="a lone at sign"),
    ],
)
def test_what_stands_beside_it_is_still_text(text: str) -> None:
    assert seen(text)


# --- reference lists ----------------------------------------------------------------------------------------------

ENTRY = "Doe, J. (1999). On an event study. Journal of Silt, 3, 1-9."
ENTRIES = f"{ENTRY}\nRoe, R. (2001). Another one. Journal of Mud, 4, 2-8."


@pytest.mark.parametrize(
    "heading",
    [
        "References",
        "REFERENCES",
        "References:",
        "  References  ",
        "12. References",
        "12 References",
        "VII. References",
        "R EFERENCES",
        "Bibliography",
        "Works Cited",
        "Literature cited",
        "List of references",
        "References and Notes",
        "# References",
        "## References ##",
        "## 6. References",
        "**References**",
        "\\section*{References}",
        "\\begin{thebibliography}{99}",
        "参考文献",
        "參考文獻",
        "主要参考文献",
        "【参考文献】",
        "References\r",
    ],
)
def test_a_heading_on_its_own_line_begins_a_reference_list(heading: str) -> None:
    for gap in ("\n", "\n\n"):
        text = f"We date the tides.{gap}{heading}{gap}{ENTRIES}\n"
        assert seen(text)
        assert not counted(text), (heading, gap)


def test_a_heading_that_runs_into_its_first_entry_begins_a_list_in_extracted_text() -> None:
    assert not counted(f"We date the tides.\nREFERENCES {ENTRIES}")
    assert not counted(f"We date the tides.\n12. References [1] {ENTRIES}")


@pytest.mark.parametrize(
    "text",
    [
        "The references to an event study are many.",
        "We study references.\nAn event study of references follows.",
        "References\nto an event study are many.",
        f"Contents\nReferences\n\n1 Introduction\nAn event study of tides.\n\nReferences\n{ENTRIES}",
    ],
    ids=["in a sentence", "at a line's end", "a task about references", "a table of contents"],
)
def test_the_word_alone_begins_none(text: str) -> None:
    assert counted(text)


@pytest.mark.parametrize(
    "after",
    [
        "Appendix A",
        "APPENDIX",
        "# Appendix",
        "Online Appendix",
        "\\appendix",
        "\\end{thebibliography}",
        "## Discussion",
        "附录",
        "附錄 A",
    ],
)
def test_what_follows_the_list_counts_again(after: str) -> None:
    text = f"We date the tides.\n\nReferences\n\n{ENTRIES}\n\n{after}\n\nWe add an event study.\n"
    assert counted(text)
    field = read_document(text).fields[0]
    assert field.is_reference(text.index("Journal of Silt"))
    assert not field.is_reference(text.index("We add"))


# --- limits and time ----------------------------------------------------------------------------------------------


def test_k5_input_beyond_the_limit_is_never_cut_silently() -> None:
    assert read_document("x" * DEFAULT_LIMIT).truncated is False
    for text in ("x" * (DEFAULT_LIMIT + 1), "资" * (DEFAULT_LIMIT // 3 + 1)):
        with pytest.raises(InputError) as caught:
            read_document(text)
        assert caught.value.code == "input_too_large"
        assert str(DEFAULT_LIMIT) in caught.value.expected


def test_the_limit_is_for_all_fields_together_and_can_be_set() -> None:
    with pytest.raises(InputError):
        read_document({"topic": "abc", "draft": "def"}, limit=5)
    assert read_document({"topic": "abc", "draft": "de"}, limit=5).size == 5


def test_a_lone_surrogate_is_undecodable_and_its_field_named() -> None:
    with pytest.raises(InputError) as caught:
        read_document({"draft": "tides \udc80"})
    assert (caught.value.code, caught.value.place) == ("undecodable", "draft")


#: Units that a pattern might look at again and again; repeated they must take time in proportion.
HOSTILE = [
    "an event study of tides, ",
    "a-",
    "a.",
    "a/",
    "`",
    "``` ",
    "\n```\n",
    "~~~\n",
    "<!-- qiongli:begin ",
    "@",
    "a@b.",
    "10.1234/",
    "http://",
    '{"schema_version": ',
    '{"schema_version": 1} ',
    "References\n",
    "\n\n \n",
    "-\n",
    "资",
    "é\u0301",
    "\u200b",
    "(",
    '"',
    "“",
    ".py",
    "\\",
    "# ",
]


def seconds(text: str) -> float:
    best = 9.0
    for _ in range(3):
        begin = time.perf_counter()
        read_document(text)
        best = min(best, time.perf_counter() - begin)
    return best


@pytest.mark.parametrize("unit", HOSTILE)
def test_reading_takes_linear_time(unit: str) -> None:
    # Eight times the text may take twenty times as long on a busy machine; quadratic would be sixty-four.
    small = max(seconds(unit * (8_000 // len(unit))), 0.0005)
    assert seconds(unit * (64_000 // len(unit))) < 20 * small


def test_equal_texts_have_equal_tokens_however_they_are_masked() -> None:
    plain = read_document("An event study").fields[0]
    assert plain.tokens.words == normal_form("An event study")
    assert plain.masked == plain.text
