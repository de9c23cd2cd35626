"""Retrievers, as the class of this name in langchain-core 1.7."""

from __future__ import annotations

from typing import Any

from langchain_core.documents import Document


class BaseRetriever:
    """Base of retrievers, which override `_get_relevant_documents` and are asked by `invoke`."""

    def invoke(self, input: str, config: Any = None, **kwargs: Any) -> list[Document]:  # noqa: A002, ARG002 - the library's names
        """Return the documents of a query."""
        return self._get_relevant_documents(input, run_manager=None, **kwargs)

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        raise NotImplementedError
