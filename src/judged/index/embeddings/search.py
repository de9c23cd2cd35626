"""`search_exact`: the run of an embedding model, by exact search in bounded memory."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike

from judged.arrays import Ints
from judged.errors import BadInput, BadProtocol
from judged.index.data import make_dataset
from judged.index.engine import Metric
from judged.index.exact import find_neighbours
from judged.problem import Problem
from judged.tables.columns import to_arrow, to_strings
from judged.tables.run import Run

CELLS = 1 << 23
"""Maximum number of neighbours that are held in addition to those returned: 128 MiB of ids and distances."""

Exclude = Literal["self"] | tuple[ArrayLike, ArrayLike] | ArrayLike | None


def search_exact(
    queries: ArrayLike,
    documents: ArrayLike,
    k: int,
    metric: Metric = "cosine",
    *,
    exclude: Exclude = None,
    query_ids: ArrayLike | None = None,
    document_ids: ArrayLike | None = None,
    name: str = "exact",
) -> Run:
    """Return the `k` nearest documents of each query as a run, by computing every distance.

    `queries` and `documents` are matrices with a row for each. Ids are row numbers unless given. `metric` is
    `cosine` (the score is the cosine), `ip` (the inner product), `l2` or `hamming` (minus the distance).
    `exclude="self"` leaves out the document with the id of the query; labels leave out every document with the
    label of the query: an array where queries and documents are the same rows, else a pair of arrays. Measures
    with a cutoff of their own, such as `AP_R`, need a `k` that reaches it.

    Rows are searched in blocks: memory grows with the input and the result, not with their product.

    >>> points = [[0.0, 1.0], [0.1, 1.0], [1.0, 0.0]]
    >>> search_exact(points, points, 1, exclude="self").to_arrow()["document"].to_pylist()
    ['1', '0', '1']
    """
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        msg = f"`k` is {k!r}, expected a whole number from 1"
        raise BadProtocol(msg)
    dataset = make_dataset(documents, queries, metric=metric, name=name)
    rows, wanted = dataset.vectors, dataset.queries
    named = _read_ids(query_ids, len(wanted), "query_ids"), _read_ids(document_ids, len(rows), "document_ids")
    labels = _read_labels(exclude, named, same_rows=query_ids is None and document_ids is None)
    depth = int(k) + (0 if labels is None else _count_most(*labels))
    size = max(1, CELLS // depth)
    parts = []
    for start in range(0, len(wanted), size):
        block = slice(start, min(start + size, len(wanted)))
        found = find_neighbours(rows.array, wanted.array[block], metric, depth=depth)
        kept = np.ones(found.ids.shape, dtype=bool)
        if labels is not None:
            kept = labels[1][found.ids] != labels[0][block, None]
        kept &= np.cumsum(kept, axis=1) <= k
        parts.append((np.nonzero(kept)[0] + start, found.ids[kept], found.distances[kept]))
    query, document, distance = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    score = 1 - distance if metric == "cosine" else -distance
    return Run.from_columns(
        named[0].take(to_arrow(query)), named[1].take(to_arrow(document)), score, name=name
    )


def _count_most(queries: Ints, documents: Ints) -> int:
    """Return the largest number of documents that one query excludes."""
    counts = np.bincount(documents, minlength=int(queries.max()) + 1)
    return int(counts[queries].max())


def _read_ids(given: ArrayLike | None, count: int, name: str) -> pa.Array:
    """Return ids as strings; row numbers if none are given."""
    values = np.arange(count) if given is None else np.asarray(given)
    if values.shape != (count,):
        got = f"shape {values.shape}, expected {count:,} ids, one for each row"
        raise BadInput(name, [Problem.error("other-length", name, got)])
    ids = to_strings(map(str, values.tolist()))
    if given is not None and len(ids.unique()) < count:
        repeated = ids.value_counts().sort("descending", by="counts")[0]["values"]
        raise BadInput(name, [Problem.error("repeated-id", name, f"`{repeated}` names several rows")])
    return ids


def _read_labels(
    exclude: Exclude, ids: tuple[pa.Array, pa.Array], *, same_rows: bool
) -> tuple[Ints, Ints] | None:
    """Return for queries and documents a number that a pair shares if it is to be left out."""
    if exclude is None:
        return None
    counts = len(ids[0]), len(ids[1])
    if isinstance(exclude, str):
        if exclude != "self":
            msg = f'`exclude` is `{exclude}`, expected "self" or labels'
            raise BadProtocol(msg, hint="labels are an array with one for each row")
        if same_rows and counts[0] != counts[1]:
            msg = f'`exclude` is "self" for {counts[0]:,} queries and {counts[1]:,} documents without ids'
            raise BadProtocol(msg, hint="give `query_ids` and `document_ids`, which say what is the same")
        pair = tuple(part.to_numpy(zero_copy_only=False) for part in ids)
    else:
        pair = tuple(map(np.asarray, exclude)) if isinstance(exclude, tuple) else (np.asarray(exclude),) * 2
    if len(pair) != 2 or any(part.shape != (count,) for part, count in zip(pair, counts, strict=False)):
        got = f"labels of shape {', '.join(str(part.shape) for part in pair)}, expected {counts[0]:,} for queries and {counts[1]:,} for documents"
        raise BadInput("exclude", [Problem.error("other-length", "exclude", got)])
    _, numbers = np.unique(np.concatenate([part.astype(str) for part in pair]), return_inverse=True)
    return numbers[: counts[0]].astype(np.int64), numbers[counts[0] :].astype(np.int64)
