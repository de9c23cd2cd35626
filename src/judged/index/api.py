"""`benchmark_index`: vectors and engines in, recall, latency and cost of every setting out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from judged.errors import BadProtocol, EngineFailed
from judged.index.data import Dataset, make_dataset, open_dataset
from judged.index.family import NeighbourProtocol
from judged.index.filters import make_filter
from judged.index.measurement import TARGET, Workload, describe
from judged.index.points import Point, name_measures, score_points
from judged.index.prices import Prices, parse_prices
from judged.index.result import IndexBenchmark
from judged.index.streams.runbooks import follow_steps
from judged.index.sweeps.plan import Build, plan_builds
from judged.index.sweeps.sweep import Failure, Swept, run_sweep
from judged.index.sweeps.worker import find_effort
from judged.measures.parse import parse_measures
from judged.problem import Note, Severity
from judged.progress import Progress
from judged.result import ProtocolRecord, Provenance
from judged.store.files import scratch_folder
from judged.store.machine import describe_machine
from judged.wording import counted

CLIENT_BOUND = 0.8
"""The share of the time on a processor from which a client of a server may be what limits the throughput."""
LATE = 0.2
"""The share of the median response by which the harness may be late before a note says so."""


def benchmark_index(
    vectors: ArrayLike | os.PathLike[str],
    queries: ArrayLike | os.PathLike[str] | None = None,
    *,
    engines: str | Sequence[object] = (),
    sweep: Mapping[str, object] | str | os.PathLike[str] | None = None,
    metric: str | None = None,
    neighbours: object = None,
    attributes: Mapping[str, object] | None = None,
    at_recall: float | None = None,
    confident: bool = False,
    price: str | None = None,
    output: str | os.PathLike[str] | None = None,
    fresh: bool = False,
    urls: Mapping[str, str] | None = None,
    measures: str | Sequence[str] = (),
    timeout: float | None = None,
    progress: Progress | None = None,
    **workload: Any,
) -> IndexBenchmark:
    """Measure recall, latency, throughput and cost of vector indexes on the same vectors and queries.

    `vectors` is a matrix with a row for each vector, a file, or the name of a data set such as `digits`; without
    `queries`, a tenth of the vectors is held out. `engines` has names (`judged index engines` lists them), classes
    with `build` and `search`, or "module:Class". `sweep` gives each engine `build` and `query` settings to combine, as a
    dict or a YAML file. `metric` is `l2`, `ip`, `cosine` or `hamming`.

    `at_recall` searches for the least effort that reaches a recall; with `confident`, the lower end of its interval has
    to. `price` is `core=0.04,gib=0.005` (of an hour) or a YAML file, for costs in money. `output` is a folder: what is finished there is not measured again, unless `fresh` says so. Further arguments are
    those of `judged.index.measurement.Workload`: `k`, `rounds`, `build_budget`, `repeats`, `clients`, `loads`, `seconds`,
    `filters`, `churn`, `threads`, `retries`, `warmup` and `seed`.

    >>> import numpy as np
    >>> points = np.random.default_rng(0).standard_normal((300, 8))
    >>> benchmark_index(points, engines=["exact"], k=5, rounds=1).points[0].recall
    1.0
    """
    if isinstance(vectors, str | os.PathLike):
        dataset = open_dataset(vectors, queries=queries, neighbours=neighbours, metric=metric)  # type: ignore[arg-type]
    else:
        dataset = make_dataset(vectors, queries, metric=metric, neighbours=neighbours, attributes=attributes)
    try:
        asked = Workload(**workload)
    except TypeError as error:
        msg = f"the workload cannot be read: {error}"
        raise BadProtocol(msg, hint=f"it has {', '.join(Workload.__dataclass_fields__)}") from None
    return benchmark_dataset(
        dataset,
        plan_builds(
            [engines] if isinstance(engines, str) else list(engines),
            sweep,
            urls=urls,
            size=len(dataset.vectors),
        ),
        asked,
        RunOptions(
            at_recall=at_recall,
            confident=confident,
            prices=None if price is None else parse_prices(price),
            output=output,
            fresh=fresh,
            measures=[measures] if isinstance(measures, str) else list(measures),
            timeout=timeout,
            progress=progress,
        ),
    )


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """What settings are chosen by, where points are kept, and how a sweep runs."""

    at_recall: float | None = None
    confident: bool = False
    prices: Prices | None = None
    output: str | os.PathLike[str] | None = None
    fresh: bool = False
    measures: Sequence[str] = ()
    timeout: float | None = None
    progress: Progress | None = None


def benchmark_dataset(
    dataset: Dataset, builds: Sequence[Build], workload: Workload, options: RunOptions
) -> IndexBenchmark:
    """Measure the builds on a data set; everything is checked before anything is built."""
    (benchmark,) = benchmark_sides(dataset, [builds], workload, options)
    return benchmark


def benchmark_sides(
    dataset: Dataset, sides: Sequence[Sequence[Build]], workload: Workload, options: RunOptions
) -> list[IndexBenchmark]:
    """Measure the builds of several sides in the same rounds, in random order; return a benchmark for each side."""
    at_recall = options.at_recall
    builds = [build for side in sides for build in side]
    _check_plan(dataset, builds, workload, at_recall)
    parse_measures(name_measures(workload.k, options.measures), family="neighbour")
    dataset.neighbours(workload.k)
    target = TARGET if at_recall is None else at_recall
    with scratch_folder("results") as temporary:
        results = Path(options.output or temporary)
        swept = run_sweep(
            dataset,
            builds,
            workload,
            results,
            progress=options.progress,
            timeout=options.timeout,
            at_recall=at_recall,
            fresh=options.fresh,
        )
        found = [[rounds for build, rounds in swept.points if build in side] for side in sides]
        if not all(found):
            msg = "; ".join(f"{failure.name}: {failure.message}" for failure in swept.failures)
            raise EngineFailed(msg)
        scored = [
            score_points(rounds, dataset, workload, results, measures=options.measures) for rounds in found
        ]
    notes = _find_effort_notes(builds) if at_recall is not None else ()
    return [
        make_benchmark(
            dataset,
            workload,
            points,
            swept.failures,
            target,
            confident=options.confident,
            prices=options.prices,
            notes=(*notes, *_find_reused(swept)),
        )
        for points in scored
    ]


def make_benchmark(
    dataset: Dataset,
    workload: Workload,
    points: Sequence[Point],
    failures: Sequence[Failure] = (),
    at_recall: float = TARGET,
    *,
    confident: bool = False,
    prices: Prices | None = None,
    notes: Sequence[Note] = (),
) -> IndexBenchmark:
    """Return the result of points, with notes on what a reader should know."""
    protocol = NeighbourProtocol()
    record = ProtocolRecord(
        f"Recall@{workload.k}: how many of {workload.k} answers are as near as the {workload.k} exact neighbours, ties "
        f"by distance; repeated ids count once; one clock, {workload.warmup} queries of warm-up left out, "
        f"{counted(workload.repeats, 'pass')} over the queries in each round",
        protocol.fingerprint,
    )
    settings = {name: getattr(workload, name) for name in Workload.__dataclass_fields__}
    # a runbook may have thousands of steps; a point's key has them all
    settings["runbook"] = f"{len(workload.runbook):,} steps"
    machine = describe_machine()
    provenance = Provenance(
        protocols=(record,),
        inputs=dataset.inputs,
        settings={**settings, "data": dataset.digest, "metric": dataset.metric},
        machine=", ".join(f"{name} {value}" for name, value in machine.items()),
    )
    return IndexBenchmark(
        dataset.name,
        dataset.metric,
        len(dataset.vectors),
        dataset.vectors.dimensions,
        len(dataset.queries),
        workload,
        tuple(points),
        at_recall,
        tuple(failures),
        provenance,
        (*dataset.notes, *notes, *_find_notes(dataset, workload, points)),
        confident,
        prices,
    )


def _check_plan(
    dataset: Dataset, builds: Sequence[Build], workload: Workload, at_recall: float | None
) -> None:
    """Raise errors for what cannot be measured."""
    if at_recall is not None and not 0 < at_recall <= 1:
        msg = f"`at_recall` is {at_recall:g}, expected a share above 0 and at most 1"
        raise BadProtocol(msg)
    for build in builds:
        if dataset.metric not in build.engine.capabilities.metrics:
            known = ", ".join(sorted(build.engine.capabilities.metrics))
            msg = f"`{build.engine.name}` has no metric {dataset.metric}, only {known}"
            raise BadProtocol(msg)
    for text in workload.filters:
        make_filter(text, dataset.vectors, workload.seed)
    for _ in follow_steps(workload.runbook, len(dataset.vectors)):
        pass  # a step that cannot be is an error
    _check_k(dataset, workload)


def _find_effort_notes(builds: Sequence[Build]) -> Iterator[Note]:
    """Yield the engines of which no setting can be searched for."""
    for kind in dict.fromkeys(build.engine for build in builds):
        if find_effort(kind) is None and not kind.capabilities.exact:
            message = (
                "no setting is declared as its effort, so that only the settings of the sweep were measured"
            )
            yield Note("no-effort", "warning", message, subject=kind.name)


def _find_reused(swept: Swept) -> Iterator[Note]:
    """Yield how many points were measured by an earlier run, and when."""
    reused = [rounds for _, rounds in swept.points if any(one.at < swept.started for one in rounds)]
    if reused:
        days = sorted({one.at[:10] for rounds in reused for one in rounds if one.at < swept.started})
        when = days[0] if len(days) == 1 else f"from {days[0]} to {days[-1]}"
        yield Note(
            "reused",
            "info",
            f"{counted(len(reused), 'point')} reused, measured {when}; `--fresh` measures again",
        )


def _check_k(dataset: Dataset, workload: Workload) -> None:
    if workload.k > len(dataset.vectors):
        msg = f"`k` is {workload.k}, and there are {len(dataset.vectors):,} vectors"
        raise BadProtocol(msg)


def _find_notes(dataset: Dataset, workload: Workload, points: Sequence[Point]) -> Iterator[Note]:
    """Return what puts numbers in doubt, and how they were made."""
    threads = counted(workload.threads, "thread")
    shared = list(dict.fromkeys(point.engine for point in points if point.measured.shared))
    if len(shared) < len({point.engine for point in points}):
        apart = f"every engine but {', '.join(shared)}" if shared else "every engine"
        message = f"{apart} ran in a process of its own in each round; BLAS, OpenMP and the engine were limited to {threads}"
        yield Note("threads", "info", message)
    if shared:
        message = (
            "ran in the process of the benchmark, because no other one can import it: its threads were not limited, its "
            "rounds are not fresh processes, and its memory is not its own; put the class into a module"
        )
        yield from (Note("shared-process", "warning", message, subject=name) for name in shared)
    yield from _find_round_notes(workload, points)
    if dataset.metric == "cosine":
        yield Note(
            "normalised", "info", "vectors and queries were scaled to length 1 before any engine saw them"
        )
    for code, severity, words in _NOTES:
        for point in points:
            if text := words(point):
                yield Note(code, severity, text, subject=point.name)
    for point in points:
        for text in point.notes:
            yield Note("answers", "warning", text, subject=point.name)


def _find_round_notes(workload: Workload, points: Sequence[Point]) -> Iterator[Note]:
    """Yield what the rounds do not cover."""
    if workload.rounds == 1:
        message = "one round: how much times vary from process to process is not known, so that none is shown to be less"
        yield Note("one-round", "warning", message)
    elif workload.rounds == 2:
        message = (
            "two rounds hardly bound anything: intervals of which the ends are – are wider than a hundredfold"
        )
        yield Note("two-rounds", "warning", message)
    builds = {point.measured.group: point for point in points if len(point.rounds) < workload.rounds}
    for point in builds.values():
        name, cost = describe(point.engine, point.measured.build, {}), point.measured.cost
        message = (
            f"{len(point.rounds)} of {workload.rounds} rounds: a build takes {cost.seconds:.3g} s, and "
            f"`--build-budget` allows {workload.build_budget:g} s for further ones"
        )
        yield Note("fewer-rounds", "warning", message, subject=name)
    for name in dict.fromkeys(point.engine for point in points if point.measured.remote):
        message = "measured as this server was: its process was the same in every round, with new clients and a new index"
        yield Note("same-server", "info", message, subject=name)


def _say_failed(point: Point) -> str:
    if not point.failed:
        return ""
    asked, error = (
        sum(one.queries for one in point.rounds),
        next(one.error for one in point.rounds if one.failed),
    )
    return f"{point.failed:,} of {asked:,} queries failed: they count as recall 0 and as the slowest that was answered ({error})"


def _say_busy(point: Point) -> str:
    words = "other work kept the machine busy meanwhile: trust CPU ms more than times"
    return words if point.busy else ""


def _say_late(point: Point) -> str:
    loops = (loop for measured in point.rounds for loop in measured.open)
    late = any(loop.lateness > LATE * loop.response.p50 for loop in loops)
    words = "response times include lateness of the harness itself, because searches are so short"
    return words if late else ""


def _say_client_bound(point: Point) -> str:
    loops = [loop for measured in point.rounds for loop in measured.closed]
    if point.measured.remote and any((loop.client_share or 0) > CLIENT_BOUND for loop in loops):
        return "clients were busy nearly all of the time: they limit the throughput, and not the server"
    slow = any(loop.ceiling and loop.throughput > loop.ceiling / 2 for loop in loops)
    return "clients reach half the throughput that they have with an engine that does nothing" if slow else ""


def _say_emulated(point: Point) -> str:
    return point.measured.emulated and f"emulated: {point.measured.emulated}"


def _say_unverified(point: Point) -> str:
    names = ", ".join(point.measured.unverified)
    return names and f"{names} cannot be read back"


def _say_skipped(point: Point) -> str:
    names = " or ".join(point.measured.skipped)
    return names and f"the engine has no {names}"


def _say_updates(point: Point) -> str:
    rate = point.measured.details.get("updates:rate")
    if rate is None:
        return ""
    turns = "at the same time" if point.measured.remote else "in turn with the searches, as one process does"
    return f"{rate:,.0f} vectors a second were inserted, deleted or replaced {turns}"


_NOTES: tuple[tuple[str, Severity, Callable[[Point], str]], ...] = (
    ("failed-queries", "warning", _say_failed),
    ("busy-machine", "warning", _say_busy),
    ("late-harness", "warning", _say_late),
    ("client-bound", "warning", _say_client_bound),
    ("emulated", "warning", _say_emulated),
    ("unverified", "info", _say_unverified),
    ("skipped", "info", _say_skipped),
    ("updates", "info", _say_updates),
)
"""Notes on points: code, severity, and the message, empty if there is nothing to say."""
