"""judged itself, by `judged.evaluate`."""

from __future__ import annotations

from typing import Any

import judged
from conformance.cases import Case, Measured
from conformance.verdict import Answer

__all__ = ["answer", "version"]


def version(_program: str) -> str:
    """Return the version of judged."""
    return judged.__version__


def answer(case: Case, measure: Measured, _program: str) -> Answer:
    """Score one measure with judged."""
    if not case.is_text:
        return _evaluate(case, measure, _judgments(case), _run(case))
    with case.files() as (qrels, run):
        return _evaluate(case, measure, qrels, run)


def _run(case: Case) -> dict[str, Any]:
    """Return the run; one without any judged query, which judged refuses, says that these have no results."""
    judged_queries, run = case.raw["qrels"], dict(case.run())
    return run if run.keys() & judged_queries.keys() else {**run, **{query: {} for query in judged_queries}}


def _judgments(case: Case) -> Any:
    """Return nested dicts, or rows where documents have targets."""
    if "targets" not in case.raw:
        return case.raw["qrels"] if case.by_intent else case.qrels()
    return [
        {"query": query, "document": document, "grade": grade, "target": targets.get(document)}
        for query, grades in case.qrels().items()
        for targets in [case.raw["targets"].get(query, {})]
        for document, grade in grades.items()
    ]


def _evaluate(case: Case, measure: Measured, qrels: Any, run: Any) -> Answer:
    protocol = judged.Protocol(**case.protocol)
    evaluation = judged.evaluate(qrels, run, [measure.measure], protocol=protocol)
    queries = evaluation.per_query().by_query(measure.measure)
    call = f'evaluate(…, "{measure.measure}", …)'
    return Answer(queries, evaluation[measure.measure], call=call)
