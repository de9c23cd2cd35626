"""Compatibility: how similar a ranking is to an ideal one."""

from __future__ import annotations

from typing import Literal

import numpy as np

from judged.arrays import Floats, Ints
from judged.kernels.elementary import powers
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import divide, segment_count, segment_sum
from judged.measures.laws import GRADED, Law
from judged.measures.measure import Measure


def compatibility(
    ranking: Ranking,
    *,
    p: float = 0.95,
    depth: int | Literal["longer"] = 1000,
    over: Literal["ideal", "everything"] = "ideal",
) -> Floats:
    r"""Return the rank-biased overlap of the results with the most similar of the ideal rankings.

    $$\mathrm{Compat} = \frac{\mathrm{RBO}(D, I)}{\mathrm{RBO}(I, I)}, \qquad
      \mathrm{RBO}(D, I) = \frac{\sum_{d=1}^{n} p^{d-1} \, |D_{1..d} \cap I_{1..d}| / d}{\sum_{d=1}^{n} p^{d-1}}$$

    where $D$ are the results, $n$ is `depth` (`"longer"`: the length of the longer list), and $I$ holds all
    documents with a positive grade, the highest grades first: documents of the same grade in the order of the
    results, those not retrieved last. With `over="everything"` RBO is not divided by the RBO of the ideal
    with itself, which is below 1 where the ideal ends. Only the order of grades matters, so they may come
    from preferences; `rel` has no part in it.

    Title: Compatibility: how similar a ranking is to an ideal one.
    Unjudged: is in no ideal ranking.
    Ties: results are in the order that the protocol's tie rule gives; the programs below take tied documents
        in ascending order of their ids (`ties="document-ascending"`).
    Empty: 0 when nothing with a positive grade is retrieved, and when nothing of the query has one.
    Agrees with: `compatibility.py` of claclark/Compatibility; ir_measures' `Compat` with `depth="longer"`,
        except that it puts missed documents before retrieved ones with scores below 0.
    References: Clarke, Vtyurina and Smucker. Assessing top-k preferences. TOIS 39(3), 2021.
        doi:10.1145/3451161
        Webber, Moffat and Zobel. A similarity measure for indefinite rankings. TOIS 28(4), 2010.
        doi:10.1145/1852102.1852106

    Example:
        The two documents are in the wrong order, so the first depth has no overlap and the second all: $(0 + 0.5
        \cdot 2/2) / (1 + 0.5)$

        >>> qrels = {"q1": {"a": 1, "b": 2}}
        >>> run = {"q1": ["a", "b"]}
        >>> judged.evaluate(qrels, run, "Compat(p=0.5, depth=2)").mean()
        {'Compat(p=0.5, depth=2)': 0.3333...}
    """
    shared, ideal, deep = _to_the_longer(ranking, p) if depth == "longer" else _to(ranking, p, depth)
    return divide(shared, ideal) if over == "ideal" else shared * (1.0 - p) / (1.0 - p**deep)


def _to(ranking: Ranking, p: float, depth: int) -> tuple[Floats, Floats, Floats]:
    """Return the overlap with the ideal, that of the ideal with itself, and the depth."""
    weights = overlap_weights(p, depth)
    return ideal_overlap(ranking, weights), overlap_of_ideals(ranking, weights), np.full(1, float(depth))


def _to_the_longer(ranking: Ranking, p: float) -> tuple[Floats, Floats, Floats]:
    """Return the same, each query as deep as the longer of its two lists."""
    wanted = segment_count(ranking.best > 0, ranking.best_offset)
    deep = np.maximum(np.maximum(ranking.retrieved, wanted), 1)
    depth = np.arange(1, int(deep.max(initial=1)) + 1)
    # Summed from the top, so that no query's value depends, to the last bit, on how long another's list is.
    above = np.concatenate(([0.0], np.cumsum(powers(p)(depth - 1) / depth)))
    both = np.maximum(ranking.rank, ideal_places(ranking)) - 1
    adds = np.where(ranking.grade > 0, above[deep][ranking.query] - above[np.minimum(both, len(depth))], 0.0)
    before = np.concatenate(([0.0], np.cumsum(above)))
    ideal = wanted.astype(np.float64) * above[deep] - before[wanted]
    return segment_sum(adds, ranking.offset), ideal, deep.astype(np.float64)


def overlap_weights(p: float, depth: int) -> Floats:
    """Return for every rank what a document adds that both lists hold from there on: the sum of pᵈ⁻¹/d to `depth`.

    The last one, for ranks below the depth, is 0.

    >>> overlap_weights(0.5, 2).tolist()
    [1.25, 0.25, 0.0]
    """
    rank = np.arange(1, depth + 1)
    terms = powers(p)(rank - 1) / rank
    return np.concatenate((np.cumsum(terms[::-1])[::-1], [0.0]))


def ideal_places(ranking: Ranking) -> Ints:
    """Return the rank of every retrieved judged document in the most similar ideal ranking.

    Ideal rankings hold the documents of positive grade, the highest grades first. Among equal grades the
    most similar one follows the run, with the documents that were not retrieved last.

    >>> from judged.kernels.examples import make_ranking
    >>> ideal_places(make_ranking([1, 3, 1], missed=[[3]])).tolist()
    [3, 1, 4]
    """
    order = np.lexsort((ranking.rank, -ranking.grade, ranking.query))
    query, grade = ranking.query[order], ranking.grade[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = (query[1:] != query[:-1]) | (grade[1:] != grade[:-1])
    start = np.flatnonzero(new)
    within = np.arange(len(order)) - start[np.cumsum(new) - 1] if len(order) else order
    place = np.empty(len(order), dtype=np.int64)
    place[order] = within + 1
    return place + _above(ranking)


def ideal_overlap(ranking: Ranking, weights: Floats) -> Floats:
    """Return the weighted overlap of the results of every query with that ideal ranking."""
    last = len(weights)
    shared = np.minimum(np.maximum(ranking.rank, ideal_places(ranking)), last)
    return segment_sum(np.where(ranking.grade > 0, weights[shared - 1], 0.0), ranking.offset)


def overlap_of_ideals(ranking: Ranking, weights: Floats) -> Floats:
    """Return the overlap of every query's ideal ranking with itself, the highest possible value."""
    wanted = segment_count(ranking.best > 0, ranking.best_offset)
    running = np.concatenate(([0.0], np.cumsum(weights)))
    highest: Floats = running[np.minimum(wanted, len(weights))]
    return highest


def _above(ranking: Ranking) -> Ints:
    """Count the judged documents with a higher grade than every retrieved one, retrieved or not."""
    level, code = np.unique(np.concatenate((-ranking.best, -ranking.grade)), return_inverse=True)
    judged = ranking.best_query * (len(level) + 1) + code[: len(ranking.best)]
    retrieved = ranking.query * (len(level) + 1) + code[len(ranking.best) :]
    return np.searchsorted(judged, retrieved, side="left") - ranking.best_offset[ranking.query]


Compat = Measure("Compat", compatibility, laws=GRADED | {Law.ONE_IF_IDEAL, Law.STEPWISE, Law.PARTED})
