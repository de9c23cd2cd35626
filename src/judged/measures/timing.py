"""Timing: how long requests take, and how many a single thread serves in a second."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from judged.arrays import Floats, Ints
from judged.kernels.segments import divide
from judged.measures.groups import Scope
from judged.measures.measure import Measure
from judged.measures.parameters import Parameter

TIMING = Scope(
    "timing",
    subject="timings",
    example="Latency(p=95)",
    takes="`judged.evaluate` with a table of timings",
    unit="requests",
    unknown="unmeasured",
    about={
        "timing": (
            "Measures of raw times, one for each request. Samples are kept as they were measured; means and "
            "percentiles are computed over them. Times are in milliseconds unless `unit` says otherwise."
        )
    },
)


@dataclass(frozen=True, eq=False)
class TimingView:
    """The times of requests, in seconds."""

    seconds: Floats

    def __len__(self) -> int:
        return len(self.seconds)

    def select(self, units: Ints) -> TimingView:
        """Return the times of some requests."""
        return TimingView(self.seconds[units])


def latency(view: TimingView, *, p: float | None = None, unit: Literal["ms", "s"] = "ms") -> Floats:  # noqa: ARG001 - how values are aggregated
    r"""Return how long each request took.

    $$\mathrm{Latency} = \frac{1}{n} \sum_{i=1}^{n} t_i$$

    where $t_i$ is the time of request $i$. With `p`, the value over all requests is that percentile of the times
    instead of their mean, by linear interpolation between the two nearest samples.

    References: Documents 000 (mean latency) and 003 (percentiles) in docs/concepts/sources.md.

    Example:
        Three requests:

        >>> timings = judged.read_timings({"bm25": [0.010, 0.020, 0.030]})
        >>> judged.evaluate(None, timings, "Latency").mean()
        {'Latency': 20.0}
    """
    return view.seconds * (1000.0 if unit == "ms" else 1.0)


Latency = Measure(
    "Latency",
    latency,
    title="Latency: the mean time of a request, or a percentile of the times.",
    bounds=(0.0, math.inf),
    family="timing",
    higher_is_better=False,
    percentile="p",
    compare_by="Latency",
    extra_parameters={
        "p": Parameter.number("the percentile of the times, in place of their mean", 0, 100),
        "unit": Parameter("the unit of the times: milliseconds or seconds"),
    },
)


def queries_per_second(view: TimingView) -> Floats:
    r"""Return the rate that each request would allow on its own.

    $$\mathrm{QPS} = \frac{n}{\sum_{i=1}^{n} t_i}$$

    where $t_i$ is the time of request $i$ in seconds: 1000 divided by the mean latency in milliseconds. This is the
    throughput of a single thread, which sends a request when the one before has returned.

    References: Metric Definitions for RAGdbEval (document 003 in docs/concepts/sources.md).

    Example:
        Requests of 10 and 40 milliseconds:

        >>> timings = judged.read_timings({"bm25": [0.010, 0.040]})
        >>> judged.evaluate(None, timings, "QPS").mean()
        {'QPS': 40.0}
    """
    return divide(np.ones(len(view)), view.seconds)


def _count_and_time(view: TimingView) -> tuple[Floats, Floats]:
    return np.ones(len(view)), view.seconds


QPS = Measure(
    "QPS",
    queries_per_second,
    title="Queries per second: the throughput of a single thread.",
    bounds=(0.0, math.inf),
    aggregate="pooled",
    family="timing",
    parts=_count_and_time,
    compare_by="Latency",
)
