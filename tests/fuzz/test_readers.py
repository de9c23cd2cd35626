"""Mutated files lead to a result or to one of judged's own errors, whichever reader gets them."""

from __future__ import annotations

import os
import shutil
import time
from contextlib import suppress
from itertools import islice
from pathlib import Path

import pytest

from fuzz.kept import KEPT
from fuzz.mutate import READERS, fuzz, inputs
from judged.errors import JudgedError, Unreadable
from judged.io.vectors import read_vectors

SECONDS = float(os.environ.get("JUDGED_FUZZ_SECONDS", "8"))


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.filterwarnings("ignore")
def test_a_reader_returns_or_refuses(reader: str) -> None:
    """Bounded in time; JUDGED_FUZZ_SECONDS allows more."""
    if reader.endswith(".hdf5"):
        pytest.importorskip("h5py")

    assert fuzz(reader, SECONDS).defects == []


@pytest.mark.parametrize(("reader", "data"), KEPT, ids=[reader for reader, _ in KEPT])
@pytest.mark.filterwarnings("ignore")
def test_what_broke_once_is_read_or_refused(reader: str, data: bytes) -> None:
    """The inputs that fuzzing found."""
    with suppress(JudgedError):
        READERS[reader][0](data)


@pytest.mark.parametrize("reader", READERS)
def test_inputs_are_the_same_for_the_same_seed(reader: str) -> None:
    """A defect is made again from the seed and its number."""
    if reader.endswith(".hdf5"):
        pytest.importorskip("h5py")

    assert list(islice(inputs(reader, 1), 20)) == list(islice(inputs(reader, 1), 20))
    assert list(islice(inputs(reader, 1), 20)) != list(islice(inputs(reader, 2), 20))


@pytest.mark.slow
def test_a_file_on_which_the_library_of_hdf5_hangs_is_refused(tmp_path: Path) -> None:
    """It is tried in a process of its own, which is ended after its time."""
    pytest.importorskip("h5py")
    path = tmp_path / "loop.hdf5"
    shutil.copy(Path(__file__).parent / "seeds" / "loop.hdf5", path)
    started = time.monotonic()

    with pytest.raises(Unreadable, match="did not finish within 15 s"):
        read_vectors(path)
    assert time.monotonic() - started < 40
