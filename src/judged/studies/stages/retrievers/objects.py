"""Existing systems that are Python objects: retrievers of LangChain, LlamaIndex and Haystack, PyTerrier, functions.

No library is imported here: a system is known by its methods, and a result by its fields.
"""

from __future__ import annotations

from typing import Any

import msgspec

from judged.io.search_results import AnswerReader, Fields, SearchReply
from judged.studies.stages.awaiting import Awaiter
from judged.studies.stages.functions import call, load_object
from judged.studies.stages.retrievers.asking import EXPECTED, Ask, find_ask, takes_no_query
from judged.studies.stages.retrievers.retriever import RetrieveSpec, naming_answer
from judged.studies.stages.stage import StageFailed


class PythonObject(RetrieveSpec, frozen=True, kw_only=True, tag="object"):
    """A retriever of LangChain, LlamaIndex or Haystack, a transformer of PyTerrier, or any callable.

    The first of these methods that an object has decides how it is asked: `invoke`, `get_relevant_documents` and
    `similarity_search` (LangChain), `retrieve` (LlamaIndex), `run` (a component or pipeline of Haystack), `search`
    (PyTerrier and others), `query`; else it is called. What is asynchronous is awaited. A depth is passed where there is a parameter
    `top_k`, `depth`, `k`, `limit`, `n_results`, `size` or `top_n`; otherwise the object returns as many results as it was made for.
    Results are in any form that `judged.read_run` reads.
    """

    object: str
    """`module:attribute`, or a name announced under the entry points `judged.stages`."""
    settings: dict[str, Any] = msgspec.field(default_factory=dict)
    """If there are any, or if it is a class, it is called with them first, and returns the retriever."""
    id_field: str | None = None
    """The attribute, key or field of the metadata that has the id; None takes the first of `id`, `doc_id` and so on."""
    score_field: str | None = None
    """The attribute, key or field of the metadata that has the score; None takes the first of `score` and so on."""

    def open(self) -> _ObjectSource:
        """Import the object."""
        target = load_object(self.object, self.settings, kind="retriever")
        ask = find_ask(target)
        if ask is None and callable(target) and takes_no_query(target):
            ask = find_ask(call(target, self.object))
        if ask is None:
            msg = f"`{self.object}` is an object of type {type(target).__name__}, expected a retriever or a callable"
            raise StageFailed(msg, hint=f"a retriever is {EXPECTED}")
        return _ObjectSource(ask, self)


class _ObjectSource:
    def __init__(self, ask: Ask, spec: PythonObject) -> None:
        self._ask, self._name = ask, spec.object
        self._awaiter = Awaiter()
        self.reader = AnswerReader(Fields(spec.id_field, spec.score_field))
        self.close = self._awaiter.close

    def find(self, text: str, depth: int) -> SearchReply:
        """Ask the object, and read its results."""
        answer = call(lambda: self._awaiter.collect(self._ask(text, depth)), self._name)
        with naming_answer(self._name):
            return self.reader.read(answer)
