"""Resamples with replacement, the same for one seed whatever is done with them at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from judged.errors import BadSample

__all__ = ["resamples"]

UNIT = 64
"""How many resamples share a stream of random numbers."""


def resamples(size: int, *, count: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """Blocks of places drawn with replacement from `size`, a row for each resample, `count` rows in all."""
    if count < 1:
        msg = f"{count} resamples were asked for, expected at least one"
        raise BadSample(msg)
    streams = np.random.SeedSequence(seed).spawn(-(-count // UNIT))
    for number, stream in enumerate(streams):
        rows = min(UNIT, count - number * UNIT)
        yield np.random.default_rng(stream).integers(0, size, size=(rows, size))
