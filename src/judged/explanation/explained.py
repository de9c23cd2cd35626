"""What every explanation is: a headline, tables, sentences; as text, as plain data, as frames."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Protocol

from judged._optional import need
from judged.blocks import Table
from judged.report.text import to_text

__all__ = ["Explained", "as_text", "plain", "records", "to_arrow", "to_pandas", "to_polars"]


class Explained(Protocol):
    """An explanation, of whatever it may be."""

    def headline(self, *, digits: int = 4) -> str:
        """What is explained, and its number."""
        ...

    @property
    def tables(self) -> Mapping[str, Table]:
        """Every table by name, in full; the first is the main one."""
        ...

    def shown(self, *, digits: int = 4) -> list[Table]:
        """The tables as people read them: the rows that matter."""
        ...

    def sentences(self, *, digits: int = 4) -> list[str]:
        """What is to be said below the tables, the result last."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data, as it is written in JSON."""
        ...


def as_text(explained: Explained, *, digits: int = 4, bold: bool = False) -> str:
    """The explanation as people read it on a terminal."""
    parts = [to_text(table, digits=digits, bold=bold) for table in explained.shown(digits=digits)]
    told = "".join(f"{sentence}\n" for sentence in explained.sentences(digits=digits))
    return "\n".join(part for part in (f"{explained.headline(digits=digits)}\n", *parts, told) if part)


def plain(table: Table) -> list[dict[str, Any]]:
    """The rows of a table, each as a dict from column to value."""
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def records(table: Table) -> list[dict[str, Any]]:
    """The same for JSON, which has no infinity: that is written as text."""
    return [{name: _finite(value) for name, value in row.items()} for row in plain(table)]


def _finite(value: Any) -> Any:
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def to_arrow(table: Table) -> Any:
    """The table as an Arrow table."""
    import pyarrow as pa

    columns = zip(*table.rows, strict=True) if table.rows else [()] * len(table.columns)
    return pa.table({name: _column(list(each)) for name, each in zip(table.columns, columns, strict=True)})


def to_polars(table: Table) -> Any:
    """The table as a Polars data frame."""
    return need("polars", extra="polars", needed_by="`to_polars`").from_arrow(to_arrow(table))


def to_pandas(table: Table) -> Any:
    """The table as a pandas data frame."""
    need("pandas", extra="pandas", needed_by="`to_pandas`")
    return to_arrow(table).to_pandas()


def _column(values: list[Any]) -> Any:
    """The values of a column in one type: whole numbers beside others become floats."""
    import pyarrow as pa

    if any(isinstance(value, float) for value in values):
        return pa.array([float(value) if isinstance(value, int) else value for value in values])
    return pa.array(values)
