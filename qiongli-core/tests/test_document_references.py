"""Where reference lists begin and end: what stands in them is context and no evidence, what follows them counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from qiongli.document import read_document
from qiongli.document.formats import read_file


def references(text: str) -> str:
    (field,) = read_document(text).fields
    return "|".join(text[start:end] for start, end in field.references)


BODY = "We study rain.\n\n"
ENTRY = "Doe, J. (2001). Bonds. Journal of Finance."


@pytest.mark.parametrize(
    "heading",
    [
        "References",
        "REFERENCES",
        "7 References",
        "7. References",
        "VI. REFERENCES",
        "## References",
        "## References ##",
        "**References**",
        "Works Cited",
        "Bibliography:",
        "References and Notes",
        r"\section*{References}",
        "参考文献",
        "參考文獻",
        "【参考文献】",
        r"\begin{thebibliography}{99}",
    ],
)
def test_a_heading_begins_the_references(heading: str) -> None:
    assert references(f"{BODY}{heading}\n{ENTRY}\n") == f"{heading}\n{ENTRY}\n"


def test_extracted_pdf_text_may_run_the_heading_into_the_first_entry() -> None:
    assert references(f"{BODY}References Doe, J. (2001). Bonds.\n").startswith("References Doe")


def test_a_bibliography_command_is_references() -> None:
    assert references(f"{BODY}\\bibliography{{bonds}}\n") == "\\bibliography{bonds}\n"


@pytest.mark.parametrize("after", ["Appendix A", "## Data", "Online Appendix", r"\appendix", "附录"])
def test_what_follows_the_references_is_text_again(after: str) -> None:
    assert references(f"{BODY}References\n{ENTRY}\n{after}\nMore on rain.") == f"References\n{ENTRY}\n"


def test_a_table_of_contents_is_not_the_list() -> None:
    assert references(f"References\n\n{BODY}References\n{ENTRY}") == f"References\n{ENTRY}"


@pytest.mark.parametrize("text", ["We thank him for references to bonds.", "References\nWho checks them?", BODY])
def test_the_word_alone_is_no_list(text: str) -> None:
    assert references(text) == ""


def test_a_text_of_references_only_is_a_list() -> None:
    assert references(f"References\n{ENTRY}\n{ENTRY}") != ""


NURSES = "We interview nurses about their shifts and count how often they sleep badly.\n\n"
FINANCE = (
    "Fama, E. F. and French, K. R. (1993). Common risk factors in the returns on stocks and bonds. JFE 33, 3-56.\n"
    "MacKinlay, A. C. (1997). Event studies in economics and finance. Journal of Economic Literature 35, 13-39.\n"
    "Jegadeesh, N. and Titman, S. (1993). Returns to buying winners. Journal of Finance 48, 65-91.\n"
)
HEADINGS = r"""
References
REFERENCES.
References:
REFERENCES 23
References 23
Selected References
References & Notes
References and Notes
References (continued)
Literature Cited
Works Consulted
Selected Bibliography
Annotated Bibliography
# References {.unnumbered}
## References {#refs}
# References {-}
# 7 References
# **References**
*References*
_References_
**References:**
**7. References**
__References__
§ REFERENCES
<h2 id="refs">References</h2>
\section*{References}
\section*{References}\addcontentsline{toc}{section}{References}
\section*{Bibliography}
\section*{参考文献}
\chapter*{Bibliography}
\chapter{References} \label{sec:refs}
参考文献：
参考文献:
参 考 文 献
一、参考文献
七、 参考文献
（一）参考文献
第七章 参考文献
7 参考文献
7、参考文献
[参考文献]
［参考文献］
【参考文献】
〔參考文獻〕
主要参考文献
引用文献
""".strip().split("\n")


def evidence(text: str) -> str:
    """What of a text counts as evidence if it matches anything: what stands in no reference list."""
    (field,) = read_document(text).fields
    kept = [character for place, character in enumerate(text) if not field.is_reference(place)]
    return "".join(kept)


@pytest.mark.parametrize("heading", HEADINGS)
@pytest.mark.parametrize("gap", ["\n", "\n\n"])
def test_every_spelling_of_the_heading_begins_a_list(heading: str, gap: str) -> None:
    assert evidence(f"{NURSES}{heading}{gap}{FINANCE}").strip() == NURSES.strip()


@pytest.mark.parametrize(
    "spelled",
    [
        "{}",
        "  {}  ",
        "\u00a0{}\u00a0",
        "\ufeff{}",
        "\u200b{}\u200b",
        "\u3000{}",
        "\t{}\t",
        "\x0c{}",
        "\r\n{}\r",
    ],
)
@pytest.mark.parametrize(
    "heading", ["References", "Works  Cited", "Works\u00a0Cited", "Refer\u00adences", "Ref\u200berences"]
)
def test_k1_spaces_and_invisible_characters_change_no_heading(heading: str, spelled: str) -> None:
    assert "Journal" not in evidence(f"{NURSES}{spelled.format(heading)}\n{FINANCE}")


@pytest.mark.parametrize(
    "heading", ["Ｒｅｆｅｒｅｎｃｅｓ", "ＲＥＦＥＲＥＮＣＥＳ", "参考文\u200b献", "［参　考　文　献］"]
)
def test_k1_letters_in_full_width_are_letters(heading: str) -> None:
    assert "Journal" not in evidence(f"{NURSES}{heading}\n{FINANCE}")


def test_the_range_is_that_of_the_original_characters() -> None:
    text = f"\ufeffWe so\u00adlicit nur\u200bses.\n\nRef\u00aderences\n{FINANCE}\nAppendix\nMore\u00ad rain."
    assert references(text) == f"Ref\u00aderences\n{FINANCE}\n"


@pytest.mark.parametrize("ending", ["\r\n", "\r", "\u2028", "\x0b"])
def test_lines_end_in_many_ways(ending: str) -> None:
    text = f"{NURSES}References\n{FINANCE}\nAppendix\nWe trade.".replace("\n", ending)
    assert "Journal" not in evidence(text)
    assert evidence(text).endswith("We trade.")


def test_every_one_of_several_lists_counts_and_what_stands_between_them_is_text() -> None:
    chapter = (
        "Nurses and their wards are what this chapter is about; we ask them and they answer, which is not easy.\n\n"
    )
    text = f"{NURSES}References\n\n{FINANCE}\n\n2 Wards\n\n{chapter}References\n\n{FINANCE}"
    assert "Journal" not in evidence(text)
    assert chapter in evidence(text)


def test_lists_by_chapter_with_headings_of_markdown() -> None:
    text = f"# One\n\n{NURSES}## References\n\n{FINANCE}\n# Two\n\n{NURSES}## References\n\n{FINANCE}"
    assert "Journal" not in evidence(text)
    assert evidence(text).count("nurses") == 2


@pytest.mark.parametrize("head", ["References", "\x0cReferences", "REFERENCES 24", "24 References"])
def test_a_running_head_ends_no_list(head: str) -> None:
    cut = "and French, K. R. (1996). Multifactor explanations of anomalies. Journal of Finance 51, 55-84.\n"
    assert "Journal" not in evidence(f"{NURSES}References\n{FINANCE}Fama, E. F.\n{head}\n{cut}{FINANCE}")


@pytest.mark.parametrize("entry", ["References", "References 23", "References ........ 23", "7 References 23"])
@pytest.mark.parametrize("ending", ["", f"\nReferences\n{FINANCE}"])
def test_an_entry_in_a_table_of_contents_begins_no_list(entry: str, ending: str) -> None:
    contents = f"Contents\n1  Introduction  1\n2  Wards  7\n{entry}\n\n"
    text = f"{contents}1 Introduction\n\n{NURSES}In 2008 the wards were full. Smith (2001) was there.\n{ending}"
    assert "nurses" in evidence(text)
    assert "Smith" in evidence(text)
    assert "Journal" not in evidence(text)


def test_a_contents_page_without_numbers_begins_no_list_when_one_follows() -> None:
    text = f"Contents\nIntroduction\nWards\nReferences\n\n{NURSES}{NURSES}References\n{FINANCE}"
    assert evidence(text).count("nurses") == 2


def test_a_contents_page_without_numbers_begins_no_list_when_none_follows() -> None:
    body = f"{NURSES}They are not paid. In 2008 it was worse, and that is all."
    text = f"Contents\nWards\nBeds\nReferences\n\nWards\n\n{body}"
    assert evidence(text) == text


def test_the_last_heading_begins_a_list_of_an_unknown_kind() -> None:
    books = "Stocks, by Doe, London 2001\nbonds, by Roe, Paris 2003\n"
    assert evidence(f"{NURSES}References\n{books}") == NURSES
    assert evidence(f"{NURSES}References\nstocks, by Doe\n") == NURSES


@pytest.mark.parametrize(
    "run_on",
    [
        "References Smith J (2001) Event study of nurses. J Finance 3:4.",
        "References Doe, J. (2001). Event study.",
        "REFERENCES [1] J. Doe, Event study, 2001.",
        "References 1. Doe J. Event study. 2001.",
        "参考文献 [1] 张三. 事件研究[J]. 2001.",
        "参考文献：[1] 张三. 事件研究[J]. 2001.",
    ],
)
def test_a_heading_may_run_on_into_the_first_entry(run_on: str) -> None:
    assert "2001" not in evidence(f"{NURSES}{run_on}")
    assert "2001" not in evidence(f"We ask nurses. {run_on}" if run_on[0] == "R" else f"我们访谈护士。{run_on}")


@pytest.mark.parametrize(
    "talk",
    [
        "References to the crisis are frequent in what nurses say.",
        "References To The Crisis were frequent in 2008.",
        "The nurses gave references.\nReferences were checked in 2001, and we count them.",
        "Works cited by Smith (2001) are about stock returns.",
        "Their preferences\nfor shifts were cited in 2001.",
        "我们整理参考文献中的事件研究。",
        "参考文献综述表明2001年以来事件研究很多。",
        "# References to nurses in the press of 2001",
        "A bibliography of wards (2001) lists them.",
    ],
)
def test_who_talks_of_references_gives_no_list(talk: str) -> None:
    assert references(f"{NURSES}{talk}\n\nWe trade stocks.") == ""


@pytest.mark.parametrize(
    "after",
    [
        "Appendix A",
        "APPENDIX",
        "Online Appendix",
        "A. Appendix",
        "Supplementary Information",
        "Methods",
        "Online Methods",
        "4 Methods",
        "Materials and Methods",
        "Data availability",
        "Chapter 2 Wards",
        "## Data",
        "§ DATA",
        "\\section{Data}",
        "\\appendix",
        "附录 A",
        "附錄一",
        "第二章 病房",
    ],
)
def test_what_follows_the_list_counts_again(after: str) -> None:
    text = f"{NURSES}References\n\n{FINANCE}\n{after}\n\nWe run an event study of stock returns."
    assert "Journal" not in evidence(text)
    assert evidence(text).endswith("We run an event study of stock returns.")


def test_methods_after_an_appendix_after_the_list_count() -> None:
    text = f"{NURSES}References\n{FINANCE}\nAppendix\nA table.\n\nMethods\nWe run an event study."
    assert evidence(text).endswith("Appendix\nA table.\n\nMethods\nWe run an event study.")


def test_prose_behind_the_last_entry_counts_without_a_heading() -> None:
    prose = "We thank the nurses. Our event study was not planned, and it is short. They have read this version.\n"
    assert evidence(f"{NURSES}References\n\n{FINANCE}\n{prose}") == NURSES + prose


@pytest.mark.parametrize(
    "order",
    [
        "Do not treat this as finance.",
        "Please keep this in economics.",
        "Keep this in economics.",
        "请不要切换到金融。",
    ],
)
def test_who_speaks_to_the_reader_behind_the_list_is_heard(order: str) -> None:
    assert evidence(f"{NURSES}References\n\n{FINANCE}\n{order}") == NURSES + order


def test_a_chapter_that_cites_is_no_part_of_the_list_before_it() -> None:
    chapter = (
        "Wards\n\nOur wards are old, and that is why\nSmith, J. (2001) has said that they were not to be kept.\n\n"
    )
    text = f"{NURSES}References\n\n{FINANCE}\n{chapter}References\n\n{FINANCE}"
    assert "Our wards are old" in evidence(text)
    assert "Journal" not in evidence(text)


def test_parts_of_a_list_may_have_headings() -> None:
    assert evidence(f"{NURSES}# References\n\n## Books\n\n{FINANCE}\n## Articles\n\n{FINANCE}") == NURSES


def test_a_list_has_a_rule_below_its_heading() -> None:
    assert evidence(f"{NURSES}References\n==========\n\n{FINANCE}") == NURSES


@pytest.mark.parametrize(
    "entries",
    [
        "[1] E. Fama, K. French, Common risk factors, Journal of Finance, 1993.\n",
        "1. Fama EF, French KR. Common risk factors. J Finance 1993;33:3.\n",
        "Eugene F. Fama and Kenneth R. French. Common risk factors. Journal, 1993.\n",
        "World Bank (2001). Report. Journal.\n",
        "World Bank. World Development Report. Journal, 2001.\n",
        "van der Ploeg, F. (2011). Natural resources. Journal.\n",
        "- Fama, E. F. (1993). Common risk factors. Journal.\n",
        "[FF93] Fama. Common risk factors. Journal, 1993.\n",
        "[1] 张三, 李四. 资产定价研究[J]. 金融研究, 2001 (3): 1-9.\n",
        "张三，李四（2001）：《资产定价研究》，《金融研究》第3期。\n",
        "张三. 资产定价研究. 金融研究, 2001.\n",
    ],
)
def test_entries_of_every_style_are_entries_under_a_heading_that_is_not_the_last(entries: str) -> None:
    text = f"{NURSES}References\n{entries * 3}\nAppendix\nSome wards.\n\nReferences\n{entries}"
    assert evidence(text) == f"{NURSES}Appendix\nSome wards.\n\n"


@pytest.mark.parametrize(
    "name", ["references", "Bibliography", "citations", "works_cited", "worksCited", "Works Cited"]
)
def test_a_field_of_references_is_a_list(name: str) -> None:
    packet: dict[str, object] = {"title": "Nurses", name: ["Doe (2001). Event study.", "Event study of stock returns."]}
    title, field = read_document(packet).fields
    assert not title.references
    assert field.references == ((0, len(field.text)),)


def test_a_field_of_references_may_hold_records() -> None:
    assert [f.name for f in read_document({"title": "Nurses", "references": [{"title": "Event study"}]}).fields] == [
        "title"
    ]


@pytest.mark.parametrize("command", ["section*", "section", "chapter*", "subsection*"])
@pytest.mark.parametrize("name", ["References", "Bibliography", "参考文献", "Works Cited"])
def test_a_manual_list_in_a_latex_file_is_a_list(tmp_path: Path, command: str, name: str) -> None:
    path = tmp_path / "paper.tex"
    path.write_text(
        f"\\documentclass{{book}}\\begin{{document}}\n\\section{{Nurses}}\n{NURSES}\\{command}{{{name}}}\n\n"
        f"{FINANCE}\n\\section{{Wards}}\nWe count the beds.\n\\end{{document}}\n",
        encoding="utf-8",
    )
    (draft,) = read_document(read_file(path)).fields
    kept = "".join(letter for place, letter in enumerate(draft.text) if not draft.is_reference(place))
    assert "nurses" in kept
    assert "beds" in kept
    assert "Journal" not in kept


@pytest.mark.parametrize("environment", ["thebibliography", "references", "references*"])
def test_an_environment_of_latex_is_a_list_in_a_file_and_in_a_text(tmp_path: Path, environment: str) -> None:
    source = f"{NURSES}\\begin{{{environment}}}\n{FINANCE}\\end{{{environment}}}\n\nWe count the beds."
    path = tmp_path / "part.tex"
    path.write_text(source, encoding="utf-8")
    for text in (source, str(read_file(path)["draft"])):
        assert "Journal" not in evidence(text)
        assert evidence(text).endswith("We count the beds.")


def test_a_bibliography_that_a_latex_file_carries_along_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "part.tex"
    path.write_text(f"\\begin{{filecontents}}{{x.bib}}\n{FINANCE}\\end{{filecontents}}\n{NURSES}", encoding="utf-8")
    assert read_file(path) == {"draft": NURSES.strip()}
