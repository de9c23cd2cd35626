"""Data sets: every format reads back what was written, and what would make a benchmark meaningless is refused."""

from __future__ import annotations

import gzip
import json
import struct
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

from judged.errors import BadInput, BadProtocol, UnknownName, Unreadable
from judged.index.data import make_dataset, open_dataset
from judged.index.files.vectors import read_ids, read_vectors
from judged.index.filters import find_side, make_filter
from judged.index.vectors import Vectors, load_attributes, save_attributes

VECTORS = np.arange(24, dtype=np.float32).reshape(6, 4)


def write_vecs(path: Path, array: NDArray[np.generic]) -> None:
    """Write vectors as the TEXMEX corpora have them: each after its length."""
    path.write_bytes(b"".join(struct.pack("<i", len(row)) + row.tobytes() for row in array))


def write_bin(path: Path, array: NDArray[np.generic]) -> None:
    """Write a matrix as big-ann's `data_export_tools` do: the numbers of rows and columns, then the rows."""
    path.write_bytes(struct.pack("<II", *array.shape) + array.tobytes())


def write_file(path: Path) -> None:  # noqa: C901 - a case for each format
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
        case ".fbin" | ".u8bin" | ".i8bin" | ".ibin" | ".f16bin":
            kind = {".fbin": "<f4", ".u8bin": "u1", ".i8bin": "i1", ".ibin": "<i4", ".f16bin": "<f2"}
            write_bin(path, VECTORS.astype(kind[path.suffix]))
        case ".arrow":
            table = pa.table({"id": [f"d{row}" for row in range(6)], "vector": VECTORS.tolist()})
            with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
                writer.write_table(table)
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
    *("v.fvecs", "v.bvecs", "v.ivecs", "v.npy", "v.npz", "v.parquet", "v.hdf5", "v.tsv.gz", "v.arrow"),
    *("v.fbin", "v.u8bin", "v.i8bin", "v.ibin", "v.f16bin"),
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
        "expected 6 finite numbers",
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


def test_big_ann_files_are_a_data_set_by_their_own_names(tmp_path: Path) -> None:
    """A cropped base, queries, and neighbours with distances after the ids, as big-ann publishes them."""
    write_bin(tmp_path / "base.1B.u8bin.crop_nb_6", VECTORS.astype(np.uint8))
    write_bin(tmp_path / "query.public.2.u8bin", VECTORS[1:3].astype(np.uint8))
    ids, distances = np.array([[1, 0], [2, 1]], dtype="<u4"), np.array([[0, 64], [0, 64]], dtype="<f4")
    path = tmp_path / "groundtruth.public.2.ibin"
    path.write_bytes(struct.pack("<II", 2, 2) + ids.tobytes() + distances.tobytes())

    dataset = open_dataset(tmp_path)

    assert dataset.neighbours(2).ids.tolist() == [[1, 0], [2, 1]]
    assert dataset.vectors.array.tolist() == VECTORS.tolist()
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(Unreadable, match="39 bytes, expected 24 for 2 vectors of 2 dimensions"):
        open_dataset(tmp_path)


def test_a_vectordbbench_folder_is_read_with_its_labels(tmp_path: Path) -> None:
    """Shards of vectors in any order, neighbours by id, and labels of another file by id."""
    order = [5, 3, 1, 0, 2, 4]
    for number, part in enumerate((order[:3], order[3:])):
        table = pa.table({"id": [10 * row for row in part], "emb": VECTORS[part].tolist()})
        pq.write_table(table, tmp_path / f"train-{number:02}-of-02.parquet")
    pq.write_table(pa.table({"id": [7, 8], "emb": VECTORS[1:3].tolist()}), tmp_path / "test.parquet")
    listed = pa.table({"id": [8, 7], "neighbors_id": [[20, 10], [10, 0]]})
    pq.write_table(listed, tmp_path / "neighbors.parquet")
    labels = pa.table(
        {"id": [10 * row for row in range(6)], "labels": [f"label_{row % 2}p" for row in range(6)]}
    )
    pq.write_table(labels, tmp_path / "scalar_labels.parquet")

    dataset = open_dataset(tmp_path)

    assert dataset.neighbours(2).ids.tolist() == [[2, 3], [4, 2]]  # rows of 10, 0; of 20, 10
    ids = make_filter("labels==label_1p", dataset.vectors, 0).ids
    assert [order[row] % 2 for row in ids.tolist()] == [1, 1, 1]
    assert len(dataset.inputs) == 5


def test_what_hugging_face_saves_is_read(tmp_path: Path) -> None:
    """The layout of `DatasetDict.save_to_disk`: splits, shards named by a state, streams of Arrow, neighbours beside queries."""
    (tmp_path / "dataset_dict.json").write_text(json.dumps({"splits": ["train", "test"]}))
    train = {"_id": ["a", "b", "c", "d", "e", "f"], "text": ["x" * 300] * 6, "emb": VECTORS.tolist()}
    tables = {
        "train": pa.table(
            {**train, "title_emb": (VECTORS + 1).tolist(), "tags": [["new", "red"], [], ["red"]] * 2}
        ),
        "test": pa.table({"emb": VECTORS[1:3].tolist(), "neighbors": [["b", "a"], ["c", "b"]]}),
    }
    for split, table in tables.items():
        (tmp_path / split).mkdir()
        name = "data-00000-of-00001.arrow"
        (tmp_path / split / "state.json").write_text(json.dumps({"_data_files": [{"filename": name}]}))
        with (
            pa.OSFile(str(tmp_path / split / name), "wb") as file,
            pa.ipc.new_stream(file, table.schema) as out,
        ):
            out.write_table(table, max_chunksize=4)

    with pytest.raises(BadInput, match=r"2 columns of lists \(emb, title_emb\)(.|\n)*--column NAME"):
        open_dataset(tmp_path)
    dataset = open_dataset(tmp_path, column="emb")

    assert dataset.neighbours(2).ids.tolist() == [[1, 0], [2, 1]]
    assert list(dataset.vectors.attributes) == []
    assert make_filter("tags==red", dataset.vectors, 0).ids.tolist() == [0, 2, 3, 5]
    with pytest.raises(UnknownName, match=r"no column of .* is called `embedding`"):
        open_dataset(tmp_path, column="embedding")


def test_packed_bits_and_bits_as_numbers_are_bits(tmp_path: Path) -> None:
    """For Hamming distance, bytes hold eight bits each, as faiss and usearch write them, and 0 and 1 are bits."""
    bits = np.random.default_rng(0).random((50, 24)) < 0.5
    queries = bits[:5]
    np.save(tmp_path / "packed.npy", np.packbits(bits, axis=1))
    np.save(tmp_path / "queries.npy", np.packbits(queries, axis=1))
    packed = open_dataset(tmp_path / "packed.npy", queries=tmp_path / "queries.npy", metric="hamming")
    unpacked = make_dataset(bits.astype(np.uint8), queries.astype(float), metric="hamming")

    assert packed.vectors.bits == unpacked.vectors.bits == 24
    assert packed.neighbours(3).distances.tolist() == unpacked.neighbours(3).distances.tolist()
    assert [note.code for note in packed.notes] == ["packed-bits"]


def test_labels_are_no_dimension(tmp_path: Path) -> None:
    """A column `label` of a text with a header, an array `labels` of NumPy's and `train_labels` of HDF5 are attributes."""
    rows = "\n".join(f"{row % 3},{','.join(map(str, vector))}" for row, vector in enumerate(VECTORS.tolist()))
    (tmp_path / "sift.csv").write_text(f"label,a,b,c,d\n{rows}\n")
    np.savez(tmp_path / "sift.npz", vectors=VECTORS, labels=np.arange(6) % 3)
    with pytest.importorskip("h5py").File(tmp_path / "sift.hdf5", "w") as file:
        file["train"], file["train_labels"] = VECTORS, np.arange(6) % 3
    for name in ("sift.csv", "sift.npz", "sift.hdf5"):
        found = read_vectors(tmp_path / name)

        assert found.array.tolist() == VECTORS.tolist()
        assert [column.tolist() for column in found.attributes.values()] == [[0, 1, 2, 0, 1, 2]]


CONDITIONS = {
    "price<20": lambda row: row["price"] < 20,
    "10<=price<20": lambda row: 10 <= row["price"] < 20,
    "10<price<=20.5": lambda row: 10 < row["price"] <= 20.5,
    "weight>=0.3": lambda row: row["weight"] >= 0.3,
    "0.2<weight<0.6": lambda row: 0.2 < row["weight"] < 0.6,
    "colour==red": lambda row: row["colour"] == "red",
    "colour=red & price>15": lambda row: row["colour"] == "red" and row["price"] > 15,
    "tags==new": lambda row: "new" in row["tags"],
    "tags==new & tags==old & price<80": lambda row: {"new", "old"} <= set(row["tags"]) and row["price"] < 80,
}


@pytest.mark.parametrize("text", list(CONDITIONS))
def test_conditions_are_met_by_the_rows_that_python_says(text: str) -> None:
    """Whole numbers, fractions, texts, tags, ranges, and several at once; through a folder, as other processes read them."""
    rng = np.random.default_rng(1)
    rows = [
        {
            "price": int(rng.integers(0, 40)),
            "weight": float(rng.integers(0, 10) / 10),
            "colour": str(rng.choice(["red", "green", "blue"])),
            "tags": [tag for tag in ("new", "old", "sale") if rng.random() < 0.5],
        }
        for _ in range(200)
    ]
    attributes = {name: [row[name] for row in rows] for name in rows[0]}
    vectors = Vectors.from_array(rng.random((200, 3)), attributes=attributes)
    with tempfile.TemporaryDirectory() as folder:
        save_attributes(vectors, Path(folder))
        loaded = load_attributes(Vectors(vectors.array), Path(folder))

    expected = [number for number, row in enumerate(rows) if CONDITIONS[text](row)]
    assert make_filter(text, vectors, 0).ids.tolist() == make_filter(text, loaded, 0).ids.tolist() == expected


def test_conditions_that_mean_nothing_are_refused() -> None:
    """Names, tags and numbers that are not there."""
    vectors = Vectors.from_array(
        np.eye(4), attributes={"price": [1, 2, 3, 4], "tags": [["a"], [], ["b"], []]}
    )
    for text, error, message in (
        ("prize<3", UnknownName, "no attribute of the vectors is called `prize`(.|\n)*`price`"),
        ("tags==c", UnknownName, "no tag of `tags` is called `c`"),
        ("tags<3", BadProtocol, "expected `tags==TAG`"),
        ("price<cheap", BadProtocol, "compares `price` with `cheap`, expected a number"),
        ("price<1", BadProtocol, "no vector meets"),
        ("price==1.5", BadProtocol, "no vector meets"),
        ("region:2", BadProtocol, "expected one above 0 and at most 1"),
        ("cheap", BadProtocol, "expected a share such as 0.01, or a condition"),
    ):
        with pytest.raises(error, match=message):
            make_filter(text, vectors, 0)


def test_a_region_is_met_by_vectors_that_are_neighbours(vectors: NDArray[np.float32]) -> None:
    """Its share is exact; queries inside have most of their neighbours there, and queries outside hardly any."""
    dataset = make_dataset(vectors, vectors[::12])
    allowed = make_filter("region:0.2", dataset.vectors, 0).ids
    inside = find_side("region:0.2", dataset.vectors, dataset.queries, 0)
    found = np.isin(dataset.neighbours(10).ids[:, :10], allowed).mean(axis=1)

    assert len(allowed) == 240
    assert inside is not None
    assert found[inside].mean() > 0.7
    assert found[~inside].mean() < 0.15
