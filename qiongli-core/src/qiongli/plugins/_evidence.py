"""What a plugin's detector may say: evidence about places of the text, with the weights that contracts may have."""

from __future__ import annotations

from typing import Final

import attrs

from qiongli.document import Document
from qiongli.records.evidence import ACTIVATIONS, DIMENSIONS, Evidence

_POLARITIES: Final = ("asserted", "negated", "excluded", "quoted", "everyday")
_WEIGHTS: Final = {"signal": (60_000, 200_000), "suppressor": (1, 300_000)}
_MAXIMUM_SNIPPET: Final = 300


def accepted_evidence(item: Evidence, document: Document, distribution: str) -> Evidence | str:
    """The evidence as it counts, or why it does not.

    The source is the distribution that returned it, and the snippet is what stands at its place in the text, whatever
    it claims. Directives ("keep this in X") are the user's alone: no detector can return one.
    """
    if item.role not in _WEIGHTS:
        return "returned a directive, which only the user's own words can be"
    if not all(isinstance(text, str) and text for text in (item.signal_id, item.subject, item.value)):
        return "returned evidence without an id, subject or value"
    if item.dimension not in DIMENSIONS or item.activation not in ACTIVATIONS or item.polarity not in _POLARITIES:
        return "returned evidence with an unknown dimension, activation or polarity"
    low, high = _WEIGHTS[item.role]
    if type(item.weight) is not int or not low <= item.weight <= high:
        return f"returned evidence with a weight outside {low} to {high} millionths"
    field = next((field for field in document.fields if field.name == item.field), None)
    if field is None or type(item.start) is not int or type(item.end) is not int:
        return "returned evidence in a field that the task does not have"
    if not 0 <= item.start < item.end <= len(field.text):
        return "returned evidence outside the text of its field"
    snippet = field.text[item.start : min(item.end, item.start + _MAXIMUM_SNIPPET)]
    return attrs.evolve(item, source=distribution, snippet=snippet)
