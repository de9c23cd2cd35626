"""Time single calls on dicts that are in memory: judged, its kept evaluator, and pytrec_eval, kept and not, on one core.

The tools take turns, so that whatever else the machine does slows all of them; the number is CPU time, the lowest of the
turns. Means of all tools are compared before they are timed.
"""

from __future__ import annotations

import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"  # before NumPy is loaded, which reads them once

import argparse  # noqa: E402
import random  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable, Iterator, Mapping  # noqa: E402
from importlib.metadata import version  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402
import pytrec_eval  # noqa: E402

import judged  # noqa: E402
from judged import functional  # noqa: E402
from machine import description  # noqa: E402
from readme import CALLS, insert  # noqa: E402
from reporting import write_report  # noqa: E402

HERE = Path(__file__).parent
SEED = 20_261_118
SIZES = (
    (1, 2, 2),
    (1, 10, 5),
    (1, 100, 10),
    (10, 100, 10),
    (100, 100, 10),
    (100, 1_000, 10),
    (50, 1_000, 300),
)
"""Queries, documents retrieved and documents judged for each query."""
THEIRS = {"nDCG@10": "ndcg_cut_10", "AP": "map", "RR": "recip_rank", "P@10": "P_10", "R@100": "recall_100"}
"""The measures, and pytrec_eval's names for them."""
TOLERANCE = 1e-9
TURN = 0.02
"""CPU seconds of a turn, at least."""
COLUMNS = (
    "`evaluate`",
    "pytrec_eval",
    "`Evaluator.evaluate`",
    "`Evaluator.per_query`",
    "`Evaluator.means`",
    "pytrec_eval, kept",
)

Dicts = dict[str, dict[str, Any]]


def main() -> None:
    """Draw, time, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=30, help="turns of each tool; the lowest cost counts")
    parser.add_argument(
        "--write", type=Path, help="also write the report to this file, and its table to README.md"
    )
    options = parser.parse_args()
    lines = write_report(_report(options.turns), options.write)
    if options.write:
        insert(HERE.parent / "README.md", CALLS, _last_table(lines))


def _report(turns: int) -> Iterator[str]:
    yield "# Calls"
    yield ""
    yield "CPU microseconds of a call with dicts of scores, on one thread, the lowest of several turns of each tool. *Kept* means"
    yield "that judgments and measures were read before; pytrec_eval returns values by query, without means."
    yield "Written by `benchmarks/calls.py`."
    yield ""
    yield from (f"- {line}" for line in description()[:4])
    yield f"- Packages: numpy {np.__version__}, pytrec_eval-terrier {version('pytrec_eval-terrier')}"
    yield ""
    yield from _small_calls(turns)
    for measures in (["nDCG@10"], list(THEIRS)):
        yield ""
        yield f"## {', '.join(measures)}"
        yield ""
        yield f"| queries × documents (judged) | {' | '.join(COLUMNS)} |"
        yield "|---|" + "---:|" * len(COLUMNS)
        for queries, documents, judged_documents in SIZES:
            costs = _time(_calls(*_draw(queries, documents, judged_documents), measures), turns)
            cells = " | ".join(_shorten(costs[column]) for column in COLUMNS)
            yield f"| {queries} × {documents:,} ({judged_documents}) | {cells} |"


def _small_calls(turns: int) -> Iterator[str]:
    """Yield the costs of what has no twin in pytrec_eval."""
    qrels, run = _draw(1, 2, 2)
    evaluator = judged.Evaluator(qrels, list(THEIRS))
    calls = {
        "`Evaluator(…)` and its first `means`, one query": lambda: judged.Evaluator(qrels, "nDCG@10").means(
            run
        ),
        "the same, five measures": lambda: judged.Evaluator(qrels, list(THEIRS)).means(run),
        "`Evaluator.evaluate(…)`, then its view": lambda: evaluator.evaluate(run).view,
        "`functional.ndcg_at_k`": lambda: functional.ndcg_at_k(["a"], ["a", "b"]),
        "`functional.hit_at_k`": lambda: functional.hit_at_k(["a"], ["a", "b"]),
        "`functional.mean_reciprocal_rank`": lambda: functional.mean_reciprocal_rank([["a"]], [["a", "b"]]),
    }
    yield "| call | µs |"
    yield "|---|---:|"
    for label, cost in _time(calls, turns).items():
        yield f"| {label} | {_shorten(cost)} |"


def _draw(queries: int, documents: int, judged_documents: int) -> tuple[Dicts, Dicts]:
    """Draw judgments and a run sorted by score, whose first result is relevant."""
    rng = random.Random(SEED)  # noqa: S311 - results that nobody has to guess
    qrels: Dicts = {}
    run: Dicts = {}
    for query in range(queries):
        names = [f"doc{number}" for number in rng.sample(range(10**7), documents)]
        run[f"q{query}"] = {name: 20 - place * 0.013 for place, name in enumerate(names)}
        chosen = rng.sample(names, min(judged_documents, documents))
        qrels[f"q{query}"] = {name: rng.choice([0, 1, 2]) for name in chosen} | {names[0]: 1}
    return qrels, run


def _calls(qrels: Dicts, run: Dicts, measures: list[str]) -> dict[str, Callable[[], object]]:
    """Return the calls to time, after a comparison of what they return."""
    theirs = {THEIRS[measure] for measure in measures}
    ours, other = judged.Evaluator(qrels, measures), pytrec_eval.RelevanceEvaluator(qrels, theirs)
    means, values = ours.means(run), other.evaluate(run)
    same = means == judged.evaluate(qrels, run, measures).mean() == ours.evaluate(run).mean()
    for measure in measures:
        mean = np.mean([found[THEIRS[measure]] for found in values.values()])
        same &= bool(abs(mean - means[measure]) < TOLERANCE)
    if not same:
        message = "the tools return different means: a faster way to another number does not count"
        raise SystemExit(message)
    return {
        "`evaluate`": lambda: judged.evaluate(qrels, run, measures),
        "pytrec_eval": lambda: pytrec_eval.RelevanceEvaluator(qrels, theirs).evaluate(run),
        "`Evaluator.evaluate`": lambda: ours.evaluate(run),
        "`Evaluator.per_query`": lambda: ours.per_query(run),
        "`Evaluator.means`": lambda: ours.means(run),
        "pytrec_eval, kept": lambda: other.evaluate(run),
    }


def _time(calls: Mapping[str, Callable[[], object]], turns: int) -> dict[str, float]:
    """Return the lowest CPU time of each call, in microseconds; the calls take turns."""
    repeats = {label: max(1, int(TURN / _cost(call, 1))) for label, call in calls.items()}
    lowest = dict.fromkeys(calls, float("inf"))
    for _ in range(turns):
        for label, call in calls.items():
            lowest[label] = min(lowest[label], _cost(call, repeats[label]))
    return {label: seconds * 1e6 for label, seconds in lowest.items()}


def _cost(call: Callable[[], object], repeats: int) -> float:
    begin = time.process_time_ns()
    for _ in range(repeats):
        call()
    return max((time.process_time_ns() - begin) / repeats / 1e9, 1e-7)


def _shorten(microseconds: float) -> str:
    return f"{microseconds:,.0f}" if microseconds >= 10 else f"{microseconds:.1f}"


def _last_table(lines: list[str]) -> list[str]:
    heading = max(place for place, line in enumerate(lines) if line.startswith("## "))
    return [line for line in lines[heading:] if line.startswith("|")]


if __name__ == "__main__":
    main()
