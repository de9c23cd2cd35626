"""Curves of ranked runs: a measure by its cutoff, and precision by recall, with the interval of every mean."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from judged.blocks import Value
from judged.comparison.contrasts import Mean, PairedScores, estimate_means, pair_systems
from judged.comparison.settings import Settings
from judged.comparison.systems import to_system
from judged.measures.measure import Measure
from judged.measures.parse import parse_measure
from judged.scoring.evaluation import Evaluation
from judged.scoring.evaluations import Evaluations

CUTOFFS = (1, 2, 3, 5, 10, 20, 50, 100)
"""The cutoffs of a curve."""
RECALLS = tuple(tenths / 10 for tenths in range(11))
"""The eleven points of recall at which precision is interpolated."""


@dataclass(frozen=True, slots=True)
class RankedCurve:
    """The mean of every system at every point of a curve."""

    name: str
    """Label of the vertical axis: `nDCG`, `R(rel=2)`, `interpolated precision`."""
    x: str
    """Label of the horizontal axis: `cutoff` or `recall`."""
    points: tuple[float, ...]
    means: tuple[tuple[Mean, ...], ...]
    """At each point, the mean of each system with its interval."""

    def rows(self) -> list[dict[str, Value]]:
        """Return a row for each system and point."""
        return [
            {"curve": self.name, self.x: point, **mean.to_dict()}
            for point, means in zip(self.points, self.means, strict=True)
            for mean in means
        ]


def score_by_cutoff(
    evaluations: Evaluations,
    measure: Measure | str,
    *,
    cutoffs: Sequence[int] = CUTOFFS,
    settings: Settings | None = None,
) -> RankedCurve | None:
    """Return a measure at every cutoff; None if the measure has no cutoff, or no mean over queries.

    Its own cutoff is ignored. Systems are averaged over the queries that all of them have a value for.
    """
    wanted = parse_measure(measure) if isinstance(measure, str) else measure
    if wanted.at_parameter != "cutoff" or wanted.aggregate != "mean" or wanted.text:
        return None
    measures = [wanted @ cutoff for cutoff in cutoffs]
    means = _estimate(evaluations, measures, settings)
    return RankedCurve(_name_curve(wanted), "cutoff", tuple(map(float, cutoffs)), means)


def _name_curve(measure: Measure) -> str:
    """Return the name of a measure without its cutoff, as the user wrote it: `nDCG`, `Hit`, `ndcg_cut`."""
    cutoff = measure.parameters.get("cutoff")
    bare = re.sub(rf"(@|_at_|[_.]){cutoff}$", "", measure.label)
    return bare if cutoff is None or bare != measure.label else str(measure @ 1).rpartition("@")[0]


def precision_by_recall(
    evaluations: Evaluations, *, rel: float | None = None, settings: Settings | None = None
) -> RankedCurve:
    """Return the interpolated precision at eleven points of recall."""
    relevance = "" if rel is None else f"(rel={rel:g})"
    measures = [parse_measure(f"IPrec{relevance}@{recall}") for recall in RECALLS]
    return RankedCurve(
        "interpolated precision", "recall", RECALLS, _estimate(evaluations, measures, settings)
    )


def _estimate(
    evaluations: Evaluations, measures: Sequence[Measure], settings: Settings | None
) -> tuple[tuple[Mean, ...], ...]:
    scored = [evaluation.measure(measures) for evaluation in evaluations.values()]
    chosen = settings or Settings()
    return tuple(tuple(estimate_means(paired, chosen)) for paired in _pair(scored, measures))


def _pair(scored: Sequence[Evaluation], measures: Sequence[Measure]) -> Sequence[PairedScores]:
    """Pair the scores by query; systems with the same queries, which is usual, need no lookup."""
    queries = scored[0].scores.queries
    if not all(other.scores.queries.equals(queries) for other in scored[1:]):
        return pair_systems([to_system(evaluation) for evaluation in scored])
    names, ids = tuple(evaluation.system for evaluation in scored), tuple(queries.to_pylist())
    curves = []
    for measure in measures:
        values = np.column_stack([evaluation.scores.averaged(measure) for evaluation in scored])
        there = ~np.isnan(values).any(axis=1)
        kept = (
            ids
            if there.all()
            else tuple(query for query, is_there in zip(ids, there, strict=True) if is_there)
        )
        curves.append(
            PairedScores(
                str(measure),
                names,
                kept,
                values[there],
                higher_is_better=measure.higher_is_better,
                binary=measure.binary,
                limits=measure.scale,
            )
        )
    return curves
