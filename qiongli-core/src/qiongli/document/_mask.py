"""What of a field is not subject text: code, addresses, paths, and what Qiongli itself wrote.

Masked characters become spaces, so that offsets stay those of the original.
"""

from __future__ import annotations

from qiongli.document._addresses import without_addresses
from qiongli.document._code import without_code, without_fences
from qiongli.document._own import without_own_words


def mask(text: str) -> str:
    """The text with everything that is not subject text replaced by spaces of the same length."""
    # Fences end what is cut off within them; other marks may be part of a packet and would tear it.
    return without_addresses(without_code(without_own_words(without_fences(text))))
