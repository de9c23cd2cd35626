"""How Python objects are asked: the methods by which retrievers are known, their parameter for the depth."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

Ask: TypeAlias = Callable[[str, int], object]
"""Returns the answer to the text of a query, of a number of results if the object has a parameter for it."""
DEPTHS = ("top_k", "depth", "k", "limit", "n_results", "size", "top_n")
"""Parameters that take the number of results."""


@dataclass(frozen=True)
class Way:
    """One method by which objects are asked."""

    method: str
    ask: Callable[[Any], Ask]
    beside: str = ""
    """Another attribute that the object must have for this meaning of the method."""


def _call(method: str) -> Callable[[Any], Ask]:
    """Return how to call a method with the query, and with the depth if it has a parameter for it."""
    return lambda target: _pass_depth(getattr(target, method))


def _run_pipeline(target: Any) -> Ask:
    return lambda text, depth: target.run(_fill_pipeline(target, text, depth))


def _run_component(target: Any) -> Ask:
    return _pass_depth(target.run, lambda text, **more: target.run(query=text, **more))


WAYS = (
    Way("invoke", lambda target: lambda text, _: target.invoke(text)),  # a retriever or a chain of LangChain
    Way("get_relevant_documents", _call("get_relevant_documents")),  # LangChain before 0.1
    Way("similarity_search", _call("similarity_search")),  # a vector store of LangChain
    Way("retrieve", _call("retrieve")),  # LlamaIndex
    Way("run", _run_pipeline, beside="inputs"),  # a pipeline of Haystack
    Way("run", _run_component),
    Way("search", _call("search")),  # PyTerrier, and others
    Way("query", _call("query")),  # a query engine of LlamaIndex
)
"""The methods by which objects are asked; the first that an object has."""
EXPECTED = f"a callable, or an object with {', '.join(f'`{way.method}`' for way in WAYS if not way.beside)}"


def find_ask(target: object) -> Ask | None:
    """Return how to ask an object for a number of results; None if it has no known method and cannot be called."""
    if isinstance(target, type):
        return None
    for way in WAYS:
        if callable(getattr(target, way.method, None)) and hasattr(target, way.beside or way.method):
            return way.ask(target)
    return _pass_depth(target) if callable(target) and not takes_no_query(target) else None


def takes_no_query(function: Callable[..., object]) -> bool:
    """Return whether a callable takes nothing, and so makes a retriever."""
    try:
        return not inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


def _pass_depth(function: Callable[..., object], ask: Callable[..., object] | None = None) -> Ask:
    """Return a call that passes the depth if the function has a parameter for it."""
    ask = ask or function
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # written in C
        parameters = {}  # type: ignore[assignment]
    for name in DEPTHS:
        if name in parameters:
            return lambda text, depth: ask(text, **{name: depth})
    return lambda text, _: ask(text)


def _fill_pipeline(pipeline: Any, text: str, depth: int) -> dict[str, dict[str, object]]:
    """Return the inputs of a pipeline of Haystack: the query for those that take it as `query` or `text`."""
    values: Mapping[str, object] = {"query": text, "text": text, "top_k": depth}
    filled = {
        component: {name: values[name] for name in sockets if name in values}
        for component, sockets in pipeline.inputs().items()
    }
    return {component: given for component, given in filled.items() if given}
