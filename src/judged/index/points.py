"""Points: a measurement with its quality, scored from the raw rows by the measures of neighbours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from judged.arrays import Floats, Ints
from judged.index.data import Dataset
from judged.index.exact import find_neighbours, measure_distances
from judged.index.family import NEIGHBOUR, NeighbourProtocol
from judged.index.measurement import (
    Latencies,
    Measurement,
    Workload,
    draw_ladder,
    make_filter,
    plan_churn,
    summarise,
)
from judged.index.neighbours import IndexResults, Neighbours
from judged.index.sweep import describe
from judged.result import ProtocolRecord, Provenance
from judged.scoring.evaluate import evaluate_with
from judged.scoring.evaluation import Evaluation, Part
from judged.stats.bootstrap import bootstrap_interval
from judged.stats.intervals import Interval
from judged.tables.columns import to_strings
from judged.tables.scores import Scores

RESAMPLES = 2000
"""Bootstrap resamples of an interval."""
TOLERANCE = 1e-6
"""The relative difference up to which distances are tied, in tie-aware recall."""


def name_recall(k: int) -> str:
    """Return the recall that benchmarks mean: of the k nearest, in the first k answers."""
    return f'R(over="cutoff")@{k}'


def name_measures(k: int, more: Sequence[str] = ()) -> list[str]:
    """Return the measures of a point, the recall first."""
    named = [
        name_recall(k),
        f'R(over="cutoff", tolerance={TOLERANCE:g})@{k}',
        f"R@{k}",
        f"P@{k}",
        "RR",
        f'R(over="cutoff", p=10)@{k}',
        f"Missed@{k}",
        f"Short@{k}",
        f"DistanceRatio@{k}",
    ]
    return [*named, *more]


@dataclass(frozen=True, eq=False)
class SubsetPoint:
    """Quality and latency where only some vectors are to be found: those that meet a filter, or are left after deletion."""

    phase: str
    """`filter:0.01`, `churn:1:deleted`, `churn:1:restored`."""
    share: float
    """Of the vectors that could be found."""
    measures: Mapping[str, float]
    interval: tuple[float, float] | None
    latency: Latencies
    failed: int
    fewest: int
    """The least number of answers that a query got."""


@dataclass(frozen=True, eq=False)
class Point:
    """An engine at one setting: what it cost, how fast it is, and how good its answers are."""

    measured: Measurement
    measures: Mapping[str, float]
    interval: tuple[float, float] | None
    """Of the recall, by the bootstrap over queries; None where all queries have the same."""
    recalls: Floats
    """The recall of every query."""
    seconds: Floats
    """The mean time of every query over the passes."""
    fastest: Floats
    """The least time of every query over the passes, in seconds, which other work on the machine disturbs least."""
    subsets: tuple[SubsetPoint, ...] = ()
    notes: tuple[str, ...] = field(default=())

    @property
    def engine(self) -> str:
        """The name of the engine."""
        return self.measured.engine

    @property
    def name(self) -> str:
        """The engine with its settings."""
        return describe(self.engine, self.measured.build, self.measured.query)

    @property
    def recall(self) -> float:
        """The mean recall."""
        return next(iter(self.measures.values()))

    @property
    def qps(self) -> float:
        """Queries in a second on one thread: 1000 / mean latency in milliseconds."""
        return 1000 / self.measured.latency.mean

    @property
    def busy(self) -> bool:
        """Whether other work kept the machine busy while it was measured."""
        others = self.measured.load_average - 1
        return others > 0.5 * max(1, self.measured.processors - 1)

    def evaluate(self, name: str | None = None, *, fastest: bool = False) -> Evaluation:
        """Return recall and latency of every query as an evaluation, which can be compared and gated.

        Latency is the mean over the passes, or of the fastest one.
        """
        measures = tuple(NEIGHBOUR.parse_measures([next(iter(self.measures)), "Latency"]))
        protocol, times = NeighbourProtocol(), self.fastest if fastest else self.seconds
        values = dict(zip(map(str, measures), (self.recalls, times * 1000), strict=True))
        queries = to_strings(str(number) for number in range(len(self.recalls)))
        part = Part(protocol, measures, (), len(self.recalls))
        return Evaluation(
            name or self.name,
            Scores(queries, values, run=name or self.name),
            measures,
            protocol,
            (part,),
            family="neighbour",
            provenance=Provenance(protocols=(ProtocolRecord(protocol.heading, protocol.fingerprint),)),
        )


def score_points(
    measured: Sequence[Measurement],
    dataset: Dataset,
    workload: Workload,
    results: Path,
    *,
    measures: Sequence[str] = (),
) -> list[Point]:
    """Return the points with their quality, from the rows that the workers wrote."""
    scorer = Scorer(dataset, workload, name_measures(workload.k, measures))
    return [scorer.score(row, pq.read_table(results / "rows" / f"{row.key}.parquet")) for row in measured]


class Scorer:
    """Scores the rows of points; the truth of every filter and every step of the churn is found once."""

    def __init__(self, dataset: Dataset, workload: Workload, measures: list[str]) -> None:
        self.dataset, self.workload, self.measures = dataset, workload, measures
        self.truths: dict[str, Neighbours] = {"single": dataset.neighbours(workload.k)}

    def score(self, measured: Measurement, rows: pa.Table) -> Point:
        """Return one point."""
        phases = rows["phase"].unique().to_pylist()
        parts = {phase: rows.filter(pc.equal(rows["phase"], phase)) for phase in phases}
        single = parts["single"]
        evaluation = self._evaluate("single", single)
        recalls = evaluation.scores[self.measures[0]]
        times = single["nanoseconds"].to_numpy().reshape(-1, len(recalls)) / 1e9
        return Point(
            measured,
            evaluation.mean(),
            _find_interval(recalls),
            recalls,
            times.mean(axis=0),
            times.min(axis=0),
            tuple(self._score_subsets(parts)),
            tuple(str(note) for note in evaluation.notes),
        )

    def _score_subsets(self, parts: Mapping[str, pa.Table]) -> Iterator[SubsetPoint]:
        for phase, rows in parts.items():
            if not phase.startswith(("filter:", "churn:")):
                continue
            evaluation = self._evaluate(phase, rows)
            times, failed = rows["nanoseconds"].to_numpy(), rows["failed"].to_numpy(zero_copy_only=False)
            yield SubsetPoint(
                phase,
                self.truths[phase].population / len(self.dataset.vectors),
                evaluation.mean(),
                _find_interval(evaluation.scores[self.measures[0]]),
                summarise(times),
                int(failed.sum()),
                int((read_answers(rows, self.workload.k) >= 0).sum(axis=1).min()),
            )

    def _evaluate(self, phase: str, rows: pa.Table) -> Evaluation:
        if phase not in self.truths:
            self.truths[phase] = self._find_truth(phase)
        truth, data = self.truths[phase], self.dataset
        ids = read_answers(rows, self.workload.k)[: len(data.queries)]
        distances = measure_distances(data.vectors.array, data.queries.array, data.metric, ids, truth)
        return evaluate_with(NEIGHBOUR, truth, IndexResults(ids, distances), self.measures)

    def _find_truth(self, phase: str) -> Neighbours:
        """Return the exact neighbours among the vectors that could be found in a phase."""
        data, workload = self.dataset, self.workload
        kind, _, rest = phase.partition(":")
        if kind == "filter":
            ladder = draw_ladder(len(data.vectors), workload.seed)
            ids: Ints = make_filter(rest, data.vectors, ladder).ids
        else:
            number, _, step = rest.partition(":")
            if step == "restored":
                return self.truths["single"]
            gone = plan_churn(len(data.vectors), workload)[int(number) - 1]
            ids = np.setdiff1d(np.arange(len(data.vectors)), gone)
        return find_neighbours(
            data.vectors.array, data.queries.array, data.metric, depth=2 * workload.k, ids=ids
        )


def read_answers(rows: pa.Table, k: int) -> NDArray[np.int64]:
    """Return the answers that were kept, as a matrix."""
    answers = rows["answer"].combine_chunks()
    kept: NDArray[np.int64] = answers.drop_null().flatten().to_numpy(zero_copy_only=False)
    return kept.reshape(-1, k)


def _find_interval(values: Floats) -> tuple[float, float] | None:
    interval = bootstrap_interval(values, method="percentile", resamples=RESAMPLES)
    return (interval.low, interval.high) if isinstance(interval, Interval) else None
