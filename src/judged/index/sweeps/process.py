"""Work in a process of its own: a job of a worker, in this environment or in another one, and what it reports."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from threading import Timer

from judged.errors import EngineFailed
from judged.index.engine import Engine, OwnEngine
from judged.index.sweeps.plan import Build, Environment
from judged.index.sweeps.worker import Job, identify_engine, run_job
from judged.saved import to_builtins

TIMEOUT = 86_400.0
"""Default timeout, in seconds, of a build with its measurements."""


def identify_build(build: Build, folder: Path) -> Mapping[str, str]:
    """Return the version and the source of the engine of a build, in its environment."""
    if not build.environment.name:
        return identify_engine(build.engine, build.url)
    reference = _find_reference(build.engine)
    if reference is None:
        msg = f"`{build.engine.name}` is not in a module, so that no other version of it can be imported"
        raise EngineFailed(msg)
    task = {"identify": reference, "url": build.url}
    (event,) = _run_process(task, folder, 1, build.environment, TIMEOUT)
    return {name: str(event[name]) for name in ("version", "source")}


def run_build(job: Job, build: Build, timeout: float | None) -> Iterator[Mapping[str, object]]:
    """Run a job in a process of its own, and yield its steps; a class that no module holds is run in this one."""
    reference = _find_reference(build.engine)
    if reference is None:
        events: list[Mapping[str, object]] = []
        try:
            run_job(job, lambda event, details: events.append({"event": event, **details}), kind=build.engine)
        except EngineFailed:
            raise
        except Exception as error:
            msg = f"{type(error).__name__}: {error}"
            raise EngineFailed(msg) from error
        yield from events
        return
    task = to_builtins(replace(job, engine=reference))
    yield from _run_process(task, Path(job.data), job.workload.threads, build.environment, timeout)


def _run_process(
    task: object, folder: Path, threads: int, environment: Environment, timeout: float | None
) -> Iterator[Mapping[str, object]]:
    path = folder / "job.json"
    path.write_text(json.dumps(task), encoding="utf-8")
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(  # noqa: S603 - this very Python, with a file of our own
            [environment.python, "-m", "judged.index.sweeps.worker", str(path)],
            stdin=subprocess.PIPE,  # nothing is written to it: it ends when this process does, and the worker with it
            stdout=subprocess.PIPE,
            stderr=errors,  # a file: a pipe that nobody reads blocks an engine that prints much
            env=_make_variables(threads, environment, folder),
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


def _make_variables(threads: int, environment: Environment, folder: Path) -> dict[str, str]:
    """Return the environment of a worker: the threads of every library set before it is loaded, and our own path."""
    names = (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
        "NUMEXPR_NUM_THREADS",
    )
    path = [*environment.path, *_list_paths(environment, folder)]
    return {
        **os.environ,
        **dict.fromkeys((*names, "NUMBA_NUM_THREADS", "RAYON_NUM_THREADS"), str(threads)),
        "PYTHONPATH": os.pathsep.join(path),
    }


def _list_paths(environment: Environment, folder: Path) -> list[str]:
    """Return where modules are imported from after those of the environment."""
    if environment.alone:
        # this judged, and whatever else the other Python has
        only = folder / "judged-only"
        if not only.exists():
            only.mkdir()
            (only / "judged").symlink_to(Path(__file__).parents[2], target_is_directory=True)
        return [str(only), os.getcwd()]  # noqa: PTH109
    # "" is the folder that Python was started in: engines of users are imported from there
    return [part or os.getcwd() for part in sys.path]  # noqa: PTH109


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
