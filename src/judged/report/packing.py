"""Data in the report's file: small, exact, and opened by the browser itself only when a page needs it."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from judged.arrays import Floats

Json: TypeAlias = Any
"""Plain data: dicts with text keys, lists, text, finite numbers, True, False and None."""


@dataclass(frozen=True, eq=False)
class Numbers:
    """Arrays of float64 that are packed bit for bit."""

    arrays: Sequence[Floats]


Block: TypeAlias = Json | Numbers
"""Unit that a page unpacks at once."""


def pack(block: Block) -> str:
    """Return a block as text for the page: compressed, in base64."""
    if isinstance(block, Numbers):
        return squeeze(_pack_numbers(block.arrays))
    return squeeze(json.dumps(block, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode())


def squeeze(data: bytes) -> str:
    """Return data compressed with gzip, in base64, which browsers undo without a library."""
    return base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()


def _pack_numbers(arrays: Sequence[Floats]) -> bytes:
    """Return a header that describes the arrays, then their bytes.

    An array with few different values is a table of these and the place of each element in it.
    """
    heads, parts = [], []
    for array in arrays:
        flat = np.ascontiguousarray(array, dtype="<f8").ravel()
        # by their bits, under which −0 and 0 differ and every NaN is equal to itself
        table, place = np.unique(flat.view("<u8"), return_inverse=True)
        kind = (
            "u1" if len(table) <= 1 << 8 else "u2" if len(table) <= min(1 << 16, len(flat) * 3 // 4) else "f8"
        )
        heads.append({"kind": kind, "count": len(flat), "table": 0 if kind == "f8" else len(table)})
        if kind == "f8":
            parts.append(_shuffle(flat))
        else:
            parts += [_shuffle(table), _shuffle(place.ravel().astype(f"<{kind}"))]
    head = json.dumps(heads, separators=(",", ":")).encode()
    return len(head).to_bytes(4, "little") + head + b"".join(parts)


def _shuffle(array: NDArray[Any]) -> bytes:
    """Return the first bytes of all numbers, then the second ones and so on, which compresses better."""
    return np.ascontiguousarray(array).view(np.uint8).reshape(len(array), array.itemsize).T.tobytes()


def to_plain(value: object) -> Json:
    """Return a value as JSON can hold it: None where a number is undefined or infinite.

    >>> to_plain({"a": (1, float("nan"))})
    {'a': [1, None]}
    """
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return to_plain(value.tolist())
    return value


def escape_script(text: str) -> str:
    r"""Return JSON that can neither end the `<script>` element that it is in, nor open a comment.

    >>> escape_script('"</script>"')
    '"\\u003c/script\\u003e"'
    """
    escapes: dict[str, str | int | None] = {
        "&": "\\u0026",
        "<": "\\u003c",
        ">": "\\u003e",
        "\u2028": "\\u2028",
        "\u2029": "\\u2029",
    }
    return text.translate(str.maketrans(escapes))
