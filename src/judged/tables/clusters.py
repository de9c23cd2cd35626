"""Clusters: which results are the same thing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Clusters"]


@dataclass(frozen=True, eq=False)
class Clusters:
    """For each result, the number of the cluster it belongs to; clusters are numbered as they first occur."""

    of: NDArray[np.int64]

    @property
    def first(self) -> NDArray[np.bool_]:
        """Which results are the first of their cluster; the others are duplicates."""
        seen = np.maximum.accumulate(np.concatenate(([-1], self.of)))
        first: NDArray[np.bool_] = self.of > seen[:-1]
        return first

    def __len__(self) -> int:
        return len(self.of)
