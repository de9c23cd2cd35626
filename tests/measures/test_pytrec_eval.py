"""Query by query, the numbers are pytrec_eval's: trec_eval 9's own code, to full precision."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from judged.measures.trec_eval import TrecMeasure, expand

pytrec_eval = pytest.importorskip("pytrec_eval", reason="pytrec_eval is not installed")

DOCUMENTS = [f"d{number}" for number in range(25)]
COMPARED = [measure for measure in expand(9, ["all_trec"]) if measure.kind in {"integer", "float"}]
"""Everything that pytrec_eval has and that is a number."""


@st.composite
def judged(draw: st.DrawFn) -> dict[str, int]:
    """Judgments of a query, graded and with gaps; pytrec_eval crashes where all grades are negative."""
    grades = draw(st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(-2, 4), max_size=15))
    return grades | {"d0": draw(st.integers(0, 4))}


TIED = st.sampled_from([0.5, 1.0, 2.0])
FINE = st.floats(-100, 100, width=32)
RETRIEVED = st.dictionaries(st.sampled_from(DOCUMENTS), st.one_of(TIED, FINE), min_size=1)


def as_pytrec_eval_says(measure: TrecMeasure, value: float) -> float:
    """The value of a query; pytrec_eval holds those of geometric means as logarithms."""
    return math.log(max(value, 1e-5)) if measure.name.startswith("gm_") else value


@settings(max_examples=60, deadline=None)
@given(
    qrels=st.dictionaries(st.sampled_from(["q1", "q2", "q3"]), judged(), min_size=1),
    run=st.dictionaries(st.sampled_from(["q1", "q2", "q3", "q4"]), RETRIEVED, min_size=1),
    rel=st.sampled_from([1, 1, 2, 3]),
)
def test_every_measure_agrees_query_by_query(
    score: Callable[..., dict[str, Any]],
    qrels: dict[str, dict[str, int]],
    run: dict[str, dict[str, float]],
    rel: int,
) -> None:
    """Tied, gapped, graded and negative inputs give trec_eval's values to 1e-9."""
    oracle = pytrec_eval.RelevanceEvaluator(
        qrels, pytrec_eval.supported_measures - {"relstring", "runid"}, relevance_level=rel
    )
    expected = oracle.evaluate(run)
    for measure in COMPARED:
        scores = score(qrels, run, measure.measure, rel=rel, missing="skip")
        got = {query: as_pytrec_eval_says(measure, value) for query, value in scores.items()}

        assert got == {
            query: pytest.approx(values[measure.name], rel=1e-9, abs=1e-9)
            for query, values in expected.items()
        }


def test_nothing_that_pytrec_eval_has_is_left_out() -> None:
    """All its measures are compared, but for the two that are text."""
    left = {
        name
        for name in pytrec_eval.supported_measures
        if not any(measure.name.startswith(name) for measure in COMPARED)
    }

    assert left == {"relstring", "runid"}
