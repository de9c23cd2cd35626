"""Files of vectors: ann-benchmarks' HDF5, fvecs, bvecs and ivecs, NumPy, Parquet, IDX images, and plain text."""

from __future__ import annotations

import io
import os
import struct
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

from judged._optional import need
from judged.errors import BadInput, JudgedError, UnknownName, Unreadable
from judged.index.vectors import Vectors
from judged.io.open import open_file
from judged.problem import Problem
from judged.store.files import check_size

if TYPE_CHECKING:
    import pyarrow as pa

METRICS = {"euclidean": "l2", "angular": "cosine", "hamming": "hamming", "dot": "ip", "ip": "ip"}
"""Names of the metrics in ann-benchmarks."""
_HDF5 = ("train", "test", "neighbors")
_IDS = ("id", "_id")
"""Columns that name the vectors of a table, by which its neighbours are listed."""


@dataclass(frozen=True, eq=False)
class VectorFile:
    """Contents of one file: vectors, and in files of benchmarks also queries, neighbours and the metric."""

    vectors: NDArray[np.number]
    queries: NDArray[np.number] | None = None
    neighbours: NDArray[np.int64] | None = None
    metric: str | None = None
    attributes: dict[str, NDArray[np.int64]] | None = None
    ids: NDArray[np.int64] | None = None
    """The id of each row, where the file names them."""


def read_vectors(path: str | os.PathLike[str]) -> Vectors:
    """Return the vectors of a file.

    The extension names the format: `.fvecs`, `.bvecs`, `.ivecs`, `.npy`, `.npz`, `.parquet`, `.hdf5`, `.h5`,
    `-ubyte` (IDX images), or `.tsv`, `.csv` and `.txt`; most may be compressed.
    """
    file = read_vector_file(path)
    return Vectors.from_array(file.vectors, attributes=file.attributes, name=str(path))


def read_ids(path: str | os.PathLike[str]) -> VectorFile:
    """Return a file whose matrix holds ids, such as neighbours in `.ivecs`."""
    file = read_vector_file(path)
    ids = file.vectors
    if ids.dtype.kind == "f" and (ids == ids.astype(np.int64)).all():
        ids = ids.astype(np.int64)
    if ids.dtype.kind not in "iu":
        got = f"{ids.dtype}, expected whole numbers"
        raise BadInput(str(path), [Problem.error("not-ids", "neighbours", got)])
    return replace(file, vectors=ids.astype(np.int64))


def read_vector_file(path: str | os.PathLike[str]) -> VectorFile:
    """Return everything that a file holds; its extension names the format."""
    place = Path(path)
    suffixes = [suffix.lower() for suffix in place.suffixes]
    packed = {".gz", ".bz2", ".xz", ".zst", ".zstd"}
    extension = next((suffix for suffix in reversed(suffixes) if suffix not in packed), "")
    if place.name.removesuffix(".gz").endswith("ubyte"):
        extension = ".idx"
    if extension not in VECTOR_FORMATS:
        kind = f"format of `{path}`"
        raise UnknownName(kind, extension, VECTOR_FORMATS, hint=f"known: {' '.join(VECTOR_FORMATS)}")
    if not place.is_file():
        msg = f"{path} is not there"
        raise Unreadable(msg)
    try:
        return VECTOR_FORMATS[extension](place)
    except (JudgedError, MemoryError):
        raise
    except Exception as error:  # NumPy, h5py and Arrow fail in many ways on damaged files
        raise _damaged(place, " ".join(str(error).split())[:200]) from error


def _read_hdf5(path: Path) -> VectorFile:
    library = need("h5py", extra="index", needed_by=f"reading `{path}`")
    check_hdf5(path)
    with library.File(path, "r") as file:
        if "train" not in file:
            got = f"the data sets {', '.join(file)}, expected `train` and `test`, as ann-benchmarks has them"
            raise BadInput(str(path), [Problem.error("missing-column", "data sets", got)])
        parts = {name: np.asarray(file[name]) for name in _HDF5 if name in file}
        named = file.attrs.get("distance")
    neighbours = parts.get("neighbors")
    return VectorFile(
        parts["train"],
        parts.get("test"),
        None if neighbours is None else neighbours.astype(np.int64),
        METRICS.get(named.decode() if isinstance(named, bytes) else str(named)),
    )


_PROBE = """
import sys, h5py
with h5py.File(sys.argv[1], "r") as file:
    sets = [one for one in file.values() if isinstance(one, h5py.Dataset)]
    print(sum(one.nbytes for one in sets), flush=True)
    dict(file.attrs)
    for one in sets:
        for start in range(0, len(one) if one.shape else 0, 65536):
            one[start : start + 65536]
"""


def check_hdf5(path: Path) -> None:
    """Raise `Unreadable` for an HDF5 file that is damaged or out of all proportion.

    The library hangs or crashes on some damaged files, so one is read in a process of its own first, within a time.
    """
    size = path.stat().st_size
    command, seconds = [sys.executable, "-c", _PROBE, str(path)], 15 + size / 5e6
    try:
        done = subprocess.run(command, capture_output=True, timeout=seconds, check=False)  # noqa: S603 - our own code
    except subprocess.TimeoutExpired as error:
        unpacked = (error.stdout or b"").split()
        check_size(int(unpacked[0]) if unpacked else 0, packed=size, label=str(path))
        raise _damaged(path, f"the library of HDF5 did not finish within {seconds:.0f} s") from None
    if done.stdout.split():
        check_size(int(done.stdout), packed=size, label=str(path))
    if done.returncode:
        words = done.stderr.decode(errors="replace").strip().splitlines() or [f"code {done.returncode}"]
        raise _damaged(path, words[-1][:200])


def _read_vecs(kind: type[np.generic]) -> Callable[[Path], VectorFile]:
    """Return the reader of files in which every vector follows its length, a 32-bit integer."""

    def read(path: Path) -> VectorFile:
        data = np.frombuffer(open_file(path).data, dtype=np.uint8)
        if len(data) < 4:
            raise _damaged(path, "it ends before the first vector")
        dimensions = int(data[:4].view("<i4")[0])
        width = 4 + dimensions * np.dtype(kind).itemsize
        if dimensions <= 0 or len(data) % width:
            raise _damaged(
                path, f"{len(data):,} bytes are not a whole number of vectors of {dimensions} dimensions"
            )
        rows = data.reshape(-1, width)
        lengths = rows[:, :4].copy().view("<i4")[:, 0]
        if (lengths != dimensions).any():
            row = int(np.flatnonzero(lengths != dimensions)[0])
            message = f"{lengths[row]} dimensions, expected {dimensions}, as the first vector has"
            raise BadInput(str(path), [Problem.error("other-dimensions", f"vector {row + 1:,}", message)])
        values = np.ascontiguousarray(rows[:, 4:]).view(np.dtype(kind).newbyteorder("<"))
        return VectorFile(values)

    return read


def _read_npy(path: Path) -> VectorFile:
    data = bytes(open_file(path).data)
    if data[:2] == b"PK":
        with ZipFile(io.BytesIO(data)) as packed:
            size = sum(entry.file_size for entry in packed.infolist())
        check_size(size, packed=len(data), label=str(path))
    content = np.load(io.BytesIO(data), allow_pickle=False)
    if isinstance(content, np.lib.npyio.NpzFile):
        names = [name for name in ("train", "vectors", "base", "arr_0") if name in content.files]
        if not names:
            got = f"the arrays {', '.join(content.files)}, expected `train` or `vectors`"
            raise BadInput(str(path), [Problem.error("missing-column", "arrays", got)])
        queries = next((content[name] for name in ("test", "queries") if name in content.files), None)
        return VectorFile(content[names[0]], queries)
    return VectorFile(content)


def _read_parquet(path: Path) -> VectorFile:
    import pyarrow as pa
    import pyarrow.parquet as pq

    size, batches = 0, []
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=4_096):
            size += batch.nbytes
            check_size(size, packed=path.stat().st_size, label=str(path))
            batches.append(batch)
        table = pa.Table.from_batches(batches, file.schema_arrow)
    lists = [name for name in table.column_names if _is_list(table.schema.field(name).type)]
    if len(lists) != 1:
        got = f"{len(lists)} columns of lists ({', '.join(table.column_names)}), expected one"
        raise BadInput(str(path), [Problem.error("missing-column", "columns", got)])
    column = table[lists[0]].combine_chunks()
    column = pa.concat_arrays(column.chunks) if isinstance(column, pa.ChunkedArray) else column
    lengths = np.array([len(value) if value is not None else 0 for value in column.to_pylist()])
    if len(lengths) and (lengths != lengths[0]).any():
        row = int(np.flatnonzero(lengths != lengths[0])[0])
        message = f"{lengths[row]} dimensions, expected {lengths[0]}, as the first vector has"
        raise BadInput(str(path), [Problem.error("other-dimensions", f"row {row + 1:,}", message)])
    vectors = column.flatten().to_numpy(zero_copy_only=False).reshape(len(column), -1)
    attributes = {
        name: table[name].to_numpy()
        for name in table.column_names
        if pa.types.is_integer(table.schema.field(name).type)
    }
    # ids name rows; taken for an attribute they would be filtered by, and neighbours listed by them misread
    name = next((name for name in attributes if name.lower() in _IDS), None)
    ids = None if name is None else attributes.pop(name)
    if ids is not None and len(np.unique(ids)) < len(ids):
        values, counts = np.unique(ids, return_counts=True)
        got = f"{values[counts > 1][0]} appears twice; ids must be unique"
        raise BadInput(str(path), [Problem.error("repeated-id", f"column `{name}`", got)])
    return VectorFile(vectors, attributes=attributes, ids=ids)


def _is_list(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _read_idx(path: Path) -> VectorFile:
    """Read images of MNIST's format: a magic number, the sizes, then unsigned bytes."""
    data = bytes(open_file(path).data)
    if len(data) < 8 or data[:3] != b"\0\0\x08":
        raise _damaged(path, "it does not begin as a file of unsigned bytes does")
    axes = data[3]
    sizes = struct.unpack(f">{axes}I", data[4 : 4 + 4 * axes])
    values = np.frombuffer(data, dtype=np.uint8, offset=4 + 4 * axes)
    if len(values) != int(np.prod(sizes)):
        raise _damaged(path, f"{len(values):,} bytes follow the header, expected {int(np.prod(sizes)):,}")
    return VectorFile(values.reshape(sizes[0], -1))


def _read_text(path: Path) -> VectorFile:
    """Read rows of numbers, separated by tabs, commas or blanks."""
    text = bytes(open_file(path).data).decode().replace(",", " ")
    try:
        return VectorFile(np.loadtxt(io.StringIO(text), dtype=np.float64, ndmin=2))
    except ValueError as error:
        raise BadInput(str(path), [Problem.error("not-a-number", str(path), str(error))]) from None


def _damaged(path: Path, why: str) -> Unreadable:
    msg = f"{path} cannot be read as vectors: {why}"
    return Unreadable(msg)


VECTOR_FORMATS: dict[str, Callable[[Path], VectorFile]] = {
    ".hdf5": _read_hdf5,
    ".h5": _read_hdf5,
    ".fvecs": _read_vecs(np.float32),
    ".bvecs": _read_vecs(np.uint8),
    ".ivecs": _read_vecs(np.int32),
    ".npy": _read_npy,
    ".npz": _read_npy,
    ".parquet": _read_parquet,
    ".idx": _read_idx,
    ".tsv": _read_text,
    ".csv": _read_text,
    ".txt": _read_text,
}
"""The reader of each format, by extension."""
