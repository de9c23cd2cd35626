"""The seam of retrieval: what a stage is, and what flows from one to the next.

    Query ──▶ skip policy ──▶ rewrite ──▶ router ──▶ search ──▶ fuse ──▶ rerank ──▶ Ranked ──▶ generate

A stage is declared by a `StageSpec`: its fields are its settings, which a study reads from YAML, and its tag is the
`type` that users write. A spec is a value; `build(workshop)` turns it into the object that answers queries, with a
model loaded or an index built. Stages neither touch the clock nor know the system that they are part of; they raise
`StageFailed`, and the system adds its name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from judged.errors import JudgedError
from judged.progress import Progress
from judged.studies.stages.clock import Clock
from judged.studies.stages.uses import Use, find_uses
from judged.tables.nested import keep_order

if TYPE_CHECKING:
    from judged.studies.collections.collection import Collection
    from judged.studies.stages.chat import Replies
    from judged.studies.stages.vectors import VectorSpace

Vector: TypeAlias = NDArray[np.float32]
Matrix: TypeAlias = NDArray[np.float32]
"""Vectors as rows."""


class StageFailed(JudgedError, RuntimeError):
    """A stage that could not be built, or could not answer a query."""

    def __init__(self, message: str, *, hint: str | None = None, stage: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.stage = stage
        """The stage within another one that failed, such as `embedding` within `retrieval`."""


class StageSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="type"):
    """A stage as a study declares it."""

    extra: ClassVar[str] = ""
    """The extra that installs what the stage needs; empty if none is needed."""
    needs_vectors: ClassVar[bool] = False
    """Whether it compares vectors, so that it, or the system, needs an encoder."""

    @property
    def foreign(self) -> bool:
        """Whether it asks what the study does not build, a server or code of users, which may change unseen."""
        return any(use.kind in {"address", "variable", "import"} for use in self.list_uses())

    def list_uses(self) -> Iterator[Use]:
        """Yield the addresses, environment variables, files and code that it uses."""
        return find_uses(msgspec.to_builtins(self))

    @property
    def type(self) -> str:
        """The name that users write."""
        return str(self.__struct_config__.tag)

    def to_dict(self) -> dict[str, object]:
        """Return every setting, defaults included, as plain data: what the stage's results depend on."""
        settings: dict[str, object] = msgspec.to_builtins(self)
        return settings


@dataclass(frozen=True, slots=True)
class Ranked:
    """The results of one query: ids of documents, best first, and their scores."""

    documents: tuple[str, ...] = ()
    scores: tuple[float, ...] = ()

    @classmethod
    def sort(cls, pairs: Iterable[tuple[str, float]], depth: int | None = None) -> Ranked:
        """Return documents by score, the highest first; of equal ones the first stays first.

        >>> Ranked.sort([("a", 1.0), ("b", 2.0), ("c", 2.0)], depth=2)
        Ranked(documents=('b', 'c'), scores=(2.0, 2.0))
        """
        ordered = sorted(pairs, key=lambda pair: -pair[1])[:depth]
        return cls(tuple(document for document, _ in ordered), tuple(float(score) for _, score in ordered))

    def __len__(self) -> int:
        return len(self.documents)

    def __iter__(self) -> Iterator[tuple[str, float]]:
        return zip(self.documents, self.scores, strict=True)

    def in_order(self) -> Ranked:
        """Return the same results with scores that fall along the list, so that a run keeps its order."""
        return Ranked(self.documents, tuple(keep_order(self.scores)))

    def cut(self, depth: int) -> Ranked:
        """Return the first results."""
        return Ranked(self.documents[:depth], self.scores[:depth])


class Passage(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A part of a document, from one character of its text to before another."""

    document: str
    start: int
    end: int

    @property
    def id(self) -> str:
        """The id that it has as a document of its own."""
        return f"{self.document}[{self.start}:{self.end}]"


@dataclass(slots=True)
class Query:
    """A query on its way through a system: its text, its vectors, and the clock that times its stages."""

    id: str
    text: str
    clock: Clock = field(default_factory=Clock)
    sample: int = 0
    """Number of the pass over the queries, from 0; −1 is the warm-up or a trial, −2 a load test."""
    imagined: tuple[str, ...] = ()
    """Passages that might answer it: its vector is the mean of theirs, and of that of `asked`."""
    asked: str = ""
    """The text as it was asked, where there are such passages; empty leaves it out of the mean."""
    vectors: dict[int, Vector] = field(default_factory=dict)
    """Its vector in each space, by the identity of the space."""
    replies: dict[str, object] = field(default_factory=dict)
    """The replies of systems that others consist of: each is asked once, however many consist of it."""

    def embed(self, space: VectorSpace) -> Vector:
        """Return the query's vector in a space: encoded once, whichever stages ask for it, as the stage `embedding`."""
        if id(space) not in self.vectors:
            self.vectors[id(space)] = space.embed(self)
        return self.vectors[id(space)]


class Rewriting(NamedTuple):
    """A query in other words."""

    text: str
    """What is searched for by words."""
    imagined: tuple[str, ...] = ()
    """Passages that might answer it: what is searched for by vectors, together with `asked`."""
    asked: str = ""
    """The query as it was asked; empty leaves it out."""

    def apply(self, query: Query) -> Query:
        """Return the query in these words, on the same clock."""
        return replace(
            query, text=self.text, imagined=self.imagined, asked=self.asked, vectors={}, replies={}
        )


class Searcher(Protocol):
    """A stage that searches a collection."""

    def search(self, query: Query, depth: int) -> Ranked:
        """Return the best documents of the collection."""
        ...


class Reranker(Protocol):
    """A stage that reorders results."""

    def rerank(self, query: Query, ranked: Ranked) -> Ranked:
        """Return the same documents, or some of them, best first."""
        ...


@dataclass(frozen=True, eq=False)
class Workshop:
    """Inputs of stages: the collection, the vectors of its documents, and a folder for files."""

    collection: Collection
    encode: Callable[..., VectorSpace]
    """Takes an `EncoderSpec`; returns the collection, or another one as `on`, in its space; each is encoded once."""
    folder: Path
    """Folder where stages may write files; removed at the end."""
    progress: Progress = lambda _done, _total=None, _detail="": None
    replies: Replies | None = None
    """Kept replies of language models; None: none are kept."""

    def on(self, collection: Collection) -> Workshop:
        """Return the inputs of stages that work on another collection, such as one of passages."""
        return replace(self, collection=collection, encode=partial(self.encode, on=collection))

    def texts(self, documents: Sequence[str]) -> list[str]:
        """Return the texts of documents; raise `StageFailed` for one that the collection does not have."""
        try:
            return [self.collection.texts[self.collection.row(document)] for document in documents]
        except KeyError as error:
            msg = f"document `{error.args[0]}` is not in the collection, so there is no text to rank it by"
            raise StageFailed(msg) from None
