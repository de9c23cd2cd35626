"""The seam of existing systems: how a study declares one, and how what it returns becomes a ranking.

The order of a list is the order of the system, and its scores are made to keep it (`keep_order`). An id that is repeated, as by systems that return passages, counts
where it comes first. What was changed is counted, and `notes` says it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from typing import Protocol

from judged.studies.stages.searchers.searcher import RETRIEVAL
from judged.studies.stages.stage import Query, Ranked, Searcher, StageFailed, StageSpec, Workshop
from judged.studies.stages.vectors import VectorSpace
from judged.tables.nested import keep_order
from judged.wording import counted

Found = tuple[str, float | None]
"""A document, and its score if the system gives one."""


class Source(Protocol):
    """A client of one system."""

    def find(self, text: str, depth: int) -> Iterable[Found]:
        """Return results, the best first."""
        ...


class RetrieveSpec(StageSpec, frozen=True, kw_only=True):
    """An existing system as a study declares it."""

    stage: str = RETRIEVAL
    """The name under which it is timed."""

    def build(self, workshop: Workshop, space: VectorSpace | None = None) -> Searcher:  # noqa: ARG002
        """Return the searcher, ready for queries."""
        return ExistingSystem(self.type, self.open(), workshop)

    def open(self) -> Source:
        """Return what asks the system."""
        raise NotImplementedError


class ExistingSystem:
    """Asks a system, checks what comes back, and makes a ranking of it."""

    def __init__(self, name: str, source: Source, workshop: Workshop) -> None:
        self.name = name
        self.source = source
        self.counts: Counter[str] = Counter()
        """Number of results that were repeated or are in no collection, and of rankings without usable scores."""
        self._workshop = workshop

    def search(self, query: Query, depth: int) -> Ranked:
        """Return at most `depth` results."""
        results = self._drop_repeated(self.source.find(query.text, depth))[:depth]
        self._count_unknown([document for document, _ in results])
        scores = [score for _, score in results]
        self._count_unusable(scores)
        return Ranked(tuple(document for document, _ in results), tuple(keep_order(scores)))

    def notes(self) -> list[str]:
        """Return what was changed, as readers of the results should know."""
        words = {
            "repeated": ("result", "repeated a document of the same query, which counts where it came first"),
            "unknown": ("result", "named a document that the collection does not have"),
            "unscored": ("ranking", "had no scores, or not one for each result: ranks take their place"),
            "rising": ("ranking", "had scores that rise along the list: ranks take their place"),
        }
        notes = [
            f"{counted(self.counts[code], noun)} {text}"
            for code, (noun, text) in words.items()
            if self.counts[code]
        ]
        more = getattr(self.source, "notes", None)
        return [*notes, *([] if more is None else more())]

    def close(self) -> None:
        """Close connections, if there are any."""
        close = getattr(self.source, "close", None)
        if close is not None:
            close()

    def _drop_repeated(self, results: Iterable[Found]) -> list[Found]:
        first: dict[str, float | None] = {}
        for document, score in results:
            if document in first:
                self.counts["repeated"] += 1
            first.setdefault(document, score)
        return list(first.items())

    def _count_unknown(self, documents: list[str]) -> None:
        """Count results that the collection does not have; raise `StageFailed` if none was ever one that it has."""
        unknown = [document for document in documents if not self._has(document)]
        self.counts["known"] += len(documents) - len(unknown)
        if unknown and not self.counts["known"]:
            msg = (
                f"`{self.name}` returned documents that the collection does not have, such as `{unknown[0]}`"
            )
            raise StageFailed(msg, hint="say where the ids of the collection are, such as `id_field: doc_id`")
        self.counts["unknown"] += len(unknown)

    def _has(self, document: str) -> bool:
        try:
            self._workshop.collection.row(document)
        except KeyError:
            return False
        return True

    def _count_unusable(self, scores: list[float | None]) -> None:
        """Count a ranking whose scores do not describe its order."""
        known = [score for score in scores if score is not None]
        if len(known) < len(scores):
            self.counts["unscored"] += 1
        elif any(after > before for before, after in pairwise(known)):
            self.counts["rising"] += 1


def read_id(value: object, name: str) -> str:
    """Return an id as text; raise `StageFailed` for what identifies no document."""
    integer = hasattr(value, "__index__") and not isinstance(value, bool)
    if not (isinstance(value, str) or integer) or value == "":
        msg = f"`{name}` returned {value!r} as the id of a document, expected text or a whole number"
        raise StageFailed(msg)
    return str(value)


def read_score(value: object, document: str, name: str) -> float | None:
    """Return a score, None if absent; raise `StageFailed` unless it is a finite number."""
    if value is None:
        return None
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = math.nan
    if isinstance(value, str | bool) or not math.isfinite(number):
        msg = f"`{name}` returned {value!r} as the score of document `{document}`, expected a finite number"
        raise StageFailed(msg)
    return number
