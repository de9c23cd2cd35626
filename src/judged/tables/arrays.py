"""Arrow arrays and NumPy arrays, each as the other, sharing memory.

`pa.array` and `Array.to_numpy` do the same after importing pandas wherever it is installed, which costs a fifth of
a second: more than scoring a small run does.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

__all__ = ["arrow_of", "bytes_of", "numpy_of", "strings_of"]

_KINDS = {np.dtype(np.float64): pa.float64(), np.dtype(np.int64): pa.int64()}


def arrow_of(values: NDArray[Any]) -> pa.Array:
    """The values as an Arrow array."""
    kind = _KINDS.get(values.dtype)
    if kind is None or values.ndim != 1:
        return pa.array(values)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(np.ascontiguousarray(values))])


def numpy_of(array: pa.Array) -> NDArray[Any]:
    """The values of an array of numbers or flags without nulls as a NumPy array."""
    _, data = array.buffers()
    if data is None or len(array) == 0:
        return np.zeros(0, dtype=array.type.to_pandas_dtype())
    first, last = array.offset, array.offset + len(array)
    if pa.types.is_boolean(array.type):
        bits = np.frombuffer(data, dtype=np.uint8)
        return np.unpackbits(bits, count=last, bitorder="little")[first:].astype(bool)
    return np.frombuffer(data, dtype=array.type.to_pandas_dtype(), count=last)[first:]


def bytes_of(strings: pa.Array) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The bytes of an array of large strings, end to end, and the offsets that cut them."""
    _, offsets, data = strings.buffers()
    cuts = np.frombuffer(offsets, dtype=np.int64)[strings.offset : strings.offset + len(strings) + 1]
    if data is None or data.size == 0:
        return np.zeros(0, dtype=np.uint8), cuts
    return np.frombuffer(data, dtype=np.uint8), cuts


def strings_of(texts: Iterable[str]) -> pa.Array:
    """The texts as an Arrow array of large strings."""
    encoded = [text.encode() for text in texts]
    cuts = np.concatenate(([0], np.cumsum([len(each) for each in encoded], dtype=np.int64))).astype(np.int64)
    parts = [None, pa.py_buffer(cuts), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.large_string(), len(encoded), parts)
