"""A subject of the test suite: data only."""

from __future__ import annotations
