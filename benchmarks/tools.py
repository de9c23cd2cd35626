"""What is timed: each tool goes from the two files to the means of five measures, in its own spelling.

Run as a script in a process of its own: `tools.py TOOL QRELS RUN` prints seconds and means as JSON.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any

MEASURES = ("nDCG@10", "AP", "RR", "P@10", "R@100")
TREC = ("ndcg_cut_10", "map", "recip_rank", "P_10", "recall_100")
MANY = (
    *(f"{name}@{cutoff}" for name in ("nDCG", "P", "R", "AP", "RR") for cutoff in (5, 10, 20, 100, 1000)),
    "AP", "nDCG", "Bpref", "Rprec", "RBP(p=0.8)",
)  # fmt: skip

Means = dict[str, float]
Job = Callable[[], Means]


def newlines(_: str, run: str) -> Job:
    """Return the floor: read the file and count its lines."""
    return lambda: {"lines": float(Path(run).read_bytes().count(b"\n"))}


def judged(qrels: str, run: str, *, measures: tuple[str, ...] = MEASURES, threads: int = 1) -> Job:
    """judged, from paths."""
    import judged as library

    library.nDCG  # noqa: B018 - imports what a first evaluation would import
    from judged.scoring.evaluate import evaluate

    return lambda: evaluate(Path(qrels), Path(run), measures, threads=threads).mean()


def judged_two_threads(qrels: str, run: str) -> Job:
    """judged, from paths, with two threads."""
    return judged(qrels, run, threads=2)


def judged_lint(qrels: str, run: str) -> Job:
    """`judged.lint` of both files; what it returns is the number of lines that it read."""
    from judged import lint

    return lambda: {"lines": float(sum(file.rows for file in lint(qrels, run).files))}


def judged_many(qrels: str, run: str) -> Job:
    """judged, from paths, thirty measures."""
    return judged(qrels, run, measures=MANY)


def judged_arrow(qrels: str, run: str) -> Job:
    """judged, from Arrow columns that are in memory already."""
    from judged import evaluate, read_run

    table = read_run(Path(run)).to_arrow()
    return lambda: evaluate(Path(qrels), table, MEASURES, threads=1).mean()


def judged_polars(qrels: str, run: str) -> Job:
    """judged, from a Polars data frame that is in memory already."""
    import polars as pl

    from judged import evaluate, read_run

    frame = pl.DataFrame(read_run(Path(run)).to_arrow())
    return lambda: evaluate(Path(qrels), frame, MEASURES, threads=1).mean()


def judged_dicts(qrels: str, run: str) -> Job:
    """judged, from dicts that are in memory already."""
    from judged import evaluate

    judgments, results = _dicts(qrels, run)
    return lambda: evaluate(judgments, results, MEASURES, threads=1).mean()


def judged_dicts_many_judged(_: str, run: str) -> Job:
    """judged, from dicts in memory, with 1,000 judged documents for each of the first queries."""
    from judged import evaluate

    judgments, results = _dicts_many_judged(run)
    return lambda: evaluate(judgments, results, MEASURES, threads=1).mean()


def pytrec_eval(qrels: str, run: str) -> Job:
    """pytrec_eval, with its own parsers."""
    import pytrec_eval as library

    def job() -> Means:
        with Path(qrels).open() as file:
            judgments = library.parse_qrel(file)
        with Path(run).open() as file:
            results = library.parse_run(file)
        return _pytrec_means(library, judgments, results)

    return job


def pytrec_eval_dicts(qrels: str, run: str) -> Job:
    """pytrec_eval's evaluation alone, from dicts that are in memory already."""
    import pytrec_eval as library

    judgments, results = _dicts(qrels, run)
    return lambda: _pytrec_means(library, judgments, results)


def pytrec_eval_dicts_many_judged(_: str, run: str) -> Job:
    """pytrec_eval's evaluation of the same dicts."""
    import pytrec_eval as library

    judgments, results = _dicts_many_judged(run)
    return lambda: _pytrec_means(library, judgments, results)


def trec_eval(qrels: str, run: str) -> Job:
    """trec_eval, from $TREC_EVAL or the path."""
    program = os.environ.get("TREC_EVAL", "trec_eval")
    asked = ("ndcg_cut.10", "map", "recip_rank", "P.10", "recall.100")
    flags = [part for name in asked for part in ("-m", name)]

    def job() -> Means:
        done = subprocess.run([program, "-c", *flags, qrels, run], capture_output=True, text=True, check=True)
        values = {line.split()[0]: float(line.split()[2]) for line in done.stdout.splitlines()}
        return {name: values[trec] for name, trec in zip(MEASURES, TREC, strict=True)}

    return job


def ir_measures(qrels: str, run: str) -> Job:
    """ir_measures, with its own readers."""
    import ir_measures as library

    asked = [library.parse_measure(name) for name in MEASURES]

    def job() -> Means:
        found = library.calc_aggregate(asked, library.read_trec_qrels(qrels), library.read_trec_run(run))
        return {str(measure): float(value) for measure, value in found.items()}

    return job


def ranx(qrels: str, run: str) -> Job:
    """ranx, with its own readers; the first call compiles, the second does not."""
    import ranx as library

    asked = ["ndcg@10", "map", "mrr", "precision@10", "recall@100"]

    def job() -> Means:
        judgments = library.Qrels.from_file(qrels, kind="trec")
        results = library.Run.from_file(run, kind="trec")
        found = library.evaluate(judgments, results, asked, make_comparable=True)
        return {name: float(found[theirs]) for name, theirs in zip(MEASURES, asked, strict=True)}

    return job


TOOLS: dict[str, Callable[[str, str], Job]] = {
    each.__name__: each
    for each in (
        newlines, judged, judged_two_threads, judged_many, judged_lint, judged_arrow, judged_polars, judged_dicts,
        judged_dicts_many_judged, pytrec_eval, pytrec_eval_dicts, pytrec_eval_dicts_many_judged, trec_eval, ir_measures, ranx,
    )
}  # fmt: skip


def _dicts(qrels: str, run: str) -> tuple[Any, Any]:
    import pytrec_eval as library

    with Path(qrels).open() as file:
        judgments = library.parse_qrel(file)
    with Path(run).open() as file:
        return judgments, library.parse_run(file)


def _dicts_many_judged(run: str, queries: int = 100) -> tuple[Any, Any]:
    """Return the first queries, with every second result judged and as many documents that were not retrieved."""
    results: dict[str, dict[str, float]] = {}
    with Path(run).open() as file:
        for line in file:
            query, _, document, _, score, _ = line.split()
            if query not in results and len(results) == queries:
                break
            results.setdefault(query, {})[document] = float(score)
    judgments = {
        query: {document: place % 3 for place, document in enumerate(list(scores)[::2])}
        | {f"missed{place}": place % 2 for place in range(500)}
        for query, scores in results.items()
    }
    return judgments, results


def _pytrec_means(library: Any, judgments: Any, results: Any) -> Means:
    evaluator = library.RelevanceEvaluator(judgments, set(TREC))
    values = evaluator.evaluate(results).values()
    return {name: fmean(each[trec] for each in values) for name, trec in zip(MEASURES, TREC, strict=True)}


def _cpu() -> float:
    """Seconds of processor time that this process, all its threads and its children have used."""
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def main() -> None:
    """Do the job of one tool as often as asked, and print what each time cost.

    The tool has done the same on three lines before, so that what it imports on first use is there; not so
    ranx, whose first call is one of the things to be measured.
    """
    tool, qrels, run, calls = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
    if tool != "ranx":
        _warm_up(tool)
    job = TOOLS[tool](qrels, run)
    print(json.dumps({"ready": True}), flush=True)
    for _ in range(calls):
        wall, cpu = time.perf_counter(), _cpu()
        means = job()
        spent = {"cpu": _cpu() - cpu, "wall": time.perf_counter() - wall}
        print(json.dumps(spent | {"means": means}), flush=True)


def _warm_up(tool: str) -> None:
    with tempfile.TemporaryDirectory() as directory:
        qrels, run = Path(directory) / "qrels.txt", Path(directory) / "run.txt"
        qrels.write_text("1 0 a 1\n1 0 b 0\n2 0 c 2\n", encoding="utf-8")
        run.write_text("1 Q0 a 1 2.0 t\n1 Q0 b 2 1.0 t\n2 Q0 c 1 1.0 t\n", encoding="utf-8")
        TOOLS[tool](str(qrels), str(run))()


if __name__ == "__main__":
    main()
