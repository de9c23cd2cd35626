"""Sakai's textbook table: 20 topics and three systems, with the numbers that the book prints of it.

Laboratory Experiments in Information Retrieval, Springer 2018, table 5.1.
"""

from __future__ import annotations

TENTHS = {
    "X": (7, 3, 2, 6, 4, 4, 0, 7, 1, 3, 5, 4, 0, 6, 5, 3, 1, 5, 2, 1),
    "Y": (5, 1, 0, 2, 4, 3, 0, 5, 3, 3, 4, 4, 1, 4, 2, 1, 1, 6, 3, 2),
    "Z": (0, 0, 2, 1, 3, 3, 1, 2, 4, 4, 4, 3, 3, 2, 2, 2, 1, 5, 4, 3),
}
SAKAI = {name: [tenth / 10 for tenth in tenths] for name, tenths in TENTHS.items()}
EFFECTS = {("X", "Y"): 0.5070, ("X", "Z"): 0.6760, ("Y", "Z"): 0.1690}
"""The effect sizes of Tukey's test, as printed."""
