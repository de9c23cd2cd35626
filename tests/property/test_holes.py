"""Judgment holes: bounds held to every way of judging the unjudged results."""

from __future__ import annotations

from itertools import product
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from judged import Protocol, evaluate
from judged.engine.align import align
from judged.engine.unjudged import unjudged_bounds
from judged.errors import BadMeasure
from judged.io.read import read_judgments, read_run
from judged.measures.families import MEASURES
from judged.measures.measure import Measure
from judged.measures.parse import parse_measure
from support.strategies import variants

NUMBERS = [name for name in MEASURES if not MEASURES[name].text and MEASURES[name].needs != "intents"]
QUICK = settings(max_examples=12, deadline=None)


@st.composite
def query_with_holes(draw: st.DrawFn) -> tuple[dict[str, int], list[str]]:
    """Judgments, and results of which up to five are unjudged."""
    results = list("abcdefgh")[: draw(st.integers(1, 8))]
    grade = st.sampled_from([-1, 0, 0, 1, 1, 2])
    unjudged = draw(st.sets(st.sampled_from(results), max_size=5))
    judged = {name: draw(grade) for name in results if name not in unjudged}
    missed = {f"m{i}": draw(grade) for i in range(draw(st.integers(0, 2)))}
    return judged | missed | {"one": 1, "two": 2}, results  # so that 0, 1 and 2 are the grades


def every_completion(
    measure: Measure, judged: dict[str, int], results: list[str], depth: int | None
) -> np.ndarray:
    """The value with each way of judging the results that nobody has judged, scored one by one."""
    seen = results[:depth]
    holes = [name for name in seen if judged.get(name, -1) < 0]
    ways = [
        judged | dict(zip(holes, grades, strict=True)) for grades in product((0, 1, 2), repeat=len(holes))
    ]
    run = {name: float(-place) for place, name in enumerate(results)}
    queries = {f"q{i}": way for i, way in enumerate(ways)}
    scored = evaluate(queries, dict.fromkeys(queries, run), [measure], protocol=Protocol(depth=depth))
    return scored.per_query()[measure]


@pytest.mark.parametrize("few", [5_000, 0], ids=["one by one", "too many"])
@pytest.mark.parametrize("name", NUMBERS)
@QUICK
@given(data=st.data(), query=query_with_holes(), depth=st.sampled_from([None, None, 3]))
def test_bounds_contain_every_completion(
    name: str, few: int, data: st.DataObject, query: tuple[dict[str, int], list[str]], depth: int | None
) -> None:
    """For every measure: no way of judging lies outside, and where the bounds are exact, some reach them."""
    measure = data.draw(variants(MEASURES[name]))
    judged, results = query
    run = {name: float(-place) for place, name in enumerate(results)}
    alignment = align(read_judgments({"q": judged}), read_run({"q": run}), Protocol(depth=depth))
    try:
        with patch("judged.engine.unjudged.COMPLETIONS", few):
            bounds = unjudged_bounds(measure, alignment)
    except BadMeasure:
        assert {"gains", "stops"} & dict(measure.set_parameters).keys()
        return
    values = every_completion(measure, judged, results, depth)

    assert bounds.low[0] <= values.min() + 1e-9
    assert bounds.high[0] >= values.max() - 1e-9
    if bounds.exact[0]:
        assert bounds.low[0] == pytest.approx(values.min(), abs=1e-9)
        assert bounds.high[0] == pytest.approx(values.max(), abs=1e-9)


@settings(max_examples=150, deadline=None)
@given(
    gain=st.sampled_from(["nDCG", 'nDCG(gain="exp")', "nDCG@2", 'nDCG(gain="exp")@3']),
    query=query_with_holes(),
)
def test_the_best_completion_of_ndcg_is_found_among_all(
    gain: str, query: tuple[dict[str, int], list[str]]
) -> None:
    """Its highest value may need any of the grades, so that it is searched for by level."""
    measure, (judged, results) = parse_measure(gain), query
    run = {name: float(-place) for place, name in enumerate(results)}
    high = evaluate({"q": judged}, {"q": run}, [measure]).unjudged_range(measure).high

    assert high == pytest.approx(every_completion(measure, judged, results, None).max(), abs=1e-12)


def test_bounds_of_measures_of_intents_are_those_of_the_measure() -> None:
    """What an unjudged result would be worth to each intent is open, so that anything the measure allows is."""
    judged = {"q": {"a": {"1": 1, "2": 0}, "b": {"1": 0, "2": 1}}}
    scored = evaluate(judged, {"q": {"a": 2.0, "x": 1.0}}, ["StRecall@2"])

    assert scored.unjudged_range("StRecall@2") == (0.0, 1.0)
