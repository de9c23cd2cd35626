"""Score runs of 1, 10 and 100 million rows: judged as a stream, judged on Spark, and window functions of Spark SQL.

Every engine reads the same Parquet files in a process of its own, Spark as `local[2]`, and first scores the run of a
million rows, so that neither imports nor the start of the JVM's compiler are measured. The numbers are the processor
time of all processes of a call (driver, JVM, Python workers), and the peak memory of the largest Python process so far.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from machine import description
from reporting import write_report

DATA = Path("bench-data/spark")
SEED, DEPTH, JUDGED, FOUND = 20_261_117, 1000, 21, 14
FILE_ROWS = 5_000_000
SIZES = (1, 10, 100)
FEW = 1000
MEASURES = ("nDCG@10", "AP", "RR", "P@10", "R@100")


def main() -> None:
    """Write the runs, score them with every engine, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--millions", type=int, nargs="*", default=SIZES, help="rows of the runs, in millions"
    )
    parser.add_argument(
        "--data", type=Path, default=DATA, help="folder of the runs, written if they are not there"
    )
    parser.add_argument("--write", type=Path, help="also write the report to this file")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        name, millions = options.child
        costs = _measure(ENGINES[name], options.data, json.loads(millions))
        print(json.dumps(list(costs)))
        return
    write_report(_report(options.millions, options.data), options.write)


def _report(millions: list[int], data: Path) -> Iterator[str]:
    yield "# Larger than memory, and beyond one machine"
    yield ""
    yield f"Runs of {DEPTH:,} results for each query with whole scores, so with ties, and {JUDGED} judgments for each query, in Parquet"
    yield f"files of {FILE_ROWS:,} rows with the rows of a query one after the other; *mixed* has those of a file in random order."
    yield f"*Few judged* has judgments for {FEW:,} queries alone: there only the run grows. Written by one run of `benchmarks/spark.py`,"
    yield "one measurement each, after a call on the million rows, the sizes of an engine one after the other in one process. CPU is that"
    yield "of all processes, the JVM included; memory is the peak of the largest Python process, at this size or a smaller one."
    yield ""
    yield from (f"- {line}" for line in description()[:4])
    yield f"- PySpark {version('pyspark')}, `local[2]`; load of the machine before: {os.getloadavg()[1]:.1f}"
    yield ""
    yield "| rows, millions | engine | measures | CPU s | CPU s per million rows | wall s | memory, MB | nDCG@10 |"
    yield "|---:|---|---:|---:|---:|---:|---:|---:|"
    found = _run_engines(sorted(millions), data)
    for (size, name), cost in sorted(found.items(), key=lambda item: item[0][0]):
        yield (
            f"| {size} | {name} | {len(ENGINES[name].measures)} | {cost['cpu']:.1f} | {cost['cpu'] / size:.2f} "
            f"| {cost['wall']:.1f} | {cost['memory']:.0f} | {cost['ndcg']:.6f} |"
        )
    yield ""
    yield "How many times the processor time of *judged, Spark* window functions of Spark SQL take for the same measures:"
    yield ""
    yield "| rows, millions | five measures | nDCG@10 alone | five measures, mixed | nDCG@10 alone, mixed |"
    yield "|---:|---:|---:|---:|---:|"
    for size in sorted(millions):
        pairs = [(f"Spark SQL, window functions{kind}", f"judged, Spark{kind}") for kind in KINDS]
        ratios = [
            f"{found[size, theirs]['cpu'] / found[size, ours]['cpu']:.1f}" if (size, theirs) in found else ""
            for theirs, ours in pairs
        ]
        yield f"| {size} | {' | '.join(ratios)} |"


def _run_engines(millions: list[int], data: Path) -> dict[tuple[int, str], dict[str, float]]:
    """Return what each engine takes for each size; it meets them in one process, the smallest first."""
    found = {}
    for name, engine in ENGINES.items():
        sizes = [size for size in millions if size <= engine.most]
        for size in {1, *sizes}:
            _write_data(data, size, mixed=engine.mixed)
        for size, cost in zip(sizes, _child(name, data, sizes), strict=True):
            found[size, name] = cost
            print(f"{size} million, {name}: {cost['cpu']:.1f} CPU s", file=sys.stderr)
    return found


def _folder(data: Path, millions: int, *, mixed: bool) -> Path:
    return data / f"{millions}{'-mixed' if mixed else ''}"


def _write_data(data: Path, millions: int, *, mixed: bool) -> None:
    """Write the judgments and the run of a size, unless they are there."""
    folder = _folder(data, millions, mixed=mixed)
    if not (folder / "qrels.parquet").exists():
        (folder / "run").mkdir(parents=True, exist_ok=True)
        rng = np.random.default_rng(SEED)
        queries = millions * 1_000_000 // DEPTH
        at_once = min(queries, FILE_ROWS // DEPTH)
        judged = []
        for first in range(0, queries, at_once):
            numbers = np.arange(first, first + at_once)
            table, qrels = _make_rows(numbers, rng)
            judged.append(qrels)
            if mixed:
                table = table.take(rng.permutation(len(table)))
            pq.write_table(table, folder / "run" / f"{first:09}.parquet", row_group_size=500_000)
        pq.write_table(pa.concat_tables(judged), folder / "qrels.parquet")
    if not (folder / "few.parquet").exists():
        few = pq.read_table(folder / "qrels.parquet").slice(0, FEW * JUDGED)
        pq.write_table(few, folder / "few.parquet")


def _make_rows(numbers: np.ndarray, rng: np.random.Generator) -> tuple[pa.Table, pa.Table]:
    """Return rows and judgments of some queries; the rows by descending score."""
    documents = (rng.integers(0, 8_000_000, len(numbers))[:, None] + np.arange(DEPTH) * 7919) % 8_841_823
    scores = -np.sort(-rng.integers(0, 3000, (len(numbers), DEPTH)), axis=1).astype(np.float64)
    query = np.repeat(numbers, DEPTH)
    run = {"query": _name("q", query), "document": _name("D", documents.ravel()), "score": scores.ravel()}
    found = np.stack([rng.choice(DEPTH, FOUND, replace=False) for _ in numbers])
    hits = np.take_along_axis(documents, found, axis=1)
    others = 9_000_000 + rng.integers(0, 900_000, (len(numbers), 1)) + np.arange(JUDGED - FOUND)
    grades = rng.integers(0, 4, len(numbers) * JUDGED)
    qrels = {
        "query": _name("q", np.repeat(numbers, JUDGED)),
        "document": _name("D", np.concatenate([hits, others], axis=1).ravel()),
        "grade": grades,
    }
    return pa.table(run), pa.table(qrels)


def _name(letter: str, numbers: np.ndarray) -> pa.Array:
    import pyarrow.compute as pc

    return pc.binary_join_element_wise(letter, pa.array(numbers).cast(pa.string()), "")


class Engine(NamedTuple):
    """What prepares a call, and on what."""

    prepare: Callable[[Engine], Callable[[Path], float]]
    measures: tuple[str, ...] = MEASURES
    mixed: bool = False
    judgments: str = "qrels.parquet"
    most: int = 100
    """The largest size, in millions: what is slow is not measured beyond ten."""


def _stream(engine: Engine) -> Callable[[Path], float]:
    import judged

    def call(folder: Path) -> float:
        run, qrels = folder / "run", folder / engine.judgments
        return judged.evaluate(qrels, run, engine.measures, backend="streaming", threads=1)["nDCG@10"]

    return call


def _session() -> Any:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.memory": "3g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "8",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
    }
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _spark(engine: Engine, *, handed: bool = False) -> Callable[[Path], float]:
    import judged

    session = _session()

    def call(folder: Path) -> float:
        run = session.read.parquet(str(folder / "run"))
        if handed:
            run = run.where("score >= 0")  # no longer files alone, so that Spark reads them
        return judged.evaluate(folder / engine.judgments, run, engine.measures)["nDCG@10"]

    return call


def _window(engine: Engine) -> Callable[[Path], float]:
    """Return measures in Spark SQL as they are commonly written: row_number, join, sum."""
    session = _session()

    def call(folder: Path) -> float:
        session.read.parquet(str(folder / "run")).createOrReplaceTempView("run")
        session.read.parquet(str(folder / engine.judgments)).createOrReplaceTempView("qrels")
        return session.sql(FIVE if len(engine.measures) > 1 else WINDOW).collect()[0][0]

    return call


WINDOW = """
WITH ranked AS (
  SELECT query, document, row_number() OVER (PARTITION BY query ORDER BY score DESC) AS rank FROM run
), dcg AS (
  SELECT r.query, sum(q.grade / log2(r.rank + 1)) AS value
  FROM ranked r JOIN qrels q ON r.query = q.query AND r.document = q.document
  WHERE r.rank <= 10 GROUP BY r.query
), ideal AS (
  SELECT query, sum(grade / log2(rank + 1)) AS value FROM (
    SELECT query, grade, row_number() OVER (PARTITION BY query ORDER BY grade DESC) AS rank FROM qrels
  ) WHERE rank <= 10 GROUP BY query
)
SELECT avg(CASE WHEN ideal.value > 0 THEN coalesce(dcg.value, 0) / ideal.value ELSE 0 END)
FROM ideal LEFT JOIN dcg ON ideal.query = dcg.query
"""

FIVE = """
WITH ranked AS (
  SELECT query, document, row_number() OVER (PARTITION BY query ORDER BY score DESC) AS rank FROM run
), hits AS (
  SELECT r.query, r.rank, q.grade, int(q.grade >= 1) AS rel,
         sum(int(q.grade >= 1)) OVER (PARTITION BY r.query ORDER BY r.rank) AS above
  FROM ranked r JOIN qrels q ON r.query = q.query AND r.document = q.document
), found AS (
  SELECT query, sum(int(rank <= 10) * grade / log2(rank + 1)) AS dcg, sum(rel * above / rank) AS precisions,
         max(rel / rank) AS rr, sum(rel * int(rank <= 10)) / 10 AS p, sum(rel * int(rank <= 100)) AS r
  FROM hits GROUP BY query
), ideal AS (
  SELECT query, sum(int(rank <= 10) * grade / log2(rank + 1)) AS dcg, sum(int(grade >= 1)) AS relevant FROM (
    SELECT query, grade, row_number() OVER (PARTITION BY query ORDER BY grade DESC) AS rank FROM qrels
  ) GROUP BY query
)
SELECT avg(coalesce(found.dcg / ideal.dcg, 0)), avg(coalesce(precisions / relevant, 0)), avg(coalesce(rr, 0)),
       avg(coalesce(p, 0)), avg(coalesce(r / relevant, 0))
FROM ideal LEFT JOIN found ON ideal.query = found.query
"""

ONE = MEASURES[:1]
KINDS = ("", ", nDCG@10 alone", ", mixed", ", nDCG@10 alone, mixed")
ENGINES = {
    "judged, streaming": Engine(_stream),
    "judged, Spark": Engine(_spark),
    "judged, Spark, rows read by Spark": Engine(partial(_spark, handed=True), most=10),
    "Spark SQL, window functions": Engine(_window),
    "judged, Spark, nDCG@10 alone": Engine(_spark, ONE),
    "Spark SQL, window functions, nDCG@10 alone": Engine(_window, ONE),
    "judged, streaming, few judged": Engine(_stream, judgments="few.parquet"),
    "judged, Spark, few judged": Engine(_spark, judgments="few.parquet"),
    "judged, streaming, mixed": Engine(_stream, mixed=True, most=10),
    "judged, Spark, mixed": Engine(_spark, mixed=True),
    "judged, Spark, rows read by Spark, mixed": Engine(partial(_spark, handed=True), mixed=True, most=10),
    "Spark SQL, window functions, mixed": Engine(_window, mixed=True, most=10),
    "judged, Spark, nDCG@10 alone, mixed": Engine(_spark, ONE, mixed=True, most=10),
    "Spark SQL, window functions, nDCG@10 alone, mixed": Engine(_window, ONE, mixed=True, most=10),
}


def _child(name: str, data: Path, millions: list[int]) -> list[dict[str, float]]:
    command = [sys.executable, __file__, "--data", str(data), "--child", name, json.dumps(millions)]
    ended = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    costs: list[dict[str, float]] = json.loads(ended.stdout.splitlines()[-1])
    return costs


def _measure(engine: Engine, data: Path, millions: list[int]) -> Iterator[dict[str, float]]:
    call = engine.prepare(engine)
    call(_folder(data, 1, mixed=engine.mixed))
    watch = _Watch()
    for size in millions:
        before, began = watch.cpu(), time.perf_counter()
        ndcg = call(_folder(data, size, mixed=engine.mixed))
        wall = time.perf_counter() - began
        yield {"cpu": watch.cpu() - before, "wall": wall, "memory": watch.memory, "ndcg": ndcg}


class _Watch:
    """Adds up the processor time of this process and all below it, every second, so that those that end are counted."""

    def __init__(self) -> None:
        self.memory = 0.0
        """The peak memory of the largest Python process, in megabytes."""
        self._times: dict[tuple[int, str], int] = {}
        self._lock = threading.Lock()
        threading.Thread(target=self._look_again, daemon=True).start()

    def cpu(self) -> float:
        """Return the processor time so far, in seconds."""
        self._look()
        return sum(self._times.values()) / os.sysconf("SC_CLK_TCK")

    def _look_again(self) -> None:
        while True:
            time.sleep(1)
            self._look()

    def _look(self) -> None:
        with self._lock:
            for pid in _tree():
                try:
                    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                    status = Path(f"/proc/{pid}/status").read_text()
                except OSError:
                    continue  # it has ended
                self._times[pid, fields[19]] = int(fields[11]) + int(fields[12])
                peak = re.search(r"VmHWM:\s+(\d+) kB", status)
                if peak is not None and "python" in status.partition("\n")[0]:
                    self.memory = max(self.memory, int(peak[1]) / 1024)


def _tree() -> list[int]:
    """Return this process and all below it."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue  # it has ended
    found = [os.getpid()]
    for pid in found:
        found += [child for child, parent in parents.items() if parent == pid]
    return found


if __name__ == "__main__":
    main()
