"""Reading takes time in proportion to the input, whatever stands in it many times."""

from __future__ import annotations

from contextlib import suppress
from time import process_time

import pytest

from fuzz.mutate import READERS
from judged.errors import JudgedError

UNITS = (
    "a",
    " ",
    "9",
    '"',
    "[",
    "{",
    "<",
    "\n",
    "\r\n",
    ",",
    "\\",
    "(",
    "- ",
    "é",
    "a: ",
    "'",
    "$",
    "0.",
    "\t",
    "#",
)
SIZE, TIMES, ALLOWED, NEGLIGIBLE = 10_000, 4, 9.0, 0.25
"""Four times the text may take nine times as long (16 would be quadratic), or a quarter of a second more."""
FORMATS_OF_VECTORS = tuple(name for name in READERS if name.startswith("vectors") and "sv" not in name)
TEXTS = [name for name in READERS if name not in FORMATS_OF_VECTORS]


def measure(reader: str, seed: bytes, unit: str, size: int) -> float:
    """Return the CPU seconds that a reader takes for a seed with a unit many times in its middle."""
    middle = len(seed) // 2
    data = seed[:middle] + (unit * (size // len(unit))).encode() + seed[middle:]
    started = process_time()
    with suppress(JudgedError):
        READERS[reader][0](data)
    return process_time() - started


@pytest.mark.parametrize("reader", TEXTS)
@pytest.mark.filterwarnings("ignore")
def test_a_reader_takes_time_in_proportion(reader: str) -> None:
    """One character or word, ten thousand and forty thousand times."""
    seed = READERS[reader][1]()[0]
    slow = {}
    for unit in UNITS:
        once = measure(reader, seed, unit, SIZE)
        often = measure(reader, seed, unit, TIMES * SIZE)
        if often > ALLOWED * once + NEGLIGIBLE:  # other work may have been in the way: measure again
            often = min(often, measure(reader, seed, unit, TIMES * SIZE))
        if often > ALLOWED * once + NEGLIGIBLE:
            slow[unit] = (round(once, 3), round(often, 3))

    assert slow == {}
