"""Tables as CSV and TSV, every number in full."""

from __future__ import annotations

import csv
import io

from judged.report.layout import Estimate, Table

__all__ = ["to_delimited"]


def to_delimited(table: Table, *, delimiter: str = ",") -> str:
    """The table with a header line, values separated by `delimiter`, quoted where they must be.

    >>> print(to_delimited(Table(("run", "AP"), (("bm25", 0.1 + 0.2),))))
    run,AP
    bm25,0.30000000000000004
    """
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerow(table.columns)
    for row in table.rows:
        writer.writerow([cell.value if isinstance(cell, Estimate) else cell for cell in row])
    return out.getvalue()
