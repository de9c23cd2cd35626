"""Agreement: how well labels agree with human grades, the confusion of grades, and what each label is worth."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from judged.blocks import Display, Figure, Notes
from judged.report.packing import Json, to_plain
from judged.report.pages import Page, PageData
from judged.report.pages.result import to_json
from judged.stats.intervals import Interval
from judged.stats.outcome import Undefined

if TYPE_CHECKING:
    from judged.labels.agreement.result import Agreement
    from judged.report.entry import Entry


def make_data(entry: Entry) -> PageData:
    """Return the answer, the confusion matrix and the calibration; the other tables as a block."""
    result = cast("Agreement", entry.result)
    kappa, quadratic, interval = (
        result.kappa_at(result.threshold),
        result.kappa("quadratic"),
        result.kappa_interval,
    )
    counts = result.confusion.counts
    head = {
        "labels": result.labels,
        "human": result.human,
        "items": result.items,
        "threshold": result.threshold,
        "level": result.level,
        "kappa": _to_number(kappa.value),
        "interval": [interval.low, interval.high] if isinstance(interval, Interval) else None,
        "undefined": str(kappa.value) if isinstance(kappa.value, Undefined) else "",
        "quadratic": _to_number(quadratic.value),
        "exact": result.exact,
        "within": result.within_one,
        "bias": result.bias,
        "confusion": {
            "grades": list(result.confusion.labels),
            "counts": counts.tolist(),
            "totals": counts.sum(axis=1).tolist(),
            "shares": (counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)).tolist(),
        },
        "calibration": [
            {
                "label": row.label,
                "results": row.results,
                "mean": row.mean,
                "low": row.interval.low if isinstance(row.interval, Interval) else None,
                "high": row.interval.high if isinstance(row.interval, Interval) else None,
            }
            for row in result.calibration
        ],
    }
    blocks = [
        to_json(block)
        for block in result.blocks(Display(notes=False, per_query=True))
        if not isinstance(block, Figure | Notes)
    ]
    return PageData(to_plain(head), {"blocks": blocks})


def _to_number(value: float | Undefined) -> Json:
    return None if isinstance(value, Undefined) else value


PAGE = Page("agreement", "Agreement", make_data, script="judged.labels:page.js")
