"""Reciprocal rank fusion: what several systems rank high comes first."""

from __future__ import annotations

import numpy as np

from judged.demo.retrieved import Retrieved, best

__all__ = ["fuse"]

DAMPING = 60
"""The constant of Cormack, Clarke and Büttcher (SIGIR 2009), doi:10.1145/1571941.1572114."""


def fuse(systems: list[Retrieved], *, documents: int) -> Retrieved:
    """The documents by the sum of 1 / (60 + rank) over the systems that returned them."""
    queries = len(systems[0].places)
    total = np.zeros((queries, documents + 1))  # the last column takes what stands for nothing
    for each in systems:
        gain = 1 / (DAMPING + 1 + np.arange(each.places.shape[1]))
        np.add.at(total, (np.arange(queries)[:, None], each.places), np.broadcast_to(gain, each.places.shape))
    return best("fusion", total[:, :documents])
