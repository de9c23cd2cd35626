"""CG and SRE of each system by labels, corrected by the human grades of a random sample of the results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from judged.arrays import Floats
from judged.blocks import Estimate, Table, Value
from judged.dedup.label_index import LabelIndex
from judged.errors import BadSample
from judged.io.read import read_labels
from judged.kernels.sessions import UNLABELLED, SessionView, count_until, gain_values
from judged.sessions.builder import NewResult, SessionKey, SessionViewBuilder
from judged.sessions.reference import make_pools
from judged.stats.prediction_powered import normal_quantile

__all__ = ["Corrected", "Correction", "correct_by_humans"]

ENOUGH = 30
"""Fewer graded results make a rough correction."""


@dataclass(frozen=True, slots=True)
class Correction:
    """One measure of one system, by labels alone and corrected."""

    system: str
    measure: str
    labels: float
    corrected: float
    low: float
    high: float
    graded: int
    """Results of the system that people graded."""


@dataclass(frozen=True, slots=True)
class Corrected:
    """CG and SRE of every system."""

    corrections: tuple[Correction, ...]
    graded: int
    """Distinct results that people graded."""
    pool: int
    """Distinct results of all systems, over all tasks."""

    def rows(self) -> Iterator[dict[str, Value]]:
        """Yield a row for each system and measure."""
        for row in self.corrections:
            yield {name: getattr(row, name) for name in Correction.__dataclass_fields__}

    def tables(self) -> Iterator[Table]:
        """Yield a row for each system and measure."""
        rows = tuple(
            (row.system, row.measure, row.labels, Estimate(row.corrected, row.low, row.high), row.graded)
            for row in self.corrections
        )
        title = f"Corrected by people, who graded {self.graded:,} of {self.pool:,} results"
        yield Table(("system", "measure", "by labels", "corrected", "graded"), rows, title=title, keys=2)


def correct_by_humans(
    builder: SessionViewBuilder, view: SessionView, human: Any, *, good: int = 2, level: float = 0.95
) -> Corrected:
    """Return CG and SRE of each system, prediction-powered: the labels' mean plus what people add on a sample.

    The graded results must be a random sample of the pool, the distinct results of each task, as `judged label --sample`
    draws it. A graded result that sessions share is one draw; results of other systems add nothing to a system's
    correction, and count as such in its variance.
    """
    index = LabelIndex(read_labels(human), builder.protocol.rules)
    items = _pool_items(builder)
    grades = [_find_grade(index, builder.keys, results) for results in items]
    drawn = [number for number, grade in enumerate(grades) if grade is not None]
    if len(drawn) < 2:
        msg = f"people graded {len(drawn)} of the results, expected a sample of at least 2"
        raise BadSample(msg, hint="draw one with `judged label TRACE --sample 200 -o sheet.csv`")
    measures = (
        ("CG@last", gain_values(good, "graded"), _ones),
        ("SRE@last", gain_values(good, "binary"), _shares),
    )
    systems: dict[str, list[int]] = {}
    for number, key in enumerate(builder.keys):
        systems.setdefault(key.system, []).append(number)
    corrections = [
        _correct(
            system,
            sessions,
            name,
            worth,
            scale(view),
            [(items[at], grades[at]) for at in drawn],
            len(items),
            view,
            level,
        )
        for system, sessions in systems.items()
        for name, worth, scale in measures
    ]
    return Corrected(tuple(corrections), len(drawn), len(items))


def _pool_items(builder: SessionViewBuilder) -> list[list[NewResult]]:
    """Return the distinct results of every task, each with the sessions that found it."""
    items: list[list[NewResult]] = []
    for pool in make_pools(builder).values():
        groups: dict[int, list[NewResult]] = {}
        for number, result in zip(pool.numbers, pool.results, strict=True):
            groups.setdefault(number, []).append(result)
        items += groups.values()
    return items


def _find_grade(index: LabelIndex, keys: Sequence[SessionKey], results: Sequence[NewResult]) -> int | None:
    for result in results:
        entry = index.find((*keys[result.session].names, result.query, None), result.result, result.scope)
        if entry is not None:
            return index.labels[entry].gain
    return None


def _ones(view: SessionView) -> Floats:
    return np.ones(len(view))


def _shares(view: SessionView) -> Floats:
    """Return what one result is of all results of its session."""
    returned = count_until(view, view.results, "last")
    return np.divide(1.0, returned, out=np.zeros(len(view)), where=returned > 0)


def _correct(
    system: str,
    sessions: Sequence[int],
    name: str,
    worth: Any,
    scale: Floats,
    drawn: Sequence[tuple[Sequence[NewResult], int | None]],
    pool: int,
    view: SessionView,
    level: float,
) -> Correction:
    """Return one measure of one system: the mean by labels, and the sample's mean correction times the size of the pool."""
    own = set(sessions)
    values = _session_values(view, worth, scale)[sessions]
    added = np.array(
        [
            sum(
                scale[result.session] * (worth[grade] - worth[max(int(view.gains[result.place]), 0)])
                for result in results
                if result.session in own
            )
            for results, grade in drawn
        ],
        dtype=np.float64,
    )
    share = pool / len(sessions)
    corrected = float(values.mean() + share * added.mean())
    variance = share**2 * added.var(ddof=1) / len(added) * (1 - len(added) / pool)
    if len(values) > 1:
        variance += values.var(ddof=1) / len(values)
    half = normal_quantile(level) * float(np.sqrt(variance))
    graded = sum(any(result.session in own for result in results) for results, _ in drawn)
    most = 1.0 if name.startswith("SRE") else float("inf")
    low, high = max(corrected - half, 0.0), min(corrected + half, most)
    return Correction(system, name, float(values.mean()), corrected, low, high, graded)


def _session_values(view: SessionView, worth: Any, scale: Floats) -> Floats:
    """Return the value of every session by labels."""
    gains = np.where(view.gains == UNLABELLED, 0, view.gains)
    session = np.repeat(view.session, view.new)
    return scale * np.bincount(session, weights=worth[gains], minlength=len(view))
