"""The task packet as a document: its fields, what of them is subject text, and the tokens with their offsets."""

from __future__ import annotations

from qiongli.document._document import DEFAULT_LIMIT, Document, DocumentField, read_document
from qiongli.document._normalise import Tokens, normal_form, tokenise

__all__ = ["DEFAULT_LIMIT", "Document", "DocumentField", "Tokens", "normal_form", "read_document", "tokenise"]
