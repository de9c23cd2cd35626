"""Mutated files lead to a result or to one of judged's own errors, whichever reader gets them."""

from __future__ import annotations

import json
import os
import random
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import reduce
from itertools import islice
from operator import getitem
from pathlib import Path
from typing import Any

import pytest

import judged
from fuzz import mutate
from fuzz.kept import KEPT
from fuzz.mutate import READERS, fuzz, inputs, saved
from judged.errors import JudgedError, Unreadable
from judged.index.files.vectors import read_vectors

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


PARTS: list[object] = [None, [], {}, "", "x", "NaN", 0, -1, 1.5, 10**30, True, [1], [[]], {"a": 1}, ["x"] * 3]


@pytest.mark.parametrize("number", [0, 1], ids=["evaluations", "comparison"])
@pytest.mark.filterwarnings("ignore")
def test_an_edited_result_is_shown_or_refused(tmp_path: Path, number: int) -> None:
    """One part of a saved result becomes another: it is damaged, or what it shows fits together."""
    document, rng, refused = json.loads(saved()[number]), random.Random(4), 0  # noqa: S311 - no secret
    places = list(list_places(document["state"]))
    for _ in range(200):
        edited = json.loads(json.dumps(document))
        *path, last = rng.choice(places)
        holder = reduce(getitem, path, edited["state"])
        holder[last] = rng.choice(PARTS)
        (tmp_path / "edited.json").write_text(json.dumps(edited))
        try:
            judged.load(tmp_path / "edited.json").render("csv")
        except JudgedError:
            refused += 1

    assert 20 < refused < 180


def list_places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to every part of a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in items:
        yield (*place, name)
        yield from list_places(part, (*place, name))


def test_no_public_reader_is_left_out() -> None:
    """Whatever `judged` offers to read files with is among the readers that are fuzzed."""
    offered = {name for name in judged.__all__ if name.startswith("read_")} | {"load"}
    fuzzed = Path(mutate.__file__).read_text(encoding="utf-8")

    assert [name for name in sorted(offered) if name not in fuzzed] == []
