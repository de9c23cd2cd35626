"""Sweeps: every build setting with every query setting of every engine, each build in a fresh process, resumable."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from threading import Timer
from typing import Any, TypeAlias

import numpy as np

from judged.errors import BadProtocol, EngineFailed, MissingExtra, UnknownName
from judged.index.data import Dataset
from judged.index.engine import (
    ENGINES,
    Engine,
    OwnEngine,
    Setting,
    Settings,
    SettingValue,
    complete_settings,
    find_engine,
)
from judged.index.measurement import Measurement, Workload, propose_effort
from judged.index.worker import Job, PlannedPoint, find_effort, make_key, open_points, run_job
from judged.io.settings import read_yaml
from judged.progress import Progress
from judged.saved import to_builtins
from judged.store.lock import lock_folder
from judged.store.machine import describe_machine

FORMAT = 1
"""Part of every key; raised when a measurement is made in another way."""

Grid: TypeAlias = Mapping[str, SettingValue | Sequence[SettingValue]]
"""Settings to combine, each with a value or a list of values."""

QUICK = ("exact", "hnswlib", "faiss-hnsw")
"""Engines of a benchmark that names none: the first two of these that are installed."""
TIMEOUT = 86_400.0
"""Default timeout, in seconds, of a build with its measurements."""


@dataclass(frozen=True)
class Build:
    """One build of one engine, with the query settings that are measured on it."""

    engine: type[Engine]
    settings: Settings
    queries: tuple[Settings, ...]
    url: str | None = None
    """The address of its server, if it has one."""

    @property
    def name(self) -> str:
        """The engine and its build settings, in words."""
        return describe(self.engine.name, self.settings, {})


@dataclass(frozen=True)
class Failure:
    """A build that could not be measured."""

    name: str
    message: str


def describe(engine: str, build: Settings, query: Settings) -> str:
    """Return the name of a point.

    >>> describe("hnswlib", {"M": 16}, {"ef": 64})
    'hnswlib(M=16, ef=64)'
    """
    settings = {**build, **query}
    inside = ", ".join(f"{name}={value}" for name, value in settings.items())
    return f"{engine}({inside})" if inside else engine


def read_sweep(path: str | os.PathLike[str]) -> Mapping[str, object]:
    """Return the sweep of a YAML file: for each engine `build` and `query` settings, each a value or a list."""
    document = read_yaml(Path(path))
    if not isinstance(document, Mapping):
        msg = f"{path} holds {type(document).__name__}, expected engines with their settings"
        raise BadProtocol(msg, hint="hnswlib: {build: {M: [16, 32]}, query: {ef: [32, 64, 128]}}")
    return dict(document)


def plan_builds(
    engines: Sequence[object],
    sweep: Mapping[str, object] | str | os.PathLike[str] | None = None,
    *,
    urls: Mapping[str, str] | None = None,
) -> list[Build]:
    """Return every build with its query settings; without a sweep, the values that each engine suggests.

    `sweep` is a YAML file, or a dict of the same layout. Without engines there are those of the sweep, or two quick
    ones. Raises errors that name the place of what is wrong, before anything is built.
    """
    source = str(sweep) if isinstance(sweep, str | os.PathLike) else "sweep"
    grid = read_sweep(sweep) if isinstance(sweep, str | os.PathLike) else sweep or {}
    kinds = [find_engine(engine) for engine in (engines or list(grid) or _find_quick_engines())]
    names = [kind.name for kind in kinds]
    for name in grid:
        if name not in names:
            role = f"engine of the benchmark ({source})"
            raise UnknownName(role, name, names)
    builds = []
    for kind in kinds:
        missing = kind.missing_packages()
        if missing:
            raise MissingExtra(missing[0], extra=kind.extra, needed_by=f"the engine `{kind.name}`")
        place = f"{source}: {kind.name}"
        grids = _read_entry(grid.get(kind.name, {}), place)
        suggested = {
            name: list(setting.values) for name, setting in kind.query_settings.items() if setting.values
        }
        queries = _expand(kind.query_settings, grids.get("query", suggested), f"{place}.query")
        settings = _expand(kind.build_settings, grids.get("build", {}), f"{place}.build")
        url = (urls or {}).get(kind.name)
        builds += [Build(kind, build, tuple(queries), url) for build in settings]
    return builds


def _find_quick_engines() -> list[str]:
    """Return exact search, and the first graph index that is installed."""
    return [name for name in QUICK if not ENGINES[name].missing_packages()][:2]


def _read_entry(entry: object, place: str) -> Mapping[str, Grid]:
    """Return the `build` and `query` parts of an engine's entry."""
    if entry is None:
        return {}
    if not isinstance(entry, Mapping):
        msg = f"{place} is {entry!r}, expected `build` and `query`"
        raise BadProtocol(msg)
    for part, settings in entry.items():
        if part not in {"build", "query"}:
            kind = f"part of {place}"
            raise UnknownName(kind, str(part), ["build", "query"])
        if not isinstance(settings, Mapping):
            msg = f"{place}.{part} is {settings!r}, expected settings and their values"
            raise BadProtocol(msg)
    return dict(entry)


def _expand(known: Mapping[str, Setting], grid: Grid, place: str) -> list[dict[str, SettingValue]]:
    """Return every combination of the values of a grid, each completed with the defaults."""
    lists = {}
    for name, given in grid.items():
        values = given if isinstance(given, Sequence) and not isinstance(given, str) else [given]
        for value in values:
            if name in known:
                _check_value(known[name], value, f"{place}.{name}")
        lists[str(name)] = values
    combinations = [dict(zip(lists, values, strict=True)) for values in product(*lists.values())]
    if not combinations:
        msg = f"{place} has an empty list, expected at least one value"
        raise BadProtocol(msg)
    return [complete_settings(known, chosen, what=f"setting of {place}") for chosen in combinations]


def _check_value(setting: Setting, value: SettingValue, place: str) -> None:
    expected = type(setting.default)
    sound = isinstance(value, expected) or (expected is float and isinstance(value, int))
    if not sound or (isinstance(value, bool) and expected is not bool):
        word = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}.get(
            expected, ""
        )
        msg = f"{place} is {value!r}, expected {word}"
        raise BadProtocol(msg)
    # whole numbers count something: only a setting that is 0 by default may be 0
    least = min(1, setting.default) if isinstance(setting.default, int) else None
    if least is not None and isinstance(value, int) and value < least:
        msg = f"{place} is {value}, expected {least:d} or more"
        raise BadProtocol(msg)


def make_subject(dataset: Dataset, build: Build, workload: Workload) -> dict[str, object]:
    """Return everything that the points of a build depend on."""
    return {
        "format": FORMAT,
        "data": dataset.digest,
        "engine": build.engine.name,
        "version": build.engine.version(),
        "build": dict(build.settings),
        "workload": to_builtins(workload),
        "machine": describe_machine(),
    }


def read_points(results: Path) -> dict[str, Measurement]:
    """Return the finished points of a folder by key: those whose raw rows are there."""
    points = open_points(results).read()
    return {point.key: point for point in points if (results / "rows" / f"{point.key}.parquet").is_file()}


def run_sweep(
    dataset: Dataset,
    builds: Sequence[Build],
    workload: Workload,
    results: Path,
    *,
    progress: Progress | None = None,
    timeout: float | None = None,
    at_recall: float | None = None,
) -> tuple[list[Measurement], list[Failure]]:
    """Measure every point that is not in the folder yet; return all of them, in the order of the plan, and failures."""
    failures: list[Failure] = []
    wanted: list[str] = []
    done, total = 0, sum(len(build.queries) for build in builds)
    with (
        lock_folder(results),
        tempfile.TemporaryDirectory(prefix="judged-data-") as folder,
    ):
        for build in builds:
            finished = read_points(results)
            subject = make_subject(dataset, build, workload)
            keys = {make_key(subject, query): query for query in build.queries}
            job = Job(
                "",
                dict(build.settings),
                tuple(PlannedPoint(key, dict(query)) for key, query in keys.items() if key not in finished),
                workload,
                dataset.metric,
                folder,
                str(results.resolve()),
                subject,
                build.url,
                dataset.vectors.bits,
                at_recall,
                _find_known(build, finished.values(), make_key(subject)),
            )
            done += len(keys) - len(job.points)
            if _has_work(job, build.engine):
                _save_data(dataset, Path(folder), workload.k)
                try:
                    for event in _run(job, build.engine, timeout):
                        done += event["event"] == "point"
                        if progress is not None:
                            progress(done, max(total, done), build.name)
                except EngineFailed as error:
                    failures.append(Failure(build.name, error.message))
            wanted.append(make_key(subject))
    groups: dict[str, list[Measurement]] = {group: [] for group in wanted}
    planned = {
        make_key(make_subject(dataset, build, workload), query) for build in builds for query in build.queries
    }
    for point in read_points(results).values():
        if point.group in groups and (point.key in planned or at_recall is not None):
            groups[point.group].append(point)
    return [point for group in groups.values() for point in _in_order(group)], failures


def _find_known(build: Build, finished: Iterable[Measurement], group: str) -> dict[str, float]:
    """Return the recall of every effort that was measured on this build."""
    name = find_effort(build.engine)
    if name is None:
        return {}
    return {str(point.query[name]): point.recall for point in finished if point.group == group}


def _has_work(job: Job, kind: type[Engine]) -> bool:
    """Return whether points are missing, or the effort that reaches the recall is not found yet."""
    if job.points or job.at_recall is None or find_effort(kind) is None or not job.known:
        return bool(job.points)
    known = {int(effort): recall for effort, recall in job.known.items()}
    return propose_effort(known, job.at_recall) is not None


def _in_order(points: Sequence[Measurement]) -> list[Measurement]:
    """Return points by their query settings."""
    # by type first: words and numbers cannot be compared with each other
    return sorted(points, key=lambda point: [(str(type(value)), value) for value in point.query.values()])


def _save_data(dataset: Dataset, folder: Path, k: int) -> None:
    # once for all builds, and only when one of them has work: vectors may take gigabytes
    if (folder / "truth.npy").exists():
        return
    np.save(folder / "vectors.npy", dataset.vectors.array)
    np.save(folder / "queries.npy", dataset.queries.array)
    attributes: dict[str, Any] = dict(dataset.vectors.attributes)
    np.savez(folder / "attributes.npz", **attributes)
    np.save(folder / "truth.npy", dataset.neighbours(k).ids)


def _run(job: Job, kind: type[Engine], timeout: float | None) -> Iterator[Mapping[str, object]]:
    """Run a job in a process of its own, and yield its steps; a class that no module holds is run in this one."""
    reference = _find_reference(kind)
    if reference is None:
        events: list[Mapping[str, object]] = []
        try:
            run_job(job, lambda event, details: events.append({"event": event, **details}), kind=kind)
        except EngineFailed:
            raise
        except Exception as error:
            msg = f"{type(error).__name__}: {error}"
            raise EngineFailed(msg) from error
        yield from events
        return
    yield from _run_process(replace(job, engine=reference), timeout)


def _run_process(job: Job, timeout: float | None) -> Iterator[Mapping[str, object]]:
    path = Path(job.data) / "job.json"
    path.write_text(json.dumps(to_builtins(job)), encoding="utf-8")
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(  # noqa: S603 - this very Python, with a file of our own
            [sys.executable, "-m", "judged.index.worker", str(path)],
            stdin=subprocess.PIPE,  # nothing is written to it: it ends when this process does, and the worker with it
            stdout=subprocess.PIPE,
            stderr=errors,  # a file: a pipe that nobody reads blocks an engine that prints much
            env=_environment(job.workload.threads),
            text=True,
        )
        failure: EngineFailed | None = None
        alarm = Timer(timeout or TIMEOUT, process.kill)
        alarm.start()
        try:
            assert process.stdout is not None  # noqa: S101 - a pipe, as was asked for
            for line in process.stdout:
                event = json.loads(line)
                if event["event"] == "failed":
                    failure = EngineFailed(event["message"], hint=event["hint"])
                else:
                    yield event
            process.wait()
        finally:
            overdue = not alarm.is_alive()  # before `cancel`, which ends the timer as well
            alarm.cancel()
            if process.poll() is None:
                process.kill()
            process.wait()
            for pipe in filter(None, (process.stdin, process.stdout)):
                pipe.close()
        if failure is not None:
            raise failure
        if process.returncode and overdue:
            msg = f"it did not finish within {timeout or TIMEOUT:g} seconds"
            raise EngineFailed(msg)
        if process.returncode:
            errors.seek(0)
            last = errors.read().decode(errors="replace").strip().splitlines()[-1:] or [""]
            msg = f"its process ended with code {process.returncode}: {last[0]}"
            raise EngineFailed(msg)


def _environment(threads: int) -> dict[str, str]:
    """Return the environment of a worker: the threads of every library set before it is loaded, and our own path."""
    names = (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
        "NUMEXPR_NUM_THREADS",
    )
    # "" is the folder that Python was started in: engines of users are imported from there
    path = os.pathsep.join(part or os.getcwd() for part in sys.path)  # noqa: PTH109
    return {
        **os.environ,
        **dict.fromkeys((*names, "NUMBA_NUM_THREADS", "RAYON_NUM_THREADS"), str(threads)),
        "PYTHONPATH": path,
    }


def _find_reference(kind: type[Engine]) -> str | None:
    """Return the "module:Class" from which another process can import an engine; None if there is none."""
    target = kind
    if issubclass(kind, OwnEngine):
        target = kind.__dict__.get("factory").__func__ if "factory" in kind.__dict__ else kind  # type: ignore[union-attr]
        if not isinstance(target, type):
            return None
    module = sys.modules.get(target.__module__)
    if target.__module__ == "__main__" or getattr(module, target.__qualname__, None) is not target:
        return None
    return f"{target.__module__}:{target.__qualname__}"
