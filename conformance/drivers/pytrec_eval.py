"""pytrec_eval (the -terrier distribution), by `RelevanceEvaluator`; means as it makes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from conformance.cases import Case, Measured, NotSupported
from conformance.drivers import find_version
from conformance.verdict import Answer

__all__ = ["answer", "version"]


def version(_program: str) -> str | None:
    """Return the version, or None where it is not installed."""
    return find_version("pytrec-eval-terrier", "pytrec-eval")


def answer(case: Case, measure: Measured, _program: str) -> Answer:
    """Score one measure with pytrec_eval, whose mean leaves out queries without results."""
    import pytrec_eval

    removed = {"removed"} if case.protocol["unjudged"] == "removed" else set()
    level = int(case.protocol["rel"])
    case.must_follow(measure, missing={"skip"}, unjudged=removed, rel={level})
    words = (measure.trec_eval or "").split()
    name = words[-1] if words else ""
    if name.partition(".")[0] not in pytrec_eval.supported_measures:
        raise NotSupported
    level = int(words[words.index("-l") + 1]) if "-l" in words else level
    qrels, run = _inputs(pytrec_eval, case)
    evaluator = pytrec_eval.RelevanceEvaluator(
        qrels, {name}, relevance_level=level, judged_docs_only_flag=bool(removed)
    )
    scores = evaluator.evaluate(run)
    values = {query: next(iter(score.values())) for query, score in scores.items()}
    printed = next((next(iter(score)) for score in scores.values()), name)
    total = pytrec_eval.compute_aggregated_measure(printed, list(values.values()))
    # the value of a query in a geometric mean is its logarithm there
    shown = {} if name.startswith("gm_") else {query: float(value) for query, value in values.items()}
    return Answer(shown, float(total), call=f'RelevanceEvaluator(…, {{"{name}"}})')


def _inputs(pytrec_eval: Any, case: Case) -> tuple[Any, Any]:
    """Return dicts, or what its own readers make of files."""
    if not case.is_text:
        return case.qrels(), case.run()
    with (
        case.files() as (qrels, run),
        Path(qrels).open(encoding="utf-8") as judgments,
        Path(run).open(encoding="utf-8") as results,
    ):
        return pytrec_eval.parse_qrel(judgments), pytrec_eval.parse_run(results)
