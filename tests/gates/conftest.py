"""A collection of thirty queries with a baseline and a run nearly as good, in memory and as files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

Nested = dict[str, dict[str, Any]]


def collection(queries: int = 30, *, seed: int = 7) -> tuple[Nested, Nested, Nested]:
    """Judgments, a baseline, and the baseline with a little noise."""
    rng = np.random.default_rng(seed)
    qrels: Nested = {f"q{i}": {f"d{j}": int(rng.integers(0, 3)) for j in range(8)} for i in range(queries)}
    old = {q: {d: g + float(rng.normal()) for d, g in grades.items()} for q, grades in qrels.items()}
    new = {q: {d: s + 0.1 * float(rng.normal()) for d, s in scores.items()} for q, scores in old.items()}
    return qrels, old, new


def reversed_run(run: Nested) -> Nested:
    """The same results upside down."""
    return {query: {d: -s for d, s in scores.items()} for query, scores in run.items()}


def written(folder: Path, qrels: Nested, **runs: Nested) -> None:
    """The collection as TREC files."""
    lines = [f"{q} 0 {d} {g}\n" for q, grades in qrels.items() for d, g in grades.items()]
    (folder / "qrels.txt").write_text("".join(lines))
    for name, run in runs.items():
        rows = [f"{q} Q0 {d} 0 {s!r} {name}\n" for q, scores in run.items() for d, s in scores.items()]
        (folder / f"{name}.run").write_text("".join(rows))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with `qrels.txt`, `old.run` and `new.run`."""
    qrels, old, new = collection()
    written(tmp_path, qrels, old=old, new=new)
    return tmp_path
