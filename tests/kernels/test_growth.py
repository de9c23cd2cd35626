"""Time grows with the size of the input, whatever its shape; and nothing an input holds is read out of bounds."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
import pytest

import judged
from judged.kernels.scan.align import JudgedIndex, align_columns, align_text
from judged.kernels.scan.compiled import load_compiled
from judged.kernels.scan.strings import Strings

SMALL, TIMES = 4_000, 8
"""Rows of the smaller input, and how many times as many the larger has: quadratic work would take 64 times as long."""


def score_rising(n: int) -> None:
    """All documents are judged, and each has a higher score than the one before."""
    _evaluate([f"q1 Q0 d{i} 1 {i} t" for i in range(n)], n)


def score_tied(n: int) -> None:
    """All documents are judged and have one score."""
    _evaluate([f"q1 Q0 d{i} 1 1 t" for i in range(n)], n)


def score_interleaved(n: int) -> None:
    """Rows of a query with many judgments alternate with those of another."""
    _evaluate([f"q1 Q0 d{i} 1 {n - i} t\nq2 Q0 y{i} 1 {n - i} t" for i in range(n)], n)


def score_dict_tied(n: int) -> None:
    """The same as tied, from a dict."""
    judged.evaluate(
        {"q1": {f"d{i}": 1 for i in range(n)}}, {"q1": dict.fromkeys((f"d{i}" for i in range(n)), 1.0)}, "AP"
    )


def score_one_long_id(n: int) -> None:
    """Half of the judgments' bytes are one id."""
    qrels = "".join(f"q1 0 d{i} 1\n" for i in range(n)) + f"q1 0 {'x' * 12 * n} 1\n"
    judged.evaluate(qrels.encode(), b"q1 Q0 d1 1 1 t\n", "AP")


def _evaluate(lines: list[str], n: int) -> None:
    qrels = "".join(f"q1 0 d{i} 1\n" for i in range(n)) + "q2 0 x 1\n"
    judged.evaluate(qrels.encode(), "\n".join([*lines, ""]).encode(), "AP")


SHAPES = [score_rising, score_tied, score_interleaved, score_dict_tied, score_one_long_id]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_time_grows_with_the_number_of_rows(implementation: str, shape: Callable[[int], None]) -> None:
    """Eight times the rows take far less than 64 times the time, in both implementations."""
    assert implementation
    shape(100)  # imports
    small, large = (min(_cpu_time(shape, rows) for _ in range(3)) for rows in (SMALL, TIMES * SMALL))

    assert large < 3 * TIMES * max(small, 0.005)


def _cpu_time(shape: Callable[[int], None], rows: int) -> float:
    begin = time.process_time()
    shape(rows)
    return time.process_time() - begin


class CountedText:
    """A text that is not in memory, and how often it is read."""

    def __init__(self, data: bytes) -> None:
        self._data, self.reads = np.frombuffer(data, np.uint8), 0

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, place: slice) -> np.ndarray:
        self.reads += 1
        return self._data[place].copy()

    def read_into(self, buffer: np.ndarray, begin: int) -> None:
        """Fill the buffer."""
        self.reads += 1
        buffer[:] = self._data[begin : begin + len(buffer)]


@pytest.mark.parametrize("judged_queries", [0, 30, 60])
def test_scattered_rows_are_not_read_one_by_one(implementation: str, judged_queries: int) -> None:
    """Rows of 60 queries in turn, judged or not, take few reads."""
    assert implementation
    rows = [f"q{row % 60} Q0 d{row} 1 {row} t\n" for row in range(6_000)]
    text = CountedText("".join(rows).encode())
    names = "".join(f"q{query}" for query in range(judged_queries)).encode()
    cuts = np.cumsum([0, *(len(f"q{query}") for query in range(judged_queries))])
    documents = "".join(f"d{query}" for query in range(judged_queries)).encode()
    flat_names, flat_documents = (np.frombuffer(ids, np.uint8) for ids in (names, documents))
    index = JudgedIndex(flat_names, cuts, flat_documents, cuts, np.arange(judged_queries + 1))
    found = align_text(index, text)

    assert len(found.row) == judged_queries
    assert len(found.unjudged_queries) == 60 - judged_queries
    assert text.reads < 10


def test_ids_prepared_to_collide_cost_no_more_than_others() -> None:
    """Ids that have one hash under a known seed do not under the seed of an index."""
    if load_compiled("_scan") is None:
        pytest.skip("the compiled scanners were not built here")
    count = 20_000
    collide = _make_colliding_ids(count)
    plain = np.arange(count, dtype="<u8")
    times = [min(_time_alignment(ids) for _ in range(3)) for ids in (plain, collide)]

    assert times[1] < 5 * max(times[0], 0.005)


def _time_alignment(ids: np.ndarray) -> float:
    data, offset = ids.view(np.uint8), np.arange(len(ids) + 1, dtype=np.int64) * 8
    queries = np.frombuffer(b"q" * len(ids), dtype=np.uint8), np.arange(len(ids) + 1, dtype=np.int64)
    index = JudgedIndex(queries[0][:1], np.array([0, 1]), data, offset, np.array([0, len(ids)]))
    score = -np.arange(len(ids), dtype=np.float64)
    begin = time.process_time()
    found = align_columns(index, queries, (data, offset), score)
    spent = time.process_time() - begin
    assert found.rank.tolist() == list(range(1, len(ids) + 1))
    return spent


def _make_colliding_ids(count: int) -> np.ndarray:
    """Return ids of eight bytes whose hash is one number if the seed is zero, by running the hash backwards."""
    factor, whole = 0xD6E8FEB86659FD93, 1 << 64
    inverse, start = pow(factor, -1, whole), 8 * 0x9E3779B97F4A7C15 % whole
    found = []
    for high in range(count):
        middle = (high << 3) & 0xFFFFFFFF
        low = 0x12345678 ^ (middle | (((0x12345678 ^ middle) >> 29) & 7))
        word = (high << 32) | low
        word = ((word ^ (word >> 32)) * inverse) % whole
        found.append((word ^ (word >> 32)) ^ start)
    return np.array(found, dtype="<u8")


def test_a_score_of_many_digits_is_read_as_python_reads_it(implementation: str) -> None:
    """Counts of digits cannot overflow: a long number goes to Python."""
    assert implementation
    digits = "0" * 100_000
    run = f"q1 Q0 a 1 5 t\nq1 Q0 b 2 0.{digits}1 t\nq1 Q0 c 3 {digits}7.5 t\n".encode()

    assert judged.evaluate({"q1": {"c": 1}}, run, "RR")["RR"] == 1.0


def test_a_dict_that_grows_while_it_is_read_is_an_error() -> None:
    """A score whose conversion adds documents does not lead out of bounds."""
    if load_compiled("_dicts") is None:
        pytest.skip("the compiled scanners were not built here")
    scores: dict[str, object] = {}

    class Growing:
        def __float__(self) -> float:
            scores.update({f"new{i}": 1.0 for i in range(len(scores), len(scores) + 1000)})
            return 1.0

    scores |= {f"d{i}": Growing() for i in range(20)}

    with pytest.raises(judged.JudgedError, match="changed while it was read"):
        judged.evaluate({"q1": {"d1": 1, "d2": 1}}, {"q1": scores}, "AP")


def test_a_dict_whose_keys_are_exchanged_while_it_is_read_is_an_error() -> None:
    """A score whose conversion replaces a document by another, so that the size is the same, does not either."""
    if load_compiled("_dicts") is None:
        pytest.skip("the compiled scanners were not built here")
    scores: dict[str, object] = {}

    class Moving:
        def __float__(self) -> float:
            first = next(iter(scores))
            scores[f"{first}x"] = scores.pop(first)
            return 1.0

    scores |= {f"d{i}": Moving() for i in range(200)}

    with pytest.raises(judged.JudgedError, match="changed while it was read"):
        judged.evaluate({"q1": {"d1": 1, "d2": 1}}, {"q1": scores}, "AP")


def test_lines_that_appear_while_they_are_read_are_not_written_out_of_bounds() -> None:
    """The compiled reader of rows stops where its arrays end; it runs in a process of its own, since it might crash."""
    if load_compiled("_rows") is None:
        pytest.skip("the compiled reader was not built here")
    program = """
import mmap, os, threading, numpy as np
from judged.kernels.scan._rows import cut_rows
size = 4_000_000
shared = mmap.mmap(-1, size)
few = (b"q1 Q0 d1 1 1.0 t " + b"x " * 50 + b"\\n") * (size // 118 + 1)
def write():
    for _ in range(40):
        shared[:] = few[:size]
        shared[200:] = b"\\n" * (size - 200)
writer = threading.Thread(target=write)
writer.start()
refused = 0
while writer.is_alive():
    try:
        cut_rows(np.frombuffer(shared, dtype=np.uint8), 6, 0)
    except BlockingIOError:
        refused += 1
writer.join()
print("survived", refused)
"""
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False
    )

    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith("survived")


def test_hashes_of_strings_differ_between_processes() -> None:
    """Nobody can prepare ids of one hash for a process to come."""
    program = (
        "import numpy as np; from judged.kernels.scan.strings import Strings;"
        "print(Strings.from_offsets(np.frombuffer(b'abc', np.uint8), np.array([0, 3])).hashes[0])"
    )
    seen = {
        subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout
        for _ in range(2)
    }
    own = Strings.from_offsets(np.frombuffer(b"abcabc", np.uint8), np.array([0, 3, 6])).hashes

    assert len(seen) == 2
    assert own[0] == own[1]
