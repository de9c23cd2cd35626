"""Scores: one value for each query and measure, of one run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from judged._optional import need
from judged.arrays import Ints
from judged.errors import UnknownName
from judged.problem import Note
from judged.wording import counted

Layout: TypeAlias = Literal["long", "wide", "attempts"]
"""The rows of scores as a table: values, queries, or attempts."""


@dataclass(frozen=True, slots=True)
class ScoreKind:
    """Facts about a measure of another tool: what its file, its tool or the user says about it."""

    higher_is_better: bool | None = None
    """None: not known, so that differences have no winner."""
    bounds: tuple[float, float] = (-inf, inf)
    """The lowest and highest value that a query can have; infinite where that is not known."""
    binary: bool = False
    """Whether every single value is 0 or 1, or true or false."""


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of one run, query by query; `scores["AP"]` is an array in the order of `queries`.

    As a data frame it is long: columns `query`, `measure`, `value` (and `text`, for the few measures that
    are strings, `left_out`, 1 for a value that does not count in its mean, and `written`, the name that the user wrote
    where another is the measure's own, if there are such). `to_arrow("wide")` has a column for each measure instead,
    and `to_arrow("attempts")` a row for each attempt: `query`, `measure`, `attempt`, `value`. Clusters are a column `cluster`.
    """

    queries: pa.Array
    """Ids of the scored queries, in the order of their bytes."""
    values: Mapping[str, NDArray[Any]]
    """For each measure, by its canonical name, the value of every query."""
    run: str = "run"
    unit: str = "query"
    """The unit of a row, in one word: a query, a session, a task."""
    left_out: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    """For measures with values that do not count in their mean and in comparisons, which queries these are of."""
    written: Mapping[str, str] = field(default_factory=dict)
    """The name to show of each measure, by its canonical name; that name itself where there is none."""
    repeats: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    """For each measure with repeated values, those of every query: a row for each query, a column for each attempt, NaN
    where there is none. The value of a query is then the mean of its attempts. Empty if nothing is repeated."""
    clusters: pa.Array | None = None
    """The cluster of every query, such as the document it was written from; None if queries are independent."""
    kinds: Mapping[str, ScoreKind] = field(default_factory=dict)
    """For each measure of another tool, what is known about it."""
    texts: pa.Array | None = field(default=None, metadata={"saved": False})
    """The text of every query, where a file of another tool has them; null where it is not known."""
    attributes: Mapping[str, pa.Array] = field(default_factory=dict, metadata={"saved": False})
    """Columns of a file of another tool that are not measures, as text: any of them may name clusters."""
    numbered: bool = field(default=False, metadata={"saved": False})
    """Whether the ids of queries are only the numbers of their rows."""
    notes: tuple[Note, ...] = field(default=(), metadata={"saved": False})
    """Notes on how a file of another tool was read."""

    family: ClassVar[str] = "score"
    """The measures that score this table: those that it has."""

    def __post_init__(self) -> None:
        count = len(self.queries)
        for name, repeated in self.repeats.items():
            if repeated.ndim != 2 or len(repeated) != count or name not in self.values:
                msg = f"{name}: repeated values have the shape {repeated.shape}, expected a row for each of {count} queries"
                raise ValueError(msg)
            _check_means(name, self.averaged(name), repeated)
        if self.clusters is not None and len(self.clusters) != count:
            msg = f"{len(self.clusters)} clusters of {count} queries, expected one for each query"
            raise ValueError(msg)

    def __getitem__(self, measure: object) -> NDArray[Any]:
        return self.values[self._find(measure)]

    def _find(self, measure: object) -> str:
        """Return the canonical name of a measure that is named as it is shown, or by that name."""
        text = str(measure)
        shown = {label: name for name, label in self.written.items() if name in self.values}
        if text not in self.values and text not in shown:
            raise UnknownName("measure of these scores", text, list(self._labels()))
        # a measure as a value is called by its own name
        return shown.get(text, text) if isinstance(measure, str) else text

    def _labels(self) -> list[str]:
        return [self.written.get(name, name) for name in self.values]

    def __repr__(self) -> str:
        return f"Scores({self.run!r}, {counted(len(self.queries), self.unit)}: {', '.join(self._labels())})"

    def __len__(self) -> int:
        return len(self.queries) * len(self.values)

    def by_query(self, measure: object, *, averaged: bool = False) -> dict[str, Any]:
        """Return the values of one measure as a dict from query to value; `averaged`: NaN for those that its mean leaves out."""
        values = self.averaged(measure) if averaged else self[measure]
        return dict(zip(self.queries.to_pylist(), values.tolist(), strict=True))

    def averaged(self, measure: object) -> NDArray[Any]:
        """Return the values that the mean and comparisons are of; NaN for a query that they leave out."""
        values = self[measure]
        left_out = self.left_out.get(self._find(measure))
        return values if left_out is None else np.where(left_out, np.nan, values)

    def to_arrow(self, layout: Layout = "long") -> pa.Table:
        """Return the scores as an Arrow table: a row for each value, a column for each measure, or a row for each attempt."""
        if layout not in get_args(Layout):
            raise UnknownName("layout of scores", str(layout), list(get_args(Layout)))
        if layout == "attempts":
            return pa.concat_tables([_list_attempts(self, name) for name in self.values])
        clusters = {} if self.clusters is None else {"cluster": self.clusters}
        if layout == "wide":
            columns = dict(zip(self._labels(), map(pa.array, self.values.values()), strict=True))
            return pa.table({"query": self.queries} | columns | clusters)
        numbers = {name: values for name, values in self.values.items() if values.dtype != object}
        strings = {name: values for name, values in self.values.items() if values.dtype == object}
        count, names = len(self.queries), [*numbers, *strings]
        table = {
            "query": pa.chunked_array([self.queries] * len(names), type=self.queries.type),
            "measure": pa.array(np.repeat(np.array(names, dtype=object), count), pa.string()),
            **self._written_column(names, count),
            "value": pa.chunked_array(
                [pa.array(v, pa.float64()) for v in numbers.values()]
                + [pa.nulls(count, pa.float64()) for _ in strings],
                type=pa.float64(),
            ),
        }
        if self.clusters is not None:
            table["cluster"] = pa.chunked_array([self.clusters] * len(names), type=self.clusters.type)
        if self.left_out:
            none = np.zeros(count, dtype=bool)
            table["left_out"] = pa.array(
                np.concatenate([self.left_out.get(name, none) for name in names]).astype(np.int8)
            )
        if strings:
            text = [pa.nulls(count, pa.string()) for _ in numbers]
            text += [pa.array(v, pa.string()) for v in strings.values()]
            table["text"] = pa.chunked_array(text, type=pa.string())
        return pa.table(table)

    def take(self, rows: Ints) -> Scores:
        """Return the scores of some rows, in their order."""
        index = pa.array(rows)
        flags = {name: flags[rows] for name, flags in self.left_out.items()}
        return replace(
            self,
            queries=self.queries.take(index),
            values={name: column[rows] for name, column in self.values.items()},
            left_out={name: column for name, column in flags.items() if column.any()},
            repeats={name: grid[rows] for name, grid in self.repeats.items()},
            clusters=None if self.clusters is None else self.clusters.take(index),
            texts=None if self.texts is None else self.texts.take(index),
            attributes={name: column.take(index) for name, column in self.attributes.items()},
        )

    def _written_column(self, names: Sequence[str], count: int) -> dict[str, pa.Array]:
        """Return the column of names as the user wrote them; empty if these are the canonical ones."""
        labels = [self.written.get(name, name) for name in names]
        if labels == list(names):
            return {}
        return {"written": pa.array(np.repeat(np.array(labels, dtype=object), count), pa.string())}

    def to_polars(self, layout: Layout = "long") -> object:
        """Return the scores as a Polars data frame."""
        return need("polars", extra="polars", needed_by="`to_polars`").from_arrow(self.to_arrow(layout))

    def to_pandas(self, layout: Layout = "long") -> object:
        """Return the scores as a pandas data frame."""
        need("pandas", extra="pandas", needed_by="`to_pandas`")
        return self.to_arrow(layout).to_pandas()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)


def _list_attempts(scores: Scores, measure: str) -> pa.Table:
    """Return a row for each attempt at each query, numbered from 1; a value that is not repeated is the only one."""
    values = scores[measure]
    single = np.reshape(values, (-1, 1)) if values.dtype != object else np.zeros((len(values), 0))
    repeated = scores.repeats.get(measure, single)
    row, column = np.nonzero(~np.isnan(repeated))
    number = (~np.isnan(repeated)).cumsum(axis=1)[row, column]
    return pa.table(
        {
            "query": scores.queries.take(pa.array(row)),
            "measure": pa.array([measure] * len(row), pa.string()),
            "attempt": pa.array(number, pa.int64()),
            "value": pa.array(repeated[row, column], pa.float64()),
        }
    )


def _check_means(measure: str, values: NDArray[Any], repeated: NDArray[np.float64]) -> None:
    """Raise ValueError unless every value that counts is the mean of its attempts."""
    there = ~np.isnan(repeated)
    many = there.sum(axis=1)
    means = np.where(there, repeated, 0.0).sum(axis=1) / np.maximum(many, 1)
    wrong = ~np.isnan(values) & ((many == 0) | ~np.isclose(means, values, rtol=1e-9, atol=1e-12))
    if wrong.any():
        at = int(wrong.argmax())
        msg = f"{measure}: the value {values[at]} of row {at} is not the mean of its {many[at]} attempts, {means[at]}"
        raise ValueError(msg)
