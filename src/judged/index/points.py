"""Points: a setting with its measurements of every round and its quality, scored from the raw rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from judged.arrays import Flags, Floats, Ints
from judged.blocks import Estimate
from judged.index.data import DEPTH, Dataset
from judged.index.exact import find_neighbours, measure_distances
from judged.index.family import NEIGHBOUR, NeighbourProtocol
from judged.index.filters import find_side, make_filter
from judged.index.measurement import (
    Latencies,
    Measurement,
    Workload,
    name_recall,
    plan_churn,
    summarise,
)
from judged.index.neighbours import IndexResults, Neighbours
from judged.index.streams.presence import Presence, draw_reserve, find_present
from judged.index.streams.runbooks import find_rows_at
from judged.index.sweeps.rows import find_rows, read_answers
from judged.result import ProtocolRecord, Provenance
from judged.scoring.evaluate import evaluate_with
from judged.scoring.evaluation import Evaluation, Part
from judged.stats.clusters import SampleMean
from judged.stats.outcome import Undefined
from judged.stats.rounds import crossed_mean, geometric_interval, percentile_interval
from judged.tables.columns import to_strings
from judged.tables.scores import Scores
from judged.wording import counted

LEVEL = 0.95
"""Confidence level of intervals."""
UNKNOWN = 100
"""Ratio of the ends of an interval from which they say nothing, as after two rounds that differ: they are not shown."""
PARTS = ("batch:", "filter:", "churn:", "updates:", "runbook:")
"""Beginnings of the names of phases that are scored on their own."""
ENOUGH = 1000
"""Samples from which a 99th percentile is shown with its interval over rounds; with fewer, that of its rank."""
UNSORTED = 1e-4
"""Share by which an answer may be nearer than the one before it: engines compute in 32 bits."""

QUANTITIES: Mapping[str, Callable[[Measurement], float | None]] = {
    "qps": lambda measured: measured.qps,
    "mean": lambda measured: measured.latency.mean,
    "p50": lambda measured: measured.latency.p50,
    "p90": lambda measured: measured.latency.p90,
    "p95": lambda measured: measured.latency.p95,
    "p99": lambda measured: measured.latency.p99,
    "cpu": lambda measured: measured.cpu,
    "first": lambda measured: measured.first,
    "build": lambda measured: measured.cost.seconds,
    "memory": lambda measured: measured.cost.memory,
    "disk": lambda measured: measured.cost.disk,
}
"""Quantities measured in every round, with an interval over rounds."""


def name_measures(k: int, more: Sequence[str] = ()) -> list[str]:
    """Return the measures of a point, the recall that decides first."""
    named = [
        name_recall(k),
        name_strict(k),
        name_percentile(k),
        name_missed(k),
        f"R@{k}",
        f"P@{k}",
        "RR",
        f"Short@{k}",
        f"DistanceRatio@{k}",
    ]
    return [*named, *more]


def name_strict(k: int) -> str:
    """Return the recall by id, under which ties decide."""
    return f'R(over="cutoff")@{k}'


def name_percentile(k: int) -> str:
    """Return the recall that 95 % of the queries reach."""
    return f'R(over="cutoff", tolerance=0, p=5)@{k}'


def name_missed(k: int) -> str:
    """Return the share of queries with recall 0."""
    return f"Missed(tolerance=0)@{k}"


def estimate_rounds(values: Sequence[float | None]) -> Estimate | None:
    """Return the geometric mean of what every round measured, with its interval; None if one did not measure it."""
    known = [float(value) for value in values if value is not None and value > 0]
    if not known or len(known) < len(values):
        return None
    interval = geometric_interval(known, level=LEVEL)
    if isinstance(interval, Undefined):
        return Estimate(known[0])
    if interval.high > UNKNOWN * interval.low:
        return Estimate(interval.mean, np.nan, np.nan)
    return Estimate(interval.mean, interval.low, interval.high)


def bound_recall(of: SampleMean) -> tuple[float, float] | None:
    """Return the interval of a mean recall, within 0 and 1; None where nothing varies."""
    if of.undefined is not None:
        return None
    from scipy.special import stdtrit

    reach = float(stdtrit(of.freedom, (1 + LEVEL) / 2)) * of.error
    return max(0.0, of.mean - reach), min(1.0, of.mean + reach)


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

    rounds: tuple[Measurement, ...]
    """Measurements, each of a fresh process."""
    measures: Mapping[str, float]
    """Means over queries and rounds, the recall that decides first."""
    recalls: Floats
    """The recall of every query, as the mean over rounds."""
    round_recalls: Floats
    """The recall of every round, as the mean over queries."""
    seconds: Floats
    """The mean time of every query over passes and rounds."""
    tail: tuple[float, float] | None = None
    """The interval of the 99th percentile by ranks, in milliseconds, where it has few samples; an end may be infinite."""
    subsets: tuple[SubsetPoint, ...] = ()
    notes: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        if len(self.seconds) != len(self.recalls):
            msg = f"times of {len(self.seconds)} queries, expected one for each of {len(self.recalls)}"
            raise ValueError(msg)

    @property
    def measured(self) -> Measurement:
        """The first round, for what is the same in all."""
        return self.rounds[0]

    @property
    def engine(self) -> str:
        """The name of the engine."""
        return self.measured.engine

    @property
    def name(self) -> str:
        """The engine with its settings."""
        return self.measured.name

    @property
    def recall(self) -> float:
        """The mean recall."""
        return next(iter(self.measures.values()))

    @property
    def recall_error(self) -> SampleMean:
        """The mean recall with its error over queries and rounds."""
        return crossed_mean(self.recalls, self.round_recalls)

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval of the recall; None where all queries have the same."""
        return bound_recall(self.recall_error)

    @property
    def qps(self) -> float:
        """Queries answered in a second, one at a time: the geometric mean over rounds."""
        return float(np.exp(np.log([measured.qps for measured in self.rounds]).mean()))

    @property
    def failed(self) -> int:
        """Number of failed queries, over all rounds."""
        return sum(measured.failed for measured in self.rounds)

    @property
    def busy(self) -> bool:
        """Whether other work kept the machine busy in any round."""
        return any(measured.busy for measured in self.rounds)

    @property
    def has_cpu(self) -> bool:
        """Whether the processor time of a query is known in every round."""
        return all(measured.cpu is not None for measured in self.rounds)

    def read_rounds(self, quantity: str) -> list[float | None]:
        """Return a quantity of `QUANTITIES` in every round."""
        return [QUANTITIES[quantity](measured) for measured in self.rounds]

    def estimate(self, quantity: str) -> Estimate | None:
        """Return a quantity of `QUANTITIES` with its interval over rounds; None if it was not measured."""
        values = self.read_rounds(quantity)
        if quantity == "first":
            # only the setting that a build began with has it
            values = [value for value in values if value is not None and np.isfinite(value)]
        found = estimate_rounds(values)
        if quantity == "p99" and found is not None and self.tail is not None:
            return Estimate(found.value, *self.tail)
        return found

    def evaluate(self, name: str | None = None) -> Evaluation:
        """Return recall and latency of every query as an evaluation, which can be compared."""
        measures = tuple(NEIGHBOUR.parse_measures([next(iter(self.measures)), "Latency"]))
        protocol = NeighbourProtocol()
        values = dict(zip(map(str, measures), (self.recalls, self.seconds * 1000), strict=True))
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
    measured: Sequence[tuple[Measurement, ...]],
    dataset: Dataset,
    workload: Workload,
    results: Path,
    *,
    measures: Sequence[str] = (),
) -> list[Point]:
    """Return the points with their quality, from the rows that the workers wrote."""
    scorer = Scorer(dataset, workload, name_measures(workload.k, measures))
    return [
        scorer.score([(one, pq.read_table(find_rows(results, one))) for one in rounds]) for rounds in measured
    ]


class Scorer:
    """Scores the rows of points; the truth of every filter and every step of the churn is found once."""

    def __init__(self, dataset: Dataset, workload: Workload, measures: list[str]) -> None:
        self.dataset, self.workload, self.measures = dataset, workload, measures
        self.truths: dict[str, Neighbours] = {"single": dataset.neighbours(workload.k)}
        self.presence: list[Presence] = []
        """Of the point that is being scored: when vectors were written."""
        self.gone = 0

    def score(self, rounds: Sequence[tuple[Measurement, pa.Table]]) -> Point:
        """Return one point from its rounds, each with its rows."""
        phases = list(
            dict.fromkeys(phase for _, rows in rounds for phase in rows["phase"].unique().to_pylist())
        )
        self.presence = [
            Presence.from_rows(rows, draw_reserve(len(self.dataset.vectors), self.workload.seed))
            for _, rows in rounds
            if any(phase.startswith("updates:") for phase in phases)
        ]
        self.gone = 0
        parts = {
            phase: [part for _, rows in rounds if len(part := rows.filter(pc.equal(rows["phase"], phase)))]
            for phase in phases
        }
        scored = [self._evaluate("single", rows) for rows in parts["single"]]
        recalls = np.stack([evaluation.scores[self.measures[0]] for evaluation in scored])
        samples = np.stack([rows["nanoseconds"].to_numpy() for rows in parts["single"]]) / 1e9
        seconds = samples.reshape(-1, recalls.shape[1]).mean(axis=0)
        tail = percentile_interval(samples.ravel() * 1000, 0.99) if samples.size < ENOUGH else None
        notes = (
            *dict.fromkeys(str(note) for evaluation in scored for note in evaluation.notes),
            *dict.fromkeys(doubt for measured, _ in rounds for doubt in measured.doubts),
            *self._check(parts["single"][0]),
        )
        subsets = tuple(
            subset
            for phase in phases
            if phase.startswith(PARTS)
            for subset in self._score_subset(phase, parts[phase])
        )
        if self.gone:
            words = f"{counted(self.gone, 'answer')} had been deleted before the query was asked, and counted as wrong"
            notes = (*notes, words)
        return Point(
            tuple(measured for measured, _ in rounds),
            _mean_measures(scored),
            recalls.mean(axis=0),
            recalls.mean(axis=1),
            seconds,
            None if tail is None else (max(tail.low, 0.0), tail.high),
            subsets,
            notes,
        )

    def _check(self, rows: pa.Table) -> Iterator[str]:
        """Yield what is wrong with answers that recall alone does not show."""
        ids = read_answers(rows, self.workload.k)[: len(self.dataset.queries)]
        given = ids >= 0
        few = given.sum(axis=1) < min(self.workload.k, len(self.dataset.vectors))
        short = few & given.any(axis=1)
        if short.any():
            share = (
                "every answer has"
                if short.all()
                else f"{counted(int(short.sum()), 'answer')} of {len(ids):,} have"
            )
            yield f"{share} fewer than {self.workload.k} ids"
        data = self.dataset
        distances = measure_distances(
            data.vectors.array, data.queries.array, data.metric, ids, self.truths["single"]
        )
        ahead, behind = distances[:, :-1], distances[:, 1:]
        with np.errstate(invalid="ignore"):
            nearer = (ahead - behind > UNSORTED * np.abs(ahead)) & np.isfinite(ahead) & np.isfinite(behind)
        unsorted = int(nearer.any(axis=1).sum())
        if unsorted:
            yield (
                f"{counted(unsorted, 'answer')} of {len(ids):,} not sorted by distance: an engine that ranks by "
                "compressed vectors does that; reciprocal ranks are those of the order returned"
            )

    def _score_subset(self, phase: str, rounds: Sequence[pa.Table]) -> Iterator[SubsetPoint]:
        """Yield the quality of a phase; where a filter asks for a region, also of the queries inside and outside of it."""
        scored = [self._evaluate(phase, rows) for rows in rounds]
        recalls = np.stack([evaluation.scores[self.measures[0]] for evaluation in scored])
        whole = SubsetPoint(
            phase,
            self._find_share(phase),
            _mean_measures(scored),
            bound_recall(crossed_mean(recalls.mean(axis=0), recalls.mean(axis=1))),
            mean_latencies([summarise(rows["nanoseconds"].to_numpy()) for rows in rounds]),
            sum(int(pc.sum(rows["failed"]).as_py() or 0) for rows in rounds),
            min(int((read_answers(rows, self.workload.k) >= 0).sum(axis=1).min()) for rows in rounds),
        )
        yield whole
        kind, _, text = phase.partition(":")
        data = self.dataset
        inside = find_side(text, data.vectors, data.queries, self.workload.seed) if kind == "filter" else None
        if inside is None or inside.all() or not inside.any():
            return
        for side, among in (("inside", inside), ("outside", ~inside)):
            part = recalls[:, among]
            yield replace(
                whole,
                phase=f"{phase}, queries {side}",
                measures=_mean_measures([self._evaluate(phase, rows, among) for rows in rounds]),
                interval=bound_recall(crossed_mean(part.mean(axis=0), part.mean(axis=1))),
                latency=mean_latencies([summarise(rows["nanoseconds"].to_numpy()[among]) for rows in rounds]),
                failed=sum(
                    int(rows["failed"].to_numpy(zero_copy_only=False)[among].sum()) for rows in rounds
                ),
                fewest=min(
                    int((read_answers(rows, self.workload.k) >= 0).sum(axis=1)[among].min())
                    for rows in rounds
                ),
            )

    def _find_share(self, phase: str) -> float:
        """Return the share of the vectors that could be found in a phase."""
        size = len(self.dataset.vectors)
        if phase.startswith("updates:"):
            return 1 - len(self.presence[0].absent) / size
        return self.truths[phase].population / size

    def _evaluate_updates(self, rows: pa.Table) -> Evaluation:
        """Return the quality of answers that were given while vectors came and went."""
        data, near = self.dataset, self.truths["single"]
        # each query once, at any of its times: answers to one query at two moments are not independent
        order = np.random.default_rng([self.workload.seed, 8]).permutation(len(rows))
        _, first = np.unique(rows["query"].to_numpy()[order], return_index=True)
        rows = rows.take(np.sort(order[first]))
        ids = read_answers(rows, self.workload.k)
        truth, kept, gone = find_present(data, self.presence[0], near, rows, ids)
        self.gone += gone
        queries = data.queries.array[rows["query"].to_numpy()]
        distances = measure_distances(data.vectors.array, queries, data.metric, kept, truth)
        return evaluate_with(NEIGHBOUR, truth, IndexResults(kept, distances), self.measures)

    def _evaluate(self, phase: str, rows: pa.Table, among: Flags | None = None) -> Evaluation:
        if phase.startswith("updates:"):
            return self._evaluate_updates(rows)
        if phase not in self.truths:
            self.truths[phase] = self._find_truth(phase)
        truth, data = self.truths[phase], self.dataset
        ids = read_answers(rows, self.workload.k)[: len(data.queries)]
        distances = measure_distances(data.vectors.array, data.queries.array, data.metric, ids, truth)
        if among is not None:
            truth = replace(truth, ids=truth.ids[among], distances=truth.distances[among])
            ids, distances = ids[among], distances[among]
        return evaluate_with(NEIGHBOUR, truth, IndexResults(ids, distances), self.measures)

    def _find_truth(self, phase: str) -> Neighbours:
        """Return the exact neighbours among the vectors that could be found in a phase."""
        data, workload = self.dataset, self.workload
        kind, _, rest = phase.partition(":")
        if kind == "batch":
            return self.truths["single"]
        if kind == "filter":
            ids: Ints = make_filter(rest, data.vectors, workload.seed).ids
        else:
            number, _, step = rest.partition(":")
            if kind == "runbook":
                rows = find_rows_at(workload.runbook, int(number), len(data.vectors))
                ids = np.unique(rows[rows >= 0])
                depth = max(DEPTH, 2 * workload.k)
                return find_neighbours(
                    data.vectors.array, data.queries.array, data.metric, depth=depth, ids=ids
                )
            if step == "restored":
                return self.truths["single"]
            gone = plan_churn(len(data.vectors), workload)[int(number) - 1]
            ids = np.setdiff1d(np.arange(len(data.vectors)), gone)
        depth = max(DEPTH, 2 * workload.k)
        return find_neighbours(data.vectors.array, data.queries.array, data.metric, depth=depth, ids=ids)


def mean_latencies(rounds: Sequence[Latencies]) -> Latencies:
    """Return the geometric mean over rounds of every percentile."""
    values = np.array([[getattr(one, item.name) for item in fields(Latencies)] for one in rounds])
    with np.errstate(divide="ignore"):
        return Latencies(*np.exp(np.log(values).mean(axis=0)).tolist())


def _mean_measures(scored: Sequence[Evaluation]) -> dict[str, float]:
    means = [evaluation.mean() for evaluation in scored]
    return {name: float(np.mean([mean[name] for mean in means])) for name in means[0]}
