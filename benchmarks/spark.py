"""Score runs of 1, 10 and 100 million rows: judged as a stream, judged on Spark, and nDCG as Spark SQL has it written.

Every engine reads the same Parquet files in a process of its own, Spark as `local[2]`. The numbers are the processor
time of all processes of the call (driver, JVM, Python workers) after a warm-up, and the peak memory of the Python
process that scans, each above what it had before.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from machine import description
from reporting import write_report

DATA = Path("bench-data/spark")
SEED, DEPTH, JUDGED, FOUND = 20_261_117, 1000, 21, 14
FILE_ROWS = 5_000_000
SIZES = (1, 10, 100)
MEASURES = ("nDCG@10", "AP", "RR", "P@10", "R@100")


def main() -> None:
    """Write the runs, score them with every engine, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--millions", type=int, nargs="*", default=SIZES, help="rows of the runs, in millions"
    )
    parser.add_argument(
        "--peer", type=int, default=10, help="rows, in millions, up to which the peers are run"
    )
    parser.add_argument("--write", type=Path, help="also write the report to this file")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        name, folder = options.child
        print(json.dumps(_cost(ENGINES[name], Path(folder))))
        return
    write_report(_report(options.millions, options.peer), options.write)


def _report(millions: list[int], peer: int) -> Iterator[str]:
    yield "# Larger than memory, and beyond one machine"
    yield ""
    yield f"Runs of {DEPTH:,} results for each query with whole scores, so with ties, and {JUDGED} judgments for each query, in Parquet"
    yield f"files of {FILE_ROWS:,} rows with the rows of a query one after the other; *mixed* has them in random order. Written by"
    yield "`benchmarks/spark.py`."
    yield ""
    yield from (f"- {line}" for line in description()[:4])
    yield f"- PySpark {version('pyspark')}, `local[2]`"
    yield ""
    yield "| rows, millions | engine | measures | CPU s | CPU s per million rows | wall s | memory, MB | nDCG@10 |"
    yield "|---:|---|---:|---:|---:|---:|---:|---:|"
    for size in millions:
        for name, (_, mixed, measures) in ENGINES.items():
            if size > peer and (mixed or "SQL" in name):
                continue
            cost = _child(name, _made(size, mixed=mixed))
            each = cost["cpu"] / size
            yield (
                f"| {size} | {name} | {measures} | {cost['cpu']:.1f} | {each:.2f} | {cost['wall']:.1f} "
                f"| {cost['memory']:.0f} | {cost['ndcg']:.6f} |"
            )


def _made(millions: int, *, mixed: bool) -> Path:
    """Return the folder with the judgments and the run of a size, written if it is not there."""
    folder = DATA / f"{millions}{'-mixed' if mixed else ''}"
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
    return folder


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


def _stream(folder: Path) -> Callable[[], float]:
    import judged

    def call() -> float:
        run, qrels = folder / "run", folder / "qrels.parquet"
        return judged.evaluate(qrels, run, MEASURES, engine="streaming", threads=1)["nDCG@10"]

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


def _spark(folder: Path) -> Callable[[], float]:
    import judged

    session = _session()
    warm = session.createDataFrame([("q0", "D1", 1.0)], "query string, document string, score double")
    judged.evaluate({"q0": {"D1": 1}}, warm, "RR")

    def call() -> float:
        run = session.read.parquet(str(folder / "run"))
        return judged.evaluate(folder / "qrels.parquet", run, MEASURES)["nDCG@10"]

    return call


def _window(folder: Path, query: str) -> Callable[[], float]:
    """Return measures in Spark SQL as they are commonly written: row_number, join, sum."""
    session = _session()
    session.sql("SELECT sum(id) FROM range(1000)").collect()

    def call() -> float:
        session.read.parquet(str(folder / "run")).createOrReplaceTempView("run")
        session.read.parquet(str(folder / "qrels.parquet")).createOrReplaceTempView("qrels")
        return session.sql(query).collect()[0][0]

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

ENGINES: dict[str, tuple[Callable[[Path], Callable[[], float]], bool, int]] = {
    "judged, streaming": (_stream, False, len(MEASURES)),
    "judged, Spark": (_spark, False, len(MEASURES)),
    "Spark SQL, window functions": (partial(_window, query=FIVE), False, len(MEASURES)),
    "Spark SQL, window functions, nDCG@10 alone": (partial(_window, query=WINDOW), False, 1),
    "judged, streaming, mixed": (_stream, True, len(MEASURES)),
    "judged, Spark, mixed": (_spark, True, len(MEASURES)),
    "Spark SQL, window functions, mixed": (partial(_window, query=FIVE), True, len(MEASURES)),
}
"""What prepares each call, whether it reads mixed rows, and how many measures it computes."""


def _child(name: str, folder: Path) -> dict[str, float]:
    command = [sys.executable, __file__, "--child", name, str(folder)]
    ended = subprocess.run(command, check=True, capture_output=True, text=True)
    cost: dict[str, float] = json.loads(ended.stdout.splitlines()[-1])
    return cost


def _cost(engine: tuple[Callable[[Path], Callable[[], float]], bool, int], folder: Path) -> dict[str, float]:
    call = engine[0](folder)
    before, memory, began = _cpu(), _memory(), time.perf_counter()
    ndcg = call()
    wall = time.perf_counter() - began
    return {"cpu": _cpu() - before, "wall": wall, "memory": _memory() - memory, "ndcg": ndcg}


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


def _cpu() -> float:
    """Return the processor time of this process and all below it, with those that ended."""
    ticks = 0
    for pid in _tree():
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def _memory() -> float:
    """Return the peak memory of the largest Python process, in megabytes."""
    peaks = [0.0]
    for pid in _tree():
        status = Path(f"/proc/{pid}/status").read_text()
        found = re.search(r"VmHWM:\s+(\d+) kB", status)
        if found is not None and "python" in status.partition("\n")[0]:
            peaks.append(int(found[1]) / 1024)
    return max(peaks)


if __name__ == "__main__":
    main()
