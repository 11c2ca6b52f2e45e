"""The version of the core; a test keeps it equal to the distribution's."""

from __future__ import annotations

VERSION = "0.1.0"
