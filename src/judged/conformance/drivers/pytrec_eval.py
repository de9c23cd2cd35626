"""pytrec_eval (the -terrier distribution), by `RelevanceEvaluator`; means as it makes them."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version as version_of
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from judged.conformance.cases import Case, Measured, NotSupported
from judged.conformance.verdict import Answer

__all__ = ["answer", "version"]


def version(_program: str) -> str | None:
    """The version, or None where it is not installed."""
    for name in ("pytrec-eval-terrier", "pytrec-eval"):
        try:
            return version_of(name)
        except PackageNotFoundError:
            continue
    return None


def answer(case: Case, measure: Measured, _program: str) -> Answer:
    """What pytrec_eval makes of one measure; a query without results is left out of its mean."""
    import pytrec_eval

    removed = {"removed"} if case.protocol["unjudged"] == "removed" else set()
    level = int(case.protocol["rel"])
    case.must_follow(measure, missing={"skip"}, unjudged=removed, rel={level})
    words = (measure.trec_eval or "").split()
    name = words[-1] if words else ""
    if name.partition(".")[0] not in pytrec_eval.supported_measures:
        msg = "has no such measure"
        raise NotSupported(msg)
    level = int(words[words.index("-l") + 1]) if "-l" in words else level
    qrels, run = _inputs(pytrec_eval, case)
    scorer = pytrec_eval.RelevanceEvaluator(
        qrels, {name}, relevance_level=level, judged_docs_only_flag=bool(removed)
    )
    found = scorer.evaluate(run)
    values = {query: next(iter(each.values())) for query, each in found.items()}
    printed = next((next(iter(each)) for each in found.values()), name)
    total = pytrec_eval.compute_aggregated_measure(printed, list(values.values()))
    # the value of a query in a geometric mean is its logarithm there
    shown = {} if name.startswith("gm_") else {query: float(value) for query, value in values.items()}
    return Answer(shown, float(total), call=f'RelevanceEvaluator(…, {{"{name}"}})')


def _inputs(pytrec_eval: Any, case: Case) -> tuple[Any, Any]:
    """Dicts, or what its own readers make of files."""
    if not case.is_text:
        return case.qrels(), case.run()
    with TemporaryDirectory() as folder:
        qrels, run = case.write(Path(folder))
        with Path(qrels).open(encoding="utf-8") as judgments, Path(run).open(encoding="utf-8") as results:
            return pytrec_eval.parse_qrel(judgments), pytrec_eval.parse_run(results)
