"""Columns of ids: any Arrow string, integer or dictionary column as one column of strings."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from judged.errors import BadInput, Fault

__all__ = ["as_ids", "as_numbers"]


def as_ids(column: Any, *, name: str, subject: str) -> tuple[pa.Array, bool]:
    """`column` as one large-string array, and whether integers had to be written out as decimal text."""
    array = _one_array(column)
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if array.null_count:
        row = pc.index(pc.is_null(array), True).as_py()
        fault = Fault("missing ids", f"row {row + 1}", f"`{name}` is null, expected an id")
        raise BadInput(subject, [fault])
    if pa.types.is_integer(array.type):
        return array.cast(pa.large_string()), True
    if pa.types.is_large_string(array.type):
        return array, False
    if pa.types.is_string(array.type) or pa.types.is_string_view(array.type):
        return array.cast(pa.large_string()), False
    if pa.types.is_null(array.type) and len(array) == 0:
        return array.cast(pa.large_string()), False
    fault = Fault("columns", f"column `{name}`", f"holds {array.type}, expected strings or integers")
    raise BadInput(subject, [fault])


def as_numbers(column: Any, *, name: str, subject: str) -> pa.Array:
    """`column` as one array of float64 without nulls."""
    array = _one_array(column)
    if array.null_count:
        row = pc.index(pc.is_null(array), True).as_py()
        fault = Fault("missing numbers", f"row {row + 1}", f"`{name}` is null, expected a number")
        raise BadInput(subject, [fault])
    numeric = pa.types.is_integer(array.type) or pa.types.is_floating(array.type)
    if not (numeric or pa.types.is_boolean(array.type) or pa.types.is_decimal(array.type) or len(array) == 0):
        fault = Fault("columns", f"column `{name}`", f"holds {array.type}, expected numbers")
        raise BadInput(subject, [fault])
    return array.cast(pa.float64(), safe=False)


def _one_array(column: Any) -> pa.Array:
    if isinstance(column, pa.ChunkedArray):
        return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    return column if isinstance(column, pa.Array) else pa.array(column)
