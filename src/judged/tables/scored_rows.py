"""Scored rows: a score and a grade for each row of some groups, from arrays of any library, without document ids."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from judged.arrays import Floats, Ints
from judged.errors import BadInput, WrongKind
from judged.problem import Locate, Note, Place, Problem, Problems, locate_row
from judged.tables.columns import to_strings

ArrayLike: TypeAlias = Any
"""An array of any library, a tensor, a column, or a list."""
Array: TypeAlias = NDArray[Any]
SUBJECT = "the arrays"
SAMPLE = 1_000
"""Number of grades of which one must have a fraction before all are looked at."""
ORDER = "the order is scores, grades, groups"
AMBIGUOUS = "pass them as `group_ids=` or as `group_sizes=`"


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """Rows by group: what a model predicted, and what was judged."""

    scores: Floats
    grades: Floats
    """The grade of every row; a negative one means unjudged."""
    offset: Ints
    """Group `g` owns rows `offset[g]` to `offset[g + 1]`."""
    names: Callable[[], pa.Array]
    """Returns the id of every group, as text."""
    notes: tuple[Note, ...] = ()
    targets: None = None
    by_intent: bool = False

    @cached_property
    def queries(self) -> pa.Array:
        """The id of every group, in the order in which groups first occur."""
        return self.names()

    @classmethod
    def from_arrays(
        cls,
        scores: ArrayLike,
        grades: ArrayLike,
        groups: ArrayLike = None,
        *,
        group_ids: ArrayLike = None,
        group_sizes: ArrayLike = None,
        mask: ArrayLike = None,
    ) -> ScoredRows:
        """Return rows of arrays; `groups` holds ids or sizes, unless both are possible.

        A matrix has a group in each row, whose members `mask` flags.

        >>> rows = ScoredRows.from_arrays([0.2, 0.9, 0.5], [0, 1, 2], [2, 1])
        >>> rows.offset.tolist(), rows.queries.to_pylist()
        ([0, 2, 3], ['0', '1'])
        """
        score, grade = (to_array(values, name) for values, name in ((scores, "scores"), (grades, "grades")))
        if score.shape != grade.shape:
            shapes = f"{_describe_shape(score)} scores and {_describe_shape(grade)} grades"
            raise _refuse("lengths-differ", "shape", f"{shapes}, expected a grade for each score", hint=ORDER)
        if score.ndim == 2:
            if group_sizes is not None:
                msg = "`group_sizes` is given with matrices, whose rows are the groups"
                raise WrongKind(msg, hint="`mask=` flags the documents of each row")
            ids = _choose(groups, group_ids)
            return cls._from_matrix(score, grade, ids, mask)
        if mask is not None:
            msg = "`mask` is given with one-dimensional scores, expected matrices with a group in each row"
            raise WrongKind(msg)
        if score.ndim != 1:
            raise _refuse("dimensions", "shape", f"{score.ndim} dimensions, expected 1 or 2")
        _check_values(score, grade, locate_row)
        ids, sizes = _read_groups(groups, group_ids, group_sizes, len(score))
        if sizes is None:
            return cls._from_ids(score, grade, ids)
        notes = _note_swapped(score, grade)
        return cls(score, grade, _to_offset(sizes), lambda: _to_names(np.arange(len(sizes))), notes)

    @classmethod
    def _from_ids(cls, score: Floats, grade: Floats, ids: Array) -> ScoredRows:
        """Return the rows by group; groups that are not contiguous are brought together in order."""
        starts = np.flatnonzero(np.append(True, ids[1:] != ids[:-1])) if len(ids) else np.zeros(0, np.int64)
        heads = ids[starts]
        distinct, first, code = np.unique(heads, return_index=True, return_inverse=True)
        if len(distinct) < len(heads):
            place = np.empty(len(first), dtype=np.int64)  # groups are numbered as they first occur
            place[np.argsort(first, kind="stable")] = np.arange(len(first))
            group = np.repeat(place[code.reshape(-1)], np.diff(np.append(starts, len(ids))))
            order = np.argsort(group, kind="stable")
            score, grade = score[order], grade[order]
            starts = np.concatenate(([0], np.cumsum(np.bincount(group))))[:-1]
            heads = heads[np.sort(first)]
        offset = np.append(starts, len(ids)).astype(np.int64)
        notes = _note_swapped(score, grade)
        return cls(score, grade, offset, lambda: _to_names(heads), notes)

    @classmethod
    def _from_matrix(cls, score: Floats, grade: Floats, ids: ArrayLike, mask: ArrayLike) -> ScoredRows:
        flags = np.ones(score.shape, dtype=bool) if mask is None else _read_mask(mask, score.shape)
        row, column = np.nonzero(flags)

        def locate(place: int) -> Place:
            return Place(f"row {row[place] + 1:,}, column {column[place] + 1:,}")

        scores, grades = score[flags], grade[flags]
        _check_values(scores, grades, locate)
        names = None if ids is None else _to_ids(ids, len(score), "rows")
        if names is not None and len(set(names.tolist())) < len(names):
            raise _refuse(
                "repeated-group", "group ids", "an id appears twice; each row of a matrix is a group"
            )
        units = np.arange(len(score)) if names is None else names
        offset, notes = _to_offset(flags.sum(axis=1)), _note_swapped(scores, grades)
        return cls(scores, grades, offset, lambda: _to_names(units), notes)


def to_array(values: ArrayLike, name: str) -> Floats:
    """Return numbers of any library as float64; its memory is shared where it holds float64 already."""
    array = _to_numpy(values, name)
    if array.dtype.kind not in "biuf":
        hint = "cast them to float32 first" if "bfloat16" in str(array.dtype) else None
        msg = f"the {name} are of type `{array.dtype}`, expected numbers"
        raise WrongKind(msg, hint=hint)
    return np.ascontiguousarray(array, dtype=np.float64)


def _to_numpy(values: ArrayLike, name: str) -> Array:
    if isinstance(values, np.ma.MaskedArray):
        msg = f"the {name} are a masked array, whose mask would be lost"
        raise WrongKind(msg, hint="give `values.data`, and for matrices `mask=~values.mask`")
    if hasattr(values, "detach"):  # a tensor of PyTorch, which may belong to a graph
        values = values.detach()
    try:
        if hasattr(values, "__array__") or isinstance(values, (list, tuple)):
            return np.asarray(values)
        if hasattr(values, "__dlpack__"):
            return np.from_dlpack(values)
        if hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__"):
            column = pa.array(values) if hasattr(values, "__arrow_c_array__") else pa.chunked_array(values)
            return np.asarray(column)
    except (TypeError, ValueError, RuntimeError, BufferError, pa.ArrowException) as error:
        msg = f"the {name} ({type(values).__name__}) cannot be read as an array: {str(error).splitlines()[0]}"
        hint = (
            "move a tensor of a GPU to the CPU first, and cast it to float32"
            if hasattr(values, "device")
            else None
        )
        raise WrongKind(msg, hint=hint) from None
    msg = (
        f"the {name} are of type `{type(values).__name__}`, expected an array, a tensor or a list of numbers"
    )
    raise WrongKind(msg)


def _check_values(score: Floats, grade: Floats, locate: Locate) -> None:
    """Raise `BadInput` for scores that are NaN, and grades that are not finite."""
    if not (np.isnan(score).any() or not np.isfinite(grade).all()):
        return
    problems = Problems(SUBJECT, locate)
    problems.add_rows(
        "score-nan", np.flatnonzero(np.isnan(score)), lambda _: "score is nan, expected a number"
    )
    bad = np.flatnonzero(~np.isfinite(grade))
    problems.add_rows("not-finite", bad, lambda row: f"grade is {grade[row]}, expected a finite number")
    problems.raise_if_any()


def _note_swapped(score: Floats, grade: Floats) -> tuple[Note, ...]:
    """Return the note that scores look like grades and grades like scores, as `(y_true, y_score)` would have it."""
    # a score with a fraction, which the first one of a model nearly always has, settles it
    if not len(score) or score[0] != np.floor(score[0]) or (grade[:SAMPLE] == np.floor(grade[:SAMPLE])).all():
        return ()
    if (grade == np.floor(grade)).all() or (score != np.floor(score)).any():
        return ()
    message = "all scores are whole numbers and grades are not: were they swapped? scores come before grades"
    return (Note("swapped", "warning", message),)


def _choose(groups: ArrayLike, named: ArrayLike) -> Any:
    """Return the group ids of matrices, however they were given."""
    if groups is not None and named is not None:
        msg = "`groups` and `group_ids` are both given, expected one of them"
        raise WrongKind(msg)
    return named if groups is None else groups


def _read_groups(
    groups: ArrayLike, group_ids: ArrayLike, group_sizes: ArrayLike, rows: int
) -> tuple[Array, Ints | None]:
    """Return group ids or sizes, whichever was given."""
    given = [
        name
        for name, value in (("groups", groups), ("group_ids", group_ids), ("group_sizes", group_sizes))
        if value is not None
    ]
    if len(given) != 1:
        got = " and ".join(f"`{name}`" for name in given) or "none of `groups`, `group_ids` and `group_sizes`"
        msg = f"{got} {'is' if not given else 'are'} given, expected one"
        raise WrongKind(msg, hint=f"for a single ranking, `group_sizes=[{rows}]`")
    nothing = np.zeros(0, dtype=np.int64)
    if group_sizes is not None:
        return nothing, _to_sizes(_to_numpy(group_sizes, "group sizes"), rows)
    if group_ids is not None:
        return _to_ids(group_ids, rows, "scores"), None
    array = _to_numpy(groups, "groups")
    fits_ids, fits_sizes = array.shape == (rows,), _are_sizes(array, rows)
    if fits_ids and fits_sizes and not _mean_the_same(array):
        message = f"{rows:,} values that could be ids of {rows:,} rows, and sizes that add up to {rows:,}"
        raise _refuse("ambiguous-groups", "groups", message, hint=AMBIGUOUS)
    if fits_ids:
        return _to_ids(array, rows, "scores"), None
    if fits_sizes:
        return nothing, array.astype(np.int64)
    total = f" that add up to {int(array.sum()):,}" if array.dtype.kind in "iu" else ""
    message = (
        f"{_describe_shape(array)} values{total}, expected {rows:,} ids, or sizes that add up to {rows:,}"
    )
    raise _refuse("groups", "groups", message)


def _mean_the_same(array: Array) -> bool:
    """Return whether values mean the same groups as ids and as sizes: a single row is its own group."""
    return len(array) == 1


def _are_sizes(array: Array, rows: int) -> bool:
    return (
        array.ndim == 1 and array.dtype.kind in "iu" and bool((array >= 0).all()) and int(array.sum()) == rows
    )


def _to_sizes(array: Array, rows: int) -> Ints:
    array = array.astype(np.int64) if array.shape == (0,) else array  # an empty list is of floats
    if _are_sizes(array, rows):
        return array.astype(np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise _refuse("group-sizes", "group sizes", f"expected whole numbers from 0, got `{array.dtype}`")
    if (array < 0).any():
        raise _refuse("group-sizes", "group sizes", f"expected whole numbers from 0, got {array.min()}")
    message = (
        f"{len(array):,} sizes that add up to {int(array.sum()):,}, expected {rows:,}, one for each score"
    )
    raise _refuse("group-sizes", "group sizes", message)


def _to_ids(ids: ArrayLike, rows: int, of: str) -> Array:
    """Return the id of every row, or of every group of a matrix."""
    array = _to_numpy(ids, "group ids")
    if array.shape != (rows,):
        message = f"{_describe_shape(array)} group ids, expected {rows:,}, one for each of the {of}"
        raise _refuse("lengths-differ", "group ids", message)
    if array.dtype.kind == "f":
        bad = np.flatnonzero(~np.isfinite(array) | (array != np.floor(array)))
        if len(bad):
            problems = Problems(SUBJECT)
            problems.add_rows(
                "group-id", bad, lambda row: f"group id is {array[row]}, expected a whole number or text"
            )
            problems.raise_if_any()
        return array.astype(np.int64)
    if array.dtype.kind == "O":
        missing = [row for row, value in enumerate(array.tolist()) if value is None or value != value]  # noqa: PLR0124 - NaN
        problems = Problems(SUBJECT)
        problems.add_rows("group-id", missing, lambda row: f"group id is {array[row]}, expected an id")
        problems.raise_if_any()
        return np.array([_to_text(value) for value in array.tolist()])
    return array


def _read_mask(mask: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    flags = _to_numpy(mask, "mask")
    if flags.shape != shape:
        message = f"a mask of {_describe_shape(flags)} values for {' × '.join(map(str, shape))} scores"
        raise _refuse("lengths-differ", "mask", message)
    if flags.dtype != bool and not np.isin(flags, (0, 1)).all():
        raise _refuse("mask", "mask", f"holds values of type `{flags.dtype}`, expected flags")
    return flags.astype(bool)


def _to_offset(sizes: Array) -> Ints:
    return np.concatenate(([0], np.cumsum(sizes, dtype=np.int64))).astype(np.int64)


def _to_names(ids: Array) -> pa.Array:
    """Return ids as an array of text."""
    if ids.dtype.kind in "iu":
        return pa.array(ids).cast(pa.large_string())
    return to_strings(map(_to_text, ids.tolist()))


def _to_text(value: object) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def _describe_shape(array: Array) -> str:
    return " × ".join(f"{size:,}" for size in array.shape) or "0-dimensional"


def _refuse(code: str, place: str, message: str, hint: str | None = None) -> BadInput:
    return BadInput(SUBJECT, [Problem.error(code, place, message)], hint=hint)
