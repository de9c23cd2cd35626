"""A run → the pool of its documents, each with the texts that a model is shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from judged.errors import Unusable
from judged.io.read import read_judgments, read_run
from judged.label.pool import Item, Pool
from judged.label.texts import read_documents, read_queries
from judged.problem import Place, Problems

__all__ = ["pool_of_run"]


def pool_of_run(
    sources: Sequence[Any],
    *,
    queries: Any,
    docs: Any,
    judged: Any = None,
    depth: int | None = None,
    lenient: bool = False,
) -> Pool:
    """What runs retrieved down to `depth`, without what is judged already; texts that are not there are a fault."""
    runs = [read_run(source) for source in sources]
    found = [pair for run in runs for pair in _to_depth(run.to_arrow(), depth)]
    pairs = dict.fromkeys(found)
    known = _pairs(judged)
    wanted = [pair for pair in pairs if pair not in known]
    asked = read_queries(queries, lenient=lenient)
    texts = read_documents(docs, {document for _, document in wanted}, lenient=lenient)
    left_out = _without_text(", ".join(run.name for run in runs), wanted, asked, texts, lenient=lenient)
    items = (
        Item(
            asked[query], texts[document].title, texts[document].text, {"query": query, "document": document}
        )
        for query, document in wanted
        if query in asked and document in texts
    )
    notes = (*(note for run in runs for note in run.notes), *left_out)
    return Pool("run", tuple(items), len(found), judged=len(pairs) - len(wanted), notes=notes)


def _to_depth(table: pa.Table, depth: int | None) -> Iterator[tuple[str, str]]:
    """Query and document of every row down to a depth, in the order that trec_eval ranks them."""
    codes = table["query"].combine_chunks().dictionary_encode().indices
    keyed = pa.table(
        {"query": codes, "score": table["score"], "document": table["document"].cast(pa.large_binary())}
    )
    order = [("query", "ascending"), ("score", "descending"), ("document", "descending")]
    ranked = table.take(pc.sort_indices(keyed, order))
    seen: Counter[str] = Counter()
    for query, document in zip(ranked["query"].to_pylist(), ranked["document"].to_pylist(), strict=True):
        seen[query] += 1
        if depth is None or seen[query] <= depth:
            yield query, document


def _pairs(judged: Any) -> set[tuple[str, str]]:
    """Query and document of everything that is judged already, whatever its grade."""
    if judged is None:
        return set()
    table = read_judgments(judged).to_arrow()
    return set(zip(table["query"].to_pylist(), table["document"].to_pylist(), strict=True))


def _without_text(
    name: str,
    pairs: Sequence[tuple[str, str]],
    queries: Container[str],
    documents: Container[str],
    *,
    lenient: bool,
) -> tuple[str, ...]:
    """Refuse the pairs that cannot be shown to a model, naming each id once; leniently, count them in words."""
    queried, retrieved = (dict.fromkeys(ids) for ids in zip(*pairs, strict=True)) if pairs else ({}, {})
    missing = [
        *(("query", f"query `{each}`") for each in queried if each not in queries),
        *(("document", f"document `{each}`") for each in retrieved if each not in documents),
    ]
    faults = Problems(name, lambda row: Place(missing[row][1]))
    for row, (kind, _) in enumerate(missing):
        faults.add(f"{kind}-without-text", row, "is in the run, and has no text")
    if not lenient:
        faults.raise_if_any(hint="give their texts, or leave them out with `--lenient`", error=Unusable)
    return tuple(f"left out: {kind} ({count:,})" for kind, count in faults.counts.items())
