"""Columns of logs as numbers: flags in any spelling, ranks, times; what cannot be read is a problem of its row."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from judged.arrays import Floats, Ints
from judged.problem import Problems
from judged.tables.columns import as_ids, one_array, shorten, to_numpy

if TYPE_CHECKING:
    from judged.clicks.tables import Log

MILLISECONDS_FROM = 1e11
"""Times from here on are milliseconds since 1970: as seconds they would lie beyond the year 5138."""
WORDS = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0}
"""What a click may be called."""


def encode_names(column: Any, name: str, problems: Problems, *, required: bool) -> tuple[Ints, pa.Array]:
    """Return the number of each name in the order in which they first occur, −1 for none, and the names."""
    if not isinstance(column, (list, tuple)):
        column = _to_arrow(column)
        if pa.types.is_floating(column.type) or pa.types.is_boolean(column.type):
            column = _float_ids(column)
    array = as_ids(column, name=name, problems=problems, nullable=not required)[0]
    encoded = array.dictionary_encode()
    codes = encoded.indices.fill_null(-1)
    names = encoded.dictionary
    numbers: Ints = to_numpy(codes).astype(np.int64)
    if not required:  # an empty cell names nothing
        empty = (
            [at for at, text in enumerate(names.to_pylist()) if text == ""]
            if len(names) < 2
            else _find_empty(names)
        )
        for at in empty:
            numbers[numbers == at] = -1
    return numbers, names


def _find_empty(names: pa.Array) -> list[int]:
    import pyarrow.compute as pc

    at = pc.index(names, pa.scalar("", names.type)).as_py()
    return [] if at < 0 else [at]


def _float_ids(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return whole numbers that a frame holds as floats, because some are missing, as integers."""
    if pa.types.is_floating(column.type):
        values = one_array(column)
        known = np.asarray(values.drop_null().to_numpy(zero_copy_only=False))
        if np.all(known == np.floor(known)) and np.all(np.abs(known) < 2**53):
            return pa.chunked_array([values.cast(pa.int64(), safe=False)])
    return column


def _to_arrow(column: Any) -> pa.ChunkedArray:
    if isinstance(column, pa.ChunkedArray):
        chunks = column
    else:
        chunks = pa.chunked_array([column if isinstance(column, pa.Array) else pa.array(column)])
    if pa.types.is_dictionary(chunks.type):
        chunks = chunks.cast(chunks.type.value_type)
    return chunks


def parse_counts(column: Any, name: str, problems: Problems) -> Floats:
    """Return how often each row was clicked; yes and no are 1 and 0."""
    values = _parse(column, name, problems, words=WORDS, expected="expected 0 or 1")
    wrong = np.flatnonzero(np.isnan(values) | (values < 0) | (values != np.floor(values)))
    fresh = np.array([row for row in wrong.tolist() if row not in problems.rows], dtype=np.int64)
    problems.add_rows("bad-click", fresh, lambda row: f"{name} is {_say(values[row])}, expected 0 or 1")
    return values


def parse_ranks(column: Any, problems: Problems) -> Ints:
    """Return the ranks; each must be a whole number from 0."""
    values = _parse(column, "rank", problems, expected="expected a whole number from 1")
    wrong = np.flatnonzero(np.isnan(values) | (values < 0) | (values != np.floor(values)))
    fresh = np.array([row for row in wrong.tolist() if row not in problems.rows], dtype=np.int64)
    problems.add_rows(
        "bad-rank", fresh, lambda row: f"rank is {_say(values[row])}, expected a whole number from 1"
    )
    return np.where(np.isfinite(values), values, 0).astype(np.int64)


def parse_numbers(column: Any, name: str, problems: Problems) -> Floats:
    """Return numbers, NaN where there is none."""
    return _parse(column, name, problems, words=WORDS, expected="expected a number")


def parse_times(column: Any, name: str, log: Log) -> Floats:
    """Return times in seconds: numbers, ISO 8601 text or timestamps; NaN where there is none."""
    if not isinstance(column, (list, tuple, np.ndarray)):
        chunks = one_array(_to_arrow(column))
        if pa.types.is_timestamp(chunks.type) or pa.types.is_date(chunks.type):
            return _from_timestamps(chunks)
        if not pa.types.is_string(chunks.type) and not pa.types.is_large_string(chunks.type):
            return _scale(_parse(column, name, log.problems, expected="expected a time"), name, log)
        quick = _parse_iso(chunks)
        if quick is not None:
            return quick
        column = chunks.to_pylist()
    return _scale(_parse_texts(list(column), name, log), name, log)


def _parse_texts(values: Sequence[object], name: str, log: Log) -> Floats:
    out = np.full(len(values), np.nan)
    naive = 0
    for row, value in enumerate(values):
        if value is None or value == "" or value != value:  # noqa: PLR0124 - NaN
            continue
        if isinstance(value, datetime):
            out[row] = (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
            continue
        try:
            out[row] = float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            try:
                moment = datetime.fromisoformat(str(value).strip())
            except ValueError:
                shown = shorten(repr(value), 60)
                log.problems.add(
                    "bad-time", row, f"{name} is {shown}, expected seconds or a date as in ISO 8601"
                )
                continue
            naive += moment.tzinfo is None
            out[row] = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    if naive:
        log.note("no-time-zone", f"{name} has no time zone: taken as UTC")
    return out


def _parse_iso(texts: pa.Array) -> Floats | None:
    """Return the seconds of texts that all are ISO 8601 with one kind of zone; None if they are not."""
    for kind in (pa.timestamp("us", "UTC"), pa.timestamp("us")):
        try:
            return _from_timestamps(texts.cast(kind))
        except pa.ArrowInvalid:
            continue
    return None


def _from_timestamps(column: pa.Array) -> Floats:
    whole = column.cast(pa.timestamp("us")) if not pa.types.is_timestamp(column.type) else column
    unit = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[whole.type.unit]
    plain = whole.cast(pa.int64())
    missing = plain.is_null().to_numpy(zero_copy_only=False)
    values = to_numpy(plain.fill_null(0)) / unit
    return np.where(missing, np.nan, values)


def _scale(values: Floats, name: str, log: Log) -> Floats:
    if np.nanmax(np.abs(values), initial=0.0) < MILLISECONDS_FROM:
        return values
    log.note("milliseconds", f"{name} is in milliseconds since 1970")
    return values / 1000


def _parse(
    column: Any, name: str, problems: Problems, *, words: dict[str, float] | None = None, expected: str
) -> Floats:
    """Return a column of numbers, or of their texts; NaN where there is none."""
    if isinstance(column, np.ndarray) and column.dtype != object:
        return column.astype(np.float64)
    chunks = (
        pa.chunked_array([_from_objects(column)]) if isinstance(column, list | tuple) else _to_arrow(column)
    )
    array = one_array(chunks)
    if pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
        return _parse_distinct(array, name, problems, words or {}, expected)
    missing = array.is_null().to_numpy(zero_copy_only=False)
    numbers = (
        array.cast(pa.float64(), safe=False)
        if not pa.types.is_boolean(array.type)
        else array.cast(pa.int8()).cast(pa.float64())
    )
    return np.where(missing, np.nan, to_numpy(numbers.fill_null(0.0)))


def _from_objects(values: Sequence[object]) -> pa.Array:
    try:
        return pa.array(values)
    except (pa.ArrowException, TypeError, ValueError):
        # half a surrogate pair, which UTF-8 cannot hold, is shown as a question mark in the message
        texts = (None if value is None else str(value).encode(errors="replace").decode() for value in values)
        return pa.array(list(texts), pa.large_string())


def _parse_distinct(
    texts: pa.Array, name: str, problems: Problems, words: dict[str, float], expected: str
) -> Floats:
    """Return the numbers of texts, each of which is parsed once."""
    encoded = texts.dictionary_encode()
    table = np.full(len(encoded.dictionary) + 1, np.nan)
    wrong = set()
    for at, text in enumerate(encoded.dictionary.to_pylist()):
        bare = text.strip()
        if not bare:
            continue
        try:
            table[at] = words[bare.lower()] if bare.lower() in words else float(bare)
        except ValueError:
            wrong.add(at)
        if not isfinite(table[at]):
            wrong.add(at)
    codes = to_numpy(encoded.indices.fill_null(len(table) - 1))
    if wrong:
        rows = np.flatnonzero(np.isin(codes, list(wrong)))
        problems.add_rows(
            "not-a-number", rows, lambda row: f"{name} is `{shorten(str(texts[row]), 60)}`, {expected}"
        )
    values: Floats = table[codes]
    return values


def _say(value: float) -> str:
    return "missing" if np.isnan(value) else f"{value:g}"
