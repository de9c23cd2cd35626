"""Sorting within segments is what two keys of `lexsort` give, for any floats."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from judged.kernels.sorting import count_ties, find_equal, sort_descending

FLOATS = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, 1.0000000001, -1.0, 1e300, -1e300, 1e-300, np.inf, -np.inf]),
    st.floats(allow_nan=False),
)
SEGMENTS = st.lists(st.lists(FLOATS, max_size=6), max_size=6)


def flatten(segments: list[list[float]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values, offsets, and the segment of each value."""
    offset = np.cumsum([0, *map(len, segments)])
    values = np.array([value for segment in segments for value in segment], dtype=np.float64)
    return values, offset, np.repeat(np.arange(len(segments)), np.diff(offset))


@given(segments=SEGMENTS, single=st.booleans())
def test_the_order_is_that_of_two_keys(segments: list[list[float]], single: bool) -> None:
    """By segment, then value from the highest; equal values stay in order, in either precision."""
    values, offset, segment = flatten(segments)
    with np.errstate(over="ignore"):
        compared = values.astype(np.float32) if single else values

    expected = np.lexsort((-compared, segment))

    assert sort_descending(values, offset, single=single).tolist() == expected.tolist()


@given(segments=SEGMENTS)
def test_ties_are_counted(segments: list[list[float]]) -> None:
    """How many of the segment exceed and how many equal each value."""
    values, offset, segment = flatten(segments)
    order = sort_descending(values, offset)
    same = find_equal(values, offset, order)
    above, tied = count_ties(same, offset)

    for place, row in enumerate(order.tolist()):
        own = values[segment == segment[row]]
        assert (above[place], tied[place]) == ((own > values[row]).sum(), (own == values[row]).sum())


@pytest.mark.parametrize("low", [0, -7, (1 << 24) - 10])
@pytest.mark.parametrize("levels", [1, 5, 256, 257])
@pytest.mark.parametrize("segments", [1, 40, 20_000])
def test_levels_are_sorted_as_other_values(low: int, levels: int, segments: int) -> None:
    """Whole numbers of a narrow range have a short way, of many segments in parts, some of which are empty."""
    rng = np.random.default_rng(levels)
    segment = np.sort(rng.integers(0, segments, 3_000))
    offset = np.searchsorted(segment, np.arange(segments + 1))
    values = low + rng.integers(0, levels, 3_000).astype(np.float64)

    for single in (False, True):
        expected = np.lexsort((-(values.astype(np.float32) if single else values), segment))
        assert (sort_descending(values, offset, single=single) == expected).all()
        fraction = np.append(values[:-1], 0.5)
        expected = np.lexsort((-(fraction.astype(np.float32) if single else fraction), segment))
        assert (sort_descending(fraction, offset, single=single) == expected).all()
