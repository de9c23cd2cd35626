"""Collections: documents, queries and judgments that belong together, read from wherever they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from judged.errors import BadInput
from judged.problem import Problem
from judged.store.hashing import hash_parts

if TYPE_CHECKING:
    from judged.tables.judgments import Judgments


@dataclass(frozen=True, eq=False)
class Collection:
    """Documents, queries, and judgments of them.

    >>> collection = Collection("pets", ("d1", "d2"), ("a cat", "a dog"), {"q1": "cats"})
    >>> collection.texts[collection.row("d2")]
    'a dog'
    """

    name: str
    documents: tuple[str, ...]
    """The id of each document."""
    texts: tuple[str, ...]
    """The text of each document: its title, if it has one, and what follows."""
    queries: Mapping[str, str]
    """The text of each query, by id."""
    judgments: Judgments | None = None
    notes: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        if len(self.texts) != len(self.documents):
            counts = f"{len(self.texts):,} texts for {len(self.documents):,} documents, expected one for each"
            raise BadInput(self.name, [Problem.error("missing-text", "documents", counts)])
        if len(self._rows) != len(self.documents):
            seen: set[str] = set()
            twice = next(name for name in self.documents if name in seen or seen.add(name))  # type: ignore[func-returns-value]
            problem = Problem.error(
                "repeated-document", f"document `{twice}`", "occurs twice, expected each once"
            )
            raise BadInput(self.name, [problem])

    def __repr__(self) -> str:
        return f"Collection({self.name}: {len(self.documents):,} documents, {len(self.queries):,} queries)"

    def row(self, document: str) -> int:
        """Return the row of a document; raise `KeyError` if there is none."""
        return self._rows[document]

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {document: row for row, document in enumerate(self.documents)}

    @cached_property
    def digest(self) -> str:
        """A hash of the documents, ids and texts."""
        return _hash_pairs(zip(self.documents, self.texts, strict=True))

    @cached_property
    def query_digest(self) -> str:
        """A hash of the queries, ids and texts."""
        return _hash_pairs(self.queries.items())


def _hash_pairs(pairs: Iterable[tuple[str, str]]) -> str:
    """Return a hash of ids and texts, each with its length, so that no two lists of pairs look alike."""
    contents = (part.encode("utf-8", "surrogatepass") for pair in pairs for part in pair)
    return hash_parts(len(content).to_bytes(8, "little") + content for content in contents).hex()
