"""Per query: the values of every system on every query, bit for bit, with texts, slices and distributions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from judged.report.packing import Json, Numbers, to_plain
from judged.report.pages import Page, PageData
from judged.stats.distribution import SHARES, find_quantiles

if TYPE_CHECKING:
    from judged.arrays import Floats
    from judged.report.entry import Entry


def list_queries(entry: Entry) -> list[str]:
    """Return the ids of all queries that have a value, in the order of the scores."""
    if entry.comparison is not None:
        by_system = (scores.queries for scores in entry.comparison.scores)
    else:
        by_system = (evaluation.scores.queries.to_pylist() for evaluation in entry.evaluations.values())
    return list(dict.fromkeys(query for queries in by_system for query in queries))


def make_data(entry: Entry) -> PageData:
    """Return the values by measure (systems × queries), the queries, and quantiles of every system's values."""
    queries = list_queries(entry)
    values = find_values(entry, queries)
    texts = [entry.queries.get(query) for query in queries]
    slices = _find_slices(entry, queries)
    about = {
        "id": queries,
        "text": texts if any(text is not None for text in texts) else None,
        "slices": slices,
    }
    distribution = {
        measure: [to_plain(find_quantiles(row)) for row in table] for measure, table in values.items()
    }
    blocks = {
        "queries": about,
        "values": Numbers([table.ravel() for table in values.values()]),
        "distribution": {"shares": list(SHARES), "quantiles": distribution},
    }
    head = {
        "slices": {name: sorted(set(of) - {None}) for name, of in slices.items()},
        "order": list(entry.comparison.systems) if entry.comparison is not None else entry.systems,
    }
    return PageData(head, blocks)


def find_values(entry: Entry, queries: list[str]) -> dict[str, Floats]:
    """Return, for each measure, a row for each system and a column for each query; NaN where there is no value."""
    place = {query: at for at, query in enumerate(queries)}
    tables = {}
    if entry.comparison is not None:
        for scores in entry.comparison.scores:
            table = np.full((len(entry.systems), len(queries)), np.nan)
            at = [place[query] for query in scores.queries]
            for row, name in enumerate(entry.systems):
                table[row, at] = scores.column(name)
            tables[scores.measure] = table
        return tables
    for measure in entry.evaluations.measures:
        if measure.text:
            continue
        table = np.full((len(entry.systems), len(queries)), np.nan)
        for row, evaluation in enumerate(entry.evaluations.values()):
            at = [place[query] for query in evaluation.scores.queries.to_pylist()]
            table[row, at] = evaluation.scores.averaged(measure)
        tables[measure.label] = table
    return tables


def _find_slices(entry: Entry, queries: list[str]) -> dict[str, list[Json]]:
    """Return, for each attribute, the value of each query; None if it has none."""
    if entry.comparison is None:
        return {}
    found: dict[str, dict[str, str]] = {}
    for (attribute, value), part in entry.comparison.slices.items():
        for scores in part.scores:
            found.setdefault(attribute, {}).update(dict.fromkeys(scores.queries, value))
    return {attribute: [of.get(query) for query in queries] for attribute, of in found.items()}


PAGE = Page("queries", "Per query", make_data, lambda entry: bool(entry.systems))
