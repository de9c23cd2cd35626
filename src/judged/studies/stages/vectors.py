"""Vectors of a collection: encoded once, cached by content, and checked before anything is searched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter_ns
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from judged.errors import JudgedError
from judged.progress import Progress
from judged.store.cache import Cache
from judged.store.hashing import hash_bytes, hash_value
from judged.studies.stages.encoders.encoder import Encoder, EncoderSpec
from judged.studies.stages.stage import Matrix, Query, StageFailed, Vector
from judged.wording import counted

if TYPE_CHECKING:
    from judged.studies.collections import Collection

EMBEDDING = "embedding"
"""The stage in which queries are encoded."""
VERSION = 2
"""Cache format version; bump it when the computation of vectors changes."""
_ENTRY = msgspec.msgpack.Decoder(tuple[bytes, tuple[int, ...]])


@dataclass(frozen=True, slots=True)
class CachedVector:
    """A vector, and how long it took to encode in each pass, if that was measured."""

    vector: Vector
    nanoseconds: tuple[int, ...] = ()

    def to_bytes(self) -> bytes:
        """Return it as the cache has it."""
        return msgspec.msgpack.encode((self.vector.astype("<f4").tobytes(), self.nanoseconds))

    @classmethod
    def from_bytes(cls, value: bytes) -> CachedVector:
        """Return what `to_bytes` wrote; raise `ValueError` for anything else."""
        content, nanoseconds = _ENTRY.decode(value)
        vector = np.frombuffer(content, dtype="<f4")
        if not np.isfinite(vector).all():
            raise ValueError("expected finite numbers")
        return cls(vector, nanoseconds)


class VectorCache:
    """Vectors by space and text, in one file that several processes may use; without a path, in memory."""

    def __init__(self, path: Path | None = None) -> None:
        hint = "remove the file, or name another one with `--cache`"
        self._entries = Cache(path, holds="vectors", hint=hint)

    def find(self, space: bytes, texts: Sequence[str]) -> dict[str, CachedVector]:
        """Return the cached ones of these texts; a damaged one is passed over."""
        keys = {_make_key(space, text): text for text in texts}
        cached = {}
        for key, value in self._entries.find(keys):
            with suppress(ValueError, msgspec.DecodeError):
                cached[keys[key]] = CachedVector.from_bytes(value)
        return cached

    def add(self, space: bytes, vectors: Mapping[str, CachedVector]) -> None:
        """Keep vectors by text, all or none of them."""
        entries = [(_make_key(space, text), cached.to_bytes()) for text, cached in vectors.items()]
        self._entries.add(entries, replace=True)

    def remember(self, spec: EncoderSpec, space: bytes) -> None:
        """Keep which space the settings of an encoder led to, so that `count` need not load it."""
        self._entries.add([(_hash_settings(spec), space)], replace=True)

    def count(self, spec: EncoderSpec, texts: Sequence[str]) -> int:
        """Return how many of the texts are cached, if the encoder is what it was when it was last loaded."""
        space = dict(self._entries.find([_hash_settings(spec)])).get(_hash_settings(spec))
        keys = set() if space is None else {_make_key(space, text) for text in texts}
        return sum(1 for _ in self._entries.find(keys))

    def close(self) -> None:
        """Close the file."""
        self._entries.close()


def _make_key(space: bytes, text: str) -> bytes:
    """Return the key of a text: half a hash, by which two of a million texts are taken for one once in 10^26 times."""
    return hash_bytes(space + text.encode("utf-8", "surrogatepass"))[:16]


def _hash_settings(spec: EncoderSpec) -> bytes:
    return bytes.fromhex(hash_value(spec.to_dict()))


@dataclass(eq=False)
class VectorSpace:
    """A collection in the space of an encoder: a row for each document, and a way to encode queries."""

    encoder: Encoder
    documents: Matrix
    key: bytes
    cache: VectorCache
    seconds: float = 0.0
    """Encoding time of the documents, without those that were cached."""
    cached: int = 0
    """Number of documents that were cached."""
    encoded_queries: int = 0
    """Number of queries encoded; those whose vector and time were cached are not."""
    _known: dict[str, CachedVector] = field(default_factory=dict)
    _new: dict[str, CachedVector] = field(default_factory=dict)

    @property
    def dimensions(self) -> int:
        """The length of its vectors."""
        return int(self.documents.shape[1])

    def embed(self, query: Query) -> Vector:
        """Return the vector of a query; the time it takes, or took when it was cached, is that of `embedding`."""
        known = self._known.get(query.text)
        if known is not None and query.sample < len(known.nanoseconds):
            if query.sample >= 0:
                query.clock.add(EMBEDDING, known.nanoseconds[query.sample])
            return known.vector
        with query.clock.stage(EMBEDDING):
            started = perf_counter_ns()
            vector = self.encode(query.text)
            taken = perf_counter_ns() - started
        self.encoded_queries += 1
        if query.sample >= 0:
            before = () if known is None else known.nanoseconds
            self._known[query.text] = self._new[query.text] = CachedVector(vector, (*before, taken))
        return vector

    def encode(self, text: str) -> Vector:
        """Return the vector of a text as a query, past the cache; raise `StageFailed` unless it is a finite row."""
        try:
            vector = np.asarray(self.encoder.encode_query(text), dtype=np.float32)
        except JudgedError as error:
            raise StageFailed(error.message, hint=error.hint, stage=EMBEDDING) from error
        except Exception as error:
            msg = f"the encoder failed: {type(error).__name__}: {error}"
            raise StageFailed(msg, stage=EMBEDDING) from error
        if vector.shape != (self.dimensions,):
            msg = f"the encoder returned an array of shape {vector.shape} for a query, expected ({self.dimensions},) as for documents"
            raise StageFailed(msg, stage=EMBEDDING)
        if not np.isfinite(vector).all():
            msg = f"the encoder returned {_name_bad(vector)} for the query `{text[:60]}`, expected finite numbers"
            raise StageFailed(msg, stage=EMBEDDING)
        return vector

    def look_up(self, texts: Sequence[str]) -> None:
        """Read from the cache which of these queries are encoded already."""
        cached = self.cache.find(self._query_key, texts)
        self._known |= {text: hit for text, hit in cached.items() if hit.vector.shape == (self.dimensions,)}

    def save(self) -> None:
        """Keep the vectors of the queries that were encoded since, with their times."""
        if self._new:
            self.cache.add(self._query_key, self._new)
            self._new = {}

    @property
    def _query_key(self) -> bytes:
        """The key of its queries: a text may have another vector as a query than as a document."""
        return hash_bytes(self.key + b"queries")


def encode_collection(
    spec: EncoderSpec,
    collection: Collection,
    cache: VectorCache,
    progress: Progress = lambda _done, _total=None, _detail="": None,
) -> VectorSpace:
    """Return the collection in the space of an encoder; what is cached is not encoded again.

    Each batch is on disk before the next one is encoded, so a job that is killed loses one batch.
    """
    if not collection.documents:
        msg = f"the collection `{collection.name}` has no documents"
        raise StageFailed(msg)
    encoder = spec.load(collection.texts)
    key = make_key(spec, encoder, collection)
    cache.remember(spec, key)
    texts = list(dict.fromkeys(collection.texts))
    known = {text: entry.vector for text, entry in cache.find(key, texts).items()}
    if len({len(vector) for vector in known.values()}) > 1:  # damaged ones
        known = {text: vector for text, vector in known.items() if len(vector) == encoder.dimensions}
    missing = [text for text in texts if text not in known]
    cached, started = len(known), perf_counter_ns()
    for start in range(0, len(missing), spec.batch):
        some = missing[start : start + spec.batch]
        vectors = _encode(encoder, some, collection)
        cache.add(key, {text: CachedVector(row) for text, row in zip(some, vectors, strict=True)})
        known |= dict(zip(some, vectors, strict=True))
        progress(cached + start + len(some), len(texts), "encoding documents")
    documents = np.stack([known[text] for text in collection.texts])
    seconds = (perf_counter_ns() - started) / 1e9 if missing else 0.0
    return VectorSpace(encoder, documents, key, cache, seconds, cached)


def make_key(spec: EncoderSpec, encoder: Encoder, collection: Collection) -> bytes:
    """Return the key of a space: everything that its vectors depend on, in a hash."""
    subject = {
        "version": VERSION,
        "settings": spec.to_dict(),
        "identity": dict(encoder.identity),
        "documents": collection.digest if spec.fitted else "",
    }
    return bytes.fromhex(hash_value(subject))


def _encode(encoder: Encoder, texts: Sequence[str], collection: Collection) -> Matrix:
    """Return the vectors of a batch; raise `StageFailed` if they are not one finite row for each text."""
    vectors = np.asarray(encoder.encode_documents(texts), dtype=np.float32)
    if vectors.shape != (len(texts), encoder.dimensions):
        first = collection.documents[collection.texts.index(texts[0])]
        msg = f"the encoder returned an array of shape {vectors.shape} for {counted(len(texts), 'document')} from `{first}` on, expected ({len(texts)}, {encoder.dimensions})"
        raise StageFailed(msg)
    bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if len(bad):
        document = collection.documents[collection.texts.index(texts[bad[0]])]
        msg = f"the encoder returned {_name_bad(vectors[bad[0]])} for document `{document}`, expected finite numbers"
        raise StageFailed(msg)
    return vectors


def _name_bad(vector: Vector) -> str:
    return "NaN" if np.isnan(vector).any() else "infinity"
