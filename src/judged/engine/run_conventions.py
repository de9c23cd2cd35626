"""What a protocol does to a run before ranks are looked for: order it as it came, take documents out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow.compute as pc

from judged.protocol import Protocol
from judged.tables.columns import to_numpy
from judged.tables.run import Columns, Run

__all__ = ["prepared"]


def prepared(run: Run, protocol: Protocol) -> Run:
    """The run with the scores and documents that the protocol looks at; the run itself where that is all."""
    if protocol.self_matches == "removed":
        run = _without_itself(run.as_columns())
    return _in_input_order(run.as_columns()) if protocol.order == "input" else run


def _in_input_order(run: Run) -> Run:
    """The run with scores that fall from row to row, so that each query's documents stand as they came."""
    source = run.source
    assert isinstance(source, Columns)  # noqa: S101 - `as_columns` returns nothing else
    return replace(run, source=replace(source, score=-np.arange(len(source.score), dtype=np.float64)))


def _without_itself(run: Run) -> Run:
    """The run without documents that have the id of their query, and a note of how many there were."""
    source = run.source
    assert isinstance(source, Columns)  # noqa: S101 - `as_columns` returns nothing else
    other = pc.not_equal(source.query, source.document)
    kept = np.flatnonzero(to_numpy(other))
    gone = len(source.score) - len(kept)
    if not gone:
        return run
    columns = Columns(
        source.query.filter(other),
        source.document.filter(other),
        source.score[kept],
        place=lambda row: source.place(int(kept[row])),
    )
    told = f"{gone:,} {'result has' if gone == 1 else 'results have'} the id of the query: removed"
    return replace(run, source=columns, notes=(*run.notes, told))
