"""Signals: the compiled index over all subjects' patterns, matching, polarity. What comes out is evidence only."""

from __future__ import annotations

from qiongli.signals.index import SignalIndex, compile_index
from qiongli.signals.spans import select_spans

__all__ = ["SignalIndex", "compile_index", "select_spans"]
