"""Vectors of a collection: encoded once, cached by content, and checked before anything is searched."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter_ns
from typing import TYPE_CHECKING

import numpy as np

from judged.errors import JudgedError, Unreadable
from judged.progress import Progress
from judged.studies.stages.encoders.encoder import Encoder, EncoderSpec
from judged.studies.stages.stage import Matrix, Query, StageFailed, Vector
from judged.wording import counted

if TYPE_CHECKING:
    from judged.studies.collection import Collection

EMBEDDING = "embedding"
"""The stage in which queries are encoded."""
VERSION = 2
"""Part of every key; raised when vectors are made in another way."""
LOOKUP = 500
"""Texts that are looked up in the cache at a time."""

_TABLES = (
    (
        "CREATE TABLE IF NOT EXISTS vectors (space BLOB NOT NULL, text BLOB NOT NULL, vector BLOB NOT NULL, "
        "nanoseconds TEXT NOT NULL, PRIMARY KEY (space, text)) STRICT, WITHOUT ROWID"
    ),
    "CREATE TABLE IF NOT EXISTS spaces (settings BLOB PRIMARY KEY, space BLOB NOT NULL) STRICT, WITHOUT ROWID",
)


@dataclass(frozen=True, slots=True)
class CachedVector:
    """A vector, and how long it took to encode in each pass, if that was measured."""

    vector: Vector
    nanoseconds: tuple[int, ...] = ()


class VectorCache:
    """Vectors by space and text, in one SQLite file that several processes may use; without a path, in memory."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        with self._wording():
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(path or ":memory:", timeout=60, isolation_level=None)
            if path is not None:
                self._database.execute("PRAGMA journal_mode = WAL")
                self._database.execute("PRAGMA synchronous = NORMAL")
            for table in _TABLES:
                self._database.execute(table)

    def find(self, space: bytes, texts: Sequence[str]) -> dict[str, CachedVector]:
        """Return the cached ones of these texts; a damaged row is passed over."""
        keys = {_hash(text): text for text in texts}
        found = {}
        with self._wording():
            for key, vector, nanoseconds in self._select(space, list(keys)):
                with suppress(ValueError, TypeError):
                    row = CachedVector(
                        np.frombuffer(vector, dtype="<f4"), tuple(map(int, json.loads(nanoseconds)))
                    )
                    if np.isfinite(row.vector).all():
                        found[keys[key]] = row
        return found

    def _select(self, space: bytes, keys: list[bytes]) -> Iterator[tuple[bytes, bytes, str]]:
        for start in range(0, len(keys), LOOKUP):
            some = keys[start : start + LOOKUP]
            marks = ",".join("?" * len(some))
            with closing(
                self._database.execute(
                    f"SELECT text, vector, nanoseconds FROM vectors WHERE space = ? AND text IN ({marks})",  # noqa: S608 - question marks alone
                    [space, *some],
                )
            ) as rows:
                yield from rows

    def add(self, space: bytes, vectors: dict[str, CachedVector]) -> None:
        """Keep vectors by text, all or none of them."""
        rows = [
            (space, _hash(text), one.vector.astype("<f4").tobytes(), json.dumps(one.nanoseconds))
            for text, one in vectors.items()
        ]
        with self._wording(), closing(self._database.cursor()) as cursor:
            cursor.execute("BEGIN IMMEDIATE")
            try:
                cursor.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)", rows)
                cursor.execute("COMMIT")
            except sqlite3.Error:
                with suppress(sqlite3.Error):
                    cursor.execute("ROLLBACK")
                raise

    def remember(self, spec: EncoderSpec, space: bytes) -> None:
        """Keep which space the settings of an encoder led to, so that `count` need not load it."""
        with self._wording():
            self._database.execute(
                "INSERT OR REPLACE INTO spaces VALUES (?, ?)", [_hash_settings(spec), space]
            )

    def count(self, spec: EncoderSpec, texts: Sequence[str]) -> int:
        """Return how many of the texts are cached, if the encoder is what it was when it was last loaded."""
        with self._wording():
            row = self._database.execute(
                "SELECT space FROM spaces WHERE settings = ?", [_hash_settings(spec)]
            ).fetchone()
            keys = [] if row is None else [_hash(text) for text in dict.fromkeys(texts)]
            return sum(1 for _ in self._select(row[0], keys)) if keys else 0

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    @contextmanager
    def _wording(self) -> Iterator[None]:
        """Raise what goes wrong with the file as an error that names it."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            msg = f"the cache of vectors {self.path} cannot be used: {error}"
            raise Unreadable(msg, hint="remove the file, or name another one with `--cache`") from None


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _hash_settings(spec: EncoderSpec) -> bytes:
    return hashlib.sha256(json.dumps(spec.to_dict(), sort_keys=True).encode()).digest()


@dataclass(eq=False)
class VectorSpace:
    """A collection in the space of an encoder: a row for each document, and a way to encode queries."""

    encoder: Encoder
    documents: Matrix
    key: bytes
    cache: VectorCache
    seconds: float = 0.0
    """How long the documents took to encode, without those that were cached."""
    cached: int = 0
    """How many documents were cached."""
    encoded_queries: int = 0
    """How many queries were encoded; those whose vector and time were cached are not."""
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
        self._known |= {text: one for text, one in cached.items() if one.vector.shape == (self.dimensions,)}

    def save(self) -> None:
        """Keep the vectors of the queries that were encoded since, with their times."""
        if self._new:
            self.cache.add(self._query_key, self._new)
            self._new = {}

    @property
    def _query_key(self) -> bytes:
        """The key of its queries: a text may have another vector as a query than as a document."""
        return hashlib.sha256(self.key + b"queries").digest()


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
    found = {text: one.vector for text, one in cache.find(key, texts).items()}
    if len({len(vector) for vector in found.values()}) > 1:  # damaged ones
        found = {text: vector for text, vector in found.items() if len(vector) == encoder.dimensions}
    missing = [text for text in texts if text not in found]
    cached, started = len(found), perf_counter_ns()
    for start in range(0, len(missing), spec.batch):
        some = missing[start : start + spec.batch]
        vectors = _encode(encoder, some, collection)
        cache.add(key, {text: CachedVector(row) for text, row in zip(some, vectors, strict=True)})
        found |= dict(zip(some, vectors, strict=True))
        progress(cached + start + len(some), len(texts), "encoding documents")
    documents = np.stack([found[text] for text in collection.texts])
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
    return hashlib.sha256(json.dumps(subject, sort_keys=True).encode()).digest()


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
