"""Shapley values: how much of a difference each of several causes makes, whatever the order they come in."""

from __future__ import annotations

from math import factorial

import numpy as np

from judged.kernels.segments import Floats

__all__ = ["shapley"]


def shapley(values: Floats) -> Floats:
    """The share of each cause in what all of them change together; the shares sum up to that.

    `values[s]` is the value with the causes whose bits are set in `s`, so there are 2ⁿ for n causes; what a cause
    changes is averaged over all orders in which they might come. Further axes are carried along.

    >>> shapley(np.array([0.0, 1.0, 2.0, 6.0])).tolist()
    [2.5, 3.5]
    """
    causes = len(values).bit_length() - 1
    subsets = np.arange(len(values))
    size = np.array([int(each).bit_count() for each in subsets.tolist()])
    weights = [factorial(k) * factorial(causes - k - 1) / factorial(causes) for k in range(causes)]
    shares = np.zeros((causes, *values.shape[1:]))
    for cause in range(causes):
        without = subsets[(subsets >> cause) & 1 == 0]
        weight = np.array(weights)[size[without]]
        shares[cause] = np.tensordot(weight, values[without | (1 << cause)] - values[without], axes=1)
    return shares
