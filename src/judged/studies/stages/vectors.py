"""Vectors of a collection: encoded once, cached by content, and checked before anything is searched.

Vectors of documents outlive a study, those of queries do not: how long a query takes to encode is measured in the study that
reports it. What is cached is compared with what the encoder returns today before it is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, perf_counter_ns, time
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy as np

from judged.errors import JudgedError
from judged.progress import Progress
from judged.store.cache import Cache
from judged.store.hashing import hash_bytes, hash_value
from judged.studies.stages.encoders.encoder import Encoder, EncoderSpec
from judged.studies.stages.stage import Matrix, Query, StageFailed, Vector
from judged.studies.stages.tokens import Spent, count_tokens, sum_spent
from judged.wording import counted, say_when

if TYPE_CHECKING:
    from judged.studies.collections.collection import Collection

EMBEDDING = "embedding"
"""The stage in which queries are encoded."""
VERSION = 3
"""Cache format version; bump it when the computation of vectors changes."""
BATCH, PATIENCE = 1024, 1.0
"""Vectors that are written to the cache at a time, and the seconds after which fewer are."""
PROBES = 3
"""Number of cached texts that are encoded again, to see whether the encoder is still the one of the cache."""
_ENTRY = msgspec.msgpack.Decoder(tuple[bytes, int])


class CachedVector(NamedTuple):
    """A vector, and when it was encoded, in seconds since 1970."""

    vector: Vector
    made: int = 0

    def to_bytes(self) -> bytes:
        """Return it as the cache has it."""
        return msgspec.msgpack.encode((self.vector.astype("<f4").tobytes(), self.made))

    @classmethod
    def from_bytes(cls, value: bytes) -> CachedVector:
        """Return what `to_bytes` wrote; raise `ValueError` for anything else."""
        content, made = _ENTRY.decode(value)
        vector = np.frombuffer(content, dtype="<f4")
        if not np.isfinite(vector).all():
            raise ValueError("expected finite numbers")
        return cls(vector, made)


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
    key: bytes = b""
    seconds: float = 0.0
    """Encoding time of the documents, without those that were cached."""
    cached: int = 0
    """Number of different texts of documents that were cached."""
    made: int = 0
    """When the oldest of those was encoded, in seconds since 1970."""
    changed: bool = False
    """Whether the encoder returned something else than the cache had, so that everything was encoded again."""
    encoded_queries: int = 0
    """Number of queries encoded; a query that several systems encode in the same pass is encoded once."""
    spent: tuple[Spent, ...] = ()
    """Tokens of the documents that were encoded."""
    _known: dict[tuple[str, tuple[str, ...], str, int], tuple[Vector, int, list[Spent]]] = field(
        default_factory=dict
    )
    """The vector of each query and pass, the nanoseconds that it took, and the tokens."""

    @property
    def dimensions(self) -> int:
        """The length of its vectors."""
        return int(self.documents.shape[1])

    def share(self, other: VectorSpace) -> None:
        """Use the encoder of another space that has the same key, and the vectors of queries that it knows."""
        self.encoder, self._known = other.encoder, other._known

    def embed(self, query: Query) -> Vector:
        """Return the vector of a query; its time is that of `embedding`, for every system that asks for it."""
        key = (query.text, query.imagined, query.asked, query.sample)
        known = self._known.get(key)
        if known is not None:
            vector, taken, spent = known
            query.clock.add(EMBEDDING, taken)
            query.clock.spend(EMBEDDING, spent)
            return vector
        with query.clock.stage(EMBEDDING), count_tokens() as spent:
            started = perf_counter_ns()
            vector = self._imagine(query) if query.imagined else self.encode(query.text)
            taken = perf_counter_ns() - started
        query.clock.spend(EMBEDDING, spent)
        self.encoded_queries += 1
        if query.sample >= 0:  # a warm-up that finds its vector warms nothing up
            self._known[key] = vector, taken, spent
        return vector

    def _imagine(self, query: Query) -> Vector:
        """Return the mean of the vectors of passages that might answer a query, encoded as documents, and of its own."""
        own = [self.encode(query.asked)] if query.asked else []
        try:
            found = np.asarray(self.encoder.encode_documents(query.imagined), dtype=np.float32)
        except JudgedError as error:
            raise StageFailed(error.message, hint=error.hint, stage=EMBEDDING) from error
        except Exception as error:
            msg = f"the encoder failed: {type(error).__name__}: {error}"
            raise StageFailed(msg, stage=EMBEDDING) from error
        if found.shape != (len(query.imagined), self.dimensions) or not np.isfinite(found).all():
            msg = f"the encoder returned an array of shape {found.shape} for passages, expected ({len(query.imagined)}, {self.dimensions}) of finite numbers"
            raise StageFailed(msg, stage=EMBEDDING)
        mean: Vector = np.vstack([*own, found]).mean(axis=0, dtype=np.float64).astype(np.float32)
        return mean

    def notes(self) -> list[str]:
        """Return which vectors are older than the study, and what the encoder says."""
        notes = getattr(self.encoder, "notes", None)
        found = [] if notes is None else list(notes())
        if self.changed:
            found.append(
                "its encoder returned other vectors than those in the cache: all documents were encoded again"
            )
        if self.cached:
            found.append(
                f"vectors of {counted(self.cached, 'text')} are cached ones, the oldest of {say_when(self.made)}"
            )
        return found

    def forget(self) -> None:
        """Forget what the encoder counted for notes."""
        getattr(self.encoder, "forget", lambda: None)()

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


def encode_collection(
    spec: EncoderSpec,
    collection: Collection,
    cache: VectorCache,
    progress: Progress = lambda _done, _total=None, _detail="": None,
    *,
    fresh: bool = False,
) -> VectorSpace:
    """Return the collection in the space of an encoder; what is cached is not encoded again, unless `fresh`.

    Vectors are on disk within a second or two of their encoding, so a job that is killed loses little.
    """
    if not collection.documents:
        msg = f"the collection `{collection.name}` has no documents"
        raise StageFailed(msg)
    encoder = spec.load(collection.texts)
    key = make_key(spec, encoder, collection)
    cache.remember(spec, key)
    texts = list(dict.fromkeys(collection.texts))
    known = {} if fresh else cache.find(key, texts)
    if len({len(entry.vector) for entry in known.values()}) > 1:  # damaged ones
        known = {text: entry for text, entry in known.items() if len(entry.vector) == encoder.dimensions}
    changed = not _is_unchanged(encoder, known, collection, spec.steadiness)
    known = {} if changed else known
    cached, started = len(known), perf_counter_ns()
    vectors = {text: entry.vector for text, entry in known.items()}
    missing = [text for text in texts if text not in known]
    with count_tokens() as spent:
        for start, new in _encode_missing(spec, encoder, missing, collection, cache, key):
            vectors |= new
            progress(cached + start + len(new), len(texts), "encoding documents")
    return VectorSpace(
        encoder,
        np.stack([vectors[text] for text in collection.texts]),
        key,
        seconds=(perf_counter_ns() - started) / 1e9 if missing else 0.0,
        cached=cached,
        made=min((entry.made for entry in known.values()), default=0),
        changed=changed,
        spent=sum_spent(spent),
    )


def _is_unchanged(
    encoder: Encoder, known: Mapping[str, CachedVector], collection: Collection, steadiness: float
) -> bool:
    """Return whether an encoder returns for some texts what the cache has: a model may change where no key sees it."""
    some = list(known)[:: max(1, len(known) // PROBES)][:PROBES]
    if not some:
        return True
    now = _encode(encoder, some, collection)
    before = np.stack([known[text].vector for text in some])
    if now.shape != before.shape:
        return False
    apart = np.linalg.norm(now - before, axis=1)
    return bool((apart <= steadiness * np.linalg.norm(before, axis=1)).all())


def _encode_missing(
    spec: EncoderSpec,
    encoder: Encoder,
    missing: Sequence[str],
    collection: Collection,
    cache: VectorCache,
    key: bytes,
) -> Iterator[tuple[int, dict[str, Vector]]]:
    """Yield the vectors of texts batch by batch, each with its start, and write them to the cache now and then."""
    waiting: dict[str, CachedVector] = {}
    written = monotonic()
    try:
        for start in range(0, len(missing), spec.batch):
            some = missing[start : start + spec.batch]
            new = dict(zip(some, _encode(encoder, some, collection), strict=True))
            now = int(time())
            waiting |= {text: CachedVector(vector, now) for text, vector in new.items()}
            # a transaction for each small batch would write every page of the index many times over
            if len(waiting) >= BATCH or monotonic() - written > PATIENCE:
                cache.add(key, waiting)
                waiting, written = {}, monotonic()
            yield start, new
    finally:
        if waiting:
            cache.add(key, waiting)


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
