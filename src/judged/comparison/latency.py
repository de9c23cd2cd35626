"""Latency of the systems: mean and percentiles of raw samples, and what no other system beats in everything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from judged.io.read import read_timings
from judged.tables.inputs import TimingsLike

__all__ = ["Latency", "latency_of", "pareto", "read_latencies"]


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


def read_latencies(source: TimingsLike) -> dict[str, list[float]]:
    """Return the samples of each system in milliseconds, from whatever `judged.read_timings` reads."""
    timings = read_timings(source)
    return {system: (1000.0 * timings.samples(system)).tolist() for system in timings.systems}


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
