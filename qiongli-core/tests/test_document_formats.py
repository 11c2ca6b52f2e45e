"""Files of every format are read as task packets, and what cannot be read says so in one error."""

from __future__ import annotations

import builtins
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from qiongli.document import read_document
from qiongli.document.formats import decode, parse_packet_text, read_bounded, read_file
from qiongli.errors import EnvironmentBrokenError, InputError


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def minimal_pdf(*pages: str) -> bytes:
    """A PDF with one line of text a page, written object by object."""
    kids = " ".join(f"{4 + 2 * index} 0 R" for index in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for index, line in enumerate(pages):
        stream = f"BT /F1 12 Tf 72 700 Td ({line}) Tj ET"
        objects += [
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * index} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>",
            f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
        ]
    out = b"%PDF-1.4\n"
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode()
    start = len(out)
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    size = len(objects) + 1
    out += f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R >>\n".encode()
    return out + f"startxref\n{start}\n%%EOF\n".encode()


TEX = r"""
\documentclass{article} % event study in a comment
\title{Tides \& \emph{Harbours}\thanks{Funded by the Bank of Nowhere}}
\author{A. Banker \and B. Trader}
\date{\today}
\begin{document}
\maketitle
\begin{abstract}
We date the tides; 5\% of ports silt.
\end{abstract}
\section{Ports}
The ``harbour'' silts \cite{doe}, says \verb|stock_returns|.
\begin{lstlisting}
stock_returns = 1
\end{lstlisting}
\begin{thebibliography}{9}
\bibitem{doe} Doe. Journal of Silt, 1999.
\end{thebibliography}
\appendix
\section{Maps}
A map of M\"unster.
\end{document}
"""


def test_latex_gives_title_abstract_and_a_draft_without_names_comments_and_code(tmp_path: Path) -> None:
    packet = read_file(written(tmp_path, "paper.tex", TEX))
    assert packet["title"] == "Tides & Harbours"
    assert packet["abstract"] == "We date the tides; 5% of ports silt."
    draft = str(packet["draft"])
    assert "harbour" in draft
    assert "Münster" in draft
    for absent in ("Bank", "Trader", "stock", "event study", "We date", "maketitle", "\\"):
        assert absent not in draft


def test_a_latex_bibliography_stands_between_headings(tmp_path: Path) -> None:
    lines = str(read_file(written(tmp_path, "paper.tex", TEX))["draft"]).splitlines()
    order = [lines.index("References"), next(i for i, line in enumerate(lines) if "Journal of Silt" in line)]
    order.append(lines.index("Appendix"))
    assert order == sorted(order)


def test_a_fragment_of_latex_is_a_draft(tmp_path: Path) -> None:
    assert read_file(written(tmp_path, "part.tex", r"The \textbf{tide} is high.")) == {"draft": "The tide is high."}


@pytest.mark.parametrize("source", [r"\title{never closed", "{" * 3_000, r"\begin{abstract} open", "}" * 50])
def test_broken_latex_is_read_or_refused_and_never_crashes(tmp_path: Path, source: str) -> None:
    path = written(tmp_path, "broken.tex", source)
    codes = set()
    try:
        read_file(path)
    except InputError as error:
        codes.add(error.code)
    assert codes <= {"unreadable_file"}


BIB = r"""
@string{js = {Journal of Silt}}
@comment{nothing}
@article{doe99, title = {On {S}ilt in M{\"u}nster}, journal = js, abstract = "Silt \& mud.", keywords = {tides, silt},
  author = {Doe, J.}, file = {/home/x/stock.pdf}}
@inproceedings{roe, Title = {Harbours}, BookTitle = {Meeting on Ports}}
"""


def test_bibtex_gives_what_the_entries_are_about_and_where_they_appeared(tmp_path: Path) -> None:
    assert read_file(written(tmp_path, "refs.bib", BIB)) == {
        "title": ["On Silt in Münster", "Harbours"],
        "abstract": ["Silt & mud."],
        "keywords": ["tides, silt"],
        "venue": ["Journal of Silt", "Meeting on Ports"],
    }


def test_a_bibtex_file_without_entries_is_unreadable(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_file(written(tmp_path, "refs.bib", "no entries here"))
    assert caught.value.code == "unreadable_file"


def test_markdown_front_matter_is_no_text_but_its_title_is(tmp_path: Path) -> None:
    source = '---\ntitle: "Tides of silt"\nauthor: A. Banker\nbibliography: finance.bib\n---\n# Ports\n\nThey silt.\n'
    packet = read_file(written(tmp_path, "paper.md", source))
    assert packet == {"title": "Tides of silt", "draft": "\n# Ports\n\nThey silt.\n"}


def test_the_front_matter_of_a_skill_stays_so_that_it_is_known(tmp_path: Path) -> None:
    source = "---\nname: finance\ndescription: Bonds and stocks.\n---\n\n# Event studies\n"
    packet = read_file(written(tmp_path, "SKILL.md", source))
    assert packet == {"draft": source}
    assert not read_document(packet).has_text


def test_a_rule_in_markdown_is_no_front_matter(tmp_path: Path) -> None:
    source = "Some words\n\n---\n\nmore words\n"
    assert read_file(written(tmp_path, "paper.md", source)) == {"draft": source}


def test_docx_gives_paragraphs_and_tables_in_their_order(tmp_path: Path) -> None:
    docx = pytest.importorskip("docx", reason="the extra docx is not installed")
    document = docx.Document()
    document.add_paragraph("Before the table.")
    table = document.add_table(rows=1, cols=3)
    table.rows[0].cells[0].merge(table.rows[0].cells[1]).text = "merged"
    table.rows[0].cells[2].text = "single"
    document.add_paragraph("References")
    document.save(str(tmp_path / "paper.docx"))
    assert read_file(tmp_path / "paper.docx") == {"draft": "Before the table.\nmerged\tsingle\nReferences"}


def test_pdf_gives_the_text_of_its_pages(tmp_path: Path) -> None:
    path = written(tmp_path, "paper.PDF", minimal_pdf("Tides of silt", "References"))
    assert str(read_file(path)["draft"]).split("\n") == ["Tides of silt", "References"]


def test_a_pdf_without_text_says_that_it_may_be_a_scan(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_file(written(tmp_path, "scan.pdf", minimal_pdf("")))
    assert caught.value.code == "unreadable_file"
    assert "scan" in caught.value.hint


@pytest.mark.parametrize("name", ["x.docx", "x.pdf"])
@pytest.mark.parametrize("content", [b"", b"plain text", b"%PDF-1.4\ngarbage", b"PK\x03\x04garbage"])
def test_a_damaged_file_is_unreadable_and_logs_nothing(
    tmp_path: Path, name: str, content: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(InputError) as caught:
        read_file(written(tmp_path, name, content))
    assert caught.value.code == "unreadable_file"
    assert caught.value.place.endswith(name)
    assert capfd.readouterr() == ("", "")


def test_a_cut_docx_is_unreadable(tmp_path: Path) -> None:
    docx = pytest.importorskip("docx", reason="the extra docx is not installed")
    docx.Document().save(str(tmp_path / "whole.docx"))
    data = (tmp_path / "whole.docx").read_bytes()
    with pytest.raises(InputError) as caught:
        read_file(written(tmp_path, "cut.docx", data[: len(data) // 2]))
    assert caught.value.code == "unreadable_file"


@pytest.mark.parametrize(
    ("name", "content", "hint"),
    [("x.txt", minimal_pdf("a"), ".pdf"), ("x.md", b"PK\x03\x04abc", ".docx"), ("x.doc", b"\xd0\xcf\x11\xe0", ".docx")],
)
def test_a_wrong_ending_is_named(tmp_path: Path, name: str, content: bytes, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        read_file(written(tmp_path, name, content))
    assert caught.value.code == "unreadable_file"
    assert hint in caught.value.hint


def test_a_small_archive_that_unfolds_to_too_much_is_too_large(tmp_path: Path) -> None:
    path = tmp_path / "bomb.docx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b"0" * 1_000_000)
    assert path.stat().st_size < 10_000
    with pytest.raises(InputError) as caught:
        read_file(path, limit=100_000)
    assert caught.value.code == "input_too_large"


class Endless(BytesIO):
    """A device or pipe that never ends; it notes how much was asked of it."""

    asked = 0

    def read(self, size: int | None = -1, /) -> bytes:
        assert size is not None
        assert size >= 0, "all of it was asked for"
        self.asked += size
        return b"x" * size


def test_of_what_never_ends_no_more_is_read_than_the_limit() -> None:
    stream = Endless()
    with pytest.raises(InputError) as caught:
        read_bounded(stream, "standard input", limit=100)
    assert (caught.value.code, caught.value.place) == ("input_too_large", "standard input")
    assert stream.asked <= 200


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="the system has no endless device")
def test_a_device_is_no_small_file_because_its_size_is_given_as_nothing() -> None:
    with pytest.raises(InputError) as caught:
        read_file(Path("/dev/zero"), limit=1_000)
    assert caught.value.code == "input_too_large"


@pytest.mark.parametrize(("name", "limit"), [("x.txt", 10), ("x.pdf", 10), ("x.docx", 10)])
def test_a_file_beyond_the_limit_is_too_large(tmp_path: Path, name: str, limit: int) -> None:
    with pytest.raises(InputError) as caught:
        read_file(written(tmp_path, name, b"x" * 11), limit=limit)
    assert caught.value.code == "input_too_large"
    assert str(limit) in caught.value.expected


def test_a_latex_source_that_would_take_long_is_too_large(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_file(written(tmp_path, "x.tex", b"x" * (2 * 1_048_576 + 1)))
    assert caught.value.code == "input_too_large"


@pytest.mark.parametrize(
    ("name", "module", "extra"),
    [
        ("x.docx", "docx", "docx"),
        ("x.pdf", "pypdf", "pdf"),
        ("x.tex", "pylatexenc", "latex"),
        ("x.bib", "bibtexparser", "bibtex"),
    ],
)
def test_a_missing_extra_names_the_command_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, module: str, extra: str
) -> None:
    real = builtins.__import__

    def without(wanted: str, *rest: Any, **more: Any) -> Any:
        if wanted.partition(".")[0] == module:
            raise ModuleNotFoundError(f"No module named {module!r}")
        return real(wanted, *rest, **more)

    content = b"PK\x05\x06" + bytes(18) if name == "x.docx" else b"%PDF-"
    if name in ("x.tex", "x.bib"):
        content = b"@article{a, title={b}}"
    path = written(tmp_path, name, content)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(EnvironmentBrokenError) as caught:
        read_file(path)
    assert caught.value.code == "missing_extra"
    assert f"qiongli-core[{extra}]" in caught.value.hint


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_file(tmp_path / "none.txt")
    assert (caught.value.code, caught.value.place) == ("file_not_found", str(tmp_path / "none.txt"))


def test_text_may_be_utf_8_with_a_mark_or_utf_16_with_one() -> None:
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        assert decode("潮汐 tide".encode(encoding), "x") == "潮汐 tide"
    with pytest.raises(InputError) as caught:
        decode(b"caf\xe9", "x.txt")
    assert (caught.value.code, caught.value.place) == ("undecodable", "x.txt")


def test_json_files_are_task_packets(tmp_path: Path) -> None:
    assert read_file(written(tmp_path, "x.json", '{"topic": "tides"}')) == {"topic": "tides"}
    for content in ("[1]", "{", "{" + '"a":[' * 5_000):
        with pytest.raises(InputError) as caught:
            read_file(written(tmp_path, "y.json", content))
        assert caught.value.code == "invalid_task_packet"
    assert parse_packet_text("tides") is None
