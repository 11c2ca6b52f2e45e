"""Code, paths, addresses and ids are no subject text; what only looks like them is."""

from __future__ import annotations

import pytest

from qiongli.document import normal_form, read_document
from qiongli.document._mask import mask


@pytest.mark.parametrize(
    ("text", "left"),
    [
        # Indented code of Markdown, which a blank line or the beginning of the text is before.
        ("a\n\n    car = event_study(bond)\n    print(bond)\n\nb", "a b"),
        ("a\n\n\tbond <- lm(y ~ x)\n\nb", "a b"),
        ("a\n\n    import bond\n\n    bond.run()\n\nb", "a b"),
        ("a\n\n    reghdfe bond event_study, absorb(firm)\n\nb", "a b"),
        ("    bond = event_study(x)\nb", "b"),
        ("a\n\n    # the bond of an event study\n    x = 1\n\nb", "a b"),
        ("a\n\n    $ run bond\n\nb", "a b"),
        # An indented paragraph, what continues an item of a list, and code without a blank line before it.
        ("a\n\n    We study the bond.\n    It is old.\n\nb", "a we study the bond it is old b"),
        ("a\n\n    Following Fama(1993) we study the bond.\n\nb", "a following fama 1993 we study the bond b"),
        ("- a\n\n    We study the bond (see below).\n\nb", "a we study the bond see below b"),
        ("a\n    bond = event_study(x)\nb", "a bond event study x b"),
        # Fences in items, nested, and in quotations.
        ("- a\n\n    ```\n    bond\n    ```\n- b", "a b"),
        ("1. ```python\n   bond\n   ```\n2. b", "2 b"),
        ("- - ~~~\n    bond\n    ~~~\n- b", "b"),
        ("> ```\n> bond\n> ```\nb", "b"),
        # HTML and LaTeX.
        ("a <code>bond</code> b <pre class='x'>bond\nbond</pre> c", "a b c"),
        ("a <CODE>bond</code > b", "a b"),
        ("the <code> element and the bond", "the code element and the bond"),
        ("a \\begin{verbatim}bond\\end{verbatim} b", "a b"),
        ("a \\begin{lstlisting}[language=R]\nbond\n\\end{lstlisting} b", "a b"),
        ("a \\begin{verbatim} bond", "a"),
        ("a \\verb|bond| b \\verb+bond+ c \\verb*|bond| d \\lstinline{bond} e", "a b c d e"),
        ("a \\mintinline{python}{bond} b", "a b"),
        ("a \\label{tab:bond} b \\citep[see][p. 3]{bond1993} c \\ref{bond} d \\input{bond/event} e", "a b c d e"),
        ("a [@bond1993; @event-study] b", "a b"),
    ],
)
def test_code_is_no_subject_text(text: str, left: str) -> None:
    assert " ".join(normal_form(mask(text))) == left
    assert len(mask(text)) == len(text)


@pytest.mark.parametrize(
    "path",
    [
        "results/event-study/raw",
        "data/event-study/2019/",
        "src/event-study/bond",
        "./event-study",
        "../event-study/raw",
        "~/event-study",
        "/home/bond/x",
        "/event/study/",
        "event_study/bond",
        "finance/method_pack/event-study",
        "..\\data\\event-study\\raw",
        ".\\event-study",
        "\\\\server\\share\\event-study",
        "C:\\event-study\\raw",
        "data\\event-study\\raw",
        "example.org/event-study?x",
        "example.org/event-study#bond",
        "www.example.org/event-study",
        "sub.example.co.uk:8080/event-study/bond",
        "doi.org/10.1000/event-study",
        "finance.method.event-study",
        "economics.data-or-outcome.bond",
        "results/event-study/fig.pdf",
    ],
)
@pytest.mark.parametrize(
    "around", ["see {} now", "see ({}) now", 'see "{}", now', "see {}. now", "see {}; now", "看{}现"]
)
def test_addresses_and_paths_are_no_subject_text(path: str, around: str) -> None:
    left = " ".join(normal_form(mask(around.format(path))))
    assert left in ("see now", "看 现")


@pytest.mark.parametrize(
    "prose",
    [
        "stocks and/or bonds",
        "stocks/bonds",
        "stocks/bonds/options",
        "difference-in-differences/event-study",
        "difference-in-differences/event-study/synthetic-control designs",
        "the debt/equity ratio",
        "bonds, etc./stocks",
        "U.S./U.K. bonds",
        "buyers/sellers/bonds/data",
        "input/output tables of bonds",
        "the 2010/2011 event study",
        "R&D/sales",
        "event study.We find bonds",
        "bonds @ 5 percent",
        "股票/债券/期权",
        "bond \\& stock",
        "\\emph{event study} of \\textbf{bonds}",
        "a \\\\ bond",
    ],
)
def test_prose_with_slashes_is_subject_text(prose: str) -> None:
    assert normal_form(mask(prose)) == normal_form(prose)


@pytest.mark.parametrize(
    "name",
    [
        *("taskId", "task-id", "TASK_ID", "Task Id", "run-id", "runId", "filePath", "file-path", "url_list", "urlList"),
        *("PDFUrl", "pdf-url", "code", "Code", "source_code", "sourceCode", "source-code", "fileNames", "dataset-id"),
        *("guidance", "domain_profile", "domainProfile", "domain-profile", "overlay", "overlays", "resources"),
        *(
            "method_pack",
            "methodPacks",
            "venue_profile",
            "venue-profiles",
            "method_lenses",
            "loadedResources",
            "packet",
        ),
    ],
)
def test_a_field_is_known_however_its_name_is_spelled(name: str) -> None:
    assert [field.name for field in read_document({"title": "rain", name: "an event study"}).fields] == ["title"]


@pytest.mark.parametrize(
    "name", ["jel_code", "jel-codes", "Abstract", "paid", "valid", "newUrlText", "aGuid", "profile"]
)
def test_a_name_that_only_resembles_one_is_subject_text(name: str) -> None:
    assert [field.name for field in read_document({name: "an event study"}).fields] == [name]


def test_known_fields_keep_their_order_however_their_names_are_spelled() -> None:
    packet = dict.fromkeys(("zeta", "Key Words", "ABSTRACT", "Title"), "x")
    assert [field.name for field in read_document(packet).fields] == ["Title", "ABSTRACT", "Key Words", "zeta"]
