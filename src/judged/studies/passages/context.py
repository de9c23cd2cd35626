"""Equal context: what systems find within a number of tokens, and how long the passages are that they search.

`R@2000tokens` is `R` of the results whose passages, best first, fit into 2,000 tokens together. The first passage that does
not fit ends the list. Systems that return whole documents are counted by whole documents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

import msgspec

from judged.arrays import Floats
from judged.blocks import Block, Estimate, Table, Value
from judged.comparison.result import Comparison
from judged.scoring.evaluate import evaluate_many
from judged.studies.collections.collection import Collection
from judged.studies.passages.budgets import Budgeted
from judged.studies.passages.chunking import Judging, chunk_collection, count_tokens, whole_passages
from judged.studies.running.answers import Asked, Built, make_run
from judged.studies.stages.chunkers import ChunkSpec, load_tokeniser
from judged.studies.stages.stage import Passage
from judged.tables.judgments import Judgments
from judged.tables.scores import ScoreKind, Scores

NOTHING = "nothing fits"


@dataclass(frozen=True)
class ChunkRecord:
    """What documents became under one chunking: how many passages, and how long they are."""

    chunk: str
    """The chunker with its settings; empty: documents as they are."""
    systems: tuple[str, ...]
    passages: int
    tokens: Mapping[str, float] = field(default_factory=dict)
    """Mean, median and largest number of tokens, and that of all passages together."""

    def to_dict(self) -> dict[str, Value]:
        """Return every number by name."""
        tokens = {f"tokens {name}": count for name, count in self.tokens.items()}
        return {"chunk": self.chunk, "systems": ", ".join(self.systems), "passages": self.passages, **tokens}


def score_context(
    collection: Collection,
    judgments: Judgments,
    asked: Mapping[str, Sequence[Asked]],
    measures: Sequence[Budgeted],
    *,
    tokeniser: str,
    protocol: str,
) -> tuple[Scores, ...]:
    """Return the scores of every system within the budgets of the measures."""
    count = _make_counter(collection, tokeniser)
    judging = Judging(collection.spans, collection.coverage)
    values: dict[str, dict[str, Floats]] = {name: {} for name in asked}
    kinds: dict[str, ScoreKind] = {}
    queries = None
    for tokens in dict.fromkeys(measure.tokens for measure in measures):
        wanted = [measure for measure in measures if measure.tokens == tokens]
        runs = {
            name: make_run(name, (_cut(one, collection, judging, count, tokens) for one in replies))
            for name, replies in asked.items()
        }
        # one at a time: two spellings of a measure are one for `evaluate_many`
        for measure in wanted:
            for name, evaluation in evaluate_many(
                judgments, runs, measure.find_measure(), protocol=protocol
            ).items():
                found = evaluation.measures[0]
                queries = evaluation.scores.queries
                values[name][measure.name] = evaluation.scores[found]
                kinds[measure.name] = ScoreKind(found.higher_is_better, found.limits)
    return tuple(
        Scores(queries, columns, run=name, kinds={measure: kinds[measure] for measure in columns})
        for name, columns in values.items()
    )


def _make_counter(collection: Collection, tokeniser: str) -> Callable[[Passage], int]:
    """Return what counts the tokens of a passage, each once."""
    load = load_tokeniser(tokeniser)

    @cache
    def count(passage: Passage) -> int:
        try:
            text = collection.texts[collection.row(passage.document)]
        except KeyError:
            return 0
        return load.count(text[passage.start : passage.end])

    return count


def _cut(
    asked: Asked, collection: Collection, judging: Judging, count: Callable[[Passage], int], tokens: int
) -> tuple[str, Sequence[str], Sequence[float]]:
    """Return the query, and the results whose passages fit into the budget, with scores that fall."""
    passages = asked.passages
    if passages is None:
        passages = tuple(whole_passages(collection, asked.documents))
    spent, fitting = 0, 0
    for passage in passages:
        spent += count(passage)
        if spent > tokens:
            break
        fitting += 1
    # an unjudged result stands in for an empty list, so that a run in which nothing fits is still a run
    units = [unit for _, unit in judging.list_units(passages[:fitting])] or [NOTHING]
    return asked.query, units, [-float(rank) for rank in range(1, len(units) + 1)]


def describe_chunks(
    collection: Collection, chunkers: Iterable[tuple[str, ChunkSpec | None, Built]], tokeniser: str
) -> tuple[ChunkRecord, ...]:
    """Return how many passages each chunker made of the documents, and how long they are; systems share chunkers."""
    systems: dict[str, list[str]] = {}
    chosen: dict[str, tuple[ChunkSpec | None, Built]] = {}
    for name, spec, built in chunkers:
        words = "" if spec is None else describe_chunker(spec)
        systems.setdefault(words, []).append(name)
        chosen[words] = spec, built
    return tuple(
        ChunkRecord(words, tuple(systems[words]), *_count(collection, spec, built, tokeniser))
        for words, (spec, built) in chosen.items()
    )


def _count(
    collection: Collection, spec: ChunkSpec | None, built: Built, tokeniser: str
) -> tuple[int, dict[str, float]]:
    """Return the number and the lengths of passages, as they were when the system was built."""
    if spec is None:
        return len(collection.texts), count_tokens(collection.texts, tokeniser)
    if built.tokeniser == tokeniser and built.passages:
        return built.passages, built.tokens
    chunked = chunk_collection(collection, spec)  # answers of a study that counted by another tokeniser
    return len(chunked.passages), chunked.count_tokens(tokeniser)


def describe_chunker(spec: ChunkSpec) -> str:
    """Return a chunker with its settings."""
    settings: dict[str, object] = msgspec.to_builtins(spec)
    shown = ", ".join(
        f"{key} {value}" for key, value in settings.items() if key != "type" and value not in ({}, None)
    )
    return f"{spec.type} ({shown})" if shown else spec.type


def show_context(comparison: Comparison | None, chunks: Sequence[ChunkRecord]) -> Iterator[Block]:
    """Yield the means at equal context, starred where they differ from the baseline, and the lengths of passages."""
    if comparison is not None:
        baseline = comparison.baselines[0] if len(comparison.baselines) == 1 else None
        rows: list[tuple[Value | Estimate, ...]] = []
        for name in comparison.ranked():
            cells = [
                Estimate(
                    comparison.mean(name, measure).mean,
                    marks=""
                    if baseline is None or name == baseline
                    else comparison.contrast(name, baseline, measure).stars,
                )
                for measure in comparison.measures
            ]
            rows.append((name, *cells))
        yield Table(("system", *comparison.measures), tuple(rows), title="At equal context")
    if chunks:
        lengths: list[tuple[Value, ...]] = [
            (
                record.chunk or "whole documents",
                ", ".join(record.systems),
                record.passages,
                *(f"{record.tokens[name]:,.0f}" for name in ("mean", "median", "largest")),
            )
            for record in chunks
        ]
        columns = ("passages", "systems", "number", "tokens, mean", "median", "largest")
        yield Table(columns, tuple(lengths), title="Passages")
