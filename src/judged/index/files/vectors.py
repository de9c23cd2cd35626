"""Files of vectors: ann-benchmarks' HDF5, those of TEXMEX and of big-ann, NumPy, tables, IDX images, and plain text."""

from __future__ import annotations

import io
import os
import struct
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from zipfile import ZipFile

import numpy as np

from judged._optional import need
from judged.errors import BadInput, BadProtocol, JudgedError, UnknownName, Unreadable
from judged.index.files.tables import IDS, VectorFile, read_table_file
from judged.index.vectors import Vectors
from judged.io.open import open_file
from judged.problem import Problem
from judged.store.files import check_size

METRICS = {"euclidean": "l2", "angular": "cosine", "hamming": "hamming", "dot": "ip", "ip": "ip"}
"""Names of the metrics in ann-benchmarks."""
_HDF5 = ("train", "test", "neighbors")
_LABELS = ("label", "labels", "class", "target")
"""Names of columns of whole numbers that label vectors and are not dimensions."""


def read_vectors(path: str | os.PathLike[str], *, column: str | None = None) -> Vectors:
    """Return the vectors of a file.

    The extension names the format: `.fvecs`, `.bvecs`, `.ivecs`, `.fbin`, `.f16bin`, `.u8bin`, `.i8bin`, `.ibin`, `.npy`,
    `.npz`, `.parquet`, `.arrow`, `.hdf5`, `.h5`, `-ubyte` (IDX images), or `.tsv`, `.csv` and `.txt`; most may be
    compressed. `column` names the vectors of a table that has several columns of lists.
    """
    file = read_vector_file(path, column=column)
    return Vectors.from_array(file.vectors, attributes=file.attributes, name=str(path))


def read_ids(path: str | os.PathLike[str]) -> VectorFile:
    """Return a file whose matrix holds ids, such as neighbours in `.ivecs`."""
    return check_ids(read_vector_file(path, neighbours=True), str(path))


def check_ids(file: VectorFile, source: str) -> VectorFile:
    """Return the file with whole numbers, or texts, in its matrix; raise `BadInput` for anything else."""
    ids = file.vectors
    if ids.dtype.kind == "U":
        return file
    if ids.dtype.kind == "f" and (ids == ids.astype(np.int64)).all():
        ids = ids.astype(np.int64)
    if ids.dtype.kind not in "iu":
        got = f"{ids.dtype}, expected whole numbers"
        raise BadInput(source, [Problem.error("not-ids", "neighbours", got)])
    return replace(file, vectors=ids.astype(np.int64))


def read_vector_file(
    path: str | os.PathLike[str], *, column: str | None = None, neighbours: bool = False
) -> VectorFile:
    """Return everything that a file holds; its extension names the format.

    Files of big-ann may be called `base.10M.u8bin.crop_nb_1000000`, and their `neighbours` have distances after the ids.
    """
    place = Path(path)
    suffixes = [suffix.lower() for suffix in place.suffixes]
    extension = next((suffix for suffix in reversed(suffixes) if suffix not in _PACKED), "")
    if extension not in VECTOR_FORMATS:
        extension = next((suffix for suffix in suffixes if suffix in _BINARIES), extension)
    if place.name.removesuffix(".gz").endswith("ubyte"):
        extension = ".idx"
    if extension not in VECTOR_FORMATS:
        kind = f"format of `{path}`"
        raise UnknownName(kind, extension, VECTOR_FORMATS, hint=f"known: {' '.join(VECTOR_FORMATS)}")
    if not place.is_file():
        msg = f"{path} is not there"
        raise Unreadable(msg)
    if column is not None and extension not in _TABLES:
        msg = f"{path} has no columns, and `column` is `{column}`"
        raise BadProtocol(msg, hint="it names the vectors of Parquet and Arrow files")
    try:
        if extension in _TABLES:
            return read_table_file(place, column)
        if extension in _BINARIES:
            return _read_binary(place, _BINARIES[extension], neighbours=neighbours)
        return VECTOR_FORMATS[extension](place)
    except (JudgedError, MemoryError):
        raise
    except Exception as error:  # NumPy, h5py and Arrow fail in many ways on damaged files
        raise _damaged(place, " ".join(str(error).split())[:200]) from error


def _read_binary(path: Path, kind: str, *, neighbours: bool) -> VectorFile:
    """Read a matrix of big-ann: the numbers of rows and columns in 32 bits each, then the rows; of neighbours, also distances."""
    data = open_file(path).data
    if len(data) < 8:
        raise _damaged(path, "it ends before the first vector")
    rows, columns = np.frombuffer(data[:8], dtype="<u4").astype(int).tolist()
    stored = np.dtype("<i4" if neighbours else kind)
    expected = 8 + rows * columns * stored.itemsize
    lengths = {expected, 8 + 8 * rows * columns} if neighbours else {expected}
    if not rows or not columns or len(data) not in lengths:
        raise _damaged(
            path, f"{len(data):,} bytes, expected {expected:,} for {rows:,} vectors of {columns:,} dimensions"
        )
    return VectorFile(np.frombuffer(data[8:expected], dtype=stored).reshape(rows, columns))


def _read_hdf5(path: Path) -> VectorFile:
    library = need("h5py", extra="index", needed_by=f"reading `{path}`")
    check_hdf5(path)
    with library.File(path, "r") as file:
        if "train" not in file:
            got = f"the data sets {', '.join(file)}, expected `train` and `test`, as ann-benchmarks has them"
            raise BadInput(str(path), [Problem.error("missing-column", "data sets", got)])
        parts = {name: np.asarray(file[name]) for name in _HDF5 if name in file}
        named = file.attrs.get("distance")
        count = len(parts["train"])
        labels = {
            name: np.asarray(file[name])
            for name in _find_labels([str(name) for name in file])
            if file[name].shape == (count,)
        }
    neighbours = parts.get("neighbors")
    return VectorFile(
        parts["train"],
        parts.get("test"),
        None if neighbours is None else neighbours.astype(np.int64),
        METRICS.get(named.decode() if isinstance(named, bytes) else str(named)),
        dict(labels),
    )


def _find_labels(names: Sequence[str]) -> list[str]:
    """Return the arrays of a file that label its vectors."""
    return [name for name in names if name.lower().removeprefix("train_") in _LABELS]


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
        labels = {name: content[name] for name in _find_labels(content.files)}
        return VectorFile(content[names[0]], queries, attributes=dict(labels))
    return VectorFile(content)


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
    """Read rows of numbers, separated by tabs, commas or blanks; a header may name ids and labels."""
    text = bytes(open_file(path).data).decode().replace(",", " ")
    header, _, rest = text.partition("\n")
    names = header.split()
    if not names or _is_number(names[0]):
        names, rest = [], text
    try:
        matrix = np.loadtxt(io.StringIO(rest), dtype=np.float64, ndmin=2)
    except ValueError as error:
        raise BadInput(str(path), [Problem.error("not-a-number", str(path), str(error))]) from None
    if names and len(names) != matrix.shape[1]:
        got = f"{len(names)} names of {matrix.shape[1]} columns"
        raise BadInput(str(path), [Problem.error("other-dimensions", "header", got)])
    apart = {name: at for at, name in enumerate(names) if name.lower() in (*IDS, *_LABELS)}
    columns = {name: matrix[:, at].astype(np.int64) for name, at in apart.items()}
    ids = next((columns.pop(name) for name in apart if name.lower() in IDS), None)
    return VectorFile(np.delete(matrix, list(apart.values()), axis=1), attributes=dict(columns), ids=ids)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _damaged(path: Path, why: str) -> Unreadable:
    msg = f"{path} cannot be read as vectors: {why}"
    return Unreadable(msg)


_PACKED = {".gz", ".bz2", ".xz", ".zst", ".zstd"}
_TABLES = {".parquet", ".arrow"}
_BINARIES = {
    ".fbin": "<f4",
    ".f16bin": "<f2",
    ".hbin": "<f2",
    ".u8bin": "|u1",
    ".i8bin": "|i1",
    ".ibin": "<i4",
}
"""The numbers in files of big-ann, by extension."""

VECTOR_FORMATS: dict[str, Callable[[Path], VectorFile]] = {
    ".hdf5": _read_hdf5,
    ".h5": _read_hdf5,
    ".fvecs": _read_vecs(np.float32),
    ".bvecs": _read_vecs(np.uint8),
    ".ivecs": _read_vecs(np.int32),
    **{name: partial(_read_binary, kind=kind, neighbours=False) for name, kind in _BINARIES.items()},
    ".npy": _read_npy,
    ".npz": _read_npy,
    ".parquet": read_table_file,
    ".arrow": read_table_file,
    ".idx": _read_idx,
    ".tsv": _read_text,
    ".csv": _read_text,
    ".txt": _read_text,
}
"""The reader of each format, by extension."""
