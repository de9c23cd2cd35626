"""Judgments by intent join the view: flat arrays for the kernels, made of the judgments' tables."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from judged.errors import BadMeasure
from judged.kernels.diversity.intent_aware import INTENTS_HINT
from judged.kernels.diversity.intents import Intents
from judged.kernels.segments import Floats, Ints, segment_ids
from judged.measures.measure import Measure
from judged.tables.columns import one_array, to_arrow, to_numpy
from judged.tables.judgments import Judgments, order_intents

__all__ = ["refuse_without_intents", "view_of_intents"]


def refuse_without_intents(judgments: Judgments, measures: Iterable[Measure]) -> None:
    """Raise if a measure looks at intents and the judgments give none."""
    needing = [str(measure) for measure in measures if measure.needs == "intents"]
    if needing and not judgments.by_intent:
        msg = f"{needing[0]} looks at intents, and {judgments.name} gives none"
        raise BadMeasure(msg, hint=INTENTS_HINT)


def view_of_intents(judgments: Judgments, keep: NDArray[np.bool_]) -> tuple[Intents | None, Ints]:
    """The intents of the kept queries, and for each row of the judgments the number of its document.

    Where no intents are given, a document's target is its one intent; without either, there is no view.
    """
    if not judgments.by_intent:
        return None, np.zeros(len(judgments), dtype=np.int64)
    query = segment_ids(judgments.offset)
    number = _numbers(judgments, np.flatnonzero(keep[query]), query)
    row, code, grade, weight = _rows(judgments)
    chosen = np.flatnonzero(number[row] >= 0)
    chosen = chosen[np.argsort(number[row[chosen]], kind="stable")]
    row, grade = row[chosen], grade[chosen]
    base = int(code.max(initial=0)) + 1
    pair, first, intent = np.unique(query[row] * base + code[chosen], return_index=True, return_inverse=True)
    renumbered = (np.cumsum(keep) - 1)[pair // base]
    documents = int(keep[query].sum())
    return Intents(
        offset=np.searchsorted(number[row], np.arange(documents + 1)).astype(np.int64),
        intent=intent.reshape(-1).astype(np.int64),
        grade=grade,
        query_offset=np.searchsorted(renumbered, np.arange(int(keep.sum()) + 1)).astype(np.int64),
        weight=weight[chosen][first],
    ), number


def _numbers(judgments: Judgments, kept: Ints, query: Ints) -> Ints:
    """The number of each kept document, by query and from the greatest id down, as ndeval breaks ties."""
    document = judgments.column("document").cast(pa.large_binary()).take(to_arrow(kept))
    keyed = pa.table({"query": to_arrow(query[kept]), "document": document})
    order = to_numpy(pc.sort_indices(keyed, [("query", "ascending"), ("document", "descending")]))
    number = np.full(len(judgments), -1, dtype=np.int64)
    number[kept[order]] = np.arange(len(kept))
    return number


def _rows(judgments: Judgments) -> tuple[Ints, Ints, Floats, Floats]:
    """Row of the document, number of the intent, grade and weight: of every pair of document and intent."""
    if judgments.intents is None:
        code, _ = order_intents(judgments.column("target"))
        return np.arange(len(judgments)), code, judgments.grades, np.ones(len(judgments))
    table = {name: one_array(judgments.intents[name]) for name in judgments.intents.column_names}
    code, _ = order_intents(table["intent"])
    weight = to_numpy(table["weight"]) if "weight" in table else np.ones(len(code))
    return to_numpy(table["row"]), code, to_numpy(table["grade"]), weight
