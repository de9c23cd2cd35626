"""Time the measures of sessions on one core: 100,000 sessions of 10 iterations of 20 results.

Before the clock starts, sessions have been read and deduplicated: for each result it is known whether it is new, and
its gain. The clock covers building the view and the core measures (those of source document 001) at iteration 5 and at
the last, each time on a fresh view. The number is CPU time on one thread, the lowest of several runs.
"""

from __future__ import annotations

import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"  # before NumPy is loaded, which reads them once

import argparse  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable, Iterator  # noqa: E402
from pathlib import Path  # noqa: E402

import numpy as np  # noqa: E402

from judged.agents.kernels import SessionView  # noqa: E402
from judged.agents.measures import SESSION_MEASURES  # noqa: E402
from judged.measures.parse import parse_measures  # noqa: E402
from machine import description  # noqa: E402
from reporting import write_report  # noqa: E402

SEED = 20_240_607
SESSIONS, ITERATIONS, RESULTS, NEW = 100_000, 10, 20, 0.7
DOCUMENT_001 = (
    *("CG", "RG", "DCG", "DRG", "AvgGain", "RAG", "DRAG", "SRE", "SRR"),
    *("R", "UR", "GR", "Dup", "IterationsForAllGoodResults"),
)
BEYOND = tuple(name for name in SESSION_MEASURES if name not in {*DOCUMENT_001, "Recall"})


def main() -> None:
    """Draw, time, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="number of times each part is timed")
    parser.add_argument("--write", type=Path, help="also write the report to this file")
    options = parser.parse_args()
    write_report(_report(options.rounds), options.write)


def _report(rounds: int) -> Iterator[str]:
    built, counted, document, beyond = (min(part) for part in zip(*_rounds(rounds), strict=True))
    yield "# Measures of sessions"
    yield ""
    yield f"{SESSIONS:,} sessions of {ITERATIONS} iterations of {RESULTS} results, {NEW:.0%} of them new, read and"
    yield f"deduplicated before. CPU seconds on one thread, the lowest of {rounds} runs. Written by `benchmarks/sessions.py`."
    yield ""
    yield from (f"- {line}" for line in description()[:4])
    yield f"- Packages: numpy {np.__version__}"
    yield ""
    yield "| part | CPU s |"
    yield "|---|---:|"
    yield f"| building the view from a flag and a gain for each of {SESSIONS * ITERATIONS * RESULTS:,} results | {built:.3f} |"
    yield f"| counting new results by gain, once for all measures | {counted:.3f} |"
    yield f"| the {len(DOCUMENT_001)} core measures, at iteration 5 and at the last | {document:.3f} |"
    yield f"| **total** | **{built + counted + document:.3f}** |"
    yield f"| the other {len(BEYOND)} measures, in addition | {beyond:.3f} |"


def _rounds(rounds: int) -> Iterator[tuple[float, float, float, float]]:
    """Return what each part costs, on a fresh view each time."""
    rng = np.random.default_rng(SEED)
    iterations, results = np.full(SESSIONS, ITERATIONS), np.full(SESSIONS * ITERATIONS, RESULTS)
    new = rng.random(SESSIONS * ITERATIONS * RESULTS) < NEW
    gains = rng.integers(-1, 5, len(new)).astype(np.int8)
    for _ in range(rounds):
        built, view = _cost(lambda: SessionView.from_results(iterations, results, new, gains))
        counted, _ = _cost(lambda view=view: view.grades)
        document, _ = _cost(lambda view=view: _scored(view, DOCUMENT_001))
        beyond, _ = _cost(lambda view=view: _scored(view, BEYOND))
        yield built, counted, document, beyond


def _scored(view: SessionView, names: tuple[str, ...]) -> None:
    both = [f"{name}@5" for name in names if SESSION_MEASURES[name].at_parameter is not None]
    for measure in parse_measures([*both, *names], family="session"):
        measure.per_query(view)


def _cost(call: Callable[[], object]) -> tuple[float, object]:
    start = time.process_time()
    made = call()
    return time.process_time() - start, made


if __name__ == "__main__":
    main()
