"""Existing systems that are Python objects: retrievers of LangChain, LlamaIndex and Haystack, PyTerrier, functions.

No library is imported here: a system is known by its methods, and a result by its attributes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from judged.studies.stages.functions import call, load_object
from judged.studies.stages.retrievers.retriever import Found, RetrieveSpec, read_id, read_score
from judged.studies.stages.stage import StageFailed

IDS = ("id", "doc_id", "docno", "document_id", "_id", "node_id")
"""Fields of ids, if none is named: the first of these that an object or its metadata has."""
SCORES = ("score", "relevance_score", "_score")
COLUMN = "docno"
"""The column of a data frame of PyTerrier with ids."""

Ask: TypeAlias = Callable[[str, int], Any]


class PythonObject(RetrieveSpec, frozen=True, kw_only=True, tag="object"):
    """A retriever of LangChain, LlamaIndex or Haystack, a transformer of PyTerrier, or any callable.

    The first of these that an object has decides how it is asked: `invoke(query)` (LangChain), `retrieve(query)`
    (LlamaIndex), `run(query=…)` (a component or pipeline of Haystack), `search(query)` with `transform` (PyTerrier),
    `(query)`. A depth is passed where there is a parameter `top_k`, `depth`, `k` or `limit`; otherwise the object returns as
    many results as it was made for. Results are ids, pairs of id and score, scores by id, a data frame with `docno`, or
    objects with an id and perhaps a score, in attributes or metadata.
    """

    object: str
    """`module:attribute`, or a name announced under the entry points `judged.retrievers`."""
    settings: dict[str, Any] = msgspec.field(default_factory=dict)
    """If there are any, or if it is a class, it is called with them first, and returns the retriever."""
    id_field: str | None = None
    """The attribute, key or field of the metadata that has the id; None takes the first of `id`, `doc_id` and so on."""
    score_field: str | None = None
    """The attribute, key or field of the metadata that has the score; None takes the first of `score` and so on."""

    def open(self) -> _ObjectSource:
        """Import the object."""
        target = load_object(self.object, self.settings, kind="retriever")
        ask = find_question(target)
        if ask is None and callable(target) and _takes_no_query(target):
            ask = find_question(call(target, self.object))
        if ask is None:
            msg = f"`{self.object}` is an object of type {type(target).__name__}, expected a retriever or a callable"
            raise StageFailed(msg, hint="a retriever has `invoke`, `retrieve`, `run` or `transform`")
        return _ObjectSource(ask, self)


class _ObjectSource:
    def __init__(self, ask: Ask, spec: PythonObject) -> None:
        self._ask, self._spec = ask, spec

    def find(self, text: str, depth: int) -> list[Found]:
        """Ask the object, and read its results."""
        answer = call(self._ask, self._spec.object, text, depth)
        return [self._read(item) for item in self._list(answer)]

    def _list(self, answer: Any) -> Iterable[Any]:
        """Return the results in an answer, the best first."""
        if answer is None:
            return []
        if hasattr(answer, "columns") and hasattr(answer, "to_dict"):
            return _list_rows(answer, self._spec.object)
        if isinstance(answer, Mapping):
            documents = _find_documents(answer)
            if documents is not None:
                return documents
            name = self._spec.object
            scores = {
                document: read_score(score, document, name) or 0.0 for document, score in answer.items()
            }
            return sorted(scores.items(), key=lambda pair: -pair[1])
        if isinstance(answer, Iterable) and not isinstance(answer, str | bytes):
            return answer
        msg = f"`{self._spec.object}` returned {type(answer).__name__}, expected a list of results"
        raise StageFailed(msg)

    def _read(self, item: Any) -> Found:
        """Return the id and the score of one result."""
        name = self._spec.object
        if isinstance(item, str) or hasattr(item, "__index__"):
            return read_id(item, name), None
        if isinstance(item, Sequence):
            if len(item) == 2 and (isinstance(item[0], str) or hasattr(item[0], "__index__")):
                document = read_id(item[0], name)
                return document, read_score(item[1], document, name)
            if len(item) == 2:  # a document with its score, as of vector stores
                return self._read(item[0])[0], read_score(item[1], "", name)
        document = read_id(self._look_up(item, self._spec.id_field, IDS), name)
        return document, read_score(self._look_up(item, self._spec.score_field, SCORES), document, name)

    def _look_up(self, item: Any, field: str | None, usual: Sequence[str]) -> Any:
        """Return the first value that is there: of the result, of the node that it wraps, or of their metadata."""
        holders = list(_list_holders(item))
        if field is not None:  # metadata first: its names are the user's own
            holders.reverse()
        for name in usual if field is None else (field,):
            for holder in holders:
                value = holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)
                if value is not None and not callable(value):
                    return value
        return None


def find_question(target: Any) -> Ask | None:  # noqa: PLR0911 - one for each kind
    """Return how to ask an object for a number of results; None if it has no known method."""
    if isinstance(target, type):
        return None
    if hasattr(target, "invoke"):
        return lambda text, _: target.invoke(text)
    if hasattr(target, "retrieve"):
        return lambda text, _: target.retrieve(text)
    if hasattr(target, "run") and hasattr(target, "inputs"):
        return lambda text, depth: target.run(_fill_pipeline(target, text, depth))
    if hasattr(target, "run"):
        return _pass_depth(lambda text, **more: target.run(query=text, **more), target.run)
    if hasattr(target, "search") and hasattr(target, "transform"):
        return lambda text, _: target.search(text)
    if callable(target) and not _takes_no_query(target):
        return _pass_depth(target, target)
    return None


def _pass_depth(ask: Callable[..., Any], function: Callable[..., Any]) -> Ask:
    """Return a call that passes the depth if the function has a parameter for it."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # written in C
        parameters = {}  # type: ignore[assignment]
    for name in ("top_k", "depth", "k", "limit"):
        if name in parameters:
            return lambda text, depth: ask(text, **{name: depth})
    return lambda text, _: ask(text)


def _takes_no_query(function: Callable[..., Any]) -> bool:
    """Return whether a callable takes nothing: one that makes a retriever."""
    try:
        return not inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


def _fill_pipeline(pipeline: Any, text: str, depth: int) -> dict[str, dict[str, Any]]:
    """Return the inputs of a pipeline of Haystack: the query for those that take it as `query` or `text`."""
    values = {"query": text, "text": text, "top_k": depth}
    filled = {
        component: {name: values[name] for name in sockets if name in values}
        for component, sockets in pipeline.inputs().items()
    }
    return {component: given for component, given in filled.items() if given}


def _find_documents(answer: Mapping[str, Any]) -> Sequence[Any] | None:
    """Return the documents in an answer of Haystack: of a component, or of the last component of a pipeline."""
    holders = [answer, *(value for value in answer.values() if isinstance(value, Mapping))]
    lists = [holder["documents"] for holder in holders if isinstance(holder.get("documents"), list)]
    return lists[-1] if lists else None


def _list_rows(frame: Any, name: str) -> list[tuple[Any, Any]]:
    """Return ids and scores of a data frame, by rank, or by score where there are no ranks."""
    if COLUMN not in frame.columns:
        msg = f"`{name}` returned a data frame with the columns {list(frame.columns)}, expected `{COLUMN}`"
        raise StageFailed(msg)
    rows = frame.to_dict("records")
    if "rank" in frame.columns:
        rows.sort(key=lambda row: row["rank"])
    elif "score" in frame.columns:
        rows.sort(key=lambda row: -row["score"])
    return [(row[COLUMN], row.get("score")) for row in rows]


def _list_holders(item: Any) -> Iterator[Any]:
    """Yield what may hold a value: a result, the node or document that it wraps, and their metadata."""
    wrapped = [getattr(item, name, None) for name in ("node", "document")]
    for holder in (item, *(wrapper for wrapper in wrapped if wrapper is not None)):
        yield holder
        for name in ("metadata", "meta"):
            inner = holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)
            if isinstance(inner, Mapping):
                yield inner
