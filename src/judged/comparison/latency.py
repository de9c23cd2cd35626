"""Latency of the systems: mean and percentiles of raw samples, and what no other system beats in everything."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from judged.errors import Unusable
from judged.io.rows import read_rows
from judged.problem import Problem

__all__ = ["Latency", "latency_of", "pareto", "read_timings"]

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
"""Columns that hold a time, and how many milliseconds their unit is; one without a unit is not guessed at."""


@dataclass(frozen=True, slots=True)
class Latency:
    """How long one system took, in milliseconds."""

    system: str
    samples: int
    mean: float
    p50: float
    p95: float
    p99: float

    def to_dict(self) -> dict[str, Any]:
        """Every number by name, with its unit."""
        numbers = {f"{name}_ms": getattr(self, name) for name in ("mean", "p50", "p95", "p99")}
        return {"system": self.system, "samples": self.samples, **numbers}


def read_timings(source: Any) -> dict[str, list[float]]:
    """The samples of each system in milliseconds: from a CSV, TSV or JSONL file, or a dict of seconds by system.

    A file has a column `system` and one whose name says the unit, such as `seconds` or `milliseconds`.
    """
    if isinstance(source, Mapping):
        return {str(name): [1000.0 * float(each) for each in samples] for name, samples in source.items()}
    table = read_rows(Path(os.fspath(source)))
    system, column = table.column("system", SYSTEM), table.column("time", tuple(UNITS))
    factor = UNITS[column.strip().lower()]
    found: dict[str, list[float]] = {}
    for row, values in enumerate(table.rows):
        time = _time(values.get(column))
        if time is None:
            told = f"`{column}` is `{values.get(column)}`, expected a number from 0"
            table.faults.add("not-a-number", row, told)
        else:
            found.setdefault(str(values.get(system)), []).append(factor * time)
    table.faults.raise_if_any(error=Unusable)
    if not found:
        raise Unusable(str(source), [Problem.error("empty", "rows", "none, expected times of systems")])
    return found


def _time(value: Any) -> float | None:
    try:
        time = float(value)
    except (TypeError, ValueError):
        return None
    return time if math.isfinite(time) and time >= 0 else None


def latency_of(system: str, samples: Sequence[float]) -> Latency:
    """Mean and percentiles (by linear interpolation) of the samples.

    >>> latency_of("bm25", [10.0, 20.0, 30.0]).p50
    20.0
    """
    p50, p95, p99 = np.percentile(samples, [50, 95, 99]).tolist()
    return Latency(system, len(samples), float(np.mean(samples)), p50, p95, p99)


def pareto(points: Mapping[str, Sequence[float]]) -> list[str]:
    """The names that no other beats: at least as good in everything, and better in something; more is better.

    >>> pareto({"fast": [0.3, -10.0], "good": [0.6, -50.0], "bad": [0.2, -60.0]})
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
