"""The measures of sessions that are computed where none is asked for."""

from __future__ import annotations

__all__ = ["DEFAULT_MEASURES", "WITHOUT_GAINS"]

DEFAULT_MEASURES = ("CG@last", "DCG@last", "RG@last", "SRE@last", "SRR@last", "N")
"""Gains, and rates only beside them and the number of iterations."""
WITHOUT_GAINS = ("R@last", "UR@last", "Dup@last", "SRR@last", "N")
"""What can be said of traces without any gain."""
