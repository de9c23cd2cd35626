"""Weights of a fusion, tuned on some queries and scored on others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

import numpy as np

from judged.arrays import Floats, Ints
from judged.blocks import Block, Display, Estimate, Notes, Sentence, Table, Value, format_value
from judged.errors import BadMeasure, JudgedError, UnknownName, check_kind
from judged.io.read import read_judgments
from judged.measures.measure import Measure
from judged.problem import Note
from judged.profiles.profile import as_profile
from judged.result import ProtocolRecord, Provenance, Result, observe_files, tabulate
from judged.scoring.evaluate import evaluate
from judged.stats.intervals import Interval, defined_student_interval
from judged.studies.fusion.candidates import Candidates, collect_candidates, read_runs
from judged.studies.fusion.methods import METHODS, FusedRuns, Fusion
from judged.tables.columns import take
from judged.tables.run import Columns, Run

if TYPE_CHECKING:
    import pyarrow as pa

    from judged.profiles.profile import Profile
    from judged.protocol import Protocol
    from judged.scoring.evaluation import Evaluation
    from judged.tables.inputs import JudgmentsLike
    from judged.tables.judgments import Judgments

Search: TypeAlias = Literal["grid", "swarm"]
Score: TypeAlias = Callable[[tuple[float, ...]], float]
"""Returns the training score of weights; higher is better."""

TUNED, EQUAL = "tuned weights", "equal weights"
MOST_TRIALS = 5_000
"""Combinations of weights that a grid may have."""
FOLDS = 5
INERTIA, PULL = 0.7298, 1.49618
"""Clerc and Kennedy's constants, with which a swarm converges (doi:10.1109/4235.985692)."""


def tune_fusion(
    qrels: JudgmentsLike,
    runs: FusedRuns,
    measure: Measure | str = "nDCG@10",
    *,
    method: str = "wsum",
    normalisation: str | None = None,
    search: Search = "grid",
    train: str | Iterable[str] | None = None,
    folds: int | None = None,
    step: float = 0.1,
    particles: int = 16,
    iterations: int = 20,
    seed: int = 0,
    level: float = 0.95,
    depth: int | None = None,
    protocol: Profile | Protocol | Mapping[str, object] | str | None = None,
    **parameters: float,
) -> FusionTuning:
    """Tune the weights of a fusion on training queries, and score it on the others.

    `train` names the training queries. Without it, queries are dealt into `folds` (5) at random, and each fold is
    scored with the weights that were tuned on the others, so that no query is scored with weights that it helped to
    choose. `search` is a `grid` of weights that sum to 1 in multiples of `step`, or a particle `swarm`.

    `weights` of the result were tuned on all training queries: they are for `judged.fuse` on other queries.

    >>> qrels = {f"q{n}": {"a": 1} for n in range(6)}
    >>> good, bad = ({query: scores for query in qrels} for scores in ({"a": 2.0, "b": 1.0}, {"b": 2.0, "a": 1.0}))
    >>> tune_fusion(qrels, {"good": good, "bad": bad}, "RR", folds=2, step=0.25).weights
    {'good': 0.75, 'bad': 0.25}
    """
    fusion = Fusion.choose(method, normalisation=normalisation, **parameters)
    _check(fusion, search, train=train, folds=folds)
    convention = as_profile("trec_eval-9" if protocol is None else protocol)
    if depth is not None:
        convention = convention.replace(depth=depth)
    inputs = observe_files([("judgments", qrels)])
    read = read_runs(runs)
    candidates = collect_candidates(read)
    trials = _Trials(fusion, candidates, read_judgments(qrels), measure, convention)
    find = _choose_search(
        search, len(candidates.names), step=step, particles=particles, iterations=iterations, seed=seed
    )
    split = split_queries(trials.queries, train, FOLDS if folds is None else folds, seed)
    found = tuple(trials.tune(find, number, rows, held) for number, (rows, held) in enumerate(split, start=1))
    everything = (
        found[0].weights if train is not None else trials.search(find, np.arange(len(trials.queries)))
    )
    held = np.concatenate([rows for _, rows in split])
    others = {
        EQUAL: trials.values((1.0,) * len(read))[held],
        **{run.name: trials.evaluate(run).scores[trials.measure][held] for run in read},
    }
    tuned = np.concatenate(
        [trials.values(fold.weights)[rows] for fold, (_, rows) in zip(found, split, strict=True)]
    )
    settings = {
        "method": fusion.method.name,
        **fusion.parameters,
        "normalisation": fusion.normalisation,
        "search": search,
        **({"step": step} if search == "grid" else {"particles": particles, "iterations": iterations}),
        "seed": seed,
        "level": level,
        "depth": depth,
    }
    return FusionTuning(
        measure=str(trials.measure),
        method=fusion.method.name,
        fusion=fusion.describe(),
        weights=dict(zip(candidates.names, everything, strict=True)),
        folds=found,
        queries=tuple(trials.queries[row] for row in held.tolist()),
        tuned=tuned,
        others=others,
        search=search,
        trials=len(trials.known),
        level=level,
        higher_is_better=trials.sign > 0,
        notes=tuple(Note("run", "info", note) for note in candidates.notes),
        provenance=Provenance(protocols=trials.records, inputs=inputs, settings=settings),
    )


@dataclass(frozen=True)
class Fold:
    """Weights tuned on some queries, and the queries they were scored on."""

    number: int
    weights: tuple[float, ...]
    """In the order of the runs."""
    training: float
    """The mean over the training queries."""
    held_out: float
    """The mean over the other queries."""
    training_queries: int
    queries: tuple[str, ...]
    """The queries held out."""


@dataclass(frozen=True, eq=False, repr=False)
class FusionTuning(Result):
    """Tuned weights of a fusion, with the training score and the score on queries that had no part in the choice."""

    kind: ClassVar[str] = "fusion"

    measure: str
    method: str
    fusion: str
    """The method with its parameters and normalisation, in words."""
    weights: Mapping[str, float]
    """The weight of each run, tuned on all training queries."""
    folds: tuple[Fold, ...]
    """One for each fold, or a single one for a given training set."""
    queries: tuple[str, ...]
    """Every query held out, fold by fold."""
    tuned: Floats
    """The value of each of them, with the weights of its fold."""
    others: Mapping[str, Floats]
    """The values on the same queries with equal weights, and of each run alone."""
    search: str = "grid"
    trials: int = 0
    """Number of weight combinations that were scored."""
    level: float = 0.95
    higher_is_better: bool = True
    notes: tuple[Note, ...] = ()
    provenance: Provenance = field(default_factory=Provenance)

    @cached_property
    def held_out(self) -> Estimate:
        """The mean over the held-out queries, with its interval."""
        return estimate_mean(self.tuned, self.level)

    @property
    def training(self) -> float:
        """The mean of the training scores of the folds."""
        return float(np.mean([fold.training for fold in self.folds]))

    def gain_over(self, other: str) -> Estimate:
        """Return the mean paired difference, tuned weights minus another system, with its interval."""
        if other not in self.others:
            raise UnknownName("system of this tuning", other, list(self.others))
        return estimate_mean(self.tuned - self.others[other], self.level)

    def fuse(self, runs: FusedRuns, *, depth: int | None = None, name: str | None = None) -> Run:
        """Fuse the runs it was tuned on: queries held out with the weights of their fold, others with `weights`."""
        candidates = collect_candidates(read_runs(runs))
        if candidates.names != tuple(self.weights):
            msg = f"the runs are {', '.join(candidates.names)}, expected {', '.join(self.weights)}"
            raise JudgedError(msg)
        settings = self.provenance.settings
        parameters = {
            key: float(str(settings[key])) for key in METHODS[self.method].parameters if key in settings
        }
        fusion = Fusion.choose(self.method, normalisation=str(settings["normalisation"]), **parameters)
        values = fusion.normalise(candidates)
        score = fusion.score(candidates, tuple(self.weights.values()), values)
        places = {query: at for at, query in enumerate(candidates.queries.to_pylist())}
        for fold in self.folds:
            chosen = np.isin(candidates.query, [places[query] for query in fold.queries if query in places])
            score[chosen] = fusion.score(candidates, fold.weights, values)[chosen]
        return candidates.to_run(score, name=name or self.method, depth=depth)

    def tables(self) -> Mapping[str, pa.Table]:
        """Return the systems on the held-out queries, the folds, and every held-out query."""
        systems: list[dict[str, Value]] = [{"system": TUNED, **_bounds("mean", self.held_out)}]
        for name, values in self.others.items():
            gain = _bounds("gain", self.gain_over(name))
            systems.append({"system": name, **_bounds("mean", estimate_mean(values, self.level)), **gain})
        fold_of = {query: fold.number for fold in self.folds for query in fold.queries}
        queries: list[dict[str, Value]] = [
            {
                "query": query,
                "fold": fold_of[query],
                TUNED: float(self.tuned[at]),
                **{name: float(values[at]) for name, values in self.others.items()},
            }
            for at, query in enumerate(self.queries)
        ]
        return {
            "systems": tabulate(systems),
            "folds": tabulate([self._fold_row(fold) for fold in self.folds]),
            "queries": tabulate(queries),
        }

    def _fold_row(self, fold: Fold) -> dict[str, float | int]:
        return {
            "fold": fold.number,
            "training queries": fold.training_queries,
            "held-out queries": len(fold.queries),
            "training": fold.training,
            "held out": fold.held_out,
            **dict(zip(self.weights, fold.weights, strict=True)),
        }

    def blocks(self, display: Display) -> Iterable[Block]:
        """Return the held-out score and the weights, the systems, the folds, and the notes."""
        yield Sentence(self._answer(display.digits))
        rows: list[tuple[Value, ...]] = [(TUNED, self.held_out, None)]
        rows += [
            (name, estimate_mean(values, self.level), self.gain_over(name))
            for name, values in self.others.items()
        ]
        yield Table(("system", self.measure, "gain of tuned weights"), tuple(rows), title="Held-out queries")
        folds = [tuple(self._fold_row(fold).values()) for fold in self.folds]
        yield Table(tuple(self._fold_row(self.folds[0])), tuple(folds), title="Training")
        weights = ", ".join(f"{name} {weight:.4g}" for name, weight in self.weights.items())
        yield Sentence(f"Weights for other queries: {weights}")
        if display.notes and self.notes:
            yield Notes(self.notes)

    def _answer(self, digits: int) -> str:
        held, gain = self.held_out, self.gain_over(EQUAL)
        return (
            f"{self.fusion}: {self.measure} {format_value(held, digits=digits)} on {len(self.queries):,} held-out "
            f"queries, {format_value(self.training, digits=digits)} in training; "
            f"gain over equal weights {format_value(gain, digits=digits)}"
        )

    def summary(self) -> Mapping[str, object]:
        """Return the fusion, the measure, the weights and both scores."""
        return {
            "fusion": self.fusion,
            "measure": self.measure,
            "weights": dict(self.weights),
            "training": self.training,
            "held_out": self.held_out.value,
            "trials": self.trials,
        }


def estimate_mean(values: Floats, level: float) -> Estimate:
    """Return a mean with Student's interval, as a cell."""
    interval = defined_student_interval(values, level=level)
    mean = float(values.mean())
    if isinstance(interval, Interval):
        return Estimate(mean, interval.low, interval.high)
    return Estimate(mean, reason=str(interval))


def _bounds(name: str, estimate: Estimate) -> dict[str, float | None]:
    return {name: estimate.value, f"{name} low": estimate.low, f"{name} high": estimate.high}


class _Trials:
    """Scores weights: the values of every judged query under each, computed once."""

    def __init__(
        self,
        fusion: Fusion,
        candidates: Candidates,
        judgments: Judgments,
        measure: Measure | str,
        profile: Profile,
    ) -> None:
        self.fusion, self.candidates, self.judgments = fusion, candidates, judgments
        self.inputs = fusion.normalise(candidates)
        self.columns = (
            take(candidates.queries, candidates.query),
            take(candidates.documents, candidates.document),
        )
        self.profile = profile
        self.known: dict[tuple[float, ...], Floats] = {}
        first = self.evaluate(self._fuse((1.0,) * len(candidates.names)), measure)
        self.measure = first.measures[0]
        if len(first.measures) > 1 or self.measure.text or self.measure.aggregate != "mean":
            msg = f"weights are tuned by the mean of one measure, and `{measure}` has none"
            raise BadMeasure(msg, hint="for example `nDCG@10`")
        if self.measure.higher_is_better is None:
            msg = f"neither higher nor lower values of {self.measure} are better"
            raise BadMeasure(msg)
        self.sign = 1.0 if self.measure.higher_is_better else -1.0
        self.queries: list[str] = first.scores.queries.to_pylist()
        self.records: tuple[ProtocolRecord, ...] = first.provenance.protocols

    def values(self, weights: tuple[float, ...]) -> Floats:
        """Return the value of every judged query."""
        if weights not in self.known:
            self.known[weights] = self.evaluate(self._fuse(weights)).scores[self.measure]
        return self.known[weights]

    def search(self, find: Callable[[Score], tuple[float, ...]], rows: Ints) -> tuple[float, ...]:
        """Return the weights that are best on some of the queries."""
        return find(lambda weights: self.sign * float(self.values(weights)[rows].mean()))

    def tune(self, find: Callable[[Score], tuple[float, ...]], number: int, rows: Ints, held: Ints) -> Fold:
        """Return the weights that are best on the training queries, with their score there and on the others."""
        weights = self.search(find, rows)
        values = self.values(weights)
        queries = tuple(self.queries[row] for row in held.tolist())
        return Fold(
            number, weights, float(values[rows].mean()), float(values[held].mean()), len(rows), queries
        )

    def evaluate(self, run: Run, measure: Measure | str | None = None) -> Evaluation:
        """Score a run by the measure, under the protocol of all."""
        return evaluate(self.judgments, run, measure or self.measure, protocol=self.profile, threads=1)

    def _fuse(self, weights: tuple[float, ...]) -> Run:
        score = self.fusion.score(self.candidates, weights, self.inputs)
        return Run(Columns(*self.columns, score), name="fused")


def _check(fusion: Fusion, search: str, *, train: object, folds: int | None) -> None:
    if not fusion.method.weighted:
        known = ", ".join(name for name, method in METHODS.items() if method.weighted)
        msg = f"`{fusion.method.name}` takes no weights, so there is nothing to tune"
        raise JudgedError(msg, hint=f"these do: {known}")
    check_kind("search", search, str, "`grid` or `swarm`")
    if search not in {"grid", "swarm"}:
        raise UnknownName("search", search, ["grid", "swarm"])
    if train is not None and folds is not None:
        msg = "both training queries and folds were given, expected one of them"
        raise JudgedError(msg)


def split_queries(
    queries: Sequence[str], train: str | Iterable[str] | None, folds: int, seed: int
) -> list[tuple[Ints, Ints]]:
    """Return the rows of the training queries and of the others, for each fold."""
    if train is not None:
        place = {query: at for at, query in enumerate(queries)}
        chosen = list(dict.fromkeys(map(str, [train] if isinstance(train, str) else train)))
        unknown = [query for query in chosen if query not in place]
        if unknown:
            msg = f"{len(unknown):,} training queries have no judgments: {', '.join(unknown[:5])}"
            raise JudgedError(msg)
        inside = np.zeros(len(queries), dtype=bool)
        inside[[place[query] for query in chosen]] = True
        if inside.all() or not inside.any():
            msg = f"{len(chosen):,} of {len(queries):,} judged queries are for training, expected some but not all"
            raise JudgedError(msg)
        return [(np.flatnonzero(inside), np.flatnonzero(~inside))]
    if not 2 <= folds <= len(queries):
        msg = f"there are {folds} folds for {len(queries):,} judged queries, expected 2 or more, and no more than queries"
        raise JudgedError(msg)
    dealt = np.array_split(np.random.default_rng(seed).permutation(len(queries)), folds)
    return [
        (np.sort(np.concatenate([*dealt[:at], *dealt[at + 1 :]])), np.sort(dealt[at])) for at in range(folds)
    ]


def _choose_search(
    search: str, runs: int, *, step: float, particles: int, iterations: int, seed: int
) -> Callable[[Score], tuple[float, ...]]:
    if search == "swarm":
        if particles < 1 or iterations < 1:
            msg = (
                f"the swarm has {particles} particles and {iterations} iterations, expected 1 or more of each"
            )
            raise JudgedError(msg)
        return lambda score: _search_by_swarm(score, runs, particles, iterations, seed)
    # `max` returns the first of equals: where weights make no difference, the most even ones are chosen
    points = list(_make_grid(runs, step))
    return lambda score: max(points, key=score)


def _make_grid(runs: int, step: float) -> Iterator[tuple[float, ...]]:
    """Yield all weights that are multiples of the step and sum to 1, the most even ones first."""
    parts = round(1 / step) if 0 < step <= 1 else 0
    if parts < 1 or abs(parts * step - 1) > 1e-9:
        msg = f"the step is {step:g}, expected 1 divided by a whole number, such as 0.1"
        raise JudgedError(msg)
    many = comb(parts + runs - 1, runs - 1)
    if many > MOST_TRIALS:
        msg = f"a grid of {runs} runs in steps of {step:g} has {many:,} points, expected {MOST_TRIALS:,} or fewer"
        raise JudgedError(msg, hint="take a larger step, or search by `swarm`")
    points = []
    for bars in combinations(range(parts + runs - 1), runs - 1):
        cuts = (-1, *bars, parts + runs - 1)
        points.append(tuple(cuts[at + 1] - cuts[at] - 1 for at in range(runs)))
    points.sort(key=lambda point: sum(part * part for part in point))
    return (tuple(part / parts for part in point) for point in points)


def _search_by_swarm(
    score: Score, runs: int, particles: int, iterations: int, seed: int
) -> tuple[float, ...]:
    """Return the best weights that a swarm found: it starts at equal weights and at random points of the simplex."""
    rng = np.random.default_rng(seed)
    # with equal weights among its points, a swarm is never worse than them in training
    start = np.vstack([np.full((1, runs), 1 / runs), rng.dirichlet(np.ones(runs), size=particles - 1)])
    best = move_swarm(lambda row: score(_to_weights(row)), start, _to_simplex, iterations, rng)
    return _to_weights(best)


def move_swarm(
    score: Callable[[Floats], float],
    start: Floats,
    confine: Callable[[Floats], Floats],
    iterations: int,
    rng: np.random.Generator,
) -> Floats:
    """Return the best point that a particle swarm found; `confine` moves particles back to where points are allowed."""
    place, speed, best = start, np.zeros_like(start), start.copy()
    reached = np.array([score(row) for row in place])
    for _ in range(iterations):
        leader = best[int(np.argmax(reached))]
        own, common = rng.random(place.shape), rng.random(place.shape)
        speed = INERTIA * speed + PULL * (own * (best - place) + common * (leader - place))
        place = confine(place + speed)
        now = np.array([score(row) for row in place])
        better = now > reached
        best[better], reached[better] = place[better], now[better]
    chosen: Floats = best[int(np.argmax(reached))]
    return chosen


def _to_simplex(place: Floats) -> Floats:
    """Return points without negative weights, scaled to sum to 1."""
    above = np.maximum(place, 0.0)
    total = above.sum(axis=1, keepdims=True)
    return np.where(total > 0, above / np.where(total > 0, total, 1.0), 1.0 / place.shape[1])


def _to_weights(row: Floats) -> tuple[float, ...]:
    """Return weights with four decimals, which is finer than any training set can tell apart."""
    return tuple(np.round(row, 4).tolist())
