"""Repeated rows: a document that stands twice under one query."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from judged.problem import Problems
from judged.tables.arrays import numpy_of

__all__ = ["add_repeats"]

Ints: TypeAlias = NDArray[np.int64]


def add_repeats(
    query: pa.Array,
    document: pa.Array,
    faults: Problems,
    *,
    kind: str,
    verb: str,
    intent: pa.Array | None = None,
) -> None:
    """Note every row whose document has stood under its query (and intent) before, and where first."""
    again, before = _repeats(query, document, intent)
    first = dict(zip(again.tolist(), before.tolist(), strict=True))
    faults.add_rows(
        kind,
        again,
        lambda row: (
            f"document `{document[row]}` is {verb} again for query `{query[row]}`"
            f"{'' if intent is None else f' and intent `{intent[row]}`'}, first at {faults.place(first[row])}"
        ),
    )


def _repeats(query: pa.Array, document: pa.Array, intent: pa.Array | None) -> tuple[Ints, Ints]:
    """Rows that repeat an earlier one, ascending, and for each the earliest of its kind."""
    if len(query) < 2:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    names = _codes(document)
    key = _codes(query) * (int(names.max()) + 1) + names
    if intent is not None:
        key = np.unique(key, return_inverse=True)[1].reshape(-1) * len(key) + _codes(intent)
    if np.diff(np.sort(key)).all():  # nearly always, and far quicker to see than where the repeats are
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    _, first, member = np.unique(key, return_index=True, return_inverse=True)
    earliest = first[member.reshape(-1)]
    again = np.flatnonzero(earliest != np.arange(len(key)))
    return again, earliest[again]


def _codes(column: pa.Array) -> Ints:
    """A number for each value, equal where the values are equal."""
    codes: Ints = numpy_of(column.dictionary_encode().indices).astype(np.int64)
    return codes
