"""Small collections and workshops for tests of retrieval, and ways to ask stages and systems."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from judged.studies.collections.collection import Collection
from judged.studies.stages.encoders.encoder import EncoderSpec
from judged.studies.stages.stage import Matrix, Query, Ranked, Vector, Workshop
from judged.studies.stages.vectors import VectorCache, VectorSpace, encode_collection
from judged.studies.systems.building import Systems
from judged.studies.systems.declared import SystemSpec
from judged.studies.systems.system import SystemReply

__all__ = [
    "TEXTS",
    "FixedEncoder",
    "ask",
    "make_collection",
    "make_space",
    "make_workshop",
    "open_systems",
    "read_spec",
]

TEXTS = (
    "the cat sat on the mat",
    "a dog chased the cat",
    "dogs and cats are pets",
    "the stock market fell today",
    "shares of the bank fell",
    "a recipe for apple pie",
    "bake the apple pie for an hour",
    "the bank of the river",
    "über die Brücke geht der Hund",
    "数据 検索 search",
)
"""Documents `d0`, `d1` and so on of the collection that most tests use."""
QUERIES = {"q1": "cats and dogs", "q2": "bank shares fell", "q3": "how long does apple pie bake"}


def make_collection(
    texts: Sequence[str] = TEXTS, queries: Mapping[str, str] | None = None, name: str = "small"
) -> Collection:
    """Return a collection of documents `d0`, `d1` and so on."""
    documents = tuple(f"d{row}" for row in range(len(texts)))
    return Collection(name, documents, tuple(texts), QUERIES if queries is None else queries)


def make_workshop(folder: Path, collection: Collection | None = None) -> Workshop:
    """Return a workshop that encodes for real, with a cache in memory."""
    chosen = collection or make_collection()
    cache = VectorCache()
    spaces: dict[bytes, VectorSpace] = {}

    def encode(spec: EncoderSpec) -> VectorSpace:
        key = msgspec.json.encode(spec)
        if key not in spaces:
            spaces[key] = encode_collection(spec, chosen, cache)
        return spaces[key]

    return Workshop(chosen, encode, folder)


@dataclass(eq=False)
class FixedEncoder:
    """An encoder whose vectors a test gives by text; it counts what it encodes."""

    vectors: Mapping[str, Sequence[float]]
    untrained: bool = False
    identity: Mapping[str, str] = field(default_factory=dict)
    encoded: list[str] = field(default_factory=list)

    @property
    def dimensions(self) -> int:
        """The length of the first vector."""
        return len(next(iter(self.vectors.values())))

    def encode_documents(self, texts: Sequence[str]) -> Matrix:
        """Return the vectors of texts."""
        self.encoded += texts
        return np.array([self.vectors[text] for text in texts], dtype=np.float32)

    def encode_query(self, text: str) -> Vector:
        """Return the vector of a text."""
        self.encoded.append(text)
        return np.array(self.vectors[text], dtype=np.float32)


def make_space(collection: Collection, vectors: Any, queries: Mapping[str, Sequence[float]]) -> VectorSpace:
    """Return a space of given vectors: a row for each document, and one for each text of a query."""
    documents = np.asarray(vectors, dtype=np.float32)
    encoder = FixedEncoder({**dict(zip(collection.texts, documents.tolist(), strict=True)), **queries})
    return VectorSpace(encoder, documents)


def read_spec(kind: type[Any], **settings: Any) -> Any:
    """Return the spec of settings as a study reads them, checks included."""
    return msgspec.convert({"type": kind.__struct_config__.tag, **settings}, kind)


def ask(stage: Any, text: str, depth: int = 100) -> Ranked:
    """Return what a searcher finds for a query."""
    found: Ranked = stage.search(Query("q", text), depth)
    return found


@contextmanager
def open_systems(
    folder: Path, systems: Sequence[Mapping[str, Any]], *, depth: int = 10, **more: Any
) -> Iterator[Callable[[str, str], SystemReply]]:
    """Build systems of declarations as in YAML; yield a function from a system's name and a query to an answer."""
    specs = msgspec.convert(list(systems), list[SystemSpec])
    for spec in specs:
        spec.check()
    workshop = more.pop("workshop", None) or make_workshop(folder)
    with closing(Systems({spec.name: spec for spec in specs}, workshop, depth=depth, **more)) as built:
        yield lambda name, text: built.build(name).answer(Query(text, text))
