"""Search by vectors: every engine of the index benchmark as the store of a system."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import Annotated, ClassVar, Literal
from urllib.parse import urlsplit

import msgspec
import numpy as np

from judged.arrays import Floats, Ints
from judged.errors import BadProtocol, EngineFailed, MissingExtra
from judged.index.engine import (
    Engine,
    IndexSpec,
    Search,
    check_effective,
    complete_settings,
    find_engine,
)
from judged.studies.stages.cosine import normalise_rows
from judged.studies.stages.searchers.searcher import SearchSpec, need_space, rank_rows
from judged.studies.stages.spares import Spares
from judged.studies.stages.stage import Matrix, Query, Ranked, Searcher, StageFailed, Vector, Workshop
from judged.studies.stages.vectors import VectorSpace

_VARIABLE = re.compile(r"\$\{(\w+)\}")
BATCH = 10_000
"""Vectors that are inserted at a time."""


class VectorIndex(SearchSpec, tag="index", frozen=True, kw_only=True):
    """Nearest vectors in an engine of `judged index engines`, or in a user-defined class, "module:Class"."""

    engine: str = "exact"
    metric: Literal["cosine", "ip", "l2"] = "cosine"
    build_settings: dict[str, int | float | str | bool] = msgspec.field(default_factory=dict, name="build")
    query_settings: dict[str, int | float | str | bool] = msgspec.field(default_factory=dict, name="query")
    url: str | None = None
    """The address or DSN of a server; `${NAME}` is taken from the environment, and never written anywhere."""
    threads: Annotated[int, msgspec.Meta(ge=1)] = 1

    needs_vectors: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.url is not None and _has_password(self.url):
            msg = "`url` has a password, which the results of the study would repeat; write `${NAME}`, an environment variable"
            raise ValueError(msg)

    def build(self, workshop: Workshop, space: VectorSpace | None) -> Searcher:
        """Insert the vectors of all documents, and build the index."""
        vectors = need_space(space, self.engine)
        kind = find_engine(self.engine)
        missing = kind.missing_packages()
        if missing:
            raise MissingExtra(missing[0], extra=kind.extra, needed_by=f"the engine `{kind.name}`")
        if self.metric not in kind.capabilities.metrics:
            msg = f"`{kind.name}` has no metric {self.metric}, only {', '.join(sorted(kind.capabilities.metrics))}"
            raise BadProtocol(msg)
        build = complete_settings(
            kind.build_settings, self.build_settings, what=f"build setting of {kind.name}"
        )
        asked = complete_settings(
            kind.query_settings, self.query_settings, what=f"query setting of {kind.name}"
        )
        rows = normalise_rows(vectors.documents) if self.metric == "cosine" else vectors.documents
        engine = kind()
        try:
            engine.prepare()
            folder = Path(mkdtemp(prefix="index-", dir=workshop.folder))
            shape = IndexSpec(
                rows.shape[1],
                self.metric,
                len(rows),
                threads=self.threads,
                folder=folder,
                url=_read_address(self.url),
            )
            engine.create(shape, build)
            for start in range(0, len(rows), BATCH):
                ids = np.arange(start, min(start + BATCH, len(rows)))
                engine.insert(ids, rows[ids], {})
                workshop.progress(int(ids[-1]) + 1, len(rows), f"inserting into {kind.name}")
            engine.finish()
            searcher = _IndexSearcher(workshop, vectors, rows, engine, self.metric, asked)
            with searcher.open(1).borrow():
                pass  # engines can only report query settings that a searcher has set
            check_effective(engine, {**build, **asked})
        except BaseException:
            with suppress(Exception):  # the first error says more
                engine.close()
            raise
        return searcher


def _has_password(url: str) -> bool:
    """Return whether an address or a DSN has a password in it."""
    return "password=" in url.lower() or bool(urlsplit(url).password)


def _read_address(url: str | None) -> str | None:
    """Return the address, that of the environment variable if it names one."""
    named = None if url is None else _VARIABLE.fullmatch(url)
    if named is None:
        return url
    if named[1] not in os.environ:
        msg = f"`url` is the environment variable {named[1]}, which is not set"
        raise StageFailed(msg, hint=f"export {named[1]}=…")
    return os.environ[named[1]]


class _IndexSearcher:
    def __init__(
        self,
        workshop: Workshop,
        space: VectorSpace,
        rows: Matrix,
        engine: Engine,
        metric: str,
        settings: dict[str, int | float | str | bool],
    ) -> None:
        self._workshop, self._space, self._rows, self._engine = workshop, space, rows, engine
        self._metric, self._settings = metric, settings
        self._searches: dict[int, Spares[Search]] = {}

    def open(self, depth: int) -> Spares[Search]:
        """Return the engine's searches for that many results: each serves one query at a time."""
        if depth not in self._searches:
            most = min(depth, len(self._rows))
            self._searches[depth] = Spares(lambda: self._engine.searcher(most, self._settings))
        return self._searches[depth]

    def search(self, query: Query, depth: int) -> Ranked:
        """Return the nearest documents; their score is the similarity, or the negated distance, of the vectors.

        A query without a direction, such as one without a known word, is near to nothing: no document is returned.
        """
        vector = query.embed(self._space)
        if self._metric == "cosine":
            vector = normalise_rows(vector)
            if not vector.any():
                return Ranked()
        with self.open(depth).borrow() as search:
            rows = np.asarray(search(vector), dtype=np.int64).ravel()
        rows = rows[rows >= 0]
        self._check(rows)
        scores = self._measure(rows, vector)
        # an index that compares compressed vectors may order them otherwise: its order stands
        return rank_rows(self._workshop, rows, np.minimum.accumulate(scores))

    def _check(self, rows: Ints) -> None:
        if len(rows) and rows.max() >= len(self._rows):
            msg = f"`{self._engine.name}` returned row {rows.max():,}, and there are {len(self._rows):,} documents"
            raise EngineFailed(msg)
        if len(np.unique(rows)) < len(rows):
            msg = f"`{self._engine.name}` returned a document twice"
            raise EngineFailed(msg)

    def _measure(self, rows: Ints, vector: Vector) -> Floats:
        candidates, asked = self._rows[rows].astype(np.float64), vector.astype(np.float64)
        if self._metric == "l2":
            apart = candidates - asked
            scores: Floats = -np.sqrt(np.einsum("ij,ij->i", apart, apart))
        else:
            scores = candidates @ asked
        return scores

    def version(self) -> str:
        """Return the version of the engine, or of its server."""
        return str(self._engine.version())

    def close(self) -> None:
        """Release the index, and what it made on a server."""
        self._engine.close()
