"""TREC text as most tools write it, one delimiter between columns and nothing else, read at speed by Arrow.

Whatever is not quite so, or turns out to be wrong, is left to `lines`, which reads any TREC text and can say
what is wrong on which line.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from judged.io.lines import Table
from judged.tables.arrays import numpy_of
from judged.tables.strings import one_array

__all__ = ["read_regular"]

BLOCK = 1 << 24


def read_regular(data: Any, *, columns: int, wanted: Sequence[int]) -> Table | None:
    """Query, document and number of every line, if every line has just so many columns; else None."""
    delimiter = _delimiter(bytes(data))
    if delimiter is None:
        return None
    try:
        table = _read(data, delimiter, columns, wanted[2])
    except pa.ArrowInvalid:
        return None
    if not all(_has_content(column) for column in table.columns if pa.types.is_large_string(column.type)):
        return None
    query, document, number = (one_array(table[f"{place}"]) for place in wanted)
    if pc.any(pc.starts_with(query, "#")).as_py():
        return None  # a comment
    return query, document, numpy_of(number)


def _delimiter(text: bytes) -> str | None:
    """The one kind of white space that stands between columns; None if there are several."""
    if (
        not text
        or b"\v" in text
        or b"\f" in text
        or (b"\r" in text and text.count(b"\r") != text.count(b"\r\n"))
    ):
        return None
    spaces, tabs = b" " in text, b"\t" in text
    if spaces == tabs:
        return None
    return " " if spaces else "\t"


def _read(data: Any, delimiter: str, columns: int, number: int) -> pa.Table:
    """All columns as text, but the number as such; every other number of columns raises."""
    from pyarrow import csv

    names = [f"{place}" for place in range(columns)]
    types = {name: pa.large_string() for name in names} | {f"{number}": pa.float64()}
    return csv.read_csv(
        pa.BufferReader(data),
        read_options=csv.ReadOptions(column_names=names, use_threads=False, block_size=BLOCK),
        parse_options=csv.ParseOptions(delimiter=delimiter, quote_char=False),
        convert_options=csv.ConvertOptions(column_types=types, null_values=[]),
    )


def _has_content(column: pa.ChunkedArray) -> bool:
    """Whether no value is empty, as one would be beside a doubled delimiter."""
    return len(column) == 0 or pc.min(pc.binary_length(column)).as_py() > 0
