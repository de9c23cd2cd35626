"""Columns of Python objects: ids and numbers as people hold them, as Arrow arrays or as faults."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from judged.problem import Problems
from judged.tables.arrays import arrow_of

__all__ = ["id_text", "is_number", "numbers", "texts"]

BAD_IDS = "bad-id"
BAD_NUMBERS = "not-a-number"


def texts(values: Sequence[Any], *, name: str, faults: Problems) -> tuple[pa.Array, bool]:
    """Ids as large strings, and whether integers were written out; what is no id becomes a fault."""
    if set(map(type, values)) <= {str}:
        try:
            return pa.array(values, type=pa.large_string()), False
        except UnicodeEncodeError:
            pass  # a lone surrogate; the loop below names it
    told, numbered = [], False
    for row, value in enumerate(values):
        text = id_text(value)
        if text is None:
            faults.add(BAD_IDS, row, f"{name} is {_shown(value)}, expected {_expected(value)}")
        numbered |= text is not None and not isinstance(value, str)
        told.append(f"\0{row}" if text is None else text)  # unlike any other, so that it repeats none
    return pa.array(told, type=pa.large_string()), numbered


def numbers(values: Sequence[Any], *, name: str, faults: Problems) -> pa.Array:
    """Numbers as float64; what is no number becomes a fault."""
    if set(map(type, values)) <= {float, int, bool}:
        try:
            return arrow_of(np.array(values, dtype=np.float64))
        except OverflowError:
            pass  # a whole number beyond any float; the loop below names it
    told = np.zeros(len(values))
    for row, value in enumerate(values):
        try:
            told[row] = _number(value)
        except (TypeError, ValueError, OverflowError):
            faults.add(BAD_NUMBERS, row, f"{name} is {_shown(value)}, expected a number")
    return arrow_of(told)


def id_text(value: Any) -> str | None:
    """The text of an id: a string that can be encoded, or a whole number in decimal; else None."""
    if isinstance(value, str):
        return str(value) if _encodable(value) else None
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return str(int(value))
    return None


def is_number(value: Any) -> bool:
    """Whether a value can stand as a score or a grade."""
    try:
        _number(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _number(value: Any) -> float:
    """Whatever turns into a float without being text: Python's, NumPy's, decimals, fractions."""
    if isinstance(value, (str, bytes)) or not hasattr(type(value), "__float__"):
        raise TypeError
    return float(value)


def _encodable(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _expected(value: Any) -> str:
    return "text that UTF-8 can hold" if isinstance(value, str) else "text or a whole number"


def _shown(value: Any) -> str:
    """A value as it appears in a message: short, printable, with its type where that is the point."""
    if value is None:
        return "missing"
    try:
        written = ascii(value) if isinstance(value, str) else repr(value)
    except Exception:  # noqa: BLE001 - an object of a stranger may fail to print itself
        written = "an object that cannot be printed"
    if len(written) > 40:
        written = written[:39] + "…"
    return f"{written} ({type(value).__name__})"
