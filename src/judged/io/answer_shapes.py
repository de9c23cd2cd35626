"""Answers of retrieval systems: where RAG frameworks, vector stores and search engines keep the results of a query.

No library is imported: an answer is known by its fields. `SHAPES` is the table of them all; what a single result holds is
read in `judged.io.search_results`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass
from typing import Any, TypeAlias
from uuid import UUID

import numpy as np

from judged.errors import JudgedError
from judged.wording import counted

MOST_KEYS = 16
"""Maximum number of keys of an answer; a dict of more that begins with a number goes from documents to scores."""

Opened: TypeAlias = Iterable[object] | None


class BadAnswer(JudgedError, ValueError):
    """An answer that is not a list of search results, or a result without an id."""

    def __init__(self, code: str, message: str, *, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.code = code


@dataclass(frozen=True)
class Shape:
    """One form of answers: `open` returns the results of one query, or None for an answer of another form."""

    name: str
    open: Callable[[object], Opened]
    distances: bool = False
    """Whether a number called distance is one; Milvus gives similarities that name too."""


def open_answer(answer: object) -> tuple[Shape, Iterable[object]] | None:
    """Return the shape of an answer and its results; None if it has no known shape."""
    for shape in SHAPES:
        results = shape.open(answer)
        if results is not None:
            return shape, results
    return None


def is_plain(answer: object) -> bool:
    """Return whether this is a dict from documents to scores or a list of ids, as far as what comes first shows it."""
    # all queries of a run come this way: 0.2 µs for a deep dict, where the checks below take 3
    if type(answer) is dict and len(answer) > MOST_KEYS and type(next(iter(answer.values()))) is float:
        return True
    if isinstance(answer, Mapping):
        return not is_marked(answer) and not isinstance(next(iter(answer.values()), None), Mapping)
    if isinstance(answer, list | tuple):
        ends = [answer[0], answer[-1]] if answer else []
        return all(is_id(end) and not isinstance(end, UUID) for end in ends)
    return isinstance(answer, np.ndarray | str | bytes | AbstractSet)


def is_marked(answer: Mapping[object, object]) -> bool:
    """Return whether a dict has results under one of the keys of an answer."""
    keys = answer.keys()
    return not keys.isdisjoint(_MARKS) and any(
        isinstance(answer[mark], Mapping | list | tuple) for mark in keys & _MARKS
    )


def is_id(value: object) -> bool:
    """Return whether a value may be an id by itself: text, a whole number or a UUID."""
    return isinstance(value, str | UUID) or (hasattr(value, "__index__") and not isinstance(value, bool))


def is_nested(ids: Sequence[object]) -> bool:
    """Return whether a list consists of lists, one for each query."""
    return bool(ids) and all(isinstance(inner, list | tuple) for inner in ids)


def get_field(holder: Any, name: str) -> Any:
    """Return the value under a key or an attribute of that name; None if there is none, or it is a method."""
    try:
        # responses of clients, such as that of Elasticsearch, have keys without being mappings
        if hasattr(holder, "keys") and name in holder:
            return holder[name]
        value = getattr(holder, name, None)
    except Exception:  # noqa: BLE001 - a property that does not apply, such as the text of an image
        return None
    return None if callable(value) else value


def check_whole(answer: object) -> None:
    """Raise `BadAnswer` if Elasticsearch ran out of time, or could not search every shard."""
    shards = get_field(answer, "_shards")
    failed = shards.get("failed", 0) if isinstance(shards, Mapping) else 0
    if failed or get_field(answer, "timed_out") is True:
        why = f"{failed} of its shards failed" if failed else "it ran out of time"
        message = f"covers part of the index only: {why}"
        raise BadAnswer("partial-answer", message)


def refuse_several(count: int) -> BadAnswer:
    """Return the error for the answers to several queries where those to one are expected."""
    message = f"has the results of {counted(count, 'query')}, expected those of one"
    hint = "give them by query: `dict(zip(ids, answers))`; or `judged.read_run(answers, queries=ids)` splits them"
    return BadAnswer("several-queries", message, hint=hint)


# --- What opens each shape


def _at(*path: str) -> Callable[[object], Opened]:
    """Return a function that opens answers whose results are the list at a path of keys or attributes."""

    def open_path(answer: object) -> Opened:
        for name in path:
            answer = get_field(answer, name)
        return answer if isinstance(answer, list | tuple) else None

    return open_path


def open_hits(answer: object) -> Opened:
    """Open a response of Elasticsearch or OpenSearch, if it is of the whole index."""
    hits = _at("hits", "hits")(answer)
    if hits is not None:
        check_whole(answer)
    return hits


def _open_chroma(answer: object) -> Opened:
    """Open the columns of Chroma, which have a list for each query."""
    if not isinstance(answer, Mapping) or not isinstance(answer.get("ids"), list):
        return None
    ids = answer["ids"]
    if "distances" not in answer and "included" in answer and not is_nested(ids):
        message = "is a result of Chroma's `get`, which has no order, expected one of `query`"
        raise BadAnswer("not-results", message)
    names = {"ids": "id", "distances": "distance", "documents": "document", "metadatas": "metadata"}
    columns = {name: answer[column] for column, name in names.items() if answer.get(column) is not None}
    if is_nested(ids):
        if len(ids) != 1:
            raise refuse_several(len(ids))
        columns = {name: column[0] for name, column in columns.items()}
    lengths = sorted({len(column) for column in columns.values()})
    if len(lengths) > 1:
        message = f"has columns of {' and '.join(map(str, lengths))} results, expected as many in each"
        raise BadAnswer("not-results", message)
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _open_graphql(answer: object) -> Opened:
    """Open a response of Weaviate's GraphQL, which has the class between `Get` and its objects."""
    classes = get_field(get_field(answer, "data"), "Get")
    if not isinstance(classes, Mapping) or len(classes) != 1:
        return None
    rows: list[object] = []
    for item in next(iter(classes.values())) or ():
        about = dict(item.get("_additional") or {})
        if isinstance(about.get("score"), str):  # as hybrid search returns it
            about["score"] = float(about["score"])
        rows.append({**about, "properties": item})
    return rows


def _open_pipeline(answer: object) -> Opened:
    """Open what a pipeline of Haystack returns: the documents of its last component that has some."""
    if not isinstance(answer, Mapping):
        return None
    inner = [value.get("documents") for value in answer.values() if isinstance(value, Mapping)]
    lists = [documents for documents in inner if isinstance(documents, list)]
    return lists[-1] if lists else None


def _open_columns(answer: object) -> Opened:
    """Open the parallel lists that a vector store of LlamaIndex returns."""
    ids, similarities = get_field(answer, "ids"), get_field(answer, "similarities")
    if isinstance(answer, Mapping) or not (isinstance(ids, list) and isinstance(similarities, list)):
        return None
    return list(zip(ids, similarities, strict=True)) if len(ids) == len(similarities) else None


def _open_frame(answer: object) -> Opened:
    """Open a data frame: by rank, by score if it is one of PyTerrier without ranks, else in its order."""
    if not (hasattr(answer, "columns") and hasattr(answer, "to_dict")):
        return None
    columns = list(answer.columns)
    rows = answer.to_dicts() if hasattr(answer, "to_dicts") else answer.to_dict("records")
    if "rank" in columns:
        return sorted(rows, key=lambda row: row["rank"])
    if "docno" in columns and "score" in columns:
        return sorted(rows, key=lambda row: -row["score"])
    return list(rows)


SHAPES = (
    Shape("a data frame", _open_frame),
    Shape("a response of Elasticsearch or OpenSearch", open_hits),
    Shape("a result of Chroma", _open_chroma, distances=True),
    Shape("a response of Pinecone", _at("matches")),
    Shape("a response of Pinecone", _at("result", "hits")),
    Shape("a response of Qdrant", _at("points")),
    Shape("a response of Qdrant", _at("result", "points")),
    Shape("a response of Qdrant", _at("result")),
    Shape("groups of Qdrant", _at("groups")),
    Shape("a result of Weaviate", _at("objects"), distances=True),
    Shape("a result of Weaviate", _open_graphql, distances=True),
    Shape("a response of LlamaIndex", _at("source_nodes")),
    Shape("a response of LlamaIndex", _open_columns),
    Shape("an answer of LangChain", _at("source_documents")),
    Shape("an answer of LangChain", _at("context")),
    Shape("an answer of Haystack", _at("documents")),
    Shape("an answer of Haystack", _open_pipeline),
)
"""Every form of answers that keeps its results in something else than a list."""
_MARKS = frozenset(
    {
        *("hits", "ids", "matches", "result", "points", "groups", "objects", "data"),
        *("source_nodes", "source_documents", "context", "documents"),
    }
)
"""Keys by which a dict may be an answer; without any of them it goes from documents to scores."""
