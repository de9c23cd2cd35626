"""Mutated files lead to a result or to one of judged's own errors, whichever reader gets them."""

from __future__ import annotations

import os
from itertools import islice

import pytest

from fuzz.mutate import READERS, fuzz, inputs

SECONDS = float(os.environ.get("JUDGED_FUZZ_SECONDS", "20"))


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.filterwarnings("ignore")
def test_a_reader_returns_or_refuses(reader: str) -> None:
    """Bounded in time; JUDGED_FUZZ_SECONDS allows more."""
    assert fuzz(reader, SECONDS).defects == []


@pytest.mark.parametrize("reader", READERS)
def test_inputs_are_the_same_for_the_same_seed(reader: str) -> None:
    """A defect is made again from the seed and its number."""
    assert list(islice(inputs(reader, 1), 20)) == list(islice(inputs(reader, 1), 20))
    assert list(islice(inputs(reader, 1), 20)) != list(islice(inputs(reader, 2), 20))
