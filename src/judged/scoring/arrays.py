"""`evaluate_arrays`: scores and grades of a model's predictions, scored without ids and without files."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from judged.errors import BadMeasure
from judged.kernels.scan.align import Aligned
from judged.kernels.sorting import count_ties, find_equal, sort_descending
from judged.profiles.profile import Profile
from judged.protocol import BaseProtocol, Protocol
from judged.result import Provenance
from judged.scoring.align import RANKED, RankedAlignment, align_located
from judged.scoring.evaluation import Evaluation, score
from judged.scoring.evaluator import plan_ranked
from judged.scoring.family import Measures
from judged.scoring.locate import Located
from judged.tables.scored_rows import ArrayLike, ScoredRows


def evaluate_arrays(
    scores: ArrayLike,
    grades: ArrayLike,
    groups: ArrayLike = None,
    measures: Measures | None = None,
    *,
    protocol: Protocol | Profile | Mapping[str, object] | str | None = None,
    group_ids: ArrayLike = None,
    group_sizes: ArrayLike = None,
    mask: ArrayLike = None,
    name: str = "predictions",
) -> Evaluation:
    """Score predictions by group: a score and a grade for each row.

    `scores` and `grades` are arrays of NumPy, PyTorch, JAX, Arrow or any library that shares its memory with them, or
    lists. `groups` holds the id of each row's group, or the sizes of groups whose rows follow each other; where it
    could be both, name it `group_ids` or `group_sizes`. Matrices have a group in each row, whose documents `mask`
    flags. A negative grade means unjudged.

    Rows have no ids: ties are ordered as if each row had a greater id than the row before it in its group, or as
    `protocol` says; the default, `trec_eval-9`, puts the last of tied rows first. `measures`, `protocol` and `name`
    are those of `judged.evaluate`, and so is the result.

    >>> round(evaluate_arrays([0.9, 0.8, 0.3], [0, 2, 1], group_sizes=[3], measures="nDCG@2")["nDCG@2"], 4)
    0.4796
    """
    rows = ScoredRows.from_arrays(
        scores, grades, groups, group_ids=group_ids, group_sizes=group_sizes, mask=mask
    )
    return evaluate_rows(rows, measures, protocol=protocol, name=name)


def evaluate_rows(
    rows: ScoredRows,
    measures: Measures | None = None,
    *,
    protocol: Protocol | Profile | Mapping[str, object] | str | None = None,
    name: str = "predictions",
) -> Evaluation:
    """Score rows that have been checked."""
    plan = plan_ranked(measures, protocol)
    for group in plan.groups.values():
        for measure in group:
            if measure.needs:
                msg = f"{measure} looks at {measure.needs}, and arrays have grades alone"
                raise BadMeasure(msg, hint="`judged.evaluate` takes judgments by intent, and preferences")
    alignments: dict[BaseProtocol, RankedAlignment] = {}
    for each in plan.groups:
        assert isinstance(each, Protocol)  # noqa: S101 - the protocols of a profile
        alignments[each] = align_rows(rows, each)
    return score(
        RANKED,
        alignments,
        plan.groups,
        name,
        Provenance(),
        profile=plan.named_profile,
        order=plan.order,
        records=plan.records,
    )


def align_rows(rows: ScoredRows, protocol: Protocol) -> RankedAlignment:
    """Return the view of rows under the protocol: one stable sort, by group and falling score."""
    size = np.diff(rows.offset)
    start = np.repeat(rows.offset[:-1], size)
    place = np.arange(len(rows.scores))
    if protocol.order == "input":
        order, above, tied = place, place - start, np.ones_like(place)
    else:
        single = protocol.precision == "float32"
        order = sort_descending(rows.scores, rows.offset, single=single)
        above, tied = count_ties(find_equal(rows.scores, rows.offset, order, single=single), rows.offset)
        # rows stand for ids that rise with them; ties that are averaged or ordered by grade begin in any order
        if protocol.ties not in {"document-ascending", "input-order"}:
            order = order[2 * (start + above) + tied - 1 - place]  # backwards within ties
    ranks = Aligned(
        row=order,
        rank=place - start + 1,
        above=above,
        tied=tied,
        offset=rows.offset,
        retrieved=size,
        present=np.ones(len(size), dtype=bool),
        rows=len(order),
        infinite=int(np.isinf(rows.scores).sum()),
    )
    return align_located(rows, Located(ranks, ()), protocol)
