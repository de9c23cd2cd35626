r"""Search by walking a graph: personalised PageRank over the similarities of documents.

Every document is joined to its nearest neighbours, with weights $w_{ij} = \max(0, \cos(d_i, d_j))$. A walk begins at
the documents that are most similar to the query, follows edges in proportion to their weights, and returns to the
beginning with probability $1 - \alpha$:

$$p = (1 - \alpha)\, s + \alpha\, W^\top p$$

where $s$ is the distribution over the first documents and $W$ has rows that sum to 1. Documents are ranked by $p$.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from judged.arrays import Floats
from judged.errors import BadProtocol
from judged.index.exact import find_neighbours
from judged.retrieve.encoders.models import normalise_rows
from judged.retrieve.searchers.searcher import SearchSpec, need_space, pick_best, rank_rows
from judged.retrieve.stage import Query, Ranked, Searcher, Workshop
from judged.retrieve.vectors import VectorSpace

__all__ = ["GraphWalk"]


class GraphWalk(SearchSpec, tag="graph", frozen=True, kw_only=True):
    """Personalised PageRank over the similarity graph of the collection (Haveliwala 2002)."""

    neighbours: int = 10
    """Edges from each document."""
    seeds: int = 10
    """Documents that a walk begins at."""
    damping: float = 0.85
    """The probability of following an edge."""
    tolerance: float = 1e-9
    """The walk ends when the distribution moves by less than this, summed over all documents."""

    needs_vectors = True

    def build(self, workshop: Workshop, space: VectorSpace | None) -> Searcher:
        """Join every document to its nearest neighbours."""
        from scipy import sparse

        if not 0 <= self.damping < 1:
            msg = f"`damping` is {self.damping:g}, expected a number from 0 and below 1"
            raise BadProtocol(msg)
        vectors = need_space(space, "graph")
        rows = normalise_rows(vectors.documents)
        wanted = min(self.neighbours + 1, len(rows))
        near = find_neighbours(rows, rows, "cosine", depth=wanted)
        source = np.repeat(np.arange(len(rows)), wanted)
        target = near.ids.ravel()
        weight = np.maximum(1.0 - near.distances.ravel(), 0.0)
        other = source != target
        graph = sparse.csr_matrix((weight[other], (source[other], target[other])), shape=(len(rows),) * 2)
        total = np.asarray(graph.sum(axis=1)).ravel()
        steps = sparse.diags(np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)) @ graph
        return _Walker(workshop, vectors, rows, steps.T.tocsr(), total <= 0, self)


class _Walker:
    def __init__(
        self, workshop: Workshop, space: VectorSpace, rows: Any, steps: Any, alone: Any, spec: GraphWalk
    ) -> None:
        self._workshop, self._space, self._rows, self._steps, self._spec = workshop, space, rows, steps, spec
        self._alone = alone
        """Documents without an edge: a walk that reaches one returns to its beginning."""

    def search(self, query: Query, depth: int) -> Ranked:
        """Return the documents that a walk visits most."""
        vector = normalise_rows(query.embed(self._space)[None])[0]
        similar = np.maximum((self._rows @ vector).astype(np.float64), 0.0)
        seeds = pick_best(similar, min(self._spec.seeds, len(similar)))
        seeds = seeds[similar[seeds] > 0]
        if not len(seeds):
            return Ranked()
        start = np.zeros(len(similar))
        start[seeds] = similar[seeds] / similar[seeds].sum()
        visits = self._walk(start)
        rows = pick_best(visits, min(depth, len(visits)))
        rows = rows[visits[rows] > 0]
        return rank_rows(self._workshop, rows, visits[rows])

    def _walk(self, start: Floats) -> Floats:
        damping, visits = self._spec.damping, start
        moved = 2.0
        while moved > self._spec.tolerance:
            after = damping * (self._steps @ visits + visits[self._alone].sum() * start)
            after += (1 - damping) * start
            moved = float(np.abs(after - visits).sum())
            visits = after
        return visits
