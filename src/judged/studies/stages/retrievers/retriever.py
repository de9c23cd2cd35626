"""The seam of existing systems: how a study declares one, and how what it returns becomes a ranking.

The order of a list is the order of the system, and its scores are made to keep it. An id that is repeated, as by systems
that return passages, counts where it comes first. What was changed is counted, and `notes` says it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import ClassVar, Protocol

from judged.io.answer_shapes import BadAnswer
from judged.io.search_results import AnswerReader, SearchReply
from judged.studies.stages.searchers.searcher import RETRIEVAL
from judged.studies.stages.stage import Query, Ranked, Searcher, StageFailed, StageSpec, Workshop
from judged.studies.stages.vectors import VectorSpace
from judged.wording import counted


class Source(Protocol):
    """A client of one system."""

    reader: AnswerReader
    """Reads its answers, and counts what it changes in them."""

    def find(self, text: str, depth: int) -> SearchReply:
        """Return the results of a query, best first."""
        ...


class RetrieveSpec(StageSpec, frozen=True, kw_only=True):
    """An existing system as a study declares it."""

    stage: str = RETRIEVAL
    """The name under which it is timed."""

    id_hint: ClassVar[str] = "id_field: doc_id"
    """An example of the setting that says where the ids of documents are."""

    def build(self, workshop: Workshop, space: VectorSpace | None = None) -> Searcher:  # noqa: ARG002
        """Return the searcher, ready for queries."""
        return ExistingSystem(self.type, self.open(), workshop, id_hint=self.id_hint)

    def open(self) -> Source:
        """Return what asks the system."""
        raise NotImplementedError


class ExistingSystem:
    """Asks a system, checks what comes back, and makes a ranking of it."""

    def __init__(self, name: str, source: Source, workshop: Workshop, *, id_hint: str = "") -> None:
        self._id_hint = id_hint
        self.name = name
        self.source = source
        self.counts: Counter[str] = Counter()
        """Number of results that the collection has, and of those that it does not have."""
        self._workshop = workshop
        self._foreign = ""

    def search(self, query: Query, depth: int) -> Ranked:
        """Return at most `depth` results."""
        documents, scores = self.source.reader.rank(self.source.find(query.text, depth), depth)
        self._check_text(documents)
        self._count_unknown(documents)
        return Ranked(tuple(documents), tuple(scores))

    def notes(self) -> list[str]:
        """Return what was changed, as readers of the results should know."""
        notes = self.source.reader.notes()
        if not self._workshop.collection.documents:
            if self.counts["unknown"] and not self.counts["known"]:
                notes.append(f"none of its results is a judged document, such as `{self._foreign}`")
        elif self.counts["unknown"]:
            named = counted(self.counts["unknown"], "result")
            notes.append(f"{named} named a document that the collection does not have")
        more = getattr(self.source, "notes", None)
        return [*notes, *([] if more is None else more())]

    def forget(self) -> None:
        """Forget what was counted for notes."""
        self.counts.clear()
        self.source.reader.counts.clear()
        getattr(self.source, "forget", lambda: None)()

    def version(self) -> str:
        """Return the version that the system reports; empty if it reports none."""
        version = getattr(self.source, "version", None)
        return "" if version is None else str(version())

    def close(self) -> None:
        """Close connections, if there are any."""
        close = getattr(self.source, "close", None)
        if close is not None:
            close()

    def _check_text(self, documents: Sequence[str]) -> None:
        """Raise `StageFailed` for an id that is not text, which no file can hold."""
        try:
            "".join(documents).encode()
        except UnicodeEncodeError:
            msg = f"`{self.name}` returned an id with half of a surrogate pair, which is not text"
            raise StageFailed(msg) from None

    def _count_unknown(self, documents: Sequence[str]) -> None:
        """Count results that the collection does not have; raise `StageFailed` if none was ever one that it has.

        Without documents the collection knows what was judged, which a system need not find at once.
        """
        unknown = [document for document in documents if not self._has(document)]
        self.counts["known"] += len(documents) - len(unknown)
        self._foreign = unknown[0] if unknown else self._foreign
        if unknown and not self.counts["known"] and self._workshop.collection.documents:
            msg = (
                f"`{self.name}` returned documents that the collection does not have, such as `{unknown[0]}`"
            )
            raise StageFailed(msg, hint=f"say where the ids of the collection are, such as `{self._id_hint}`")
        self.counts["unknown"] += len(unknown)

    def _has(self, document: str) -> bool:
        collection = self._workshop.collection
        if not collection.documents:
            return document in collection.judged
        try:
            collection.row(document)
        except KeyError:
            return False
        return True


@contextmanager
def naming_answer(name: str, query: str | None = None) -> Iterator[None]:
    """Raise what is wrong with an answer as an error that names the system, and the query if nobody else does."""
    try:
        yield
    except BadAnswer as error:
        asked = "" if query is None else f" to query `{query}`"
        msg = f"answer of `{name}`{asked}: {error.message}"
        raise StageFailed(msg, hint=error.hint) from None
