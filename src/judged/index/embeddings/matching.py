"""`evaluate_embeddings`: retrieval between two kinds of items, such as images and captions, in both directions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judged.arrays import Flags, Floats, Ints
from judged.blocks import Block, Display, Notes, Sentence, Table, Value
from judged.errors import BadInput, BadProtocol, BadSample, UnknownName
from judged.index.data import make_dataset
from judged.problem import Note, Problem
from judged.result import Provenance, Result, tabulate
from judged.wording import counted

if TYPE_CHECKING:
    import pyarrow as pa

CELLS = 1 << 22
"""Maximum number of similarities that are held at a time."""
CUTOFFS = (1, 5, 10)
"""The cutoffs of Rsum."""
DIRECTIONS = ("queries to documents", "documents to queries")
METRICS = ("cosine", "ip", "l2")

Similar = Callable[[Ints, Ints], Floats]
"""Returns the similarities of some queries and some documents."""


@dataclass(frozen=True)
class Direction:
    """The rank of the first match of every item of one kind, among all items of the other."""

    name: str
    item: tuple[int, ...]
    """Row of each item that has a match."""
    fold: tuple[int, ...]
    """Fold of each item, from 0."""
    rank: tuple[int, ...]
    """Rank of its first match; equal similarities of others count against it."""

    def mean_over_folds(self, compute: Callable[[Ints], float]) -> float:
        """Return the mean of a value of the ranks of each fold."""
        ranks, fold = np.array(self.rank), np.array(self.fold)
        return float(np.mean([compute(ranks[fold == number]) for number in np.unique(fold)]))

    def measure(self) -> dict[str, float]:
        """Return every measure of this direction."""
        return {
            **{f"Success@{k}": self.mean_over_folds(_share_within(k)) for k in CUTOFFS},
            "MedR": self.mean_over_folds(lambda ranks: float(np.floor(np.median(ranks - 1)) + 1)),
            "MeanR": self.mean_over_folds(lambda ranks: float(ranks.mean())),
        }


def _share_within(cutoff: int) -> Callable[[Ints], float]:
    return lambda ranks: float((ranks <= cutoff).mean())


@dataclass(frozen=True, eq=False, repr=False)
class EmbeddingReport(Result):
    """How well two kinds of items find each other: Success, median and mean rank in both directions, and Rsum."""

    kind: ClassVar[str] = "embeddings"
    detail: ClassVar[str] = "ranks"

    directions: tuple[Direction, ...]
    folds: int = 1
    notes: tuple[Note, ...] = ()
    provenance: Provenance = field(default_factory=Provenance)

    def mean(self) -> dict[str, dict[str, float]]:
        """Return every measure by direction."""
        return {direction.name: direction.measure() for direction in self.directions}

    @property
    def rsum(self) -> float:
        """The sum of Success@1, @5 and @10 of both directions, in percent."""
        shares = [values[f"Success@{k}"] for values in self.mean().values() for k in CUTOFFS]
        return 100 * sum(shares)

    def tables(self) -> Mapping[str, pa.Table]:
        """Return the measures, a row for each direction, and the rank of the first match of every item."""
        return {
            "measures": tabulate([{"direction": name, **values} for name, values in self.mean().items()]),
            "ranks": tabulate(
                [
                    {"direction": direction.name, "item": item, "fold": fold, "rank": rank}
                    for direction in self.directions
                    for item, fold, rank in zip(direction.item, direction.fold, direction.rank, strict=True)
                ]
            ),
        }

    def blocks(self, display: Display) -> Iterable[Block]:
        """Return the measures of both directions, Rsum, and the notes."""
        means = self.mean()
        names = list(next(iter(means.values())))
        rows: tuple[tuple[Value, ...], ...] = tuple(
            (direction.name, len(direction.item), *means[direction.name].values())
            for direction in self.directions
        )
        yield Table(("direction", "items", *names), rows, title=display.title)
        over = f", each the mean of {self.folds} folds" if self.folds > 1 else ""
        yield Sentence(f"Rsum {self.rsum:.1f}: 100 × the sum of the six values of Success{over}.")
        if display.notes and self.notes:
            yield Notes(self.notes)


def evaluate_embeddings(
    queries: ArrayLike | None = None,
    documents: ArrayLike | None = None,
    pairs: ArrayLike | None = None,
    *,
    similarities: ArrayLike | None = None,
    metric: str = "cosine",
    folds: int = 1,
) -> EmbeddingReport:
    """Measure how well queries find their documents, and documents their queries, by the similarity of embeddings.

    `queries` and `documents` are matrices, for example of images and of their captions; or `similarities` has a row
    for each query and a column for each document. `pairs` says what belongs together: the row of the query of each
    document, or rows of two numbers, a query and a document. `metric` is `cosine`, `ip` or `l2`.

    Papers' R@k is `Success@k`: whether one of the matches is among the first k. `MedR` and `MeanR` are the median and
    the mean rank of the first match. A document with the similarity of the best match is ranked above it, so that equal
    similarities earn nothing; they are compared as 32-bit floats.

    `folds` cuts the queries in their order into that many equal parts, each searched alone with its own documents, and
    every measure is the mean over them: 5 for "1K" of MS-COCO.

    >>> found = evaluate_embeddings(similarities=[[0.9, 0.2, 0.8, 0.1], [0.7, 0.3, 0.6, 0.5]], pairs=[0, 0, 1, 1])
    >>> found.mean()["queries to documents"]["Success@1"], found.rsum
    (0.5, 500.0)
    """
    similar, sizes = _read_similarities(queries, documents, similarities, metric)
    if pairs is None:
        msg = "`pairs` is missing: which query each document belongs to"
        raise BadProtocol(msg, hint="give an array with the row of the query of each document")
    query, document = _read_pairs(pairs, sizes)
    fold_of = _cut_folds(query, document, sizes, folds)
    there = _rank_first(similar, (query, document), fold_of)
    back = _rank_first(lambda rows, others: similar(others, rows).T, (document, query), fold_of[::-1])
    found = [
        Direction(name, *(tuple(column.tolist()) for column in columns))
        for name, columns in zip(DIRECTIONS, (there, back), strict=True)
    ]
    notes = [
        Note("no-match", "warning", f"{counted(size - len(direction.item), noun)} without a match: left out")
        for size, direction, noun in zip(sizes, found, ("query", "document"), strict=True)
        if size > len(direction.item)
    ]
    smallest = min(sizes) // folds
    if smallest < max(CUTOFFS):
        message = f"with {counted(smallest, 'item')} to find, Success@{max(CUTOFFS)} is 1 whatever the model"
        notes.append(Note("few-items", "warning", message))
    settings = {"metric": "given" if similarities is not None else metric, "folds": folds}
    return EmbeddingReport(tuple(found), folds, tuple(notes), Provenance(settings=settings))


def _read_similarities(
    queries: ArrayLike | None, documents: ArrayLike | None, similarities: ArrayLike | None, metric: str
) -> tuple[Similar, tuple[int, int]]:
    """Return what computes similarities, and the numbers of queries and documents."""
    if similarities is not None:
        if queries is not None or documents is not None:
            msg = "`similarities` and embeddings are both given, expected one of them"
            raise BadProtocol(msg)
        matrix = np.asarray(similarities)
        if matrix.ndim != 2 or not matrix.size or matrix.dtype.kind not in "fiu":
            got = f"{matrix.dtype} of shape {matrix.shape}, expected numbers, with a row for each query"
            raise BadInput("similarities", [Problem.error("bad-matrix", "similarities", got)])
        if np.isnan(matrix).any():
            row = int(np.flatnonzero(np.isnan(matrix).any(axis=1))[0])
            raise BadInput(
                "similarities", [Problem.error("not-finite", f"row {row}", "nan, expected a number")]
            )
        return lambda rows, columns: matrix[np.ix_(rows, columns)].astype(np.float64), matrix.shape
    if queries is None or documents is None:
        msg = "embeddings are missing, expected `queries` and `documents`, or `similarities`"
        raise BadProtocol(msg)
    if metric not in METRICS:
        raise UnknownName("metric", metric, METRICS)
    dataset = make_dataset(documents, queries, metric=metric, name="documents")
    left, right = (part.array.astype(np.float64) for part in (dataset.queries, dataset.vectors))

    def compute(rows: Ints, columns: Ints) -> Floats:
        product: Floats = left[rows] @ right[columns].T
        if metric != "l2":
            return product
        squares = [np.einsum("ij,ij->i", part, part) for part in (left[rows], right[columns])]
        return np.asarray(2 * product - squares[0][:, None] - squares[1])

    return compute, (len(left), len(right))


def _read_pairs(given: ArrayLike, sizes: tuple[int, int]) -> tuple[Ints, Ints]:
    """Return the rows of the queries and of the documents that belong together."""
    pairs = np.asarray(given)
    if pairs.ndim == 1 and len(pairs) == sizes[1]:
        pairs = np.column_stack((pairs, np.arange(len(pairs))))
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not len(pairs) or pairs.dtype.kind not in "iu":
        got = f"{pairs.dtype} of shape {pairs.shape}, expected a query for each of {sizes[1]:,} documents, or rows of a query and a document"
        raise BadInput("pairs", [Problem.error("bad-pairs", "pairs", got)])
    outside = np.flatnonzero(((pairs < 0) | (pairs >= np.array(sizes))).any(axis=1))
    if len(outside):
        row = int(outside[0])
        got = f"query {pairs[row, 0]} and document {pairs[row, 1]}, expected rows below {sizes[0]:,} and {sizes[1]:,}"
        raise BadInput("pairs", [Problem.error("bad-pairs", f"pair {row}", got)])
    return pairs[:, 0].astype(np.int64), pairs[:, 1].astype(np.int64)


def _cut_folds(query: Ints, document: Ints, sizes: tuple[int, int], folds: int) -> tuple[Ints, Ints]:
    """Return the fold of every query and of every document."""
    if isinstance(folds, bool) or not isinstance(folds, int) or folds < 1:
        msg = f"`folds` is {folds!r}, expected a whole number from 1"
        raise BadProtocol(msg)
    if sizes[0] % folds:
        msg = f"{sizes[0]:,} queries cannot be cut into {folds} equal folds"
        raise BadSample(msg, hint="leave out the queries beyond the last whole fold")
    of_query = np.arange(sizes[0]) // (sizes[0] // folds)
    if folds == 1:
        return of_query, np.zeros(sizes[1], dtype=np.int64)
    of_document = np.full(sizes[1], -1)
    of_document[document] = of_query[query]
    apart = np.flatnonzero(of_document[document] != of_query[query])
    if len(apart) or (of_document < 0).any():
        row = int(document[apart[0]] if len(apart) else np.flatnonzero(of_document < 0)[0])
        msg = f"document {row} belongs to {'queries of two folds' if len(apart) else 'no query, and so to no fold'}"
        raise BadSample(msg, hint="folds need documents that belong to the queries of one of them")
    return of_query, of_document


def _rank_first(
    similar: Similar, pairs: tuple[Ints, Ints], fold_of: tuple[Ints, Ints]
) -> tuple[Ints, Ints, Ints]:
    """Return the items that have a match, their folds, and the rank of the first match within the fold."""
    items = np.unique(pairs[0])
    ranks = np.empty(len(items), dtype=np.int64)
    order = np.argsort(pairs[0], kind="stable")
    start = np.searchsorted(pairs[0][order], items)
    stop = np.append(start[1:], len(order))
    for fold in np.unique(fold_of[0][items]):
        others = np.flatnonzero(fold_of[1] == fold)
        chosen = np.flatnonzero(fold_of[0][items] == fold)
        count = min(len(chosen), -(-len(chosen) * len(others) // CELLS))
        for block in np.array_split(chosen, count):
            near = np.concatenate([order[start[at] : stop[at]] for at in block])
            match: Flags = np.zeros((len(block), len(others)), dtype=bool)
            row = np.repeat(np.arange(len(block)), (stop - start)[block])
            match[row, np.searchsorted(others, pairs[1][near])] = True
            scores: NDArray[np.float32] = similar(items[block], others).astype(np.float32)
            best = np.where(match, scores, np.float32(-np.inf)).max(axis=1)
            ranks[block] = 1 + ((scores >= best[:, None]) & ~match).sum(axis=1)
    return items, fold_of[0][items], ranks
