"""Exposure: how much attention readers give to each document, and to each group of documents, of a query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from judged.arrays import Flags, Floats, Ints
from judged.kernels.elementary import powers
from judged.kernels.segments import divide


@dataclass(frozen=True, eq=False)
class GroupShares:
    """The shares of groups in each document, and the target of each group; the last group is `unknown`."""

    offset: Ints
    """Document `d` owns shares `offset[d]` to `offset[d + 1]`; none if nothing is known of it."""
    group: Ints
    share: Floats
    target: Floats
    """The share of exposure that each known group should have."""
    target_with_unknown: Floats
    """The same where documents of unknown group are a group of their own, the last."""


@dataclass(frozen=True, eq=False)
class ExposureView:
    """Every ranked document of some queries, of each of which there may be several rankings."""

    rankings: Ints
    """Number of rankings of every query; 0 for one without results."""
    query: Ints
    """The query of every ranked document."""
    document: Ints
    """Number of the document; one has the same number wherever it is ranked."""
    rank: Ints
    judged_query: Ints
    judged_document: Ints
    grade: Floats
    """The grades of judged documents, retrieved or not; none is below 0."""
    shares: GroupShares | None = None

    def __len__(self) -> int:
        return len(self.rankings)

    def expect(self, weight: Floats) -> Floats:
        """Return the weight of every ranked document, divided by the number of rankings of its query."""
        return weight / np.maximum(self.rankings, 1)[self.query]

    @cached_property
    def pairs(self) -> Pairs:
        """Every document of a query that is ranked or judged."""
        width = 1 + max(int(self.document.max(initial=0)), int(self.judged_document.max(initial=0)))
        ranked = self.query * width + self.document
        judged = self.judged_query * width + self.judged_document
        keys, place = np.unique(np.concatenate((ranked, judged)), return_inverse=True)
        place = place.reshape(-1)
        grade = np.zeros(len(keys))
        grade[place[len(ranked) :]] = self.grade
        return Pairs(keys // width, grade, place[: len(ranked)])


class Pairs(NamedTuple):
    """The documents of each query, in the order of queries."""

    query: Ints
    grade: Floats
    """0 if it is unjudged."""
    ranked: Ints
    """The pair of every ranked document."""


def share_exposure(view: ExposureView, weight: Floats, shares: GroupShares, *, unknown: bool) -> Floats:
    """Return the exposure of each group of each query, as shares that add up to 1; 0 where no group has any.

    `unknown` says whether documents of unknown group are a group of their own, the last, or are left out.
    """
    groups, queries = len(shares.target_with_unknown), len(view)
    many = np.diff(shares.offset)[view.document]
    entry = np.repeat(np.arange(len(many)), many)
    first = np.repeat(shares.offset[view.document] - np.cumsum(many) + many, many)
    at = first + np.arange(len(entry))
    cell = view.query[entry] * groups + shares.group[at]
    exposure = np.bincount(cell, weights=weight[entry] * shares.share[at], minlength=queries * groups)
    nothing = many == 0
    cells = view.query[nothing] * groups + groups - 1
    exposure = exposure + np.bincount(cells, weights=weight[nothing], minlength=queries * groups)
    table = exposure.reshape(queries, groups)
    table = table if unknown else table[:, :-1]
    return divide(table, np.broadcast_to(table.sum(axis=1, keepdims=True), table.shape))


def diverge(first: Floats, second: Floats, log: Callable[[Floats], Floats]) -> Floats:
    """Return the Jensen–Shannon divergence of each row of `first` from the same of `second`.

    >>> diverge(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]]), np.log2).tolist()
    [1.0]
    """
    middle = (first + second) / 2
    parts = [_relative_entropy(part, middle, log) for part in (first, np.broadcast_to(second, first.shape))]
    return np.maximum((parts[0] + parts[1]) / 2, 0.0)


def _relative_entropy(part: Floats, whole: Floats, log: Callable[[Floats], Floats]) -> Floats:
    ratio = np.where(part > 0, divide(part, whole), 1.0)
    entropy: Floats = (part * log(ratio)).sum(axis=1)
    return entropy


def expose_documents(view: ExposureView, patience: float) -> Floats:
    """Return the expected exposure of each pair of the view, readers going on to each next rank with that patience."""
    weight = view.expect(powers(float(patience))(view.rank - 1))
    exposure = np.bincount(view.pairs.ranked, weights=weight, minlength=len(view.pairs.query))
    return exposure.astype(np.float64)


def find_targets(view: ExposureView, patience: float) -> Floats:
    """Return the exposure that each pair should have: that of the best rankings, equal for documents of one grade."""
    query, grade, _ = view.pairs
    order = np.lexsort((-grade, query))
    begins: Flags = np.diff(query[order], prepend=-1) > 0
    starts = np.flatnonzero(begins)
    place = np.arange(len(order)) - starts[np.cumsum(begins) - 1]
    new = begins | (np.diff(grade[order], prepend=np.nan) != 0)
    tier = np.cumsum(new) - 1
    weight = powers(float(patience))(place)
    mean = divide(np.bincount(tier, weights=weight), np.bincount(tier).astype(np.float64))
    target = np.empty(len(order))
    target[order] = mean[tier]
    return target


def add_by_query(view: ExposureView, values: Floats) -> Floats:
    """Return the sum over the pairs of each query."""
    sums = np.bincount(view.pairs.query, weights=values, minlength=len(view))
    return sums.astype(np.float64)
