"""lm-evaluation-harness: the `samples_*.jsonl` that `--log_samples` writes, by task."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from judged.io.scores.content import Content, Row, to_question
from judged.io.scores.format import Record, ScoreFormat, know_directions, list_measures
from judged.tables.scores import ScoreKind

HIGHER = (
    "acc",
    "acc_norm",
    "acc_mutual_info",
    "acc_all",
    "exact_match",
    "em",
    "f1",
    "mcc",
    "likelihood_diff",
)
LOWER = ("perplexity", "word_perplexity", "byte_perplexity", "bits_per_byte", "brier_score", "ter")
"""The metrics of the harness, by the direction that it gives them."""
_TASK = re.compile(r"samples_(.+?)(?:_\d{4}-\d{2}-\d{2}T[\d.:-]+)?")


def _recognises(content: Content) -> bool:
    return content.has("doc_id", "doc", "filtered_resps")


def _read(content: Content) -> Iterator[Record]:
    filters = {row.get("filter") for row in content.rows}
    several = len(filters) > 1
    task = _TASK.fullmatch(content.name)
    for number, row in enumerate(content.rows):
        suffix = f",{row.get('filter')}" if several else ""
        values = {f"{name}{suffix}": row.get(name) for name in _list_metrics(content, row)}
        attributes = {name: row.get(name) for name in ("target",) if isinstance(row.get(name), str)}
        yield Record(
            content.place(number),
            values,
            f"{task[1]}/{row.get('doc_id')}" if task else row.get("doc_id"),
            to_question(row.get("doc")) or row.get("doc_hash"),
            attributes=attributes,
        )


def _list_metrics(content: Content, row: Row) -> list[str]:
    """Return the metrics of a sample that are numbers; of a corpus metric a sample holds the texts to be compared."""
    named = row.get("metrics")
    names = [name for name in named if isinstance(name, str)] if isinstance(named, list) else []
    numbers = [name for name in names if not isinstance(row.get(name), list | tuple | Mapping | str)]
    content.note_unread([name for name in names if name not in numbers], "has no value for a single sample")
    return numbers


def _kinds(_content: Content, records: Sequence[Record]) -> Mapping[str, ScoreKind]:
    names = list_measures(records)
    bare = {name: name.partition(",")[0] for name in names}
    higher = [name for name in names if bare[name] in HIGHER]
    return know_directions(names, lower=[name for name in names if bare[name] in LOWER], higher=higher)


FORMAT = ScoreFormat(
    "lm-eval",
    "samples of lm-evaluation-harness",
    "`samples_TASK_….jsonl`, as `--log_samples` writes it; queries are paired by `doc_id`, and a filter is part of the measure's name",
    _recognises,
    _read,
    _kinds,
    "known for the usual metrics of the harness",
)
