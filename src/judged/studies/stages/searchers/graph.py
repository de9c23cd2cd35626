r"""Search by walking a graph: personalised PageRank over the similarities of documents.

Every document is joined to its nearest neighbours, with weights $w_{ij} = \max(0, \cos(d_i, d_j))$. A walk begins at
the documents that are most similar to the query, follows edges in proportion to their weights, and returns to the
beginning with probability $1 - \alpha$:

$$p = (1 - \alpha)\, s + \alpha\, W^\top p$$

where $s$ is the distribution over the first documents and $W$ has rows that sum to 1. Documents are ranked by $p$.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, ClassVar

import msgspec
import numpy as np

from judged.arrays import Flags, Floats
from judged.index.exact import find_neighbours
from judged.studies.stages.cosine import normalise_rows
from judged.studies.stages.searchers.searcher import SearchSpec, need_space, pick_best, rank_rows
from judged.studies.stages.stage import Matrix, Query, Ranked, Searcher, Workshop
from judged.studies.stages.vectors import VectorSpace

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


class GraphWalk(SearchSpec, tag="graph", frozen=True, kw_only=True):
    """Personalised PageRank over the similarity graph of the collection.

    References:
        Haveliwala. Topic-sensitive PageRank. WWW 2002. doi:10.1145/511446.511513
    """

    neighbours: Annotated[int, msgspec.Meta(ge=1)] = 10
    """Edges from each document."""
    seeds: Annotated[int, msgspec.Meta(ge=1)] = 10
    """Documents that a walk begins at."""
    damping: Annotated[float, msgspec.Meta(ge=0, lt=1)] = 0.85
    """The probability of following an edge."""
    tolerance: Annotated[float, msgspec.Meta(gt=0)] = 1e-9
    """The walk ends when the distribution moves by less than this, summed over all documents."""

    needs_vectors: ClassVar[bool] = True

    def build(self, workshop: Workshop, space: VectorSpace | None) -> Searcher:
        """Join every document to its nearest neighbours."""
        from scipy import sparse

        vectors = need_space(space, "graph")
        rows = normalise_rows(vectors.documents)
        wanted = min(self.neighbours + 1, len(rows))  # one more, for the document itself
        near = find_neighbours(rows, rows, "cosine", depth=wanted)
        other = near.ids != np.arange(len(rows))[:, None]
        # a document is its own nearest neighbour, unless more copies of it come first than there are neighbours
        joined = other & (np.cumsum(other, axis=1) <= self.neighbours)
        source, target = np.nonzero(joined)[0], near.ids[joined]
        # weights become probabilities, so what points the other way has no edge
        weight = np.maximum(1.0 - near.distances[joined], 0.0)
        graph = sparse.csr_matrix((weight, (source, target)), shape=(len(rows),) * 2)
        total = np.asarray(graph.sum(axis=1)).ravel()
        steps = sparse.diags(np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)) @ graph
        return _Walker(workshop, vectors, rows, steps.T.tocsr(), total <= 0, self)


class _Walker:
    def __init__(
        self,
        workshop: Workshop,
        space: VectorSpace,
        rows: Matrix,
        steps: csr_matrix,
        alone: Flags,
        spec: GraphWalk,
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
        for _ in range(self._steps_needed):
            after = damping * (self._steps @ visits + visits[self._alone].sum() * start)
            after += (1 - damping) * start
            moved = float(np.abs(after - visits).sum())
            visits = after
            if moved <= self._spec.tolerance:
                break
        return visits

    @property
    def _steps_needed(self) -> int:
        """Steps after which any walk moves by less than the tolerance: each moves by the damping less, the first by 2."""
        damping = self._spec.damping
        return 1 + (math.ceil(math.log(self._spec.tolerance / 2, damping)) if damping > 0 else 0)
