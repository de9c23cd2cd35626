"""How sure κ is: its interval when the items come in clusters, such as the topics of a collection."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from judged.errors import BadSample
from judged.stats.interval import Interval, checked_level
from judged.stats.judge_agreement import Weights, cohen_kappa, confusion_matrix, distances
from judged.stats.labels import missing
from judged.stats.paired import Floats
from judged.stats.resampling import resamples
from judged.stats.undefined import Undefined

__all__ = ["kappa_interval"]


def kappa_interval(
    first: Sequence[Any],
    second: Sequence[Any],
    clusters: Sequence[Hashable],
    *,
    weights: Weights = "equal",
    level: float = 0.95,
    resampled: int = 10_000,
    seed: int = 0,
) -> Interval | Undefined:
    """Cohen's κ with its percentile interval from resamples of whole clusters.

    Judges err alike on the items of one topic, so that items are no independent draws and topics are. Items without
    both labels are left out. With one cluster, or where a resample has one label only, the interval is undefined.

    Example:
        >>> human, model = [0, 1, 1, 0, 1, 0, 0, 1], [0, 1, 0, 0, 1, 1, 0, 1]
        >>> interval = kappa_interval(human, model, ["a", "a", "a", "b", "b", "b", "c", "c"], resampled=1000)
        >>> interval.mean, interval.low <= 0.5 <= interval.high
        (0.5, True)
    """
    checked_level(level)
    if not len(first) == len(second) == len(clusters):
        msg = f"{len(first):,} and {len(second):,} labels of {len(clusters):,} items were given, expected as many of each"
        raise BadSample(msg)
    observed = cohen_kappa(first, second, weights=weights).value
    if isinstance(observed, Undefined):
        return observed
    counts, apart = _counted(first, second, clusters, weights)
    if len(counts) == 1:
        return Undefined("one cluster")
    drawn = np.concatenate(
        [
            _kappas(_times(places, len(counts)) @ counts, apart)
            for places in resamples(len(counts), count=resampled, seed=seed)
        ]
    )
    empty = int(np.isnan(drawn).sum())
    if empty:
        return Undefined(f"{empty:,} of {resampled:,} resamples have one label only")
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return Interval(observed, low, high, level, "percentile")


def _counted(
    first: Sequence[Any], second: Sequence[Any], clusters: Sequence[Hashable], weights: Weights
) -> tuple[Floats, Floats]:
    """Of each cluster how often each pair of labels met, as a row; and how far labels are apart."""
    whole = confusion_matrix(first, second)
    place = {label: at for at, label in enumerate(whole.labels)}
    number: dict[Hashable, int] = {}
    cells, size = [], len(whole.labels)
    for one, other, cluster in zip(first, second, clusters, strict=True):
        if not missing(one) and not missing(other):
            row = number.setdefault(cluster, len(number))
            cells.append((row * size + place[one]) * size + place[other])
    counts = np.bincount(cells, minlength=len(number) * size**2).astype(np.float64)
    return counts.reshape(len(number), size**2), distances(whole.labels, weights)


def _times(places: Any, size: int) -> Floats:
    """How often each cluster was drawn, in each resample."""
    rows = len(places)
    flat = (places + np.arange(rows)[:, None] * size).ravel()
    return np.bincount(flat, minlength=rows * size).reshape(rows, size).astype(np.float64)


def _kappas(counts: Floats, apart: Floats) -> Floats:
    """κ of each row of counts; NaN where chance would agree as well."""
    table = counts.reshape(-1, *apart.shape)
    items = table.sum(axis=(1, 2))
    expected = table.sum(axis=2)[:, :, None] * table.sum(axis=1)[:, None, :] / items[:, None, None]
    chance = (expected * apart).sum(axis=(1, 2))
    found: Floats = np.full(len(table), np.nan)
    np.divide((table * apart).sum(axis=(1, 2)), chance, out=found, where=chance > 0)
    return 1 - found
