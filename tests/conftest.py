"""This folder as a place to import helpers from, which importlib mode does not make it."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
