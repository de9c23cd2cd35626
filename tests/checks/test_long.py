"""One long id or one long gap costs as much as its bytes, not as much as its bytes in every row."""

from __future__ import annotations

from pathlib import Path
from time import process_time

import numpy as np
import pytest
from hypothesis import given, strategies as st

from judged.checks.fix import fix
from judged.checks.lint import lint
from judged.kernels.scan import strings
from judged.kernels.scan.strings import Strings


def write_gap(path: Path, size: int) -> None:
    """Write judgments by intent, half of them blanks on one line."""
    rows = "".join(f"q{row % 50} {row % 3} d{row} 1\n" for row in range(size // 30))
    path.write_text(f"q0 {' ' * (size // 2)}7{' ' * 9} e 1\n{rows}", encoding="utf-8")


def write_long(path: Path, size: int) -> None:
    """Write a run, half of it one id."""
    rows = "".join(f"q{row % 50} Q0 d{row} 1 {row % 7} t\n" for row in range(size // 50))
    path.write_text(f"{rows}q0 Q0 {'d' * (size // 2)} 1 3 t\n", encoding="utf-8")


def measure(work: object) -> float:
    """Return the CPU seconds that a call takes."""
    started = process_time()
    work()  # type: ignore[operator]
    return process_time() - started


def test_a_long_gap_is_skipped_once(tmp_path: Path) -> None:
    """Two megabytes with a gap of one took minutes."""
    write_gap(tmp_path / "a.qrels", 2_000_000)

    assert measure(lambda: lint(tmp_path / "a.qrels", intents=True)) < 5


@pytest.mark.parametrize("policy", ["first", "best"])
def test_one_long_id_is_sorted_once(tmp_path: Path, policy: str) -> None:
    """A run of a megabyte with one id of half a megabyte took eight gigabytes."""
    write_long(tmp_path / "a.run", 1_000_000)
    fix(tmp_path / "a.run", tmp_path / "b.run", role="run", policy=policy)  # type: ignore[arg-type]

    assert (tmp_path / "b.run").stat().st_size > 900_000


@given(st.lists(st.binary(max_size=30), min_size=1, max_size=20), st.integers(0, 30))
def test_strings_are_sorted_alike_in_either_way(values: list[bytes], limit: int) -> None:
    """Eight bytes at a time or one by one, the order is that of the bytes."""
    data = np.frombuffer(b"".join(values) or b"\0", dtype=np.uint8)
    offset = np.concatenate(([0], np.cumsum([len(value) for value in values]))).astype(np.int64)
    texts = Strings.from_offsets(data, offset)
    before = strings.LONG
    try:
        strings.LONG = limit
        keys = [texts.length.astype(np.uint64), *texts.sort_keys()[::-1]]
    finally:
        strings.LONG = before

    assert [values[row] for row in np.lexsort(keys)] == sorted(values)
