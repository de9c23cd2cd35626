"""How Python objects are asked: the methods by which retrievers are known, their parameter for the depth, coroutines awaited."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass
from threading import Thread
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


class Awaiter:
    """Waits for answers of asynchronous objects, all in one event loop, as clients of networks demand."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: Thread | None = None

    def collect(self, answer: object) -> object:
        """Return an answer that is there: coroutines are awaited, and iterators listed, as their work is part of it."""
        if inspect.isawaitable(answer) or isinstance(answer, AsyncIterator):
            answer = asyncio.run_coroutine_threadsafe(_wait(answer), self._start()).result()
        if isinstance(answer, Iterator) and not _is_consumed(answer):
            return list(answer)
        return answer

    def close(self) -> None:
        """Stop the loop, if one was started."""
        if self._loop is not None and self._thread is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
        self._loop = self._thread = None

    def _start(self) -> asyncio.AbstractEventLoop:
        """Return the running loop: in a thread of its own, since that of the caller, as in notebooks, may be busy."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = Thread(target=self._loop.run_forever, name="judged-retriever", daemon=True)
            self._thread.start()
        return self._loop


async def _wait(answer: Any) -> object:
    return [item async for item in answer] if isinstance(answer, AsyncIterator) else await answer


def _is_consumed(answer: Iterator[object]) -> bool:
    return inspect.isgenerator(answer) and inspect.getgeneratorstate(answer) == inspect.GEN_CLOSED


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
