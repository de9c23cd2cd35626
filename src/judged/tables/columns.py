"""Columns of any library or of Python objects, checked and converted to Arrow arrays of ids and numbers.

`pa.array` and `Array.to_numpy` import pandas wherever it is installed, which takes longer than scoring a small
run; `to_arrow` and `to_numpy` here share memory and import nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set as AbstractSet
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from judged.arrays import Ints
from judged.errors import BadInput
from judged.problem import Problem, Problems

Column: TypeAlias = Any
"""A list, or anything that Arrow can read as a column."""

FLOAT_HINT = "ids held as floats have lost digits; read that column as text, or cast it to whole numbers"
OTHER_ENCODING = "text in another encoding is converted by, for example, `iconv -f LATIN1 -t UTF-8 FILE`"
MOST_DIGITS = 18
"""Whole numbers of more digits are beyond every range, and Python refuses to parse very long ones."""
FEW = 10_000
"""Number of texts up to which they are converted one by one."""
_TYPES = {np.dtype(np.float64): pa.float64(), np.dtype(np.int64): pa.int64()}


def to_arrow(values: NDArray[Any]) -> pa.Array:
    """Return NumPy values as an Arrow array."""
    kind = _TYPES.get(values.dtype)
    if kind is None or values.ndim != 1:
        return pa.array(values)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(np.ascontiguousarray(values))])


def to_numpy(array: pa.Array) -> NDArray[Any]:
    """Return an array of numbers or flags without nulls as a NumPy array."""
    _, data = array.buffers()
    if data is None or len(array) == 0:
        return np.zeros(0, dtype=array.type.to_pandas_dtype())
    first, last = array.offset, array.offset + len(array)
    if pa.types.is_boolean(array.type):
        bits = np.frombuffer(data, dtype=np.uint8)
        return np.unpackbits(bits, count=last, bitorder="little")[first:].astype(bool)
    return np.frombuffer(data, dtype=array.type.to_pandas_dtype(), count=last)[first:]


def to_bytes(strings: pa.Array) -> tuple[NDArray[np.uint8], Ints]:
    """Return the bytes of an array of large strings, end to end, and the offsets that cut them."""
    _, offsets, data = strings.buffers()
    cuts = np.frombuffer(offsets, dtype=np.int64)[strings.offset : strings.offset + len(strings) + 1]
    if data is None or data.size == 0:
        return np.zeros(0, dtype=np.uint8), cuts
    return np.frombuffer(data, dtype=np.uint8), cuts


def to_strings(texts: Iterable[str]) -> pa.Array:
    """Return texts as an Arrow array of large strings."""
    encoded = [text.encode() for text in texts]
    cuts = np.concatenate(([0], np.cumsum([len(text) for text in encoded], dtype=np.int64))).astype(np.int64)
    buffers = [None, pa.py_buffer(cuts), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.large_string(), len(encoded), buffers)


def one_array(chunks: pa.ChunkedArray) -> pa.Array:
    """Return all chunks as one contiguous array, without copying a single one."""
    if chunks.num_chunks == 1:
        return chunks.chunk(0)
    whole = chunks.combine_chunks()
    return whole if isinstance(whole, pa.Array) else pa.concat_arrays(whole.chunks)


def call(function: str, *arguments: pa.Array | pa.Scalar) -> pa.Array:
    """Return what one of Arrow's functions makes of columns.

    Importing `pyarrow.compute` makes a wrapper for each of its functions, which takes longer than scoring a small
    run; so do methods such as `Array.take`, which import it.
    """
    try:
        from pyarrow._compute import call_function
    except ImportError:  # its place is not documented
        from pyarrow.compute import call_function
    return call_function(function, list(arguments))


def take(column: pa.Array, rows: Ints) -> pa.Array:
    """Return some rows of a column."""
    return call("take", column, to_arrow(rows))


def encode(column: pa.Array) -> Ints:
    """Return a number for each value, equal where the values are equal."""
    codes: Ints = to_numpy(column.dictionary_encode().indices).astype(np.int64)
    return codes


def as_ids(
    column: Column, *, name: str, problems: Problems, absent: str | None = None, nullable: bool = False
) -> tuple[pa.Array, bool]:
    """Return a column as large strings, and whether integers were converted to decimal text.

    Nulls become `absent`, stay if the column is `nullable`, and are problems otherwise.
    """
    if isinstance(column, (list, tuple)):
        values = column if absent is None else [absent if value is None else value for value in column]
        return _ids_from_objects(values, name=name, problems=problems, nullable=nullable)
    chunks = _decode(_read(column, name, problems.subject))
    kind = chunks.type
    integers = pa.types.is_integer(kind)
    if not (integers or _is_text(kind) or chunks.null_count == len(chunks)):
        hint = FLOAT_HINT if pa.types.is_floating(kind) else None
        raise _wrong_type(problems.subject, name, kind, "text or whole numbers", hint)
    array = one_array(_to_large_string(chunks, name, problems.subject))
    if not array.null_count or nullable:
        return array, integers
    if absent is not None:
        return array.fill_null(absent), integers
    missing = np.flatnonzero(call("is_null", array).to_numpy(zero_copy_only=False))
    problems.add_rows("missing-value", missing, lambda _: f"{name} is null, expected an id")
    # so that a missing id repeats no other, and is one problem rather than two
    unlike_any_other = pa.array([f"\0{row}" for row in missing], pa.large_string())
    return call("replace_with_mask", array, call("is_null", array), unlike_any_other), integers


def as_texts(column: Column, *, name: str, problems: Problems) -> pa.Array:
    """Return a column as large strings with nulls; a value that is neither text nor null is a problem."""
    if not isinstance(column, (list, tuple)):
        return as_ids(column, name=name, problems=problems, nullable=True)[0]
    texts: list[str | None] = []
    for row, value in enumerate(column):
        sound = value is None or (isinstance(value, str) and can_encode(value))
        if not sound:
            problems.add("not-text", row, f"{name} is {_describe(value)}, expected text")
        texts.append(value if sound else None)
    return pa.array(texts, type=pa.large_string())


def as_numbers(column: Column, *, name: str, problems: Problems) -> pa.Array:
    """Return a column as float64 without nulls; a value that is not a number becomes a problem and 0."""
    if isinstance(column, (list, tuple)):
        return _numbers_from_objects(column, name=name, problems=problems)
    chunks = _decode(_read(column, name, problems.subject))
    kind = chunks.type
    numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    if not (numeric or pa.types.is_boolean(kind) or chunks.null_count == len(chunks)):
        raise _wrong_type(problems.subject, name, kind, "numbers", None)
    array = one_array(chunks if kind == pa.float64() else chunks.cast(pa.float64(), safe=False))
    if not array.null_count:
        return array
    missing = np.flatnonzero(call("is_null", array).to_numpy(zero_copy_only=False))
    problems.add_rows("missing-value", missing, lambda _: f"{name} is null, expected a number")
    return array.fill_null(0.0)


def as_values(column: Column, *, name: str, problems: Problems) -> pa.Array:
    """Return a column as float64, NaN where a value is missing; text is parsed, infinity is a problem."""
    values = (
        column if isinstance(column, (list, tuple)) else _read(column, name, problems.subject).to_pylist()
    )
    numbers = np.full(len(values), np.nan)
    for row, value in enumerate(values):
        try:
            numbers[row] = np.nan if value is None or value == "" else float(value)
        except (TypeError, ValueError, OverflowError):
            numbers[row] = np.inf
        if np.isinf(numbers[row]):
            problems.add("not-a-number", row, f"{name} is `{value}`, expected a finite number")
    return to_arrow(numbers)


def as_whole_numbers(
    column: Column, *, name: str, problems: Problems, within: range, text: bool = False
) -> pa.Array:
    """Return a column as int64; a value that is not a whole number in the range becomes a problem and the lowest number.

    `text` parses digits, as cells of CSV hold them. Of an Arrow column, floats may be whole numbers too.
    """
    floats = not isinstance(column, (list, tuple))
    values = _read(column, name, problems.subject).to_pylist() if floats else column
    numbers = np.full(len(values), within[0], dtype=np.int64)
    for row, value in enumerate(values):
        number = _parse_whole(value, text=text, floats=floats)
        if number is not None and number in within:
            numbers[row] = number
            continue
        got = "missing" if value is None else shorten(repr(value if number is None else number), 60)
        expected = f"expected a whole number from {within[0]} to {within[-1]}"
        problems.add(f"{name}-out-of-range", row, f"{name} is {got}, {expected}")
    return to_arrow(numbers)


def holds_lists(column: Column) -> bool:
    """Return whether the values of a column are lists or objects, as far as its type or its first value shows it."""
    if isinstance(column, (pa.Array, pa.ChunkedArray)):
        return bool(pa.types.is_nested(column.type))
    return is_list(next((value for value in column if value is not None), None))


def is_list(value: object) -> bool:
    """Return whether a value holds several."""
    return isinstance(value, (list, tuple, AbstractSet, np.ndarray, Mapping))


def check_lengths(columns: dict[str, pa.Array], subject: str) -> None:
    """Raise `BadInput` unless all columns have the same length."""
    lengths = {column: len(values) for column, values in columns.items()}
    if len(set(lengths.values())) > 1:
        got = ", ".join(f"`{column}` has {length:,} rows" for column, length in lengths.items())
        problem = Problem.error("unequal-columns", "columns", f"{got}, expected the same number")
        raise BadInput(subject, [problem])


def add_repeats(
    query: pa.Array, document: pa.Array, problems: Problems, *, verb: str, intent: pa.Array | None = None
) -> None:
    """Add a problem for every row that repeats an earlier query and document (and intent)."""
    again, before = _find_repeats(query, document, intent)
    first = dict(zip(again.tolist(), before.tolist(), strict=True))
    problems.add_rows(
        "repeated-document",
        again,
        lambda row: (
            f"document `{document[row]}` is {verb} again for query `{query[row]}`"
            f"{'' if intent is None else f' and intent `{intent[row]}`'}, "
            f"first at {problems.place(first[row])}"
        ),
    )


def _find_repeats(query: pa.Array, document: pa.Array, intent: pa.Array | None) -> tuple[Ints, Ints]:
    """Return the rows that repeat an earlier one, ascending, and for each the earliest like it."""
    nothing = np.zeros(0, dtype=np.int64)
    if len(query) < 2:
        return nothing, nothing
    names = encode(document)
    key = encode(query) * (int(names.max()) + 1) + names
    if intent is not None:
        key = np.unique(key, return_inverse=True)[1].reshape(-1) * len(key) + encode(intent)
    if np.diff(np.sort(key)).all():  # the usual case, and much faster than finding the repeats
        return nothing, nothing
    _, first, member = np.unique(key, return_index=True, return_inverse=True)
    earliest = first[member.reshape(-1)]
    again = np.flatnonzero(earliest != np.arange(len(key)))
    return again, earliest[again]


def _ids_from_objects(
    values: Sequence[object], *, name: str, problems: Problems, nullable: bool = False
) -> tuple[pa.Array, bool]:
    """Return Python objects as large strings, and whether integers were converted."""
    # the usual case, in one call rather than a loop over the values
    kinds = set(map(type, values))
    if kinds <= ({str, type(None)} if nullable else {str}):
        try:
            # `pa.array` imports pandas, where that is installed, which takes longer than a million rows
            few = len(values) < FEW and kinds <= {str}
            return to_strings(values) if few else pa.array(values, type=pa.large_string()), False  # type: ignore[arg-type]
        except UnicodeEncodeError:
            pass  # a lone surrogate; the loop below names it
    texts: list[str | None] = []
    converted = False
    for row, value in enumerate(values):
        text = _to_id(value)
        if text is None and not (nullable and value is None):
            code = "missing-value" if value is None else "bad-id"
            expected = "text that UTF-8 can hold" if isinstance(value, str) else "text or a whole number"
            problems.add(code, row, f"{name} is {_describe(value)}, expected {expected}")
            problems.hint = OTHER_ENCODING if isinstance(value, str) else problems.hint
            text = None if nullable else f"\0{row}"  # unlike any other id, so that it repeats none
        converted |= text is not None and isinstance(value, (int, np.integer))
        texts.append(text)
    return pa.array(texts, type=pa.large_string()), converted


def _numbers_from_objects(values: Sequence[object], *, name: str, problems: Problems) -> pa.Array:
    if set(map(type, values)) <= {float, int, bool}:
        try:
            return to_arrow(np.array(values, dtype=np.float64))
        except OverflowError:
            pass  # an integer beyond any float; the loop below names it
    numbers = np.zeros(len(values))
    for row, value in enumerate(values):
        try:
            numbers[row] = _to_number(value)
        except (TypeError, ValueError, OverflowError):
            code = "missing-value" if value is None else "not-a-number"
            problems.add(code, row, f"{name} is {_describe(value)}, expected a number")
    return to_arrow(numbers)


def _to_id(value: object) -> str | None:
    """Return the text of an id: encodable text, or a whole number in decimal; None for anything else."""
    if isinstance(value, str):
        return str(value) if can_encode(value) else None
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return str(int(value))
    return None


def _to_number(value: Any) -> float:
    """Convert any number to a float, but no text: Python's, NumPy's, decimals, fractions."""
    if isinstance(value, (str, bytes)) or not hasattr(type(value), "__float__"):
        raise TypeError
    return float(value)


def _parse_whole(value: object, *, text: bool, floats: bool) -> int | None:
    if text and isinstance(value, str):
        bare = value.strip()
        digits = bare.lstrip("0") or bare[-1:]
        return int(digits) if bare.isascii() and bare.isdigit() and len(digits) <= MOST_DIGITS else None
    if floats and isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def can_encode(value: str) -> bool:
    """Return whether UTF-8 can hold a text: half of a surrogate pair it cannot."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def shorten(text: str, limit: int) -> str:
    """Return the text, cut with an ellipsis if it is longer than the limit."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _describe(value: object) -> str:
    """Return a value as messages show it: short, printable, with its type."""
    if value is None:
        return "missing"
    try:
        written = ascii(value) if isinstance(value, str) else repr(value)
    except Exception:  # noqa: BLE001 - a foreign object may fail to print itself
        written = "an object that cannot be printed"
    return f"{shorten(written, 40)} ({type(value).__name__})"


def _read(column: Column, name: str, subject: str) -> pa.ChunkedArray:
    """Return any column that Arrow can read as chunks."""
    if isinstance(column, pa.ChunkedArray):
        return column
    try:
        if isinstance(column, pa.Array):
            return pa.chunked_array([column])
        if hasattr(column, "__arrow_c_stream__"):
            return pa.chunked_array(column)
        return pa.chunked_array([to_arrow(column) if isinstance(column, np.ndarray) else pa.array(column)])
    except (pa.ArrowException, TypeError, ValueError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        problem = Problem.error("bad-column", f"the {name} column", f"cannot be read: {reason}")
        raise BadInput(subject, [problem]) from error


def _decode(chunks: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a dictionary column (categories, enumerations) as plain values; any other as it is."""
    if not pa.types.is_dictionary(chunks.type):
        return chunks
    plain = [_without_view(chunk.dictionary).take(chunk.indices) for chunk in chunks.chunks]
    return pa.chunked_array(plain or [_without_view(pa.array([], chunks.type.value_type))])


def _without_view(values: pa.Array) -> pa.Array:
    """Return text held as views as a plain array, which more of Arrow supports."""
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


def _to_large_string(chunks: pa.ChunkedArray, name: str, subject: str) -> pa.ChunkedArray:
    """Return text of any layout, or whole numbers, as large strings; bytes must be UTF-8."""
    try:
        if _is_view(chunks.type):
            return pa.chunked_array([_without_view(chunk) for chunk in chunks.chunks], type=pa.large_string())
        return chunks if chunks.type == pa.large_string() else chunks.cast(pa.large_string())
    except (pa.ArrowInvalid, UnicodeDecodeError) as error:
        problem = Problem.error("bad-column", f"the {name} column", "holds bytes that are not UTF-8 text")
        raise BadInput(subject, [problem]) from error


def _wrong_type(subject: str, name: str, kind: pa.DataType, expected: str, hint: str | None) -> BadInput:
    got = "text" if _is_text(kind) else kind
    problem = Problem.error("bad-column", f"the {name} column", f"holds {got}, expected {expected}")
    return BadInput(subject, [problem], hint=hint)
