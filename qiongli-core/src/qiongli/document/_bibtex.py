"""BibTeX as a task packet: what the entries are about, and where they appeared."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import Any, Final

from qiongli.document._latex import plain_value

#: Field of the packet, and the BibTeX fields that fill it.
_FIELDS: Final = (
    ("title", ("title",)),
    ("abstract", ("abstract",)),
    ("keywords", ("keywords", "keyword")),
    ("venue", ("journal", "journaltitle", "booktitle")),
)


def bibtex_packet(source: str) -> dict[str, list[str]]:
    """Titles, abstracts, keywords and venues of all entries, in their order; empty when no entry can be read.

    Needs bibtexparser, of series 1 or 2; ImportError without it. Authors, notes and file names are left out.
    """
    packet: dict[str, list[str]] = {}
    for entry in _entries(source):
        for name, keys in _FIELDS:
            for key in keys:
                value = plain_value(entry.get(key, ""))
                if value:
                    packet.setdefault(name, []).append(value)
                    break
    return {name: list(dict.fromkeys(values)) for name, values in packet.items()}


def _entries(source: str) -> Iterator[Mapping[str, str]]:
    import bibtexparser

    library: Any = bibtexparser
    if hasattr(library, "parse_string"):
        for entry in library.parse_string(source).entries:
            yield {field.key.casefold(): str(field.value) for field in entry.fields}
        return
    from bibtexparser.bparser import BibTexParser

    with warnings.catch_warnings():
        # Series 1 was written for an older pyparsing, which warned of less.
        warnings.simplefilter("ignore")
        parser = BibTexParser(common_strings=True, ignore_nonstandard_types=False)
        entries = library.loads(source, parser).entries
    for entry in entries:
        yield {str(key).casefold(): str(value) for key, value in entry.items()}
