"""ragas: `EvaluationResult`, and what its `to_pandas()` is written to: CSV, JSON, JSONL or Parquet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from judged.io.scores.content import Content
from judged.io.scores.format import Record, ScoreFormat, know_directions, list_measures
from judged.io.scores.wide import FORMAT as WIDE
from judged.tables.scores import ScoreKind

SAMPLE = ("response", "reference", "retrieved_contexts", "reference_contexts", "multi_responses", "rubrics")
"""Columns of a sample, at least one of which a result has in addition to `user_input`."""
LOWER = ("noise_sensitivity", "noise_sensitivity_relevant", "noise_sensitivity_irrelevant")
"""The metrics of ragas of which less is better."""
SHARES = frozenset(
    {
        *(
            "faithfulness",
            "faithfulness_with_hhem",
            "answer_relevancy",
            "answer_correctness",
            "answer_similarity",
        ),
        *(
            "context_precision",
            "context_recall",
            "context_entity_recall",
            "context_relevance",
            "context_utilization",
        ),
        *("llm_context_precision_with_reference", "llm_context_precision_without_reference"),
        *("non_llm_context_precision_with_reference", "non_llm_context_recall", "factual_correctness"),
        *("semantic_similarity", "exact_match", "string_present", "non_llm_string_similarity", "bleu_score"),
        *("rouge_score", "chrf_score", "nv_accuracy", "nv_context_relevance", "nv_response_groundedness"),
        *("topic_adherence", "tool_call_accuracy", "agent_goal_accuracy", "summary_score", "aspect_critic"),
        *LOWER,
    }
)
"""The metrics of ragas that lie between 0 and 1; those that users define may have any range and direction."""


def _recognises(content: Content) -> bool:
    return content.has("user_input") and any(content.has(name) for name in SAMPLE)


def _kinds(_content: Content, records: Sequence[Record]) -> Mapping[str, ScoreKind]:
    names = list_measures(records)
    # `factual_correctness(mode=f1)` is the metric before the bracket, with a setting
    known = [name for name in names if name.partition("(")[0] in SHARES]
    lower = [name for name in known if name.partition("(")[0] in LOWER]
    return know_directions(known, lower=lower, bounds=(0.0, 1.0))


def _read(content: Content) -> Iterator[Record]:
    yield from WIDE.read(content)


FORMAT = ScoreFormat(
    "ragas",
    "results of ragas",
    "the result of `ragas.evaluate`, or its `to_pandas()` as CSV, JSON, JSONL or Parquet; queries are paired by `user_input`",
    _recognises,
    _read,
    _kinds,
    "known for the metrics of ragas itself",
)
