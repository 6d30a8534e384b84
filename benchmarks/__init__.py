"""Measurements of the laboratory: they run from a checkout, ``python -m benchmarks.tournament``."""
