"""Folds: measures that are one pass over the judged results of a query, over a number that judgments alone give."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from judged.arrays import Floats, Ints

Kind: TypeAlias = Literal["gain", "precision", "first", "any", "count", "count to divisor"]
"""Terms of the sum: gains over the logarithm of the rank + 1, precisions at relevant results, or relevant results, down
to the cutoff or to the rank that the divisor is. Or one over the first relevant rank, or whether there is one."""


class Fold(NamedTuple):
    """A measure as compiled code computes it for many calls on few results: what is added up, and what divides it."""

    kind: Kind
    divisor: Callable[..., Floats | Ints | int] | Literal["ideal"] | None = None
    """Returns the divisor of each query from a view without results, whose best order is not sorted, and the parameters of
    the measure; `ideal` is the fold over the best order of all judged documents; None: 1."""
