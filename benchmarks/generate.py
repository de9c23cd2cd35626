"""The files that are timed: a run of MS MARCO's size in four variants, from a fixed seed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np

SEED = 20_240_607
DEPTH = 1_000
JUDGED = 21
QUERIES = 6_980
COLLECTION = 8_841_823
"""The number of passages in MS MARCO; documents are numbered with seven digits up to it."""
VARIANTS = ("sorted", "tied", "unsorted", "scattered")
"""Scores fall; they are equal in groups; rows of a query are in any order; rows of all queries are mixed."""


@dataclass(frozen=True, slots=True)
class Data:
    """Where the generated files are."""

    directory: Path
    queries: int

    @property
    def qrels(self) -> Path:
        """Judgments of every query."""
        return self.directory / "qrels.txt"

    def run(self, variant: str) -> Path:
        """Return the run of that variant."""
        return self.directory / f"{variant}.txt"

    def head(self, share: int) -> Path:
        """Return the first queries of the sorted run: one in `share`."""
        return self.directory / f"sorted-1-of-{share}.txt"


def generate(root: Path, *, queries: int = QUERIES) -> Data:
    """Write what is not there yet: the judgments, each variant, and the first quarter and half of one."""
    data = Data(root / str(queries), queries)
    if (data.directory / "complete").exists() and data.run("scattered").exists():
        return data
    data.directory.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(SEED)
    names = np.sort(rng.choice(1_102_400, queries, replace=False)).tolist()
    with data.qrels.open("w") as qrels, _Runs(data) as runs:
        for place, query in enumerate(names):
            documents = 1_000_000 + rng.choice(COLLECTION - 1_000_000, DEPTH + JUDGED, replace=False)
            runs.write(
                place, query, documents[:DEPTH].tolist(), _scores(rng), rng.permutation(DEPTH).tolist()
            )
            qrels.writelines(f"{query} 0 {document} {grade}\n" for document, grade in _judged(rng, documents))
    _scatter(data, rng)
    (data.directory / "complete").touch()
    return data


def _scatter(data: Data, rng: np.random.Generator) -> None:
    """Write the rows of the sorted run in random order."""
    lines = data.run("sorted").read_bytes().splitlines(keepends=True)
    with data.run("scattered").open("wb") as file:
        file.writelines(lines[row] for row in rng.permutation(len(lines)))


def _scores(rng: np.random.Generator) -> list[float]:
    """Descending scores, far enough apart that none tie as float32."""
    return (30 - np.cumsum(rng.uniform(0.002, 0.03, DEPTH))).tolist()


def _judged(rng: np.random.Generator, documents: np.ndarray) -> list[tuple[int, int]]:
    """Fourteen documents that the run has, more of them near its head, and seven that it has not."""
    weight = 1 / (20 + np.arange(DEPTH))
    found = rng.choice(DEPTH, 14, replace=False, p=weight / weight.sum())
    chosen = np.concatenate([documents[found], documents[DEPTH : DEPTH + JUDGED - 14]])
    return list(zip(chosen.tolist(), rng.integers(0, 4, JUDGED).tolist(), strict=True))


class _Runs:
    """The open files of all variants."""

    def __init__(self, data: Data) -> None:
        self._files = {variant: data.run(variant).open("w") for variant in VARIANTS[:3]}
        self._heads = [(data.queries // share, data.head(share).open("w")) for share in (4, 2)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for file in [*self._files.values(), *(file for _, file in self._heads)]:
            file.close()

    def write(
        self, place: int, query: int, documents: list[int], scores: list[float], order: list[int]
    ) -> None:
        rows = list(zip(range(1, DEPTH + 1), documents, scores, strict=True))
        lines = [f"{query} Q0 {document} {rank} {score:.6f} t\n" for rank, document, score in rows]
        text = "".join(lines)
        self._files["sorted"].write(text)
        for queries, file in self._heads:
            if place < queries:
                file.write(text)
        self._files["unsorted"].writelines(lines[row] for row in order)
        self._files["tied"].writelines(
            f"{query} Q0 {document} {rank} {round(score):.6f} t\n" for rank, document, score in rows
        )
