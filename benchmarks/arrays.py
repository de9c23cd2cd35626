"""Time `judged.evaluate_arrays` and the same nDCG written in plain NumPy, on one core.

242,000 rows in 2,000 groups from a fixed seed, as in the test sets of learning to rank. Both are called in turns; the number
is CPU time on one thread, the lowest of the turns. Both sort scores and grades within groups at every call, as a boosting round
does; judged also checks its input, counts ties and makes notes.
"""

from __future__ import annotations

import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"  # before NumPy is loaded, which reads them once

import argparse  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable, Iterator  # noqa: E402
from functools import partial  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402

from judged import evaluate_arrays  # noqa: E402
from machine import description  # noqa: E402
from reporting import write_report  # noqa: E402

SEED, ROWS, GROUPS, TURNS = 25, 242_000, 2_000, 15


def main() -> None:
    """Draw, time, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, help="also write the report to this file")
    write_report(_report(), parser.parse_args().write)


def _report() -> Iterator[str]:
    yield "# Arrays"
    yield ""
    yield f"nDCG@10 of {ROWS:,} rows in {GROUPS:,} groups. CPU milliseconds on one thread, the lowest of {TURNS} alternating calls."
    yield "Written by `benchmarks/arrays.py`."
    yield ""
    yield from (f"- {line}" for line in description())
    yield ""
    yield "| scores | plain NumPy | `evaluate_arrays` | ratio |"
    yield "|---|---:|---:|---:|"
    for kind in ("distinct", "five values"):
        rows = _draw(kind)
        plain, ours = _time(partial(compute_plainly, *rows), partial(compute_by_judged, *rows))
        yield f"| {kind} | {1e3 * plain:.1f} | {1e3 * ours:.1f} | {ours / plain:.2f} |"


def _draw(kind: str) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(SEED)
    group = np.sort(rng.integers(0, GROUPS, ROWS))
    scores = rng.normal(size=ROWS) if kind == "distinct" else rng.integers(0, 5, ROWS).astype(float)
    return scores, rng.choice(5, ROWS, p=[0.5, 0.3, 0.15, 0.04, 0.01]).astype(float), group


def compute_plainly(scores: Any, grades: Any, group: Any) -> float:
    """Return the mean nDCG@10 as one writes it with NumPy: two sorts, two weighted sums."""
    offset = np.searchsorted(group, np.arange(GROUPS))
    rank = np.arange(len(scores)) - offset[group]
    weight = np.where(rank < 10, 1 / np.log2(rank + 2), 0.0)
    gained = np.bincount(group, weights=grades[np.lexsort((-scores, group))] * weight, minlength=GROUPS)
    ideal = np.bincount(group, weights=grades[np.lexsort((-grades, group))] * weight, minlength=GROUPS)
    return float(np.divide(gained, ideal, out=np.zeros(GROUPS), where=ideal > 0).mean())


def compute_by_judged(scores: Any, grades: Any, group: Any) -> float:
    """Return the same by judged."""
    return evaluate_arrays(scores, grades, group_ids=group, measures="nDCG@10")["nDCG@10"]


def _time(*calls: Callable[[], object]) -> list[float]:
    """Return the least CPU time of each call; they take turns, so that other work on the machine concerns all."""
    least = [float("inf")] * len(calls)
    for _ in range(TURNS):
        for number, call in enumerate(calls):
            begin = time.process_time()
            call()
            least[number] = min(least[number], time.process_time() - begin)
    return least


if __name__ == "__main__":
    main()
