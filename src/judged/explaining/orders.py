"""Orders of tied results: the lowest and the highest value that a run may have, whatever rule orders its ties."""

from __future__ import annotations

import numpy as np

from judged.engine.evaluate import evaluate
from judged.explaining.stance import Stance
from judged.tables.arrays import arrow_of, numpy_of
from judged.tables.judgments import Judgments
from judged.tables.run import Columns, Run, Text
from judged.tables.strings import one_array

__all__ = ["tie_range"]

MOST = 64_000_000
"""Runs of more bytes, or rows, than this are not sorted anew for it."""


def tie_range(judgments: Judgments, run: Run, stance: Stance) -> tuple[float, float] | None:
    """The values with the best judged of tied results last, and first; None where that tells nothing.

    It is told of measures only that never fall where a better result moves up; where no judged result is tied,
    there is nothing to tell.
    """
    if "swap" not in stance.measure.properties or _size(run) > MOST:
        return None
    seen = evaluate(judgments, run, [stance.measure], protocol=stance.protocol)
    if not seen.observations.tied_documents:
        return None
    protocol = stance.protocol.but(ties="input-order")
    ends = [_sorted(judgments, run, best_first=each) for each in (False, True)]
    low, high = (
        evaluate(judgments, each, [stance.measure], protocol=protocol)[stance.measure] for each in ends
    )
    return low, high


def _size(run: Run) -> int:
    source = run.source
    if isinstance(source, Text):
        return len(source.buffer)
    return len(source.score) if isinstance(source, Columns) else sum(map(len, source.mapping.values()))


def _sorted(judgments: Judgments, run: Run, *, best_first: bool) -> Run:
    """The run with the rows of each query in the order of their grades."""
    pairs = zip(judgments.column("query").to_pylist(), judgments.documents, strict=True)
    grade = dict(zip(pairs, judgments.grades.tolist(), strict=True))
    table = run.to_arrow()
    rows = zip(table["query"].to_pylist(), table["document"].to_pylist(), strict=True)
    grades = np.array([max(grade.get(row, 0.0), 0.0) for row in rows])
    codes = numpy_of(one_array(table["query"]).dictionary_encode().indices)  # a query's rows stay together
    order = arrow_of(np.lexsort((-grades if best_first else grades, codes)))
    return Run.from_columns(
        *(table[name].take(order) for name in ("query", "document", "score")), name=run.name
    )
