"""Logarithms and powers: the C library's to the last bit, whatever the processor."""

from __future__ import annotations

import math
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import judged
from judged.agents.kernels import discounts
from judged.kernels.diversity import log_discount
from judged.kernels.elementary import LIMIT, WholeNumbers, log, log2, powers
from judged.kernels.ranked.gains import dcg_discount, jk_discount

RANKS = np.arange(1, 200_001)


def test_the_discount_is_the_c_library_s_logarithm() -> None:
    """To the last bit for every rank, in all places where gains are discounted."""
    expected = np.array([math.log2(rank + 1) for rank in RANKS.tolist()])

    assert (dcg_discount(RANKS) == expected).all()
    assert (log_discount(RANKS) == 1.0 / expected).all()
    assert (discounts(len(RANKS), "log2") == 1.0 / expected).all()


def test_the_discount_as_first_published_is_the_c_library_s_too() -> None:
    """It divides two natural logarithms."""
    expected = [max(math.log(rank) / math.log(10.0), 1.0) for rank in RANKS.tolist()]

    assert jk_discount(RANKS, 10.0).tolist() == expected


@pytest.mark.parametrize("base", [0.5, 0.8, 0.95, 0.99])
def test_powers_are_the_c_library_s(base: float) -> None:
    """`np.power` differs from it for one exponent in twenty where there is AVX-512."""
    assert powers(base)(RANKS[:5_000]).tolist() == [math.pow(base, rank) for rank in RANKS[:5_000].tolist()]


def test_ndcg_of_a_deep_ranking_is_the_sum_of_c_library_terms() -> None:
    """One relevant document at each rank at which NumPy's logarithm may be another one."""
    deep = [1_620, 12_345, 99_999]
    run = {"q": {f"d{rank}": float(-rank) for rank in range(1, 100_001)}}
    for rank in deep:
        value = judged.evaluate({"q": {f"d{rank}": 1}}, run, "nDCG")["nDCG"]

        assert value == 1.0 / math.log2(rank + 1)


def test_numbers_outside_the_table_are_computed_one_by_one() -> None:
    """Fractions and numbers beyond the limit have the same function, and make no table."""
    numbers = np.array([2.5, 1.0, LIMIT, 1e12, 2.5])

    assert log2(numbers).tolist() == [math.log2(number) for number in numbers.tolist()]
    assert log(numbers.reshape(5, 1)).shape == (5, 1)


def test_a_table_grows_in_many_threads_at_once() -> None:
    """Each call has a whole table, in whatever order they grow it."""
    table = WholeNumbers(math.log2, first=1)
    sizes = np.random.default_rng(1).integers(1, 60_000, 200).tolist()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda size: table(np.array([size]))[0], sizes))

    assert found == [math.log2(size) for size in sizes]


@pytest.mark.parametrize("folder", ["measures", "kernels", "scoring"])
def test_no_measure_takes_logarithms_or_powers_of_numpy(folder: str) -> None:
    """A function of another library would bring the processor back into the last bit."""
    # `np.exp2` is exact for whole numbers; logarithms of long doubles are the C library's.
    allowed = re.compile(r"np\.exp2\(grade\)|dtype=np\.longdouble|np\.exp\(ways")
    forbidden = re.compile(r"np\.(log|log2|log10|log1p|exp|exp2|expm1|power)\(")
    files = (Path(judged.__file__).parent / folder).rglob("*.py")
    uses = [
        f"{path.name}: {line.strip()}"
        for path in files
        for line in path.read_text(encoding="utf-8").splitlines()
        if forbidden.search(line) and not allowed.search(line)
    ]

    assert uses == []
