"""Columns of other libraries: any Arrow string, integer or dictionary column as one column of strings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from judged.errors import BadInput
from judged.problem import Problem, Problems
from judged.tables.arrays import arrow_of
from judged.tables.objects import numbers, texts

__all__ = ["as_ids", "as_numbers", "one_array"]

MISSING = "missing-value"
FLOAT_HINT = "ids held as floats have lost digits; read that column as text, or cast it to whole numbers"


def as_ids(column: Any, *, name: str, faults: Problems, absent: str | None = None) -> tuple[pa.Array, bool]:
    """`column` as one large-string array, and whether integers had to be written out as decimal text.

    Nulls are faults, unless `absent` says what stands for them.
    """
    if isinstance(column, (list, tuple)):
        return texts(_filled(column, absent), name=name, faults=faults)
    chunks = _decoded(_chunked(column, name, faults.subject))
    if absent is None:
        _refuse_nulls(chunks, name, "an id", faults)
    kind = chunks.type
    if not (pa.types.is_integer(kind) or _is_text(kind) or chunks.null_count == len(chunks)):
        hint = FLOAT_HINT if pa.types.is_floating(kind) else None
        raise _wrong_type(faults.subject, name, kind, "text or whole numbers", hint)
    array = one_array(_as_large_string(chunks, name, faults.subject))
    return array.fill_null(absent) if array.null_count else array, pa.types.is_integer(kind)


def as_numbers(column: Any, *, name: str, faults: Problems) -> pa.Array:
    """`column` as one array of float64 without nulls."""
    if isinstance(column, (list, tuple)):
        return numbers(column, name=name, faults=faults)
    chunks = _decoded(_chunked(column, name, faults.subject))
    _refuse_nulls(chunks, name, "a number", faults)
    kind = chunks.type
    numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    if not (numeric or pa.types.is_boolean(kind) or len(chunks) == 0):
        raise _wrong_type(faults.subject, name, kind, "numbers", None)
    return one_array(chunks.cast(pa.float64(), safe=False))


def one_array(chunks: pa.ChunkedArray) -> pa.Array:
    """All chunks as one contiguous array, without copying where there is only one."""
    if chunks.num_chunks == 1:
        return chunks.chunk(0)
    whole = chunks.combine_chunks()
    return whole if isinstance(whole, pa.Array) else pa.concat_arrays(whole.chunks)


def _filled(column: Sequence[Any], absent: str | None) -> Sequence[Any]:
    return column if absent is None else [absent if value is None else value for value in column]


def _chunked(column: Any, name: str, subject: str) -> pa.ChunkedArray:
    """Any column that Arrow can read, as chunks."""
    if isinstance(column, pa.ChunkedArray):
        return column
    try:
        if isinstance(column, pa.Array):
            return pa.chunked_array([column])
        if hasattr(column, "__arrow_c_stream__"):
            return pa.chunked_array(column)
        return pa.chunked_array([arrow_of(column) if isinstance(column, np.ndarray) else pa.array(column)])
    except (pa.ArrowException, TypeError, ValueError) as error:
        fault = Problem.error("bad-column", f"the {name} column", f"cannot be read: {_first_line(error)}")
        raise BadInput(subject, [fault]) from error


def _decoded(chunks: pa.ChunkedArray) -> pa.ChunkedArray:
    """A dictionary column (categories, enumerations) written out; any other as it is."""
    if not pa.types.is_dictionary(chunks.type):
        return chunks
    written = [_without_view(chunk.dictionary).take(chunk.indices) for chunk in chunks.chunks]
    return pa.chunked_array(written or [_without_view(pa.array([], chunks.type.value_type))])


def _without_view(values: pa.Array) -> pa.Array:
    """Text held as views as a plain array, which more of Arrow can work with."""
    if not _is_view(values.type):
        return values
    try:
        return values.cast(pa.large_string())
    except pa.ArrowNotImplementedError:  # older Arrow cannot cast a view
        return pa.array(values.to_pylist(), type=pa.large_string())


def _is_view(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string_view(kind) or pa.types.is_binary_view(kind))


def _is_text(kind: pa.DataType) -> bool:
    plain = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
    return _is_view(kind) or any(test(kind) for test in plain)


def _as_large_string(chunks: pa.ChunkedArray, name: str, subject: str) -> pa.ChunkedArray:
    """Text of any layout, or whole numbers, as large strings; bytes must be UTF-8."""
    try:
        if _is_view(chunks.type):
            return pa.chunked_array([_without_view(chunk) for chunk in chunks.chunks], type=pa.large_string())
        return chunks.cast(pa.large_string())
    except (pa.ArrowInvalid, UnicodeDecodeError) as error:
        fault = Problem.error("bad-column", f"the {name} column", "holds bytes that are not UTF-8 text")
        raise BadInput(subject, [fault]) from error


def _refuse_nulls(chunks: pa.ChunkedArray, name: str, expected: str, faults: Problems) -> None:
    if chunks.null_count:
        rows = np.flatnonzero(pc.is_null(chunks).to_numpy())
        faults.add_rows(MISSING, rows, lambda _: f"{name} is null, expected {expected}")
        faults.raise_if_any()


def _wrong_type(subject: str, name: str, kind: Any, expected: str, hint: str | None) -> BadInput:
    told = "text" if _is_text(kind) else kind
    fault = Problem.error("bad-column", f"the {name} column", f"holds {told}, expected {expected}")
    return BadInput(subject, [fault], hint=hint)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
