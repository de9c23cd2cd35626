"""Tables with a column of vectors: Parquet, Arrow, and folders of them as VectorDBBench and Hugging Face have them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from judged.errors import BadInput, UnknownName
from judged.problem import Problem
from judged.store.files import check_size

if TYPE_CHECKING:
    import pyarrow as pa

IDS = ("id", "_id")
"""Columns that name the vectors of a table, by which its neighbours are listed."""
NEIGHBOURS = ("neighbors", "neighbours", "neighbors_id", "neighbor_ids", "neighbour_ids")
"""Columns that list the neighbours of a query, in files that have both."""
LONGEST, MOST = 200, 10_000
"""Characters of a text, and different texts, from which a column holds no attribute but texts to read."""
_SHARDS = re.compile(r"(.+?)(?:-\d+-of-\d+(?:-\w+)?)?\.(?:parquet|arrow)")
_BASES = ("train", "shuffle_train", "base", "corpus", "vectors", "passages", "documents")
_QUERIES = ("test", "query", "queries")
_TRUTHS = ("neighbors", "neighbours", "groundtruth")
_LABELS = "scalar_labels"


@dataclass(frozen=True, eq=False)
class VectorFile:
    """Contents of one file: vectors, and in files of benchmarks also queries, neighbours and the metric."""

    vectors: NDArray[np.generic]
    queries: NDArray[np.generic] | None = None
    neighbours: NDArray[np.int64] | None = None
    metric: str | None = None
    attributes: dict[str, object] | None = None
    """Columns by which vectors may be filtered: numbers, texts, or lists of tags."""
    ids: NDArray[np.generic] | None = None
    """The id of each row, where the file names them: a whole number or a text."""


def read_table_file(path: Path, column: str | None = None) -> VectorFile:
    """Return the vectors of a Parquet or Arrow file."""
    return to_vector_file(_read_table([path]), str(path), column)


def read_table_folder(
    folder: Path, column: str | None = None
) -> tuple[VectorFile, VectorFile | None, VectorFile | None, list[Path]] | None:
    """Return the vectors, queries and neighbours of a folder of tables, and its files; None if it holds no such tables."""
    parts = _find_splits(folder)
    base = next((name for name in _BASES if name in parts), None)
    if base is None:
        return None
    query, truth = (next((name for name in names if name in parts), None) for names in (_QUERIES, _TRUTHS))
    vectors = to_vector_file(_read_table(parts[base]), str(folder / base), column)
    if _LABELS in parts:
        labels = _read_labels(_read_table(parts[_LABELS]), vectors, str(folder / _LABELS))
        vectors = replace(vectors, attributes={**(vectors.attributes or {}), **labels})
    queries = neighbours = None
    if query is not None:
        table = _read_table(parts[query])
        listed = next((name for name in NEIGHBOURS if name in table.column_names), None)
        queries = to_vector_file(table.drop_columns([listed] if listed else []), str(folder / query), column)
        if listed:
            neighbours = VectorFile(_read_matrix(table, listed, str(folder / query)), ids=queries.ids)
    if truth is not None:
        neighbours = to_vector_file(_read_table(parts[truth]), str(folder / truth), None)
    used = [path for name in (base, query, truth, _LABELS) for path in parts.get(name or "", ())]
    return vectors, queries, neighbours, used


def _find_splits(folder: Path) -> dict[str, list[Path]]:
    """Return the files of each split by its name."""
    if (folder / "dataset_dict.json").exists():
        names = json.loads((folder / "dataset_dict.json").read_text(encoding="utf-8"))["splits"]
        return {str(name): _list_saved(folder / str(name)) for name in names}
    if (folder / "state.json").exists():
        return {"train": _list_saved(folder)}
    found: dict[str, list[Path]] = {}
    for path in sorted([*folder.glob("*.parquet"), *folder.glob("data/*.parquet"), *folder.glob("*.arrow")]):
        if matched := _SHARDS.fullmatch(path.name):
            found.setdefault(matched[1], []).append(path)
    return found


def _list_saved(folder: Path) -> list[Path]:
    """Return the files of a data set that Hugging Face's library saved, in their order."""
    state = json.loads((folder / "state.json").read_text(encoding="utf-8"))
    return [folder / str(file["filename"]) for file in state["_data_files"]]


def _read_table(paths: Sequence[Path]) -> pa.Table:
    import pyarrow as pa

    return pa.concat_tables([pa.Table.from_batches(*_read_batches(path)) for path in paths])


def _read_batches(path: Path) -> tuple[list[pa.RecordBatch], pa.Schema]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    if path.suffix == ".parquet":
        with pq.ParquetFile(path) as file:
            return _bound(file.iter_batches(batch_size=4_096), path), file.schema_arrow
    content = path.read_bytes()
    if content.startswith(b"ARROW1"):
        with pa.ipc.open_file(content) as reader:
            batches = (reader.get_batch(number) for number in range(reader.num_record_batches))
            return _bound(batches, path), reader.schema
    # Hugging Face's library writes streams
    with pa.ipc.open_stream(content) as reader:
        return _bound(reader, path), reader.schema


def _bound(batches: Iterable[pa.RecordBatch], path: Path) -> list[pa.RecordBatch]:
    """Return the batches; raise `Unreadable` if they are out of all proportion to their file."""
    size, kept = 0, []
    for batch in batches:
        size += batch.nbytes
        check_size(size, packed=path.stat().st_size, label=str(path))
        kept.append(batch)
    return kept


def to_vector_file(table: pa.Table, source: str, column: str | None) -> VectorFile:
    """Return the column of vectors of a table, its ids, and its other columns as attributes."""
    name = _find_vectors(table, source, column)
    ids, attributes = None, dict[str, object]()
    for other in table.column_names:
        if other == name:
            continue
        values = _read_column(table[other])
        # ids name rows; taken for an attribute they would be filtered by, and neighbours listed by them misread
        if other.lower() in IDS and isinstance(values, np.ndarray) and values.dtype.kind in "iuU":
            ids = values
        elif values is not None and other.lower() not in IDS:
            attributes[other] = values
    if ids is not None:
        known, counts = np.unique(ids, return_counts=True)
        if len(known) < len(ids):
            got = f"{known[counts > 1][0]} appears twice; ids must be unique"
            raise BadInput(source, [Problem.error("repeated-id", "column of ids", got)])
    return VectorFile(_read_matrix(table, name, source), attributes=attributes, ids=ids)


def _find_vectors(table: pa.Table, source: str, column: str | None) -> str:
    import pyarrow as pa

    kinds = {
        name: table.schema.field(name).type.value_type
        for name in table.column_names
        if _is_list(table.schema.field(name).type)
    }
    if column is not None and column in table.column_names:
        if column not in kinds:
            got = f"`{column}` holds {table.schema.field(column).type}, expected lists of numbers"
            raise BadInput(source, [Problem.error("missing-column", "columns", got)])
        return column
    if column is not None:
        kind = f"column of {source}"
        raise UnknownName(kind, column, list(kinds) or table.column_names)
    numeric = [name for name, kind in kinds.items() if not pa.types.is_string(kind)]
    floats = [name for name in numeric if pa.types.is_floating(kinds[name])]
    chosen = numeric if len(numeric) == 1 else floats or numeric or list(kinds)
    if len(chosen) != 1:
        got = f"{len(chosen)} columns of lists ({', '.join(chosen or table.column_names)}), expected one"
        hint = "`--column NAME` says which one has the vectors" if chosen else None
        raise BadInput(source, [Problem.error("missing-column", "columns", got)], hint=hint)
    return str(chosen[0])


def _read_matrix(table: pa.Table, name: str, source: str) -> NDArray[np.generic]:
    import pyarrow as pa
    import pyarrow.compute as pc

    column = table[name].combine_chunks()
    column = pa.concat_arrays(column.chunks) if isinstance(column, pa.ChunkedArray) else column
    lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
    if len(lengths) and (lengths != lengths[0]).any():
        row = int(np.flatnonzero(lengths != lengths[0])[0])
        message = f"{lengths[row]} dimensions, expected {lengths[0]}, as the first vector has"
        raise BadInput(source, [Problem.error("other-dimensions", f"row {row + 1:,}", message)])
    flat = column.flatten()
    values: NDArray[np.generic] = flat.to_numpy(zero_copy_only=False)
    if values.dtype == object and pa.types.is_string(flat.type):
        values = values.astype(np.str_)
    return values.reshape(len(column), -1)


def _read_column(column: pa.ChunkedArray) -> NDArray[np.generic] | list[list[object]] | None:
    """Return a column by which vectors may be filtered; None for texts to read, and where values are missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if column.null_count:
        return None
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_floating(kind):
        values: NDArray[np.generic] = column.to_numpy()
        return None if values.dtype.kind == "f" and not np.isfinite(values).all() else values
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        longest = pc.max(pc.utf8_length(column)).as_py() or 0
        return np.array(column.to_pylist(), dtype=np.str_) if longest <= LONGEST else None
    if _is_list(kind) and (pa.types.is_string(kind.value_type) or pa.types.is_integer(kind.value_type)):
        lists: list[list[object]] = column.to_pylist()
        return lists if len({tag for tags in lists for tag in tags}) <= MOST else None
    return None


def _read_labels(table: pa.Table, vectors: VectorFile, source: str) -> dict[str, object]:
    """Return the columns of a table of labels, in the order of the vectors that it names."""
    columns = {name: _read_column(table[name]) for name in table.column_names}
    ids = next((columns.pop(name) for name in table.column_names if name.lower() in IDS), None)
    if ids is None or vectors.ids is None:
        return {name: values for name, values in columns.items() if values is not None}
    given = np.asarray(ids)
    order = np.argsort(given)
    at = order[np.minimum(np.searchsorted(given, vectors.ids, sorter=order), len(order) - 1)]
    if (given[at] != vectors.ids).any():
        got = f"none of vector {vectors.ids[given[at] != vectors.ids][0]}"
        raise BadInput(source, [Problem.error("bad-attribute", "labels", got)])
    return {name: np.asarray(values)[at] for name, values in columns.items() if values is not None}


def _is_list(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))
