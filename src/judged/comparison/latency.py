"""Latency of the systems: mean and percentiles of raw samples, and the Pareto-optimal systems."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from judged.blocks import Value
from judged.errors import Unusable
from judged.io.rows import read_rows
from judged.problem import Problem

__all__ = ["Latency", "Timings", "find_pareto_optimal", "read_timings", "summarise_latency"]

SYSTEM = ("system", "run", "model", "variant", "name")
UNITS = {
    "milliseconds": 1.0,
    "latency_ms": 1.0,
    "time_ms": 1.0,
    "total_ms": 1.0,
    "ms": 1.0,
    "seconds": 1000.0,
    "latency_s": 1000.0,
    "time_s": 1000.0,
    "total_s": 1000.0,
    "s": 1000.0,
}
"""The columns that may hold a time, and their unit in milliseconds; a column without a unit is never assumed."""


@dataclass(frozen=True, slots=True)
class Timings:
    """The samples of each system, in milliseconds."""

    milliseconds: Mapping[str, Sequence[float]]


@dataclass(frozen=True, slots=True)
class Latency:
    """The latency of one system, in milliseconds."""

    system: str
    samples: int
    mean: float
    p50: float
    p95: float
    p99: float

    def to_dict(self) -> dict[str, Value]:
        """Return every number by name, with its unit."""
        numbers = {f"{name}_ms": getattr(self, name) for name in ("mean", "p50", "p95", "p99")}
        return {"system": self.system, "samples": self.samples, **numbers}


def read_timings(
    source: Timings | Mapping[str, Iterable[float]] | str | os.PathLike[str],
) -> Timings:
    """Return the samples of each system, from a CSV, TSV or JSONL file, or a dict of seconds by system.

    A file has a column `system` and one whose name says the unit, such as `seconds` or `milliseconds`.
    """
    if isinstance(source, Timings):
        return source
    if isinstance(source, Mapping):
        return Timings(
            {str(name): [1000.0 * float(sample) for sample in samples] for name, samples in source.items()}
        )
    table = read_rows(Path(os.fspath(source)))
    system, column = table.column("system", SYSTEM), table.column("time", tuple(UNITS))
    factor = UNITS[column.strip().lower()]
    found: dict[str, list[float]] = {}
    for number, row in enumerate(table.rows):
        time = _parse_time(row.get(column))
        if time is None:
            message = f"`{column}` is `{row.get(column)}`, expected a number from 0"
            table.faults.add("not-a-number", number, message)
        else:
            found.setdefault(str(row.get(system)), []).append(factor * time)
    table.faults.raise_if_any(error=Unusable)
    if not found:
        raise Unusable(str(source), [Problem.error("empty", "rows", "none, expected times of systems")])
    return Timings(found)


def _parse_time(value: object) -> float | None:
    try:
        time = float(str(value))
    except ValueError:
        return None
    return time if math.isfinite(time) and time >= 0 else None


def summarise_latency(system: str, samples: Sequence[float]) -> Latency:
    """Return the mean and the percentiles (by linear interpolation) of the samples.

    >>> summarise_latency("bm25", [10.0, 20.0, 30.0]).p50
    20.0
    """
    p50, p95, p99 = np.percentile(samples, [50, 95, 99]).tolist()
    return Latency(system, len(samples), float(np.mean(samples)), p50, p95, p99)


def find_pareto_optimal(points: Mapping[str, Sequence[float]]) -> list[str]:
    """Return the names for which no other is at least as good in everything and better in something; more is better.

    >>> find_pareto_optimal({"fast": [0.3, -10.0], "good": [0.6, -50.0], "bad": [0.2, -60.0]})
    ['fast', 'good']
    """
    return [
        name
        for name, point in points.items()
        if not any(
            all(a >= b for a, b in zip(other, point, strict=True)) and list(other) != list(point)
            for other in points.values()
        )
    ]
