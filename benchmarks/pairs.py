"""Time the randomisation test of all pairs of 50 systems in judged, scipy and ranx, on one core.

1,000 queries, 10,000 flips, 1,225 pairs. judged does all of it, with step-down maxT. The peers, which take one pair at
a time and correct nothing, are timed on a few pairs, and the lowest cost is multiplied by 1,225. Scores are drawn
before the clock starts, and every tool is warmed up; the number is CPU time on one thread.
"""

from __future__ import annotations

import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[name] = "1"  # before NumPy is loaded, which reads them once

import argparse  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable, Iterator  # noqa: E402
from functools import partial  # noqa: E402
from importlib.metadata import version  # noqa: E402
from pathlib import Path  # noqa: E402

import numpy as np  # noqa: E402

from machine import description  # noqa: E402
from reporting import write_report  # noqa: E402

SEED = 20_240_607
SYSTEMS, QUERIES, FLIPS = 50, 1_000, 10_000
PAIRS = SYSTEMS * (SYSTEMS - 1) // 2


def main() -> None:
    """Draw, time, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=2, help="number of pairs that the peers are timed on")
    parser.add_argument("--write", type=Path, help="also write the report to this file")
    options = parser.parse_args()
    write_report(_report(options.pairs), options.write)


def _report(pairs: int) -> Iterator[str]:
    scores = np.random.default_rng(SEED).beta(0.5, 1.0, size=(QUERIES, SYSTEMS))
    ours = min(_cost(lambda: _judged(scores)) for _ in range(3))
    yield "# All pairs of many systems"
    yield ""
    yield f"Randomisation tests of {SYSTEMS} systems, {PAIRS:,} pairs, {QUERIES:,} queries, {FLIPS:,} sign flips. CPU seconds on"
    yield f"one thread; for the peers, the lowest of {pairs} pairs, times {PAIRS:,}. Written by `benchmarks/pairs.py`."
    yield ""
    yield from (f"- {line}" for line in description()[:4])
    yield f"- Packages: numpy {np.__version__}, scipy {version('scipy')}, ranx {version('ranx')}"
    yield ""
    yield "| tool | CPU s, all pairs | CPU s, one pair | ratio | p of the first pair |"
    yield "|---|---:|---:|---:|---:|"
    yield f"| judged, with maxT | {ours:.3f} | {ours / PAIRS:.6f} | 1 | {_judged(scores):.4f} |"
    for tool, call in (("scipy.stats.permutation_test", _scipy), ("ranx, Fisher", _ranx)):
        call(scores[:50, 0], scores[:50, 1])  # imports, and for ranx compilation
        each = min(_cost(partial(call, scores[:, 0], scores[:, at])) for at in range(1, pairs + 1))
        p = call(scores[:, 0], scores[:, 1])
        yield f"| {tool} | {each * PAIRS:.0f} | {each:.3f} | {each * PAIRS / ours:.0f} | {p:.4f} |"


def _cost(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def _judged(scores: np.ndarray) -> float:
    """Return the p-value of the first pair, among all that are made."""
    from judged.stats.randomisation import randomise

    return float(randomise(scores, resamples=FLIPS).p[0])


def _scipy(first: np.ndarray, second: np.ndarray) -> float:
    from scipy.stats import permutation_test

    def difference(a: np.ndarray, b: np.ndarray, axis: int) -> np.ndarray:
        return (a - b).mean(axis=axis)

    kind = {"permutation_type": "samples", "vectorized": True, "n_resamples": FLIPS, "batch": 500, "rng": 1}
    return float(permutation_test((first, second), difference, **kind).pvalue)


def _ranx(first: np.ndarray, second: np.ndarray) -> float:
    from ranx.statistical_tests import fisher_randomization_test

    return float(fisher_randomization_test(first, second, FLIPS)[0])


if __name__ == "__main__":
    main()
