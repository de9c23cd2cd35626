"""Are all rows distinct? Told quickly by hashes, so that the exact look is needed only where they meet."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from judged.kernels.scan.strings import Strings
from judged.tables.arrays import bytes_of

__all__ = ["surely_distinct"]


def surely_distinct(query: pa.Array, document: pa.Array) -> bool:
    """Whether no document can stand twice under its query; False only says that it might."""
    if len(query) == 0:
        return True
    queries, documents = (Strings.from_offsets(*bytes_of(column)) for column in (query, document))
    with np.errstate(over="ignore"):
        keys = np.sort(queries.hashes * np.uint64(0x9E3779B97F4A7C15) ^ documents.hashes)
    return bool((keys[1:] != keys[:-1]).all())
