"""The folder of results: finished points in a log, and the raw samples of each, a row for each query."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from judged.arrays import Ints
from judged.index.load import Samples, to_matrix
from judged.index.measurement import Measurement
from judged.saved import from_builtins, to_builtins
from judged.store.files import replace_file
from judged.store.log import Log


def find_rows(results: Path, measured: Measurement) -> Path:
    """Return the file of the raw rows of a point in a round."""
    return results / "rows" / f"{measured.key}-{measured.round}.parquet"


def read_points(results: Path, *, since: str = "") -> dict[tuple[str, int], Measurement]:
    """Return the finished points of a folder by key and round: those whose raw rows are there.

    Those that were measured before the time `since` are left out.
    """
    points = (point for point in open_points(results).read() if point.at >= since)
    return {(point.key, point.round): point for point in points if find_rows(results, point).is_file()}


def open_points(results: Path) -> Log[Measurement]:
    """Return the log of the finished points of a folder."""
    return Log(
        results / "points.jsonl",
        lambda line: from_builtins(json.loads(line), Measurement),
        encode=_encode_point,
    )


def _encode_point(measured: Measurement) -> bytes:
    return json.dumps(to_builtins(measured), ensure_ascii=False, allow_nan=False).encode()


def write_point(results: Path, measured: Measurement, rows: Sequence[pa.Table]) -> None:
    """Write the raw rows, then the line that makes the point finished."""
    path = find_rows(results, measured)
    path.parent.mkdir(parents=True, exist_ok=True)
    with replace_file(path) as file:
        pq.write_table(pa.concat_tables(rows), file, compression="zstd")
    open_points(results).append(measured)


def to_rows(phase: str, samples: Samples, k: int) -> pa.Table:
    """Return raw samples as rows; answers are there where they were kept."""
    failed = np.zeros(len(samples), dtype=bool)
    failed[samples.failed] = True
    answers = pa.nulls(len(samples), pa.list_(pa.int64()))
    if k and samples.answers:
        matrix = to_matrix(samples.answers, k)
        kept = pa.FixedSizeListArray.from_arrays(pa.array(matrix.reshape(-1)), k).cast(pa.list_(pa.int64()))
        rest = pa.nulls(len(samples) - len(matrix), pa.list_(pa.int64()))
        answers = pa.concat_arrays([kept, rest])
    responses = samples.response if samples.arrival else None
    return pa.table(
        {
            "phase": pa.array([phase] * len(samples), pa.string()),
            "query": pa.array(np.array(samples.query, dtype=np.int32)),
            "start": pa.array(np.array(samples.start, dtype=np.int64)),
            "nanoseconds": pa.array(samples.service),
            "response": pa.nulls(len(samples), pa.int64()) if responses is None else pa.array(responses),
            "failed": pa.array(failed),
            "answer": answers,
        }
    )


def read_answers(rows: pa.Table, k: int) -> Ints:
    """Return the answers that were kept, as a matrix."""
    answers = rows["answer"].combine_chunks()
    kept: Ints = answers.drop_null().flatten().to_numpy(zero_copy_only=False)
    return kept.reshape(-1, k)
