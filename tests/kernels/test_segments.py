"""Arithmetic within segments: every result depends on its own segment alone."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from judged.kernels import segments as seg

NUMBERS = st.floats(-1e6, 1e6)
SEGMENTS = st.lists(st.lists(NUMBERS, max_size=12), max_size=8)
QUICK = settings(max_examples=60, deadline=None)


def flat(parts: list[list[float]]) -> tuple[seg.Floats, seg.Ints]:
    """The values of all segments one after another, and their offsets."""
    offset = np.cumsum([0, *map(len, parts)], dtype=np.int64)
    return np.array([value for part in parts for value in part], dtype=np.float64), offset


@QUICK
@given(parts=SEGMENTS)
def test_sums_maxima_and_counts_are_those_of_each_segment(parts: list[list[float]]) -> None:
    """An empty segment has sum, maximum and count 0."""
    values, offset = flat(parts)
    flags = values > 0

    np.testing.assert_allclose(seg.segment_sum(values, offset), [math.fsum(p) for p in parts], atol=1e-6)
    assert seg.segment_max(values, offset).tolist() == [max(part, default=0.0) for part in parts]
    assert seg.segment_count(flags, offset).tolist() == [sum(v > 0 for v in part) for part in parts]


@QUICK
@given(parts=SEGMENTS)
def test_running_values_begin_anew_in_each_segment(parts: list[list[float]]) -> None:
    """Sums and products are accumulated in order, exactly as one by one."""
    values, offset = flat(parts)
    sums = [total for part in parts for total in itertools.accumulate(part)]
    counts = [sum(v > 0 for v in part[: i + 1]) for part in parts for i in range(len(part))]
    products = [math.prod(part[:i]) for part in parts for i in range(len(part))]

    assert seg.segment_cumsum(values, offset).tolist() == sums
    assert seg.segment_running_count(values > 0, offset).tolist() == counts
    assert seg.segment_cumprod_before(values, offset).tolist() == products


@pytest.mark.parametrize(
    "function", [seg.segment_sum, seg.segment_max, seg.segment_cumsum, seg.segment_cumprod_before]
)
@QUICK
@given(parts=st.lists(st.lists(NUMBERS, max_size=30), min_size=1, max_size=6))
def test_neighbours_change_nothing(function: object, parts: list[list[float]]) -> None:
    """A segment's result is the same alone and among others, to the last bit."""
    together = function(*flat(parts)).tolist()  # type: ignore[operator]
    alone = [value for part in parts for value in function(*flat([part])).tolist()]  # type: ignore[operator]

    assert together == alone


def test_both_ways_to_accumulate_agree() -> None:
    """Many short segments go position by position, a few long ones segment by segment."""
    rng = np.random.default_rng(7)
    parts = [rng.normal(size=length).tolist() for length in (40, 3, 0, 17)]
    few = seg.segment_cumsum(*flat(parts))
    many = seg.segment_cumsum(*flat([*parts, *[[1.0]] * 60]))

    assert few.tolist() == many[: len(few)].tolist()


def test_segments_are_numbered() -> None:
    """Each element knows its segment; empty ones leave a gap."""
    assert seg.segment_ids(np.array([0, 2, 2, 3])).tolist() == [0, 0, 2]


def test_nothing_divided_by_nothing_is_nothing() -> None:
    """A denominator of 0 gives 0, without a warning."""
    assert seg.divide(np.array([1.0, 2.0, 0.0]), np.array([0.0, 4.0, 0.0])).tolist() == [0.0, 0.5, 0.0]
    assert seg.divide(np.array([1, 2]), np.asarray(4)).tolist() == [0.25, 0.5]


def test_input_is_not_written_into() -> None:
    """Accumulating works on a copy."""
    values = np.array([1.0, 2.0, 3.0])
    seg.segment_cumsum(values, np.array([0, 3]))

    assert values.tolist() == [1.0, 2.0, 3.0]
