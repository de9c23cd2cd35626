"""PyTerrier: judged's measures in `pt.Experiment`, and the frame of an experiment in `compare`.

from judged.compat.pyterrier import compare_experiment, measure
frame = pt.Experiment(systems, topics, qrels, [measure('nDCG(gain="exp")@10'), "map"], perquery=True)
print(compare_experiment(frame, baseline="bm25"))
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from judged._optional import need
from judged.comparison.api import compare
from judged.comparison.result import Comparison
from judged.compat.evaluator import without_spelling
from judged.errors import BadInput, UnknownName
from judged.measures.parse import parse_measure
from judged.problem import Problem
from judged.profiles.profile import PROFILES, Profile, as_profile
from judged.protocol import Protocol
from judged.scoring.evaluator import Evaluator
from judged.tables.columns import to_strings
from judged.tables.scores import Scores

__all__ = ["compare_experiment", "measure"]

PREFIX = "judged."
"""Prefix of the names of these measures in a frame, so that they differ from those of ir_measures."""
COLUMNS = ("name", "qid", "measure", "value")


def measure(name: str, *, protocol: Profile | Protocol | str = "trec_eval-9") -> Any:
    """Return a measure of judged for the `eval_metrics` of `pt.Experiment`, and for every function of ir_measures."""
    ir_measures = need("ir_measures", extra="ir-measures", needed_by="`judged.compat.pyterrier.measure`")
    reading = as_profile(protocol).read(name)

    def compute(qrels: Any, run: Any) -> Iterator[tuple[str, float]]:
        """Yield the value of each query that is judged."""
        judgments, scores = _group(qrels, "relevance"), _group(run, "score")
        known = {query: documents for query, documents in scores.items() if query in judgments}
        if known:
            evaluator = Evaluator(judgments, [without_spelling(reading.measure)], protocol=reading.protocol)
            yield from evaluator.per_query(known)[reading.name].items()

    return ir_measures.define(compute, name=f"{PREFIX}{reading.name}", support_cutoff=False)


def compare_experiment(frame: Any, *, baseline: str | None = None, **settings: Any) -> Comparison:
    """Return the comparison of the systems of an experiment, whose frame was made with `perquery=True`.

    `baseline` is a name in the frame, and the settings are those of `judged.compare`: `test`, `correction`, `level`, …
    """
    missing = [column for column in COLUMNS if column not in frame.columns]
    if missing:
        hint = "a row for each query and measure: `pt.Experiment(…, perquery=True)`, without `wide=True`"
        raise UnknownName("column of the frame", missing[0], [str(name) for name in frame.columns], hint=hint)
    names = {name: _read_name(str(name)) for name in frame["measure"].unique()}
    tables: dict[str, dict[str, dict[str, float]]] = {}
    for system, query, name, value in frame[list(COLUMNS)].itertuples(index=False, name=None):
        values = tables.setdefault(str(system), {}).setdefault(names[name], {})
        if str(query) in values:
            message = f"`{name}` of query `{query}` appears twice"
            raise BadInput("the frame", [Problem.error("repeated-value", f"system `{system}`", message)])
        values[str(query)] = float(value)
    return compare([_to_scores(*item) for item in tables.items()], baseline=baseline, **settings)


def _read_name(name: str) -> str:
    """Return a measure of a frame as judged writes it: one of judged, or what PyTerrier means by the name."""
    if name.startswith(PREFIX):
        return str(parse_measure(name.removeprefix(PREFIX)))
    return PROFILES["ir_measures"].read(name).name


def _to_scores(system: str, values: dict[str, dict[str, float]]) -> Scores:
    """Return the scores of a system; raise `BadInput` unless all measures have the same queries."""
    # by bytes, as scores are sorted
    queries = sorted(next(iter(values.values())), key=str.encode)
    for name, column in values.items():
        if column.keys() != set(queries):
            message = (
                f"`{name}` has {len(column)} queries, expected the same {len(queries)} for every measure"
            )
            raise BadInput("the frame", [Problem.error("different-queries", f"system `{system}`", message)])
    columns = {name: np.array([column[query] for query in queries]) for name, column in values.items()}
    return Scores(to_strings(queries), columns, run=system)


def _group(frame: Any, value: str) -> dict[str, dict[str, Any]]:
    table: dict[str, dict[str, Any]] = {}
    for query, document, number in frame[["query_id", "doc_id", value]].itertuples(index=False, name=None):
        table.setdefault(query, {})[document] = number
    return table
