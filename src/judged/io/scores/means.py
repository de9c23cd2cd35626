"""Files of other tools that hold means of whole runs, which no test can compare: refused with what to give instead."""

from __future__ import annotations

from collections.abc import Iterator

from judged.errors import BadInput
from judged.io.scores.content import Content, get
from judged.io.scores.format import Record, ScoreFormat
from judged.problem import Problem
from judged.tables.schema import UNIT_COLUMNS, WIDE_SCORES

RUNS = "its predictions are a run: `judged score QRELS PREDICTIONS`, with `--per-query` for the scores of every query"


def _find_source(content: Content) -> tuple[str, str] | None:
    """Return what a file holds and what holds the scores of every query; None if it is something else."""
    if (
        isinstance(get(content.document, "scores"), dict)
        and get(content.document, "mteb_version") is not None
    ):
        return "the means of an MTEB task", RUNS
    if content.has("epoch", "steps"):
        return "the means of a sentence-transformers evaluator, a row for each time it ran", RUNS
    systems = [row.get("system") for row in content.rows]
    if (
        content.columns[:1] == ("system",)
        and len(set(systems)) == len(systems)
        and not _names_queries(content)
    ):
        return (
            "a row for each system, as means have",
            "`judged score … --per-query -o scores.csv` writes every query",
        )
    results = get(content.document, "results")
    if isinstance(results, dict) and get(content.document, "n-shot") is not None:
        return "the means of lm-evaluation-harness", "`--log_samples` writes `samples_*.jsonl`"
    return None


def _names_queries(content: Content) -> bool:
    return any(content.find(WIDE_SCORES[name]) for name in ("query", "text")) or bool(
        content.lower.intersection(UNIT_COLUMNS)
    )


def _recognises(content: Content) -> bool:
    return _find_source(content) is not None


def _read(content: Content) -> Iterator[Record]:
    holds, hint = _find_source(content) or ("means", "")
    message = f"holds {holds}, expected the scores of every query"
    raise BadInput(content.label, [Problem.error("only-means", content.label, message)], hint=hint)


FORMAT = ScoreFormat(
    "means",
    "means of whole runs",
    "results of MTEB, evaluators of sentence-transformers and `results_*.json` of lm-evaluation-harness: refused, since they have no value for a query",
    _recognises,
    _read,
)
