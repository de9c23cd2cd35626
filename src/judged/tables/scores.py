"""Scores: one value for each query and measure, of one run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from judged._optional import need
from judged.errors import UnknownName
from judged.wording import counted


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of one run, query by query; `scores["AP"]` is an array in the order of `queries`.

    As a data frame it is long: columns `query`, `measure`, `value` (and `text`, for the few measures that
    are strings, and `left_out`, 1 for a value that does not count in its mean, if there are such). `to_arrow("wide")` has a column for each measure instead.
    """

    queries: pa.Array
    """Ids of the scored queries, in the order of their bytes."""
    values: Mapping[str, NDArray[Any]]
    """For each measure, as it is written, the value of every query."""
    run: str = "run"
    unit: str = "query"
    """The unit of a row, in one word: a query, a session, a task."""
    left_out: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    """For measures with values that do not count in their mean and in comparisons, which queries these are of."""

    def __getitem__(self, measure: object) -> NDArray[Any]:
        if str(measure) not in self.values:
            raise UnknownName("measure of these scores", str(measure), list(self.values))
        return self.values[str(measure)]

    def __repr__(self) -> str:
        return f"Scores({self.run!r}, {counted(len(self.queries), self.unit)}: {', '.join(self.values)})"

    def __len__(self) -> int:
        return len(self.queries) * len(self.values)

    def by_query(self, measure: object, *, averaged: bool = False) -> dict[str, Any]:
        """Return the values of one measure as a dict from query to value; `averaged`: NaN for those that its mean leaves out."""
        values = self.averaged(measure) if averaged else self[measure]
        return dict(zip(self.queries.to_pylist(), values.tolist(), strict=True))

    def averaged(self, measure: object) -> NDArray[Any]:
        """Return the values that the mean and comparisons are of; NaN for a query that they leave out."""
        values = self[measure]
        left_out = self.left_out.get(str(measure))
        return values if left_out is None else np.where(left_out, np.nan, values)

    def to_arrow(self, layout: Literal["long", "wide"] = "long") -> pa.Table:
        """Return the scores as an Arrow table: a row for each value, or a column for each measure."""
        if layout not in {"long", "wide"}:
            raise UnknownName("layout of scores", str(layout), ["long", "wide"])
        if layout == "wide":
            return pa.table({"query": self.queries} | {name: pa.array(v) for name, v in self.values.items()})
        numbers = {name: values for name, values in self.values.items() if values.dtype != object}
        strings = {name: values for name, values in self.values.items() if values.dtype == object}
        count, names = len(self.queries), [*numbers, *strings]
        table = {
            "query": pa.chunked_array([self.queries] * len(names), type=self.queries.type),
            "measure": pa.array(np.repeat(np.array(names, dtype=object), count), pa.string()),
            "value": pa.chunked_array(
                [pa.array(v, pa.float64()) for v in numbers.values()]
                + [pa.nulls(count, pa.float64()) for _ in strings],
                type=pa.float64(),
            ),
        }
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

    def to_polars(self, layout: Literal["long", "wide"] = "long") -> object:
        """Return the scores as a Polars data frame."""
        return need("polars", extra="polars", needed_by="`to_polars`").from_arrow(self.to_arrow(layout))

    def to_pandas(self, layout: Literal["long", "wide"] = "long") -> object:
        """Return the scores as a pandas data frame."""
        need("pandas", extra="pandas", needed_by="`to_pandas`")
        return self.to_arrow(layout).to_pandas()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)
