"""Marker package of the `qiongli` distribution, which only depends on all the others."""
