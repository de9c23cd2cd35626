"""What the tests of measures share: scoring dicts of dicts under a protocol."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from judged.measures.parse import parse_measure
from judged.protocol import Protocol
from judged.scoring.align import align
from judged.tables.judgments import Judgments
from judged.tables.run import Run

Nested = Mapping[str, Mapping[str, float]]
Score = Callable[..., dict[str, Any]]


@pytest.fixture(scope="session")
def score() -> Score:
    """Scores a run: `score(qrels, run, "P@5", rel=2)` is a dict from query to value."""

    def scored(qrels: Nested, run: Nested, measure: Any, **conventions: Any) -> dict[str, Any]:
        alignment = align(Judgments.from_mapping(qrels), Run.from_mapping(run), Protocol(**conventions))
        values = parse_measure(measure).per_query(alignment.view)
        return dict(zip(alignment.units.to_pylist(), values.tolist(), strict=True))

    return scored
