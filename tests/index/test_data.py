"""Data sets: every format reads back what was written, and what would make a benchmark meaningless is refused."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

from judged.errors import BadInput, BadProtocol, UnknownName, Unreadable
from judged.index.data import make_dataset, open_dataset
from judged.index.vector_files import read_ids, read_vectors

VECTORS = np.arange(24, dtype=np.float32).reshape(6, 4)


def write_vecs(path: Path, array: NDArray[np.generic]) -> None:
    """Write vectors as the TEXMEX corpora have them: each after its length."""
    path.write_bytes(b"".join(struct.pack("<i", len(row)) + row.tobytes() for row in array))


def write_file(path: Path) -> None:
    """Write the vectors in the format that the extension names."""
    match "".join(path.suffixes):
        case ".fvecs":
            write_vecs(path, VECTORS)
        case ".bvecs":
            write_vecs(path, VECTORS.astype(np.uint8))
        case ".ivecs":
            write_vecs(path, VECTORS.astype("<i4"))
        case ".npy":
            np.save(path, VECTORS)
        case ".npz":
            np.savez(path, train=VECTORS)
        case ".parquet":
            pq.write_table(pa.table({"id": range(6), "vector": VECTORS.tolist()}), path)
        case ".hdf5":
            with pytest.importorskip("h5py").File(path, "w") as file:
                file["train"], file["test"] = VECTORS, VECTORS[:2]
        case ".tsv.gz":
            path.write_bytes(gzip.compress("\n".join("\t".join(map(str, row)) for row in VECTORS).encode()))
        case _:
            header = struct.pack(">BBBBIII", 0, 0, 8, 3, 6, 2, 2)
            path.write_bytes(gzip.compress(header + VECTORS.astype(np.uint8).tobytes()))


NAMES = (
    *("v.fvecs", "v.bvecs", "v.ivecs", "v.npy", "v.npz", "v.parquet", "v.hdf5", "v.tsv.gz"),
    "images-idx3-ubyte.gz",
)


@pytest.mark.parametrize("name", NAMES)
def test_every_format_reads_the_same_vectors(name: str, tmp_path: Path) -> None:
    """What is written in a format is what is read from it."""
    write_file(tmp_path / name)

    assert read_vectors(tmp_path / name).array.tolist() == VECTORS.tolist()


@pytest.mark.parametrize("name", NAMES)
def test_a_cut_file_is_refused_in_words(name: str, tmp_path: Path) -> None:
    """A file that ends early is an error with its name, never a traceback or fewer vectors."""
    path = tmp_path / name
    write_file(path)
    if name.endswith("tsv.gz"):
        path.write_bytes(gzip.compress(b"1\t2\n3\n"))
    else:
        whole = gzip.decompress(path.read_bytes()) if name.endswith(".gz") else path.read_bytes()
        cut = whole[:-3]
        path.write_bytes(gzip.compress(cut) if name.endswith(".gz") else cut)

    with pytest.raises((Unreadable, BadInput), match=name):
        read_vectors(path)


def test_vectors_of_other_lengths_are_refused(tmp_path: Path) -> None:
    """A vector whose length differs is named, in fvecs and in Parquet."""
    (tmp_path / "v.fvecs").write_bytes(struct.pack("<iff", 2, 1, 2) + struct.pack("<iff", 3, 1, 2))
    pq.write_table(pa.table({"vector": [[1.0, 2.0], [1.0]]}), tmp_path / "v.parquet")
    with pytest.raises(BadInput, match="vector 2: 3 dimensions, expected 2"):
        read_vectors(tmp_path / "v.fvecs")
    with pytest.raises(BadInput, match="row 2: 1 dimensions, expected 2"):
        read_vectors(tmp_path / "v.parquet")


def test_a_folder_of_texmex_files_is_a_data_set(tmp_path: Path) -> None:
    """SIFT1M's names of vectors, queries and neighbours are found, and the neighbours get exact distances."""
    write_vecs(tmp_path / "sift_base.fvecs", VECTORS)
    write_vecs(tmp_path / "sift_query.fvecs", VECTORS[1:3])
    write_vecs(tmp_path / "sift_groundtruth.ivecs", np.array([[1, 0], [2, 1]], dtype="<i4"))
    dataset = open_dataset(tmp_path)

    assert dataset.neighbours(2).ids.tolist() == [[1, 0], [2, 1]]
    assert dataset.neighbours(2).distances.tolist() == [[0, 8], [0, 8]]
    with pytest.raises(BadInput, match="2 for each query, and 5 are asked for"):
        dataset.neighbours(5)


def test_ann_benchmarks_files_bring_queries_neighbours_and_metric(tmp_path: Path) -> None:
    """`train`, `test`, `neighbors` and the attribute `distance` are taken; angular vectors get length 1."""
    path = tmp_path / "glove.hdf5"
    with pytest.importorskip("h5py").File(path, "w") as file:
        file["train"], file["test"] = VECTORS + 1, VECTORS[:2] + 1
        file["neighbors"], file["distances"] = np.array([[0, 1], [1, 2]]), np.zeros((2, 2))
        file.attrs["distance"] = "angular"
    dataset = open_dataset(path)

    assert dataset.metric == "cosine"
    assert np.linalg.norm(dataset.vectors.array, axis=1) == pytest.approx(np.ones(6))
    assert dataset.neighbours(2).ids.tolist() == [[0, 1], [1, 2]]


def test_digits_need_no_download(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The named set has 1,797 images, of which a tenth are queries, drawn by the seed."""
    pytest.importorskip("sklearn")
    monkeypatch.setenv("JUDGED_CACHE", str(tmp_path))
    dataset = open_dataset("digits")

    assert (len(dataset.vectors), len(dataset.queries), dataset.vectors.dimensions) == (1618, 179, 64)
    assert dataset.neighbours(10).depth == 100
    assert dataset.digest == open_dataset("digits").digest != open_dataset("digits", seed=1).digest


BAD = [
    ({"vectors": VECTORS, "queries": VECTORS[:, :3]}, BadInput, "3 dimensions, expected 4"),
    ({"vectors": VECTORS * np.nan}, BadInput, "row 1: dimension 0 is nan"),
    ({"vectors": VECTORS * 0, "queries": VECTORS[:2], "metric": "cosine"}, BadInput, "row 1: all zeros"),
    ({"vectors": VECTORS[0]}, BadInput, "expected numbers, with a row for each vector"),
    ({"vectors": np.empty((0, 4))}, BadInput, "of shape"),
    (
        {"vectors": VECTORS, "queries": VECTORS, "metric": "euclid"},
        UnknownName,
        "no metric is called `euclid`",
    ),
    ({"vectors": VECTORS, "queries": VECTORS, "metric": "hamming"}, BadProtocol, "holds numbers"),
    (
        {"vectors": VECTORS, "queries": VECTORS[:1], "neighbours": np.array([[9]])},
        BadInput,
        "row numbers below 6",
    ),
    (
        {"vectors": VECTORS, "queries": VECTORS[:1], "neighbours": np.array([[0], [1]])},
        BadInput,
        "2 rows, expected 1",
    ),
    (
        {"vectors": VECTORS, "queries": VECTORS[:1], "neighbours": np.empty((1, 0), dtype=np.int64)},
        BadInput,
        "no neighbours at all",
    ),
    (
        {"vectors": VECTORS, "queries": VECTORS, "attributes": {"a": [1.5]}},
        BadInput,
        "expected 6 whole numbers",
    ),
]


@pytest.mark.parametrize(("given", "error", "message"), BAD, ids=[message for *_, message in BAD])
def test_bad_input_is_refused_before_anything_is_built(
    given: dict[str, object], error: type[Exception], message: str
) -> None:
    """Every input that would make numbers meaningless is an error that says what is wrong."""
    with pytest.raises(error, match=message):
        make_dataset(**given)  # type: ignore[arg-type]


def test_unknown_names_and_ids_that_are_none_are_refused(tmp_path: Path) -> None:
    """A name that is neither a set nor a file gets the names; a file of fractions holds no ids."""
    with pytest.raises(UnknownName, match="named data sets: digits"):
        open_dataset("digit")
    np.save(tmp_path / "ids.npy", np.array([[0.5]]))
    with pytest.raises(BadInput, match="expected whole numbers"):
        read_ids(tmp_path / "ids.npy")
