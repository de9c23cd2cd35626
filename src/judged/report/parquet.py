"""Tables as Parquet, every number in full."""

from __future__ import annotations

from collections.abc import Mapping

from judged.report.layout import Table

__all__ = ["to_parquet"]


def to_parquet(table: Table, *, about: Mapping[str, str] | None = None) -> bytes:
    """The bytes of a Parquet file; `about` is kept as the file's own key-value metadata."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {name: pa.array(_values(table, at)) for at, name in enumerate(table.columns)}
    arrow = pa.table(columns).replace_schema_metadata(dict(about or {}))
    sink = pa.BufferOutputStream()
    pq.write_table(arrow, sink)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _values(table: Table, column: int) -> list[object]:
    """The values of a column in one type: whole numbers beside others become floats."""
    values = [row[column] for row in table.rows]
    if any(isinstance(value, float) for value in values):
        return [float(value) if isinstance(value, int) else value for value in values]
    return list(values)
