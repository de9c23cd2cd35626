"""judged itself, by `judged.evaluate`."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import judged
from judged.conformance.cases import Case, Measured
from judged.conformance.verdict import Answer

__all__ = ["answer", "version"]


def version(_program: str) -> str:
    """The version of judged."""
    return judged.__version__


def answer(case: Case, measure: Measured, _program: str) -> Answer:
    """What judged makes of one measure."""
    if not case.is_text:
        return _evaluated(case, measure, _judgments(case), case.run())
    with TemporaryDirectory() as folder:
        qrels, run = case.write(Path(folder))
        return _evaluated(case, measure, qrels, run)


def _judgments(case: Case) -> Any:
    """Nested dicts, or rows where documents have targets."""
    if "targets" not in case.raw:
        return case.raw["qrels"] if case.by_intent else case.qrels()
    return [
        {"query": query, "document": document, "grade": grade, "target": named.get(document)}
        for query, judged in case.qrels().items()
        for named in [case.raw["targets"].get(query, {})]
        for document, grade in judged.items()
    ]


def _evaluated(case: Case, measure: Measured, qrels: Any, run: Any) -> Answer:
    protocol = judged.Protocol(**case.protocol)
    scored = judged.evaluate(qrels, run, [measure.measure], protocol=protocol)
    queries = scored.per_query().by_query(measure.measure)
    call = f'evaluate(…, "{measure.measure}", …)'
    return Answer(queries, scored[measure.measure], call=call)
