"""Files that change while they are read, and files that unpack to far more than they hold."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import judged
from judged.errors import Unreadable
from judged.io.open import DiskFile, File, open_file
from judged.io.write import write_judgments
from judged.kernels.scan import align
from judged.kernels.scan.align import align_text
from judged.scoring.locate import to_index
from judged.store import files
from judged.tables.run import Text

LINES = b"".join(b"q%d Q0 d%d %d %d.5 tag\n" % (i % 7, i, i, 1000 - i % 90) for i in range(4_000))
QRELS = b"".join(b"q%d 0 d%d %d\n" % (i % 7, i, i % 3) for i in range(0, 4_000, 5))


def shrink_after(monkeypatch: pytest.MonkeyPatch, path: Path, reads: int) -> None:
    """Cut a file short after some of its stretches have been read."""
    count, read = 0, DiskFile.read_into

    def read_into(self: DiskFile, buffer: object, begin: int) -> None:
        nonlocal count
        count += 1
        if count == reads:
            os.truncate(path, 100)
        read(self, buffer, begin)  # type: ignore[arg-type]

    monkeypatch.setattr(DiskFile, "read_into", read_into)


@pytest.mark.parametrize("stretch", [64, 1_000, 1 << 21])
@pytest.mark.parametrize("head", [b"", b"\xef\xbb\xbf", b"\xef\xbb\xbf\xef\xbb\xbf"])
def test_a_file_on_disk_is_aligned_as_the_same_bytes_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stretch: int, head: bytes
) -> None:
    """Reading in stretches changes no rank, no place and no problem, interleaved queries included."""
    monkeypatch.setattr(align, "STRETCH_BYTES", stretch)
    text = head + LINES + b"q1 Q0 d1 1 x tag\nq9 Q0\nq2 Q0 d2 4 1 tag\nq2 Q0 d2 4 nan tag"
    path = tmp_path / "a.run"
    path.write_bytes(text)
    index = to_index(judged.read_judgments(QRELS))

    for threads in (1, 3):
        stored = align_text(index, open_file(path).content, threads=threads)  # type: ignore[arg-type]
        held = align_text(index, np.frombuffer(text, np.uint8), threads=threads)
        for name in ("row", "rank", "above", "tied", "offset", "retrieved"):
            np.testing.assert_array_equal(getattr(stored, name), getattr(held, name))
        assert stored.problems == held.problems
        assert stored.counts == held.counts
        assert stored.unjudged_queries == held.unjudged_queries


def test_the_place_of_a_byte_is_counted_in_stretches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The line of a byte is the same wherever the file is cut to count."""
    monkeypatch.setattr("judged.tables.run.STRETCH", 10)
    (tmp_path / "a.run").write_bytes(LINES)
    text = Text(open_file(tmp_path / "a.run").content, lambda: pa.table({}), file="a.run")

    assert text.place(LINES.index(b"d123 ")).line == 124


@pytest.mark.parametrize("reads", [3, 4, 6, 9])
def test_a_run_cut_short_while_it_is_scored_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reads: int
) -> None:
    """No signal, and no number from half of a file."""
    monkeypatch.setattr(align, "STRETCH_BYTES", 10_000)
    path = tmp_path / "a.run"
    path.write_bytes(LINES)
    shrink_after(monkeypatch, path, reads)

    with pytest.raises(Unreadable, match="changed while it was read"):
        judged.evaluate(QRELS, path, "AP")


@pytest.mark.parametrize("name", ["a.qrels", "a.csv", "a.parquet", "a.jsonl"])
def test_judgments_cut_short_while_they_are_read_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Formats that are read as a whole are read into private memory, then compared with the file."""
    path = tmp_path / name
    write_judgments(judged.read_judgments(QRELS), path)
    shrink_after(monkeypatch, path, 3)

    with pytest.raises(Unreadable, match="changed while it was read"):
        [judged.read_judgments(path) for _ in range(3)]


def test_a_run_rewritten_in_place_is_refused(tmp_path: Path) -> None:
    """Other bytes of the same length have another time of change."""
    path = tmp_path / "a.run"
    path.write_bytes(LINES)
    run = judged.read_run(path)
    path.write_bytes(LINES.replace(b"d1", b"x1"))
    os.utime(path, ns=(1, 1))

    with pytest.raises(Unreadable, match="changed while it was read"):
        judged.evaluate(QRELS, run, "AP")


def test_a_run_replaced_by_another_file_is_read_as_it_was_opened(tmp_path: Path) -> None:
    """A program that writes a draft and renames it disturbs nobody."""
    path, other = tmp_path / "a.run", tmp_path / "b.run"
    path.write_bytes(LINES)
    other.write_bytes(b"q1 Q0 d1 1 1 tag\n")
    run = judged.read_run(path)
    other.replace(path)

    before = judged.evaluate(QRELS, judged.read_run(LINES, name="a"), "AP")
    assert judged.evaluate(QRELS, run, "AP").to_dict() == before.to_dict()


PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": None, "lz4": None}


def pack(extension: str, data: bytes) -> bytes:
    """Compress bytes as the extension says."""
    packer = PACKERS[extension]
    if packer is not None:
        return bytes(packer(data))
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, {"zst": "zstd"}.get(extension, extension)) as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


@pytest.mark.parametrize("extension", PACKERS)
def test_a_decompression_bomb_is_refused_before_it_unfolds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, extension: str
) -> None:
    """More than the limit, and many times the file: refused, unless the user raises the limit."""
    monkeypatch.setattr(files, "UNPACKED_BYTES", 1 << 20)
    monkeypatch.setattr(files, "UNPACKED_RATIO", 20)
    path = tmp_path / f"a.run.{extension}"
    path.write_bytes(pack(extension, LINES + b"\n" * (8 << 20)))

    with pytest.raises(Unreadable, match=r"unpacks to more than .*\n\nhint: .*JUDGED_UNPACK_LIMIT"):
        open_file(path)
    monkeypatch.setenv("JUDGED_UNPACK_LIMIT", "1e8")
    assert len(open_file(path).data) == len(LINES) + (8 << 20)


@pytest.mark.parametrize("extension", PACKERS)
def test_ordinary_files_are_unpacked_whatever_their_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, extension: str
) -> None:
    """The ratio alone decides above the limit: real runs shrink ten times, not two hundred."""
    monkeypatch.setattr(files, "UNPACKED_BYTES", 1_000)
    path = tmp_path / f"a.run.{extension}"
    path.write_bytes(pack(extension, LINES))

    assert bytes(open_file(path).data) == LINES


def test_a_limit_that_is_no_number_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable is read when something is unpacked."""
    monkeypatch.setenv("JUDGED_UNPACK_LIMIT", "much")
    (tmp_path / "a.run.gz").write_bytes(gzip.compress(LINES))

    with pytest.raises(Unreadable, match="`much`, expected a number of bytes"):
        open_file(tmp_path / "a.run.gz")


def folded_table(rows: int) -> pa.Table:
    """Return judgments whose documents are one long text, stored once."""
    document = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array(["d" * 100_000]))
    query = [f"q{row}" for row in range(rows)]
    return pa.table({"query": query, "document": document, "grade": [1] * rows})


@pytest.mark.parametrize("kind", ["parquet", "categories", "arrow", "view", "compressed"])
def test_a_table_of_references_to_one_long_text_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """A column may refer thousands of times to a value that the file holds once."""
    monkeypatch.setattr("judged.io.parquet.UNPACKED_BYTES", 1 << 20)
    monkeypatch.setattr(files, "UNPACKED_BYTES", 1 << 20)
    monkeypatch.setattr(files, "UNPACKED_RATIO", 20)
    path, table = (
        tmp_path / f"a.{'parquet' if kind in {'parquet', 'categories'} else 'arrow'}",
        folded_table(400),
    )
    if kind in {"parquet", "compressed"}:
        table = table.set_column(1, "document", table["document"].cast(pa.string()))
    if kind == "view":
        views = np.frombuffer(
            np.array([100_000, 0, 0, 0], np.int32).tobytes()[:4] + b"dddd" + bytes(8), np.uint8
        )
        buffers = [None, pa.py_buffer(np.tile(views, 400).tobytes()), pa.py_buffer(b"d" * 100_000)]
        try:
            column = pa.Array.from_buffers(pa.string_view(), 400, buffers)
        except ValueError:
            pytest.skip("this version of pyarrow cannot make such a column")
        table = table.set_column(1, "document", column)
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(table, path, compression="zstd")
    else:
        options = pa.ipc.IpcWriteOptions(compression="zstd" if kind == "compressed" else None)
        with pa.ipc.new_file(path, table.schema, options=options) as writer:
            writer.write_table(table)

    with pytest.raises(Unreadable, match="unpacks to more than"):
        judged.read_judgments(path)


def test_memory_that_does_not_suffice_is_said_in_words(tmp_path: Path) -> None:
    """Exit code 2 and a hint, not "please report this"."""
    resource = pytest.importorskip("resource")
    with pa.CompressedOutputStream(str(tmp_path / "a.run.zst"), "zstd") as sink:
        sink.write(LINES)
        for _ in range(60):
            sink.write(b"\n" * (16 << 20))
    (tmp_path / "a.qrels").write_bytes(QRELS)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))

    done = subprocess.run(
        [sys.executable, "-m", "judged", "score", "a.qrels", "a.run.zst", "-m", "AP"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        preexec_fn=limit,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        check=False,
    )

    assert done.returncode == 2, done.stderr
    assert "not enough memory" in done.stderr


def test_a_file_in_memory_needs_no_disk() -> None:
    """Bytes are their own content."""
    assert File(b"abc", "a", "a").data == b"abc"
