"""Searchers: what finds documents in the collection. `SEARCHERS` lists the types that a study may name."""

from __future__ import annotations

from typing import TypeAlias

from judged.studies.stages.searchers.graph import GraphWalk
from judged.studies.stages.searchers.index import VectorIndex
from judged.studies.stages.searchers.lexical import Bm25, Tantivy
from judged.studies.stages.searchers.searcher import SearchSpec

Searchers: TypeAlias = Bm25 | Tantivy | VectorIndex | GraphWalk
"""Any searcher, as a study declares it."""

SEARCHERS: dict[str, type[SearchSpec]] = {
    str(kind.__struct_config__.tag): kind for kind in (Bm25, Tantivy, VectorIndex, GraphWalk)
}
"""The types that a study may name; the name of an engine of vectors stands for `index` with that engine."""
