"""Processor time of some work, and how it grows with the input, measured so that other work on the machine does not decide."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

Job = Callable[[], object]
ROUNDS = 6
"""Measurements at most; other work only ever adds to a time, so the least of several is nearest to the truth."""
LONG = 1.0
"""Seconds of work from which one measurement of a round will do."""


def spend(prepare: Callable[[], Job]) -> float:
    """Return the least CPU time of three calls, of one if it is long; each is prepared again, since results are kept.

    Nothing is collected meanwhile: how long that takes depends on what other tests left in memory.
    """
    spent: list[float] = []
    collecting = gc.isenabled()
    while len(spent) < 3 and sum(spent) < LONG:
        job = prepare()
        gc.disable()
        try:
            begin = time.process_time()
            job()
            spent.append(time.process_time() - begin)
        finally:
            if collecting:
                gc.enable()
    return min(spent)


def assert_growth(
    prepare: Callable[[int], Job], sizes: tuple[int, int], allowed: float, *, nothing: float = 0.01
) -> None:
    """Assert that the larger size takes less than `allowed` times as long as the smaller one.

    `nothing` are the seconds below which the smaller one says nothing of growth.
    """
    least = [float("inf"), float("inf")]
    for _ in range(ROUNDS):
        for place, size in enumerate(sizes):
            least[place] = min(least[place], spend(lambda size=size: prepare(size)))  # type: ignore[misc]
        if least[1] < allowed * max(least[0], nothing):
            return
    msg = f"{sizes[1]} take {least[1]:.3f} s, {least[1] / least[0]:.1f} times the {least[0]:.3f} s of {sizes[0]}; allowed are {allowed} times"
    raise AssertionError(msg)
