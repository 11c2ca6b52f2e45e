"""The task packet as a document: its fields, what of them is subject text, and the tokens with their offsets."""

from __future__ import annotations

from qiongli.document._document import DEFAULT_LIMIT, Document, DocumentField, read_document
from qiongli.document._normalise import Tokens, is_ideograph, normal_form, tokenise
from qiongli.document._punctuation import PARAGRAPH, marks_after, marks_between

__all__ = [
    "DEFAULT_LIMIT",
    "PARAGRAPH",
    "Document",
    "DocumentField",
    "Tokens",
    "is_ideograph",
    "marks_after",
    "marks_between",
    "normal_form",
    "read_document",
    "tokenise",
]
