"""What comes of a run meeting its judgments: the view, and the views that tied results would also allow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from judged.engine.observations import Observations
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.ties.arrangements import order_ties_by_grade
from judged.protocol import Protocol

__all__ = ["Meeting"]


@dataclass(frozen=True, eq=False)
class Meeting:
    """A run and its judgments, met: the view, which queries it holds, and what was noticed."""

    ranking: Ranking
    queries: pa.Array
    present: NDArray[np.bool_]
    """Which of these queries have results; the others are missing from the run."""
    observations: Observations
    protocol: Protocol
    undecide: Callable[[], Ranking]

    @cached_property
    def undecided(self) -> Ranking:
        """The view before ties were decided: it holds what they could bring within the protocol's depth."""
        return self.ranking if self.protocol.depth is None else self.undecide()

    @cached_property
    def by_grade(self) -> tuple[Ranking, Ranking]:
        """The view with tied documents in ascending order of grade, and in descending order."""
        worst, best = (
            order_ties_by_grade(self.undecided, self.protocol.depth, best=best) for best in (False, True)
        )
        return worst, best
