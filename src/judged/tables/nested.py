"""Dicts of dicts, dicts of lists and matrices of ids, flattened to columns of query, document and number.

A list is an order: `keep_order` is the rule that turns it into scores, for every input and every stage of a study. A
document that a list repeats counts once, where it comes first (`REPEATED`); rows that each name their query may not repeat it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, field
from itertools import chain, filterfalse, repeat
from typing import Any, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from judged.arrays import Floats
from judged.errors import BadInput, WrongKind
from judged.problem import Place, Problem, Problems
from judged.wording import counted

REPEATED = "repeated a document of the same query, which counts where it came first"
"""Note on results of a list that were left out."""


def keep_order(scores: Sequence[float | None] | Floats) -> list[float]:
    """Return scores by which a list, best first, is ranked in its own order under every tie rule.

    Scores that fall along the list stay as they are. One that equals the score before it, compared as float32 as
    trec_eval does, becomes the next lower float32. If a score is missing or higher than the one before it, scores do not
    describe the order (distances, say, rise), and results score −1, −2, … by position.

    >>> keep_order([0.5, 0.25])
    [0.5, 0.25]
    >>> keep_order([None, None])
    [-1.0, -2.0]
    >>> keep_order([2.0, 2.0, 1.0])
    [2.0, 1.9999998807907104, 1.0]
    """
    if isinstance(scores, np.ndarray):
        known: Floats | None = scores
    else:
        known = None if None in scores else np.array(scores, dtype=np.float64)
    if known is None or (known[1:] > known[:-1]).any():
        return _score_positions(len(scores))
    with np.errstate(over="ignore"):
        single = known.astype(np.float32)
    falls = (single[1:] < single[:-1]).all() and np.isfinite(single).all()
    kept: list[float] = known.tolist()
    if falls or np.isnan(single).any():  # readers report NaN with its place
        return kept
    return _lower_ties(kept, single) or _score_positions(len(scores))


_LOWEST = -0x7F7FFFFF
"""The number of the lowest finite float32, where 0 is that of zero."""


def _score_positions(count: int) -> list[float]:
    return [-float(rank) for rank in range(1, count + 1)]


def _lower_ties(scores: list[float], single: NDArray[np.float32]) -> list[float] | None:
    """Return scores of which each is lower in float32 than the one before it; None if there is no lower number."""
    bits = (single + np.float32(0)).view(np.int32).astype(np.int64)  # −0 becomes 0, which it equals
    # numbered as they follow each other: the next lower float32 is one less
    number = np.where(bits >= 0, bits, -(bits & 0x7FFFFFFF))
    place = np.arange(len(number))
    lowered = np.minimum.accumulate(np.minimum(number, -_LOWEST) + place) - place
    if lowered[-1] < _LOWEST:
        return None
    lower = np.where(lowered >= 0, lowered, -lowered | 0x80000000).astype(np.uint32).view(np.float32)
    kept: list[float] = np.where(lowered < number, lower, scores).tolist()
    return kept


@dataclass
class Flat:
    """The rows of a nested object, a list or an array for each column."""

    query: Any = field(default_factory=list)
    document: Any = field(default_factory=list)
    number: Any = field(default_factory=list)
    cells: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None
    """Row and column of every cell of a matrix."""
    empty: list[object] = field(default_factory=list)
    """The queries that have no rows."""
    notes: tuple[str, ...] = ()

    def locate(self, row: int) -> Place:
        """Return the place of a row: its query and document, or its cell, since there are no lines."""
        if self.cells is not None:
            return Place(f"row {self.cells[0][row]}, column {self.cells[1][row]}")
        return Place(f"query `{self.query[row]}`, document `{self.document[row]}`")

    def unnest(self, *, subject: str) -> list[object]:
        """Replace each dict that holds numbers by its numbers, row by row, and return the keys of them all."""
        problems = Problems(subject, self.locate)
        for row, inner in enumerate(self.number):
            if not isinstance(inner, Mapping):
                message = f"holds {describe_type(inner)}, expected a dict from intent to grade"
                problems.add("bad-value", row, message)
        problems.raise_if_any()
        dicts = self.number
        times = [len(inner) for inner in dicts]
        self.query = list(chain.from_iterable(map(repeat, self.query, times)))
        self.document = list(chain.from_iterable(map(repeat, self.document, times)))
        self.number = list(chain.from_iterable(inner.values() for inner in dicts))
        return list(chain.from_iterable(dicts))


def flatten_mapping(mapping: Mapping[Any, Any], *, subject: str, number: str) -> Flat:
    """Return the rows of a dict of dicts; raise `BadInput` for queries whose value is not a dict."""
    problems = Problems(subject, lambda row: Place(f"query `{list(mapping)[row]}`"))
    for row, inner in enumerate(mapping.values()):
        if not isinstance(inner, Mapping):
            message = f"holds {describe_type(inner)}, expected a dict from document to {number}"
            problems.add("bad-value", row, message)
    problems.raise_if_any()
    return Flat(
        list(chain.from_iterable(repeat(query, len(inner)) for query, inner in mapping.items())),
        list(chain.from_iterable(mapping.values())),
        list(chain.from_iterable(inner.values() for inner in mapping.values())),
        empty=[query for query, inner in mapping.items() if not inner],
    )


def flatten_lists(lists: Mapping[object, object], *, subject: str, ordered: bool) -> Flat:
    """Return the rows of a dict of lists of ids, numbered −1, −2, … within each query.

    Where order matters (`ordered`), a set is a problem, and a document counts where it comes first.
    """
    problems = Problems(subject, lambda row: Place(f"query `{list(lists)[row]}`"))
    flat, repeated = Flat(), 0
    for row, (query, ids) in enumerate(lists.items()):
        documents = _to_list(ids, ordered=ordered)
        if documents is None:
            expected = "a list of document ids" + (", best first" if ordered else "")
            problems.add("bad-value", row, f"holds {describe_type(ids)}, expected {expected}")
            continue
        if not documents:
            flat.empty.append(query)
        if ordered:
            listed, documents = len(documents), _list_first(documents)
            repeated += listed - len(documents)
        flat.query += [query] * len(documents)
        flat.document += documents
        flat.number += keep_order([None] * len(documents))
    problems.raise_if_any()
    flat.notes = (f"{counted(repeated, 'result')} {REPEATED}",) if repeated else ()
    return flat


def flatten_matrix(ids: object, scores: object = None, *, subject: str) -> Flat:
    """Return the rows of a matrix of ids, a row for each query, without its padding.

    Queries are called "0", "1", … by row. Rows are best first: scores keep their order (`keep_order`), and without
    scores cells score −1, −2, … from the left. Negative whole numbers are padding, as vector indexes fill rows that
    have too few answers.
    """
    matrix = _check_matrix(ids, "ids", subject)
    if matrix.dtype.kind not in "iuUTO":
        got = f"ids are {matrix.dtype}, expected whole numbers or text"
        hint = "cast them: `ids.astype(int)`" if matrix.dtype.kind == "f" else None
        raise BadInput(subject, [Problem.error("bad-matrix", "matrix", got)], hint=hint)
    rows, width = matrix.shape
    flat = matrix.reshape(-1)
    kept = np.flatnonzero(flat >= 0) if matrix.dtype.kind == "i" else np.arange(matrix.size)
    row, column = np.divmod(kept, max(width, 1))
    dropped = matrix.size - len(kept)
    documents = flat[kept]
    notes = [f"{dropped:,} negative ids of the matrix are padding: left out"] if dropped else []
    number = -(column + 1.0)
    if scores is not None:
        number, rising = _keep_row_order(_check_scores(scores, matrix.shape, subject)[kept], row)
        if rising:
            rows_rise = "1 row rise" if rising == 1 else f"{rising:,} rows rise"
            notes.append(f"the scores of {rows_rise} from left to right: positions count there, not scores")
    return Flat(
        query=pa.array(np.arange(rows)).cast(pa.large_string()).take(pa.array(row)),
        document=pa.array(documents).cast(pa.large_string())
        if matrix.dtype.kind in "iu"
        else documents.tolist(),
        number=number,
        cells=(row, column),
        empty=np.setdiff1d(np.arange(rows), row).astype(str).tolist(),
        notes=tuple(notes),
    )


def _keep_row_order(scores: NDArray[np.float64], row: NDArray[np.int64]) -> tuple[NDArray[np.float64], int]:
    """Return scores that keep the order of every row, and the number of rows along which they rose."""
    with np.errstate(over="ignore"):
        single = scores.astype(np.float32)
    same = row[1:] == row[:-1]
    changed = np.unique(row[1:][same & ~(single[1:] < single[:-1])])
    rising = np.unique(row[1:][same & (scores[1:] > scores[:-1])])
    ends = np.searchsorted(row, np.stack((changed, changed + 1), axis=1))
    for first, last in ends.tolist():
        scores[first:last] = keep_order(scores[first:last].tolist())
    return scores, len(rising)


def has_text_queries(mapping: Mapping[object, object]) -> bool:
    """Return whether all queries are text and hold dicts; documents and numbers are checked when aligned."""
    return _all(mapping, str) and _all(mapping.values(), Mapping)


def is_plain_dict(value: object) -> bool:
    """Return whether this is a dict whose order and values are those of its own table, as no subclass promises."""
    return type(value) in {dict, defaultdict}


def are_plain_ids(ids: Collection[object]) -> bool:
    """Return whether all ids are text that UTF-8 can hold; others are converted, or refused with their place."""
    if not set(map(type, ids)) <= {str}:
        return False
    try:
        "".join(filterfalse(str.isascii, cast("Collection[str]", ids))).encode()
    except UnicodeEncodeError:  # a lone surrogate
        return False
    return True


def need_mapping(mapping: object, subject: str) -> Mapping[object, object]:
    """Return the mapping itself, or raise `WrongKind`."""
    if not isinstance(mapping, Mapping):
        msg = f"{subject} is {describe_type(mapping)}, expected a dict"
        raise WrongKind(msg)
    return mapping


def _all(values: Iterable[object], kind: type) -> bool:
    """Return whether all values are of a kind, asking once for each type among them."""
    return all(issubclass(own, kind) for own in set(map(type, values)))


def _list_first(documents: list[object]) -> list[object]:
    """Return every document of a list once, where it comes first; 7 and "7" are one id."""
    names = list(map(str, documents))
    if len(set(names)) == len(names):
        return documents
    return [documents[at] for at in sorted({name: at for at, name in reversed([*enumerate(names)])}.values())]


def _to_list(ids: object, *, ordered: bool) -> list[object] | None:
    """Return ids as a list; None if they are not a collection, or are unordered where order matters."""
    if isinstance(ids, (str, bytes, Mapping)) or not isinstance(ids, Iterable):
        return None
    if isinstance(ids, AbstractSet):
        return None if ordered else list(ids)
    return list(ids.tolist() if hasattr(ids, "tolist") else ids)


def _check_matrix(values: object, what: str, subject: str) -> NDArray[Any]:
    array = np.asarray(values)
    if array.ndim != 2:
        got = f"{what} have shape {array.shape}, expected a matrix with a row for each query"
        raise BadInput(subject, [Problem.error("bad-matrix", "matrix", got)])
    return array


def _check_scores(scores: object, shape: tuple[int, ...], subject: str) -> NDArray[np.float64]:
    matrix = _check_matrix(scores, "scores", subject)
    got = None
    if matrix.shape != shape:
        got = f"ids have shape {shape} and scores {matrix.shape}, expected the same"
    elif matrix.dtype.kind not in "iufb":
        got = f"scores are {matrix.dtype}, expected numbers"
    if got is not None:
        raise BadInput(subject, [Problem.error("bad-matrix", "matrix", got)])
    return matrix.reshape(-1).astype(np.float64)


def describe_type(value: object) -> str:
    """Return the type of a value with its article, for messages: "a list"."""
    name = type(value).__name__
    return f"an {name}" if name[0].lower() in "aeiou" else f"a {name}"
