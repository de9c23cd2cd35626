"""What can be wrong within a query: documents that stand twice, tied scores, ranks against the scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from judged.checks.batch import Batch
from judged.checks.findings import Findings
from judged.checks.rows import shown
from judged.io.sniff import Kind as Role
from judged.kernels.scan.keys import distinct
from judged.kernels.scan.strings import Words
from judged.kernels.segments import Flags, Ints

__all__ = ["note_queries", "repeats"]


def note_queries(batch: Batch, findings: Findings, role: Role) -> None:
    """Note what is wrong within the queries of a batch, all of whose rows are sound."""
    if len(batch) == 0:
        return
    again, first = repeats(batch)
    if role == "judgments":
        _note_judged_twice(batch, again, first, findings)
        return
    findings.add(
        "retrieved-twice",
        batch.number[again],
        lambda i: (
            f"document `{shown(batch.document, int(again[i]))}` is retrieved again for query "
            f"`{shown(batch.query, int(again[i]))}`, first at {findings.where(int(batch.number[first[i]]))}"
        ),
    )
    _note_ties(batch, findings)
    if batch.rank is not None:
        _note_ranks(batch, batch.rank, findings)


def repeats(batch: Batch) -> tuple[Ints, Ints]:
    """Rows whose document their query (and intent) had before, ascending, and the row that had it first."""
    keys = batch.identity
    ordered = np.sort(keys)
    twice = distinct(ordered[1:][ordered[1:] == ordered[:-1]])
    if len(twice) == 0:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    rows = np.flatnonzero(_among(keys, twice))
    order = rows[np.argsort(keys[rows], kind="stable")]
    later, earlier = order[1:], order[:-1]
    same = (keys[later] == keys[earlier]) & (batch.block[later] == batch.block[earlier])
    same &= batch.document[later].equals(batch.document[earlier])
    if batch.intent is not None:
        same &= batch.intent[later].equals(batch.intent[earlier])
    chain = np.cumsum(np.concatenate(([True], ~same)))
    first = order[np.flatnonzero(np.concatenate(([True], ~same)))][chain - 1]
    again = np.flatnonzero(np.concatenate(([False], same)))
    again = again[np.argsort(order[again])]
    return order[again], first[again]


def _note_judged_twice(batch: Batch, again: Ints, first: Ints, findings: Findings) -> None:
    """Note documents judged twice, with the same grade and with another apart."""
    _count_told_apart(batch, again, first, findings)
    same = batch.value[again] == batch.value[first]
    for kind, which in (("judged-twice", same), ("judged-differently", ~same)):
        later, earlier = again[which], first[which]
        findings.add(
            kind,
            batch.number[later],
            lambda i, later=later, earlier=earlier: (  # type: ignore[misc]
                f"document `{shown(batch.document, int(later[i]))}` of query `{shown(batch.query, int(later[i]))}`"
                f"{_for_intent(batch, int(later[i]))} has grade {batch.value[later[i]]:g}, and {batch.value[earlier[i]]:g} at "
                f"{findings.where(int(batch.number[earlier[i]]))}"
            ),
        )


def _for_intent(batch: Batch, row: int) -> str:
    return "" if batch.intent is None else f" and intent `{shown(batch.intent, row)}`"


def _count_told_apart(batch: Batch, again: Ints, first: Ints, findings: Findings) -> None:
    """Count the rows that a second column which nobody reads tells apart from the first of their document."""
    if batch.intent is None and len(again) and (second := batch.second) is not None:
        findings.told_apart += int((~second[again].equals(second[first])).sum())


def _note_ties(batch: Batch, findings: Findings) -> None:
    """Note documents whose score another of their query has too."""
    score, same_block = batch.compared, np.diff(batch.block) == 0
    if not (same_block & ~(score[1:] < score[:-1])).any():
        return  # strictly falling, so nothing is tied
    keys = (batch.block.astype(np.uint64) << np.uint64(32)) | _ordered_bits(score)
    ordered = np.sort(keys)
    equal = ordered[1:] == ordered[:-1]
    tied = np.concatenate((equal, [False])) | np.concatenate(([False], equal))
    if not tied.any():
        return
    if not findings.wants("tied-scores", int(batch.number.min())):
        findings.add_count("tied-scores", int(tied.sum()))
        return
    which = np.flatnonzero(_among(keys, distinct(ordered[tied])))
    findings.add(
        "tied-scores",
        batch.number[which],
        lambda i: (
            f"document `{shown(batch.document, int(which[i]))}` of query `{shown(batch.query, int(which[i]))}` "
            f"has score {batch.value[which[i]]:g}, as another has"
        ),
    )


def _note_ranks(batch: Batch, rank: NDArray[np.float64], findings: Findings) -> None:
    """Note ranks that are no numbers, begin at 0, or go against the scores."""
    bad = np.flatnonzero(np.isnan(rank))
    findings.add("rank-not-a-number", batch.number[bad], lambda _: "the rank is no number")
    least = np.fmin.reduceat(rank, batch.starts)
    zero = batch.starts[least == 0]
    findings.add(
        "ranks-from-zero",
        batch.number[zero],
        lambda i: f"the ranks of query `{shown(batch.query, int(zero[i]))}` begin at 0",
    )
    later, earlier = _rises(batch, rank)
    findings.add(
        "rank-contradicts-score",
        batch.number[later],
        lambda i: (
            f"rank {rank[later[i]]:g} has score {batch.value[later[i]]:g}, and rank {rank[earlier[i]]:g} of the "
            f"same query {batch.value[earlier[i]]:g}"
        ),
    )


def _rises(batch: Batch, rank: NDArray[np.float64]) -> tuple[Ints, Ints]:
    """Rows whose score is above that of the row with the next lower rank, and that row."""
    order = np.arange(len(batch))
    same_block = np.diff(batch.block) == 0
    if (same_block & ~(rank[1:] > rank[:-1])).any():  # some ranks do not grow from row to row
        order = _by_rank(batch, rank)
        same_block = np.diff(batch.block[order]) == 0
    score = batch.compared[order]
    with np.errstate(invalid="ignore"):
        risen = same_block & (score[1:] > score[:-1]) & (rank[order[1:]] > rank[order[:-1]])
    later = np.flatnonzero(risen) + 1
    by_row = np.argsort(order[later])
    return order[later][by_row], order[later - 1][by_row]


def _by_rank(batch: Batch, rank: NDArray[np.float64]) -> Ints:
    """The rows by block, then rank, then score from the greatest."""
    if ((rank >= 0) & (rank < 2**32)).all():  # one sort of whole numbers, where no two ranks are equal
        keys = (batch.block.astype(np.uint64) << np.uint64(32)) | rank.astype(np.uint64)
        order = np.argsort(keys)
        if (np.diff(keys[order]) > 0).all() and (rank == np.floor(rank)).all():
            return order
    return np.lexsort((-batch.compared, rank, batch.block))


def _ordered_bits(score: NDArray[np.float32]) -> Words:
    """Whole numbers in the order of the scores."""
    bits = score.view(np.uint32)
    negative = bits >> np.uint32(31) == 1
    return np.where(negative, ~bits, bits | np.uint32(0x80000000)).astype(np.uint64)


def _among(keys: Words, wanted: Words) -> Flags:
    """Which keys are among the wanted ones, which are sorted."""
    at = np.minimum(np.searchsorted(wanted, keys), len(wanted) - 1)
    found: Flags = wanted[at] == keys
    return found
