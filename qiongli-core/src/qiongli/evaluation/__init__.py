"""Measuring the router: fixtures, packs, metrics, thresholds, mutation of contracts, labelled text, reports."""
