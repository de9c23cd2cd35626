"""Latency of the systems: mean and percentiles of raw samples, and the Pareto-optimal systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from judged.blocks import Value

__all__ = ["Latency", "find_pareto_optimal", "summarise_latency"]


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
