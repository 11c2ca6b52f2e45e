"""`python -m qiongli`."""

from __future__ import annotations

from qiongli._entry import main

main()
